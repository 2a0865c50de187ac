/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_rank.c -- collects the candidates of a question, ranks them, breaks ties. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/caps.h"
#include "runtime/error.h"
#include "runtime/pick_internal.h"
#include "runtime/revision.h"
#include "runtime/tunables.h"

/* ---- collecting ---- */

/* A row measured at 16 answers a question at 64; nothing else stands in for anything.  Where one at
 * 64 has nothing that is the code of today, collect_at_16 adds that at 16. */
static const assay__stored_route *find_route(const assay__generation *g, const assay_question *q,
                                             const char layout[ASSAY_MAX_OPERANDS],
                                             const char *text)
{
    const assay__stored_route *route =
        assay__pick_store_find(g->store, text, layout, q->align, q->policy);

    return route == NULL && q->align == 64
               ? assay__pick_store_find(g->store, text, layout, 16, q->policy)
               : route;
}

static assay__judged *add_item(assay__judgement *j)
{
    assay__judged *item;

    if (j->count == j->cap) {
        size_t cap = j->cap > 0 ? j->cap * 2 : 32;
        assay__judged *items = realloc(j->items, cap * sizeof *items);
        if (items == NULL)
            return NULL;
        j->items = items;
        j->cap = cap;
    }
    item = &j->items[j->count++];
    item->binding = NULL;
    item->stored = NULL;
    item->measured = NULL;
    item->quarantine = NULL;
    item->worst = ASSAY__VERDICT_NONE;
    item->proven.proof = NULL;
    item->fit = ASSAY__FIT_FRESH;
    item->tier = ASSAY_TIER_UNKNOWN;
    item->time_ns = item->lo_ns = item->hi_ns = (double)NAN;
    item->copies = 0;
    item->at_defaults = false;
    item->is_published = false;
    item->hidden = false;
    item->rejected = false;
    item->chosen = false;
    item->tied = false;
    item->reason[0] = '\0';
    return item;
}

static assay_status fail_memory(void)
{
    return assay__fail(ASSAY_NOMEM, "route picker: no memory for candidates");
}

/* Evidence over all inputs may exist for this question. Only of ops whose elements do not know of
 * one another, whatever a store says. */
static bool may_be_proven(const assay__generation *g, const assay_question *q)
{
    assay_op_family family = assay_op_get((assay_op_id)q->problem.op)->family;

    return g->store->proof_count > 0 &&
           (family == ASSAY_FAMILY_ELEMENTWISE_UNARY || family == ASSAY_FAMILY_ELEMENTWISE_BINARY);
}

