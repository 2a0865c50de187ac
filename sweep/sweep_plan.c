/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_plan.c -- which variants the evaluations reach, and what a sweep would take.
 *
 * An evaluation is a variant of a problem that is tried: checked and timed for the first time.
 * What was tried before counts too, so that the same limit again costs nothing and a larger one
 * goes on where this one ended. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "sweep/sweep_internal.h"
#include "tuner/stats.h"

/* ---- evaluations ---- */

static size_t count_open(const sweep_problem *p, size_t *musts)
{
    size_t open = 0;

    *musts = 0;
    for (size_t i = 0; i < p->count; i++) {
        const sweep_brief *b = &p->briefs[i];
        open += !b->is_evaluated;
        *musts += !b->is_evaluated && (b->is_default || b->is_incumbent);
    }
    return open;
}

size_t assay__sweep_tried(const sweep_problem *p)
{
    size_t musts, open = count_open(p, &musts);

    return p->count - open + (p->is_rationed && p->allowance < open ? p->allowance : open);
}

bool assay__sweep_is_short(const sweep_problem *p, size_t open)
{
    return p->is_rationed && p->allowance < open;
}

/* A problem without its default and the incumbent is not begun. */
static void ration_one(sweep *s, sweep_problem *p, size_t *left)
{
    size_t musts, open = count_open(p, &musts);

    p->is_rationed = true;
    p->allowance = open < *left ? open : *left;
    if (p->allowance < musts)
        p->allowance = 0;
    *left -= p->allowance;
    if (p->allowance < open)
        s->is_truncated = true;
    /* Who must be in was tried before: its visits are left. */
    if (p->allowance > 0 || (!p->is_published && musts == 0 && open < p->count))
        return;
    p->skip = true;
    if (p->is_published)
        s->summary->resumed_problems++;
    else
        s->summary->undecided++;
}

static size_t evaluations_left(const sweep *s)
{
    size_t used = 0, musts;

    for (size_t i = 0; i < s->problem_count; i++)
        if (s->problems[i].count > 0)
            used += s->problems[i].count - count_open(&s->problems[i], &musts);
    return s->o->evaluations > used ? s->o->evaluations - used : 0;
}

/* Visits of what was tried before are no evaluations. */
bool assay__sweep_has_work(const sweep *s)
{
    const bool may_try = s->o->evaluations == 0 || evaluations_left(s) > 0;

    for (size_t i = 0; i < s->problem_count; i++) {
        const sweep_problem *p = &s->problems[i];
        size_t musts;
        if (!p->skip &&
            (may_try || (!p->is_published && count_open(p, &musts) < p->count && musts == 0)))
            return true;
    }
    return false;
}

void assay__sweep_ration(sweep *s)
{
    size_t left = evaluations_left(s);

    if (s->o->evaluations == 0)
        return;
    for (size_t i = 0; i < s->problem_count; i++)
        if (!s->problems[i].skip)
            ration_one(s, &s->problems[i], &left);
}

/* ---- what the store knows of similar problems ---- */

typedef struct prior {
    sweep *s;
    size_t from; /* the first problem of this op and these dtypes */
} prior;

static void take_times(sweep_problem *p, double scale, const assay__route_candidate *list,
                       size_t count)
{
    for (size_t i = 0, next = 0; i < p->count; i++) {
        p->briefs[i].prior_ns = 0;
        for (size_t step = 0; step < count; step++) {
            const size_t o = (next + step) % count;
            if (list[o].revision_row != (uint64_t)assay__sweep_revision_row(p, i))
                continue;
            if (list[o].time_ns > 0 && list[o].verdict == ASSAY__VERDICT_OK)
                p->briefs[i].prior_ns = scale * list[o].time_ns;
            next = o + 1;
            break;
        }
    }
}

static assay_status take_alike(void *cookie, const char *text, const assay__route_candidate *list,
                               size_t count)
{
    const prior *a = cookie;
    assay_problem q;

    if (assay_problem_parse(text, &q) != ASSAY_OK)
        return ASSAY_OK; /* of a catalogue that is not this one */
    for (size_t i = a->from; i < a->s->problem_count; i++) {
        sweep_problem *p = &a->s->problems[i];
        if (p->skip || !assay__sweep_is_alike(&p->problem, &q))
            continue;
        const double far = assay__sweep_distance(&p->problem, &q);
        const double scale = assay__sweep_work(&p->problem) / assay__sweep_work(&q);
        if (!(far < p->prior_far) || !(scale > 0))
            continue;
        p->prior_far = far;
        take_times(p, scale, list, count);
    }
    return ASSAY_OK;
}

static bool is_first_of_kind(const sweep *s, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!s->problems[i].skip &&
            assay__sweep_is_alike(&s->problems[i].problem, &s->problems[at].problem))
            return false;
    return true;
}

