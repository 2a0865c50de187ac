/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/aa_floor.c -- what a machine shows between a thing and itself: the least gain to believe.
 */
#include "tuner/verdict.h"

#include "runtime/error.h"
#include "tuner/stats.h"
#include "tuner/verdict_rule.h"

#include <math.h>
#include <stdlib.h>

#define FLOOR_LIMIT   1e6    /* the largest gain that a rule may ask for */
#define REACH_IN_MADS 2.3263 /* of a normal distribution, one side: 99 % */

static int larger_first(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* The most of `count` intervals that may miss the truth by chance, each with probability `alpha`:
 * more do with a probability of at most `alpha`. */
static size_t missed_by_chance(size_t count, double alpha)
{
    double each = pow(1.0 - alpha, (double)count), upto = each;
    size_t missed = 0;

    while (missed < count && 1.0 - upto > alpha) {
        missed++;
        each *= (double)(count - missed + 1) / (double)missed * alpha / (1.0 - alpha);
        upto += each;
    }
    return missed;
}

static assay_status take_misses(const assay_comparison *equals, size_t count, double *sizes,
                                size_t *misses)
{
    *misses = 0;
    for (size_t i = 0; i < count; i++) {
        const assay_comparison *e = &equals[i];
        if (!(e->lo > 0.0 && e->lo <= e->ratio && e->ratio <= e->hi && isfinite(e->hi)))
            return assay__fail(ASSAY_INVALID, "A/A floor: ratio %g in %g to %g", e->ratio, e->lo,
                               e->hi);
        if (e->has_interval && (e->lo > 1.0 || e->hi < 1.0))
            sizes[(*misses)++] = fabs(log(e->ratio));
    }
    qsort(sizes, *misses, sizeof *sizes, larger_first);
    return ASSAY_OK;
}

/* Log gain that the equals in `sizes`, largest first, stay below, but for `chance` of them. */
static assay_status reach_of(const double *sizes, size_t misses, size_t chance, double *out)
{
    double median, mad;

    ASSAY_TRY(assay__stats_median(sizes, misses, &median));
    ASSAY_TRY(assay__stats_mad(sizes, misses, &mad));
    *out = fmax(sizes[chance], median + REACH_IN_MADS * mad);
    return ASSAY_OK;
}

assay_status assay__aa_floor_of(const assay_comparison *equals, size_t count, double confidence,
                                double *out)
{
    double reach = 0.0;
    size_t misses;

    if (!(confidence > 0.0 && confidence < 1.0) || count < ASSAY_AA_PAIRS)
        return assay__fail(ASSAY_INVALID, "A/A floor: confidence %g, %zu pairs (%d or more)",
                           confidence, count, ASSAY_AA_PAIRS);
    double *sizes = malloc(count * sizeof *sizes);
    if (sizes == NULL)
        return assay__fail(ASSAY_NOMEM, "A/A floor: %zu pairs", count);
    assay_status status = take_misses(equals, count, sizes, &misses);
    size_t chance = missed_by_chance(count, 1.0 - confidence);
    if (status == ASSAY_OK && misses > chance)
        status = reach_of(sizes, misses, chance, &reach);
    free(sizes);
    ASSAY_TRY(status);
    *out = fmin(expm1(reach), FLOOR_LIMIT);
    return ASSAY_OK;
}
