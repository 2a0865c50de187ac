/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/stats.c -- robust statistics of timing samples. */
#include "tuner/stats.h"

#include "runtime/error.h"
#include "tuner/student.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_LIMIT 1e100 /* squares and sums of any count stay finite */
#define MAD_TO_SD    1.4826
#define MODE_GAP_SD  5.0 /* a halved normal is 2.7 apart, a halved uniform 3.5 */
#define EFFECT_SHARE 0.01
#define SHAPE_MIN_N  10
#define DRIFT_Z      3.2905 /* two-sided p = 0.001 */

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

assay_status assay__stats_validate(const double *samples, size_t n)
{
    if (n == 0)
        return assay__fail(ASSAY_INVALID, "statistics: no samples");
    for (size_t i = 0; i < n; i++)
        if (!(fabs(samples[i]) <= SAMPLE_LIMIT))
            return assay__fail(ASSAY_INVALID, "statistics: sample %zu of %zu is %g, not finite", i,
                               n, samples[i]);
    return ASSAY_OK;
}

assay_status assay__stats_sorted(const double *samples, size_t n, double **out)
{
    ASSAY_TRY(assay__stats_validate(samples, n));
    double *copy = malloc(n * sizeof *copy);
    if (!copy)
        return assay__fail(ASSAY_NOMEM, "statistics: %zu samples", n);
    memcpy(copy, samples, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, by_value);
    *out = copy;
    return ASSAY_OK;
}