static double worse(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

/* What is known of the error for this question: its own measurement, and what holds for every
 * shape; the worst of both. */
static void take_evidence(assay__judged *item)
{
    const assay__route_candidate *m = item->measured;
    const assay__proven *p = &item->proven;

    item->max_ulp = m != NULL ? m->max_ulp : NAN;
    item->max_rho = m != NULL ? m->max_rho : NAN;
    item->max_rel = m != NULL ? m->max_rel : NAN;
    item->max_abs = m != NULL ? m->max_abs : NAN;
    item->proof = m != NULL ? (assay_proof)m->proof : ASSAY_PROOF_ABSENT;
    item->accuracy = m != NULL ? m->accuracy : 0;
    if (p->proof == NULL || !p->proof->passed || p->is_contradicted)
        return;
    item->max_ulp = worse(item->max_ulp, p->max_ulp);
    item->max_rel = worse(item->max_rel, p->max_rel);
    item->max_abs = worse(item->max_abs, p->max_abs);
    if (p->is_refuted)
        return;
    item->proof = ASSAY_PROOF_EXHAUSTIVE;
    item->accuracy = p->proof->accuracy;
}

/* Candidates of a route; only: those of this row of the table alone. */
static assay_status collect_measured(const assay__generation *g, const assay_question *q,
                                     const assay__stored_route *route, const char *text,
                                     const assay_binding *only, assay__judgement *j)
{
    for (uint32_t i = 0; route != NULL && i < route->candidate_count; i++) {
        const assay__route_candidate *c = &g->store->candidates[route->first_candidate + i];
        size_t at = assay__pick_store_variant(g->store, c->revision_row);
        assay__judged *item;
        if (at == SIZE_MAX) /* a damaged row: its variant is not in the store */
            continue;
        if (only != NULL &&
            (g->variants[at].binding != only || g->variants[at].fit != ASSAY__FIT_FRESH))
            continue;
        item = add_item(j);
        if (item == NULL)
            return fail_memory();
        item->measured = c;
        item->stored = &g->store->variants[at];
        item->binding = g->variants[at].binding;
        item->fit = g->variants[at].fit;
        memcpy(item->tunables, g->variants[at].tunables, sizeof item->tunables);
        item->time_ns = c->time_ns;
        item->lo_ns = c->lo_ns;
        item->hi_ns = c->hi_ns;
        item->is_published = route->winner != 0 && route->winner == c->revision_row;
        item->tier = isnan(c->time_ns) ? ASSAY_TIER_UNKNOWN : ASSAY_TIER_MEASURED;
        item->quarantine =
            assay__pick_store_quarantine(g->store, &item->stored->variant_revision, text);
        if (may_be_proven(g, q))
            item->proven = assay__proven_find(g, at, &q->problem);
        take_evidence(item);
    }
    return ASSAY_OK;
}

/* Inputs that a kernel wants made contiguous; 0 also where that would not do. */
static uint8_t copies_of(const assay_binding *row, const assay_question *q)
{
    char why[128];
    unsigned copies = 0;

    return assay__caps_copies(row->desc, q->layout, q->align, &copies, why, sizeof why)
               ? (uint8_t)copies
               : 0;
}

/* The kernel as measured on contiguous inputs, and what it takes to make them so. Where no rate of
 * copying is known the sum is not either: only its parts are declared. */
static void add_price(const assay__generation *g, const assay_question *q, uint8_t copies,
                      assay__judged *item)
{
    double price[3];

    item->copies = copies;
    if (item->tier != ASSAY_TIER_MEASURED)
        return;
    item->tier = ASSAY_TIER_DECLARED;
    if (!assay__copies_price(q, copies, &g->store->copies, price))
        price[0] = price[1] = price[2] = (double)NAN;
    else
        item->tier = ASSAY_TIER_PREDICTED;
    item->time_ns += price[0];
    item->lo_ns += price[1];
    item->hi_ns += price[2];
}

/* Kernels that cannot take the inputs as they lie, but were measured on contiguous ones. */
static assay_status collect_copied(const assay__generation *g, const assay_question *q,
                                   const char *text, assay__judgement *j)
{
    const assay_binding *rows = NULL;
    size_t n = assay_snapshot_alternatives(g->snapshot, (assay_op_id)q->problem.op,
                                           q->problem.dtypes, q->problem.dtype_count, NULL, &rows);

    for (size_t i = 0; i < n; i++) {
        char layout[ASSAY_MAX_OPERANDS];
        const assay__stored_route *route;
        size_t first = j->count;
        uint8_t copies = copies_of(&rows[i], q);
        if (copies == 0)
            continue;
        assay__copies_layout(q, copies, layout);
        route = find_route(g, q, layout, text);
        if (route == j->route) /* a lack of alignment: no row says what copies would give */
            continue;
        ASSAY_TRY(collect_measured(g, q, route, text, &rows[i], j));
        for (; first < j->count; first++)
            add_price(g, q, copies, &j->items[first]);
    }
    return ASSAY_OK;
}

static assay__judged *collected(const assay__judgement *j, const assay_binding *b,
                                const int64_t *tunables)
{
    for (size_t i = 0; i < j->count; i++)
        if (j->items[i].binding == b && j->items[i].fit == ASSAY__FIT_FRESH &&
            memcmp(j->items[i].tunables, tunables, b->desc->tunable_count * sizeof *tunables) == 0)
            return &j->items[i];
    return NULL;
}

/* What a variant without a measurement of this question did at it, or at others. */
static void take_record(const assay__generation *g, const char *text, assay__judged *item)
{
    const assay_binding *b = item->binding;
    assay_digest variant;

    if (g->store->quarantine_count == 0 ||
        assay__variant_revision(&b->revision, b->desc->tunables, item->tunables,
                                b->desc->tunable_count, &variant) != ASSAY_OK)
        return;
    item->quarantine = assay__pick_store_quarantine(g->store, &variant, text);
    item->worst = assay__pick_store_worst(g->store, &variant, &item->worst_problem);
}

/* At 64 something is measured, and nothing of it may answer: what is measured at 16 may, unless its
 * variant has a row at 64, which decides. */
static assay_status collect_at_16(const assay__generation *g, const assay_question *q,
                                  const char layout[ASSAY_MAX_OPERANDS], const char *text,
                                  assay__judgement *j)
{
    const size_t first = j->count;
    const assay__stored_route *route =
        assay__pick_store_find(g->store, text, layout, 16, q->policy);

    if (route == NULL || !assay__generation_serves(g, route))
        return ASSAY_OK;
    ASSAY_TRY(collect_measured(g, q, route, text, NULL, j));
    for (size_t i = first; i < j->count;) {
        const assay__judged *item = &j->items[i];
        const assay__judged *own =
            item->fit == ASSAY__FIT_FRESH ? collected(j, item->binding, item->tunables) : NULL;
        if (item->fit != ASSAY__FIT_FRESH || own < &j->items[first])
            j->items[i] = j->items[--j->count];
        else
            i++;
    }
    if (j->count > first)
        j->route = route;
    return ASSAY_OK;
}

/* Kernels as the table ranks them, tunables at their defaults, behind what is measured. */
static assay_status collect_defaults(const assay__generation *g, const assay_question *q,
                                     const char *text, assay__row_values *values,
                                     assay__judgement *j)
{
    const assay_binding *rows = NULL;
    size_t n = assay_snapshot_alternatives(g->snapshot, (assay_op_id)q->problem.op,
                                           q->problem.dtypes, q->problem.dtype_count, NULL, &rows);

    for (size_t i = 0; i < n; i++) {
        const assay__row_code *code = assay__code_of(g, &rows[i]);
        int64_t tunables[ASSAY_MAX_TUNABLES];
        assay__judged *item;
        assay__tunables_default(rows[i].desc, q->max_threads, tunables);
        item = collected(j, &rows[i], tunables);
        if (item != NULL) {
            item->at_defaults = true;
            continue;
        }
        item = add_item(j);
        if (item == NULL)
            return fail_memory();
        item->binding = &rows[i];
        item->at_defaults = true;
        item->copies = copies_of(&rows[i], q);
        memcpy(item->tunables, tunables, sizeof item->tunables);
        take_record(g, text, item);
        if (may_be_proven(g, q))
            item->proven = assay__proven_of(g, &rows[i], tunables, &q->problem);
        take_evidence(item);
        if (assay__declares_cost(g->store, code, rows[i].desc, &q->problem, values))
            item->tier = ASSAY_TIER_DECLARED;
    }
    return ASSAY_OK;
}

/* ---- ranking ---- */

/* Those of one question that were measured together: with the same inputs made contiguous. */
static bool in_group(const assay__judged *item, unsigned copies)
{
    return !item->rejected && item->copies == copies &&
           item->tier <= (copies == 0 ? ASSAY_TIER_MEASURED : ASSAY_TIER_PREDICTED) &&
           !isnan(item->time_ns);
}

/* Lower is faster. Ratios are paired inside a visit and so beat times; all must have one. What
 * copies cost is the same for a whole group. */
static bool speed(const assay__judged *item, bool by_ratio, double out[3])
{
    const assay__route_candidate *m = item->measured;

    out[0] = by_ratio ? m->ratio : m->time_ns;
    out[1] = by_ratio ? m->ratio_lo : m->lo_ns;
    out[2] = by_ratio ? m->ratio_hi : m->hi_ns;
    return !isnan(out[0]);
}

static bool all_have_ratios(const assay__judgement *j, unsigned copies)
{
    for (size_t i = 0; i < j->count; i++)
        if (in_group(&j->items[i], copies) && isnan(j->items[i].measured->ratio))
            return false;
    return true;
}

/* Absent is worst. */
static int order_absent_last(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
    return (a > b) - (a < b);
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Negative: a is chosen. Incumbency is settled before: the incumbent is the published winner. */
static int tie_order(const assay__judged *a, const assay__judged *b)
{
    int order = (int)b->measured->stability - (int)a->measured->stability;

    if (order == 0)
        order = order_absent_last(a->max_ulp, b->max_ulp);
    if (order == 0)
        order = order_absent_last(a->max_rho, b->max_rho);
    if (order == 0)
        order = compare_u64(a->measured->workspace_bytes, b->measured->workspace_bytes);
    if (order == 0)
        order = strcmp(a->stored->kernel, b->stored->kernel);
    if (order == 0)
        order = assay_digest_compare(&a->stored->variant_revision, &b->stored->variant_revision);
    return order;
}

/* Screening alone gives no interval, and of what is noisy the interval settles nothing.  The
 * default's ratio to itself is known whatever its time is. */
static bool is_sure(const assay__judged *item, const double s[3])
{
    const unsigned verdict = item->measured->verdict;

    return !isnan(s[1]) &&
           ((verdict != ASSAY__VERDICT_NOISY && verdict != ASSAY__VERDICT_THROTTLED) ||
            s[1] >= s[2]);
}

static size_t fastest(const assay__judgement *j, unsigned copies, bool by_ratio, bool surely)
{
    size_t best = SIZE_MAX;
    double least = INFINITY, s[3];

    for (size_t i = 0; i < j->count; i++) {
        if (!in_group(&j->items[i], copies) || !speed(&j->items[i], by_ratio, s) ||
            (surely && !is_sure(&j->items[i], s)))
            continue;
        if (best == SIZE_MAX || s[0] < least ||
            (s[0] <= least && tie_order(&j->items[i], &j->items[best]) < 0)) {
            best = i;
            least = s[0];
        }
    }
    return best;
}

/* A time without an interval, or a noisy one, may just have been lucky: it displaces one that is
 * sure only from below the whole of its interval. */
static size_t leader(const assay__judgement *j, unsigned copies, bool by_ratio)
{
    const size_t best = fastest(j, copies, by_ratio, false);
    const size_t sure = fastest(j, copies, by_ratio, true);
    double best_speed[3], sure_speed[3];

    if (sure == SIZE_MAX || sure == best)
        return best;
    (void)speed(&j->items[best], by_ratio, best_speed);
    (void)speed(&j->items[sure], by_ratio, sure_speed);
    return best_speed[0] < sure_speed[1] ? best : sure;
}

/* Marks all whose interval overlaps that of `best`, and gives the one the tie rule chooses. */
static size_t break_tie(assay__judgement *j, unsigned copies, size_t best, bool by_ratio)
{
    size_t chosen = best;
    double top[3], s[3];

    (void)speed(&j->items[best], by_ratio, top);
    const bool best_is_sure = is_sure(&j->items[best], top);
    for (size_t i = 0; i < j->count; i++) {
        if (i == best || !in_group(&j->items[i], copies) || !speed(&j->items[i], by_ratio, s) ||
            !(s[1] <= top[2]))
            continue;
        j->items[i].tied = true;
        if ((is_sure(&j->items[i], s) || !best_is_sure) &&
            tie_order(&j->items[i], &j->items[chosen]) < 0)
            chosen = i;
    }
    j->items[best].tied = true;
    return chosen;
}

/* The published winner while it may answer; its ties were found with every visit at hand. */
static size_t published(assay__judgement *j, unsigned copies)
{
    size_t winner = SIZE_MAX;

    for (size_t i = 0; i < j->count; i++)
        if (in_group(&j->items[i], copies) && j->items[i].is_published)
            winner = i;
    for (size_t i = 0; winner != SIZE_MAX && i < j->count; i++)
        j->items[i].tied = in_group(&j->items[i], copies) && j->items[i].measured->tied;
    return winner;
}

static size_t rank_group(assay__judgement *j, unsigned copies)
{
    const bool by_ratio = all_have_ratios(j, copies);
    size_t chosen, best;

    for (size_t i = 0; i < j->count; i++)
        j->items[i].tied = false;
    chosen = published(j, copies);
    if (chosen != SIZE_MAX)
        return chosen;
    best = leader(j, copies, by_ratio);
    return best != SIZE_MAX ? break_tie(j, copies, best, by_ratio) : SIZE_MAX;
}

static bool is_first_of_group(const assay__judgement *j, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (j->items[i].copies == j->items[at].copies)
            return false;
    return j->items[at].copies != 0;
}

/* A prediction displaces what was measured only where even its upper bound is faster than the lower
 * one there; predictions among themselves go by what they say. */
static size_t rank_known(assay__judgement *j)
{
    size_t best = rank_group(j, 0);
    const double limit = best != SIZE_MAX ? j->items[best].lo_ns : INFINITY;

    for (size_t i = 0; i < j->count; i++) {
        size_t found = is_first_of_group(j, i) ? rank_group(j, j->items[i].copies) : SIZE_MAX;
        if (found == SIZE_MAX || (!isinf(limit) && !(j->items[found].hi_ns < limit)))
            continue;
        if (best == SIZE_MAX || j->items[best].copies == 0 ||
            j->items[found].time_ns < j->items[best].time_ns)
            best = found;
    }
    /* Once more, for its ties. */
    return best != SIZE_MAX ? rank_group(j, j->items[best].copies) : SIZE_MAX;
}

/* What has never crashed first, then what needs no copies; then rank order of the table, ties by
 * name, as the table sorts. */
static int default_order(const assay__judged *a, const assay__judged *b)
{
    if ((a->worst == ASSAY__VERDICT_CRASHED) != (b->worst == ASSAY__VERDICT_CRASHED))
        return a->worst == ASSAY__VERDICT_CRASHED ? 1 : -1;
    if ((a->copies == 0) != (b->copies == 0))
        return a->copies == 0 ? -1 : 1;
    return assay__binding_order(a->binding, b->binding);
}

/* Nothing measured may answer: the first kernel of the table that may. */
static size_t default_kernel(const assay__judgement *j)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < j->count; i++)
        if (!j->items[i].rejected && j->items[i].at_defaults &&
            (best == SIZE_MAX || default_order(&j->items[i], &j->items[best]) < 0))
            best = i;
    return best;
}

