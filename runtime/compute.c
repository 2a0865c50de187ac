/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/compute.c -- what all typed calls are made of.
 *
 * On engines whose memory the host reaches, operands become host tensors first: kernels of any
 * library can take them then, and what was checked is what runs. */
#include <math.h>
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
    memset(site, 0, sizeof *site);
}

assay_status assay__typed_args(const char *what, const void *given, size_t size, void *out)
{
    uint32_t given_size;

    if (given == NULL)
        return assay__fail(ASSAY_INVALID, "%s: no arguments", what);
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
}

assay_status assay__typed_begin(assay__typed *t, assay_engine *engine, const char *what,
                                const assay_call *call)
{
    t->engine = engine;
    t->by = NULL;
    clear_record(&t->record);
    memset(&t->call, 0, sizeof t->call);
    if (call != NULL)
        ASSAY_TRY(assay__typed_args(what, call, sizeof t->call, &t->call));
    t->wants_record = t->call.record != NULL;
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

assay_status assay__typed_end(assay__typed *t, assay_status status)
{
    if (status == ASSAY_OK && t->wants_record)
        status = fill_record(t);
    count_call(t, status);
    if (status == ASSAY_OK && t->wants_record) {
        const uint32_t known = t->call.record->struct_size;
        const size_t size = known < sizeof t->record ? known : sizeof t->record;
        memcpy(t->call.record, &t->record, size);
        t->call.record->struct_size = known;
    }
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

static assay_status map_operands(const assay_engine *engine, const assay_tensor *operands,
                                 size_t count, assay_tensor *out)
{
    for (size_t i = 0; i < count; i++) {
        void *host;
        uint64_t bytes;
        out[i] = operands[i];
        if (operands[i].buffer.owner == 0)
            continue;
        assay_status status =
            assay__backend_map(&engine->backend, operands[i].buffer, &host, &bytes);
        if (status != ASSAY_OK)
            return assay__fail_context(status, "operand %zu", i);
        out[i].buffer.owner = 0;
        out[i].buffer.at.host = host;
        out[i].buffer.size_bytes = bytes;
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

static void make_question(const assay__typed *t, const assay_problem *problem,
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
    q->backends = t->call.queue != NULL ? assay_engine_name(t->engine) : t->engine->kernels;
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

static void note_route(assay__typed *t, const assay_route *route, const assay_problem *problem)
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

static bool writes_nothing(const assay_problem *problem, const assay_tensor *operands)
{
    for (size_t i = assay_op_get((assay_op_id)problem->op)->inputs; i < problem->dtype_count; i++)
        if (assay_tensor_elements(&operands[i]) > 0)
            return false;
    return true;
}

static assay_status pick_and_run(assay__typed *t, const assay_problem *problem,
                                 const assay_tensor *given, const assay_tensor *mapped,
                                 size_t count, int pick)
{
    assay_context *context = t->engine->context;
    assay__run_on on = {.backend = &t->engine->backend,
                        .manifest = t->engine->plugin->manifest,
                        .queue = t->call.queue,
                        .handles = given};
    assay_question q;
    assay_route route;

    make_question(t, problem, mapped, count, &q);
    assay_status status = t->call.site != NULL
                              ? assay_pick_at(context, &t->call.site->pick[pick], &q, &route)
                              : assay_pick(context, &q, &route);
    if (status != ASSAY_OK)
        return say_unsupported(t, problem, status);
    status = assay__run_checked(context, &route, problem, mapped, count, &on);
    t->record.launches += on.launches;
    t->record.copied_bytes += on.copied_bytes;
    if (status == ASSAY_OK && pick == 0)
        note_route(t, &route, problem);
    return status;
}

assay_status assay__typed_run(assay__typed *t, const assay_problem *problem,
                              const assay_tensor *operands, size_t count, int pick)
{
    assay_tensor mapped[ASSAY_MAX_OPERANDS];

    ASSAY_TRY(assay_problem_check(problem));
    ASSAY_TRY(map_operands(t->engine, operands, count, mapped));
    ASSAY_TRY(assay__operands_check(problem, mapped, count));
    if (writes_nothing(problem, mapped))
        return ASSAY_OK;
    return pick_and_run(t, problem, operands, mapped, count, pick);
}
