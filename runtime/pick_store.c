/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_store.c -- reads routes, variants and quarantine of one deployment into memory. */
#include "runtime/pick_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/error.h"
#include "runtime/host_backend.h"
#include "runtime/pick_key.h"

struct assay__quarantined {
    assay_digest variant;
    const char *problem, *reason; /* owned through strings; problem "": all */
    assay__verdict verdict;
};

static assay_status fail_memory(void)
{
    return assay__fail(ASSAY_NOMEM, "route picker: no memory for the store's routes");
}

/* Filling 100 MB page by page takes longer than reading the routes that go there. */
static void advise_large(void *memory, size_t bytes)
{
    const uintptr_t large = (uintptr_t)2 << 20;
    uintptr_t start = ((uintptr_t)memory + large - 1) & ~(large - 1);
    uintptr_t end = ((uintptr_t)memory + bytes) & ~(large - 1);

    if (start < end)
        (void)madvise((char *)memory + (start - (uintptr_t)memory), end - start, MADV_HUGEPAGE);
}

/* Room for `more` items beyond `used`; doubles. */
static assay_status grow(void *items_at, size_t *cap, size_t used, size_t more, size_t item)
{
    void *items, *grown;
    size_t want = *cap > 0 ? *cap : 64;

    if (used + more <= *cap)
        return ASSAY_OK;
    while (want < used + more)
        want *= 2;
    memcpy(&items, items_at, sizeof items);
    grown = realloc(items, want * item);
    if (grown == NULL)
        return fail_memory();
    memcpy(items_at, &grown, sizeof grown);
    *cap = want;
    advise_large(grown, want * item);
    return ASSAY_OK;
}

#define GROW(s, items, count, cap, more) \
    grow(&(s)->items, &(s)->cap, (s)->count, more, sizeof *(s)->items)

static assay_status keep_string(assay__pick_store *s, const char *text, const char **out)
{
    char *copy;

    ASSAY_TRY(GROW(s, strings, string_count, string_cap, 1));
    copy = strdup(text != NULL ? text : "");
    if (copy == NULL)
        return fail_memory();
    s->strings[s->string_count++] = copy;
    *out = copy;
    return ASSAY_OK;
}

/* ---- rows ---- */

static assay_status take_variant(void *cookie, const assay__store_revision *r)
{
    assay__pick_store *s = cookie;
    assay__stored_variant v = {.row = r->row,
                               .kernel_revision = r->kernel_revision,
                               .variant_revision = r->variant_revision};

    ASSAY_TRY(GROW(s, variants, variant_count, variant_cap, 1));
    ASSAY_TRY(keep_string(s, r->kernel, &v.kernel));
    ASSAY_TRY(keep_string(s, r->backend, &v.backend));
    ASSAY_TRY(keep_string(s, r->op, &v.op));
    ASSAY_TRY(keep_string(s, r->dtypes, &v.dtypes));
    ASSAY_TRY(keep_string(s, r->tunables, &v.tunables));
    s->variants[s->variant_count++] = v;
    return ASSAY_OK;
}

/* Few reasons are in use: they are kept once each. A rare one past the table reads as "other". */
static assay_status take_reason(assay__pick_store *s, const char *reason, uint32_t *out)
{
    const size_t cap = sizeof s->stop_reasons / sizeof s->stop_reasons[0];

    reason = reason != NULL ? reason : "";
    for (size_t i = 0; i < s->stop_reason_count; i++)
        if (strcmp(s->stop_reasons[i], reason) == 0) {
            *out = (uint32_t)i;
            return ASSAY_OK;
        }
    if (s->stop_reason_count == cap) {
        *out = (uint32_t)cap - 1;
        return ASSAY_OK;
    }
    if (s->stop_reason_count == cap - 1)
        reason = "other";
    ASSAY_TRY(keep_string(s, reason, &s->stop_reasons[s->stop_reason_count]));
    *out = (uint32_t)s->stop_reason_count++;
    return ASSAY_OK;
}

static uint64_t route_hash(const char *problem, size_t length, const char *layout, unsigned align,
                           assay_policy policy)
{
    struct {
        uint64_t text;
        char layout[ASSAY_MAX_OPERANDS];
        uint8_t align, cache, load, span;
        uint32_t zero;
    } key = {.text = assay__xxh64(problem, length),
             .align = (uint8_t)align,
             .cache = policy.cache,
             .load = policy.load,
             .span = policy.span};

    memcpy(key.layout, layout, sizeof key.layout);
    return assay__xxh64(&key, sizeof key);
}

