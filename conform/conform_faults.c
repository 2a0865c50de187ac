/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_faults.c -- rules on planned faults, the loss of a device and its recovery. */
#include <string.h>
#include <time.h>

#include "conform/conform.h"

enum { N = 16 };

static assay_fault fault_of(assay_fault_kind kind, uint64_t after, uint64_t times)
{
    return (assay_fault){
        .struct_size = sizeof(assay_fault), .kind = kind, .after = after, .times = times};
}

static assay_status plan(const assay__conform *c, assay_fault_kind kind, uint64_t after,
                         uint64_t times)
{
    const assay_fault fault = fault_of(kind, after, times);

    return assay_engine_inject(c->engine, &fault);
}

/* Each kind is taken; NONE takes them all back before any came. */
assay__conform_verdict assay__conform_faults_inject(assay__conform *c)
{
    const assay_fault bad = fault_of((assay_fault_kind)77, 0, 1);
    assay_buffer b;

    ASSAY__FINE(plan(c, ASSAY_FAULT_LOST, 0, 1));
    ASSAY__FINE(plan(c, ASSAY_FAULT_OUT_OF_MEMORY, 0, 0));
    ASSAY__FINE(plan(c, ASSAY_FAULT_DELAY, 0, 0));
    ASSAY__FINE(plan(c, ASSAY_FAULT_LAUNCH, 0, 0));
    ASSAY__FINE(plan(c, ASSAY_FAULT_NONE, 0, 0));
    ASSAY__GIVES(assay_engine_inject(c->engine, &bad), ASSAY_INVALID);
    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &b));
    ASSAY__HOLDS(!assay_engine_is_lost(c->engine), "a fault that was taken back came");
    ASSAY__FINE(assay_engine_free(c->engine, b));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_faults_out_of_memory(assay__conform *c)
{
    assay_buffer a, b = {.owner = 5, .size_bytes = 9};
    assay_error_detail detail;

    ASSAY__FINE(plan(c, ASSAY_FAULT_OUT_OF_MEMORY, 1, 2));
    ASSAY__FINE(assay_engine_alloc(c->engine, 64, 0, &a));
    for (int i = 0; i < 2; i++) {
        ASSAY__GIVES(assay_engine_alloc(c->engine, 64, 0, &b), ASSAY_NOMEM);
        assay_last_detail(&detail);
        ASSAY__HOLDS(detail.requested_bytes == 64, "NOMEM says that %llu bytes were asked for",
                     (unsigned long long)detail.requested_bytes);
    }
    ASSAY__HOLDS(b.owner == 5 && b.size_bytes == 9, "a failed alloc wrote a buffer");
    ASSAY__FINE(assay_engine_alloc(c->engine, 64, 0, &b));
    ASSAY__FINE(assay_engine_alloc(c->other, 64, 0, &b)); /* another instance has no faults */
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_faults_launch(assay__conform *c)
{
    assay__conform_work w;

    ASSAY__PART(assay__conform_work_make(c, N, &w));
    ASSAY__FINE(plan(c, ASSAY_FAULT_LAUNCH, 1, 1));
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, NULL));
    ASSAY__GIVES(assay__conform_work_run(c->engine, &w, NULL), ASSAY_DEVICE);
    ASSAY__PART(assay__conform_work_check(c, &w, 1)); /* nothing written */
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, NULL));
    ASSAY__FINE(plan(c, ASSAY_FAULT_LAUNCH, 0, 0)); /* all, until taken back */
    for (int i = 0; i < 3; i++)
        ASSAY__GIVES(assay__conform_work_run(c->engine, &w, NULL), ASSAY_DEVICE);
    ASSAY__FINE(plan(c, ASSAY_FAULT_NONE, 0, 0));
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, NULL));
    return assay__conform_work_check(c, &w, 3);
}

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* It takes at least as long; how much longer depends on the machine. */
assay__conform_verdict assay__conform_faults_delay(assay__conform *c)
{
    assay_fault slow = fault_of(ASSAY_FAULT_DELAY, 0, 1);
    assay__conform_work w;

    slow.delay_ns = 30000000;
    ASSAY__PART(assay__conform_work_make(c, N, &w));
    ASSAY__FINE(assay_engine_inject(c->engine, &slow));
    const double begin = now_ns();
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, NULL));
    ASSAY__FINE(assay_engine_synchronize(c->engine));
    const double took = now_ns() - begin;
    ASSAY__HOLDS(took >= 29e6, "a launch that was to take 30 ms longer took %g ns", took);
    return assay__conform_work_check(c, &w, 1);
}

