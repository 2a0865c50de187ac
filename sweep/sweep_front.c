/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_front.c -- who is the fastest at a smaller error: the winners of stricter questions.
 *
 * A sweep looks for the fastest variant, but the picker is also asked for the fastest one within an
 * error.  Without these the answer would be the default, as the only one beside the winner that
 * outlived the screening. */
#include <math.h>

#include "sweep/sweep_internal.h"

/* The fastest of all, and two more levels: each costs the visits of a variant. */
#define FRONT_LEVELS 3
/* A level is worth its visits when it halves the error; correctly rounded (0) always does. */
#define WORTH 0.5

double assay__sweep_error(const sweep_problem *p, const sweep_candidate *c)
{
    bool by_rho = assay_op_get((assay_op_id)p->problem.op)->bound_rule == ASSAY_BOUND_SUM;

    return by_rho ? c->max_rho : c->max_ulp;
}

double assay__sweep_log_time(const sweep_candidate *c)
{
    double sum = 0.0;

    if (c->visit_count == 0)
        return c->screen_ns > 0 ? log(c->screen_ns) : (double)NAN;
    for (size_t v = 0; v < c->visit_count; v++)
        sum += log(c->visit_ns[v]);
    return sum / (double)c->visit_count;
}

static sweep_candidate *fastest_within(sweep_problem *p, double error)
{
    sweep_candidate *best = NULL;

    for (size_t i = 0; i < p->count; i++) {
        sweep_candidate *c = &p->candidates[i];
        if (c->out || c->verdict != ASSAY__VERDICT_OK || !assay__sweep_is_safe(c) ||
            isnan(assay__sweep_log_time(c)) || !(assay__sweep_error(p, c) <= error))
            continue;
        if (best == NULL || assay__sweep_log_time(c) < assay__sweep_log_time(best))
            best = c;
    }
    return best;
}

void assay__sweep_mark_front(sweep_problem *p)
{
    sweep_candidate *front[FRONT_LEVELS], *c;
    size_t levels = 0;
    double limit = INFINITY;

    for (size_t i = 0; i < p->count; i++)
        p->candidates[i].on_front = false;
    while ((c = fastest_within(p, limit)) != NULL) {
        /* Where there are more levels than places, the last is for the most exact. */
        front[levels < FRONT_LEVELS ? levels++ : FRONT_LEVELS - 1] = c;
        if (!(assay__sweep_error(p, c) > 0.0))
            break;
        limit = WORTH * assay__sweep_error(p, c);
    }
    for (size_t i = 0; i < levels; i++)
        front[i]->on_front = true;
}
