/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_proven.c -- see pick_proven.h. */
#include "runtime/pick_proven.h"

#include <math.h>
#include <string.h>

#include "runtime/pick_internal.h"

static const assay__proven none = {.max_ulp = NAN, .max_rel = NAN, .max_abs = NAN};

/* The same op, types and parameters; shapes may differ. */
static bool differ_in_shape_only(const assay_problem *a, const assay_problem *b)
{
    const assay_op_info *info = assay_op_get((assay_op_id)a->op);

    if (a->op != b->op || a->dtype_count != b->dtype_count ||
        memcmp(a->dtypes, b->dtypes, a->dtype_count) != 0)
        return false;
    for (size_t i = 0; i < info->param_count; i++)
        if (info->params[i].klass != ASSAY_SHAPE && a->params[i].i != b->params[i].i)
            return false;
    return true;
}

/* The first proof of a revision; proofs of other parameters follow. */
static size_t first_of(const assay__pick_store *s, uint64_t revision)
{
    size_t low = 0, high = s->proof_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->proofs[middle].revision < revision)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

assay__proven assay__proven_find(const assay__generation *g, size_t variant,
                                 const assay_problem *problem)
{
    const assay__pick_store *s = g->store;
    uint64_t revision = s->variants[variant].row;

    for (size_t i = first_of(s, revision); i < s->proof_count && s->proofs[i].revision == revision;
         i++)
        if (g->proven != NULL && differ_in_shape_only(&s->proofs[i].problem, problem))
            return g->proven[i];
    return none;
}

assay__proven assay__proven_of(const assay__generation *g, const assay_binding *binding,
                               const int64_t *tunables, const assay_problem *problem)
{
    const assay__pick_store *s = g->store;

    for (uint32_t i = assay__code_of(g, binding)->first_proof; i > 0; i = g->proven[i - 1].next) {
        const assay__stored_proof *proof = g->proven[i - 1].proof;
        const int64_t *its = g->variants[assay__pick_store_variant(s, proof->revision)].tunables;
        if (memcmp(its, tunables, binding->desc->tunable_count * sizeof *tunables) == 0 &&
            differ_in_shape_only(&proof->problem, problem))
            return g->proven[i - 1];
    }
    return none;
}

/* ---- what else is known ---- */

/* True when it was worse. */
static bool worsen(double *worst, double evidence)
{
    if (isnan(evidence) || *worst >= evidence)
        return false;
    *worst = evidence;
    return true;
}

static void weigh(assay__generation *g, const assay__route_candidate *c)
{
    const assay__pick_store *s = g->store;

    for (size_t i = first_of(s, c->revision_row);
         i < s->proof_count && s->proofs[i].revision == c->revision_row; i++) {
        assay__proven *p = &g->proven[i];
        p->is_contradicted |= c->verdict == ASSAY__VERDICT_WRONG;
        p->is_refuted |= worsen(&p->max_ulp, c->max_ulp);
        (void)worsen(&p->max_rel, c->max_rel);
        (void)worsen(&p->max_abs, c->max_abs);
    }
}

static bool is_proven_op(const bool *proven, const char *text)
{
    size_t length = strcspn(text, " ");

    for (int op = 0; op < ASSAY_OP_COUNT; op++) {
        const char *name = proven[op] ? assay_op_get((assay_op_id)op)->name : "";
        if (strncmp(name, text, length) == 0 && name[length] == '\0')
            return true;
    }
    return false;
}

/* Proofs of variants that this process has, each in the list of its kernel. */
static void link_proof(assay__generation *g, size_t i)
{
    size_t at = assay__pick_store_variant(g->store, g->store->proofs[i].revision);

    if (at == SIZE_MAX || g->variants[at].fit != ASSAY__FIT_FRESH)
        return;
    assay__row_code *code = &g->codes[g->variants[at].binding - assay_snapshot_at(g->snapshot, 0)];
    g->proven[i].next = code->first_proof;
    code->first_proof = (uint32_t)i + 1;
}

void assay__proven_weigh(assay__generation *g)
{
    const assay__pick_store *s = g->store;
    bool ops[ASSAY_OP_COUNT] = {false};

    g->weighed = true;
    for (size_t i = 0; i < s->proof_count; i++) {
        g->proven[i] = (assay__proven){.proof = &s->proofs[i],
                                       .max_ulp = s->proofs[i].max_ulp,
                                       .max_rel = s->proofs[i].max_rel,
                                       .max_abs = s->proofs[i].max_abs,
                                       .is_contradicted = s->proofs[i].is_contradicted};
        ops[s->proofs[i].problem.op] = true;
        link_proof(g, i);
    }
    for (size_t r = 0; s->proof_count > 0 && r < s->route_count; r++) {
        const assay__stored_route *route = &s->routes[r];
        if (!is_proven_op(ops, s->text + route->text))
            continue;
        for (uint32_t i = 0; i < route->candidate_count; i++)
            weigh(g, &s->candidates[route->first_candidate + i]);
    }
}
