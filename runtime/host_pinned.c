/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_pinned.c -- see host_pinned.h. */
#include "runtime/host_pinned.h"

#include <stdlib.h>

enum { PAGE = 4096, REMEMBERED = 64 }; /* blocks in the list before freed ones are forgotten */

void assay__pinned_init(assay__pinned *pinned)
{
    *pinned = (assay__pinned){.blocks = NULL};
    (void)pthread_mutex_init(&pinned->lock, NULL); /* has no way to fail here */
}

void assay__pinned_clear(assay__pinned *pinned)
{
    free(pinned->blocks);
    pinned->blocks = NULL;
    pinned->count = pinned->cap = 0;
    pthread_mutex_destroy(&pinned->lock);
}

/* Of this address, or of one that was freed long ago, or a new one; NULL: out of memory. */
static assay__pinned_block *place_for(assay__pinned *pinned, const void *memory)
{
    assay__pinned_block *spare = NULL;

    for (size_t i = 0; i < pinned->count; i++) {
        assay__pinned_block *b = &pinned->blocks[i];
        if (b->memory == memory)
            return b;
        if (!b->is_taken && spare == NULL)
            spare = b;
    }
    if (spare != NULL && pinned->count >= REMEMBERED)
        return spare;
    if (pinned->count == pinned->cap) {
        const size_t grown = pinned->cap == 0 ? 8 : 2 * pinned->cap;
        assay__pinned_block *blocks = realloc(pinned->blocks, grown * sizeof *blocks);
        if (blocks == NULL)
            return NULL;
        pinned->blocks = blocks;
        pinned->cap = grown;
    }
    return &pinned->blocks[pinned->count++];
}

bool assay__pinned_add(assay__pinned *pinned, void *memory, uint64_t bytes)
{
    pthread_mutex_lock(&pinned->lock);
    assay__pinned_block *b = place_for(pinned, memory);
    if (b != NULL) {
        *b = (assay__pinned_block){memory, bytes, true, true};
        atomic_fetch_add(&pinned->fixed, 1);
    }
    pthread_mutex_unlock(&pinned->lock);
    return b != NULL;
}

assay_status assay__pinned_take(assay__pinned *pinned, const void *memory, assay__pinned_block *out)
{
    assay_status status = ASSAY_FOREIGN;

    pthread_mutex_lock(&pinned->lock);
    for (size_t i = 0; i < pinned->count && status == ASSAY_FOREIGN; i++) {
        assay__pinned_block *b = &pinned->blocks[i];
        if (b->memory != memory)
            continue;
        status = b->is_taken ? ASSAY_OK : ASSAY_FREED;
        *out = *b;
        if (b->is_fixed)
            atomic_fetch_sub(&pinned->fixed, 1);
        b->is_taken = b->is_fixed = false;
    }
    pthread_mutex_unlock(&pinned->lock);
    return status;
}

bool assay__pinned_holds(assay__pinned *pinned, const void *at, uint64_t bytes)
{
    const uintptr_t from = (uintptr_t)at;
    bool holds = false;

    if (atomic_load(&pinned->fixed) == 0)
        return false;
    pthread_mutex_lock(&pinned->lock);
    for (size_t i = 0; i < pinned->count && !holds; i++) {
        const assay__pinned_block *b = &pinned->blocks[i];
        const uintptr_t first = (uintptr_t)b->memory;
        holds = b->is_fixed && from >= first && from - first <= b->bytes &&
                bytes <= b->bytes - (from - first);
    }
    pthread_mutex_unlock(&pinned->lock);
    return holds;
}

void assay__pinned_loosen(assay__pinned *pinned, void (*let_go)(void *cookie, void *memory),
                          void *cookie)
{
    pthread_mutex_lock(&pinned->lock);
    for (size_t i = 0; i < pinned->count; i++) {
        assay__pinned_block *b = &pinned->blocks[i];
        if (b->is_fixed && let_go != NULL)
            let_go(cookie, b->memory);
        b->is_fixed = false;
    }
    atomic_store(&pinned->fixed, 0);
    pthread_mutex_unlock(&pinned->lock);
}

void *assay__pinned_pages(uint64_t bytes)
{
    if (bytes > SIZE_MAX - PAGE)
        return NULL;
    return aligned_alloc(PAGE, ((size_t)bytes + PAGE - 1) / PAGE * PAGE);
}
