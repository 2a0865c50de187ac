/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/verdict.c -- paired comparison of two kernels, A/A floor, confirmation. */
#include "tuner/verdict.h"

#include "runtime/error.h"
#include "tuner/log_interval.h"
#include "tuner/stats.h"
#include "tuner/verdict_rule.h"

#include <math.h>
#include <stdlib.h>

const char *assay__verdict_name(assay_verdict verdict)
{
    switch (verdict) {
#define X(name, value, text)   \
    case ASSAY_VERDICT_##name: \
        return text;
        ASSAY_VERDICT_MAP(X)
#undef X
    }
    return "unknown";
}

const char *assay__undecided_text(assay_undecided reason)
{
    switch (reason) {
#define X(name, value, text)     \
    case ASSAY_UNDECIDED_##name: \
        return text;
        ASSAY_UNDECIDED_MAP(X)
#undef X
    }
    return "unknown";
}

assay_verdict_rule assay__verdict_rule_default(void)
{
    return (assay_verdict_rule){
        .confidence = 0.99, .min_gain = 0.02, .target = 0.05, .min_visits = 5, .comparisons = 1};
}

assay_status assay__verdict_rule_validate(const assay_verdict_rule *rule)
{
    if (!(rule->confidence > 0.0 && rule->confidence < 1.0))
        return assay__fail(ASSAY_INVALID, "verdict: confidence %g is not between 0 and 1",
                           rule->confidence);
    if (!(rule->min_gain >= 0.0) || !(rule->aa_floor >= 0.0 && rule->aa_floor <= 1e6) ||
        !(rule->target > rule->min_gain && rule->target <= 1e6))
        return assay__fail(ASSAY_INVALID,
                           "verdict: least gain %g, floor %g, target %g (target must be larger "
                           "than the least gain)",
                           rule->min_gain, rule->aa_floor, rule->target);
    if (rule->min_visits < 2 || rule->comparisons == 0)
        return assay__fail(ASSAY_INVALID, "verdict: %zu visits (2 or more), %zu comparisons",
                           rule->min_visits, rule->comparisons);
    return ASSAY_OK;
}

assay_status assay__logs_validate(const double *logs, size_t n, double limit)
{
    if (n == 0)
        return assay__fail(ASSAY_INVALID, "verdict: no visits");
    for (size_t i = 0; i < n; i++)
        if (!(fabs(logs[i]) <= limit))
            return assay__fail(ASSAY_INVALID, "verdict: logarithm %zu of %zu is %g", i, n, logs[i]);
    return ASSAY_OK;
}

static const assay__shared_noise no_rivals = {.variance = 0.0, .sharing = 1.0};

static assay_verdict verdict_of(double mean, double half, double gain)
{
    if (mean + half < 0.0 && mean < -gain)
        return ASSAY_VERDICT_FASTER;
    if (mean - half > 0.0 && mean > gain)
        return ASSAY_VERDICT_SLOWER;
    return ASSAY_VERDICT_UNDECIDED;
}

/* A tie says that there is no difference of the size asked for: none such is in the interval. */
static assay_undecided doubt(size_t visits, double mean, double half,
                             const assay_verdict_rule *rule)
{
    if (visits < rule->min_visits)
        return ASSAY_UNDECIDED_FEW_VISITS;
    if (rule->target <= rule->aa_floor)
        return ASSAY_UNDECIDED_BELOW_FLOOR;
    if (!(fabs(mean) + half < log1p(rule->target)))
        return ASSAY_UNDECIDED_WIDE;
    return ASSAY_UNDECIDED_NONE;
}

assay_status assay__compare_paired(const double *log_ratios, size_t visits,
                                   const assay_verdict_rule *rule, assay_comparison *out)
{
    assay__log_interval found;

    ASSAY_TRY(assay__verdict_rule_validate(rule));
    ASSAY_TRY(assay__logs_validate(log_ratios, visits, 0.5 * ASSAY_LOG_LIMIT));
    double alpha = (1.0 - rule->confidence) / (double)rule->comparisons;
    ASSAY_TRY(assay__log_interval_find(log_ratios, visits, alpha, no_rivals, &found));
    const double mean = found.mean, half = found.half;
    assay_comparison c = {.visits = visits,
                          .ratio = exp(mean),
                          .lo = exp(mean - half),
                          .hi = exp(mean + half),
                          .threshold = fmax(rule->min_gain, rule->aa_floor),
                          .has_interval = visits > 1};
    if (visits >= rule->min_visits)
        c.verdict = verdict_of(mean, half, log1p(c.threshold));
    if (c.verdict == ASSAY_VERDICT_UNDECIDED) {
        c.reason = doubt(visits, mean, half, rule);
        if (c.reason == ASSAY_UNDECIDED_NONE)
            c.verdict = ASSAY_VERDICT_TIE;
    }
    *out = c;
    return ASSAY_OK;
}

