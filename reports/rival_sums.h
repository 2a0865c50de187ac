/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/rival_sums.h -- over many problems: how often each backend wins and where, what picking
 * gains over it alone, and over the best of them alone. */
#ifndef ASSAY_REPORTS_RIVAL_SUMS_H
#define ASSAY_REPORTS_RIVAL_SUMS_H

#include "reports/rival_pairs.h"

#define ASSAY__RIVALS      32
#define ASSAY__RIVAL_NAMES 12
#define ASSAY__RIVAL_SLACK 1.02 /* picked may take this many times as long before it is told */

/* Of rows that are covered.  Means are geometric, weighted by the counts of the rows. */
typedef struct assay__rival_sum {
    const char *backend;                 /* NULL: the default kernels */
    size_t wins;                         /* rows whose picked kernel is of it */
    double wins_flops_lo, wins_flops_hi; /* of these; NaN: none is known */
    size_t measured, paired, judged;     /* rows with a right variant; with a ratio; with an
                                            interval as well */
    double gain, gain_lo, gain_hi;       /* its time over the picked one's; NaN: no ratio; the
                                            ends: not all have an interval */
    size_t slower; /* rows where the interval says that picked takes more than the slack */
    const assay__report_problem *slower_rows[ASSAY__RIVAL_NAMES]; /* the first of them */
    bool is_best; /* the best alone: of those with ratios in all rows the fastest */
    double weight, log_sum, lo_sum, hi_sum; /* while summing */
} assay__rival_sum;

typedef struct assay__rival_sums {
    assay__rival_sum items[ASSAY__RIVALS]; /* the default first, then by wins and name */
    size_t count;
} assay__rival_sums;

/* One covered row: `winner` is the backend of the picked kernel. */
void assay__rival_sums_add(assay__rival_sums *s, const assay__rival_pair *pairs, size_t count,
                           double weight, const assay__cost_case *c);
/* Behind the last of `rows` rows. */
void assay__rival_sums_finish(assay__rival_sums *s, size_t rows);

#endif
