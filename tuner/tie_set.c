/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/tie_set.c -- which of many candidates cannot be told from the best, and the tie rule. */
#include "tuner/verdict.h"

#include "runtime/error.h"
#include "tuner/stats.h"
#include "tuner/student.h"
#include "tuner/verdict_rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_LIMIT    1000000
#define REVISION_BYTES 32

/* A known figure before an unknown one, then the smaller. */
static int by_figure(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (int)isnan(a) - (int)isnan(b);
    return (a > b) - (a < b);
}

int assay__tie_compare(const assay_tie_entry *a, const assay_tie_entry *b)
{
    int order = (int)b->incumbent - (int)a->incumbent;

    if (order == 0)
        order = (a->stability < b->stability) - (a->stability > b->stability);
    if (order == 0)
        order = by_figure(a->error, b->error);
    if (order == 0)
        order = by_figure(a->memory_bytes, b->memory_bytes);
    if (order == 0)
        order = strcmp(a->kernel, b->kernel);
    if (order == 0)
        order = memcmp(a->revision, b->revision, REVISION_BYTES);
    return order;
}

typedef struct field {
    const double *logs; /* borrowed: count x visits */
    size_t count, visits;
    double *mean;     /* owned: per candidate */
    double *visit;    /* owned: per visit, median over the candidates */
    double *variance; /* owned: per candidate, around its mean and the visits' effects */
    double *scratch;  /* owned: count */
} field;

static void field_clear(field *f)
{
    free(f->mean);
    free(f->visit);
    free(f->variance);
    free(f->scratch);
}

static assay_status field_init(field *f, const double *logs, size_t count, size_t visits)
{
    *f = (field){.logs = logs, .count = count, .visits = visits};
    f->mean = calloc(count, sizeof *f->mean);
    f->visit = calloc(visits, sizeof *f->visit);
    f->variance = calloc(count, sizeof *f->variance);
    f->scratch = calloc(count, sizeof *f->scratch);
    if (f->mean && f->visit && f->variance && f->scratch)
        return ASSAY_OK;
    field_clear(f);
    return assay__fail(ASSAY_NOMEM, "tie set: %zu candidates, %zu visits", count, visits);
}

static size_t find_leader(field *f)
{
    size_t leader = 0;

    for (size_t c = 0; c < f->count; c++) {
        for (size_t v = 0; v < f->visits; v++)
            f->mean[c] += f->logs[c * f->visits + v] / (double)f->visits;
        if (f->mean[c] < f->mean[leader])
            leader = c;
    }
    return leader;
}

/* A visit's effect is the median of what it did to the candidates: a few wild ones do not count. */
static assay_status find_visit_effects(field *f)
{
    for (size_t v = 0; v < f->visits; v++) {
        for (size_t c = 0; c < f->count; c++)
            f->scratch[c] = f->logs[c * f->visits + v] - f->mean[c];
        ASSAY_TRY(assay__stats_median(f->scratch, f->count, &f->visit[v]));
    }
    return ASSAY_OK;
}

static void find_variances(field *f)
{
    for (size_t c = 0; c < f->count; c++) {
        double squares = 0.0, offset = 0.0;
        for (size_t v = 0; v < f->visits; v++)
            offset += f->visit[v] / (double)f->visits;
        for (size_t v = 0; v < f->visits; v++) {
            double rest = f->logs[c * f->visits + v] - f->mean[c] - (f->visit[v] - offset);
            squares += rest * rest;
        }
        f->variance[c] = squares / (double)(f->visits - 1);
    }
}

/* Typical variance of one candidate: the median, freed of the skew of chi-squared
 * (Wilson and Hilferty, 1931). */
static assay_status typical_variance(const field *f, double *out)
{
    double df = (double)(f->visits - 1), median;
    double root = 1.0 - 2.0 / (9.0 * df);

    ASSAY_TRY(assay__stats_median(f->variance, f->count, &median));
    *out = median / (root * root * root);
    return ASSAY_OK;
}

/* Variance of the difference of two candidates, from their own pairs. */
static double pair_variance(const field *f, size_t a, size_t b)
{
    double squares = 0.0;

    for (size_t v = 0; v < f->visits; v++) {
        double d =
            f->logs[a * f->visits + v] - f->logs[b * f->visits + v] - f->mean[a] + f->mean[b];
        squares += d * d;
    }
    return squares / (double)(f->visits - 1);
}

/* With two candidates the pair is all there is; with more, the typical variance rests on many
 * values and the quantile may use their number. */
static double critical(const field *f, const assay_verdict_rule *rule)
{
    double m = (double)f->count, df = (double)(f->visits - 1);
    double pairs = fmax(0.5 * m * (m - 1.0), (double)rule->comparisons);
    double pooled = f->count > 2 ? df * (m - 1.0) : df;

    return assay__student_critical((1.0 - rule->confidence) / pairs, pooled);
}

static assay_status separate(field *f, const assay_verdict_rule *rule, size_t leader,
                             bool *is_member, assay_tie_set *out)
{
    double typical = 0.0, gain = log1p(fmax(rule->min_gain, rule->aa_floor));

    ASSAY_TRY(find_visit_effects(f));
    find_variances(f);
    if (f->count > 2)
        ASSAY_TRY(typical_variance(f, &typical));
    double t = f->count > 1 ? critical(f, rule) : 0.0;
    out->gap = fmax(gain, t * sqrt(2.0 * typical / (double)f->visits));
    for (size_t c = 0; c < f->count; c++) {
        double variance = fmax(pair_variance(f, c, leader), 2.0 * typical);
        double gap = f->mean[c] - f->mean[leader];
        is_member[c] = !(gap > gain && gap > t * sqrt(variance / (double)f->visits));
    }
    return ASSAY_OK;
}

static void choose(const assay_tie_entry *entries, const bool *is_member, size_t count,
                   assay_tie_set *out)
{
    out->chosen = out->leader;
    out->members = 0;
    for (size_t c = 0; c < count; c++) {
        if (!is_member[c])
            continue;
        out->members++;
        if (assay__tie_compare(&entries[c], &entries[out->chosen]) < 0)
            out->chosen = c;
    }
}

assay_status assay__tie_set_build(const double *log_times, size_t count, size_t visits,
                                  const assay_verdict_rule *rule, const assay_tie_entry *entries,
                                  bool *is_member, assay_tie_set *out)
{
    assay_tie_set set = {0};
    field f;

    ASSAY_TRY(assay__verdict_rule_validate(rule));
    if (count == 0 || count > COUNT_LIMIT || visits > COUNT_LIMIT)
        return assay__fail(ASSAY_INVALID, "tie set: %zu candidates, %zu visits", count, visits);
    ASSAY_TRY(assay__logs_validate(log_times, count * visits, ASSAY_LOG_LIMIT));
    ASSAY_TRY(field_init(&f, log_times, count, visits));
    set.leader = find_leader(&f);
    assay_status status = ASSAY_OK;
    if (visits < rule->min_visits)
        memset(is_member, true, count * sizeof *is_member); /* nobody can be expelled yet */
    else
        status = separate(&f, rule, set.leader, is_member, &set);
    field_clear(&f);
    ASSAY_TRY(status);
    choose(entries, is_member, count, &set);
    *out = set;
    return ASSAY_OK;
}
