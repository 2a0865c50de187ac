/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_brief.c -- candidates whose turn has not come or is over: a few bytes each.
 *
 * A candidate under way takes two kilobytes, and a sweep may have a million of them.  So those of a
 * group of problems are there at a time, and of the others what tells them apart and what they
 * took.  What a variant is does not depend on the problem: it is kept once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/keyhash.h"
#include "runtime/revision.h"
#include "sweep/sweep_internal.h"

struct sweep_variant {
    const sweep_kernel *kernel;
    assay_digest revision;
    int64_t revision_row;
    int64_t values[]; /* one a tunable */
};

/* ---- variants ---- */

static size_t value_bytes(const sweep_kernel *k)
{
    return k->desc->tunable_count * sizeof(int64_t);
}

static size_t begin_of(const sweep *s, const sweep_kernel *k, const int64_t *values)
{
    const uint64_t hash = assay__xxh64(values, value_bytes(k));

    return (size_t)(hash + (uint64_t)(k - s->kernels) * UINT64_C(0x9e3779b97f4a7c15)) &
           (s->variant_cap - 1);
}

/* The place of the variant, or the free one where it belongs. */
static const struct sweep_variant **find(sweep *s, const sweep_kernel *k, const int64_t *values)
{
    for (size_t i = begin_of(s, k, values);; i = (i + 1) & (s->variant_cap - 1)) {
        const struct sweep_variant *v = s->variants[i];
        if (v == NULL || (v->kernel == k && memcmp(v->values, values, value_bytes(k)) == 0))
            return &s->variants[i];
    }
}

static assay_status grow(sweep *s)
{
    const struct sweep_variant **old = s->variants;
    const size_t cap = s->variant_cap;

    if (2 * (s->variant_count + 1) <= cap)
        return ASSAY_OK;
    s->variant_cap = cap > 0 ? 2 * cap : 256;
    s->variants = calloc(s->variant_cap, sizeof *s->variants);
    if (s->variants == NULL) {
        s->variants = old;
        s->variant_cap = cap;
        return assay__fail(ASSAY_NOMEM, "list of variants");
    }
    for (size_t i = 0; i < cap; i++)
        if (old[i] != NULL)
            *find(s, old[i]->kernel, old[i]->values) = old[i];
    free(old);
    return ASSAY_OK;
}

static assay_status add(sweep *s, const sweep_kernel *k, const int64_t *values,
                        struct sweep_variant **out)
{
    struct sweep_variant *v = calloc(1, sizeof *v + value_bytes(k));
    assay_status status;

    if (v == NULL)
        return assay__fail(ASSAY_NOMEM, "list of variants");
    v->kernel = k;
    memcpy(v->values, values, value_bytes(k));
    status = assay__variant_revision(&k->revision, k->desc->tunables, values,
                                     k->desc->tunable_count, &v->revision);
    if (status == ASSAY_OK)
        status = assay__sweep_put_revision(s, k, values, &v->revision, &v->revision_row);
    if (status != ASSAY_OK) {
        free(v);
        return status;
    }
    *out = v;
    return ASSAY_OK;
}

assay_status assay__sweep_variant(sweep *s, const sweep_kernel *k, const int64_t *values,
                                  const struct sweep_variant **out)
{
    struct sweep_variant *made = NULL;
    const struct sweep_variant **place;

    ASSAY_TRY(grow(s));
    place = find(s, k, values);
    if (*place == NULL) {
        ASSAY_TRY(add(s, k, values, &made));
        *place = made;
        s->variant_count++;
    }
    *out = *place;
    return ASSAY_OK;
}

void assay__sweep_variants_clear(sweep *s)
{
    for (size_t i = 0; i < s->variant_cap; i++)
        free((void *)(uintptr_t)s->variants[i]);
    free(s->variants);
    s->variants = NULL;
    s->variant_cap = s->variant_count = 0;
}

