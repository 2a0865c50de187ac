/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_proven.h -- evidence over all inputs of an elementwise op: it holds for every shape.
 *
 * It is only as good as everything else that is known of the variant: a wrong result or a larger
 * error at any shape refutes it, and then the worst of both counts. */
#ifndef ASSAY_RUNTIME_PICK_PROVEN_H
#define ASSAY_RUNTIME_PICK_PROVEN_H

#include "assay/table.h"
#include "runtime/pick_store.h"

struct assay__generation;

typedef struct assay__proven {
    const assay__stored_proof *proof; /* NULL: none */
    double max_ulp, max_rel, max_abs; /* the worst of the proof and of all routes; NaN: none */
    bool is_refuted;                  /* some shape has shown a larger distance */
    bool is_contradicted;             /* some shape has shown a wrong result */
    uint32_t next;                    /* place + 1 of the next proof of the same kernel; 0: none */
} assay__proven;

/* The evidence of a stored variant (its place in the store's variants) for a problem, whatever its
 * shape. proof NULL: there is none. */
assay__proven assay__proven_find(const struct assay__generation *g, size_t variant,
                                 const assay_problem *problem);
/* The same for a kernel of the table with tunables, measured or not. */
assay__proven assay__proven_of(const struct assay__generation *g, const assay_binding *binding,
                               const int64_t *tunables, const assay_problem *problem);
/* What any shape has shown of the variants with such evidence; once a generation. */
void assay__proven_weigh(struct assay__generation *g);

#endif
