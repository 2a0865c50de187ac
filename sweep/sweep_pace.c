/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_pace.c -- what lies ahead of a sweep, and how long it will take.
 *
 * Of a problem that was screened the times are known; of one that was not they follow from the most
 * similar one that was, by the work, or from what the machine can do at most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "sweep/sweep_internal.h"

/* How many times the least time by the peaks a call takes, until the first were seen. */
#define USUAL_RATIO 4.0
/* As sweep_race.c has it: who is so far behind after the screening makes so many visits. */
static const double behind[] = {1.5, 1.25, 1.1};

static assay_status learn_ratio(sweep *s, sweep_problem *p, const sweep_candidate *c);

/* ---- one step ---- */

static double time_so_far(const sweep_candidate *c)
{
    return c->visit_count > 0 ? c->visit_ns[c->visit_count - 1] : c->screen_ns;
}

static const sweep_candidate *best_so_far(const sweep_problem *p)
{
    const sweep_candidate *best = NULL;

    for (size_t i = 0; p != NULL && p->candidates != NULL && i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (!c->out && c->verdict == ASSAY__VERDICT_OK && time_so_far(c) > 0 &&
            (best == NULL || time_so_far(c) < time_so_far(best)))
            best = c;
    }
    return best;
}

/* Of the visit that ended: how far is it from the one before?  A twin, and a stay that was given
 * up, is none. */
static void book_noise(sweep *s, sweep_candidate *c)
{
    const size_t n = c->visit_count;

    if (n < 2 || n == c->noted || !(c->visit_ns[n - 1] > 0 && c->visit_ns[n - 2] > 0))
        return;
    c->noted = n;
    s->noise_logs += fabs(log(c->visit_ns[n - 1] / c->visit_ns[n - 2]));
    s->noise_count++;
}

static void tell(sweep *s, const char *phase, const sweep_problem *p)
{
    const sweep_candidate *best = best_so_far(p);
    assay__progress *g = &s->progress;

    g->best = best != NULL ? best->kernel->desc->name : NULL;
    g->best_ns = best != NULL ? time_so_far(best) : (double)NAN;
    g->noise = s->noise_count > 0 ? expm1(s->noise_logs / s->noise_count) : (double)NAN;
    g->steps_done = assay__pace_done(&s->pace);
    g->steps_total = assay__pace_total(&s->pace);
    g->phase = phase;
    g->problem = p != NULL ? p->text : "";
    g->elapsed_s = assay__sweep_now_s(s) - s->begin_s;
    g->eta_s = assay__pace_eta_s(&s->pace);
    g->wrong = s->summary->wrong;
    g->failed = s->summary->crashed + s->summary->timed_out;
    if (s->o->progress != NULL)
        s->o->progress(s->o->cookie, g);
}

void assay__sweep_phase(sweep *s, const char *phase)
{
    s->step_s = assay__sweep_now_s(s);
    tell(s, phase, NULL);
}

/* How much of a kind a problem still has, now that more is known. */
static void plan(sweep *s, sweep_problem *p, assay__stay kind, assay__load load)
{
    assay__pace_correct(&s->pace, kind, p->planned[kind], load);
    p->planned[kind] = load;
}

/* One piece less. */
static void take_off(sweep *s, sweep_problem *p, assay__stay kind, double model_s)
{
    assay__load load = p->planned[kind];

    if (isnan(model_s) && load.count > 0)
        model_s = load.model_s / (double)load.count;
    load.count -= load.count > 0;
    load.model_s = load.count > 0 ? fmax(load.model_s - model_s, 0) : 0;
    plan(s, p, kind, load);
}

static double stay_model_s(const sweep *s, const sweep_problem *p, assay__stay kind, double call_ns)
{
    const bool is_screening = kind == ASSAY__STAY_SCREEN;
    /* A scripted clock stands still while results are checked. */
    const bool is_checked = is_screening && !s->o->scripted_clock;
    const double sets = is_checked ? (double)assay__sweep_sets(s, p) : 0;
    const assay__profile f = assay__sweep_effort(s);

    return assay__pace_stay_s(&f, is_screening, call_ns) + 1e-9 * sets * call_ns;
}

/* Time since the last piece ended. */
static double lap(sweep *s)
{
    const double now = assay__sweep_now_s(s), took = now - s->step_s;

    s->step_s = now;
    return took;
}