assay_status assay__sweep_candidate_of(const struct sweep_variant *v, sweep_candidate *c)
{
    memset(c, 0, sizeof *c);
    c->kernel = v->kernel;
    c->variant = v;
    memcpy(c->tunables, v->values, value_bytes(v->kernel));
    c->revision = v->revision;
    c->revision_row = v->revision_row;
    c->stable = true;
    c->max_ulp = c->max_rho = c->max_rel = c->max_abs = NAN;
    c->ratio = c->ratio_lo = c->ratio_hi = c->ratio_level = NAN;
    c->time_ns = c->lo_ns = c->hi_ns = c->min_ns = NAN;
    return assay__sweep_tunables_format(v->kernel->desc, v->values, c->tunables_text,
                                        sizeof c->tunables_text);
}

/* ---- problems that rest ---- */

/* As seen today or by an earlier sweep; 0: not at all. */
static double seen_ns(const sweep_candidate *c)
{
    if (c->verdict == ASSAY__VERDICT_WRONG)
        return 0;
    return c->screen_ns > 0 ? c->screen_ns : c->seen_ns;
}

double assay__sweep_seen_ns(const sweep_problem *p, size_t i)
{
    return p->candidates != NULL ? seen_ns(&p->candidates[i]) : p->briefs[i].seen_ns;
}

int64_t assay__sweep_revision_row(const sweep_problem *p, size_t i)
{
    return p->candidates != NULL ? p->candidates[i].revision_row
                                 : p->briefs[i].variant->revision_row;
}

const assay_kernel_desc *assay__sweep_desc(const sweep_problem *p)
{
    return p->candidates != NULL ? p->candidates[0].kernel->desc
                                 : p->briefs[0].variant->kernel->desc;
}

/* Tried, today or before, whatever came of it. */
static bool is_evaluated(const sweep_candidate *c)
{
    return c->was_searched || c->screen_ns > 0 || (c->out && c->verdict != ASSAY__VERDICT_NONE);
}

assay_status assay__sweep_rest(sweep_problem *p)
{
    if (p->candidates == NULL)
        return ASSAY_OK;
    if (p->briefs == NULL)
        p->briefs = calloc(p->count + 1, sizeof *p->briefs);
    if (p->briefs == NULL)
        return assay__fail(ASSAY_NOMEM, "%zu candidates", p->count);
    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        p->briefs[i] = (sweep_brief){.variant = c->variant,
                                     .prior_ns = p->briefs[i].prior_ns,
                                     .seen_ns = seen_ns(c),
                                     .verdict = (uint8_t)c->verdict,
                                     .is_default = c->is_default,
                                     .is_incumbent = c->is_incumbent,
                                     .unasked = c->unasked,
                                     .is_evaluated = is_evaluated(c)};
    }
    free(p->candidates);
    p->candidates = NULL;
    p->room = 0;
    return ASSAY_OK;
}

static assay_status wake_one(const sweep_brief *b, sweep_candidate *c)
{
    ASSAY_TRY(assay__sweep_candidate_of(b->variant, c));
    c->is_default = b->is_default;
    c->is_incumbent = b->is_incumbent;
    c->seen_ns = b->seen_ns;
    if (b->unasked) {
        c->out = c->unasked = true;
        c->verdict = (assay__verdict)b->verdict;
    }
    return ASSAY_OK;
}

assay_status assay__sweep_wake(sweep *s, sweep_problem *p)
{
    if (p->candidates != NULL)
        return ASSAY_OK;
    p->candidates = calloc(p->count + 1, sizeof *p->candidates);
    if (p->candidates == NULL)
        return assay__fail(ASSAY_NOMEM, "%zu candidates", p->count);
    for (size_t i = 0; i < p->count; i++)
        ASSAY_TRY(wake_one(&p->briefs[i], &p->candidates[i]));
    ASSAY_TRY(assay__sweep_exhaust_reject(s, p));
    ASSAY_TRY(assay__sweep_recall_candidates(s, p, !p->is_counted));
    assay__sweep_exhaust_join(p);
    p->is_counted = true; /* a group may end before it, and it wakes again */
    return ASSAY_OK;
}
