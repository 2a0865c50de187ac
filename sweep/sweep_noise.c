/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_noise.c -- what disturbed a measurement, and whose time is not known well enough.
 *
 * Nothing here drops or changes a time.  The words are for who reads it later; "noisy" says that
 * neither the time nor its ratio to the default came out as well as was asked for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/noise_words.h"
#include "sweep/sweep_internal.h"
#include "tuner/stats.h"

/* ---- samples left out ---- */

static assay_status leave_out(const json_t *places, size_t n, bool *is_out)
{
    size_t i;
    const json_t *place;

    if (!json_is_array(places))
        return assay__fail(ASSAY_DB_DAMAGED, "what a visit leaves out is no list of places");
    json_array_foreach(places, i, place)
    {
        const json_int_t at = json_is_integer(place) ? json_integer_value(place) : -1;
        if (at < 0 || (size_t)at >= n)
            return assay__fail(ASSAY_DB_DAMAGED, "a visit leaves out a sample that it has not");
        is_out[at] = true;
    }
    return ASSAY_OK;
}

static assay_status read_rejected(const char *rejected_json, size_t n, bool *is_out)
{
    json_t *root = NULL, *places;
    const char *reason;
    assay_status status;

    ASSAY_TRY(assay__json_parse("samples left out", rejected_json, strlen(rejected_json), &root));
    status = json_is_object(root) ? ASSAY_OK
                                  : assay__fail(ASSAY_DB_DAMAGED, "a visit leaves out no object");
    json_object_foreach(root, reason, places)
    {
        if (status == ASSAY_OK)
            status = leave_out(places, n, is_out);
    }
    json_decref(root);
    return status;
}

assay_status assay__sweep_keep(const double *samples, size_t n, const char *rejected_json,
                               double *out, size_t *kept)
{
    bool *is_out = calloc(n + 1, sizeof *is_out);
    assay_status status = ASSAY_OK;

    if (is_out == NULL)
        return assay__fail(ASSAY_NOMEM, "%zu samples", n);
    if (rejected_json != NULL && rejected_json[0] != '\0')
        status = read_rejected(rejected_json, n, is_out);
    *kept = 0;
    for (size_t i = 0; status == ASSAY_OK && i < n; i++)
        if (!is_out[i])
            out[(*kept)++] = samples[i];
    free(is_out);
    return status;
}

/* ---- the visits of one measurement ---- */

/* Samples with their place in their stay. */
typedef struct placed {
    double value; /* ns a call */
    double share; /* over the median of its stay */
    size_t place;
} placed;

typedef struct visits {
    placed *samples;
    size_t count, cap;
    double medians[2 * SWEEP_VISITS]; /* measuring and confirming, in their order */
    size_t median_count;
    size_t stays, words[ASSAY__NOISE_COUNT]; /* all, and those with the word of that bit */
} visits;

static assay_status add_samples(visits *v, const double *kept, size_t n, double median)
{
    if (v->count + n > v->cap) {
        const size_t cap = 2 * (v->cap + n);
        placed *more = realloc(v->samples, cap * sizeof *more);
        if (more == NULL)
            return assay__fail(ASSAY_NOMEM, "%zu samples", cap);
        v->samples = more;
        v->cap = cap;
    }
    for (size_t i = 0; i < n; i++)
        v->samples[v->count++] = (placed){kept[i], kept[i] / median, i};
    if (v->median_count < sizeof v->medians / sizeof v->medians[0])
        v->medians[v->median_count++] = median;
    return ASSAY_OK;
}

static void count_words(visits *v, const char *flags)
{
    const unsigned noise = assay__noise_parse(flags);

    v->stays++;
    for (size_t bit = 0; bit < ASSAY__NOISE_COUNT; bit++)
        v->words[bit] += noise >> bit & 1u;
}

static assay_status take_kept(visits *v, const assay__db_stay *stay, double *kept)
{
    size_t count = 0;
    double median;

    ASSAY_TRY(assay__sweep_keep(stay->samples, stay->count, stay->rejected_json, kept, &count));
    if (count == 0)
        return ASSAY_OK;
    ASSAY_TRY(assay__stats_median(kept, count, &median));
    return median > 0 ? add_samples(v, kept, count, median) : ASSAY_OK;
}

/* Screening stays are shorter, and one that was given up has no time: their words count alone. */
static assay_status take_visit(void *cookie, const assay__db_stay *stay)
{
    visits *v = cookie;
    double *kept;
    assay_status status;

    if (stay->is_twin)
        return ASSAY_OK;
    if (strcmp(stay->kind, "screen") == 0) { /* a sweep that took up nothing begins so */
        v->count = v->median_count = v->stays = 0;
        memset(v->words, 0, sizeof v->words);
    }
    count_words(v, stay->flags);
    if (stay->count == 0 || strcmp(stay->kind, "screen") == 0 ||
        strcmp(stay->stop_reason, assay__stop_name(ASSAY_STOP_THROTTLED)) == 0)
        return ASSAY_OK;
    kept = calloc(stay->count, sizeof *kept);
    if (kept == NULL)
        return assay__fail(ASSAY_NOMEM, "%zu samples", stay->count);
    status = take_kept(v, stay, kept);
    free(kept);
    return status;
}

