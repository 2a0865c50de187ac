/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_print.h -- rows for scripts/bench: a quantile of samples with its interval. */
#ifndef ASSAY_BENCH_BENCH_PRINT_H
#define ASSAY_BENCH_BENCH_PRINT_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct bench_figure {
    double value, lo, hi;
    size_t n;
} bench_figure;

static inline int bench_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the samples.  lo..hi: the order statistics between which the true quantile lies with 95 %
 * (normal approximation of the rank); of few samples their range. */
static inline bench_figure bench_quantile(double *samples, size_t n, double share)
{
    const double last = (double)(n - 1), rank = share * last;
    const double half = 1.96 * sqrt(share * (1.0 - share) * (double)n);

    qsort(samples, n, sizeof *samples, bench_by_value);
    return (bench_figure){.value = samples[(size_t)rank],
                          .lo = samples[(size_t)fmax(0.0, floor(rank - half))],
                          .hi = samples[(size_t)fmin(last, ceil(rank + half))],
                          .n = n};
}

static inline bench_figure bench_median(double *samples, size_t n)
{
    return bench_quantile(samples, n, 0.5);
}

/* Where what disturbs only adds: the least, and how far half of the samples lie from it. */
static inline bench_figure bench_least(double *samples, size_t n)
{
    bench_figure f = bench_quantile(samples, n, 0.5);

    f.hi = f.value;
    f.value = f.lo = samples[0];
    return f;
}

/* A rate from times: work over each. */
static inline bench_figure bench_rate(bench_figure time, double work)
{
    return (bench_figure){work / time.value, work / time.hi, work / time.lo, time.n};
}

/* peer NULL: none; goal "": for information. */
static inline void bench_print(const char *what, bench_figure f, const char *unit, const char *peer,
                               double peer_value, const char *goal, int is_met)
{
    printf("%s,%.4g,%s,%s,", what, f.value, unit, peer != NULL ? peer : "");
    if (peer != NULL)
        printf("%.4g", peer_value);
    printf(",%s,%s,%.4g,%.4g,%zu\n", goal,
           goal[0] == '\0' ? "info"
           : is_met        ? "yes"
                           : "no",
           f.lo, f.hi, f.n);
}

#endif
