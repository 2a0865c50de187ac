/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_beside.c -- transfers while a kernel runs in a queue: what they give is the same,
 * and they end before it does.
 *
 * A kernel that waits by the device's clock shows who waits for whom.  Where the host was slower
 * than the kernel the question is asked again, with a longer one. */
#include <string.h>
#include <time.h>

#include "conform/conform_slots.h"
#include "runtime/engine_internal.h"

enum { BYTES = 4096, TRIES = 3 };
#define FIRST_SPIN_NS 100000000 /* twice as long with each try */
#define NEARLY        0.9       /* the device's clock and the host's differ */

typedef struct scene {
    assay_probe spin;
    assay_buffer spun, apart; /* of the kernel; of the transfers */
    assay_queue *queue;
    assay_event *event; /* behind the kernel */
} scene;

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static assay__conform_verdict begin_spin(assay__conform *c, const scene *s, int64_t ns)
{
    const int64_t bytes = BYTES;
    assay_tensor spun;
    const assay_launch one = {.struct_size = sizeof one,
                              .operand_count = s->spin.operand_count,
                              .operands = &spun,
                              .tunables = &ns,
                              .instance = c->engine->backend.instance,
                              .queue = s->queue,
                              .tunable_count = 1};

    ASSAY__FINE(assay_tensor_host(NULL, ASSAY_U8, 1, &bytes, NULL, &spun));
    spun.buffer = s->spun;
    ASSAY__FINE(assay__backend_launch(&c->engine->backend, s->spin.run, &one));
    ASSAY__FINE(assay_engine_event_record(c->engine, s->event, s->queue));
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict move_both_ways(assay__conform *c, const scene *s, int with)
{
    unsigned char up[BYTES];

    memset(up, with, sizeof up);
    ASSAY__FINE(assay_engine_upload(c->engine, s->apart, up, BYTES));
    return assay__conform_holds_bytes(c, c->engine, s->apart, up, BYTES, "beside a kernel");
}

/* *beside: the bytes had come and gone before the event behind the kernel.  *took: what they and
 * the kernel took by the host's clock, which is less than it was to wait where it does not wait,
 * and then nothing is shown: an event may be late for other reasons. */
static assay__conform_verdict try_beside(assay__conform *c, const scene *s, int turn, bool *beside,
                                         double *took)
{
    const double begin = now_ns();
    bool ended = true;

    ASSAY__PART(begin_spin(c, s, (int64_t)FIRST_SPIN_NS << turn));
    ASSAY__PART(move_both_ways(c, s, 0x31 + turn));
    ASSAY__FINE(assay_engine_event_ready(c->engine, s->event, &ended));
    *beside = !ended;
    ASSAY__FINE(assay_engine_queue_wait(c->engine, s->queue));
    *took = now_ns() - begin;
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict make(assay__conform *c, scene *s)
{
    ASSAY__FINE(assay_engine_alloc(c->engine, BYTES, 256, &s->spun));
    ASSAY__FINE(assay_engine_alloc(c->engine, BYTES, 256, &s->apart));
    ASSAY__FINE(assay_engine_queue_create(c->engine, &s->queue));
    ASSAY__FINE(assay_engine_event_create(c->engine, &s->event));
    /* Whatever comes with the first of each is not asked about. */
    ASSAY__PART(begin_spin(c, s, 1));
    ASSAY__FINE(assay_engine_queue_wait(c->engine, s->queue));
    return move_both_ways(c, s, 0x30);
}

static assay__conform_verdict end(assay__conform *c, scene *s)
{
    ASSAY__FINE(assay_engine_event_destroy(c->engine, &s->event));
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &s->queue));
    ASSAY__FINE(assay_engine_free(c->engine, s->apart));
    ASSAY__FINE(assay_engine_free(c->engine, s->spun));
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict judge(assay__conform *c, bool beside, double took, int turns)
{
    const double asked = (double)((int64_t)FIRST_SPIN_NS << (turns - 1));

    if (took < NEARLY * asked)
        return assay__conform_skip(c, "a kernel that is to wait for %g ms ended after %g ms",
                                   asked / 1e6, took / 1e6);
    ASSAY__HOLDS(beside, "an upload and a download of another buffer ended only when a kernel in a "
                         "queue had; with async_copy they run beside it");
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_queue_transfers_run_beside(assay__conform *c)
{
    scene s = {.spin = {.struct_size = sizeof s.spin, .kind = ASSAY_PROBE_SPIN_NS}};
    bool beside = false;
    double took = 0.0;
    int turns = 0;

    if (!assay_engine_supports(c->engine, ASSAY_FEATURE_ASYNC_COMPUTE))
        return assay__conform_skip(c, "the backend has no async_compute");
    if (assay__backend_probe(&c->engine->backend, &s.spin) != ASSAY_OK || s.spin.run == NULL)
        return assay__conform_skip(c, "claimed, and no probe spins beside a transfer");
    ASSAY__PART(make(c, &s));
    while (turns < TRIES && !beside)
        ASSAY__PART(try_beside(c, &s, turns++, &beside, &took));
    ASSAY__PART(end(c, &s));
    return judge(c, beside, took, turns);
}
