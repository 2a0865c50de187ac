/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_explain.c -- the winner, its ties, and the reason for every rejection. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/noise_words.h"
#include "runtime/pick_internal.h"
#include "runtime/revision.h"

static int rank_of(const assay_candidate *c)
{
    if (c->chosen)
        return 0;
    if (c->rejected)
        return 3;
    return c->tied ? 1 : 2;
}

/* Chosen, ties, the rest by time with unmeasured ones last, then the rejected; names break ties. */
static int candidate_order(const void *left, const void *right)
{
    const assay_candidate *a = left, *b = right;
    int order = rank_of(a) - rank_of(b);
    double x = a->route.time_ns, y = b->route.time_ns;

    if (order == 0)
        order = (isnan(x) ? 1 : 0) - (isnan(y) ? 1 : 0);
    if (order == 0)
        order = (x > y) - (x < y);
    if (order == 0)
        order = strcmp(a->backend, b->backend);
    if (order == 0)
        order = strcmp(a->kernel, b->kernel);
    return order != 0 ? order : assay_digest_compare(&a->revision, &b->revision);
}

/* "1234 ns [1200, 1300]"; bounds that are not known are left out. */
static void put_time(const assay__route_candidate *m, char *buf, size_t cap)
{
    if (isnan(m->lo_ns) || isnan(m->hi_ns))
        (void)snprintf(buf, cap, "%.6g ns", m->time_ns);
    else
        (void)snprintf(buf, cap, "%.6g ns [%.6g, %.6g]", m->time_ns, m->lo_ns, m->hi_ns);
}

static const char *cost_word(assay_tier tier)
{
    return tier == ASSAY_TIER_DECLARED ? ", its cost is only declared" : "";
}

/* "; operand 0 must be made contiguous"; what is worse than that comes instead. */
static void put_remark(const assay__judged *item, char *buf, size_t cap)
{
    char which[64];

    buf[0] = '\0';
    if (item->worst == ASSAY__VERDICT_CRASHED)
        (void)snprintf(buf, cap, "; crashed at another problem");
    if (item->copies == 0 || buf[0] != '\0')
        return;
    assay__copies_text(item->copies, which, sizeof which);
    (void)snprintf(buf, cap, "; %s must be made contiguous", which);
}

static void put_standing(const assay__judged *item, bool is_default, char *buf, size_t cap)
{
    const assay__route_candidate *m = item->measured;
    const int rank = item->binding->default_rank;
    char time[96] = "", remark[96], whole[64];

    if (m != NULL)
        put_time(m, time, sizeof time);
    put_remark(item, remark, sizeof remark);
    if (item->chosen && is_default)
        (void)snprintf(buf, cap, "default kernel (rank %d): nothing measured may answer%s%.45s",
                       rank, cost_word(item->tier), remark);
    else if (m == NULL)
        (void)snprintf(
            buf, cap, "never measured for this question (rank %d)%s%s%.45s", rank,
            item->proof == ASSAY_PROOF_EXHAUSTIVE ? ", its error over all inputs is known" : "",
            cost_word(item->tier), remark);
    else if (item->tier == ASSAY_TIER_DECLARED)
        (void)snprintf(buf, cap, "not ranked: %.60s on contiguous inputs%.45s", time, remark);
    else if (item->tier == ASSAY_TIER_PREDICTED) {
        (void)snprintf(whole, sizeof whole, "%.4g ns [%.4g, %.4g]", item->time_ns, item->lo_ns,
                       item->hi_ns);
        (void)snprintf(buf, cap, "%s: predicted %s%.45s",
                       item->chosen ? "chosen"
                       : item->tied ? "tie"
                                    : "not better for certain",
                       whole, remark);
    } else if (item->chosen)
        (void)snprintf(buf, cap, "chosen: %s", time);
    else if (item->tied)
        (void)snprintf(buf, cap, "tie: %s; another comes first by the tie rule", time);
    else if (isnan(m->lo_ns))
        (void)snprintf(buf, cap, "screened: %s, too few visits for an interval", time);
    else
        (void)snprintf(buf, cap, "slower: %s", time);
}

static void put_noise(const assay__judged *item, char *buf, size_t cap)
{
    const assay__route_candidate *m = item->measured;
    const char *first = "";

    buf[0] = '\0';
    if (m == NULL)
        return;
    if (m->verdict == ASSAY__VERDICT_NOISY)
        first = "noisy";
    if (m->verdict == ASSAY__VERDICT_THROTTLED)
        first = "throttled";
    (void)snprintf(buf, cap, "%s%s", first, first[0] != '\0' && m->noise != 0 ? " " : "");
    (void)assay__noise_words(m->noise, buf + strlen(buf), cap - strlen(buf));
}

