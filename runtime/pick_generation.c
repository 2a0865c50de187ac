/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_generation.c -- a table snapshot and a store's routes, matched with each other.
 *
 * Stored variants are matched by backend, kernel name and revisions, never by a place in a list. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/pick_internal.h"
#include "runtime/revision.h"

/* ---- matching stored variants ---- */

static bool parse_tuple(const char *text, uint8_t dtypes[ASSAY_MAX_OPERANDS], size_t *count)
{
    size_t n = 0;

    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        char name[16];
        assay_dtype t;
        if (n == ASSAY_MAX_OPERANDS || length >= sizeof name)
            return false;
        memcpy(name, text, length);
        name[length] = '\0';
        if (assay_dtype_parse(name, &t) != ASSAY_OK)
            return false;
        dtypes[n++] = (uint8_t)t;
        text += length + (text[length] == ',');
    }
    *count = n;
    return true;
}

static const assay_binding *find_binding(const assay_snapshot *s, const assay__stored_variant *v)
{
    uint8_t dtypes[ASSAY_MAX_OPERANDS];
    const assay_binding *rows = NULL;
    size_t count = 0, n;
    assay_op_id op;

    for (op = 0; op < ASSAY_OP_COUNT; op++)
        if (strcmp(assay_op_get(op)->name, v->op) == 0)
            break;
    if (op == ASSAY_OP_COUNT || !parse_tuple(v->dtypes, dtypes, &count))
        return NULL;
    /* The run of all backends lies among the rows proper, where their codes are found. */
    n = assay_snapshot_alternatives(s, op, dtypes, count, NULL, &rows);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].manifest->name, v->backend) == 0 &&
            strcmp(rows[i].desc->name, v->kernel) == 0)
            return &rows[i];
    return NULL;
}

