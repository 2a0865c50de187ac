/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_store.c -- measurement rows, and what a sweep recalls from the store. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/noise_words.h"
#include "sweep/sweep_internal.h"
#include "tuner/stats.h"

assay_status assay__sweep_put_measurement(sweep *s, sweep_problem *p, sweep_candidate *c)
{
    char policy[48], flags[80], reason[sizeof c->reason + 208];
    size_t visits = c->visit_count + c->confirm_count + (c->screen_ns > 0 ? 1u : 0u);
    assay__db_measurement row = {.sweep = s->sweep_row,
                                 .revision = c->revision_row,
                                 .deployment = s->deployment_row,
                                 .problem = p->row,
                                 .layout = p->layout,
                                 .policy = policy,
                                 .align = s->o->align,
                                 .verdict = c->verdict,
                                 .reason = reason,
                                 .median_ns = c->time_ns,
                                 .lo_ns = c->lo_ns,
                                 .hi_ns = c->hi_ns,
                                 .min_ns = c->min_ns,
                                 .mad_ns = NAN,
                                 .ratio = c->ratio,
                                 .ratio_lo = c->ratio_lo,
                                 .ratio_hi = c->ratio_hi,
                                 .ratio_level = c->ratio_level,
                                 .samples = (int64_t)c->sample_count,
                                 .visits = (int64_t)visits,
                                 .rejected_samples = (int64_t)c->rejected,
                                 .stop_reason = assay__sweep_stop_word(s, c),
                                 .flags = flags,
                                 .output_digest = c->digest};

    assay__sweep_reason(c, reason, sizeof reason);
    (void)assay_policy_format(s->o->policy, policy, sizeof policy);
    (void)assay__noise_words(c->noise, flags, sizeof flags);
    if (c->visit_count > 1)
        (void)assay__stats_mad(c->visit_ns, c->visit_count, &row.mad_ns);
    ASSAY_TRY(assay__db_put_measurement(s->db, &row, &c->measurement_row));
    /* Wrong once is wrong for this revision, in older routes too: a later run that happens to be
     * right proves nothing. */
    if (c->verdict != ASSAY__VERDICT_WRONG)
        return ASSAY_OK;
    return assay__db_put_quarantine(s->db, c->revision_row, s->deployment_row, p->row, c->reason);
}

/* ---- recall ---- */

/* What put it there: the verdict of the same question, else a check of it that was not passed. */
static assay_status recall_verdict(sweep *s, sweep_problem *p, sweep_candidate *c,
                                   const char *policy)
{
    assay__db_measurement row;
    assay__db_accuracy check;
    int found = 0;
    int64_t id = 0;

    c->verdict = ASSAY__VERDICT_CRASHED;
    ASSAY_TRY(assay__db_find_measurement(s->db, c->revision_row, s->deployment_row, p->row,
                                         p->layout, s->o->align, policy, &found, &row, &id));
    if (found && (row.verdict == ASSAY__VERDICT_WRONG || row.verdict == ASSAY__VERDICT_TIMEOUT))
        c->verdict = row.verdict;
    if (found)
        return ASSAY_OK;
    ASSAY_TRY(assay__db_find_accuracy(s->db, c->revision_row, s->deployment_row, p->row, &found,
                                      &check, &id));
    if (found && !check.passed)
        c->verdict = ASSAY__VERDICT_WRONG;
    return ASSAY_OK;
}

static assay_status recall_quarantine(sweep *s, sweep_problem *p, sweep_candidate *c,
                                      const char *policy, bool counts)
{
    int found = 0;

    ASSAY_TRY(assay__db_find_quarantine(s->db, c->revision_row, s->deployment_row, p->row, &found,
                                        c->reason, sizeof c->reason));
    if (!found)
        return ASSAY_OK;
    if (s->o->retry != NULL && assay__sweep_is_tried(s, &c->revision, &p->problem)) {
        c->on_trial = true;
        c->reason[0] = '\0';
        return ASSAY_OK;
    }
    c->out = c->recalled = true;
    s->summary->quarantined += counts;
    return recall_verdict(s, p, c, policy);
}

/* Of what a finished route says of a candidate.  Those that the time of the problem left out took
 * part as well, unless it has more today; so did those that the evaluations did not reach, which
 * are dealt out when all problems are known.  Those that the clock left no time get another chance.
 */
static bool took_part(sweep_problem *p, sweep_candidate *c, const assay__route_candidate *record,
                      const assay__db_known_route *route, bool has_more)
{
    c->seen_ns = record->time_ns > 0 ? record->time_ns : 0;
    if (record->verdict != ASSAY__VERDICT_NONE) {
        c->was_searched = true;
        return record->verdict != ASSAY__VERDICT_THROTTLED;
    }
    if (strcmp(route->stop_reason, SWEEP_BY_EVALUATIONS) == 0)
        return p->is_published = true;
    c->was_searched = !has_more;
    return !has_more;
}