assay_status assay__sweep_step(sweep *s, const char *phase, sweep_problem *p, sweep_candidate *c)
{
    const assay__stay kind = strcmp(phase, "screen") == 0 ? ASSAY__STAY_SCREEN : ASSAY__STAY_VISIT;
    const bool is_whole = c->screen_ns > 0 && !c->out; /* a hang is as long as its limit */
    const double model_s = is_whole ? stay_model_s(s, p, kind, c->screen_ns) : (double)NAN;

    assay__pace_took(&s->pace, kind, model_s, lap(s));
    /* Of the screening all that was planned was a guess. */
    take_off(s, p, kind, kind == ASSAY__STAY_SCREEN ? (double)NAN : model_s);
    if (strcmp(phase, "measure") == 0)
        book_noise(s, c);
    if (kind == ASSAY__STAY_SCREEN)
        ASSAY_TRY(learn_ratio(s, p, c));
    tell(s, phase, p);
    return ASSAY_OK;
}

void assay__sweep_started(sweep *s, sweep_problem *p)
{
    assay__pace_took(&s->pace, ASSAY__STAY_START, 0, lap(s));
    take_off(s, p, ASSAY__STAY_START, 0);
}

/* ---- the oracle ---- */

/* At 4 GFLOP/s a core and 1 GB/s for drawing inputs and writing results: what the pace makes of it
 * follows from those that were seen. */
static double oracle_model_s(const sweep *s, const sweep_problem *p)
{
    const double sets = (double)assay__sweep_sets(s, p);
    const double flops = assay__sweep_expected_flops(s, p);

    return sets * fmax(0, flops) / (4e9 * s->cpus) + 1e-9 * assay__sweep_bytes_held(s, p) / s->cpus;
}

void assay__sweep_expected(sweep *s, sweep_problem *p)
{
    assay__pace_took(&s->pace, ASSAY__STAY_ORACLE, oracle_model_s(s, p), lap(s));
    plan(s, p, ASSAY__STAY_ORACLE, (assay__load){0, 0});
}

/* ---- a problem that was screened ---- */

static size_t visits_of(const assay__profile *f, double ratio)
{
    for (size_t i = 0; i < sizeof behind / sizeof behind[0]; i++)
        if (ratio > behind[i])
            return i + 1 < f->visits ? i + 1 : f->visits;
    return f->visits;
}

static size_t measuring_ahead(const sweep *s, const sweep_problem *p, const sweep_candidate *c,
                              double best_ns)
{
    const assay__profile *f = s->o->profile;
    size_t wanted = f->visits;

    if (!c->is_default && !c->is_incumbent && !c->on_front) {
        wanted = visits_of(f, c->screen_ns / best_ns);
        if (wanted <= c->visit_count && c->visit_count < f->visits)
            wanted = c->visit_count + 1; /* it did not stop where it was thought to */
    }
    if (!c->settled && p->wanted > f->visits) /* in doubt: another look */
        wanted = p->wanted;
    return wanted > c->visit_count ? wanted - c->visit_count : 0;
}

static void add(assay__load *load, size_t count, double model_s)
{
    load->count += count;
    load->model_s += (double)count * model_s;
}

static double best_screened_ns(const sweep_problem *p)
{
    double best = INFINITY;

    for (size_t i = 0; i < p->count; i++)
        if (!p->candidates[i].out && p->candidates[i].screen_ns > 0)
            best = fmin(best, p->candidates[i].screen_ns);
    return best;
}

static void count_start(assay__load *starts, size_t visits)
{
    starts->count = visits > starts->count ? visits : starts->count;
}

/* Who seems in doubt, and is looked at again. */
#define DOUBTED 3

static size_t named_of(const sweep_problem *p)
{
    size_t named = 0;

    for (size_t i = 0; i < p->count; i++)
        named += p->candidates[i].contender && !p->candidates[i].out;
    return named;
}

/* What comes behind the measuring visits: of contenders that the choice has named, or is likely to.
 */
