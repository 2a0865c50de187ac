/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/reader.c -- registering reading threads, and waiting for them. */
#include "runtime/reader.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/error.h"

_Thread_local assay__reader_cache assay__reader_lines[4];

static long membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

assay_status assay__readers_init(assay__readers *readers)
{
    static _Atomic uint64_t last_id;

    if (pthread_mutex_init(&readers->lock, NULL) != 0)
        return assay__fail(ASSAY_NOMEM, "readers: no memory");
    readers->id = atomic_fetch_add(&last_id, 1) + 1;
    readers->has_membarrier = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
    atomic_init(&readers->first, NULL);
    return ASSAY_OK;
}

void assay__readers_clear(assay__readers *readers)
{
    assay__reader *line = atomic_load(&readers->first);

    while (line != NULL) {
        assay__reader *next = line->next;
        free(line);
        line = next;
    }
    atomic_store(&readers->first, NULL);
    pthread_mutex_destroy(&readers->lock);
}

static assay__reader *find_line(const assay__readers *readers, pthread_t self)
{
    assay__reader *line = atomic_load_explicit(&readers->first, memory_order_acquire);

    while (line != NULL && !pthread_equal(line->thread, self))
        line = line->next;
    return line;
}

/* A thread that ends leaves its line; a later one with the same handle takes it over. */
assay__reader *assay__reader_find(assay__readers *readers)
{
    assay__reader *line = find_line(readers, pthread_self());

    if (line == NULL) {
        line = aligned_alloc(_Alignof(assay__reader), sizeof *line);
        if (line == NULL)
            return NULL;
        memset(line, 0, sizeof *line);
        atomic_init(&line->reads, NULL);
        line->thread = pthread_self();
        pthread_mutex_lock(&readers->lock);
        line->next = atomic_load_explicit(&readers->first, memory_order_relaxed);
        atomic_store_explicit(&readers->first, line, memory_order_release);
        pthread_mutex_unlock(&readers->lock);
    }
    assay__reader_lines[readers->id & 3] = (assay__reader_cache){readers->id, line};
    return line;
}

bool assay__readers_barrier(const assay__readers *readers)
{
    if (!readers->has_membarrier)
        return true;
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
        return true;
    /* A process may have lost its registration; it was made for another program image. */
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
           membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

bool assay__readers_hold(assay__readers *readers, const void *object)
{
    for (const assay__reader *line = atomic_load_explicit(&readers->first, memory_order_acquire);
         line != NULL; line = line->next)
        if (atomic_load_explicit(&line->reads, memory_order_seq_cst) == object)
            return true;
    return false;
}

uint64_t assay__readers_sum(const assay__readers *readers, size_t which)
{
    uint64_t sum = 0;

    for (const assay__reader *line = atomic_load_explicit(&readers->first, memory_order_acquire);
         line != NULL; line = line->next)
        sum += atomic_load_explicit(&line->counts[which], memory_order_relaxed);
    return sum;
}

size_t assay__readers_count(const assay__readers *readers)
{
    size_t count = 0;

    for (const assay__reader *line = atomic_load_explicit(&readers->first, memory_order_acquire);
         line != NULL; line = line->next)
        count++;
    return count;
}