double assay__stats_quantile(const double *sorted, size_t n, double p)
{
    double rank = p * (double)(n - 1);
    size_t below = (size_t)rank;

    if (below + 1 >= n)
        return sorted[n - 1];
    double part = rank - (double)below;
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

assay_status assay__stats_median(const double *samples, size_t n, double *out)
{
    double *sorted;

    ASSAY_TRY(assay__stats_sorted(samples, n, &sorted));
    *out = assay__stats_quantile(sorted, n, 0.5);
    free(sorted);
    return ASSAY_OK;
}

/* Reorders `sorted` to distances from the median: callers pass a copy. */
static double mad_of(double *sorted, size_t n)
{
    double centre = assay__stats_quantile(sorted, n, 0.5);

    for (size_t i = 0; i < n; i++)
        sorted[i] = fabs(sorted[i] - centre);
    qsort(sorted, n, sizeof *sorted, by_value);
    return MAD_TO_SD * assay__stats_quantile(sorted, n, 0.5);
}

assay_status assay__stats_mad(const double *samples, size_t n, double *out)
{
    double *sorted;

    ASSAY_TRY(assay__stats_sorted(samples, n, &sorted));
    *out = mad_of(sorted, n);
    free(sorted);
    return ASSAY_OK;
}

assay_interval assay__stats_median_interval(const double *sorted, size_t n, double confidence)
{
    size_t k = 0; /* zero based: the interval is sorted[k] .. sorted[n-1-k] */
    double outside = 2.0 * assay__coin_tail(n, 0);

    while (2 * (k + 1) < n) {
        double wider = 2.0 * assay__coin_tail(n, k + 1);
        if (!(wider <= 1.0 - confidence))
            break;
        outside = wider;
        k++;
    }
    return (assay_interval){sorted[k], sorted[n - 1 - k], n == 1 ? 0.0 : 1.0 - outside};
}

void assay__stats_outliers(const double *sorted, size_t n, double resolution, size_t *mild,
                           size_t *severe)
{
    double low = assay__stats_quantile(sorted, n, 0.25);
    double high = assay__stats_quantile(sorted, n, 0.75);
    double range = fmax(high - low, resolution);

    *mild = *severe = 0;
    for (size_t i = 0; i < n; i++) {
        double outside = fmax(low - sorted[i], sorted[i] - high);
        if (outside > 3.0 * range)
            ++*severe;
        else if (outside > 1.5 * range)
            ++*mild;
    }
}

/* Sum of squared deviations from the count, sum and sum of squares of centred values. */
static double squares(double count, double sum, double sum2)
{
    return fmax(sum2 - sum * sum / count, 0.0);
}

bool assay__stats_bimodal(const double *sorted, size_t n)
{
    size_t least = (n + 9) / 10;
    double centre, sum = 0.0, sum2 = 0.0, low = 0.0, low2 = 0.0, best = INFINITY;
    bool apart = false;

    if (n < SHAPE_MIN_N)
        return false;
    centre = assay__stats_quantile(sorted, n, 0.5);
    for (size_t i = 0; i < n; i++) {
        sum += sorted[i] - centre;
        sum2 += (sorted[i] - centre) * (sorted[i] - centre);
    }
    for (size_t i = 1; i + least <= n; i++) {
        double x = sorted[i - 1] - centre, a = (double)i, b = (double)(n - i);
        low += x;
        low2 += x * x;
        if (i < least)
            continue;
        double in_low = squares(a, low, low2), in_high = squares(b, sum - low, sum2 - low2);
        if (!(in_low + in_high < best))
            continue;
        best = in_low + in_high;
        double gap = (sum - low) / b - low / a;
        double pooled = 0.5 * (in_low / fmax(a - 1.0, 1.0) + in_high / fmax(b - 1.0, 1.0));
        apart = gap * gap > MODE_GAP_SD * MODE_GAP_SD * pooled && gap > EFFECT_SHARE * fabs(centre);
    }
    return apart;
}

typedef struct timed {
    double value;
    size_t at;
} timed;

static int by_timed_value(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Spearman's correlation of value and position; ties share the mean rank. 0 if all are equal. */
static double rank_correlation(timed *order, size_t n)
{
    double middle = 0.5 * (double)(n - 1), cross = 0.0, ranks2 = 0.0, times2 = 0.0;

    qsort(order, n, sizeof *order, by_timed_value);
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        while (end < n && order[end].value <= order[i].value)
            end++;
        double rank = 0.5 * (double)(i + end - 1) - middle;
        for (; i < end; i++) {
            double when = (double)order[i].at - middle;
            cross += rank * when;
            ranks2 += rank * rank;
            times2 += when * when;
        }
    }
    return ranks2 > 0.0 ? cross / sqrt(ranks2 * times2) : 0.0;
}

assay_status assay__stats_drift(const double *samples, size_t n, bool *out)
{
    double first, second;

    ASSAY_TRY(assay__stats_validate(samples, n));
    if (n < SHAPE_MIN_N) {
        *out = false;
        return ASSAY_OK;
    }
    ASSAY_TRY(assay__stats_median(samples, n / 2, &first));
    ASSAY_TRY(assay__stats_median(samples + n / 2, n - n / 2, &second));
    timed *order = malloc(n * sizeof *order);
    if (!order)
        return assay__fail(ASSAY_NOMEM, "statistics: %zu samples", n);
    for (size_t i = 0; i < n; i++)
        order[i] = (timed){samples[i], i};
    double z = rank_correlation(order, n) * sqrt((double)(n - 1));
    free(order);
    *out = fabs(z) > DRIFT_Z && fabs(second - first) > EFFECT_SHARE * fabs(first);
    return ASSAY_OK;
}

bool assay__stats_autocorrelation(const double *samples, size_t n, double *out)
{
    double mean = 0.0, cross = 0.0, all = 0.0;

    if (n < 3)
        return false;
    for (size_t i = 0; i < n; i++)
        mean += samples[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        all += (samples[i] - mean) * (samples[i] - mean);
        if (i + 1 < n)
            cross += (samples[i] - mean) * (samples[i + 1] - mean);
    }
    /* Equal samples leave only the rounding of their mean. */
    if (!(all > 1e-24 * mean * mean * (double)n))
        return false;
    *out = cross / all;
    return true;
}

assay_status assay__stats_summarise(const double *samples, size_t n, double resolution,
                                    assay_sample_summary *out)
{
    assay_sample_summary s = {.n = n};
    double *sorted;

    if (!(resolution >= 0.0 && resolution <= SAMPLE_LIMIT))
        return assay__fail(ASSAY_INVALID, "statistics: clock step of %g ns", resolution);
    ASSAY_TRY(assay__stats_drift(samples, n, &s.drift));
    ASSAY_TRY(assay__stats_sorted(samples, n, &sorted));
    s.min = sorted[0];
    s.p25 = assay__stats_quantile(sorted, n, 0.25);
    s.median = assay__stats_quantile(sorted, n, 0.5);
    s.p75 = assay__stats_quantile(sorted, n, 0.75);
    s.p95 = assay__stats_quantile(sorted, n, 0.95);
    s.p99 = assay__stats_quantile(sorted, n, 0.99);
    s.max = sorted[n - 1];
    for (size_t i = 0; i < n; i++)
        s.mean += sorted[i] / (double)n;
    s.ci95 = assay__stats_median_interval(sorted, n, 0.95);
    assay__stats_outliers(sorted, n, resolution, &s.outliers_mild, &s.outliers_severe);
    s.bimodal = assay__stats_bimodal(sorted, n);
    s.has_autocorrelation = assay__stats_autocorrelation(samples, n, &s.autocorrelation);
    s.mad = mad_of(sorted, n);
    free(sorted);
    *out = s;
    return ASSAY_OK;
}

const char *assay__stop_name(assay_stop reason)
{
    switch (reason) {
#define X(name, value, text) \
    case ASSAY_STOP_##name:  \
        return text;
        ASSAY_STOP_MAP(X)
#undef X
    }
    return "unknown";
}

static assay_status rule_validate(const assay_stop_rule *rule)
{
    if (!(rule->confidence > 0.0 && rule->confidence < 1.0))
        return assay__fail(ASSAY_INVALID, "stop rule: confidence %g is not between 0 and 1",
                           rule->confidence);
    if (!(rule->half_width >= 0.0) || !(rule->budget_ns >= 0.0) || rule->min_samples == 0)
        return assay__fail(ASSAY_INVALID, "stop rule: half width %g, budget %g ns, %zu samples",
                           rule->half_width, rule->budget_ns, rule->min_samples);
    return ASSAY_OK;
}

static assay_status is_precise(const assay_stop_rule *rule, const double *samples, size_t n,
                               bool *out)
{
    double *sorted;

    ASSAY_TRY(assay__stats_sorted(samples, n, &sorted));
    assay_interval ci = assay__stats_median_interval(sorted, n, rule->confidence);
    double median = assay__stats_quantile(sorted, n, 0.5);
    free(sorted);
    *out = n >= rule->min_samples && ci.confidence >= rule->confidence &&
           0.5 * (ci.hi - ci.lo) <= rule->half_width * fabs(median);
    return ASSAY_OK;
}

assay_status assay__stop_check(const assay_stop_rule *rule, const double *samples, size_t n,
                               double spent_ns, assay_stop *out)
{
    bool precise = false;

    ASSAY_TRY(rule_validate(rule));
    if (isnan(spent_ns))
        return assay__fail(ASSAY_INVALID, "stop rule: time spent is not a number");
    if (n > 0)
        ASSAY_TRY(is_precise(rule, samples, n, &precise));
    if (precise)
        *out = ASSAY_STOP_PRECISE;
    else if (spent_ns >= rule->budget_ns)
        *out = ASSAY_STOP_BUDGET;
    else if (rule->max_samples > 0 && n >= rule->max_samples)
        *out = ASSAY_STOP_COUNT;
    else
        *out = ASSAY_STOP_CONTINUE;
    return ASSAY_OK;
}
