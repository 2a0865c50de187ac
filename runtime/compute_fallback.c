/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/compute_fallback.c -- a typed call of a device apart, run on the host instead.
 *
 * Only where the engine allows it, and the record says so: what is brought over and back costs more
 * than most kernels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compute_internal.h"
#include "runtime/error.h"
#include "runtime/operands.h"
#include "runtime/pick_internal.h"

typedef struct brought {
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    void *memory[ASSAY_MAX_OPERANDS]; /* owned; NULL: nothing to bring */
    assay_transfer pieces[ASSAY_MAX_OPERANDS];
} brought;

/* All bytes from the first to the last element, those between strided ones too. */
static assay_status place_one(const assay_tensor *given, size_t i, brought *b)
{
    int64_t from, to;

    b->operands[i] = *given;
    if (assay_tensor_elements(given) == 0 || given->buffer.owner == 0)
        return ASSAY_OK;
    if (!assay__tensor_span(given, &from, &to))
        return assay__fail(ASSAY_OVERFLOW, "operand %zu: its strides leave the address space", i);
    const uint64_t bytes = (uint64_t)(to - from);
    b->memory[i] = aligned_alloc(64, (size_t)(bytes / 64 + 1) * 64);
    if (b->memory[i] == NULL)
        return assay__fail(ASSAY_NOMEM, "operand %zu: no memory for %llu bytes on the host", i,
                           (unsigned long long)bytes);
    b->pieces[i] = (assay_transfer){.buffer = given->buffer,
                                    .offset = given->byte_offset + (uint64_t)from,
                                    .host = b->memory[i],
                                    .bytes = bytes};
    b->operands[i].buffer = (assay_buffer){.at.host = b->memory[i], .size_bytes = bytes};
    b->operands[i].byte_offset = (uint64_t)-from; /* from is 0 or below */
    return ASSAY_OK;
}

/* Those of operands first to count - 1, as one operation. */
static assay_status transfer(assay__typed *t, const brought *b, size_t first, size_t count, bool up)
{
    const assay__backend *backend = &t->engine->backend;
    assay_transfer pieces[ASSAY_MAX_OPERANDS];
    uint64_t bytes = 0;
    size_t n = 0;

    for (size_t i = first; i < count; i++)
        if (b->memory[i] != NULL)
            pieces[n++] = b->pieces[i];
    if (n == 0)
        return ASSAY_OK;
    ASSAY_TRY(up ? assay__backend_upload(backend, pieces, n)
                 : assay__backend_download(backend, pieces, n));
    for (size_t i = 0; i < n; i++)
        bytes += pieces[i].bytes;
    assay__typed_note_transfer(t, NULL, n, bytes, up);
    return ASSAY_OK;
}

static assay_status run(assay__typed *t, const assay_problem *problem, const assay_tensor *operands,
                        size_t count)
{
    assay_context *context = t->engine->context;
    assay__run_on on = {.backend = NULL};
    assay_question q;
    assay_route route;

    assay__typed_question(t, problem, operands, count, &q);
    q.backends = NULL;
    ASSAY_TRY(assay_pick(context, &q, &route));
    ASSAY_TRY(assay__run_checked(context, &route, problem, operands, count, &on));
    t->record.launches += on.launches;
    t->record.copied_bytes += on.copied_bytes;
    t->record.ran_on = ASSAY_RAN_HOST_FALLBACK;
    assay__typed_note(t, &route, problem);
    return ASSAY_OK;
}

static assay_status bring_and_run(assay__typed *t, const assay_problem *problem,
                                  const assay_tensor *operands, size_t count, brought *b)
{
    const size_t inputs = assay_op_get((assay_op_id)problem->op)->inputs;

    for (size_t i = 0; i < count; i++)
        ASSAY_TRY(place_one(&operands[i], i, b));
    /* Outputs too: an op may read them, and what lies between their elements stays. */
    ASSAY_TRY(transfer(t, b, 0, count, false));
    ASSAY_TRY(run(t, problem, b->operands, count));
    return transfer(t, b, inputs, count, true);
}

/* ---- which is faster ---- */

/* Of operands first to count - 1; false: their addresses overflow. */
static bool bytes_of(const assay_tensor *operands, size_t first, size_t count, uint64_t *out)
{
    int64_t from, to;

    *out = 0;
    for (size_t i = first; i < count; i++) {
        if (assay_tensor_elements(&operands[i]) == 0)
            continue;
        if (!assay__tensor_span(&operands[i], &from, &to))
            return false;
        *out += (uint64_t)(to - from);
    }
    return true;
}

/* Whoever runs it asks again, and is counted then. */
static bool is_measured(assay_context *context, const assay_question *q, assay_route *out)
{
    return assay__pick_uncounted(context, q, out) == ASSAY_OK && out->tier == ASSAY_TIER_MEASURED;
}

bool assay__typed_host_is_faster(const assay__typed *t, const assay_problem *problem,
                                 const assay_tensor *operands, size_t count)
{
    const size_t inputs = assay_op_get((assay_op_id)problem->op)->inputs;
    assay_transfer_cost down, up;
    assay_route there, here;
    uint64_t over, back;
    assay_question q;

    assay__typed_question(t, problem, operands, count, &q);
    if (!is_measured(t->engine->routes, &q, &there))
        return false;
    q.backends = NULL;
    return is_measured(t->engine->context, &q, &here) && bytes_of(operands, 0, count, &over) &&
           bytes_of(operands, inputs, count, &back) &&
           assay__engine_transfer_cost(t->engine, NULL, over, false, &down) &&
           assay__engine_transfer_cost(t->engine, NULL, back, true, &up) &&
           here.hi_ns >= here.time_ns &&
           (double)here.hi_ns + down.hi_ns + up.hi_ns < (double)there.lo_ns;
}

assay_status assay__typed_on_host(assay__typed *t, const assay_problem *problem,
                                  const assay_tensor *operands, size_t count)
{
    brought b = {.memory = {NULL}};
    assay_status status = bring_and_run(t, problem, operands, count, &b);

    for (size_t i = 0; i < count; i++)
        free(b.memory[i]);
    return status;
}
