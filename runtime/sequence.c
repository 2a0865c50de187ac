/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/sequence.c -- ops over resident buffers, one after the other; see assay/sequence.h. */
#include "assay/sequence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compute_internal.h"
#include "runtime/error.h"
#include "runtime/sequence_marks.h"

#define PASSES_MOST 65536u /* that are timed one by one */

typedef struct running {
    assay__typed typed;
    assay_sequence s;
    assay_sequence_timing *timing; /* NULL: not wanted */
    assay_sequence_end end;
    assay_queue *queue;     /* NULL: each step is done when it returns */
    assay_call_site *sites; /* owned, one a step */
    assay__marks marks;
    size_t steps; /* of the prefix and of the body */
    size_t passes_marked;
} running;

/* ---- one op ---- */

static assay_status check_step(const assay_step *step)
{
    if (step->problem == NULL || step->operands == NULL)
        return assay__fail(ASSAY_INVALID, "no %s", step->problem == NULL ? "problem" : "operands");
    ASSAY_TRY(assay_problem_check(step->problem));
    if (step->operand_count != step->problem->dtype_count)
        return assay__fail(ASSAY_INVALID, "%zu operands; %s takes %u", step->operand_count,
                           assay_op_get((assay_op_id)step->problem->op)->name,
                           (unsigned)step->problem->dtype_count);
    return ASSAY_OK;
}

static assay_status run_step(assay__typed *t, const assay_step *step)
{
    return assay__typed_run(t, step->problem, step->operands, step->operand_count, 0);
}

assay_status assay_op_run(assay_engine *engine, const assay_step *step, assay_call *call)
{
    assay__typed t;

    if (step == NULL)
        return assay__fail(ASSAY_INVALID, "op: no step");
    ASSAY_TRY(assay__typed_begin(&t, engine, "op", call));
    assay_status status = check_step(step);
    return assay__typed_end(&t, status == ASSAY_OK ? run_step(&t, step)
                                                   : assay__fail_context(status, "op"));
}

/* ---- before anything runs ---- */

static const assay_step *step_at(const running *r, size_t i)
{
    return i < r->s.prefix_count ? &r->s.prefix[i] : &r->s.body[i - r->s.prefix_count];
}

static assay_status check_steps(running *r)
{
    for (size_t i = 0; i < r->steps; i++) {
        const assay_step *step = step_at(r, i);
        assay_status status = check_step(step);
        if (status == ASSAY_OK)
            status =
                assay__typed_check(&r->typed, step->problem, step->operands, step->operand_count);
        if (status == ASSAY_OK)
            continue;
        r->end.step = i;
        return assay__fail_context(status, "sequence: step %zu", i);
    }
    return ASSAY_OK;
}

/* Reading nothing of each range tells whether it is one, before anything is written. */
static assay_status check_reads(running *r)
{
    const assay__backend *backend = &r->typed.engine->backend;

    for (size_t i = 0; i < r->s.read_count; i++) {
        const assay_transfer *read = &r->s.reads[i];
        assay_transfer end = *read;
        assay_status status = ASSAY_OK;
        end.offset = read->offset + read->bytes;
        end.bytes = 0;
        if (end.offset < read->offset)
            status = assay__fail(ASSAY_OVERFLOW, "offset and length overflow");
        else if (read->host == NULL && read->bytes > 0)
            status = assay__fail(ASSAY_INVALID, "no memory to read into");
        else
            status = assay__backend_download(backend, &end, 1);
        if (status == ASSAY_OK)
            continue;
        r->end.read_failed = true;
        return assay__fail_context(status, "sequence: read %zu", i);
    }
    return ASSAY_OK;
}

/* Beside the host nothing need be waited for between steps; elsewhere a queue is a thread more. A
 * step that may go to the host needs the queue empty. */
static bool wants_queue(const running *r)
{
    const assay_engine *engine = r->typed.engine;

    return assay__profile_is_apart(&engine->profile) && !engine->allow_host_fallback &&
           assay__engine_needs(engine, ASSAY_FEATURE_ASYNC_COMPUTE) == ASSAY_OK;
}

