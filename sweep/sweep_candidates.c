/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_candidates.c -- the variants that compete for one problem. */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/caps.h"
#include "runtime/error.h"
#include "runtime/revision.h"
#include "runtime/table_internal.h"
#include "runtime/tunables.h"
#include "sweep/sweep_internal.h"

static bool wants_name(const sweep *s, const char *name)
{
    for (size_t i = 0; i < s->o->kernel_glob_count; i++)
        if (fnmatch(s->o->kernel_globs[i], name, 0) == 0)
            return true;
    return s->o->kernel_glob_count == 0;
}

static bool takes_problem(const sweep_problem *p, const sweep_kernel *k)
{
    return k->available && k->desc->op == (assay_op_id)p->problem.op &&
           k->desc->dtype_count == p->problem.dtype_count &&
           memcmp(k->desc->dtypes, p->problem.dtypes, p->problem.dtype_count) == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const assay_tunable *)a)->name, ((const assay_tunable *)b)->name);
}

assay_status assay__sweep_tunables_format(const assay_kernel_desc *desc, const int64_t *values,
                                          char *buf, size_t cap)
{
    assay_tunable sorted[ASSAY_MAX_TUNABLES];
    size_t used = 0;

    buf[0] = '\0';
    if (desc->tunable_count > ASSAY_MAX_TUNABLES)
        return assay__fail(ASSAY_INTERNAL, "%s: too many tunables", desc->name);
    if (desc->tunable_count == 0)
        return ASSAY_OK;
    memcpy(sorted, desc->tunables, desc->tunable_count * sizeof *sorted);
    /* value_count carries the position through the sort. */
    for (size_t i = 0; i < desc->tunable_count; i++)
        sorted[i].value_count = i;
    qsort(sorted, desc->tunable_count, sizeof *sorted, by_name);
    for (size_t i = 0; i < desc->tunable_count; i++) {
        int n = snprintf(buf + used, cap - used, "%s%s=%lld", i ? "," : "", sorted[i].name,
                         (long long)values[sorted[i].value_count]);
        if (n < 0 || (size_t)n >= cap - used)
            return assay__fail(ASSAY_INTERNAL, "%s: the tunables' text is too long", desc->name);
        used += (size_t)n;
    }
    return ASSAY_OK;
}

static assay_status variant_digest(const sweep_kernel *k, const int64_t *values, assay_digest *out)
{
    return assay__variant_revision(&k->revision, k->desc->tunables, values, k->desc->tunable_count,
                                   out);
}

void assay__sweep_dtypes(const assay_kernel_desc *desc, char *buf, size_t cap)
{
    buf[0] = '\0';
    for (size_t i = 0; i < desc->dtype_count; i++) {
        strncat(buf, i ? "," : "", cap - strlen(buf) - 1);
        strncat(buf, assay_dtype_name((assay_dtype)desc->dtypes[i]), cap - strlen(buf) - 1);
    }
}

assay_status assay__sweep_put_revision(sweep *s, const sweep_kernel *k, const int64_t *values,
                                       const assay_digest *revision, int64_t *out)
{
    char dtypes[128] = "", tunables[200];
    const assay_kernel_desc *desc = k->desc;
    assay__db_kernel row = {.kernel = desc->name,
                            .backend = k->manifest->name,
                            .op = assay_op_get(desc->op)->name,
                            .dtypes = dtypes,
                            .entry_point = desc->entry_point,
                            .default_rank = desc->default_rank,
                            .claims = desc->claims,
                            .kernel_revision = k->revision,
                            .variant_revision = *revision,
                            .tunables = tunables,
                            .libraries = k->libraries,
                            .compiler = k->manifest->compiler};

    assay__sweep_dtypes(desc, dtypes, sizeof dtypes);
    ASSAY_TRY(assay__sweep_tunables_format(desc, values, tunables, sizeof tunables));
    assay__claims_digest(&desc->claims, &row.claims_digest);
    return assay__db_put_revision(s->db, &row, out);
}

