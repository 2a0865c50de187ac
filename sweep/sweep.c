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

uint64_t assay__sweep_draw(const sweep *s, const char *format, ...)
{
    char name[ASSAY_PROBLEM_TEXT_MAX + 640];
    assay__rng rng;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(name, sizeof name, format, args);
    va_end(args);
    assay__rng_seed_named(&rng, s->o->seed, name);
    return assay__rng_bits(&rng);
}

/* ---- groups ---- */

static bool over_budget(const sweep *s)
{
    return s->o->budget_s > 0 && assay__sweep_now_s(s) - s->begin_s > s->o->budget_s;
}

assay_status assay__sweep_check_stop(const sweep *s)
{
    if (s->o->stop != NULL && *s->o->stop)
        return assay__fail(ASSAY_INTERRUPTED, "interrupted");
    return over_budget(s) ? assay__fail(ASSAY_TIMEOUT, "budget spent") : ASSAY_OK;
}

static assay_status screen(sweep *s, sweep_problem *p)
{
    double begin = assay__sweep_now_s(s);

    ASSAY_TRY(assay__sweep_wake(s, p));
    s->step_s = begin;
    ASSAY_TRY(assay__sweep_inputs(s, p));
    assay__sweep_expected(s, p);
    s->summary->oracle_s += assay__sweep_now_s(s) - begin;
    ASSAY_TRY(assay__sweep_weigh(s, p));
    ASSAY_TRY(assay__sweep_visit(s, p, "screen", 0));
    if (p->skip)
        return ASSAY_OK;
    assay__sweep_prune(s, p);
    if (p->is_heavy)
        ASSAY_TRY(assay__sweep_afford(s, p));
    assay__sweep_thin(p);
    return assay__sweep_screened(s, p);
}

static assay_status visit(sweep *s, sweep_problem *p, const char *kind, size_t ordinal)
{
    s->step_s = assay__sweep_now_s(s);
    ASSAY_TRY(assay__sweep_visit(s, p, kind, ordinal));
    if (strcmp(kind, "measure") != 0 || p->skip)
        return ASSAY_OK;
    ASSAY_TRY(assay__sweep_race(p));
    assay__sweep_plan_visits(s, p);
    return ASSAY_OK;
}

typedef struct turn {
    uint64_t key;
    size_t index;
} turn;