static int tunable_index(const assay_kernel_desc *desc, const char *name, size_t length)
{
    for (size_t i = 0; i < desc->tunable_count; i++)
        if (strlen(desc->tunables[i].name) == length &&
            memcmp(desc->tunables[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

static bool offers(const assay_tunable *t, int64_t value)
{
    for (size_t i = 0; i < t->value_count; i++)
        if (t->values[i] == value)
            return true;
    return false;
}

/* "name=value,..." with every tunable of the kernel once, each at a value that it offers. */
static bool parse_tunables(const assay_kernel_desc *desc, const char *text, int64_t *out)
{
    unsigned seen = 0;

    while (*text != '\0') {
        size_t length = strcspn(text, "=");
        int at = tunable_index(desc, text, length);
        char *end = NULL;
        if (at < 0 || text[length] != '=' || (seen >> at & 1) != 0)
            return false;
        errno = 0;
        out[at] = strtoll(text + length + 1, &end, 10);
        if (end == text + length + 1 || errno != 0 || (*end != '\0' && *end != ',') ||
            !offers(&desc->tunables[at], out[at]))
            return false;
        seen |= 1u << at;
        text = end + (*end == ',');
    }
    return seen == (1u << desc->tunable_count) - 1;
}

static void match(const assay_snapshot *s, const assay__stored_variant *v,
                  assay__known_variant *out)
{
    assay_digest variant;

    memset(out, 0, sizeof *out);
    out->binding = find_binding(s, v);
    if (out->binding == NULL)
        out->fit = ASSAY__FIT_ABSENT;
    else if (out->binding->left_closed)
        out->fit = ASSAY__FIT_CLOSED;
    else if (!assay_digest_equal(&out->binding->revision, &v->kernel_revision))
        out->fit = ASSAY__FIT_STALE;
    else if (!parse_tunables(out->binding->desc, v->tunables, out->tunables) ||
             assay__variant_revision(&out->binding->revision, out->binding->desc->tunables,
                                     out->tunables, out->binding->desc->tunable_count,
                                     &variant) != ASSAY_OK ||
             !assay_digest_equal(&variant, &v->variant_revision))
        out->fit = ASSAY__FIT_UNKNOWN;
    else
        out->fit = ASSAY__FIT_FRESH;
}

/* ---- rows ---- */

static assay_status compile(const assay_kernel_desc *desc, const char *text, bool with_tunables,
                            assay__expr **out)
{
    assay__expr *e;

    *out = NULL;
    if (text == NULL)
        return ASSAY_OK;
    e = malloc(sizeof *e);
    if (e == NULL)
        return assay__fail(ASSAY_NOMEM, "route picker: no memory for expressions");
    *out = e; /* freed with the row, also when it does not compile */
    return assay__row_expr_compile(desc, text, with_tunables, e);
}

static assay_status make_code(const assay_binding *row, assay__row_code *out)
{
    const assay_kernel_desc *d = row->desc;

    out->threads = tunable_index(d, "threads", strlen("threads"));
    for (size_t i = 0; i < sizeof out->worst / sizeof out->worst[0]; i++)
        out->worst[i] = NAN;
    ASSAY_TRY(compile(d, d->can_run, false, &out->can_run));
    ASSAY_TRY(compile(d, d->cost_flops, false, &out->cost_flops));
    ASSAY_TRY(compile(d, d->cost_bytes, false, &out->cost_bytes));
    return compile(d, d->constraint, true, &out->constraint);
}

/* ---- life ---- */

void assay__generation_destroy(assay__generation **generation)
{
    assay__generation *g;
    size_t rows;

    if (generation == NULL || *generation == NULL)
        return;
    g = *generation;
    rows = g->snapshot != NULL ? assay_snapshot_size(g->snapshot) : 0;
    for (size_t i = 0; g->codes != NULL && i < rows; i++) {
        free(g->codes[i].can_run);
        free(g->codes[i].constraint);
        free(g->codes[i].cost_flops);
        free(g->codes[i].cost_bytes);
    }
    free(g->codes);
    free(g->proven);
    free(g->variants);
    assay_snapshot_release(&g->snapshot);
    free(g);
    *generation = NULL;
}

static assay_status fill(assay__generation *g)
{
    static _Atomic uint64_t last_number;
    size_t rows = assay_snapshot_size(g->snapshot);

    g->variants = calloc(g->store->variant_count + 1, sizeof *g->variants);
    g->codes = calloc(rows + 1, sizeof *g->codes);
    g->proven = calloc(g->store->proof_count + 1, sizeof *g->proven);
    if (g->variants == NULL || g->codes == NULL || g->proven == NULL)
        return assay__fail(ASSAY_NOMEM, "route picker: no memory for %zu variants",
                           g->store->variant_count);
    for (size_t i = 0; i < rows; i++)
        ASSAY_TRY(make_code(assay_snapshot_at(g->snapshot, i), &g->codes[i]));
    for (size_t i = 0; i < g->store->variant_count; i++)
        match(g->snapshot, &g->store->variants[i], &g->variants[i]);
    return assay__pick_cache_create(atomic_fetch_add(&last_number, 1) + 1, &g->cache);
}

assay_status assay__generation_create(assay_table *table, const assay__pick_store *store,
                                      assay__generation **out)
{
    assay__generation *g = calloc(1, sizeof *g);
    assay_status status;

    if (g == NULL)
        return assay__fail(ASSAY_NOMEM, "route picker: no memory");
    g->store = store;
    status = assay_table_hold(table, &g->snapshot);
    if (status == ASSAY_OK)
        status = fill(g);
    if (status != ASSAY_OK) {
        assay__generation_destroy(&g);
        return status;
    }
    *out = g;
    return ASSAY_OK;
}

/* ---- claims against evidence ---- */

static void worsen(double *worst, double evidence)
{
    if (!isnan(evidence) && !(*worst >= evidence))
        *worst = evidence;
}

void assay__generation_gate(assay__generation *g)
{
    for (size_t i = 0; i < g->store->candidate_count; i++) {
        const assay__route_candidate *c = &g->store->candidates[i];
        size_t at = assay__pick_store_variant(g->store, c->revision_row);
        assay__row_code *code;
        if (at == SIZE_MAX || g->variants[at].fit != ASSAY__FIT_FRESH)
            continue;
        code = &g->codes[g->variants[at].binding - assay_snapshot_at(g->snapshot, 0)];
        worsen(&code->worst[0], c->max_ulp);
        worsen(&code->worst[1], c->max_rho);
        worsen(&code->worst[2], c->max_rel);
        worsen(&code->worst[3], c->max_abs);
        if (c->stability != ASSAY_STABILITY_ABSENT &&
            (code->least_stability == ASSAY_STABILITY_ABSENT ||
             c->stability < code->least_stability))
            code->least_stability = c->stability;
    }
    for (size_t i = 0; i < g->store->proof_count; i++) {
        const assay__stored_proof *p = &g->store->proofs[i];
        size_t at = assay__pick_store_variant(g->store, p->revision);
        if (at == SIZE_MAX || g->variants[at].fit != ASSAY__FIT_FRESH)
            continue;
        double *worst = g->codes[g->variants[at].binding - assay_snapshot_at(g->snapshot, 0)].worst;
        worsen(&worst[0], p->max_ulp);
        worsen(&worst[2], p->max_rel);
        worsen(&worst[3], p->max_abs);
    }
    g->gated = true;
}

/* ---- usable and idle routes ---- */

/* The best fit of a route's candidates; FRESH: the route can be used.  CLOSED: nobody looked. */
static assay__fit route_fit(const assay__generation *g, const assay__stored_route *r, size_t *first)
{
    assay__fit best = ASSAY__FIT_ABSENT;

    *first = SIZE_MAX;
    for (uint32_t i = 0; i < r->candidate_count; i++) {
        size_t at = assay__pick_store_variant(
            g->store, g->store->candidates[r->first_candidate + i].revision_row);
        if (at == SIZE_MAX)
            continue;
        if (g->variants[at].fit == ASSAY__FIT_FRESH || g->variants[at].fit == ASSAY__FIT_CLOSED)
            return g->variants[at].fit;
        if (*first == SIZE_MAX)
            *first = at;
        if (g->variants[at].fit != ASSAY__FIT_ABSENT)
            best = ASSAY__FIT_STALE;
    }
    return best;
}

bool assay__generation_serves(const assay__generation *g, const assay__stored_route *route)
{
    size_t first;

    return route_fit(g, route, &first) == ASSAY__FIT_FRESH;
}

void assay__generation_count(assay__generation *g)
{
    uint64_t stale = 0, absent = 0;
    char example[96] = "";

    for (size_t i = 0; i < g->store->route_count; i++) {
        size_t first = SIZE_MAX;
        assay__fit fit = route_fit(g, &g->store->routes[i], &first);
        g->usable += fit == ASSAY__FIT_FRESH;
        stale += fit == ASSAY__FIT_STALE;
        absent += fit == ASSAY__FIT_ABSENT;
        if ((fit == ASSAY__FIT_STALE || fit == ASSAY__FIT_ABSENT) && example[0] == '\0' &&
            first != SIZE_MAX)
            (void)snprintf(example, sizeof example, " (%.20s/%.60s)",
                           g->store->variants[first].backend, g->store->variants[first].kernel);
    }
    g->idle = stale + absent + g->store->routes_elsewhere;
    if (g->idle > 0)
        (void)snprintf(g->idle_reason, sizeof g->idle_reason,
                       "%zu of another deployment, %llu stale, %llu without their kernel%s",
                       g->store->routes_elsewhere, (unsigned long long)stale,
                       (unsigned long long)absent, example);
    g->counted = true;
}