/* ---- shapes ---- */

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;

    return (x->place > y->place) - (x->place < y->place);
}

/* Two modes, within stays or between them. */
static assay_status find_modes(const visits *v, double *values, unsigned *noise)
{
    double *sorted;

    for (size_t i = 0; i < v->count; i++)
        values[i] = v->samples[i].value;
    ASSAY_TRY(assay__stats_sorted(values, v->count, &sorted));
    *noise |= assay__stats_bimodal(sorted, v->count) ? (unsigned)ASSAY__NOISE_BIMODAL : 0u;
    free(sorted);
    return ASSAY_OK;
}

/* From visit to visit, or within stays: there all first samples against all last ones, since one
 * stay has too few to show anything. */
static assay_status find_drift(visits *v, double *values, unsigned *noise)
{
    bool between = false, within = false;

    ASSAY_TRY(assay__stats_drift(v->medians, v->median_count, &between));
    qsort(v->samples, v->count, sizeof *v->samples, by_place);
    for (size_t i = 0; i < v->count; i++)
        values[i] = v->samples[i].share;
    ASSAY_TRY(assay__stats_drift(values, v->count, &within));
    *noise |= between || within ? (unsigned)ASSAY__NOISE_DRIFT : 0u;
    return ASSAY_OK;
}

/* What a quarter of the visits saw; of samples that were left out any. */
static unsigned shared_words(const visits *v)
{
    unsigned noise = 0;

    for (unsigned bit = 0; bit < ASSAY__NOISE_COUNT; bit++) {
        const bool is_clock = (1u << bit) == (unsigned)ASSAY__NOISE_CLOCK;
        if (v->words[bit] > 0 && (is_clock || 4 * v->words[bit] >= v->stays))
            noise |= 1u << bit;
    }
    return noise;
}

static assay_status noise_of(visits *v, unsigned *noise)
{
    double *values = calloc(v->count + 1, sizeof *values);
    assay_status status;

    if (values == NULL)
        return assay__fail(ASSAY_NOMEM, "%zu samples", v->count);
    *noise = shared_words(v);
    status = find_modes(v, values, noise);
    if (status == ASSAY_OK)
        status = find_drift(v, values, noise);
    free(values);
    return status;
}

/* ---- the verdict ---- */

static bool is_wide(const sweep *s, const sweep_candidate *c)
{
    return 0.5 * (c->hi_ns - c->lo_ns) > s->o->profile->wide * c->time_ns;
}

static assay_status judge(sweep *s, const sweep_problem *p, sweep_candidate *c)
{
    visits v = {0};
    assay_status status =
        assay__db_each_visit(s->db, c->measurement_row, s->o->profile->name, take_visit, &v);

    if (status == ASSAY_OK && v.count > 0)
        status = noise_of(&v, &c->noise);
    free(v.samples);
    if (status != ASSAY_OK || !is_wide(s, c))
        return status;
    c->noise |= ASSAY__NOISE_WIDE;
    /* Whoever is faster, slower or as fast for certain is known well enough for that, however much
     * the times of all go up and down together. */
    if (c != &p->candidates[p->default_index] && !c->open_ratio && !isnan(c->ratio))
        return ASSAY_OK;
    c->verdict = ASSAY__VERDICT_NOISY;
    (void)snprintf(c->reason, sizeof c->reason,
                   "the interval of its time is %.0f %% wide to each side, %.0f %% were asked for",
                   50 * (c->hi_ns - c->lo_ns) / c->time_ns, 100 * s->o->profile->wide);
    s->summary->noisy++;
    return ASSAY_OK;
}

assay_status assay__sweep_judge_noise(sweep *s, sweep_problem *p)
{
    for (size_t i = 0; i < p->count; i++) {
        sweep_candidate *c = &p->candidates[i];
        if (c->verdict == ASSAY__VERDICT_OK && !c->out && c->visit_count > 0)
            ASSAY_TRY(judge(s, p, c));
    }
    return ASSAY_OK;
}

/* ---- why it ended ---- */

/* Visits after which more would not have told much more of the time. */
#define PRECISE_AFTER 6

static bool is_precise(const sweep *s, const sweep_candidate *c)
{
    const size_t n = c->confirm_count > 0 ? c->confirm_count : c->visit_count;

    return n >= PRECISE_AFTER && 0.5 * (c->hi_ns - c->lo_ns) <= s->o->profile->precise * c->time_ns;
}

const char *assay__sweep_stop_word(const sweep *s, const sweep_candidate *c)
{
    if (c->unsearched)
        return c->by_evaluations ? SWEEP_BY_EVALUATIONS : "problem budget";
    if (c->verdict == ASSAY__VERDICT_THROTTLED)
        return assay__stop_name(ASSAY_STOP_THROTTLED);
    if (c->out)
        return "out";
    return assay__stop_name(is_precise(s, c) ? ASSAY_STOP_PRECISE : ASSAY_STOP_COUNT);
}