/* ---- looks ---- */

/* Most of the error is for the first look, by which most is decided. */
static const double look_share[ASSAY_LOOKS] = {0.55, 0.15, 0.15, 0.15};
static const size_t look_halves[ASSAY_LOOKS] = {2, 3, 4, 6};

size_t assay__look_visits(size_t first, size_t look)
{
    return first * look_halves[look] / 2;
}

double assay__look_confidence(double confidence, size_t look)
{
    return 1.0 - (1.0 - confidence) * look_share[look];
}

static bool asks_for_more(const assay_comparison *c)
{
    return c->verdict == ASSAY_VERDICT_UNDECIDED && c->reason == ASSAY_UNDECIDED_WIDE;
}

assay_status assay__compare_looks(const double *log_ratios, size_t visits, size_t first,
                                  const assay_verdict_rule *rule, assay_comparison *out,
                                  size_t *wanted)
{
    assay_verdict_rule now = *rule;
    assay_comparison c;

    ASSAY_TRY(assay__verdict_rule_validate(rule));
    *wanted = 0;
    for (size_t look = 0; look < ASSAY_LOOKS; look++) {
        size_t n = assay__look_visits(first, look);
        if (n > visits && look > 0) {
            *wanted = n;
            break;
        }
        now.confidence = assay__look_confidence(rule->confidence, look);
        ASSAY_TRY(assay__compare_paired(log_ratios, n < visits ? n : visits, &now, &c));
        if (!asks_for_more(&c))
            break;
    }
    *out = c;
    return ASSAY_OK;
}

assay_status assay__aa_floor(const double *log_ratios, size_t visits, double confidence,
                             double *out)
{
    assay__log_interval found;

    if (!(confidence > 0.0 && confidence < 1.0) || visits < 2)
        return assay__fail(ASSAY_INVALID, "A/A floor: confidence %g, %zu visits (2 or more)",
                           confidence, visits);
    ASSAY_TRY(assay__logs_validate(log_ratios, visits, 0.5 * ASSAY_LOG_LIMIT));
    ASSAY_TRY(assay__log_interval_find(log_ratios, visits, 1.0 - confidence, no_rivals, &found));
    *out = expm1(fabs(found.mean) + found.half);
    return ASSAY_OK;
}

static assay_status times_validate(const double *times, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(times[i] >= 1e-12 && times[i] <= 1e24))
            return assay__fail(ASSAY_INVALID, "confirmation: time %zu of %zu is %g ns", i, n,
                               times[i]);
    return ASSAY_OK;
}

static assay_status publish(const double *times, size_t n, assay_confirmation *out)
{
    double *sorted;

    ASSAY_TRY(assay__stats_sorted(times, n, &sorted));
    assay_interval ci = assay__stats_median_interval(sorted, n, 0.95);
    out->time_ns = assay__stats_quantile(sorted, n, 0.5);
    out->lo_ns = ci.lo;
    out->hi_ns = ci.hi;
    out->confidence = ci.confidence;
    free(sorted);
    return ASSAY_OK;
}

assay_status assay__confirm(const double *challenger_ns, const double *incumbent_ns, size_t visits,
                            size_t first, const assay_verdict_rule *rule, assay_confirmation *out)
{
    assay_confirmation c = {.replaces = false};

    if (visits == 0)
        return assay__fail(ASSAY_INVALID, "confirmation: no visits");
    ASSAY_TRY(times_validate(challenger_ns, visits));
    ASSAY_TRY(times_validate(incumbent_ns, visits));
    double *logs = malloc(visits * sizeof *logs);
    if (!logs)
        return assay__fail(ASSAY_NOMEM, "confirmation: %zu visits", visits);
    for (size_t i = 0; i < visits; i++)
        logs[i] = log(challenger_ns[i] / incumbent_ns[i]);
    assay_status status = assay__compare_looks(logs, visits, first, rule, &c.comparison, &c.wanted);
    free(logs);
    ASSAY_TRY(status);
    c.replaces = c.comparison.verdict == ASSAY_VERDICT_FASTER;
    ASSAY_TRY(publish(c.replaces ? challenger_ns : incumbent_ns, visits, &c));
    *out = c;
    return ASSAY_OK;
}