static int by_key(const void *a, const void *b)
{
    const turn *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Those that want the visit, in an order of its own. */
static size_t turns_of(const sweep *s, size_t begin, size_t end, const char *kind, size_t ordinal,
                       turn *out)
{
    size_t n = 0;

    for (size_t i = begin; i < end; i++) {
        const sweep_problem *p = &s->problems[i];
        if (!p->skip && ordinal < p->wanted)
            out[n++] = (turn){assay__sweep_draw(s, "turn %s %zu %s", kind, ordinal, p->text), i};
    }
    qsort(out, n, sizeof *out, by_key);
    return n;
}

/* Visits from..to-1, as far as a problem wants them: all problems once, then all again in another
 * order.  Whether the sweep is to end is asked before each stay, and there alone: of a group whose
 * stays are all made nothing is lost. */
static assay_status each_visit(sweep *s, size_t begin, size_t end, const char *kind, size_t from,
                               size_t to)
{
    turn *order = calloc(end - begin + 1, sizeof *order);
    assay_status status = ASSAY_OK;

    if (order == NULL)
        return assay__fail(ASSAY_NOMEM, "visit order");
    for (size_t v = from; status == ASSAY_OK && v < to; v++) {
        const size_t n = turns_of(s, begin, end, kind, v, order);
        for (size_t i = 0; status == ASSAY_OK && i < n; i++)
            status = visit(s, &s->problems[order[i].index], kind, v);
        assay__sweep_end_round(s);
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
        assay__sweep_plan_visits(s, p);
    }
    return ASSAY_OK;
}

/* A budget that does not suffice decides by what there is. */
static void drop_doubts(sweep *s, size_t begin, size_t end, size_t from)
{
    if (assay__sweep_affords(s, assay__sweep_doubted_stays(s, begin, end, from)))
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
        drop_doubts(s, begin, end, from);
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
                assay__sweep_plan_confirms(s, &s->problems[i]);
        if (from > 0)
            drop_doubts(s, begin, end, from);
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
    assay__sweep_end_round(s);
    return status;
}

/* At once, so that what the sweep takes does not grow while the group is screened. */
static assay_status wake_group(sweep *s, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (!s->problems[i].skip)
            ASSAY_TRY(assay__sweep_wake(s, &s->problems[i]));
    return ASSAY_OK;
}

static assay_status rest_group(sweep *s, size_t begin, size_t end)
{
    assay_status status = ASSAY_OK;

    for (size_t i = begin; i < end; i++) {
        const assay_status one = assay__sweep_rest(&s->problems[i]);
        status = status != ASSAY_OK ? status : one;
    }
    return status;
}

/* Problems from `begin` on; *end: behind the last of them. */
static assay_status run_group(sweep *s, size_t begin, size_t *group_end)
{
    const size_t planned_end = *group_end;
    size_t end;
    assay_status status = wake_group(s, begin, planned_end);

    if (status == ASSAY_OK)
        status = screen_group(s, begin, group_end);
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
        assay__sweep_plan_nothing(s, &s->problems[i]);
        s->progress.problems_done++;
    }
    for (size_t i = begin; i < end; i++) {
        assay__sweep_tell_fates(s, &s->problems[i]);
        s->summary->compare_s += s->problems[i].compare_s;
        assay__sweep_release(&s->problems[i]);
    }
    const assay_status rested = rest_group(s, begin, planned_end);
    status = status != ASSAY_OK ? status : rested;
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

static assay_status count_steps(sweep *s)
{
    for (size_t i = 0; i < s->problem_count; i++) {
        sweep_problem *p = &s->problems[i];
        if (p->skip)
            continue;
        s->summary->problems++;
        s->summary->variants += assay__sweep_tried(p);
    }
    s->progress.problems_total = s->summary->problems;
    return assay__sweep_plan(s);
}

/* What has no room for all its input sets is checked on one of them: that is less than a check, and
 * more than no measurement.  Its evidence says of how many elements it is. */
static bool fits(sweep *s, sweep_problem *p, char *reason, size_t cap)
{
    if (!assay__sweep_too_large(s, p, reason, cap))
        return true;
    p->is_lean = true;
    if (assay__sweep_too_large(s, p, reason, cap))
        return false;
    assay__sweep_warn(s, "checked on one input set, as more do not fit into memory: %s", p->text);
    return true;
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
    } else if (!fits(s, p, reason, sizeof reason)) {
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
    if (s->o->budget_s > 0 || s->o->evaluations > 0)
        ASSAY_TRY(assay__sweep_order(s));
    return ASSAY_OK;
}

/* What is known of the machine says what lies ahead. */
static assay_status prepare(sweep *s)
{
    leave_too_long(s);
    assay__sweep_ration(s);
    ASSAY_TRY(assay__sweep_prior(s));
    return count_steps(s);
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
        status = assay__sweep_transfers(s);
    if (status == ASSAY_OK)
        status = assay__sweep_find_counters(s);
    if (status == ASSAY_OK)
        status = prepare(s);
    for (size_t begin = 0; status == ASSAY_OK && begin < s->problem_count;) {
        size_t end = assay__sweep_group_end(s, begin);
        status = run_group(s, begin, &end);
        begin = end;
    }
    return status;
}

/* The lock of the device and the peaks are for those who measure. */
static assay_status end_idle(sweep *s)
{
    assay__sweep_ration(s);
    if (s->is_truncated)
        (void)snprintf(s->summary->stop_reason, sizeof s->summary->stop_reason, "%s",
                       SWEEP_BY_EVALUATIONS);
    return assay__db_end_sweep(s->db, s->sweep_row, s->summary->stop_reason, s->aa_floor);
}

static assay_status run(sweep *s)
{
    assay_status status;
    size_t pending = 0;
    int lock = -1;

    ASSAY_TRY(assay__sweep_setup(s));
    if (s->summary->is_absent)
        return ASSAY_OK;
    ASSAY_TRY(recall_all(s));
    if (s->o->dry_run) {
        ASSAY_TRY(assay__sweep_peaks_known(s));
        ASSAY_TRY(prepare(s));
        ASSAY_TRY(assay__sweep_forecast(s));
        return assay__db_end_sweep(s->db, s->sweep_row, "done", s->aa_floor);
    }
    ASSAY_TRY(assay__sweep_exhaust_plan(s, &pending));
    if (!assay__sweep_has_work(s) && pending == 0)
        return end_idle(s);
    ASSAY_TRY(assay__device_lock(s->lock_name, s->o->no_wait, s->o->stop, waiting, s, &lock));
    s->begin_s = s->step_s = assay__sweep_now_s(s);
    status = assay__sweep_exhaust(s);
    if (status == ASSAY_OK && problems_left(s) > 0)
        status = run_groups(s);
    assay__device_unlock(&lock);
    (void)snprintf(s->summary->stop_reason, sizeof s->summary->stop_reason, "%s",
                   status == ASSAY_OK            ? s->is_truncated ? SWEEP_BY_EVALUATIONS : "done"
                   : status == ASSAY_TIMEOUT     ? "budget"
                   : status == ASSAY_INTERRUPTED ? "interrupted"
                                                 : "failed");
    if (status == ASSAY_TIMEOUT)
        status = ASSAY_OK;
    s->summary->elapsed_s = assay__sweep_now_s(s) - s->begin_s;
    s->summary->undecided += s->summary->problems - s->progress.problems_done;
    const double stays_s =
        s->summary->elapsed_s - s->summary->oracle_s - s->summary->compare_s - s->summary->peaks_s;
    s->summary->timed_share = s->timed_ns * 1e-9 / stays_s;
    s->summary->checked_share = s->checked_s / stays_s;
    s->summary->around_share = s->around_s / stays_s;
    s->summary->starts_share = s->starts_s / stays_s;
    for (int i = 0; i < ASSAY__PHASES; i++)
        s->summary->phase_share[i] = s->phase_s[i] / stays_s;
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
    out->aa_floor = out->lo_s = out->hi_s = NAN;
    (void)snprintf(out->stop_reason, sizeof out->stop_reason, "done");
    s.own = *options;
    s.o = &s.own;
    s.summary = out;
    s.begin_s = assay__sweep_now_s(&s);
    status = run(&s);
    assay__sweep_teardown(&s);
    return status;
}