static assay__conform_verdict all_is_lost(assay__conform *c, assay_buffer b,
                                          const assay__conform_work *w)
{
    char bytes[8] = "";
    assay_buffer more;

    ASSAY__GIVES(assay_engine_upload(c->engine, b, bytes, 8), ASSAY_DEVICE_LOST);
    ASSAY__GIVES(assay_engine_download(c->engine, bytes, b, 8), ASSAY_DEVICE_LOST);
    ASSAY__GIVES(assay_engine_fill(c->engine, b, 0, 8, 1), ASSAY_DEVICE_LOST);
    ASSAY__GIVES(assay_engine_copy(c->engine, b, 0, b, 0, 4), ASSAY_DEVICE_LOST);
    ASSAY__GIVES(assay_engine_alloc(c->engine, 8, 0, &more), ASSAY_DEVICE_LOST);
    ASSAY__HOLDS(assay_engine_is_lost(c->engine), "calls fail with DEVICE_LOST and it says no");
    ASSAY__HOLDS(!assay_engine_is_lost(c->other), "another engine lost its device with it");
    if (w != NULL)
        ASSAY__GIVES(assay__conform_work_run(c->engine, w, NULL), ASSAY_DEVICE_LOST);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_faults_lost_until_recovered(assay__conform *c)
{
    const bool recovers = assay_engine_supports(c->engine, ASSAY_FEATURE_RECOVERY);
    assay__conform_work w;
    assay_instance_state state;
    char bytes[8] = "";
    assay_buffer b;

    const assay__conform_verdict works = assay__conform_work_make(c, N, &w);
    if (works == ASSAY__CONFORM_FAIL)
        return works;
    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &b));
    ASSAY__FINE(plan(c, ASSAY_FAULT_LOST, 1, 1));
    ASSAY__HOLDS(!assay_engine_is_lost(c->engine), "the device is lost too early");
    ASSAY__FINE(assay_engine_upload(c->engine, b, bytes, 8)); /* one still succeeds */
    ASSAY__PART(all_is_lost(c, b, works == ASSAY__CONFORM_PASS ? &w : NULL));
    if (!recovers)
        return ASSAY__CONFORM_PASS;
    ASSAY__FINE(assay_engine_recover(c->engine));
    ASSAY__HOLDS(!assay_engine_is_lost(c->engine), "it is lost after it was recovered");
    ASSAY__FINE(assay_engine_state(c->engine, &state));
    ASSAY__HOLDS(state.generation == 2, "the generation after a recover is %llu",
                 (unsigned long long)state.generation);
    ASSAY__HOLDS(state.live_buffers == 0, "%llu buffers live after a recover",
                 (unsigned long long)state.live_buffers);
    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &b));
    ASSAY__FINE(assay_engine_upload(c->engine, b, "12345678", 8));
    return assay__conform_holds_bytes(c, c->engine, b, "12345678", 8, "after a recover");
}

assay__conform_verdict assay__conform_recover_when_not_lost(assay__conform *c)
{
    assay_instance_state state;
    assay_buffer b;

    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &b));
    ASSAY__FINE(assay_engine_upload(c->engine, b, "staysher", 8));
    ASSAY__FINE(assay_engine_recover(c->engine));
    ASSAY__FINE(assay_engine_state(c->engine, &state));
    ASSAY__HOLDS(state.generation == 1,
                 "a recover of a device that is not lost made generation %llu",
                 (unsigned long long)state.generation);
    ASSAY__PART(assay__conform_holds_bytes(c, c->engine, b, "staysher", 8, "after such a recover"));
    ASSAY__FINE(assay_engine_free(c->engine, b));
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict void_queues(assay__conform *c, assay_queue **queue,
                                          assay_event **event)
{
    if (*queue == NULL)
        return ASSAY__CONFORM_PASS;
    ASSAY__GIVES(assay_engine_queue_wait(c->engine, *queue), ASSAY_GENERATION);
    ASSAY__GIVES(assay_engine_event_record(c->engine, *event, NULL), ASSAY_GENERATION);
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, queue));
    ASSAY__FINE(assay_engine_event_destroy(c->engine, event));
    return ASSAY__CONFORM_PASS;
}

/* Only a planned loss can be tried. */
assay__conform_verdict assay__conform_recover_voids_handles(assay__conform *c)
{
    assay_buffer old, now;
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    char bytes[8] = "";

    if (!assay_engine_supports(c->engine, ASSAY_FEATURE_FAULT_INJECTION))
        return assay__conform_skip(c, "the backend has no fault_injection");
    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &old));
    if (assay_engine_supports(c->engine, ASSAY_FEATURE_ASYNC_COMPUTE)) {
        ASSAY__FINE(assay_engine_queue_create(c->engine, &queue));
        ASSAY__FINE(assay_engine_event_create(c->engine, &event));
    }
    ASSAY__FINE(plan(c, ASSAY_FAULT_LOST, 0, 1));
    ASSAY__GIVES(assay_engine_upload(c->engine, old, bytes, 8), ASSAY_DEVICE_LOST);
    ASSAY__FINE(assay_engine_recover(c->engine));
    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &now));
    ASSAY__FINE(assay_engine_upload(c->engine, now, "newbytes", 8));
    ASSAY__GIVES(assay_engine_upload(c->engine, old, bytes, 8), ASSAY_GENERATION);
    ASSAY__GIVES(assay_engine_download(c->engine, bytes, old, 8), ASSAY_GENERATION);
    ASSAY__GIVES(assay_engine_fill(c->engine, old, 0, 8, 1), ASSAY_GENERATION);
    ASSAY__GIVES(assay_engine_copy(c->engine, now, 0, old, 0, 8), ASSAY_GENERATION);
    ASSAY__GIVES(assay_engine_free(c->engine, old), ASSAY_GENERATION);
    ASSAY__PART(void_queues(c, &queue, &event));
    return assay__conform_holds_bytes(c, c->engine, now, "newbytes", 8,
                                      "after handles from before a recover");
}
