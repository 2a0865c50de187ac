/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_heavy.c -- problems that would take longer than a problem may: the time goes to the
 * variants that are likely to win, and the route says how many were searched.
 *
 * A third of the time is for screening, in the order of what is expected of the variants; the rest
 * for visits, of as many as fit, always of the default and the best. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/tunables.h"
#include "support/format.h"
#include "sweep/sweep_internal.h"

/* Calls of a variant while it is screened: its check on each input set, an untimed and a timed
 * one; in a visit the latter two. */
#define STAY_CALLS   2.0
#define SCREEN_CALLS (SWEEP_SETS + STAY_CALLS)
/* Of two variants that nothing is known of the one at its defaults and on most threads comes first;
 * both come behind what is known to be nearly as fast as the best. */
#define UNKNOWN_AT_DEFAULTS 1.15
#define UNKNOWN             1.5
/* Who is so many times behind where it was seen is not looked at for more than this part of the
 * time, however light the problem. */
#define HOPELESS      10.0
#define HOPELESS_NEAR 4.0
#define WASTE         0.001
/* Calls of the default and of the best alone that a problem must have room for, with all visits. */
#define LEAST_CALLS 12.0

double assay__sweep_problem_s(const sweep *s)
{
    return s->o->problem_s > 0 ? s->o->problem_s : s->o->profile->problem_s;
}

double assay__sweep_work(const assay_problem *p)
{
    double work = NAN;

    if (assay_problem_flops(p, &work) && work > 0)
        return work;
    return assay_problem_bytes(p, &work) ? work : (double)NAN;
}

double assay__sweep_least_call_s(const sweep *s, const assay_problem *p)
{
    double flops = NAN, bytes = NAN;

    if (!assay_problem_flops(p, &flops))
        flops = NAN;
    if (!assay_problem_bytes(p, &bytes))
        bytes = NAN;
    return 1e-9 *
           assay__roofline_bound_of(&s->roof, (assay_dtype)p->dtypes[0], flops, bytes).floor_ns;
}

bool assay__sweep_too_long(const sweep *s, const sweep_problem *p, char *reason, size_t cap)
{
    const double call_s = assay__sweep_least_call_s(s, &p->problem),
                 may_s = assay__sweep_problem_s(s);

    if (!(call_s * LEAST_CALLS > may_s))
        return false;
    (void)snprintf(reason, cap,
                   "a call takes %s or more here, and a problem gets %s (--problem-budget)",
                   assay__format_time(1e9 * call_s).text, assay__format_time(1e9 * may_s).text);
    return true;
}

/* ---- what is expected of a variant ---- */

/* The sum of the logarithms by which their parameters differ. */
double assay__sweep_distance(const assay_problem *a, const assay_problem *b)
{
    const assay_op_info *info = assay_op_get((assay_op_id)a->op);
    double sum = 0;

    for (size_t i = 0; i < a->param_count; i++) {
        if (info->params[i].kind == ASSAY_KIND_REAL)
            continue;
        const double x = (double)a->params[i].i, y = (double)b->params[i].i;
        sum += x > 0 && y > 0 ? fabs(log(x / y)) : (x < y || x > y ? 1.0 : 0.0);
    }
    return sum;
}

bool assay__sweep_is_alike(const assay_problem *a, const assay_problem *b)
{
    return a->op == b->op && a->dtype_count == b->dtype_count &&
           memcmp(a->dtypes, b->dtypes, sizeof a->dtypes) == 0;
}

/* What a variant took at its most similar problem and at the next, by its rate there; one of them
 * may have been disturbed. */
typedef struct known {
    double far[2], ns[2];
} known;

static void know(known *k, double far, double ns)
{
    const size_t at = far < k->far[0] ? 0 : 1;

    if (!(far < k->far[at]))
        return;
    if (at == 0) {
        k->far[1] = k->far[0];
        k->ns[1] = k->ns[0];
    }
    k->far[at] = far;
    k->ns[at] = ns;
}

/* Candidates of two problems come in the same order, but for those that one of them lacks: where
 * the last was found the next is likely to follow. */
static void learn_from(const sweep_problem *p, const sweep_problem *q, known *of)
{
    const double scale = assay__sweep_work(&p->problem) / assay__sweep_work(&q->problem);
    const double far = assay__sweep_distance(&p->problem, &q->problem);

    for (size_t i = 0, next = 0; i < q->count; i++) {
        const double ns = assay__sweep_seen_ns(q, i) * scale;
        const int64_t row = assay__sweep_revision_row(q, i);
        for (size_t step = 0; ns > 0 && step < p->count; step++) {
            const size_t o = (next + step) % p->count;
            if (assay__sweep_revision_row(p, o) != row)
                continue;
            know(&of[o], far, ns);
            next = o + 1;
            break;
        }
    }
}