/* The begin, each step of the prefix and of the first pass, then each pass, and the end of all. */
static size_t marks_wanted(running *r)
{
    const uint64_t passes = r->s.repeats < PASSES_MOST ? r->s.repeats : PASSES_MOST;

    if (r->timing == NULL)
        return 0;
    r->passes_marked = r->timing->pass_ns == NULL     ? 0
                       : passes < r->timing->pass_cap ? (size_t)passes
                                                      : r->timing->pass_cap;
    return 2 + r->steps + r->passes_marked;
}

static assay_status prepare(running *r)
{
    const assay__backend *backend = &r->typed.engine->backend;

    ASSAY_TRY(check_steps(r));
    ASSAY_TRY(check_reads(r));
    r->sites = calloc(r->steps + 1, sizeof *r->sites);
    if (r->sites == NULL)
        return assay__fail(ASSAY_NOMEM, "sequence: no memory for %zu steps", r->steps);
    if (wants_queue(r))
        ASSAY_TRY(assay__backend_queue_create(backend, &r->queue));
    r->typed.call.queue = r->queue;
    return assay__marks_init(&r->marks, backend, r->queue, marks_wanted(r));
}

/* ---- running ---- */

static assay_status launch(running *r, size_t i, uint64_t pass)
{
    r->typed.call.site = &r->sites[i];
    r->end.step = i;
    r->end.pass = pass;
    assay_status status = run_step(&r->typed, step_at(r, i));
    if (status != ASSAY_OK)
        return assay__fail_context(status, "sequence: step %zu, pass %llu", i,
                                   (unsigned long long)pass);
    r->end.steps_run++;
    return ASSAY_OK;
}

static assay_status run_pass(running *r, uint64_t pass)
{
    for (size_t i = r->s.prefix_count; i < r->steps; i++) {
        ASSAY_TRY(launch(r, i, pass));
        if (pass == 0)
            ASSAY_TRY(assay__marks_set(&r->marks));
    }
    return pass > 0 && pass < r->passes_marked ? assay__marks_set(&r->marks) : ASSAY_OK;
}

static assay_status wait_all(running *r)
{
    return r->queue != NULL ? assay__backend_queue_wait(&r->typed.engine->backend, r->queue)
                            : ASSAY_OK;
}

static assay_status run_steps(running *r)
{
    ASSAY_TRY(assay__marks_set(&r->marks));
    for (size_t i = 0; i < r->s.prefix_count; i++) {
        ASSAY_TRY(launch(r, i, 0));
        ASSAY_TRY(assay__marks_set(&r->marks));
    }
    for (uint64_t pass = 0; r->s.body_count > 0 && pass < r->s.repeats; pass++)
        ASSAY_TRY(run_pass(r, pass));
    ASSAY_TRY(assay__marks_set(&r->marks));
    ASSAY_TRY(wait_all(r));
    r->end.step = ASSAY_STEP_NONE;
    return ASSAY_OK;
}

static assay_status read_all(running *r)
{
    if (r->s.read_count == 0)
        return ASSAY_OK;
    assay_status status =
        assay__backend_download(&r->typed.engine->backend, r->s.reads, r->s.read_count);
    r->end.read_failed = status != ASSAY_OK;
    return status == ASSAY_OK ? ASSAY_OK : assay__fail_context(status, "sequence: reads");
}

/* ---- what it took ---- */

/* Marks: 0 the begin, 1 to prefix the steps of the prefix, then those of the first pass, then the
 * second pass and those behind it, and the end. */
static void tell_times(const running *r)
{
    assay_sequence_timing *t = r->timing;
    const size_t ran = r->s.repeats > 0 ? r->steps : r->s.prefix_count;
    const bool has_body = r->s.repeats > 0 && r->s.body_count > 0;

    t->step_count = t->step_ns == NULL ? 0 : ran < t->step_cap ? ran : t->step_cap;
    for (size_t i = 0; i < t->step_count; i++)
        t->step_ns[i] = assay__marks_between(&r->marks, i, i + 1);
    t->pass_count = has_body ? r->passes_marked : 0;
    for (size_t i = 0; i < t->pass_count; i++)
        t->pass_ns[i] = i == 0 ? assay__marks_between(&r->marks, r->s.prefix_count, ran)
                               : assay__marks_between(&r->marks, ran + i - 1, ran + i);
    t->steps_ns = assay__marks_between(&r->marks, 0, r->marks.count - 1);
}

