/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/compute.c -- what all typed calls are made of.
 *
 * On engines whose memory the host reaches, operands become host tensors first: kernels of any
 * library can take them then, and what was checked is what runs. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compute_internal.h"
#include "runtime/error.h"
#include "runtime/operands.h"
#include "runtime/pick_internal.h"
#include "runtime/revision.h"

void assay_call_site_clear(assay_call_site *site)
{
    free(site->workspace);
    free(site->again);
    memset(site, 0, sizeof *site);
}

assay_status assay__typed_args(const char *what, const void *given, size_t size, void *out)
{
    uint32_t given_size;

    if (given == NULL)
        return assay__fail(ASSAY_INVALID, "%s: no arguments; give its struct", what);
    memcpy(&given_size, given, sizeof given_size);
    if (given_size < sizeof given_size || given_size > 4096)
        return assay__fail(ASSAY_INVALID, "%s: struct_size is %u; set it to the struct's size",
                           what, given_size);
    memset(out, 0, size);
    memcpy(out, given, given_size < size ? given_size : size);
    return ASSAY_OK;
}

static void clear_record(assay_execution *record)
{
    memset(record, 0, sizeof *record);
    record->struct_size = sizeof *record;
    record->tier = ASSAY_TIER_UNKNOWN;
    record->time_ns = (double)NAN;
    record->failed_item = -1;
    record->transfer_ns = (double)NAN;
}

assay_status assay__typed_begin(assay__typed *t, assay_engine *engine, const char *what,
                                const assay_call *call)
{
    t->engine = engine;
    t->by = NULL;
    t->runs = 0;
    clear_record(&t->record);
    memset(&t->call, 0, sizeof t->call);
    if (call != NULL)
        ASSAY_TRY(assay__typed_args(what, call, sizeof t->call, &t->call));
    t->wants_record = t->call.record != NULL;
    if (t->wants_record &&
        (t->call.record->struct_size < sizeof(uint32_t) || t->call.record->struct_size > 4096))
        return assay__fail(ASSAY_INVALID, "%s: the record's struct_size is %u; set it", what,
                           t->call.record->struct_size);
    return assay__engine_enter(engine, what, &t->entered);
}

/* ---- ending ---- */

static assay_status fill_record(assay__typed *t)
{
    const assay_binding *b = t->by;
    assay_execution *r = &t->record;

    if (b == NULL)
        return ASSAY_OK;
    (void)snprintf(r->kernel, sizeof r->kernel, "%s", b->desc->name);
    (void)snprintf(r->backend, sizeof r->backend, "%s", b->manifest->name);
    return assay__variant_revision(&b->revision, b->desc->tunables, r->tunables,
                                   b->desc->tunable_count, &r->revision);
}

static void count_call(const assay__typed *t, assay_status status)
{
    static const int ran[] = {[ASSAY_RAN_NATIVE] = ASSAY__ENGINE_COUNT_native_calls,
                              [ASSAY_RAN_EMULATED] = ASSAY__ENGINE_COUNT_emulated_calls,
                              [ASSAY_RAN_HOST_FALLBACK] = ASSAY__ENGINE_COUNT_host_fallback_calls};
    const assay_execution *r = &t->record;

    assay__engine_count(t->engine, ASSAY__ENGINE_COUNT_calls, 1);
    assay__engine_count(t->engine,
                        status == ASSAY_OK ? ran[r->ran_on] : ASSAY__ENGINE_COUNT_failed_calls, 1);
    assay__engine_count(t->engine, ASSAY__ENGINE_COUNT_launches, r->launches);
    if (r->transfers > 0) {
        assay__engine_count(t->engine, ASSAY__ENGINE_COUNT_transfers, r->transfers);
        assay__engine_count(t->engine, ASSAY__ENGINE_COUNT_transfer_bytes, r->transfer_bytes);
    }
    if (r->copied_bytes > 0)
        assay__engine_count(t->engine, ASSAY__ENGINE_COUNT_copied_bytes, r->copied_bytes);
}

static void hand_over_record(const assay__typed *t)
{
    const uint32_t known = t->call.record->struct_size;
    const size_t size = known < sizeof t->record ? known : sizeof t->record;

    memcpy(t->call.record, &t->record, size);
    t->call.record->struct_size = known;
}

/* All that a failed call tells in its record. */
static void hand_over_failed_item(const assay__typed *t)
{
    const size_t end = offsetof(assay_execution, failed_item) + sizeof t->record.failed_item;

    if (t->call.record->struct_size >= end)
        t->call.record->failed_item = t->record.failed_item;
}