/* Who failed, and was let out of quarantine since, is to be measured. */
static assay_status was_lifted(sweep *s, const sweep_problem *p,
                               const assay__route_candidate *record, bool *lifted)
{
    int found = 1;
    char reason[8];

    if (record->verdict == ASSAY__VERDICT_CRASHED || record->verdict == ASSAY__VERDICT_TIMEOUT)
        ASSAY_TRY(assay__db_find_quarantine(s->db, (int64_t)record->revision_row, s->deployment_row,
                                            p->row, &found, reason, sizeof reason));
    *lifted = !found;
    return ASSAY_OK;
}

/* Finished: the same profile published a route in which every candidate of today took part. */
static assay_status is_finished(sweep *s, sweep_problem *p, const char *policy, bool *finished)
{
    const assay__db_route key = {.deployment = s->deployment_row,
                                 .problem = p->row,
                                 .layout = p->layout,
                                 .align = s->o->align,
                                 .policy = policy};
    assay__route_candidate *records = NULL;
    size_t count = 0, known = 0;
    assay__db_known_route route;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__db_find_route(s->db, &key, &route));
    if (!route.found || strcmp(route.profile, s->o->profile->name) != 0)
        return ASSAY_OK;
    const bool has_more = !(route.problem_s >= assay__sweep_problem_s(s));
    ASSAY_TRY(assay__db_route_candidates(s->db, &key, &records, &count));
    for (size_t i = 0; status == ASSAY_OK && i < p->count; i++)
        for (size_t r = 0; r < count; r++)
            if (records[r].revision_row == (uint64_t)p->candidates[i].revision_row) {
                bool lifted = false;
                status = was_lifted(s, p, &records[r], &lifted);
                known += took_part(p, &p->candidates[i], &records[r], &route, has_more) && !lifted;
                break;
            }
    free(records);
    *finished = known == p->count && !p->is_published;
    p->is_published = p->is_published && known == p->count;
    return status;
}

/* Newest medians last; only as many as the profile may ask for are kept. */
static void keep_last(double *values, size_t *count, size_t limit, double value)
{
    if (*count == limit) {
        memmove(values, values + 1, (limit - 1) * sizeof *values);
        (*count)--;
    }
    values[(*count)++] = value;
}

typedef struct recall {
    sweep_candidate *c;
    const assay__profile *profile;
    int64_t sweep, ordinal;  /* of the measuring visit seen last */
    int64_t confirm_ordinal; /* of the confirming one */
} recall;

/* A sweep that took up nothing begins anew: visits of two sweeps are no pairs. */
static void forget_visits(sweep_candidate *c)
{
    c->visit_count = c->twin_count = c->confirm_count = c->sample_count = c->rejected = 0;
    c->min_ns = (double)NAN;
}

/* The two stays of the default in a visit, in whichever order they came. */
static void take_measured(recall *r, const assay__db_stay *v, double median)
{
    sweep_candidate *c = r->c;

    if (v->sweep != r->sweep || v->ordinal != r->ordinal) {
        assay__sweep_begin_twin(c);
    }
    r->sweep = v->sweep;
    r->ordinal = v->ordinal;
    if (v->is_twin) {
        c->twin_ns = median;
    } else {
        keep_last(c->visit_ns, &c->visit_count, ASSAY_LOOK_MOST(r->profile->visits), median);
        c->has_time = true;
    }
    assay__sweep_pair_twin(c, r->profile->visits);
}

/* A confirming visit that was cut off between its contenders was made again: the second has pairs.
 */
static void take_confirmed(recall *r, const assay__db_stay *v, double median)
{
    sweep_candidate *c = r->c;

    if (c->confirm_count > 0 && v->ordinal <= r->confirm_ordinal) {
        const int64_t again = r->confirm_ordinal - v->ordinal + 1;
        c->confirm_count -= again < (int64_t)c->confirm_count ? (size_t)again : c->confirm_count;
    }
    r->confirm_ordinal = v->ordinal;
    if (c->confirm_count < ASSAY_LOOK_MOST(r->profile->confirms))
        c->confirm_ns[c->confirm_count++] = median;
}

static void take_samples(recall *r, const assay__db_stay *v, const double *kept, size_t count,
                         double median)
{
    sweep_candidate *c = r->c;

    if (strcmp(v->kind, "screen") == 0) { /* a sweep that took up nothing begins so */
        forget_visits(c);
        c->screen_ns = median;
    } else if (strcmp(v->kind, "measure") == 0)
        take_measured(r, v, median);
    else if (strcmp(v->kind, "confirm") == 0)
        take_confirmed(r, v, median);
    c->sample_count += v->is_twin ? 0 : count;
    c->rejected += v->is_twin ? 0 : v->count - count;
    for (size_t i = 0; !v->is_twin && i < count; i++)
        if (!(c->min_ns <= kept[i]))
            c->min_ns = kept[i];
}