static assay_status expect_times(const sweep *s, sweep_problem *p)
{
    known *of = malloc((p->count + 1) * sizeof *of);

    if (of == NULL)
        return assay__fail(ASSAY_NOMEM, "expectations of %zu variants", p->count);
    for (size_t i = 0; i < p->count; i++)
        of[i] = (known){{INFINITY, INFINITY}, {INFINITY, INFINITY}};
    for (size_t i = 0; i < s->problem_count; i++)
        if (&s->problems[i] != p && assay__sweep_is_alike(&p->problem, &s->problems[i].problem))
            learn_from(p, &s->problems[i], of);
    for (size_t i = 0; i < p->count; i++) {
        const double ns = fmin(of[i].ns[0], of[i].ns[1]);
        p->candidates[i].expected_ns = isinf(ns) ? 0 : ns;
        p->candidates[i].expected_near = of[i].far[1] < ASSAY__NEAR;
    }
    free(of);
    return ASSAY_OK;
}

assay_status assay__sweep_weigh(const sweep *s, sweep_problem *p)
{
    const double least_ns = 1e9 * assay__sweep_least_call_s(s, &p->problem);
    double screen_ns = 0;

    ASSAY_TRY(expect_times(s, p));
    p->best_expected_ns = INFINITY;
    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (c->out)
            continue;
        screen_ns += SCREEN_CALLS * fmax(least_ns, c->expected_ns); /* leaves NaN out */
        if (c->expected_ns > 0)
            p->best_expected_ns = fmin(p->best_expected_ns, c->expected_ns);
    }
    p->is_heavy = 1e-9 * screen_ns > ASSAY__SCREEN_SHARE * assay__sweep_problem_s(s);
    return ASSAY_OK;
}

/* At its defaults, on the most threads of those that compete. */
static bool is_typical(const sweep *s, const sweep_problem *p, const sweep_candidate *c)
{
    const assay_kernel_desc *desc = c->kernel->desc;
    int64_t values[ASSAY_MAX_TUNABLES];

    assay__tunables_default(desc, s->o->max_threads, values);
    for (size_t i = 0; i < desc->tunable_count; i++) {
        if (strcmp(desc->tunables[i].name, "threads") != 0) {
            if (c->tunables[i] != values[i])
                return false;
            continue;
        }
        for (size_t o = 0; o < p->count; o++)
            if (p->candidates[o].kernel == c->kernel &&
                p->candidates[o].tunables[i] > c->tunables[i])
                return false;
    }
    return true;
}

typedef struct prospect {
    double key; /* of the best expected time */
    int rank;
    const char *name;
    size_t index;
} prospect;

static int by_prospect(const void *a, const void *b)
{
    const prospect *x = a, *y = b;

    if (x->key < y->key || x->key > y->key)
        return x->key < y->key ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static prospect prospect_of(const sweep *s, const sweep_problem *p, size_t i)
{
    const sweep_candidate *c = &p->candidates[i];
    prospect out = {
        .rank = c->kernel->desc->default_rank, .name = c->kernel->desc->name, .index = i};

    if (c->expected_ns > 0)
        out.key = c->expected_ns / p->best_expected_ns;
    else
        out.key = is_typical(s, p, c) ? UNKNOWN_AT_DEFAULTS : UNKNOWN;
    return out;
}

assay_status assay__sweep_rank(const sweep *s, const sweep_problem *p, size_t *order, size_t n)
{
    prospect *list = calloc(n + 1, sizeof *list);

    if (list == NULL)
        return assay__fail(ASSAY_NOMEM, "order of %zu variants", n);
    for (size_t i = 0; i < n; i++)
        list[i] = prospect_of(s, p, order[i]);
    qsort(list, n, sizeof *list, by_prospect);
    for (size_t i = 0; i < n; i++)
        order[i] = list[i].index;
    free(list);
    return ASSAY_OK;
}

/* ---- what there is no time for ---- */

static bool leave(sweep_candidate *c)
{
    c->out = c->unsearched = true;
    return true;
}

/* Default and incumbent are tried whatever else is: some of the allowance may be theirs. */
static bool is_beyond_allowance(const sweep_problem *p, const sweep_candidate *c)
{
    size_t reserved = 0;

    if (!p->is_rationed || c->is_default || c->is_incumbent)
        return false;
    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *o = &p->candidates[i];
        reserved += (o->is_default || o->is_incumbent) && !o->out && !(o->screen_ns > 0);
    }
    return p->allowance <= reserved;
}

