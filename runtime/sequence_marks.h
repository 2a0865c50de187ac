/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/sequence_marks.h -- moments of a sequence, by the host's clock or by events in a queue.
 */
#ifndef ASSAY_RUNTIME_SEQUENCE_MARKS_H
#define ASSAY_RUNTIME_SEQUENCE_MARKS_H

#include "runtime/backend_slots.h"

typedef struct assay__marks {
    const assay__backend *backend;
    assay_queue *queue;   /* NULL: by the host's clock, with nothing under way */
    assay_event **events; /* owned; NULL: by the host's clock */
    double *at_ns;        /* owned */
    size_t count, cap;
} assay__marks;

/* queue NULL: by the host's clock. */
assay_status assay__marks_init(assay__marks *m, const assay__backend *backend, assay_queue *queue,
                               size_t cap);
void assay__marks_clear(assay__marks *m);
/* Beyond `cap` nothing is marked. */
assay_status assay__marks_set(assay__marks *m);
/* Between two that have passed; NaN: not known. */
double assay__marks_between(const assay__marks *m, size_t from, size_t to);

#endif
