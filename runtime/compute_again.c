/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/compute_again.c -- a typed call that says what its site's last call said.
 *
 * Whatever depends on extents, types and limits was checked and picked then; what is left is where
 * the operands lie: ends of buffers, alignment, overlaps.  Anything unusual goes the long way. */
#include <stdlib.h>
#include <string.h>

#include "runtime/compute_internal.h"
#include "runtime/operands.h"
#include "runtime/pick_internal.h"

typedef struct where {
    int64_t from, to; /* bytes that the view takes, counted from its first element */
    uintptr_t align;  /* its address must be a multiple */
    bool needs_no_offset;
} where;

typedef struct again {
    uint64_t engine;     /* its serial: an address may be taken again */
    uint64_t generation; /* of the context's answers */
    assay__typed_key key;
    assay_route route;
    assay_problem problem;
    const assay__backend *backend;
    size_t count, inputs;
    unsigned align; /* that all had: 64, 16 or 0 */
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    where at[ASSAY_MAX_OPERANDS];
    /* Of an output, the input that it was; -1: none. */
    int same_as[ASSAY_MAX_OPERANDS];
} again;

void assay__typed_key_init(assay__typed_key *key, const assay__typed *t, const void *args,
                           size_t size)
{
    static const assay_tolerance none = ASSAY_NO_TOLERANCE;
    const assay_tolerance *o = t->call.tolerance != NULL ? t->call.tolerance : &none;
    const double limits[4] = {o->max_ulp, o->max_rho, o->max_rel, o->max_abs};
    const uint8_t levels[8] = {o->stability,        o->proof,
                               o->allow_claims,     t->call.policy.cache,
                               t->call.policy.load, t->call.policy.span};
    const uint64_t words[2] = {(uint64_t)(uintptr_t)t->entered.what, t->call.max_threads};
    const size_t head = sizeof limits + sizeof levels + sizeof words;

    key->size = 0;
    if (t->call.site == NULL || head + size > sizeof key->bytes)
        return;
    memcpy(key->bytes, limits, sizeof limits);
    memcpy(key->bytes + sizeof limits, levels, sizeof levels);
    memcpy(key->bytes + sizeof limits + sizeof levels, words, sizeof words);
    memcpy(key->bytes + head, args, size);
    key->size = head + size;
}

/* ---- keeping ---- */

static bool fill_where(const assay_kernel_desc *desc, const assay_tensor *t, size_t i, where *out)
{
    const uintptr_t by_kernel = desc->caps[i].align_bytes;
    const uintptr_t by_element = assay_dtype_bytes(t->dtype);
    const uintptr_t align = by_kernel > by_element ? by_kernel : by_element;

    out->align = align;
    out->needs_no_offset = (desc->caps[i].layouts & ASSAY_CAP_OFFSET) == 0;
    return (align & (align - 1)) == 0 && assay_tensor_elements(t) > 0 &&
           assay__tensor_span(t, &out->from, &out->to);
}

static int find_same(const assay_tensor *operands, size_t inputs, size_t output)
{
    for (size_t i = 0; i < inputs; i++)
        if (assay_tensor_data(&operands[i]) == assay_tensor_data(&operands[output]))
            return (int)i;
    return -1;
}

static bool keep(const assay__typed *t, again *a)
{
    const assay_binding *b = t->route.binding;
    const assay__plugin *plugin =
        assay__plugins_find(assay__context_plugins(t->engine->context), b->manifest->name);

    if (plugin == NULL)
        return false;
    a->engine = t->engine->serial;
    a->generation = t->call.site->pick[0].generation;
    a->route = t->route;
    a->problem = t->problem;
    a->backend =
        b->manifest == t->engine->plugin->manifest ? &t->engine->backend : &plugin->backend;
    a->count = t->count;
    a->inputs = assay_op_get((assay_op_id)t->problem.op)->inputs;
    memcpy(a->operands, t->operands, t->count * sizeof *t->operands);
    a->align = 64;
    for (size_t i = 0; i < t->count; i++) {
        const unsigned own = assay_tensor_align(&t->operands[i]);
        a->align = own < a->align ? own : a->align;
        if (!fill_where(b->desc, &t->operands[i], i, &a->at[i]))
            return false;
        a->same_as[i] = i < a->inputs ? -1 : find_same(t->operands, a->inputs, i);
    }
    return a->generation != 0;
}