assay_status assay__typed_end(assay__typed *t, assay_status status)
{
    if (status == ASSAY_OK && t->wants_record)
        status = fill_record(t);
    count_call(t, status);
    if (t->wants_record && status == ASSAY_OK)
        hand_over_record(t);
    else if (t->wants_record)
        hand_over_failed_item(t);
    return assay__engine_leave(&t->entered, status, t->by != NULL ? t->by->desc->name : NULL);
}

/* ---- operands ---- */

assay_status assay__typed_tensor(assay_place place, assay_dtype dtype, uint32_t rank,
                                 const int64_t *dims, assay_tensor *out)
{
    ASSAY_TRY(assay_tensor_host(NULL, dtype, rank, dims, NULL, out));
    out->buffer = place.buffer;
    out->byte_offset = place.byte_offset;
    return ASSAY_OK;
}

/* Of a buffer that the host does not reach only the size is known: for checks it lies at an address
 * of its own, far from all others. */
static void *stand_in(assay_buffer buffer)
{
    union {
        uintptr_t number;
        void *address;
    } at = {((uintptr_t)buffer.at.slot.index + 1) << 42};

    return at.address;
}

static assay_status place_operand(const assay_engine *engine, bool is_apart, assay_tensor *t)
{
    const assay_buffer given = t->buffer;
    void *host = NULL;
    uint64_t bytes = given.size_bytes;

    if (given.owner == 0)
        return is_apart ? assay__fail(ASSAY_INVALID,
                                      "lies in host memory, which '%s' does not reach; upload it",
                                      assay_engine_name(engine))
                        : ASSAY_OK;
    if (is_apart)
        host = stand_in(given);
    else
        ASSAY_TRY(assay__backend_map(&engine->backend, given, &host, &bytes));
    t->buffer.owner = 0;
    t->buffer.at.host = host;
    t->buffer.size_bytes = bytes;
    return ASSAY_OK;
}

/* As host tensors: what checks, questions and kernels of the host take. */
static assay_status place_operands(const assay_engine *engine, bool is_apart,
                                   const assay_tensor *operands, size_t count, assay_tensor *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = operands[i];
        assay_status status = place_operand(engine, is_apart, &out[i]);
        if (status != ASSAY_OK)
            return assay__fail_context(status, "operand %zu", i);
    }
    return ASSAY_OK;
}

assay_status assay__typed_workspace(assay__typed *t, size_t bytes, void **out)
{
    assay_call_site *site = t->call.site;

    if (site == NULL)
        return assay__fail(ASSAY_INTERNAL, "workspace without a place");
    if (site->workspace_bytes < bytes) {
        void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
        if (memory == NULL)
            return assay__fail(ASSAY_NOMEM, "no memory for a workspace of %zu bytes", bytes);
        free(site->workspace);
        site->workspace = memory;
        site->workspace_bytes = bytes;
    }
    *out = site->workspace;
    return ASSAY_OK;
}

/* ---- picking and running ---- */

void assay__typed_question(const assay__typed *t, const assay_problem *problem,
                           const assay_tensor *operands, size_t count, assay_question *q)
{
    assay_question_init(problem, q);
    unsigned align = 64;

    for (size_t i = 0; i < count; i++) {
        unsigned own = assay_tensor_align(&operands[i]);
        q->layout[i] = assay_tensor_layout(&operands[i]);
        align = own < align ? own : align;
    }
    q->align = (uint8_t)align;
    q->policy = t->call.policy;
    if (t->call.tolerance != NULL)
        q->tolerance = *t->call.tolerance;
    q->max_threads = t->call.max_threads;
    q->backends = t->call.queue != NULL || assay__profile_is_apart(&t->engine->profile)
                      ? assay_engine_name(t->engine)
                      : t->engine->kernels;
}

/* Kernels there are none of at all is another answer than none that is good enough. */
static assay_status say_unsupported(const assay__typed *t, const assay_problem *p,
                                    assay_status status)
{
    if (status != ASSAY_NO_ROUTE ||
        assay_engine_supports_op(t->engine, (assay_op_id)p->op, p->dtypes, p->dtype_count))
        return status;
    return assay__fail_context(ASSAY_UNSUPPORTED, "%s: no kernel of %s", t->entered.what,
                               t->engine->kernels);
}

