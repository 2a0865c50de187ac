/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/rival_pairs.c -- see rival_pairs.h. */
#include "reports/rival_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "tuner/log_interval.h"

#define PAIRED_CASES 20000
#define MOST_RIVALS  32 /* backends of one question */

/* ---- visits ---- */

typedef enum stay_kind { SCREEN, MEASURE, CONFIRM, TWIN } stay_kind; /* rivals have no twins */

/* A variant's time in one visit. */
typedef struct stay {
    int64_t sweep, place; /* place among the visits of this sweep and kind */
    stay_kind kind;
    double median_ns;
} stay;

typedef struct stays {
    stay *items; /* owned */
    size_t count;
    double *sorted; /* owned: samples of one visit */
    size_t cap;
} stays;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* NaN: out of memory. */
static double median_of(stays *s, const assay__report_visit *v)
{
    const size_t n = v->sample_count;

    if (n > s->cap) {
        double *bigger = realloc(s->sorted, n * sizeof *bigger);
        if (bigger == NULL)
            return (double)NAN;
        s->sorted = bigger;
        s->cap = n;
    }
    memcpy(s->sorted, v->samples, n * sizeof *s->sorted);
    qsort(s->sorted, n, sizeof *s->sorted, by_value);
    return 0.5 * (s->sorted[(n - 1) / 2] + s->sorted[n / 2]);
}

static stay_kind kind_of(const char *name)
{
    return strcmp(name, "screen") == 0    ? SCREEN
           : strcmp(name, "measure") == 0 ? MEASURE
           : strcmp(name, "confirm") == 0 ? CONFIRM
                                          : TWIN;
}

/* Measuring visits are counted from the problem's first one, so that their numbers name them.  In
 * those of confirming visits the measuring ones count too, which rivals have different numbers of:
 * they are named by the order in which they came. */
static int64_t place_of(const stays *s, const assay__report_visit *v, stay_kind kind)
{
    int64_t before = 0;

    if (kind == MEASURE)
        return v->ordinal;
    for (size_t i = 0; i < s->count; i++)
        before += s->items[i].sweep == v->sweep && s->items[i].kind == kind;
    return before;
}

static assay_status add_stay(void *cookie, const assay__report_visit *v)
{
    stays *s = cookie;
    const stay_kind kind = kind_of(v->kind);

    if (v->sample_count == 0)
        return ASSAY_OK;
    void *bigger = assay__report_grow(s->items, s->count, sizeof *s->items);
    if (bigger == NULL)
        return ASSAY_NOMEM;
    s->items = bigger;
    const double median = median_of(s, v);
    if (isnan(median))
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    s->items[s->count] =
        (stay){.sweep = v->sweep, .place = place_of(s, v, kind), .kind = kind, .median_ns = median};
    s->count++;
    return ASSAY_OK;
}

static assay_status load_stays(assay__cost *cost, const assay__cost_candidate *c, stays *out)
{
    out->count = 0;
    return assay__report_each_visit(cost->set.report, c->measurement, add_stay, out);
}

static const stay *find_stay(const stays *s, const stay *wanted)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].sweep == wanted->sweep && s->items[i].kind == wanted->kind &&
            s->items[i].place == wanted->place)
            return &s->items[i];
    return NULL;
}

/* Log ratios of common visits: of screening ones, or of all others. */
static size_t log_ratios(const stays *picked, const stays *rival, bool is_screening, double *out)
{
    size_t n = 0;

    for (size_t i = 0; i < rival->count; i++) {
        const stay *r = &rival->items[i];
        const stay *p = (r->kind == SCREEN) == is_screening ? find_stay(picked, r) : NULL;
        if (p != NULL && p->median_ns > 0 && r->median_ns > 0)
            out[n++] = log(r->median_ns / p->median_ns);
    }
    return n;
}

