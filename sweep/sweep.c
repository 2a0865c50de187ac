/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep.c -- the order of a sweep: groups, screening, visits, confirmation. */
#include "sweep/sweep.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "sweep/sweep_internal.h"
#include "tuner/device_lock.h"

void assay__sweep_step(sweep *s, const char *phase, sweep_problem *p, size_t steps)
{
    const assay__stay kind = strcmp(phase, "screen") == 0 ? ASSAY__STAY_SCREEN : ASSAY__STAY_VISIT;
    assay__progress *g = &s->progress;
    double now = assay__sweep_now_s();

    if (steps > 0) {
        assay__pace_took(&s->pace, kind, now - s->step_s);
        p->planned[kind] -= p->planned[kind] > 0;
    }
    s->step_s = now;
    g->steps_done = assay__pace_done(&s->pace);
    g->steps_total = assay__pace_total(&s->pace);
    g->phase = phase;
    g->problem = p != NULL ? p->text : "";
    g->elapsed_s = now - s->begin_s;
    g->eta_s = assay__pace_eta_s(&s->pace);
    g->wrong = s->summary->wrong;
    g->failed = s->summary->crashed + s->summary->timed_out;
    if (s->o->progress != NULL)
        s->o->progress(s->o->cookie, g);
}

/* How many stays of a kind a problem still has, now that more is known. */
static void plan_stays(sweep *s, sweep_problem *p, assay__stay kind, size_t count)
{
    assay__pace_correct(&s->pace, kind, p->planned[kind], count);
    p->planned[kind] = count;
}

void assay__sweep_warn(sweep *s, const char *format, ...)
{
    char text[ASSAY_PROBLEM_TEXT_MAX + 320];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (s->o->warn != NULL)
        s->o->warn(s->o->cookie, text);
}

/* ---- groups ---- */

/* Stays that are ahead of a problem that was screened. */
static size_t visits_ahead(const sweep *s, const sweep_problem *p)
{
    const assay__profile *f = s->o->profile;
    size_t ahead = 0, in = 0;

    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (c->out)
            continue;
        in++;
        /* The default stays twice, but where there is little time. */
        ahead += (c->visit_count < f->visits ? f->visits - c->visit_count : 0) *
                 (i == p->default_index && !p->is_heavy ? 2 : 1);
        if (!c->settled && p->wanted > c->visit_count && c->visit_count >= f->visits)
            ahead += p->wanted - c->visit_count;
    }
    return ahead + (in < 2 ? in : 2) * f->confirms;
}

static size_t confirms_ahead(const sweep_problem *p)
{
    size_t ahead = 0;

    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (!c->out && c->contender && c->confirm_count < p->wanted)
            ahead += p->wanted - c->confirm_count;
    }
    return ahead;
}

static bool over_budget(const sweep *s)
{
    return s->o->budget_s > 0 && assay__sweep_now_s() - s->begin_s > s->o->budget_s;
}

assay_status assay__sweep_check_stop(const sweep *s)
{
    if (s->o->stop != NULL && *s->o->stop)
        return assay__fail(ASSAY_INTERRUPTED, "interrupted");
    return over_budget(s) ? assay__fail(ASSAY_TIMEOUT, "budget spent") : ASSAY_OK;
}

static assay_status screen(sweep *s, sweep_problem *p)
{
    double begin = assay__sweep_now_s();

    ASSAY_TRY(assay__sweep_wake(s, p));
    ASSAY_TRY(assay__sweep_inputs(s, p));
    s->summary->oracle_s += assay__sweep_now_s() - begin;
    ASSAY_TRY(assay__sweep_weigh(s, p));
    ASSAY_TRY(assay__sweep_visit(s, p, "screen", 0));
    assay__sweep_prune(s, p);
    if (p->is_heavy)
        ASSAY_TRY(assay__sweep_afford(s, p));
    plan_stays(s, p, ASSAY__STAY_SCREEN, 0);
    plan_stays(s, p, ASSAY__STAY_VISIT, visits_ahead(s, p));
    return ASSAY_OK;
}