/* Texts with a class parameter are written anew, its class in place of its value. A text that does
 * not parse here (an op of a newer version) stays as it is and is never asked for. */
static const char *canonical(const char *problem, char *buf, size_t cap)
{
    char name[64];
    size_t length = strcspn(problem, " ");
    assay_op_id op;
    assay_problem p;

    if (length >= sizeof name)
        return problem;
    memcpy(name, problem, length);
    name[length] = '\0';
    for (op = 0; op < ASSAY_OP_COUNT; op++)
        if (strcmp(assay_op_get(op)->name, name) == 0)
            break;
    for (size_t i = 0; op < ASSAY_OP_COUNT && i < assay_op_get(op)->param_count; i++) {
        const assay_param_info *param = &assay_op_get(op)->params[i];
        if (param->klass != ASSAY_CLASS || strstr(problem, param->name) == NULL)
            continue;
        if (assay_problem_parse(problem, &p) == ASSAY_OK && assay__route_text(&p, buf, cap) > 0)
            return buf;
        return problem;
    }
    return problem;
}

/* The first route tells what the others are like. */
static assay_status reserve(assay__pick_store *s, size_t candidates, size_t text)
{
    if (s->route_count > 0 || s->routes_here > 1000000)
        return ASSAY_OK;
    if (candidates > 16) /* one searched hard says little of the rest */
        candidates = 16;
    ASSAY_TRY(GROW(s, candidates, candidate_count, candidate_cap, candidates * s->routes_here));
    return GROW(s, text, text_used, text_cap, text * s->routes_here);
}

/* A record that says what cannot be answers nothing, and does not count as evidence either. */
static void void_unsound(assay__route_candidate *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assay__route_candidate *c = &candidates[i];
        if (assay__candidate_is_sound(c))
            continue;
        c->time_ns = c->lo_ns = c->hi_ns = c->ratio = c->ratio_lo = c->ratio_hi = NAN;
        c->max_ulp = c->max_rho = c->max_rel = c->max_abs = NAN;
        c->proof = ASSAY_PROOF_ABSENT;
        c->stability = ASSAY_STABILITY_ABSENT;
        c->verdict = ASSAY__VERDICT_UNSOUND;
    }
}

static assay_status take_route(void *cookie, const assay__store_route *r)
{
    assay__pick_store *s = cookie;
    char buf[ASSAY_PROBLEM_TEXT_MAX];
    const char *problem = canonical(r->problem, buf, sizeof buf);
    size_t length = strlen(problem);
    assay__stored_route route = {.row = r->row,
                                 .winner = r->winner_revision_row,
                                 .text = s->text_used,
                                 .first_candidate = s->candidate_count,
                                 .candidate_count = (uint32_t)r->candidate_count,
                                 .searched = r->searched,
                                 .total = r->total,
                                 .align = (uint8_t)r->align};

    /* A route of a policy or alignment that this version does not know answers nothing. */
    if (assay_policy_parse(r->policy, &route.policy) != ASSAY_OK || r->align > 64)
        return ASSAY_OK;
    memcpy(route.layout, r->layout, strnlen(r->layout, sizeof route.layout));
    ASSAY_TRY(take_reason(s, r->stop_reason, &route.stop_reason));
    ASSAY_TRY(reserve(s, r->candidate_count, length + 1));
    ASSAY_TRY(GROW(s, text, text_used, text_cap, length + 1));
    memcpy(s->text + s->text_used, problem, length + 1);
    s->text_used += length + 1;
    ASSAY_TRY(GROW(s, candidates, candidate_count, candidate_cap, r->candidate_count));
    if (r->candidate_count > 0)
        memcpy(s->candidates + s->candidate_count, r->candidates,
               r->candidate_count * sizeof *s->candidates);
    void_unsound(s->candidates + s->candidate_count, r->candidate_count);
    s->candidate_count += r->candidate_count;
    route.hash = route_hash(problem, length, route.layout, route.align, route.policy);
    ASSAY_TRY(GROW(s, routes, route_count, route_cap, 1));
    s->routes[s->route_count++] = route;
    return ASSAY_OK;
}

static assay_status take_quarantine(void *cookie, const assay__store_quarantine *row)
{
    assay__pick_store *s = cookie;
    struct assay__quarantined q = {.variant = row->variant, .verdict = row->verdict};
    char buf[ASSAY_PROBLEM_TEXT_MAX];
    const char *problem = row->problem != NULL ? canonical(row->problem, buf, sizeof buf) : "";

    ASSAY_TRY(GROW(s, quarantined, quarantine_count, quarantine_cap, 1));
    ASSAY_TRY(keep_string(s, problem, &q.problem));
    ASSAY_TRY(keep_string(s, row->reason, &q.reason));
    s->quarantined[s->quarantine_count++] = q;
    return ASSAY_OK;
}

