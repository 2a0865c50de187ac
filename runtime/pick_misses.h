/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_misses.h -- problems that were asked for and have no evidence, for a later sweep. */
#ifndef ASSAY_RUNTIME_PICK_MISSES_H
#define ASSAY_RUNTIME_PICK_MISSES_H

#include "runtime/pick_store.h"

struct assay__generation;

/* A question as routes know it; what it tolerates says nothing of what to measure. */
typedef struct assay__miss {
    assay_problem problem;
    char layout[ASSAY_MAX_OPERANDS]; /* a letter an operand */
    uint8_t align;
    assay_policy policy;
} assay__miss;

/* Of a context, under its lock.  Nothing is allocated before the first miss. */
typedef struct assay__misses {
    assay__miss *items; /* owned; in the order first asked */
    uint32_t *index;    /* owned; of items plus one, by hash; 0: free */
    size_t count;
    uint64_t dropped; /* asked for beyond ASSAY_MISSES_MAX */
} assay__misses;

/* Keeps a question once.  Where memory is short it is counted as dropped: a pick must not fail for
 * it. */
void assay__misses_keep(assay__misses *misses, const assay_question *q);
void assay__misses_clear(assay__misses *misses);

/* Those that nothing of today's code is measured for, each problem once. Zeroed: none. */
typedef struct assay__open_misses {
    assay_problem *problems; /* owned */
    size_t count;
} assay__open_misses;
/* Appends those of a context, under its lock. */
assay_status assay__misses_open(const assay__misses *misses, const struct assay__generation *g,
                                assay__open_misses *out);
/* As CSV. */
assay_status assay__misses_write(const assay__open_misses *list, const char *path);

#endif