static assay_status visit(sweep *s, sweep_problem *p, const char *kind, size_t ordinal)
{
    ASSAY_TRY(assay__sweep_visit(s, p, kind, ordinal));
    return strcmp(kind, "measure") == 0 ? assay__sweep_race(p) : ASSAY_OK;
}

/* Visits from..to-1, as far as a problem wants them: all problems once, then all again in another
 * order. */
static assay_status each_visit(sweep *s, size_t begin, size_t end, const char *kind, size_t from,
                               size_t to)
{
    size_t n = end - begin, *order = calloc(n > 0 ? n : 1, sizeof *order);
    assay_status status = ASSAY_OK;

    if (order == NULL)
        return assay__fail(ASSAY_NOMEM, "visit order");
    for (size_t v = from; status == ASSAY_OK && v < to; v++) {
        for (size_t i = 0; i < n; i++)
            order[i] = begin + i;
        assay__rng_shuffle(&s->rng, order, n);
        for (size_t i = 0; status == ASSAY_OK && i < n; i++) {
            sweep_problem *p = &s->problems[order[i]];
            status = assay__sweep_check_stop(s);
            if (status == ASSAY_OK && !p->skip && v < p->wanted)
                status = visit(s, p, kind, v);
        }
    }
    free(order);
    return status;
}

static size_t want(sweep *s, size_t begin, size_t end, size_t visits)
{
    for (size_t i = begin; i < end; i++)
        s->problems[i].wanted = visits;
    return visits;
}

static size_t most_wanted(const sweep *s, size_t begin, size_t end)
{
    size_t most = 0;

    for (size_t i = begin; i < end; i++)
        if (!s->problems[i].skip && s->problems[i].wanted > most)
            most = s->problems[i].wanted;
    return most;
}

static assay_status choose_each(sweep *s, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        sweep_problem *p = &s->problems[i];
        if (p->skip)
            continue;
        ASSAY_TRY(assay__sweep_choose(s, p));
        if (!assay__sweep_has_time(s, p))
            p->wanted = 0;
        plan_stays(s, p, ASSAY__STAY_VISIT, visits_ahead(s, p));
    }
    return ASSAY_OK;
}

/* A budget that does not suffice decides by what there is. */
static void drop_doubts(sweep *s, size_t begin, size_t end)
{
    size_t stays = 0;

    for (size_t i = begin; i < end; i++)
        stays += s->problems[i].skip ? 0 : s->problems[i].planned[ASSAY__STAY_VISIT];
    if (assay__sweep_affords(s, stays))
        return;
    assay__sweep_warn(s, "the budget leaves no time for more visits of the problems in doubt");
    (void)want(s, begin, end, 0);
}

/* All problems get their visits; those whose choice is still open get more. */
static assay_status measure(sweep *s, size_t begin, size_t end)
{
    size_t to = want(s, begin, end, s->o->profile->visits);

    ASSAY_TRY(each_visit(s, begin, end, "measure", 0, to));
    ASSAY_TRY(assay__sweep_learn_floor(s, begin, end));
    ASSAY_TRY(choose_each(s, begin, end));
    for (size_t from = to; most_wanted(s, begin, end) > from; from = to) {
        drop_doubts(s, begin, end);
        to = most_wanted(s, begin, end);
        if (to == 0)
            break;
        ASSAY_TRY(each_visit(s, begin, end, "measure", from, to));
        ASSAY_TRY(choose_each(s, begin, end));
    }
    return ASSAY_OK;
}

/* Likewise, until fresh visits say whether the chosen is faster than the default. */
static assay_status confirm(sweep *s, size_t begin, size_t end)
{
    size_t to = want(s, begin, end, s->o->profile->confirms);

    for (size_t from = 0; to > from; to = most_wanted(s, begin, end)) {
        for (size_t i = begin; i < end; i++)
            if (!s->problems[i].skip)
                plan_stays(s, &s->problems[i], ASSAY__STAY_VISIT, confirms_ahead(&s->problems[i]));
        if (from > 0)
            drop_doubts(s, begin, end);
        ASSAY_TRY(each_visit(s, begin, end, "confirm", from, to));
        for (size_t i = begin; i < end; i++)
            if (!s->problems[i].skip && assay__sweep_has_time(s, &s->problems[i]))
                ASSAY_TRY(assay__sweep_doubt(s, &s->problems[i]));
            else
                s->problems[i].wanted = 0;
        from = to;
    }
    return ASSAY_OK;
}