/* That of an op of a newer version is never asked for. */
static assay_status take_proof(void *cookie, const assay__store_proof *p)
{
    assay__pick_store *s = cookie;
    assay__stored_proof proof = {.revision = p->revision_row,
                                 .accuracy = p->accuracy,
                                 .max_ulp = p->max_ulp,
                                 .max_rel = p->max_rel,
                                 .max_abs = p->max_abs,
                                 .passed = p->passed,
                                 .is_contradicted = p->is_contradicted};

    if (assay_problem_parse(p->problem, &proof.problem) != ASSAY_OK)
        return ASSAY_OK;
    ASSAY_TRY(GROW(s, proofs, proof_count, proof_cap, 1));
    s->proofs[s->proof_count++] = proof;
    return ASSAY_OK;
}

/* Rows come by source, target and size.  Those that cannot be, or have no interval, price nothing.
 */
static assay_status take_transfer(void *cookie, const assay__store_transfer *row)
{
    assay__pick_store *s = cookie;
    const assay__transfer_point point = {row->bytes, row->median_ns, row->lo_ns, row->hi_ns};
    assay__stored_transfer *last =
        s->transfer_count > 0 ? &s->transfers[s->transfer_count - 1] : NULL;

    if (!assay__transfer_is_sound(&point))
        return ASSAY_OK;
    if (last == NULL || strcmp(last->source, row->source) != 0 ||
        strcmp(last->target, row->target) != 0) {
        assay__stored_transfer t = {.first = s->point_count};
        ASSAY_TRY(keep_string(s, row->source, &t.source));
        ASSAY_TRY(keep_string(s, row->target, &t.target));
        ASSAY_TRY(GROW(s, transfers, transfer_count, transfer_cap, 1));
        s->transfers[s->transfer_count++] = t;
        last = &s->transfers[s->transfer_count - 1];
    }
    ASSAY_TRY(GROW(s, points, point_count, point_cap, 1));
    s->points[s->point_count++] = point;
    last->count++;
    return ASSAY_OK;
}

/* ---- indexes ---- */

static int proof_order(const void *left, const void *right)
{
    const assay__stored_proof *a = left, *b = right;

    if (a->revision != b->revision)
        return a->revision < b->revision ? -1 : 1;
    return (a->accuracy > b->accuracy) - (a->accuracy < b->accuracy);
}

static int variant_order(const void *left, const void *right)
{
    const assay__stored_variant *a = left, *b = right;

    return (a->row > b->row) - (a->row < b->row);
}

static int quarantine_order(const void *left, const void *right)
{
    const struct assay__quarantined *a = left, *b = right;

    return assay_digest_compare(&a->variant, &b->variant);
}

static bool same_question(const assay__pick_store *s, const assay__stored_route *a,
                          const assay__stored_route *b)
{
    return a->hash == b->hash && strcmp(s->text + a->text, s->text + b->text) == 0 &&
           memcmp(a->layout, b->layout, sizeof a->layout) == 0 && a->align == b->align &&
           memcmp(&a->policy, &b->policy, sizeof a->policy) == 0;
}

/* Of two routes for one question (class parameters with two values) the later row counts. */
static assay_status index_routes(assay__pick_store *s)
{
    size_t size = 16;

    while (size < s->route_count * 2)
        size *= 2;
    s->index = calloc(size, sizeof *s->index);
    if (s->index == NULL)
        return fail_memory();
    s->index_mask = size - 1;
    for (size_t i = 0; i < s->route_count; i++) {
        uint64_t at = s->routes[i].hash;
        uint32_t *slot;
        while (*(slot = &s->index[at & s->index_mask]) != 0 &&
               !same_question(s, &s->routes[*slot - 1], &s->routes[i]))
            at++;
        if (*slot == 0 || s->routes[*slot - 1].row < s->routes[i].row)
            *slot = (uint32_t)i + 1;
    }
    return ASSAY_OK;
}

const assay__stored_route *assay__pick_store_find(const assay__pick_store *s,
                                                  const char *problem_text, const char *layout,
                                                  unsigned align, assay_policy policy)
{
    uint64_t hash = route_hash(problem_text, strlen(problem_text), layout, align, policy);

    if (s->route_count == 0)
        return NULL;
    for (uint64_t at = hash; s->index[at & s->index_mask] != 0; at++) {
        const assay__stored_route *r = &s->routes[s->index[at & s->index_mask] - 1];
        if (r->hash == hash && r->align == align &&
            memcmp(r->layout, layout, sizeof r->layout) == 0 &&
            memcmp(&r->policy, &policy, sizeof policy) == 0 &&
            strcmp(s->text + r->text, problem_text) == 0)
            return r;
    }
    return NULL;
}

