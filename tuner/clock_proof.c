/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/clock_proof.c -- see clock_proof.h. */
#include "tuner/clock_proof.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/error.h"
#include "tuner/stats.h"

assay__line assay__line_fit(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;

    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
        yy += (y[i] - my) * (y[i] - my);
    }
    const double slope = xy / xx;
    return (assay__line){my - slope * mx, slope, yy > 0 ? fmax(0, 1 - slope * xy / yy) : 0};
}

/* Takes `values`. */
static assay_status median_of(double *values, size_t n, assay__proof *out)
{
    double *sorted = NULL;
    assay_status status = assay__stats_sorted(values, n, &sorted);

    free(values);
    ASSAY_TRY(status);
    const assay_interval spread = assay__stats_median_interval(sorted, n, 0.95);
    *out = (assay__proof){
        .value = assay__stats_quantile(sorted, n, 0.5), .lo = spread.lo, .hi = spread.hi, .n = n};
    free(sorted);
    return ASSAY_OK;
}

static assay_status room(size_t n, double **out)
{
    if (n == 0)
        return assay__fail(ASSAY_INVALID, "no times of known work");
    *out = calloc(n, sizeof **out);
    return *out != NULL ? ASSAY_OK : assay__fail(ASSAY_NOMEM, "times of known work");
}

assay_status assay__proof_difference(const double *reported, const double *true_ns, size_t n,
                                     double less, assay__proof *out)
{
    double *off = NULL;

    ASSAY_TRY(room(n, &off));
    for (size_t i = 0; i < n; i++)
        off[i] = reported[i] - true_ns[i] - less;
    return median_of(off, n, out);
}

assay_status assay__proof_ratio(const double *a, const double *b, size_t n, assay__proof *out)
{
    double *ratios = NULL;

    ASSAY_TRY(room(n, &ratios));
    for (size_t i = 0; i < n; i++)
        ratios[i] = a[i] / b[i];
    return median_of(ratios, n, out);
}

assay_status assay__proof_slope(const double *times, const double *true_ns, const double *work,
                                size_t rounds, size_t lengths, assay__proof *out)
{
    double *off = NULL;

    ASSAY_TRY(room(rounds, &off));
    for (size_t r = 0; r < rounds; r++) {
        const double *x = &work[r * lengths];
        const double told = assay__line_fit(x, &times[r * lengths], lengths).slope;
        off[r] = fabs(told / assay__line_fit(x, &true_ns[r * lengths], lengths).slope - 1);
    }
    return median_of(off, rounds, out);
}

assay_status assay__proof_line(const double *times, const double *work, size_t rounds,
                               size_t lengths, assay__proof *out)
{
    double *off = NULL;

    ASSAY_TRY(room(rounds, &off));
    for (size_t r = 0; r < rounds; r++) {
        const double *x = &work[r * lengths], *y = &times[r * lengths];
        const assay__line line = assay__line_fit(x, y, lengths);
        for (size_t i = 0; i < lengths; i++) {
            const double here = fabs(line.at_zero + line.slope * x[i] - y[i]) / y[i];
            off[r] = here <= off[r] ? off[r] : here; /* NaN stays, and is no figure */
        }
    }
    return median_of(off, rounds, out);
}