static void name_clock(const running *r)
{
    assay_sequence_timing *t = r->timing;
    const bool is_device = r->queue != NULL;

    (void)snprintf(t->clock, sizeof t->clock, "%s",
                   is_device ? "events of the device" : "CLOCK_MONOTONIC_RAW");
    t->resolution_ns = is_device ? (double)NAN : 1.0;
    t->quality = is_device                                            ? ASSAY_TIMING_DEVICE
                 : assay__profile_is_apart(&r->typed.engine->profile) ? ASSAY_TIMING_ENQUEUE_WAIT
                                                                      : ASSAY_TIMING_HOST;
}

/* ---- the whole ---- */

static assay_status run_and_read(running *r)
{
    const uint64_t begin = assay__trace_now_ns();

    ASSAY_TRY(prepare(r));
    ASSAY_TRY(run_steps(r));
    const uint64_t ran = assay__trace_now_ns();
    ASSAY_TRY(read_all(r));
    if (r->timing == NULL)
        return ASSAY_OK;
    const uint64_t now = assay__trace_now_ns();
    r->timing->wall_ns = (double)(now - begin);
    r->timing->read_ns = r->s.read_count > 0 ? (double)(now - ran) : 0.0;
    name_clock(r);
    tell_times(r);
    return ASSAY_OK;
}

static void clear(running *r)
{
    assay__marks_clear(&r->marks);
    /* What failed in it was said when it was waited for. */
    if (r->queue != NULL)
        (void)assay__backend_queue_destroy(&r->typed.engine->backend, r->queue);
    for (size_t i = 0; r->sites != NULL && i < r->steps; i++)
        assay_call_site_clear(&r->sites[i]);
    free(r->sites);
}

static assay_status check_given(const running *r)
{
    const assay_sequence *s = &r->s;

    if ((s->prefix == NULL && s->prefix_count > 0) || (s->body == NULL && s->body_count > 0) ||
        (s->reads == NULL && s->read_count > 0))
        return assay__fail(ASSAY_INVALID, "sequence: steps or reads are counted and not given");
    if (s->prefix_count > SIZE_MAX / 2 - s->body_count || s->body_count > SIZE_MAX / 2)
        return assay__fail(ASSAY_OVERFLOW, "sequence: too many steps");
    return ASSAY_OK;
}

static void give_end(const running *r, assay_sequence_end *out)
{
    if (out == NULL)
        return;
    const uint32_t known = out->struct_size;
    memcpy(out, &r->end, known < sizeof r->end ? known : sizeof r->end);
    out->struct_size = known;
}

assay_status assay_sequence_run(assay_engine *engine, const assay_sequence *sequence,
                                assay_sequence_timing *timing, assay_sequence_end *end)
{
    running r = {.timing = timing, .end = {.step = ASSAY_STEP_NONE}};

    ASSAY_TRY(assay__typed_args("sequence", sequence, sizeof r.s, &r.s));
    ASSAY_TRY(check_given(&r));
    if (timing != NULL && timing->struct_size != sizeof *timing)
        return assay__fail(ASSAY_INVALID, "sequence: the timing's struct_size is %u, not %zu",
                           timing->struct_size, sizeof *timing);
    const assay_call call = {.struct_size = sizeof call,
                             .max_threads = r.s.max_threads,
                             .tolerance = r.s.tolerance,
                             .policy = r.s.policy};
    r.steps = r.s.prefix_count + r.s.body_count;
    ASSAY_TRY(assay__typed_begin(&r.typed, engine, "sequence", &call));
    assay_status status = run_and_read(&r);
    clear(&r);
    give_end(&r, end);
    return assay__typed_end(&r.typed, status);
}
