/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/table_internal.h -- what the picker and the loader need of the table beyond table.h. */
#ifndef ASSAY_RUNTIME_TABLE_INTERNAL_H
#define ASSAY_RUNTIME_TABLE_INTERNAL_H

#include "assay/table.h"
#include "runtime/expr.h"

/* Names have a home of fixed size in explanations. */
#define ASSAY__KERNEL_NAME_MAX  63
#define ASSAY__BACKEND_NAME_MAX 23

/* ASSAY_INVALID with row `index`, field and why, when the row is broken by itself; duplicates are
 * for the table to find. */
assay_status assay__binding_check(const assay_binding *row, size_t index);

/* Which of a row's own facts sort it: op, dtypes, rank, backend, kernel name. */
int assay__binding_order(const assay_binding *a, const assay_binding *b);

/* Called after each publication, in the registering thread; one watcher a table. A status other
 * than OK is returned by the registration, whose rows stay. NULL ends the watch. */
void assay__table_watch(assay_table *table, assay_status (*published)(void *cookie), void *cookie);

/* Compiles an expression of a row: the op's parameters take the slots from 0 on; with_tunables, the
 * kernel's tunables take those from ASSAY_MAX_PARAMS on, and a name that is both is the tunable. */
assay_status assay__row_expr_compile(const assay_kernel_desc *desc, const char *text,
                                     bool with_tunables, assay__expr *out);
/* A problem as the expressions of rows see it; made once for all candidates of a question. */
typedef struct assay__row_values {
    double slots[ASSAY_MAX_PARAMS + ASSAY_MAX_TUNABLES];
    double bytes[ASSAY_MAX_OPERANDS];
} assay__row_values;
void assay__row_values_init(const assay_problem *problem, assay__row_values *out);
/* false when the value is 0 or unknown. Puts the tunables into `values`. */
bool assay__row_values_hold(const assay__expr *e, assay__row_values *values,
                            const int64_t *tunables, size_t tunable_count);

/* The same for one expression alone. */
bool assay__row_expr_holds(const assay__expr *e, const assay_problem *problem,
                           const int64_t *tunables, size_t tunable_count);

#endif