static void admit_from(const assay__generation *g, const char *named, const assay_question *q,
                       assay__row_values *values, bool with_reasons, size_t first,
                       assay__judgement *j)
{
    for (size_t i = first; i < j->count; i++)
        (void)assay__admit(g, named, q, values, with_reasons, &j->items[i]);
}

assay_status assay__judge(assay__generation *g, const char *named, const assay_question *q,
                          bool with_reasons, assay__judgement *out)
{
    char text[ASSAY_PROBLEM_TEXT_MAX], layout[ASSAY_MAX_OPERANDS];
    assay__row_values values;

    ASSAY_TRY(assay__question_check(q));
    if (assay__route_text(&q->problem, text, sizeof text) == 0)
        return assay__fail(ASSAY_OVERFLOW, "question: the problem's text exceeds %d bytes",
                           ASSAY_PROBLEM_TEXT_MAX);
    if (q->tolerance.allow_claims && !g->gated)
        assay__generation_gate(g);
    if (may_be_proven(g, q) && !g->weighed)
        assay__proven_weigh(g);
    assay__row_values_init(&q->problem, &values);
    out->count = 0;
    assay__copies_layout(q, 0, layout);
    out->route = find_route(g, q, layout, text);
    ASSAY_TRY(collect_measured(g, q, out->route, text, NULL, out));
    ASSAY_TRY(collect_copied(g, q, text, out));
    admit_from(g, named, q, &values, with_reasons, 0, out);
    out->chosen = rank_known(out);
    if (out->chosen == SIZE_MAX && q->align == 64 && out->route != NULL &&
        out->route->align == 64) {
        size_t first = out->count;
        ASSAY_TRY(collect_at_16(g, q, layout, text, out));
        admit_from(g, named, q, &values, with_reasons, first, out);
        out->chosen = rank_known(out);
    }
    out->is_default = out->chosen == SIZE_MAX;
    /* Kernels without a measurement never outrank one; they are looked at when nothing else can
     * answer, or somebody wants to know. */
    if (out->is_default || with_reasons) {
        size_t first = out->count;
        ASSAY_TRY(collect_defaults(g, q, text, &values, out));
        admit_from(g, named, q, &values, with_reasons, first, out);
    }
    if (out->is_default)
        out->chosen = default_kernel(out);
    if (out->chosen != SIZE_MAX) {
        out->items[out->chosen].chosen = true;
        out->items[out->chosen].tied = false;
    }
    return ASSAY_OK;
}

void assay__judgement_clear(assay__judgement *j)
{
    free(j->items);
    memset(j, 0, sizeof *j);
}

void assay__judged_route(const assay__judged *item, bool is_default, assay_route *out)
{
    const assay__route_candidate *m = item->measured;

    memset(out, 0, sizeof *out);
    out->time_ns = out->lo_ns = out->hi_ns = out->max_ulp = out->max_rho = NAN;
    out->tier = (uint8_t)item->tier;
    out->flags = (uint8_t)(item->copies << 1 | (is_default ? 1 : 0));
    out->accuracy = item->accuracy;
    out->max_ulp = (float)item->max_ulp;
    out->max_rho = (float)item->max_rho;
    out->proof = (uint8_t)item->proof;
    if (m == NULL)
        return;
    out->measurement = m->measurement;
    out->time_ns = (float)item->time_ns;
    out->lo_ns = (float)item->lo_ns;
    out->hi_ns = (float)item->hi_ns;
    out->stability = m->stability;
}
