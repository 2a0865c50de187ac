/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_route.c -- the route of a problem: today's candidates, and what is known of others.
 *
 * A sweep of a part of the kernels must not make the answer worse: what earlier sweeps know of the
 * rest goes on to serve. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "sweep/sweep_internal.h"

static assay__route_candidate record_of(const sweep_candidate *c)
{
    return (assay__route_candidate){
        .revision_row = (uint64_t)c->revision_row,
        .measurement = (uint64_t)c->measurement_row,
        .accuracy = (uint64_t)c->accuracy_row,
        .time_ns = c->time_ns,
        .lo_ns = c->lo_ns,
        .hi_ns = c->hi_ns,
        .ratio = c->is_default ? 1.0 : c->ratio,
        .ratio_lo = c->is_default ? 1.0 : c->ratio_lo,
        .ratio_hi = c->is_default ? 1.0 : c->ratio_hi,
        .max_ulp = c->max_ulp,
        .max_rho = c->max_rho,
        .max_rel = c->max_rel,
        .max_abs = c->max_abs,
        .proof = (uint8_t)c->proof,
        .stability = (uint8_t)assay__sweep_stability(c),
        .verdict = (uint8_t)c->verdict,
        .tied = c->tied ? 1 : 0,
        .noise = (uint16_t)c->noise,
        .ratio_level = assay__ratio_level_pack(c->is_default ? (double)NAN : c->ratio_level),
        .quarantined = c->verdict == ASSAY__VERDICT_CRASHED ||
                       c->verdict == ASSAY__VERDICT_TIMEOUT || !assay__sweep_is_safe(c)};
}

static bool is_same_kernel(const sweep_kernel *k, const assay__db_variant *v)
{
    char dtypes[128];

    assay__sweep_dtypes(k->desc, dtypes, sizeof dtypes);
    return strcmp(k->desc->name, v->kernel) == 0 && strcmp(k->manifest->name, v->backend) == 0 &&
           strcmp(assay_op_get(k->desc->op)->name, v->op) == 0 && strcmp(dtypes, v->dtypes) == 0;
}

/* False: its code is another by now.  Of a kernel that is not here today nothing new is known. */
static assay_status holds_still(sweep *s, uint64_t revision_row, bool *out)
{
    assay__db_variant v;
    int found = 0;

    ASSAY_TRY(assay__db_find_variant(s->db, (int64_t)revision_row, &found, &v));
    *out = found != 0;
    for (size_t i = 0; found && i < s->kernel_count; i++)
        if (s->kernels[i].available && is_same_kernel(&s->kernels[i], &v))
            *out = assay_digest_equal(&s->kernels[i].revision, &v.kernel_revision);
    return ASSAY_OK;
}

static bool is_candidate(const sweep_problem *p, uint64_t revision_row)
{
    for (size_t i = 0; i < p->count; i++)
        if ((uint64_t)p->candidates[i].revision_row == revision_row)
            return true;
    return false;
}

/* Appends what the current route knows of others.  Their ratios were paired with the default of
 * another sweep: only their times still say something. */
static assay_status keep_others(sweep *s, const sweep_problem *p, assay__db_route *row,
                                assay__route_candidate *records)
{
    assay__route_candidate *old = NULL;
    size_t count = 0;
    assay_status status = assay__db_route_candidates(s->db, row, &old, &count);

    for (size_t i = 0; status == ASSAY_OK && i < count; i++) {
        bool holds = false;
        if (row->candidate_count >= SWEEP_MAX_RECORDS || is_candidate(p, old[i].revision_row))
            continue;
        status = holds_still(s, old[i].revision_row, &holds);
        if (status != ASSAY_OK || !holds)
            continue;
        old[i].ratio = old[i].ratio_lo = old[i].ratio_hi = NAN;
        old[i].ratio_level = 0;
        old[i].tied = 0;
        records[row->candidate_count++] = old[i];
    }
    free(old);
    return status;
}

/* A published winner that took no part today stays, unless today's is faster beyond doubt. */
static assay_status keep_winner(sweep *s, const sweep_candidate *today, size_t today_count,
                                assay__db_route *row)
{
    assay__db_known_route known;

    ASSAY_TRY(assay__db_find_route(s->db, row, &known));
    for (size_t i = today_count; known.found && i < row->candidate_count; i++)
        if ((int64_t)row->candidates[i].revision_row == known.winner_revision &&
            !(today->hi_ns < row->candidates[i].lo_ns))
            row->winner_revision = known.winner_revision;
    return ASSAY_OK;
}

static assay_status fill(sweep *s, sweep_problem *p, size_t winner, assay__db_route *row,
                         assay__route_candidate *records)
{
    for (size_t i = 0; i < p->count; i++)
        records[i] = record_of(&p->candidates[i]);
    ASSAY_TRY(keep_others(s, p, row, records));
    ASSAY_TRY(keep_winner(s, &p->candidates[winner], p->count, row));
    row->total += (int64_t)(row->candidate_count - p->count);
    row->searched += (int64_t)(row->candidate_count - p->count);
    return assay__db_put_route(s->db, row);
}

static const char *stop_reason_of(const sweep_problem *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->candidates[i].by_evaluations)
            return SWEEP_BY_EVALUATIONS;
    return assay__sweep_searched(p) < p->count ? "problem budget" : "done";
}

assay_status assay__sweep_put_route(sweep *s, sweep_problem *p, size_t winner)
{
    assay__route_candidate *records = calloc(SWEEP_MAX_RECORDS, sizeof *records);
    char policy[48];
    assay__db_route row = {.sweep = s->sweep_row,
                           .deployment = s->deployment_row,
                           .problem = p->row,
                           .winner_revision = p->candidates[winner].revision_row,
                           .layout = p->layout,
                           .policy = policy,
                           .align = s->o->align,
                           .candidates = records,
                           .candidate_count = p->count,
                           .searched = (int64_t)assay__sweep_searched(p),
                           .total = (int64_t)p->total,
                           .stop_reason = stop_reason_of(p)};
    assay_status status;

    if (records == NULL)
        return assay__fail(ASSAY_NOMEM, "route");
    (void)assay_policy_format(s->o->policy, policy, sizeof policy);
    status = fill(s, p, winner, &row, records);
    free(records);
    return status;
}