/* A stay that was given up has no time. */
static assay_status take_visit(void *cookie, const assay__db_stay *v)
{
    double *kept, median;
    size_t count = 0;
    assay_status status;

    if (v->count == 0 || strcmp(v->stop_reason, assay__stop_name(ASSAY_STOP_THROTTLED)) == 0)
        return ASSAY_OK;
    kept = calloc(v->count, sizeof *kept);
    if (kept == NULL)
        return assay__fail(ASSAY_NOMEM, "%zu samples", v->count);
    status = assay__sweep_keep(v->samples, v->count, v->rejected_json, kept, &count);
    if (status == ASSAY_OK)
        status = assay__stats_median(kept, count, &median);
    if (status == ASSAY_OK)
        take_samples(cookie, v, kept, count, median);
    free(kept);
    return status;
}

/* A check that was passed need not be repeated: the figures come from its row. */
static assay_status recall_accuracy(sweep *s, sweep_problem *p, sweep_candidate *c)
{
    assay__db_accuracy row;
    int found = 0;
    int64_t id = 0;

    ASSAY_TRY(assay__db_find_accuracy(s->db, c->revision_row, s->deployment_row, p->row, &found,
                                      &row, &id));
    if (!found || !row.passed)
        return ASSAY_OK;
    c->checked = true;
    c->verdict = ASSAY__VERDICT_OK;
    c->accuracy_row = id;
    c->digest = row.output_digest;
    if (row.elements > 0) {
        c->max_ulp = row.max_ulp;
        c->max_rho = row.max_rho;
        c->max_rel = row.max_rel;
        c->max_abs = row.max_abs;
    }
    c->proof = row.proof;
    c->elements = (uint64_t)row.elements;
    return ASSAY_OK;
}

/* What an interrupted sweep of the same profile has measured already counts. */
static assay_status recall_visits(sweep *s, sweep_problem *p, sweep_candidate *c,
                                  const char *policy)
{
    recall r = {.c = c, .profile = s->o->profile};
    assay__db_measurement row;
    int found = 0;
    int64_t id = 0;

    ASSAY_TRY(assay__db_find_measurement(s->db, c->revision_row, s->deployment_row, p->row,
                                         p->layout, s->o->align, policy, &found, &row, &id));
    if (!found)
        return ASSAY_OK;
    c->measurement_row = id;
    /* An impossible default gets another chance: peaks of that day may have been too low. */
    if (row.verdict == ASSAY__VERDICT_WRONG ||
        (row.verdict == ASSAY__VERDICT_IMPOSSIBLE && !c->is_default) ||
        row.verdict == ASSAY__VERDICT_MISTRUSTED) {
        c->verdict = row.verdict;
        c->out = true;
        (void)snprintf(c->reason, sizeof c->reason, "%s", row.reason);
        return ASSAY_OK;
    }
    ASSAY_TRY(recall_accuracy(s, p, c));
    if (!c->checked || row.verdict == ASSAY__VERDICT_IMPOSSIBLE)
        return ASSAY_OK;
    /* What it leaves open is seen in its stays alone: they are made again. */
    if (strncmp(row.reason, SWEEP_LEAKS, strlen(SWEEP_LEAKS)) == 0)
        return ASSAY_OK;
    return assay__db_each_visit(s->db, id, s->o->profile->name, take_visit, &r);
}

/* What was booked as refused has its reason in the store, and was counted then. */
static assay_status recall_candidate(sweep *s, sweep_problem *p, sweep_candidate *c,
                                     const char *policy, bool counts)
{
    const assay__verdict refused = c->unasked ? c->verdict : ASSAY__VERDICT_NONE;

    if (c->out && !c->unasked)
        return ASSAY_OK;
    ASSAY_TRY(recall_quarantine(s, p, c, policy, counts && refused == ASSAY__VERDICT_NONE));
    if (refused != ASSAY__VERDICT_NONE)
        c->verdict = refused;
    if (!s->o->resume || c->out)
        return ASSAY_OK;
    ASSAY_TRY(recall_visits(s, p, c, policy));
    s->summary->mistrusted += counts && c->verdict == ASSAY__VERDICT_MISTRUSTED;
    return ASSAY_OK;
}

assay_status assay__sweep_recall_candidates(sweep *s, sweep_problem *p, bool counts)
{
    char policy[48];

    (void)assay_policy_format(s->o->policy, policy, sizeof policy);
    for (size_t i = 0; i < p->count; i++)
        ASSAY_TRY(recall_candidate(s, p, &p->candidates[i], policy, counts));
    return ASSAY_OK;
}

assay_status assay__sweep_recall(sweep *s, sweep_problem *p)
{
    char policy[48];
    bool finished = false;

    (void)assay_policy_format(s->o->policy, policy, sizeof policy);
    if (s->o->resume)
        ASSAY_TRY(is_finished(s, p, policy, &finished));
    p->skip = finished;
    if (finished)
        return ASSAY_OK;
    for (size_t i = 0; i < p->count; i++)
        if (p->candidates[i].unasked && p->candidates[i].verdict != ASSAY__VERDICT_NONE)
            ASSAY_TRY(assay__sweep_refuse(s, p, &p->candidates[i]));
    return assay__sweep_recall_candidates(s, p, false);
}
