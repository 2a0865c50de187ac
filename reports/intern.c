/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/intern.c -- one copy of each text. */
#include "reports/intern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a (Fowler, Noll, Vo). */
static size_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ (hash >> 32));
}

static char **slot_of(char **slots, size_t cap, const char *text)
{
    size_t at = hash_of(text) & (cap - 1);

    while (slots[at] != NULL && strcmp(slots[at], text) != 0)
        at = (at + 1) & (cap - 1);
    return &slots[at];
}

static int grow(assay__intern *pool)
{
    size_t cap = pool->cap == 0 ? 256 : 2 * pool->cap;
    char **slots = calloc(cap, sizeof *slots);

    if (slots == NULL)
        return 0;
    for (size_t i = 0; i < pool->cap; i++)
        if (pool->slots[i] != NULL)
            *slot_of(slots, cap, pool->slots[i]) = pool->slots[i];
    free(pool->slots);
    pool->slots = slots;
    pool->cap = cap;
    return 1;
}

const char *assay__intern_text(assay__intern *pool, const char *text)
{
    char **slot;

    if (text[0] == '\0')
        return "";
    if (2 * (pool->count + 1) > pool->cap && !grow(pool))
        return NULL;
    slot = slot_of(pool->slots, pool->cap, text);
    if (*slot == NULL) {
        *slot = strdup(text);
        pool->count += *slot != NULL;
    }
    return *slot;
}

void assay__intern_clear(assay__intern *pool)
{
    for (size_t i = 0; i < pool->cap; i++)
        free(pool->slots[i]);
    free(pool->slots);
    *pool = (assay__intern){NULL, 0, 0};
}
