/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_count.c -- what counters say of those that may be published, in calls apart from all
 * that are timed.
 *
 * It decides nothing: it helps to understand a time.  So whatever goes wrong with counting is a
 * reason in the store, unless the kernel itself fails, which is a fate as anywhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "sweep/sweep_internal.h"
#include "tuner/stats.h"

#define PASSES   5
#define LIMIT_MS 30000

/* ---- what there is ---- */

static assay_status put_sources(sweep *s, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        assay__db_counter_source c;
        ASSAY_TRY(assay__json_get_string(row, "name", &c.name));
        ASSAY_TRY(assay__json_get_string(row, "unit", &c.unit));
        ASSAY_TRY(assay__json_get_string(row, "source", &c.source));
        ASSAY_TRY(assay__json_get_string(row, "event", &c.event));
        ASSAY_TRY(assay__json_get_string(row, "reason", &c.reason));
        ASSAY_TRY(assay__db_put_counter_source(s->db, s->sweep_row, &c));
        if (c.source[0] != '\0')
            ASSAY_TRY(assay__json_append_take(s->counters, assay__json_text(c.name)));
    }
    return ASSAY_OK;
}

static assay_status put_all_sources(sweep *s, const json_t *list)
{
    assay_status status;

    ASSAY_TRY(assay__db_begin(s->db));
    status = put_sources(s, list);
    if (status != ASSAY_OK) {
        assay__db_rollback(s->db);
        return status;
    }
    return assay__db_commit(s->db);
}

/* A library that ends the worker that opens it ends no sweep: nothing is counted then. */
assay_status assay__sweep_find_counters(sweep *s)
{
    const assay__worker_options options = assay__sweep_worker_options(s, "ref");
    assay__worker *w = NULL;
    json_t *reply = NULL, *list = NULL;
    assay_status status;

    if (!s->o->counters)
        return ASSAY_OK;
    s->counters = json_array();
    ASSAY_TRY(assay__worker_start(&options, &w));
    status =
        assay__worker_call(w, json_pack("{s:s}", "cmd", "counters"), NULL, 0, LIMIT_MS, &reply);
    if (status == ASSAY_CRASH || status == ASSAY_TIMEOUT) {
        assay__sweep_warn(s, "nothing is counted: %s", assay_last_error());
        status = ASSAY_OK;
    } else if (status == ASSAY_OK)
        status = assay__json_get_array(reply, "counters", &list);
    if (status == ASSAY_OK && list != NULL)
        status = put_all_sources(s, list);
    if (status == ASSAY_OK && list != NULL && json_array_size(s->counters) == 0)
        assay__sweep_warn(s, "nothing can be counted here; 'assay devices' says why");
    json_decref(reply);
    assay__worker_stop(&w);
    return status;
}

/* ---- counting ---- */

static assay_status put_count(sweep *s, const sweep_candidate *c, const json_t *row)
{
    double values[PASSES], *sorted = NULL;
    assay__db_counter counter;
    json_t *list;
    size_t n;

    if (json_object_get(row, "reason") != NULL)
        return ASSAY_OK;
    ASSAY_TRY(assay__json_get_string(row, "name", &counter.name));
    ASSAY_TRY(assay__json_get_int(row, "calls", &counter.calls));
    ASSAY_TRY(assay__json_get_array(row, "values", &list));
    n = json_array_size(list) < PASSES ? json_array_size(list) : PASSES;
    for (size_t i = 0; i < n; i++)
        values[i] = json_number_value(json_array_get(list, i));
    ASSAY_TRY(assay__stats_sorted(values, n, &sorted));
    counter.value = assay__stats_quantile(sorted, n, 0.5);
    counter.lo = sorted[0];
    counter.hi = sorted[n - 1];
    counter.passes = (int64_t)n;
    free(sorted);
    return assay__db_put_counter(s->db, c->measurement_row, &counter);
}