static void add_rest(sweep *s, const sweep_problem *p, double best_ns, assay__load *visits,
                     assay__load *starts)
{
    sweep_prospect rest = {(double)named_of(p), s->o->profile->confirms, 0};

    if (!p->has_choice)
        rest = assay__sweep_expect(s, p);
    const size_t stays =
        (size_t)lround(rest.contenders * (double)rest.confirms) + DOUBTED * rest.looks;
    add(visits, stays, stay_model_s(s, p, ASSAY__STAY_VISIT, best_ns));
    starts->count += rest.looks + (rest.contenders > 0 ? rest.confirms : 0);
}

void assay__sweep_plan_visits(sweep *s, sweep_problem *p)
{
    const assay__profile *f = s->o->profile;
    const double best_ns = best_screened_ns(p);
    assay__load visits = {0, 0}, starts = {0, 0};

    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (c->out)
            continue;
        size_t ahead = measuring_ahead(s, p, c, best_ns);
        count_start(&starts, ahead);
        /* The default stays twice, but where there is little time. */
        if (i == p->default_index && !p->is_heavy && f->visits > c->visit_count)
            ahead += f->visits - c->visit_count;
        add(&visits, ahead, stay_model_s(s, p, ASSAY__STAY_VISIT, c->screen_ns));
    }
    if (!isinf(best_ns))
        add_rest(s, p, best_ns, &visits, &starts);
    plan(s, p, ASSAY__STAY_VISIT, visits);
    plan(s, p, ASSAY__STAY_START, starts);
}

void assay__sweep_plan_confirms(sweep *s, sweep_problem *p)
{
    assay__load visits = {0, 0}, starts = {0, 0};

    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (c->out || !c->contender || c->confirm_count >= p->wanted)
            continue;
        const size_t ahead = p->wanted - c->confirm_count;
        add(&visits, ahead, stay_model_s(s, p, ASSAY__STAY_VISIT, c->screen_ns));
        count_start(&starts, ahead);
    }
    plan(s, p, ASSAY__STAY_VISIT, visits);
    plan(s, p, ASSAY__STAY_START, starts);
}

void assay__sweep_plan_nothing(sweep *s, sweep_problem *p)
{
    for (int kind = 0; kind < ASSAY__STAY_KINDS; kind++)
        plan(s, p, (assay__stay)kind, (assay__load){0, 0});
}

/* ---- a problem that was not ---- */

static bool was_seen(const sweep_problem *q)
{
    for (size_t i = 0; i < q->count; i++)
        if (assay__sweep_seen_ns(q, i) > 0)
            return true;
    return false;
}

/* What a call takes where nothing alike was seen, of the variants in the mean and of the best. */
static void usual_calls(const sweep *s, const sweep_problem *p, double *mean_ns, double *best_ns)
{
    const double mean = s->ratio_least > 0 ? s->ratio_sum / s->ratio_least : USUAL_RATIO;
    const double best = s->best_least > 0    ? s->best_sum / s->best_least
                        : s->least_ratio > 0 ? s->least_ratio
                                             : USUAL_RATIO;
    double least_s = assay__sweep_least_call_s(s, &p->problem);

    if (isnan(least_s))
        least_s = assay__sweep_nominal_s(&p->problem);
    *mean_ns = 1e9 * mean * least_s;
    *best_ns = 1e9 * best * least_s;
}

static double time_at(const sweep_problem *q, double scale, int64_t row, size_t *next)
{
    for (size_t step = 0; step < q->count; step++) {
        const size_t o = (*next + step) % q->count;
        if (assay__sweep_revision_row(q, o) != row)
            continue;
        *next = o + 1;
        return scale * assay__sweep_seen_ns(q, o);
    }
    return 0;
}

/* ns[i]: what a call of candidate i takes, by its time at the most similar problem of today or of
 * the store; those that were not there take what the others do. */