static assay_status make(sweep *s, const sweep_kernel *k, const int64_t *values, sweep_candidate *c)
{
    const struct sweep_variant *v;

    ASSAY_TRY(assay__sweep_variant(s, k, values, &v));
    return assay__sweep_candidate_of(v, c);
}

static assay_status push(sweep *s, sweep_problem *p, const sweep_kernel *k, const int64_t *values)
{
    if (p->count == p->room) {
        const size_t room = p->room > 0 ? 2 * p->room : 16;
        sweep_candidate *grown = realloc(p->candidates, room * sizeof *grown);
        if (grown == NULL)
            return assay__fail(ASSAY_NOMEM, "candidates");
        p->candidates = grown;
        p->room = room;
    }
    ASSAY_TRY(make(s, k, values, &p->candidates[p->count]));
    p->count++;
    return ASSAY_OK;
}

static bool is_tried(const sweep *s, const sweep_problem *p, const sweep_kernel *k,
                     const int64_t *values)
{
    assay_digest digest;

    return s->o->retry == NULL || (variant_digest(k, values, &digest) == ASSAY_OK &&
                                   assay__sweep_is_tried(s, &digest, &p->problem));
}

/* All variants that may run, first the defaults. */
static assay_status expand(sweep *s, sweep_problem *p, const sweep_kernel *k)
{
    const sweep_answers *a = assay__sweep_answers_of(p, k);
    sweep_variants v;

    if (a != NULL && a->refused != ASSAY_OK)
        return ASSAY_OK;
    ASSAY_TRY(assay__sweep_variants(s, p, k, &v));
    for (size_t i = 0; assay__sweep_next_variant(&v); i++) {
        if ((a != NULL && !a->admits[i]) || !is_tried(s, p, k, v.values))
            continue;
        p->total++; /* also past the limit: the route says "searched n of N" */
        if (p->count < SWEEP_MAX_CANDIDATES)
            ASSAY_TRY(push(s, p, k, v.values));
    }
    return ASSAY_OK;
}

/* Who ended the process when asked is a candidate that failed, for all to see. */
static assay_status push_refused(sweep *s, sweep_problem *p)
{
    for (size_t i = 0; i < p->answer_count && p->count < SWEEP_MAX_CANDIDATES; i++) {
        const sweep_answers *a = &p->answers[i];
        if (a->refused == ASSAY_OK)
            continue;
        ASSAY_TRY(push(s, p, a->kernel, a->values));
        p->total++;
        sweep_candidate *c = &p->candidates[p->count - 1];
        c->out = c->unasked = true;
        if (a->recalled)
            continue; /* verdict and reason come out of the store, too */
        c->verdict = a->refused == ASSAY_TIMEOUT ? ASSAY__VERDICT_TIMEOUT : ASSAY__VERDICT_CRASHED;
        (void)snprintf(c->reason, sizeof c->reason, "%s", a->reason);
    }
    return ASSAY_OK;
}

/* In production its can_run_fn is asked without a process between: none of its variants may be. */
static assay_status quarantine_kernel(sweep *s, sweep_problem *p, const sweep_candidate *c)
{
    sweep_candidate other;
    sweep_variants v;

    ASSAY_TRY(assay__sweep_variants(s, p, c->kernel, &v));
    ASSAY_TRY(
        assay__db_put_quarantine(s->db, c->revision_row, s->deployment_row, p->row, c->reason));
    for (size_t i = 0; i < SWEEP_MAX_CANDIDATES && assay__sweep_next_variant(&v); i++) {
        ASSAY_TRY(make(s, c->kernel, v.values, &other));
        ASSAY_TRY(assay__db_put_quarantine(s->db, other.revision_row, s->deployment_row, p->row,
                                           c->reason));
    }
    return ASSAY_OK;
}

