/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/tie_set.c -- which of many candidates cannot be told from the best, and the tie rule. */
#include "tuner/verdict.h"

#include "runtime/error.h"
#include "tuner/log_interval.h"
#include "tuner/stats.h"
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
    double *centre;   /* owned: per candidate, of what is left without the visits' effects */
    double *visit;    /* owned: per visit, median over the candidates */
    double *variance; /* owned: per candidate, around its centre and the visits' effects */
    double *gap;      /* owned: per candidate, to the leader */
    double *scratch;  /* owned: count or visits, the larger */
} field;

static void field_clear(field *f)
{
    free(f->centre);
    free(f->visit);
    free(f->variance);
    free(f->gap);
    free(f->scratch);
}

static assay_status field_init(field *f, const double *logs, size_t count, size_t visits)
{
    *f = (field){.logs = logs, .count = count, .visits = visits};
    f->centre = calloc(count, sizeof *f->centre);
    f->visit = calloc(visits, sizeof *f->visit);
    f->variance = calloc(count, sizeof *f->variance);
    f->gap = calloc(count, sizeof *f->gap);
    f->scratch = calloc(count > visits ? count : visits, sizeof *f->scratch);
    if (f->centre && f->visit && f->variance && f->gap && f->scratch)
        return ASSAY_OK;
    field_clear(f);
    return assay__fail(ASSAY_NOMEM, "tie set: %zu candidates, %zu visits", count, visits);
}

/* A visit's effect is what the middle of the candidates took in it, so that a few wild ones do not
 * count. */
static assay_status find_visit_effects(field *f)
{
    for (size_t v = 0; v < f->visits; v++) {
        for (size_t c = 0; c < f->count; c++)
            f->scratch[c] = f->logs[c * f->visits + v];
        ASSAY_TRY(assay__stats_median(f->scratch, f->count, &f->visit[v]));
    }
    return ASSAY_OK;
}

/* Neither do a few wild visits of a candidate, where there are enough of them. */
static assay_status find_centres(field *f, size_t *leader)
{
    double *sorted;

    *leader = 0;
    for (size_t c = 0; c < f->count; c++) {
        for (size_t v = 0; v < f->visits; v++)
            f->scratch[v] = f->logs[c * f->visits + v] - f->visit[v];
        ASSAY_TRY(assay__stats_sorted(f->scratch, f->visits, &sorted));
        assay__log_trimmed(sorted, f->visits, assay__log_trim(f->visits), &f->centre[c],
                           &f->variance[c]);
        free(sorted);
        if (f->centre[c] < f->centre[*leader])
            *leader = c;
    }
    return ASSAY_OK;
}

/* Typical variance of one candidate: the median, freed of the skew of chi-squared
 * (Wilson and Hilferty, 1931). */
static assay_status typical_variance(const field *f, double *out)
{
    double df = (double)(f->visits - 2 * assay__log_trim(f->visits) - 1), median;
    double root = 1.0 - 2.0 / (9.0 * df);

    ASSAY_TRY(assay__stats_median(f->variance, f->count, &median));
    *out = median / (root * root * root);
    return ASSAY_OK;
}

/* With two candidates the pair is all there is; with more, the typical variance rests on many
 * values and the quantile may use their number. */
static assay_status noise_of(const field *f, assay__shared_noise *out)
{
    double typical;

    *out = (assay__shared_noise){.variance = 0.0, .sharing = 1.0};
    if (f->count < 3)
        return ASSAY_OK;
    ASSAY_TRY(typical_variance(f, &typical));
    *out = (assay__shared_noise){.variance = 2.0 * typical, .sharing = (double)f->count - 1.0};
    return ASSAY_OK;
}

static double least_gain(const assay_verdict_rule *rule)
{
    return log1p(fmax(rule->min_gain, rule->aa_floor));
}

static assay_status separate(field *f, const assay_verdict_rule *rule, size_t leader,
                             bool *is_member)
{
    const double m = (double)f->count, gain = least_gain(rule);
    const double pairs = fmax(0.5 * m * (m - 1.0), (double)rule->comparisons);
    assay__shared_noise noise;
    assay__log_interval found;

    ASSAY_TRY(noise_of(f, &noise));
    for (size_t c = 0; c < f->count; c++) {
        for (size_t v = 0; v < f->visits; v++)
            f->scratch[v] = f->logs[c * f->visits + v] - f->logs[leader * f->visits + v];
        ASSAY_TRY(assay__log_interval_find(f->scratch, f->visits, (1.0 - rule->confidence) / pairs,
                                           noise, &found));
        f->gap[c] = found.mean;
        is_member[c] = c == leader || !(found.mean > gain && found.mean > found.half);
    }
    return ASSAY_OK;
}

static void choose(const assay_tie_entry *entries, const bool *is_member, const field *f,
                   double gain, assay_tie_set *out)
{
    out->chosen = out->safe = out->leader;
    out->members = 0;
    for (size_t c = 0; c < f->count; c++) {
        if (!is_member[c])
            continue;
        out->members++;
        if (assay__tie_compare(&entries[c], &entries[out->chosen]) < 0)
            out->chosen = c;
        if (f->gap[c] <= gain && assay__tie_compare(&entries[c], &entries[out->safe]) < 0)
            out->safe = c;
    }
    out->gap = f->gap[out->chosen];
}

assay_status assay__tie_set_build(const double *log_times, size_t count, size_t visits,
                                  const assay_verdict_rule *rule, const assay_tie_entry *entries,
                                  bool *is_member, assay_tie_set *out)
{
    assay_tie_set set = {0};
    field f;

    ASSAY_TRY(assay__verdict_rule_validate(rule));
    if (count == 0 || visits == 0 || count > COUNT_LIMIT || visits > COUNT_LIMIT)
        return assay__fail(ASSAY_INVALID, "tie set: %zu candidates, %zu visits", count, visits);
    ASSAY_TRY(assay__logs_validate(log_times, count * visits, ASSAY_LOG_LIMIT));
    ASSAY_TRY(field_init(&f, log_times, count, visits));
    assay_status status = find_visit_effects(&f);
    if (status == ASSAY_OK)
        status = find_centres(&f, &set.leader);
    memset(is_member, true, count * sizeof *is_member); /* of too few visits nobody is expelled */
    if (status == ASSAY_OK && visits >= rule->min_visits)
        status = separate(&f, rule, set.leader, is_member);
    if (status == ASSAY_OK)
        choose(entries, is_member, &f, least_gain(rule), &set);
    field_clear(&f);
    ASSAY_TRY(status);
    *out = set;
    return ASSAY_OK;
}
