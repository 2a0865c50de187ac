/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/bootstrap.c -- seeded bootstrap intervals over blocks. */
#include "tuner/stats.h"

#include "runtime/error.h"

#include <math.h>
#include <stdlib.h>

#define RESAMPLES_MIN 100
#define RESAMPLES_MAX 1000000

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 */

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median_in_place(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return assay__stats_quantile(values, n, 0.5);
}

/* b == NULL: the statistic is median(a); otherwise median(a) / median(b). `draw` holds 2n. */
static double resample(const double *a, const double *b, size_t n, uint64_t *state, double *draw)
{
    for (size_t i = 0; i < n; i++) {
        size_t pick = (size_t)(((next_random(state) >> 32) * (uint64_t)n) >> 32);
        draw[i] = a[pick];
        draw[n + i] = b ? b[pick] : 1.0;
    }
    double top = median_in_place(draw, n);
    return b ? top / median_in_place(draw + n, n) : top;
}

static assay_status bootstrap(const double *a, const double *b, size_t n, double confidence,
                              size_t resamples, uint64_t seed, assay_interval *out)
{
    if (!(confidence > 0.0 && confidence < 1.0))
        return assay__fail(ASSAY_INVALID, "bootstrap: confidence %g is not between 0 and 1",
                           confidence);
    if (resamples < RESAMPLES_MIN || resamples > RESAMPLES_MAX || n > UINT32_MAX)
        return assay__fail(ASSAY_INVALID, "bootstrap: %zu resamples of %zu blocks (%d to %d)",
                           resamples, n, RESAMPLES_MIN, RESAMPLES_MAX);
    double *draws = malloc((resamples + 2 * n) * sizeof *draws);
    if (!draws)
        return assay__fail(ASSAY_NOMEM, "bootstrap: %zu resamples", resamples);
    for (size_t i = 0; i < resamples; i++)
        draws[i] = resample(a, b, n, &seed, draws + resamples);
    qsort(draws, resamples, sizeof *draws, by_value);
    /* Resampling cannot be surer than the range of the blocks itself. */
    double most = 1.0 - exp2(1.0 - (double)n);
    *out = (assay_interval){assay__stats_quantile(draws, resamples, 0.5 * (1.0 - confidence)),
                            assay__stats_quantile(draws, resamples, 0.5 * (1.0 + confidence)),
                            fmin(confidence, most)};
    free(draws);
    return ASSAY_OK;
}

assay_status assay__stats_bootstrap_median(const double *blocks, size_t n, double confidence,
                                           size_t resamples, uint64_t seed, assay_interval *out)
{
    ASSAY_TRY(assay__stats_validate(blocks, n));
    return bootstrap(blocks, NULL, n, confidence, resamples, seed, out);
}

assay_status assay__stats_bootstrap_ratio(const double *a, const double *b, size_t n,
                                          double confidence, size_t resamples, uint64_t seed,
                                          assay_interval *out)
{
    ASSAY_TRY(assay__stats_validate(a, n));
    ASSAY_TRY(assay__stats_validate(b, n));
    for (size_t i = 0; i < n; i++)
        if (!(a[i] >= 1e-100 && b[i] >= 1e-100))
            return assay__fail(ASSAY_INVALID, "bootstrap: block %zu is %g and %g, not positive", i,
                               a[i], b[i]);
    return bootstrap(a, b, n, confidence, resamples, seed, out);
}