/* Screening shows how fast this machine is today: the group may end sooner than was thought. */
static assay_status screen_group(sweep *s, size_t begin, size_t *end)
{
    assay_status status = ASSAY_OK;

    for (size_t i = begin; status == ASSAY_OK && i < *end; i++) {
        size_t now;
        if (s->problems[i].skip)
            continue;
        status = assay__sweep_check_stop(s);
        if (status == ASSAY_OK)
            status = screen(s, &s->problems[i]);
        now = assay__sweep_group_end(s, begin);
        if (now < *end)
            *end = now > i + 1 ? now : i + 1;
    }
    return status;
}

/* Problems from `begin` on; *end: behind the last of them. */
static assay_status run_group(sweep *s, size_t begin, size_t *group_end)
{
    size_t end;
    assay_status status = screen_group(s, begin, group_end);

    end = *group_end;
    if (status == ASSAY_OK)
        status = measure(s, begin, end);
    if (status == ASSAY_OK)
        status = confirm(s, begin, end);
    for (size_t i = begin; status == ASSAY_OK && i < end; i++)
        status = assay__sweep_count(s, &s->problems[i]);
    for (size_t i = begin; status == ASSAY_OK && i < end; i++) {
        if (s->problems[i].skip)
            continue;
        status = assay__sweep_publish(s, &s->problems[i]);
        plan_stays(s, &s->problems[i], ASSAY__STAY_VISIT, 0);
        s->progress.problems_done++;
    }
    for (size_t i = begin; i < end; i++) {
        s->summary->compare_s += s->problems[i].compare_s;
        assay__sweep_release(&s->problems[i]);
        if (assay__sweep_rest(&s->problems[i]) != ASSAY_OK && status == ASSAY_OK)
            status = ASSAY_NOMEM;
    }
    assay__sweep_empty_arena(s);
    return status;
}

/* ---- the whole ---- */

static size_t problems_left(const sweep *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->problem_count; i++)
        n += !s->problems[i].skip;
    return n;
}

/* How long a call takes at least is known with the peaks; the others go on. */
static void leave_too_long(sweep *s)
{
    char reason[200];

    for (size_t i = 0; i < s->problem_count; i++) {
        sweep_problem *p = &s->problems[i];
        if (p->skip || !assay__sweep_too_long(s, p, reason, sizeof reason))
            continue;
        p->skip = true;
        assay__sweep_warn(s, "skipped: %s: %s", p->text, reason);
        s->summary->skipped_problems++;
    }
}

static void count_steps(sweep *s)
{
    const assay__profile *f = s->o->profile;

    for (size_t i = 0; i < s->problem_count; i++) {
        sweep_problem *p = &s->problems[i];
        if (p->skip)
            continue;
        s->summary->problems++;
        s->summary->variants += p->count;
        plan_stays(s, p, ASSAY__STAY_SCREEN, p->count);
        plan_stays(s, p, ASSAY__STAY_VISIT, assay__pace_visits(p->count, f->visits, f->confirms));
    }
    s->progress.problems_total = s->summary->problems;
}

/* Of each problem what is planned, with what the store knows; its candidates come again when it is
 * its turn. */
static assay_status recall_one(sweep *s, sweep_problem *p)
{
    char reason[200];

    ASSAY_TRY(assay__sweep_gather(s, p));
    if (p->count == 0) {
        assay__sweep_warn(s, "skipped: no kernel can run %s here", p->text);
        s->summary->skipped_problems++;
        return ASSAY_OK;
    }
    ASSAY_TRY(assay__sweep_recall(s, p));
    if (p->skip) {
        s->summary->resumed_problems++;
    } else if (assay__sweep_too_large(s, p, reason, sizeof reason)) {
        assay__sweep_warn(s, "skipped: %s: %s", p->text, reason);
        p->skip = true;
        s->summary->skipped_problems++;
    }
    return s->o->dry_run ? ASSAY_OK : assay__sweep_exhaust_add(s, p);
}