size_t assay__pick_store_variant(const assay__pick_store *s, uint64_t revision_row)
{
    size_t low = 0, high = s->variant_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->variants[middle].row < revision_row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->variant_count && s->variants[low].row == revision_row ? low : SIZE_MAX;
}

/* The first entry of a variant, or where it would be. */
static size_t first_quarantined(const assay__pick_store *s, const assay_digest *variant)
{
    size_t low = 0, high = s->quarantine_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (assay_digest_compare(&s->quarantined[middle].variant, variant) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *assay__pick_store_quarantine(const assay__pick_store *s, const assay_digest *variant,
                                         const char *problem_text)
{
    for (size_t i = first_quarantined(s, variant); i < s->quarantine_count; i++) {
        const struct assay__quarantined *q = &s->quarantined[i];
        if (!assay_digest_equal(&q->variant, variant))
            return NULL;
        if (q->problem[0] == '\0' || strcmp(q->problem, problem_text) == 0)
            return q->reason;
    }
    return NULL;
}

assay__verdict assay__pick_store_worst(const assay__pick_store *s, const assay_digest *variant,
                                       const char **problem)
{
    assay__verdict worst = ASSAY__VERDICT_NONE;

    for (size_t i = first_quarantined(s, variant); i < s->quarantine_count; i++) {
        const struct assay__quarantined *q = &s->quarantined[i];
        if (!assay_digest_equal(&q->variant, variant) || worst == ASSAY__VERDICT_WRONG)
            break;
        if (q->verdict != ASSAY__VERDICT_WRONG && q->verdict != ASSAY__VERDICT_CRASHED)
            continue;
        worst = q->verdict;
        *problem = q->problem;
    }
    return worst;
}

/* ---- transfers ---- */

static bool goes_to(const assay__stored_transfer *t, const char *memory)
{
    const size_t length = strlen(memory);

    return strncmp(t->target, memory, length) == 0 && t->target[length] == '/';
}

bool assay__pick_store_transfer(const assay__pick_store *s, const char *from, const char *to,
                                double bytes, assay_path *path, double out[3])
{
    bool any = false;

    for (size_t i = 0; i < s->transfer_count; i++) {
        const assay__stored_transfer *t = &s->transfers[i];
        double price[3];
        assay_path by;
        if (strcmp(t->source, from) != 0 || !goes_to(t, to) ||
            !assay__transfer_path(t->target, &by) ||
            !assay__transfer_price(s->points + t->first, t->count, bytes, price) ||
            (any && price[0] >= out[0]))
            continue;
        memcpy(out, price, sizeof price);
        *path = by;
        any = true;
    }
    return any;
}

/* ---- life ---- */

assay_status assay__pick_store_create(assay__pick_store **out)
{
    assay__pick_store *s = calloc(1, sizeof *s);

    if (s == NULL)
        return fail_memory();
    s->copies.bytes_per_ns = (double)NAN;
    s->of_f32 = s->of_f64 = (assay_capabilities){
        .struct_size = sizeof s->of_f32, .flops_per_ns = (double)NAN, .bytes_per_ns = (double)NAN};
    *out = s;
    return ASSAY_OK;
}

void assay__pick_store_destroy(assay__pick_store **store)
{
    assay__pick_store *s;

    if (store == NULL || *store == NULL)
        return;
    s = *store;
    for (size_t i = 0; i < s->string_count; i++)
        free(s->strings[i]);
    free(s->strings);
    free(s->variants);
    free(s->routes);
    free(s->index);
    free(s->candidates);
    free(s->text);
    free(s->quarantined);
    free(s->proofs);
    free(s->transfers);
    free(s->points);
    free(s);
    *store = NULL;
}

/* One thread copies, and not past the caches, as whoever makes an input contiguous does. */
static assay_status read_copy_costs(const assay__store_ops *ops, assay__store *store,
                                    const char *hex, assay__pick_store *s)
{
    double value = 0;
    assay_status status = ops->peak(store, hex, "copy_plain_t1", &value);

    for (size_t i = 0; i < s->transfer_count; i++) {
        const assay__stored_transfer *t = &s->transfers[i];
        if (strcmp(t->source, "cpu:0") == 0 && strcmp(t->target, "cpu:0/copy") == 0) {
            s->copies.points = s->points + t->first;
            s->copies.count = t->count;
        }
    }
    if (status == ASSAY_OK && value > 0)
        s->copies.bytes_per_ns = value;
    return status == ASSAY_NOTFOUND ? ASSAY_OK : status;
}

/* The fastest of the named peaks of `threads` threads. */
static assay_status fastest_peak(const assay__store_ops *ops, assay__store *store, const char *hex,
                                 const char *const *names, uint32_t threads, double *out)
{
    char name[64];

    *out = (double)NAN;
    for (size_t i = 0; names[i] != NULL; i++) {
        double value = 0;
        (void)snprintf(name, sizeof name, "%s_t%u", names[i], threads);
        assay_status status = ops->peak(store, hex, name, &value);
        if (status != ASSAY_OK && status != ASSAY_NOTFOUND)
            return status;
        if (status == ASSAY_OK && value > 0 && !(value <= *out))
            *out = value;
    }
    return ASSAY_OK;
}

/* Of all CPUs where that was measured, else of one. */
static assay_status read_capabilities(const assay__store_ops *ops, assay__store *store,
                                      const char *hex, const char *const *flops,
                                      assay_capabilities *out)
{
    static const char *const copies[] = {"copy_nt", "copy_plain", NULL};
    const uint32_t counts[] = {assay__host_usable_cpus(), 1};

    for (size_t i = 0; i < 2; i++) {
        *out = (assay_capabilities){.struct_size = sizeof *out, .threads = counts[i]};
        ASSAY_TRY(fastest_peak(ops, store, hex, flops, counts[i], &out->flops_per_ns));
        ASSAY_TRY(fastest_peak(ops, store, hex, copies, counts[i], &out->bytes_per_ns));
        if (!isnan(out->flops_per_ns))
            break;
    }
    return ASSAY_OK;
}

static assay_status read_device(const assay__store_ops *ops, assay__store *store, const char *hex,
                                assay__pick_store *s)
{
    static const char *const f32[] = {"fma_f32_avx512", "fma_f32_avx2", "fma_f32_portable", NULL};
    static const char *const f64[] = {"fma_f64_avx512", "fma_f64_avx2", "fma_f64_portable", NULL};

    ASSAY_TRY(read_capabilities(ops, store, hex, f32, &s->of_f32));
    return read_capabilities(ops, store, hex, f64, &s->of_f64);
}

static assay_status read_all(const assay__store_ops *ops, assay__store *store, const char *hex,
                             assay__pick_store *s)
{
    ASSAY_TRY(ops->schema_version(store, &s->schema));
    ASSAY_TRY(ops->data_version(store, &s->data_version));
    ASSAY_TRY(ops->count_routes(store, hex, &s->routes_here, &s->routes_elsewhere));
    ASSAY_TRY(GROW(s, routes, route_count, route_cap, s->routes_here));
    ASSAY_TRY(ops->each_revision(store, hex, take_variant, s));
    ASSAY_TRY(ops->each_route(store, hex, take_route, s));
    ASSAY_TRY(ops->each_quarantine(store, hex, take_quarantine, s));
    if (ops->each_proof != NULL)
        ASSAY_TRY(ops->each_proof(store, hex, take_proof, s));
    if (s->proof_count > 1)
        qsort(s->proofs, s->proof_count, sizeof *s->proofs, proof_order);
    if (ops->each_transfer != NULL)
        ASSAY_TRY(ops->each_transfer(store, hex, take_transfer, s));
    ASSAY_TRY(read_copy_costs(ops, store, hex, s));
    ASSAY_TRY(read_device(ops, store, hex, s));
    if (s->variant_count > 1)
        qsort(s->variants, s->variant_count, sizeof *s->variants, variant_order);
    if (s->quarantine_count > 1)
        qsort(s->quarantined, s->quarantine_count, sizeof *s->quarantined, quarantine_order);
    return index_routes(s);
}

assay_status assay__pick_store_read(const assay__store_ops *ops, assay__store *store,
                                    const char *path, const char *deployment_hex,
                                    assay__pick_store **out)
{
    assay__pick_store *s = NULL;
    assay_status status;

    ASSAY_TRY(assay__pick_store_create(&s));
    (void)snprintf(s->path, sizeof s->path, "%s", path);
    status = ops->begin_snapshot(store);
    if (status == ASSAY_OK) {
        status = read_all(ops, store, deployment_hex, s);
        ops->end_snapshot(store);
    }
    if (status != ASSAY_OK) {
        assay__pick_store_destroy(&s);
        return status;
    }
    *out = s;
    return ASSAY_OK;
}