assay_status assay__sweep_refuse(sweep *s, sweep_problem *p, sweep_candidate *c)
{
    assay_status status = assay__db_begin(s->db);

    if (c->verdict == ASSAY__VERDICT_TIMEOUT)
        s->summary->timed_out++;
    else
        s->summary->crashed++;
    s->summary->quarantined++;
    ASSAY_TRY(status);
    status = assay__sweep_put_measurement(s, p, c);
    if (status == ASSAY_OK)
        status = quarantine_kernel(s, p, c);
    if (status == ASSAY_OK)
        return assay__db_commit(s->db);
    assay__db_rollback(s->db);
    return status;
}

static bool problem_admits(const sweep_problem *p, const assay_kernel_desc *desc, unsigned align)
{
    char reason[160];
    assay__expr e;

    /* A kernel that does not take such operands would be called wrong for it. */
    if (!assay__caps_fit(desc, p->layout, align, reason, sizeof reason))
        return false;
    if (desc->can_run == NULL)
        return true;
    return assay__row_expr_compile(desc, desc->can_run, false, &e) == ASSAY_OK &&
           assay__row_expr_holds(&e, &p->problem, NULL, 0);
}

static bool at_defaults(const sweep *s, const sweep_candidate *c)
{
    const assay_kernel_desc *desc = c->kernel->desc;
    int64_t values[ASSAY_MAX_TUNABLES];

    assay__tunables_default(desc, s->o->max_threads, values);
    return memcmp(c->tunables, values, desc->tunable_count * sizeof *values) == 0;
}

/* The default: lowest rank, tunables at defaults, ties by name -- what the picker would serve
 * without a store, with --threads to a question with that max_threads. */
static void mark_default(const sweep *s, sweep_problem *p)
{
    sweep_candidate *best = NULL;

    for (size_t i = 0; i < p->count; i++) {
        sweep_candidate *c = &p->candidates[i];
        if (!at_defaults(s, c) || c->unasked)
            continue;
        int rank = c->kernel->desc->default_rank;
        int best_rank = best != NULL ? best->kernel->desc->default_rank : 0;
        if (best == NULL || rank < best_rank ||
            (rank == best_rank && strcmp(c->kernel->desc->name, best->kernel->desc->name) < 0))
            best = c;
    }
    if (best == NULL)
        best = &p->candidates[0];
    best->is_default = true;
    p->default_index = (size_t)(best - p->candidates);
}

static int64_t rank_then_name(const sweep_kernel *a, const sweep_kernel *b)
{
    int64_t order = (int64_t)a->desc->default_rank - b->desc->default_rank;

    return order != 0 ? order : strcmp(a->desc->name, b->desc->name);
}

bool assay__sweep_may_compete(const sweep *s, const sweep_problem *p, const sweep_kernel *k,
                              bool *is_wanted)
{
    *is_wanted = wants_name(s, k->desc->name);
    return takes_problem(p, k) && assay__sweep_takes_part(s, k->manifest) &&
           problem_admits(p, k->desc, s->o->align);
}

static bool is_candidate(const sweep_problem *p, const sweep_kernel *k, const int64_t *values)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->candidates[i].kernel == k &&
            memcmp(p->candidates[i].tunables, values, k->desc->tunable_count * sizeof *values) == 0)
            return true;
    return false;
}

/* The default competes, whatever --kernel leaves out: a winner is one over what would be served
 * without it. */
static assay_status add_default(sweep *s, sweep_problem *p)
{
    int64_t values[ASSAY_MAX_TUNABLES], best_values[ASSAY_MAX_TUNABLES] = {0};
    sweep_kernel *best = NULL;

    for (size_t i = 0; i < s->kernel_count; i++) {
        sweep_kernel *k = &s->kernels[i];
        bool is_wanted;
        if (!assay__sweep_may_compete(s, p, k, &is_wanted) ||
            !assay__sweep_default_admitted(s, p, k, values) ||
            (best != NULL && rank_then_name(k, best) > 0))
            continue;
        best = k;
        memcpy(best_values, values, sizeof best_values);
    }
    if (best == NULL || is_candidate(p, best, best_values))
        return ASSAY_OK;
    ASSAY_TRY(push(s, p, best, best_values));
    p->total++;
    if (!best->told)
        assay__sweep_warn(s,
                          "%s competes too, though --kernel leaves it out: it is the default, and "
                          "a winner is measured against it",
                          best->desc->name);
    best->told = true;
    return ASSAY_OK;
}