assay_status assay__sweep_prior(sweep *s)
{
    char policy[48], dtypes[128];

    (void)assay_policy_format(s->o->policy, policy, sizeof policy);
    for (size_t i = 0; i < s->problem_count; i++)
        s->problems[i].prior_far = INFINITY;
    for (size_t i = 0; i < s->problem_count; i++) {
        sweep_problem *p = &s->problems[i];
        const assay__db_route key = {.deployment = s->deployment_row,
                                     .layout = p->layout,
                                     .align = s->o->align,
                                     .policy = policy};
        prior a = {s, i};
        if (p->skip || !is_first_of_kind(s, i))
            continue;
        assay__sweep_dtypes(assay__sweep_desc(p), dtypes, sizeof dtypes);
        ASSAY_TRY(assay__db_each_route_alike(
            s->db, &key, assay_op_get((assay_op_id)p->problem.op)->name, dtypes, take_alike, &a));
    }
    return ASSAY_OK;
}

/* ---- what stays take beside their calls ---- */

#define NEWEST   400  /* visits of the store that are looked at */
#define WAITED_S 60.0 /* longer than this lies something else between two visits */
#define FEW      20   /* visits that say nothing yet */
#define WIDE     1.5  /* what is known from some visits may be off by so much */
/* Where nothing is known. */
#define STAY_LO_S  0.002
#define STAY_HI_S  0.02
#define START_LO_S 0.02
#define START_HI_S 0.15
#define ORACLE_LO  0.5
#define ORACLE_HI  3.0

typedef struct beside {
    const sweep *s;
    int64_t sweep;
    double last_s;
    double sum_s;
    size_t count;
} beside;

/* Between two visits of a sweep lies all that the second took: starts and the oracle too. */
static assay_status take_newest(void *cookie, int64_t of, const char *kind, double utc_s,
                                const double *samples, size_t count)
{
    beside *b = cookie;
    const double took_s = utc_s - b->last_s;
    const bool follows = of == b->sweep && took_s >= 0 && took_s < WAITED_S;
    const assay__profile f = assay__sweep_effort(b->s);
    double median;

    b->sweep = of;
    b->last_s = utc_s;
    if (!follows || count == 0)
        return ASSAY_OK;
    ASSAY_TRY(assay__stats_median(samples, count, &median));
    b->sum_s += fmax(0, took_s - assay__pace_stay_s(&f, strcmp(kind, "screen") == 0, median));
    b->count++;
    return ASSAY_OK;
}

/* ---- the forecast ---- */

typedef struct costs {
    double stay_s, start_s, oracle;
} costs;

static double total_s(const assay__load *loads, const costs *c)
{
    const assay__load *screen = &loads[ASSAY__STAY_SCREEN], *visit = &loads[ASSAY__STAY_VISIT];

    return screen->model_s + visit->model_s + c->stay_s * (double)(screen->count + visit->count) +
           c->start_s * (double)loads[ASSAY__STAY_START].count +
           c->oracle * loads[ASSAY__STAY_ORACLE].model_s;
}

/* How many times more or less calls may take than what is expected. */
static double doubt_of(const char *basis)
{
    if (strcmp(basis, "near") == 0)
        return 1.5;
    return strcmp(basis, "rates") == 0 ? 3.0 : strcmp(basis, "peaks") == 0 ? 4.0 : 8.0;
}

static assay_status forecast_one(sweep *s, const sweep_problem *p, const costs *lo, const costs *hi)
{
    assay__forecast f = {.problem = p->text, .variants = assay__sweep_tried(p), .total = p->total};
    assay__load loads[ASSAY__STAY_KINDS];
    assay__sweep_summary *sum = s->summary;

    ASSAY_TRY(assay__sweep_loads(s, p, 1.0, loads, &f.basis));
    const double doubt = doubt_of(f.basis);
    ASSAY_TRY(assay__sweep_loads(s, p, 1.0 / doubt, loads, &f.basis));
    f.lo_s = total_s(loads, lo);
    ASSAY_TRY(assay__sweep_loads(s, p, doubt, loads, &f.basis));
    f.hi_s = total_s(loads, hi);
    if (strcmp(f.basis, "near") == 0)
        f.basis = "rates";
    sum->lo_s += f.lo_s;
    sum->hi_s += f.hi_s;
    sum->reached_lo += s->o->budget_s > 0 && sum->hi_s <= s->o->budget_s;
    sum->reached_hi += s->o->budget_s > 0 && sum->lo_s <= s->o->budget_s;
    if (s->o->forecast != NULL)
        s->o->forecast(s->o->cookie, &f);
    return ASSAY_OK;
}

assay_status assay__sweep_forecast(sweep *s)
{
    costs lo = {STAY_LO_S, START_LO_S, ORACLE_LO}, hi = {STAY_HI_S, START_HI_S, ORACLE_HI};
    beside b = {.s = s, .last_s = NAN};

    ASSAY_TRY(assay__db_newest_visits(s->db, s->deployment_row, s->o->profile->name, NEWEST,
                                      take_newest, &b));
    if (b.count >= FEW) {
        lo = (costs){b.sum_s / (double)b.count / WIDE, 0, 0};
        hi = (costs){b.sum_s / (double)b.count * WIDE, 0, ORACLE_HI};
        s->summary->stays_known = b.count;
    }
    s->summary->lo_s = s->summary->hi_s = 0;
    for (size_t i = 0; i < s->problem_count; i++)
        if (!s->problems[i].skip)
            ASSAY_TRY(forecast_one(s, &s->problems[i], &lo, &hi));
    return ASSAY_OK;
}
