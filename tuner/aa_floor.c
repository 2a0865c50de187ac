/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/aa_floor.c -- what a machine shows between a thing and itself: the least gain to believe.
 */
#include "tuner/verdict.h"

#include "runtime/error.h"
#include "tuner/stats.h"
#include "tuner/student.h"
#include "tuner/verdict_rule.h"

#include <math.h>
#include <stdlib.h>

#define FLOOR_LIMIT      1e6                /* the largest gain that a rule may ask for */
#define SIGMA_PER_MEDIAN 1.4826022185056018 /* of |x| for normal x: 1 / 0.6745 */

static double mean_of(const double *x, size_t n)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

assay_status assay__aa_contrast(const double *log_ratios, size_t visits, double *out)
{
    size_t early = visits / 2, late = visits - early;

    if (visits < 2)
        return assay__fail(ASSAY_INVALID, "A/A contrast: %zu visits (2 or more)", visits);
    ASSAY_TRY(assay__logs_validate(log_ratios, visits, 0.5 * ASSAY_LOG_LIMIT));
    double apart = mean_of(log_ratios, early) - mean_of(log_ratios + early, late);
    /* var(apart) = s^2 (1/early + 1/late), var(mean) = s^2 / visits */
    *out = apart * sqrt((double)early * (double)late) / (double)visits;
    return ASSAY_OK;
}

assay_status assay__aa_floor_of(const double *contrasts, size_t count, double confidence,
                                double *out)
{
    double median;

    if (!(confidence > 0.0 && confidence < 1.0) || count < ASSAY_AA_CONTRASTS)
        return assay__fail(ASSAY_INVALID, "A/A floor: confidence %g, %zu contrasts (%d or more)",
                           confidence, count, ASSAY_AA_CONTRASTS);
    ASSAY_TRY(assay__logs_validate(contrasts, count, 0.5 * ASSAY_LOG_LIMIT));
    double *sizes = malloc(count * sizeof *sizes);
    if (sizes == NULL)
        return assay__fail(ASSAY_NOMEM, "A/A floor: %zu contrasts", count);
    for (size_t i = 0; i < count; i++)
        sizes[i] = fabs(contrasts[i]);
    assay_status status = assay__stats_median(sizes, count, &median);
    free(sizes);
    ASSAY_TRY(status);
    double reach = assay__student_critical(1.0 - confidence, (double)count);
    *out = fmin(expm1(reach * SIGMA_PER_MEDIAN * median), FLOOR_LIMIT);
    return ASSAY_OK;
}
