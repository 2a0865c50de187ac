/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/set_totals.h -- what a run of a shape set's workload takes: times of the default kernels
 * and of the picked ones, weighted by how often the workload runs each problem.
 *
 * Both sums are over the same rows: those with a pick and a default that were measured.  What was
 * not is counted, never guessed: a sum says how many of its set's rows it covers. */
#ifndef ASSAY_REPORTS_SET_TOTALS_H
#define ASSAY_REPORTS_SET_TOTALS_H

#include "reports/cost_rows.h"
#include "reports/rival_sums.h"

#define ASSAY__SET_WINS 12

/* How many covered rows a kernel wins. */
typedef struct assay__set_win {
    const char *backend, *kernel;
    size_t rows;
} assay__set_win;

typedef struct assay__set_sum { /* ns; NaN: no row is covered, or an interval is unknown */
    double ns, lo_ns, hi_ns;
} assay__set_sum;

/* One (set, dtype of the results, op, place, question). */
typedef struct assay__set_total {
    const char *shape_set; /* "": all problems of the op that were measured, each once */
    const char *dtype;
    const char *op;                   /* NULL: all ops of the set */
    const assay__report_place *place; /* NULL: nothing of it was measured anywhere */
    const char *layout, *policy;      /* layout: one letter when all operands lie alike */
    uint32_t align;
    size_t ops; /* different ones in the set, of this dtype */
    size_t rows, covered;
    size_t not_measured, no_pick, no_default, stale; /* why the other rows are not covered */
    double runs;                                     /* sum of the counts of all rows */
    assay__set_sum of_default, of_picked;            /* ends of the 95 % intervals, summed */
    double gain, gain_lo, gain_hi; /* default over picked, of the paired ratios; NaN: unknown */
    double gain_level; /* the least confident interval that went into it; NaN: none did */
    assay__set_win wins[ASSAY__SET_WINS]; /* most first */
    size_t win_count, other_wins;         /* kernels listed; rows that others win */
    assay__rival_sums *rivals;            /* owned */
} assay__set_total;

typedef struct assay__set_totals {
    assay__set_total *items; /* owned; set by set, whole sets before their ops */
    size_t count;
} assay__set_totals;

/* Of the problems that --op and --dtype let through; --backend and --kernel change no pick. */
assay_status assay__set_totals_load(assay__cost *cost, const assay__rival_pairs *pairs,
                                    assay__set_totals *out);
/* The same over all problems of an op that were measured, whatever set they are of. */
assay_status assay__op_totals_load(assay__cost *cost, const assay__rival_pairs *pairs,
                                   assay__set_totals *out);
void assay__set_totals_clear(assay__set_totals *totals);

/* "openblas/gemm 12, cpu/avx2 3": into `out`. */
void assay__set_wins_text(const assay__set_total *t, assay__str *out);

#endif