/* The tunables as the store wrote them, where this process cannot place them. */
static void put_stored(const assay__judged *item, assay_candidate *c)
{
    (void)snprintf(c->kernel, sizeof c->kernel, "%s", item->stored->kernel);
    (void)snprintf(c->backend, sizeof c->backend, "%s", item->stored->backend);
    c->revision = item->stored->variant_revision;
}

static void put_bound(const assay__judged *item, assay_candidate *c)
{
    const assay_kernel_desc *desc = item->binding->desc;

    (void)snprintf(c->kernel, sizeof c->kernel, "%s", desc->name);
    (void)snprintf(c->backend, sizeof c->backend, "%s", item->binding->manifest->name);
    (void)assay__variant_revision(&item->binding->revision, desc->tunables, item->tunables,
                                  desc->tunable_count, &c->revision);
}

static assay_status put_candidate(assay_context *context, const assay__judged *item,
                                  bool is_default, assay_candidate *c)
{
    const assay__interned *variant = NULL;

    if (item->stored != NULL)
        put_stored(item, c);
    else
        put_bound(item, c);
    assay__judged_route(item, item->chosen && is_default, &c->route);
    if (item->fit == ASSAY__FIT_FRESH) {
        ASSAY_TRY(assay__intern(context, item->binding, item->tunables, &variant));
        c->binding = c->route.binding = &variant->binding;
        c->route.tunables = variant->tunables;
        c->tunable_count = item->binding->desc->tunable_count;
        memcpy(c->tunables, item->tunables, c->tunable_count * sizeof *c->tunables);
    }
    c->chosen = item->chosen;
    c->tied = item->tied;
    c->rejected = item->rejected;
    put_noise(item, c->noise, sizeof c->noise);
    if (item->rejected)
        (void)snprintf(c->reason, sizeof c->reason, "%s", item->reason);
    else
        put_standing(item, is_default, c->reason, sizeof c->reason);
    return ASSAY_OK;
}

static assay_status fill(assay_context *context, const assay_question *q, const assay__judgement *j,
                         assay_explanation *out)
{
    const assay__pick_store *store = context->store_data;

    out->question = *q;
    memcpy(out->deployment, context->deployment, sizeof out->deployment);
    (void)snprintf(out->store_path, sizeof out->store_path, "%s", store->path);
    out->schema = store->schema;
    if (j->route != NULL) {
        out->searched = j->route->searched;
        out->total = j->route->total;
        (void)snprintf(out->stop_reason, sizeof out->stop_reason, "%s",
                       store->stop_reasons[j->route->stop_reason]);
    }
    out->candidates = calloc(j->count + 1, sizeof *out->candidates);
    if (out->candidates == NULL)
        return assay__fail(ASSAY_NOMEM, "explanation: no memory for %zu candidates", j->count);
    for (size_t i = 0; i < j->count; i++) {
        if (j->items[i].hidden) {
            out->hidden_count++;
            continue;
        }
        ASSAY_TRY(put_candidate(context, &j->items[i], j->is_default,
                                &out->candidates[out->candidate_count]));
        out->candidate_count++;
    }
    if (out->candidate_count > 1)
        qsort(out->candidates, out->candidate_count, sizeof *out->candidates, candidate_order);
    return ASSAY_OK;
}

assay_status assay_explain(assay_context *context, const assay_question *question,
                           assay_explanation **out)
{
    assay_explanation *e = calloc(1, sizeof *e);
    assay__judgement j = {0};
    assay_status status;

    if (e == NULL)
        return assay__fail(ASSAY_NOMEM, "explanation: no memory");
    pthread_mutex_lock(&context->answering);
    status = assay__judge(context->current, context->named, question, true, &j);
    if (status == ASSAY_OK)
        status = fill(context, question, &j, e);
    pthread_mutex_unlock(&context->answering);
    assay__judgement_clear(&j);
    if (status != ASSAY_OK) {
        assay_explanation_destroy(&e);
        return status;
    }
    *out = e;
    return ASSAY_OK;
}

void assay_explanation_destroy(assay_explanation **explanation)
{
    if (explanation == NULL || *explanation == NULL)
        return;
    free((*explanation)->candidates);
    free(*explanation);
    *explanation = NULL;
}
