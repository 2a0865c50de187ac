/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/cost_rows.c -- measured questions with their candidates. */
#include "reports/cost_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/op.h"
#include "runtime/error.h"

bool assay__cost_is_rejected(const assay__cost_candidate *c)
{
    return c->verdict != ASSAY__VERDICT_OK && c->verdict != ASSAY__VERDICT_NONE &&
           c->verdict != ASSAY__VERDICT_NOISY && c->verdict != ASSAY__VERDICT_THROTTLED;
}

const assay__cost_candidate *assay__cost_at(const assay__cost *cost, const assay__cost_case *c,
                                            size_t i)
{
    return &cost->candidates[cost->order[c->first + i]];
}

/* ---- cases ---- */

typedef struct case_key {
    const assay__report_place *place;
    const assay__report_problem *problem;
    const char *layout, *policy; /* interned: compared by address */
    uint32_t align;
} case_key;

static bool same_case(const assay__cost_case *c, const case_key *k)
{
    return c->problem == k->problem && c->place == k->place && c->layout == k->layout &&
           c->policy == k->policy && c->align == k->align;
}

static size_t hash_of(const case_key *k)
{
    const uint64_t parts[] = {(uint64_t)(uintptr_t)k->place, (uint64_t)(uintptr_t)k->problem,
                              (uint64_t)(uintptr_t)k->layout, (uint64_t)(uintptr_t)k->policy,
                              k->align};
    uint64_t hash = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        hash = (hash ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return (size_t)hash;
}

static assay_status grow_slots(assay__cost *cost)
{
    size_t count = cost->slot_count == 0 ? 1024 : 2 * cost->slot_count;
    uint32_t *slots = calloc(count, sizeof *slots);

    if (slots == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    for (size_t i = 0; i < cost->case_count; i++) {
        const assay__cost_case *c = &cost->cases[i];
        const case_key key = {c->place, c->problem, c->layout, c->policy, c->align};
        size_t at = hash_of(&key) & (count - 1);
        while (slots[at] != 0)
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(cost->slots);
    cost->slots = slots;
    cost->slot_count = count;
    return ASSAY_OK;
}

static bool is_contraction(const char *op)
{
    assay_op_id id;

    return assay_op_find(op, &id) == ASSAY_OK &&
           assay_op_get(id)->family == ASSAY_FAMILY_CONTRACTION;
}

static assay_status add_case(assay__cost *cost, const case_key *k, size_t *out)
{
    void *bigger = assay__report_grow(cost->cases, cost->case_count, sizeof *cost->cases);

    if (bigger == NULL)
        return ASSAY_NOMEM;
    cost->cases = bigger;
    *out = cost->case_count++;
    cost->cases[*out] =
        (assay__cost_case){.place = k->place,
                           .problem = k->problem,
                           .layout = k->layout,
                           .policy = k->policy,
                           .align = k->align,
                           .profile = "",
                           .stop_reason = "",
                           .decided_utc = "",
                           .searched = -1,
                           .total = -1,
                           .state = ASSAY__ROW_ELSEWHERE,
                           .is_hidden = !assay__report_wants_problem(&cost->set, k->problem),
                           .is_contraction = is_contraction(k->problem->op),
                           .rate = (double)NAN,
                           .peak_rate = (double)NAN,
                           .peak_share = (double)NAN,
                           .intensity = (double)NAN,
                           .flop_rate = (double)NAN,
                           .speedup = (double)NAN,
                           .speedup_lo = (double)NAN,
                           .speedup_hi = (double)NAN,
                           .speedup_level = (double)NAN};
    return ASSAY_OK;
}

/* *found false: there is none, and none was added. */
static assay_status find_case(assay__cost *cost, const case_key *k, bool add, bool *found,
                              size_t *out)
{
    if (2 * (cost->case_count + 1) > cost->slot_count)
        ASSAY_TRY(grow_slots(cost));
    size_t at = hash_of(k) & (cost->slot_count - 1);
    while (cost->slots[at] != 0 && !same_case(&cost->cases[cost->slots[at] - 1], k))
        at = (at + 1) & (cost->slot_count - 1);
    *found = cost->slots[at] != 0;
    if (*found)
        *out = cost->slots[at] - 1;
    if (*found || !add)
        return ASSAY_OK;
    ASSAY_TRY(add_case(cost, k, out));
    cost->slots[at] = (uint32_t)*out + 1;
    return ASSAY_OK;
}

/* ---- measurements ---- */

typedef struct walk {
    assay__cost *cost;
    struct {
        const assay__report_revision *revision;
        const assay__report_deployment *deployment;
        assay__row_state state;
    } memo[1024]; /* direct mapped: judging a revision compares names */
} walk;

static assay__row_state state_of(walk *w, const assay__report_deployment *d,
                                 const assay__report_revision *r)
{
    size_t at = ((uintptr_t)r / sizeof *r + (uintptr_t)d / sizeof *d) % 1024;

    if (w->memo[at].revision != r || w->memo[at].deployment != d) {
        w->memo[at].revision = r;
        w->memo[at].deployment = d;
        w->memo[at].state = assay__report_state(&w->cost->set, d, r);
    }
    return w->memo[at].state;
}

static void copy_figures(const assay__report_measurement *m, assay__cost_candidate *c)
{
    const assay__report_error *e = m->error;

    c->time_ns = m->median_ns;
    c->lo_ns = m->lo_ns;
    c->hi_ns = m->hi_ns;
    c->ratio = m->ratio;
    c->ratio_lo = m->ratio_lo;
    c->ratio_hi = m->ratio_hi;
    c->ratio_level = m->ratio_level;
    c->max_ulp = e != NULL ? e->max_ulp : (double)NAN;
    c->max_err_ulp = e != NULL ? e->max_err_ulp : (double)NAN;
    c->max_rho = e != NULL ? e->max_rho : (double)NAN;
    c->max_rel = e != NULL ? e->max_rel : (double)NAN;
    c->max_abs = e != NULL ? e->max_abs : (double)NAN;
    c->proof = e != NULL ? e->proof : ASSAY_PROOF_ABSENT;
}

static assay_status add_measurement(void *cookie, const assay__report_measurement *m)
{
    walk *w = cookie;
    assay__cost *cost = w->cost;
    assay__report_set *set = &cost->set;
    case_key key = {.place = assay__report_place_of(set, m->deployment),
                    .problem = m->problem,
                    .align = m->align};
    assay__cost_candidate c = {.revision = m->revision,
                               .measurement = m->id,
                               .visits = m->visits,
                               .samples = m->samples,
                               .rejected_samples = m->rejected_samples,
                               .workspace_bytes = m->workspace_bytes,
                               .verdict = m->verdict,
                               .state = state_of(w, m->deployment, m->revision)};
    bool found;
    size_t index = 0;

    ASSAY_TRY(assay__report_keep(set, m->layout, &key.layout));
    ASSAY_TRY(assay__report_keep(set, m->policy, &key.policy));
    ASSAY_TRY(find_case(cost, &key, true, &found, &index));
    if (cost->cases[index].is_hidden)
        return ASSAY_OK;
    ASSAY_TRY(assay__report_keep(set, m->reason, &c.reason));
    ASSAY_TRY(assay__report_keep(set, m->flags, &c.flags));
    ASSAY_TRY(assay__report_keep(set, m->stop_reason, &c.stop_reason));
    copy_figures(m, &c);
    c.case_index = (uint32_t)index;
    c.is_hidden = !assay__report_wants_revision(set, m->revision);
    void *bigger =
        assay__report_grow(cost->candidates, cost->candidate_count, sizeof *cost->candidates);
    if (bigger == NULL)
        return ASSAY_NOMEM;
    cost->candidates = bigger;
    cost->candidates[cost->candidate_count++] = c;
    cost->cases[index].count++;
    return ASSAY_OK;
}

/* Candidates case by case: a counting sort, which keeps their order. */
static assay_status group(assay__cost *cost)
{
    size_t first = 0;

    cost->order = calloc(cost->candidate_count + 1, sizeof *cost->order);
    if (cost->order == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    for (size_t i = 0; i < cost->case_count; i++) {
        cost->cases[i].first = first;
        first += cost->cases[i].count;
        cost->cases[i].count = 0;
    }
    for (size_t i = 0; i < cost->candidate_count; i++) {
        assay__cost_case *c = &cost->cases[cost->candidates[i].case_index];
        cost->order[c->first + c->count++] = (uint32_t)i;
    }
    return ASSAY_OK;
}

/* ---- routes ---- */

static assay__cost_candidate *find_candidate(assay__cost *cost, const assay__cost_case *c,
                                             int64_t revision)
{
    for (size_t i = 0; i < c->count; i++) {
        assay__cost_candidate *one = &cost->candidates[cost->order[c->first + i]];
        if (one->revision->id == revision)
            return one;
    }
    return NULL;
}

static bool is_one(double x)
{
    return fabs(x - 1.0) <= 0.0;
}

/* What was published wins over the summary row, which a later sweep may be changing. */
static void publish(assay__cost_candidate *c, const assay__route_candidate *r)
{
    if (r->time_ns > 0) {
        c->time_ns = r->time_ns;
        c->lo_ns = r->lo_ns;
        c->hi_ns = r->hi_ns;
    }
    if (r->ratio > 0) {
        c->ratio = r->ratio;
        c->ratio_lo = r->ratio_lo;
        c->ratio_hi = r->ratio_hi;
        c->ratio_level = assay__ratio_level(r);
    }
    c->is_tied = r->tied != 0;
    c->is_default = is_one(r->ratio) && is_one(r->ratio_lo) && is_one(r->ratio_hi);
    if (c->is_default)
        c->ratio_level = (double)NAN; /* itself: nothing was compared */
}

static assay_status add_route(void *cookie, const assay__report_route *t)
{
    assay__cost *cost = cookie;
    case_key key = {.place = assay__report_place_of(&cost->set, t->deployment),
                    .problem = t->problem,
                    .align = t->align};
    size_t index = 0;
    bool found = false;

    ASSAY_TRY(assay__report_keep(&cost->set, t->layout, &key.layout));
    ASSAY_TRY(assay__report_keep(&cost->set, t->policy, &key.policy));
    ASSAY_TRY(find_case(cost, &key, false, &found, &index));
    if (!found || cost->cases[index].is_hidden) {
        cost->lost_routes += !found;
        return ASSAY_OK;
    }
    assay__cost_case *c = &cost->cases[index];
    ASSAY_TRY(assay__report_keep(&cost->set, t->profile, &c->profile));
    ASSAY_TRY(assay__report_keep(&cost->set, t->stop_reason, &c->stop_reason));
    ASSAY_TRY(assay__report_keep(&cost->set, t->decided_utc, &c->decided_utc));
    c->searched = t->searched;
    c->total = t->total;
    c->sweep = t->sweep;
    for (size_t i = 0; i < t->candidate_count; i++) {
        assay__cost_candidate *one =
            find_candidate(cost, c, (int64_t)t->candidates[i].revision_row);
        if (one != NULL)
            publish(one, &t->candidates[i]);
    }
    assay__cost_candidate *winner =
        t->winner != NULL ? find_candidate(cost, c, t->winner->id) : NULL;
    /* A store edited by hand may name one that the check refused: never shown as winner. */
    if (winner != NULL && !assay__cost_is_rejected(winner)) {
        winner->is_winner = true;
        c->winner = winner;
    }
    return ASSAY_OK;
}

/* ---- figures ---- */

static assay_dtype first_dtype(const assay__report_problem *p)
{
    char name[16] = "";
    size_t n = strcspn(p->dtypes, ",");
    assay_dtype t = ASSAY_F32;

    if (n < sizeof name)
        memcpy(name, p->dtypes, n);
    return assay_dtype_parse(name, &t) == ASSAY_OK ? t : (assay_dtype)ASSAY_DTYPE_COUNT;
}

static double above_zero(double x)
{
    return x > 0 && isfinite(x) ? x : (double)NAN;
}

/* Nothing is written then, and there is no rate of it. */
static bool is_empty(const assay__report_problem *row)
{
    assay_problem p;

    return assay_problem_parse(row->text, &p) == ASSAY_OK &&
           assay_problem_operand_elements(&p, p.dtype_count - 1u) == 0;
}

static void rates(assay__cost_case *c)
{
    const assay__roofline *roof = &c->place->roof;
    double time = above_zero(c->winner->time_ns);
    double known = is_empty(c->problem) ? (double)NAN : 0.0;
    double flops = above_zero(c->problem->flops + known);
    double bytes = above_zero(c->problem->moved_bytes + known);
    assay_dtype dtype = first_dtype(c->problem);
    assay__roofline_bound b = assay__roofline_bound_of(roof, dtype, flops, bytes);

    c->is_compute = b.is_compute;
    c->intensity = b.intensity;
    c->flop_rate = flops / time;
    c->rate = (b.is_compute ? flops : bytes) / time;
    c->peak_rate = b.is_compute ? assay__roofline_flops(roof, dtype) : roof->bytes_per_ns;
    c->peak_share = c->rate / c->peak_rate;
}

static void speedup(assay__cost_case *c)
{
    const assay__cost_candidate *w = c->winner;

    c->speedup = 1.0 / above_zero(w->ratio);
    if (w->is_default)
        return; /* itself: nothing was compared */
    c->speedup_lo = 1.0 / above_zero(w->ratio_hi);
    c->speedup_hi = 1.0 / above_zero(w->ratio_lo);
    c->speedup_level = w->ratio_level;
}

static void count_candidates(const assay__cost *cost, assay__cost_case *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const assay__cost_candidate *one = assay__cost_at(cost, c, i);
        bool counts = assay__row_counts(one->state) || one->state == ASSAY__ROW_ELSEWHERE;
        c->ties += one->is_tied;
        c->rejected += counts && assay__cost_is_rejected(one);
        c->stale += !counts;
        c->shown += !one->is_hidden;
        if (one->state < c->state)
            c->state = one->state;
    }
    if (c->winner != NULL)
        c->state = c->winner->state;
    c->is_hidden = c->is_hidden || c->shown == 0;
}

static int rank_of(const assay__cost_candidate *c)
{
    return c->is_winner ? 0 : assay__cost_is_rejected(c) ? 2 : 1;
}

static int by_rank_and_time(const void *a, const void *b, void *candidates)
{
    const assay__cost_candidate *all = candidates;
    const assay__cost_candidate *x = &all[*(const uint32_t *)a];
    const assay__cost_candidate *y = &all[*(const uint32_t *)b];

    if (rank_of(x) != rank_of(y))
        return rank_of(x) - rank_of(y);
    if (x->time_ns < y->time_ns)
        return -1;
    if (x->time_ns > y->time_ns)
        return 1;
    if (isnan(x->time_ns) != isnan(y->time_ns))
        return isnan(x->time_ns) ? 1 : -1;
    return (x->revision->id > y->revision->id) - (x->revision->id < y->revision->id);
}

#define COUNTED_CASES 5000 /* as many as a page shows */

/* n of the interval: confirming visits, or those of the choice where nothing was confirmed. */
static assay_status count_visits(assay__cost *cost, assay__cost_case *c)
{
    assay__report_visit_counts n;

    ASSAY_TRY(assay__report_count_visits(cost->set.report, c->winner->measurement, c->sweep, &n));
    c->interval_visits = n.confirm > 0 ? n.confirm : n.measure;
    return ASSAY_OK;
}

static assay_status finish(assay__cost *cost)
{
    size_t shown = 0;

    for (size_t i = 0; i < cost->case_count; i++) {
        assay__cost_case *c = &cost->cases[i];
        if (c->count == 0)
            c->is_hidden = true;
        if (c->is_hidden)
            continue;
        count_candidates(cost, c);
        qsort_r(cost->order + c->first, c->count, sizeof *cost->order, by_rank_and_time,
                cost->candidates);
        if (c->is_hidden)
            continue;
        shown++;
        if (c->winner == NULL)
            continue;
        rates(c);
        speedup(c);
        if (shown <= COUNTED_CASES)
            ASSAY_TRY(count_visits(cost, c));
    }
    if (shown > 0)
        return ASSAY_OK;
    return assay__fail(ASSAY_NOTFOUND, "%s: nothing measured%s; `assay sweep` fills a store",
                       cost->set.options->db_path,
                       cost->candidate_count > 0 || cost->case_count > 0
                           ? " that --op, --dtype, --backend and --kernel let through"
                           : "");
}

assay_status assay__cost_load(const assay__report_options *options, assay__cost *out)
{
    walk *w = calloc(1, sizeof *w);
    assay_status status;

    *out = (assay__cost){.candidates = NULL};
    if (w == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    w->cost = out;
    status = assay__report_set_open(options, &out->set);
    if (status == ASSAY_OK)
        status = assay__report_each_measurement(out->set.report, add_measurement, w);
    free(w);
    if (status == ASSAY_OK)
        status = group(out);
    if (status == ASSAY_OK)
        status = assay__report_each_route(out->set.report, add_route, out);
    if (status == ASSAY_OK)
        status = finish(out);
    if (status != ASSAY_OK)
        assay__cost_clear(out);
    return status;
}

void assay__cost_clear(assay__cost *cost)
{
    free(cost->candidates);
    free(cost->cases);
    free(cost->order);
    free(cost->slots);
    assay__report_set_close(&cost->set);
    *cost = (assay__cost){.candidates = NULL};
}
