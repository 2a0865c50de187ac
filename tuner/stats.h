/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/stats.h -- robust statistics of timing samples (doubles, nanoseconds).
 *
 * Pure functions; any thread. Every function that takes samples refuses (ASSAY_INVALID) an empty
 * set and a sample that is NaN, infinite or beyond 1e100 in size, so no result is ever NaN or
 * infinite. ASSAY_NOMEM where a sorted copy is needed. Outliers are counted, never dropped. */
#ifndef ASSAY_TUNER_STATS_H
#define ASSAY_TUNER_STATS_H

#include "assay/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* lo <= hi. `confidence` is what the interval achieves, which may be less than what was asked
 * for: 0 for one sample, 1 - 2^(1-n) for the range of n samples. */
typedef struct assay_interval {
    double lo, hi;
    double confidence;
} assay_interval;

typedef struct assay_sample_summary {
    size_t n;
    double min, p25, median, p75, p95, p99, max;
    double mean;
    double mad;               /* median absolute deviation x 1.4826: sd of a normal */
    assay_interval ci95;      /* of the median, from order statistics */
    size_t outliers_mild;     /* 1.5 to 3 interquartile ranges outside the quartiles */
    size_t outliers_severe;   /* beyond 3 */
    bool bimodal;             /* see assay__stats_bimodal */
    bool drift;               /* see assay__stats_drift */
    bool has_autocorrelation; /* n >= 3 and samples not all equal */
    double autocorrelation;   /* lag 1, in time order; 0 when absent */
} assay_sample_summary;

/* ASSAY_OK when all n samples may enter statistics; the text names the first that may not. */
assay_status assay__stats_validate(const double *samples, size_t n);

/* A sorted copy; the caller frees *out. */
assay_status assay__stats_sorted(const double *samples, size_t n, double **out);

/* Quantile of sorted samples, n >= 1, 0 <= p <= 1: linear interpolation at rank p (n - 1)
 * (Hyndman and Fan, 1996, type 7). */
double assay__stats_quantile(const double *sorted, size_t n, double p);

assay_status assay__stats_median(const double *samples, size_t n, double *out);
assay_status assay__stats_mad(const double *samples, size_t n, double *out);

/* Distribution-free interval of the median: the order statistics k and n+1-k with the largest k
 * whose coverage is still >= confidence. Where even the range does not reach it (n < 6 at 95 %)
 * the range is returned with the confidence it has. 0 < confidence < 1. */
assay_interval assay__stats_median_interval(const double *sorted, size_t n, double confidence);

/* Percentile bootstrap over blocks, one value a visit; same seed, same interval. `confidence`
 * of the result is capped at 1 - 2^(1-n). resamples: 100 to 1,000,000. */
assay_status assay__stats_bootstrap_median(const double *blocks, size_t n, double confidence,
                                           size_t resamples, uint64_t seed, assay_interval *out);

/* The same for median(a) / median(b), where a[i] and b[i] come from one visit and are resampled
 * together. Both must be positive. */
assay_status assay__stats_bootstrap_ratio(const double *a, const double *b, size_t n,
                                          double confidence, size_t resamples, uint64_t seed,
                                          assay_interval *out);

/* Tukey's classes. The interquartile range is taken as at least `resolution` (one clock step),
 * so that neighbouring ticks of a coarse clock are no outliers. */
void assay__stats_outliers(const double *sorted, size_t n, double resolution, size_t *mild,
                           size_t *severe);

/* True when the best split in two groups (each >= 10 % of n >= 10 samples) leaves means apart by
 * more than 5 pooled standard deviations (Ashman's D) and by more than 1 % of the median. */
bool assay__stats_bimodal(const double *sorted, size_t n);

/* True when rank and time correlate (Spearman, p < 0.001, n >= 10) and the medians of the first
 * and second half differ by more than 1 %. samples in time order, already validated. */
assay_status assay__stats_drift(const double *samples, size_t n, bool *out);

/* Lag-1 autocorrelation in [-1, 1]; false when n < 3 or all samples are equal. */
bool assay__stats_autocorrelation(const double *samples, size_t n, double *out);

/* All of the above. samples in time order; resolution >= 0 is the step of the clock in ns. */
assay_status assay__stats_summarise(const double *samples, size_t n, double resolution,
                                    assay_sample_summary *out);

/* Why sampling ended. Stored by number: append, never renumber. */
#define ASSAY_STOP_MAP(X)                                            \
    X(CONTINUE, 0, "continue")   /* neither rule holds yet */        \
    X(PRECISE, 1, "precise")     /* interval narrow enough */        \
    X(BUDGET, 2, "budget")       /* time spent, interval too wide */ \
    X(COUNT, 3, "count")         /* largest sample count reached */  \
    X(THROTTLED, 4, "throttled") /* clock guard gave up */           \
    X(INTERRUPTED, 5, "interrupted")

typedef enum assay_stop {
#define X(name, value, text) ASSAY_STOP_##name = (value),
    ASSAY_STOP_MAP(X)
#undef X
} assay_stop;

/* Stable name of a reason, "unknown" for a foreign value. */
const char *assay__stop_name(assay_stop reason);

typedef struct assay_stop_rule {
    double confidence;  /* 0.95 */
    double half_width;  /* of the median's interval, as a share of the median: 0.01 */
    double budget_ns;   /* 3e9 */
    size_t min_samples; /* >= 1; 50 */
    size_t max_samples; /* 0 = no limit */
} assay_stop_rule;

/* Decides after `n` samples (n = 0 allowed) and `spent_ns` of wall time. An unresolved set ends by
 * BUDGET, never by an error. ASSAY_INVALID for bad samples, a NaN time or a bad rule. */
assay_status assay__stop_check(const assay_stop_rule *rule, const double *samples, size_t n,
                               double spent_ns, assay_stop *out);

#endif