static const char *guess_times(const sweep *s, const sweep_problem *p, double *ns, double *best_ns)
{
    const bool is_today = p->alike < s->problem_count && p->alike_far <= p->prior_far;
    const sweep_problem *q = is_today ? &s->problems[p->alike] : NULL;
    const double scale =
        is_today ? assay__sweep_work(&p->problem) / assay__sweep_work(&q->problem) : 0;
    double sum = 0;
    size_t known = 0, next = 0;

    for (size_t i = 0; i < p->count; i++) {
        ns[i] = is_today ? time_at(q, scale, assay__sweep_revision_row(p, i), &next)
                         : p->briefs[i].prior_ns;
        known += ns[i] > 0;
        sum += ns[i] > 0 ? ns[i] : 0;
    }
    double others;
    usual_calls(s, p, &others, best_ns);
    if (known > 0) {
        others = sum / (double)known;
        *best_ns = INFINITY;
    }
    for (size_t i = 0; i < p->count; i++) {
        ns[i] = ns[i] > 0 ? ns[i] : others;
        *best_ns = known > 0 ? fmin(*best_ns, ns[i]) : *best_ns;
    }
    if (known == 0)
        return isnan(assay__sweep_least_call_s(s, &p->problem)) ? "nominal" : "peaks";
    return (is_today ? p->alike_far : p->prior_far) < ASSAY__NEAR ? "near" : "rates";
}

/* What the time of a problem does not reach is left. */
static assay__load limited(assay__load load, double limit_s)
{
    if (load.model_s > limit_s) {
        load.count = (size_t)ceil((double)load.count * limit_s / load.model_s);
        load.model_s = limit_s;
    }
    return load;
}

/* Part of it. */
static assay__load scaled(assay__load load, size_t part, size_t of)
{
    if (part < of) {
        load.model_s *= (double)part / (double)of;
        load.count = (load.count * part + of - 1) / of;
    }
    return load;
}

static assay__load screens_of(const sweep *s, const sweep_problem *p, const double *ns)
{
    assay__load screen = {0, 0};

    for (size_t i = 0; i < p->count; i++)
        if (!p->briefs[i].is_evaluated)
            add(&screen, 1, stay_model_s(s, p, ASSAY__STAY_SCREEN, ns[i]));
    return p->is_rationed ? scaled(screen, p->allowance, screen.count) : screen;
}

static assay__load visits_ahead_of(const sweep *s, const sweep_problem *p, const double *ns,
                                   double best, bool is_known)
{
    const assay__profile *f = s->o->profile;
    const size_t two = p->count < 2 ? p->count : 2;
    const double best_s = stay_model_s(s, p, ASSAY__STAY_VISIT, best);
    assay__load visits = {0, 0};

    if (!is_known) {
        add(&visits, assay__pace_visits(p->count, f->visits, f->confirms), best_s);
        return visits;
    }
    for (size_t i = 0; i < p->count; i++)
        if (ns[i] <= best * f->prune || i == p->default_index)
            add(&visits, visits_of(f, i == p->default_index ? 1.0 : ns[i] / best),
                stay_model_s(s, p, ASSAY__STAY_VISIT, ns[i]));
    /* The default once more, and the confirming visits. */
    add(&visits, f->visits + two * f->confirms, best_s);
    return visits;
}

assay_status assay__sweep_loads(const sweep *s, const sweep_problem *p, double factor,
                                assay__load *loads, const char **basis)
{
    const assay__profile *f = s->o->profile;
    const double may_s = assay__sweep_problem_s(s);
    double *ns = malloc((p->count + 1) * sizeof *ns), best_ns;

    if (ns == NULL)
        return assay__fail(ASSAY_NOMEM, "plan of %zu candidates", p->count);
    *basis = guess_times(s, p, ns, &best_ns);
    for (size_t i = 0; i < p->count; i++)
        ns[i] *= factor;
    const bool is_known = strcmp(*basis, "near") == 0 || strcmp(*basis, "rates") == 0;
    const assay__load visits = visits_ahead_of(s, p, ns, factor * best_ns, is_known);
    loads[ASSAY__STAY_SCREEN] = limited(screens_of(s, p, ns), may_s * ASSAY__SCREEN_SHARE);
    loads[ASSAY__STAY_VISIT] =
        limited(scaled(visits, assay__sweep_tried(p), p->count), may_s * (1 - ASSAY__SCREEN_SHARE));
    loads[ASSAY__STAY_START] = (assay__load){1 + f->visits + f->confirms, 0};
    loads[ASSAY__STAY_ORACLE] = (assay__load){1, oracle_model_s(s, p)};
    free(ns);
    return ASSAY_OK;
}

