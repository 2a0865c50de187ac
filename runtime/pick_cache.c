/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_cache.c -- growing and filling the table of answers. */
#include "runtime/pick_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/error.h"

_Static_assert(sizeof(assay__line) == 64, "an answer is one cache line");

#define FIRST_LINES        64
#define NEARLY_EMPTY_LINES ((size_t)1 << 15) /* 2 MiB */

static assay_status fail_memory(void)
{
    return assay__fail(ASSAY_NOMEM, "route picker: no memory for answers");
}

/* Pages come zeroed, which is what free lines are; large tables ask for large pages, without which
 * a random line costs a page walk more. */
static assay__line_table *table_create(size_t count)
{
    assay__line_table *t = calloc(1, sizeof *t);
    void *memory;

    if (t == NULL)
        return NULL;
    t->bytes = count * sizeof *t->lines;
    memory = mmap(NULL, t->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        free(t);
        return NULL;
    }
    if (t->bytes >= (size_t)4 << 20)
        (void)madvise(memory, t->bytes, MADV_HUGEPAGE);
    t->lines = memory;
    t->mask = count - 1;
    return t;
}

static void table_destroy(assay__line_table *t)
{
    (void)munmap(t->lines, t->bytes);
    free(t);
}

assay_status assay__pick_cache_create(uint64_t generation, assay__pick_cache **out)
{
    assay__pick_cache *cache = calloc(1, sizeof *cache);
    assay__line_table *t = table_create(FIRST_LINES);

    if (cache == NULL || t == NULL) {
        free(cache);
        if (t != NULL)
            table_destroy(t);
        return fail_memory();
    }
    atomic_init(&cache->table, t);
    cache->generation = generation;
    *out = cache;
    return ASSAY_OK;
}

void assay__pick_cache_destroy(assay__pick_cache **cache)
{
    assay__line_table *t;

    if (cache == NULL || *cache == NULL)
        return;
    t = atomic_load(&(*cache)->table);
    while (t != NULL) {
        assay__line_table *older = t->older;
        table_destroy(t);
        t = older;
    }
    free(*cache);
    *cache = NULL;
}

static assay__line *free_line(const assay__line_table *t, uint64_t high)
{
    uint64_t at = high;

    while (atomic_load_explicit(&t->lines[at & t->mask].low, memory_order_relaxed) != 0)
        at++;
    return &t->lines[at & t->mask];
}

/* All but the first word may be copied plainly: nobody reads a line whose first word is 0. */
static void put_line(const assay__line_table *t, const assay__line *from, uint64_t low)
{
    assay__line *line = free_line(t, from->high);

    line->high = from->high;
    line->variant = from->variant;
    memcpy(line->body, from->body, sizeof line->body);
    atomic_store_explicit(&line->low, low, memory_order_release);
}

static assay_status grow(assay__pick_cache *cache)
{
    assay__line_table *old = atomic_load_explicit(&cache->table, memory_order_relaxed);
    assay__line_table *t = table_create((old->mask + 1) * 2);

    if (t == NULL)
        return fail_memory();
    for (uint64_t i = 0; i <= old->mask; i++) {
        uint64_t low = atomic_load_explicit(&old->lines[i].low, memory_order_relaxed);
        if (low != 0)
            put_line(t, &old->lines[i], low);
    }
    t->used = old->used;
    t->older = old;
    atomic_store_explicit(&cache->table, t, memory_order_release);
    return ASSAY_OK;
}

/* A small table stays nearly empty: a line that is not the first one looked at costs a mispredicted
 * branch, a third of a hit (18 ns at half full, 15 at an eighth). A large one must not waste
 * memory; its lines come from there anyway. */
static bool is_full(const assay__line_table *t)
{
    const size_t lines = t->mask + 1;

    return (t->used + 1) * 8 > lines * (lines <= NEARLY_EMPTY_LINES ? 1 : 5);
}

assay_status assay__pick_cache_add(assay__pick_cache *cache, assay__key128 key,
                                   const assay__interned *variant, const assay_route *route)
{
    assay__line_table *t = atomic_load_explicit(&cache->table, memory_order_relaxed);
    assay__line line = {.high = key.high, .variant = variant};

    memcpy(line.body, (const char *)route + offsetof(assay_route, measurement), sizeof line.body);
    if (assay__pick_cache_find(cache, key) != NULL)
        return ASSAY_OK;
    if (is_full(t)) {
        ASSAY_TRY(grow(cache));
        t = atomic_load_explicit(&cache->table, memory_order_relaxed);
    }
    put_line(t, &line, key.low | 1);
    t->used++;
    return ASSAY_OK;
}
