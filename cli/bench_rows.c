/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_rows.c -- rows of `assay bench` from samples. */
#include "cli/bench_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/error.h"
#include "tuner/stats.h"

#define Z95 1.959963984540054 /* 97.5 % of the standard normal */

double assay__bench_now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

assay_status assay__bench_add(assay__bench_rows *r, const char *what, const char *unit,
                              double value, assay__bench_row **out)
{
    if (r->count >= sizeof r->rows / sizeof r->rows[0])
        return assay__fail(ASSAY_INTERNAL, "no room for the row '%s'", what);
    *out = &r->rows[r->count++];
    **out = (assay__bench_row){.unit = unit,
                               .value = value,
                               .lo = (double)NAN,
                               .hi = (double)NAN,
                               .peer_value = (double)NAN,
                               .goal = (double)NAN,
                               .floor = (double)NAN};
    (void)snprintf((*out)->what, sizeof(*out)->what, "%s", what);
    return ASSAY_OK;
}

assay_status assay__bench_add_median(assay__bench_rows *r, const char *what, const char *unit,
                                     const double *samples, size_t n, assay__bench_row **out)
{
    assay_interval spread;
    double *sorted = NULL, median;

    ASSAY_TRY(assay__stats_sorted(samples, n, &sorted));
    median = assay__stats_quantile(sorted, n, 0.5);
    spread = assay__stats_median_interval(sorted, n, 0.95);
    free(sorted);
    ASSAY_TRY(assay__bench_add(r, what, unit, median, out));
    (*out)->lo = spread.lo;
    (*out)->hi = spread.hi;
    (*out)->n = n;
    return ASSAY_OK;
}

assay_status assay__bench_add_p99(assay__bench_rows *r, const char *what, const char *unit,
                                  const double *samples, size_t n, assay__bench_row **out)
{
    const double half = Z95 * sqrt(0.99 * 0.01 / (double)n); /* of the rank, as a share of n */
    double *sorted = NULL, lo, value, hi;

    ASSAY_TRY(assay__stats_sorted(samples, n, &sorted));
    value = assay__stats_quantile(sorted, n, 0.99);
    lo = assay__stats_quantile(sorted, n, 0.99 - half);
    hi = assay__stats_quantile(sorted, n, fmin(1.0, 0.99 + half));
    free(sorted);
    ASSAY_TRY(assay__bench_add(r, what, unit, value, out));
    (*out)->lo = lo;
    (*out)->hi = hi;
    (*out)->n = n;
    return ASSAY_OK;
}

assay_status assay__bench_add_rate(assay__bench_rows *r, const char *what, size_t found, size_t n,
                                   assay__bench_row **out)
{
    const double trials = (double)n, share = (double)found / trials, z2 = Z95 * Z95;
    const double centre = (share + z2 / (2.0 * trials)) / (1.0 + z2 / trials);
    const double half = Z95 * sqrt(share * (1.0 - share) / trials + z2 / (4.0 * trials * trials)) /
                        (1.0 + z2 / trials);

    ASSAY_TRY(assay__bench_add(r, what, "%", 100.0 * share, out));
    /* At the ends the formula gives 0 and 1 but for rounding. */
    (*out)->lo = found == 0 ? 0.0 : 100.0 * (centre - half);
    (*out)->hi = found == n ? 100.0 : 100.0 * (centre + half);
    (*out)->n = n;
    (*out)->by_interval = true;
    return ASSAY_OK;
}

const char *assay__bench_met(const assay__bench_row *row)
{
    if (isnan(row->goal) && isnan(row->floor))
        return "info";
    if (row->by_interval) {
        const double floor = isnan(row->floor) ? -INFINITY : row->floor;
        return row->hi <= row->goal && row->lo >= floor ? "yes"
               : row->lo > row->goal || row->hi < floor ? "no"
                                                        : "undecided";
    }
    return row->value <= row->goal || row->value >= row->floor ? "yes" : "no";
}