void assay__typed_note(assay__typed *t, const assay_route *route, const assay_problem *problem)
{
    const assay_kernel_desc *desc = route->binding->desc;
    assay_execution *r = &t->record;
    double bytes;

    t->by = route->binding;
    if (!t->wants_record)
        return;
    r->tier = (assay_tier)route->tier;
    r->time_ns = (double)route->time_ns;
    r->tunable_count = desc->tunable_count;
    memcpy(r->tunables, route->tunables, desc->tunable_count * sizeof *r->tunables);
    if (assay_problem_bytes(problem, &bytes) && bytes < 1.8e19)
        r->bytes += (uint64_t)bytes;
}

/* Not known of one, not of all. */
void assay__typed_note_transfer(assay__typed *t, const void *host, size_t pieces, uint64_t bytes,
                                bool up)
{
    assay_execution *r = &t->record;
    assay_transfer_cost cost;

    if (t->wants_record) {
        const double ns = assay__engine_transfer_cost(t->engine, host, bytes, up, &cost)
                              ? cost.median_ns
                              : (double)NAN;
        r->transfer_ns = r->transfers > 0 ? r->transfer_ns + ns : ns;
    }
    r->transfers += (uint32_t)pieces;
    r->transfer_bytes += bytes;
}

static bool writes_nothing(const assay_problem *problem, const assay_tensor *operands)
{
    for (size_t i = assay_op_get((assay_op_id)problem->op)->inputs; i < problem->dtype_count; i++)
        if (assay_tensor_elements(&operands[i]) > 0)
            return false;
    return true;
}

/* For a call that says the same again. */
static void keep_run(assay__typed *t, const assay_route *route, const assay_problem *problem,
                     const assay_tensor *operands, size_t count, bool is_special)
{
    t->runs += is_special || t->call.queue != NULL ? 2 : 1;
    if (t->runs > 1)
        return;
    t->route = *route;
    t->problem = *problem;
    t->count = count;
    memcpy(t->operands, operands, count * sizeof *operands);
}

static assay_status pick_and_run(assay__typed *t, const assay_problem *problem,
                                 const assay_tensor *given, const assay_tensor *mapped,
                                 size_t count, int pick)
{
    assay_context *context = t->engine->routes;
    assay__run_on on = {.backend = &t->engine->backend,
                        .manifest = t->engine->plugin->manifest,
                        .queue = t->call.queue,
                        .is_apart = assay__profile_is_apart(&t->engine->profile),
                        .handles = given};
    assay_question q;
    assay_route route;

    assay__typed_question(t, problem, mapped, count, &q);
    assay_status status = t->call.site != NULL
                              ? assay_pick_at(context, &t->call.site->pick[pick], &q, &route)
                              : assay_pick(context, &q, &route);
    if (status != ASSAY_OK)
        return say_unsupported(t, problem, status);
    status = assay__run_checked(context, &route, problem, mapped, count, &on);
    t->record.launches += on.launches;
    t->record.copied_bytes += on.copied_bytes;
    if (status == ASSAY_OK && pick == 0)
        assay__typed_note(t, &route, problem);
    if (status == ASSAY_OK && t->call.site != NULL)
        keep_run(t, &route, problem, mapped, count, on.copied_bytes > 0 || on.is_apart);
    return status;
}

static assay_status check(const assay__typed *t, const assay_problem *problem,
                          const assay_tensor *operands, size_t count, assay_tensor *mapped)
{
    ASSAY_TRY(assay_problem_check(problem));
    ASSAY_TRY(place_operands(t->engine, assay__profile_is_apart(&t->engine->profile), operands,
                             count, mapped));
    return assay__operands_check(problem, mapped, count);
}

assay_status assay__typed_check(const assay__typed *t, const assay_problem *problem,
                                const assay_tensor *operands, size_t count)
{
    assay_tensor mapped[ASSAY_MAX_OPERANDS];

    return check(t, problem, operands, count, mapped);
}

assay_status assay__typed_run(assay__typed *t, const assay_problem *problem,
                              const assay_tensor *operands, size_t count, int pick)
{
    assay_tensor mapped[ASSAY_MAX_OPERANDS];

    ASSAY_TRY(check(t, problem, operands, count, mapped));
    if (writes_nothing(problem, mapped))
        return ASSAY_OK;
    const bool may_go = assay__profile_is_apart(&t->engine->profile) &&
                        t->engine->allow_host_fallback && t->call.queue == NULL;
    if (may_go && assay__typed_host_is_faster(t, problem, mapped, count))
        return assay__typed_on_host(t, problem, operands, count);
    assay_status status = pick_and_run(t, problem, operands, mapped, count, pick);
    if (may_go && (status == ASSAY_UNSUPPORTED || status == ASSAY_NO_ROUTE))
        return assay__typed_on_host(t, problem, operands, count);
    return status;
}