static assay_status recall_all(sweep *s)
{
    for (size_t i = 0; i < s->problem_count; i++) {
        ASSAY_TRY(recall_one(s, &s->problems[i]));
        ASSAY_TRY(assay__sweep_rest(&s->problems[i]));
    }
    assay__worker_stop(&s->asker);
    return s->o->budget_s > 0 ? assay__sweep_order(s) : ASSAY_OK;
}

static void waiting(void *cookie, long pid)
{
    if (pid == 0)
        assay__sweep_warn(cookie, "waiting for another process, which measures here");
    else
        assay__sweep_warn(cookie, "waiting for process %ld, which measures this device", pid);
}

static assay_status run_groups(sweep *s)
{
    assay_status status = assay__sweep_peaks(s);

    if (status == ASSAY_OK)
        status = assay__sweep_find_counters(s);
    if (status == ASSAY_OK) {
        leave_too_long(s);
        count_steps(s);
    }
    for (size_t begin = 0; status == ASSAY_OK && begin < s->problem_count;) {
        size_t end = assay__sweep_group_end(s, begin);
        status = run_group(s, begin, &end);
        begin = end;
    }
    return status;
}

static assay_status run(sweep *s)
{
    char lock_name[160];
    assay_status status;
    size_t pending = 0;
    int lock = -1;

    ASSAY_TRY(assay__sweep_setup(s));
    ASSAY_TRY(recall_all(s));
    if (s->o->dry_run) {
        count_steps(s);
        return assay__db_end_sweep(s->db, s->sweep_row, "done", s->aa_floor);
    }
    ASSAY_TRY(assay__sweep_exhaust_plan(s, &pending));
    if (problems_left(s) == 0 && pending == 0)
        return assay__db_end_sweep(s->db, s->sweep_row, "done", s->aa_floor);
    (void)snprintf(lock_name, sizeof lock_name, "%s", s->deployment.device);
    ASSAY_TRY(assay__device_lock(lock_name, s->o->no_wait, s->o->stop, waiting, s, &lock));
    s->begin_s = s->step_s = assay__sweep_now_s();
    status = assay__sweep_exhaust(s);
    if (status == ASSAY_OK && problems_left(s) > 0)
        status = run_groups(s);
    assay__device_unlock(&lock);
    (void)snprintf(s->summary->stop_reason, sizeof s->summary->stop_reason, "%s",
                   status == ASSAY_OK            ? "done"
                   : status == ASSAY_TIMEOUT     ? "budget"
                   : status == ASSAY_INTERRUPTED ? "interrupted"
                                                 : "failed");
    if (status == ASSAY_TIMEOUT)
        status = ASSAY_OK;
    s->summary->elapsed_s = assay__sweep_now_s() - s->begin_s;
    const double stays_s =
        s->summary->elapsed_s - s->summary->oracle_s - s->summary->compare_s - s->summary->peaks_s;
    s->summary->timed_share = s->timed_ns * 1e-9 / stays_s;
    s->summary->checked_share = s->checked_s / stays_s;
    /* An error that ended the sweep matters more than one in closing its row. */
    if (assay__db_end_sweep(s->db, s->sweep_row, s->summary->stop_reason, s->aa_floor) != ASSAY_OK)
        return status != ASSAY_OK ? status : ASSAY_DB;
    return status;
}

assay_status assay__sweep_run(const assay__sweep_options *options, assay__sweep_summary *out)
{
    sweep s;
    assay_status status;

    memset(&s, 0, sizeof s);
    s.arena_fd = -1;
    s.aa_floor = NAN;
    memset(out, 0, sizeof *out);
    out->aa_floor = NAN;
    (void)snprintf(out->stop_reason, sizeof out->stop_reason, "done");
    s.o = options;
    s.summary = out;
    s.begin_s = assay__sweep_now_s();
    status = run(&s);
    assay__sweep_teardown(&s);
    return status;
}