void assay__typed_remember(assay__typed *t, const assay__typed_key *key)
{
    assay_call_site *site = t->call.site;

    if (key->size == 0 || t->runs != 1)
        return;
    if (site->again == NULL)
        site->again = calloc(1, sizeof(again));
    again *a = site->again;
    if (a == NULL)
        return; /* the long way works without */
    a->key.size = 0;
    if (keep(t, a)) {
        memcpy(a->key.bytes, key->bytes, key->size);
        a->key.size = key->size;
    }
}

/* ---- running again ---- */

static unsigned align_of(uintptr_t addresses)
{
    return (addresses & 63) == 0 ? 64 : (addresses & 15) == 0 ? 16 : 0;
}

/* Where the operands lie now; false: another question, or one that is refused. */
static bool place(const assay_engine *engine, again *a, const assay_place *places)
{
    uintptr_t addresses = 0;

    for (size_t i = 0; i < a->count; i++) {
        assay_buffer b = places[i].buffer;
        const uint64_t offset = places[i].byte_offset;
        void *host = b.at.host;
        int64_t from = a->at[i].from, to = a->at[i].to;
        if (b.owner != 0 &&
            assay__backend_map(&engine->backend, b, &host, &b.size_bytes) != ASSAY_OK)
            return false;
        if (host == NULL || offset > INT64_MAX || __builtin_add_overflow(to, (int64_t)offset, &to))
            return false;
        from += (int64_t)offset;
        if ((b.size_bytes != UINT64_MAX && (from < 0 || (uint64_t)to > b.size_bytes)) ||
            (((uintptr_t)host + offset) & (a->at[i].align - 1)) != 0 ||
            (a->at[i].needs_no_offset && offset != 0))
            return false;
        a->operands[i].buffer = (assay_buffer){.at.host = host, .size_bytes = b.size_bytes};
        a->operands[i].byte_offset = offset;
        addresses |= (uintptr_t)host + offset;
    }
    return align_of(addresses) == a->align;
}

static uintptr_t address(const again *a, size_t i)
{
    return (uintptr_t)a->operands[i].buffer.at.host + a->operands[i].byte_offset;
}

/* An output is the input that it was, and apart from all else. */
static bool is_apart(const again *a)
{
    for (size_t y = a->inputs; y < a->count; y++)
        for (size_t i = 0; i < y; i++) {
            const uintptr_t at_y = address(a, y), at_i = address(a, i);
            const bool apart = at_y + (uintptr_t)a->at[y].to <= at_i + (uintptr_t)a->at[i].from ||
                               at_i + (uintptr_t)a->at[i].to <= at_y + (uintptr_t)a->at[y].from;
            if (apart ? a->same_as[y] == (int)i : a->same_as[y] != (int)i || at_y != at_i)
                return false;
        }
    return true;
}

static assay_status launch(assay__typed *t, again *a)
{
    const assay_binding *b = a->route.binding;
    const assay_launch l = {.struct_size = sizeof l,
                            .operand_count = (uint32_t)a->count,
                            .problem = &a->problem,
                            .operands = a->operands,
                            .tunables = a->route.tunables,
                            .instance = a->backend->instance,
                            .tunable_count = (uint32_t)b->desc->tunable_count};

    ASSAY_TRY(assay__backend_launch(a->backend, b->run, &l));
    ASSAY_TRY(assay__backend_synchronize(a->backend));
    t->record.launches = 1;
    assay__typed_note(t, &a->route, &a->problem);
    return ASSAY_OK;
}

bool assay__typed_again(assay__typed *t, const assay__typed_key *key, const assay_place *places,
                        size_t count, assay_status *status)
{
    if (key->size == 0 || t->call.site->again == NULL || t->call.queue != NULL)
        return false;
    again *a = t->call.site->again;
    if (a->key.size != key->size || a->engine != t->engine->serial || a->count != count ||
        a->generation !=
            atomic_load_explicit(&t->engine->routes->generation, memory_order_acquire) ||
        memcmp(a->key.bytes, key->bytes, key->size) != 0 || !place(t->engine, a, places) ||
        !is_apart(a))
        return false;
    *status = launch(t, a);
    return true;
}
