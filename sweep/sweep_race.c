/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_race.c -- who is far behind stops early, so that the visits go to those in question.
 *
 * Nothing here chooses a winner: what is left decides by its intervals, and the chosen is confirmed
 * by fresh visits. */
#include <math.h>
#include <stdio.h>

#include "runtime/error.h"
#include "sweep/sweep_internal.h"

/* The best is faster by this in each of so many visits, the screening one among them until there
 * are three.  One visit in ten is off by more than the last, so that of the variants which are as
 * fast as the best one in a thousand is lost, and of those that are faster by it none. */
static const double behind_after[] = {INFINITY, 1.5, 1.25, 1.1};
#define RACE_VISITS 3

static bool is_in(const sweep_candidate *c)
{
    return !c->out && c->verdict == ASSAY__VERDICT_OK;
}

static bool may_drop(const sweep_candidate *c)
{
    return is_in(c) && !c->is_default && !c->is_incumbent && !c->on_front;
}

/* Variants far behind in the screening visit stop there; default, incumbent and the fastest at a
 * smaller error never do. */
void assay__sweep_prune(const sweep *s, sweep_problem *p)
{
    double best = INFINITY;

    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (!c->out && assay__sweep_is_safe(c) && c->screen_ns > 0 && c->screen_ns < best)
            best = c->screen_ns;
    }
    assay__sweep_mark_front(p);
    for (size_t i = 0; i < p->count; i++) {
        sweep_candidate *c = &p->candidates[i];
        if (!may_drop(c) || !(c->screen_ns > best * s->o->profile->prune))
            continue;
        c->out = true;
        c->time_ns = c->screen_ns;
        (void)snprintf(c->reason, sizeof c->reason, "%.2f times the best in the screening visit",
                       c->screen_ns / best);
    }
}

static double mean_log(const sweep_candidate *c, size_t visits)
{
    double sum = 0.0;

    for (size_t v = 0; v < visits; v++)
        sum += log(c->visit_ns[v]);
    return sum / (double)visits;
}

/* The fastest over its first `visits`; NULL: nobody has so many. */
static const sweep_candidate *leader_of(const sweep_problem *p, size_t visits)
{
    const sweep_candidate *best = NULL;

    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (is_in(c) && assay__sweep_is_safe(c) && c->visit_count >= visits &&
            (best == NULL || mean_log(c, visits) < mean_log(best, visits)))
            best = c;
    }
    return best;
}

/* How far it is behind in the visit that shows it nearest; 0 where a screening visit that has to
 * count is not there for both. */
static double least_behind(const sweep_candidate *c, const sweep_candidate *leader, size_t visits)
{
    double least = INFINITY;

    if (visits < RACE_VISITS && !(c->screen_ns > 0 && leader->screen_ns > 0))
        return 0;
    if (visits < RACE_VISITS)
        least = c->screen_ns / leader->screen_ns;
    for (size_t v = 0; v < visits; v++)
        least = fmin(least, c->visit_ns[v] / leader->visit_ns[v]);
    return least;
}

static assay_status drop(sweep_candidate *c, size_t visits, double behind)
{
    c->out = true;
    (void)snprintf(c->reason, sizeof c->reason,
                   "at least %.2f times the best in each of %zu visit%s", behind, visits,
                   visits == 1 ? "" : "s");
    return assay__sweep_interval(c->visit_ns, c->visit_count, &c->time_ns, &c->lo_ns, &c->hi_ns);
}

/* What a resumed sweep finds is judged visit by visit as it was then: whoever was dropped is
 * dropped again, and makes no visits without its rivals. */
assay_status assay__sweep_race(sweep_problem *p)
{
    const sweep_candidate *leader;

    assay__sweep_mark_front(p);
    for (size_t visits = 1; (leader = leader_of(p, visits)) != NULL; visits++)
        for (size_t i = 0; i < p->count; i++) {
            sweep_candidate *c = &p->candidates[i];
            if (!may_drop(c) || c == leader || c->visit_count < visits)
                continue;
            const double behind = least_behind(c, leader, visits);
            if (behind > behind_after[visits < RACE_VISITS ? visits : RACE_VISITS])
                ASSAY_TRY(drop(c, visits, behind));
        }
    return ASSAY_OK;
}