/* The variant of a digest among those of a kernel; false: it has none. */
static bool find_variant(const sweep *s, const sweep_problem *p, const sweep_kernel *k,
                         const assay_digest *wanted, int64_t *values)
{
    assay_digest digest;
    sweep_variants v;

    if (assay__sweep_variants(s, p, k, &v) != ASSAY_OK)
        return false;
    while (assay__sweep_next_variant(&v)) {
        if (variant_digest(k, v.values, &digest) == ASSAY_OK &&
            assay_digest_equal(&digest, wanted)) {
            memcpy(values, v.values, sizeof v.values);
            return true;
        }
    }
    return false;
}

/* The published winner competes, whatever --kernel and --backend leave out: without it a sweep of a
 * slower part would depose it unseen. */
static assay_status add_incumbent(sweep *s, sweep_problem *p, int64_t winner)
{
    int64_t values[ASSAY_MAX_TUNABLES];
    assay__db_variant v;
    bool admitted = false;
    int found = 0;

    ASSAY_TRY(assay__db_find_variant(s->db, winner, &found, &v));
    for (size_t i = 0; found && i < s->kernel_count; i++) {
        sweep_kernel *k = &s->kernels[i];
        if (!takes_problem(p, k) || !assay_digest_equal(&k->revision, &v.kernel_revision) ||
            !problem_admits(p, k->desc, s->o->align) ||
            !find_variant(s, p, k, &v.variant_revision, values))
            continue;
        ASSAY_TRY(assay__sweep_ask_one(s, p, k, values, &admitted));
        if (!admitted)
            return ASSAY_OK;
        ASSAY_TRY(push(s, p, k, values));
        p->total++;
        p->candidates[p->count - 1].is_incumbent = true;
        return ASSAY_OK;
    }
    return ASSAY_OK;
}

static assay_status mark_incumbent(sweep *s, sweep_problem *p)
{
    char policy[48];
    const assay__db_route key = {.deployment = s->deployment_row,
                                 .problem = p->row,
                                 .layout = p->layout,
                                 .align = s->o->align,
                                 .policy = policy};
    assay__db_known_route known;

    (void)assay_policy_format(s->o->policy, policy, sizeof policy);
    ASSAY_TRY(assay__db_find_route(s->db, &key, &known));
    if (!known.found || known.winner_revision == 0)
        return ASSAY_OK;
    for (size_t i = 0; i < p->count; i++)
        if (p->candidates[i].revision_row == known.winner_revision) {
            p->candidates[i].is_incumbent = true;
            return ASSAY_OK;
        }
    return add_incumbent(s, p, known.winner_revision);
}

assay_status assay__sweep_candidates(sweep *s, sweep_problem *p)
{
    for (size_t i = 0; i < s->kernel_count; i++) {
        sweep_kernel *k = &s->kernels[i];
        bool is_wanted;
        if (assay__sweep_may_compete(s, p, k, &is_wanted) && is_wanted)
            ASSAY_TRY(expand(s, p, k));
    }
    if (p->count > 0)
        ASSAY_TRY(add_default(s, p));
    ASSAY_TRY(push_refused(s, p));
    p->skip = p->count == 0;
    assay__sweep_forget_answers(p);
    return ASSAY_OK;
}

assay_status assay__sweep_incumbent(sweep *s, sweep_problem *p)
{
    if (p->count == 0)
        return ASSAY_OK;
    ASSAY_TRY(mark_incumbent(s, p));
    mark_default(s, p);
    return ASSAY_OK;
}
