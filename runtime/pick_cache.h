/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_cache.h -- answers by key: one cache line each, read without lock.
 *
 * Lines are written once, by one writer at a time, and published by their first word; a full table
 * is copied into one of twice the size, and the old one lives as long as the cache, because readers
 * may be in it. */
#ifndef ASSAY_RUNTIME_PICK_CACHE_H
#define ASSAY_RUNTIME_PICK_CACHE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "assay/pick.h"
#include "runtime/keyhash.h"
#include "runtime/reader.h"

/* A variant as routes hand it out; lives until its context is closed. */
typedef struct assay__interned {
    assay_binding binding;
    int64_t tunables[ASSAY_MAX_TUNABLES];
    struct assay__plugin *plugin;             /* borrowed; NULL: registered by hand */
    _Atomic int is_open;                      /* its backend is */
    struct assay__expr *can_run, *constraint; /* owned; NULL: none */
    struct assay__interned *next;
} assay__interned;

/* The middle of an assay_route, from `measurement` to `max_rho`, as it lies there. */
#define ASSAY__ROUTE_BODY 40
_Static_assert(offsetof(assay_route, measurement) == 16 &&
                   offsetof(assay_route, reserved) == 16 + ASSAY__ROUTE_BODY,
               "a line holds a route's body");

typedef struct assay__line {
    _Alignas(64) _Atomic uint64_t low; /* of the key; 0: free */
    uint64_t high;
    const assay__interned *variant;
    uint8_t body[ASSAY__ROUTE_BODY];
} assay__line;

typedef struct assay__line_table {
    assay__line *lines;
    uint64_t mask;
    size_t bytes, used;
    struct assay__line_table *older;
} assay__line_table;

/* What readers enter. */
typedef struct assay__pick_cache {
    _Atomic(assay__line_table *) table;
    uint64_t generation;
    struct assay__pick_cache *next; /* in the list of replaced ones */
} assay__pick_cache;

assay_status assay__pick_cache_create(uint64_t generation, assay__pick_cache **out);
void assay__pick_cache_destroy(assay__pick_cache **cache);
/* One writer at a time. The route's binding and tunables must be those of `variant`. */
assay_status assay__pick_cache_add(assay__pick_cache *cache, assay__key128 key,
                                   const assay__interned *variant, const assay_route *route);

static inline void assay__line_route(const assay__line *line, assay_route *out)
{
    out->binding = &line->variant->binding;
    out->tunables = line->variant->tunables;
    memcpy((char *)out + offsetof(assay_route, measurement), line->body, ASSAY__ROUTE_BODY);
    out->reserved = 0;
}

/* NULL: not there. */
static inline const assay__line *assay__pick_cache_find(const assay__pick_cache *cache,
                                                        assay__key128 key)
{
    const assay__line_table *t = atomic_load_explicit(&cache->table, memory_order_acquire);
    uint64_t low = key.low | 1;

    for (uint64_t at = key.high;; at++) {
        const assay__line *line = &t->lines[at & t->mask];
        uint64_t seen = atomic_load_explicit(&line->low, memory_order_acquire);
        if (seen == low && line->high == key.high)
            return line;
        if (seen == 0)
            return NULL;
    }
}

#endif