static assay_status plan_unseen(sweep *s, sweep_problem *p)
{
    assay__load loads[ASSAY__STAY_KINDS];
    const char *basis;

    ASSAY_TRY(assay__sweep_loads(s, p, 1.0, loads, &basis));
    if (p->screen_stays > 0) { /* it is under way */
        const size_t all = loads[ASSAY__STAY_SCREEN].count;
        loads[ASSAY__STAY_SCREEN] = scaled(loads[ASSAY__STAY_SCREEN],
                                           all > p->screen_stays ? all - p->screen_stays : 0, all);
        loads[ASSAY__STAY_ORACLE] = (assay__load){0, 0};
        loads[ASSAY__STAY_START].count--;
    }
    for (int kind = 0; kind < ASSAY__STAY_KINDS; kind++)
        plan(s, p, (assay__stay)kind, loads[kind]);
    return ASSAY_OK;
}

/* Of problems of which nothing alike was seen. */
static assay_status plan_strange(sweep *s)
{
    for (size_t i = 0; i < s->problem_count; i++) {
        sweep_problem *p = &s->problems[i];
        if (!p->skip && !p->screened && p->alike >= s->problem_count && isinf(p->prior_far))
            ASSAY_TRY(plan_unseen(s, p));
    }
    return ASSAY_OK;
}

/* Each screening stay says how far calls are from the least that they can take; the more there
 * were, the less one more changes. */
static assay_status learn_ratio(sweep *s, sweep_problem *p, const sweep_candidate *c)
{
    const double least_ns = 1e9 * assay__sweep_least_call_s(s, &p->problem);
    const double ratio = c->screen_ns / least_ns;
    size_t count;

    p->screen_stays++;
    if (!(ratio > 0) || isinf(ratio))
        return ASSAY_OK;
    s->ratio_sum += c->screen_ns;
    s->ratio_least += least_ns;
    count = (size_t)++s->ratio_count;
    if (!(s->least_ratio > 0 && s->least_ratio < ratio))
        s->least_ratio = ratio;
    return (count & (count - 1)) == 0 ? plan_strange(s) : ASSAY_OK;
}

/* Is `from` nearer to p than what was seen so far? */
static bool comes_nearer(const sweep *s, sweep_problem *p, size_t from)
{
    const sweep_problem *q = &s->problems[from];
    double far;

    if (q == p || !assay__sweep_is_alike(&p->problem, &q->problem))
        return false;
    far = assay__sweep_distance(&p->problem, &q->problem);
    if (p->alike < s->problem_count && !(far < p->alike_far))
        return false;
    p->alike = from;
    p->alike_far = far;
    return true;
}

assay_status assay__sweep_plan(sweep *s)
{
    for (size_t i = 0; i < s->problem_count; i++) {
        s->problems[i].alike = SIZE_MAX;
        s->problems[i].planned_far = INFINITY;
    }
    for (size_t i = 0; i < s->problem_count; i++) {
        if (!was_seen(&s->problems[i]))
            continue;
        for (size_t o = 0; o < s->problem_count; o++)
            if (!s->problems[o].skip)
                (void)comes_nearer(s, &s->problems[o], i);
    }
    for (size_t i = 0; i < s->problem_count; i++)
        if (!s->problems[i].skip)
            ASSAY_TRY(plan_unseen(s, &s->problems[i]));
    return ASSAY_OK;
}

#define MUCH_NEARER 0.7

assay_status assay__sweep_screened(sweep *s, sweep_problem *p)
{
    const double least_ns = 1e9 * assay__sweep_least_call_s(s, &p->problem);

    p->screened = true;
    plan(s, p, ASSAY__STAY_SCREEN, (assay__load){0, 0});
    assay__sweep_plan_visits(s, p);
    if (least_ns > 0 && !isinf(best_screened_ns(p))) {
        s->best_sum += best_screened_ns(p);
        s->best_least += least_ns;
    }
    for (size_t i = 0; i < s->problem_count; i++) {
        sweep_problem *o = &s->problems[i];
        if (o->skip || o->screened)
            continue;
        /* Only what is much nearer says much more: in a set that is sorted by size each is nearer
         * to all that follow than the ones before it. */
        if (comes_nearer(s, o, (size_t)(p - s->problems)) &&
            !(o->alike_far > MUCH_NEARER * o->planned_far)) {
            o->planned_far = o->alike_far;
            ASSAY_TRY(plan_unseen(s, o));
        }
    }
    return plan_strange(s);
}