static double takes_s(const sweep_candidate *c)
{
    return 1e-9 * SCREEN_CALLS * c->expected_ns;
}

static double behind(const sweep_problem *p, const sweep_candidate *c)
{
    return c->expected_ns / p->best_expected_ns;
}

static bool is_hopeless(const sweep *s, const sweep_problem *p, const sweep_candidate *c)
{
    return behind(p, c) > (c->expected_near ? HOPELESS_NEAR : HOPELESS) &&
           takes_s(c) > WASTE * assay__sweep_problem_s(s);
}

/* Are two screened whoever is left out now, so that somebody has a rival? */
static bool has_two(const sweep *s, const sweep_problem *p, bool is_for_hopeless)
{
    size_t n = 0;

    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        n += c->screen_ns > 0 || (is_for_hopeless && !c->out && !is_hopeless(s, p, c));
    }
    return n >= 2;
}

bool assay__sweep_pass_over(const sweep *s, const sweep_problem *p, sweep_candidate *c)
{
    const double may_s = assay__sweep_problem_s(s);

    if (is_beyond_allowance(p, c)) {
        (void)snprintf(c->reason, sizeof c->reason,
                       "not searched: the sweep's %zu evaluations went to others",
                       s->o->evaluations);
        c->by_evaluations = true;
        return leave(c);
    }
    if (c->is_default || c->is_incumbent)
        return false;
    if (p->is_heavy && p->spent_s + takes_s(c) > ASSAY__SCREEN_SHARE * may_s &&
        has_two(s, p, false)) {
        (void)snprintf(c->reason, sizeof c->reason,
                       "not searched: the problem's %s went to variants likelier to win",
                       assay__format_time(1e9 * may_s).text);
        return leave(c);
    }
    if (is_hopeless(s, p, c) && has_two(s, p, true)) {
        (void)snprintf(c->reason, sizeof c->reason,
                       "not searched: %.0f times the best by its rates at the most similar "
                       "problems",
                       behind(p, c));
        return leave(c);
    }
    return false;
}

size_t assay__sweep_searched(const sweep_problem *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->count; i++)
        n += !p->candidates[i].unsearched;
    return n;
}

/* Seconds of all visits of a variant; the contenders are confirmed as well. */
static double visits_s(const sweep *s, const sweep_candidate *c, bool is_contender)
{
    const assay__profile f = assay__sweep_effort(s);

    return assay__pace_stay_s(&f, false, c->screen_ns) *
           (double)(f.visits + (is_contender ? f.confirms : 0));
}

static sweep_candidate *fastest_open(sweep_problem *p, const bool *kept)
{
    sweep_candidate *best = NULL;

    for (size_t i = 0; i < p->count; i++) {
        sweep_candidate *c = &p->candidates[i];
        if (!c->out && !kept[i] && c->screen_ns > 0 &&
            (best == NULL || c->screen_ns < best->screen_ns))
            best = c;
    }
    return best;
}

static bool must_stay(const sweep_candidate *c)
{
    return c->is_default || c->is_incumbent || c->on_front;
}

assay_status assay__sweep_afford(const sweep *s, sweep_problem *p)
{
    double left = assay__sweep_problem_s(s) - p->spent_s;
    bool *kept = calloc(p->count + 1, sizeof *kept);
    sweep_candidate *c;
    const sweep_candidate *best;

    if (kept == NULL)
        return assay__fail(ASSAY_NOMEM, "choice of %zu variants", p->count);
    best = fastest_open(p, kept);
    for (size_t i = 0; i < p->count; i++) {
        c = &p->candidates[i];
        kept[i] = !c->out && must_stay(c);
        left -= kept[i] ? visits_s(s, c, true) : 0;
    }
    for (; (c = fastest_open(p, kept)) != NULL; kept[c - p->candidates] = true) {
        left -= visits_s(s, c, c == best); /* who leads is confirmed */
        if (left > 0)
            continue;
        c->out = true;
        c->time_ns = c->screen_ns;
        (void)snprintf(c->reason, sizeof c->reason,
                       "%.2f times the best in the screening visit, and the problem's %s are "
                       "for better ones",
                       c->screen_ns / best->screen_ns,
                       assay__format_time(1e9 * assay__sweep_problem_s(s)).text);
    }
    free(kept);
    return ASSAY_OK;
}

bool assay__sweep_has_time(const sweep *s, const sweep_problem *p)
{
    return !p->is_heavy || p->spent_s < assay__sweep_problem_s(s);
}