static assay_status fill_pair(const stays *picked, const stays *rival, assay__rival_pair *out)
{
    double *logs = calloc(rival->count + 1, sizeof *logs);
    assay__log_interval interval = {0, 0};
    assay_status status = ASSAY_OK;
    size_t n, screened = 0;

    if (logs == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    n = log_ratios(picked, rival, false, logs);
    if (n == 0)
        n = screened = log_ratios(picked, rival, true, logs);
    if (n > 0)
        status = assay__log_interval_find(logs, n, 1.0 - ASSAY__RIVAL_LEVEL,
                                          (assay__shared_noise){0.0, 1.0}, &interval);
    if (n > 0 && status == ASSAY_OK)
        out->gain = exp(interval.mean);
    if (n > 1 && screened == 0 && status == ASSAY_OK) {
        out->gain_lo = exp(interval.mean - interval.half);
        out->gain_hi = exp(interval.mean + interval.half);
    }
    free(logs);
    return status;
}

/* ---- cases ---- */

static bool has_pick(const assay__cost_case *c)
{
    return c->count > 0 && c->winner != NULL && c->winner->time_ns > 0 &&
           (assay__row_counts(c->state) || c->state == ASSAY__ROW_ELSEWHERE);
}

/* The fastest right variant of each backend; the picked one for its own where nothing is faster. */
static size_t find_fastest(const assay__cost *cost, const assay__cost_case *c,
                           const assay__cost_candidate *out[MOST_RIVALS])
{
    size_t n = 0;

    for (size_t i = 0; i < c->count; i++) { /* the picked one first, then by time */
        const assay__cost_candidate *one = assay__cost_at(cost, c, i);
        size_t at = 0;
        if (assay__cost_is_rejected(one) || !(one->time_ns > 0) ||
            !(assay__row_counts(one->state) || one->state == ASSAY__ROW_ELSEWHERE))
            continue;
        while (at < n && strcmp(out[at]->revision->backend, one->revision->backend) != 0)
            at++;
        if (at == n && n < MOST_RIVALS)
            out[n++] = one;
        else if (at < n && one->time_ns < out[at]->time_ns)
            out[at] = one;
    }
    return n;
}

static assay_status add_pair(assay__rival_pairs *p, const assay__rival_pair *one)
{
    void *bigger = assay__report_grow(p->items, p->count, sizeof *p->items);

    if (bigger == NULL)
        return ASSAY_NOMEM;
    p->items = bigger;
    p->items[p->count++] = *one;
    return ASSAY_OK;
}

/* What was published beside the picked kernel. */
static assay_status add_default(const assay__cost_case *c, assay__rival_pairs *out)
{
    const assay__cost_candidate *w = c->winner;
    const bool is_default = w->is_default;
    const assay__rival_pair one = {.gain = is_default ? 1.0 : 1.0 / w->ratio,
                                   .gain_lo = is_default ? 1.0 : 1.0 / w->ratio_hi,
                                   .gain_hi = is_default ? 1.0 : 1.0 / w->ratio_lo};

    return add_pair(out, &one);
}

typedef struct scratch {
    stays picked, rival;
} scratch;

static assay_status add_rival(assay__cost *cost, const assay__cost_case *c, scratch *s,
                              const assay__cost_candidate *rival, bool reads_visits,
                              assay__rival_pairs *out)
{
    const double none = (double)NAN;
    assay__rival_pair one = {rival->revision->backend, none, none, none};

    if (rival == c->winner) {
        one.gain = one.gain_lo = one.gain_hi = 1.0;
    } else if (reads_visits) {
        ASSAY_TRY(load_stays(cost, rival, &s->rival));
        ASSAY_TRY(fill_pair(&s->picked, &s->rival, &one));
    }
    return add_pair(out, &one);
}

static assay_status add_case(assay__cost *cost, const assay__cost_case *c, scratch *s,
                             bool reads_visits, assay__rival_pairs *out)
{
    const assay__cost_candidate *fastest[MOST_RIVALS];
    const size_t n = find_fastest(cost, c, fastest);

    ASSAY_TRY(add_default(c, out));
    if (reads_visits)
        ASSAY_TRY(load_stays(cost, c->winner, &s->picked));
    for (size_t i = 0; i < n; i++)
        ASSAY_TRY(add_rival(cost, c, s, fastest[i], reads_visits, out));
    return ASSAY_OK;
}

assay_status assay__rival_pairs_load(assay__cost *cost, assay__rival_pairs *out)
{
    scratch s = {.picked = {NULL, 0, NULL, 0}};
    assay_status status = ASSAY_OK;
    size_t picks = 0;

    *out = (assay__rival_pairs){.first = calloc(cost->case_count + 1, sizeof *out->first)};
    if (out->first == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    for (size_t i = 0; status == ASSAY_OK && i < cost->case_count; i++) {
        out->first[i] = out->count;
        if (has_pick(&cost->cases[i]))
            status = add_case(cost, &cost->cases[i], &s, picks++ < PAIRED_CASES, out);
    }
    out->first[cost->case_count] = out->count;
    free(s.picked.items);
    free(s.picked.sorted);
    free(s.rival.items);
    free(s.rival.sorted);
    if (status != ASSAY_OK)
        assay__rival_pairs_clear(out);
    return status;
}

void assay__rival_pairs_clear(assay__rival_pairs *pairs)
{
    free(pairs->items);
    free(pairs->first);
    *pairs = (assay__rival_pairs){NULL, 0, NULL};
}