static assay_status put_counts(sweep *s, const sweep_candidate *c, const json_t *reply)
{
    json_t *list;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__json_get_array(reply, "counts", &list));
    ASSAY_TRY(assay__db_begin(s->db));
    for (size_t i = 0; status == ASSAY_OK && i < json_array_size(list); i++)
        status = put_count(s, c, json_array_get(list, i));
    if (status != ASSAY_OK) {
        assay__db_rollback(s->db);
        return status;
    }
    return assay__db_commit(s->db);
}

/* As many passes as a stay's budget has room for; one at least. */
static int passes_of(const sweep *s, const sweep_candidate *c)
{
    const double each_ns = fmax(s->o->profile->span_ns, c->time_ns);
    const double fit = s->o->profile->budget_ns / (each_ns * (double)json_array_size(s->counters));

    return fit >= PASSES ? PASSES : fit > 1 ? (int)fit : 1;
}

static assay_status count_one(sweep *s, const sweep_problem *p, sweep_candidate *c,
                              assay__worker *w)
{
    const assay__profile *f = s->o->profile;
    const double known_ms = c->time_ns > 0 ? c->time_ns / 1e6 : 0;
    json_t *request = assay__sweep_request("count", c), *reply = NULL;
    assay_status status;

    json_object_update_new(request,
                           json_pack("{s:i, s:i, s:f, s:i, s:f, s:f, s:f, s:I, s:i, s:O}", "cache",
                                     (int)s->o->policy.cache, "span", (int)s->o->policy.span,
                                     "span_ns", f->span_ns, "spans", 1, "warm_ns", f->warm_ns,
                                     "budget_ns", f->budget_ns, "rotate_bytes", s->rotate_bytes,
                                     "seed", assay__sweep_span_seed(s, p, c, "count"), "passes",
                                     passes_of(s, c), "counters", s->counters));
    status =
        assay__worker_call(w, request, NULL, 0,
                           assay__sweep_timeout_ms(s) + (int)(8.0 * known_ms * PASSES *
                                                              (double)json_array_size(s->counters)),
                           &reply);
    if (status == ASSAY_OK)
        status = put_counts(s, c, reply);
    json_decref(reply);
    return status;
}

/* To count takes many calls: of those that take long it is left, and so the counts are absent. */
#define LONG_NS 50e6

static assay_status count_alone(sweep *s, sweep_problem *p, sweep_candidate *c)
{
    assay__worker *w = NULL;
    assay_status status = assay__sweep_fresh(s, p, &w);

    if (status == ASSAY_OK)
        status = assay__sweep_fate(s, p, c, count_one(s, p, c, w));
    assay__worker_stop(&w); /* what one leaves behind is nobody else's */
    return status;
}

/* A budget that is spent, or a worker that does not come up, ends counting and nothing else: what
 * was measured is published without. */
static assay_status end_of_counting(sweep *s, assay_status status)
{
    if (status == ASSAY_TIMEOUT)
        return ASSAY_OK;
    if (status != ASSAY_UNAVAILABLE && (status != ASSAY_NOMEM || s->place == NULL))
        return status;
    assay__sweep_warn(s, "no more is counted: %s", assay_last_error());
    json_array_clear(s->counters);
    return ASSAY_OK;
}

assay_status assay__sweep_count(sweep *s, sweep_problem *p)
{
    assay_status status = ASSAY_OK;

    if (json_array_size(s->counters) == 0 || p->skip)
        return ASSAY_OK;
    s->visit.kind = "count";
    s->visit.ordinal = 0;
    for (size_t i = 0; status == ASSAY_OK && i < p->count; i++) {
        sweep_candidate *c = &p->candidates[i];
        if (c->out || !c->contender || c->measurement_row == 0 || !(c->time_ns < LONG_NS))
            continue;
        status = assay__sweep_check_stop(s);
        if (status == ASSAY_OK)
            status = count_alone(s, p, c);
    }
    return end_of_counting(s, status);
}
