/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_queues.c -- rules on queues and events.
 *
 * Where faults can be planned the first launch is held up, so that what follows is pending for
 * certain; elsewhere a fast device may have ended it, and either answer is right. */
#include <math.h>
#include <string.h>

#include "conform/conform.h"

enum { N = 16 };

static bool can_fault(const assay__conform *c)
{
    return assay_engine_supports(c->engine, ASSAY_FEATURE_FAULT_INJECTION);
}

static assay_status hold_up(const assay__conform *c, uint64_t ns)
{
    const assay_fault slow = {
        .struct_size = sizeof slow, .kind = ASSAY_FAULT_DELAY, .times = 1, .delay_ns = ns};

    return can_fault(c) ? assay_engine_inject(c->engine, &slow) : ASSAY_OK;
}

static assay__conform_verdict begin(assay__conform *c, assay__conform_work *w, assay_queue **queue)
{
    ASSAY__PART(assay__conform_work_make(c, N, w));
    ASSAY__FINE(assay_engine_queue_create(c->engine, queue));
    ASSAY__HOLDS(*queue != NULL, "a new queue is NULL");
    return ASSAY__CONFORM_PASS;
}

/* More launches than a ring of usual size holds. */
assay__conform_verdict assay__conform_queue_runs_in_order(assay__conform *c)
{
    enum { LAUNCHES = 100 };
    assay__conform_work w;
    assay_queue *queue = NULL, *second = NULL;

    ASSAY__PART(begin(c, &w, &queue));
    ASSAY__FINE(assay_engine_queue_create(c->engine, &second));
    for (int i = 0; i < LAUNCHES; i++)
        ASSAY__FINE(assay__conform_work_run(c->engine, &w, queue));
    ASSAY__FINE(assay_engine_queue_wait(c->engine, queue));
    ASSAY__PART(assay__conform_work_check(c, &w, LAUNCHES));
    ASSAY__FINE(assay_engine_queue_wait(c->engine, second));
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, second));
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &second)); /* waits */
    ASSAY__HOLDS(second == NULL, "a destroyed queue is not NULL");
    ASSAY__PART(assay__conform_work_check(c, &w, LAUNCHES + 1));
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &second)); /* NULL: nothing */
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &queue));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_queue_pending_free(assay__conform *c)
{
    assay__conform_work w;
    assay_queue *queue = NULL;

    ASSAY__PART(begin(c, &w, &queue));
    ASSAY__FINE(hold_up(c, 200000000));
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, queue));
    const assay_status status = assay_engine_free(c->engine, w.a);
    ASSAY__HOLDS(status == ASSAY_PENDING || (status == ASSAY_OK && !can_fault(c)),
                 "freeing a buffer that a queue uses gave %s instead of PENDING",
                 assay_status_name(status));
    ASSAY__FINE(assay_engine_queue_wait(c->engine, queue));
    ASSAY__PART(assay__conform_work_check(c, &w, 1));
    if (status == ASSAY_PENDING)
        ASSAY__FINE(assay_engine_free(c->engine, w.a));
    ASSAY__FINE(assay_engine_free(c->engine, w.y));
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &queue));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_queue_failures_told_once(assay__conform *c)
{
    const assay_fault fails = {
        .struct_size = sizeof fails, .kind = ASSAY_FAULT_LAUNCH, .after = 1, .times = 1};
    assay__conform_work w;
    assay_queue *queue = NULL;

    if (!can_fault(c))
        return assay__conform_skip(c, "the backend has no fault_injection");
    ASSAY__PART(begin(c, &w, &queue));
    for (int round = 0; round < 2; round++) {
        ASSAY__FINE(assay_engine_inject(c->engine, &fails));
        for (int i = 0; i < 3; i++)
            ASSAY__FINE(assay__conform_work_run(c->engine, &w, queue));
        const assay_status told =
            round == 0 ? assay_engine_queue_wait(c->engine, queue) : assay_engine_flush(c->engine);
        ASSAY__HOLDS(told == ASSAY_DEVICE, "%s tells %s of a launch that failed in a queue",
                     round == 0 ? "queue_wait" : "flush", assay_status_name(told));
        ASSAY__FINE(assay_engine_queue_wait(c->engine, queue));
        ASSAY__FINE(assay_engine_flush(c->engine));
        ASSAY__PART(assay__conform_work_check(c, &w, 2 * (round + 1)));
    }
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &queue));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_queue_flush_waits(assay__conform *c)
{
    assay__conform_work w;
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    bool passed = false;

    ASSAY__PART(begin(c, &w, &queue));
    ASSAY__FINE(assay_engine_event_create(c->engine, &event));
    ASSAY__FINE(hold_up(c, 50000000));
    for (int i = 0; i < 10; i++)
        ASSAY__FINE(assay__conform_work_run(c->engine, &w, queue));
    ASSAY__FINE(assay_engine_event_record(c->engine, event, queue));
    ASSAY__FINE(assay_engine_flush(c->engine));
    ASSAY__FINE(assay_engine_event_ready(c->engine, event, &passed));
    ASSAY__HOLDS(passed, "flush returned before all that was queued had ended");
    ASSAY__PART(assay__conform_work_check(c, &w, 10));
    ASSAY__FINE(hold_up(c, 50000000));
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, queue));
    ASSAY__FINE(assay_engine_shutdown(c->engine)); /* waits, with a queue and an event left */
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_queue_foreign(assay__conform *c)
{
    assay__conform_work w;
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    bool ready = false;

    ASSAY__PART(begin(c, &w, &queue));
    ASSAY__FINE(assay_engine_event_create(c->engine, &event));
    ASSAY__FINE(assay_engine_event_record(c->engine, event, queue));
    ASSAY__FINE(assay_engine_queue_wait(c->engine, queue));
    ASSAY__GIVES(assay_engine_queue_wait(c->other, queue), ASSAY_FOREIGN);
    ASSAY__GIVES(assay_engine_event_wait(c->other, event), ASSAY_FOREIGN);
    ASSAY__GIVES(assay_engine_event_ready(c->other, event, &ready), ASSAY_FOREIGN);
    ASSAY__GIVES(assay_engine_event_record(c->other, event, NULL), ASSAY_FOREIGN);
    assay_queue *same = queue;
    assay_event *too = event;
    ASSAY__GIVES(assay_engine_queue_destroy(c->other, &same), ASSAY_FOREIGN);
    ASSAY__GIVES(assay_engine_event_destroy(c->other, &too), ASSAY_FOREIGN);
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, queue));
    ASSAY__FINE(assay_engine_event_destroy(c->engine, &event));
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &queue));
    return assay__conform_work_check(c, &w, 1);
}

static assay__conform_verdict pending_event(assay__conform *c, assay_event *from, assay_event *to)
{
    bool ready = true;
    double ns = 0.0;

    if (!can_fault(c))
        return ASSAY__CONFORM_PASS;
    ASSAY__FINE(assay_engine_event_ready(c->engine, to, &ready));
    ASSAY__HOLDS(!ready, "an event is ready before what lies before it in its queue");
    ASSAY__GIVES(assay_engine_event_elapsed(c->engine, from, to, &ns), ASSAY_PENDING);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_queue_events(assay__conform *c)
{
    assay__conform_work w;
    assay_queue *queue = NULL;
    assay_event *from = NULL, *to = NULL;
    bool ready = false;
    double ns = -1.0;

    ASSAY__PART(begin(c, &w, &queue));
    ASSAY__FINE(assay_engine_event_create(c->engine, &from));
    ASSAY__FINE(assay_engine_event_create(c->engine, &to));
    ASSAY__GIVES(assay_engine_event_wait(c->engine, from), ASSAY_INVALID);
    ASSAY__FINE(hold_up(c, 50000000));
    ASSAY__FINE(assay_engine_event_record(c->engine, from, queue));
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, queue));
    ASSAY__FINE(assay_engine_event_record(c->engine, to, queue));
    ASSAY__PART(pending_event(c, from, to));
    ASSAY__FINE(assay_engine_event_wait(c->engine, to));
    ASSAY__FINE(assay_engine_event_ready(c->engine, to, &ready));
    ASSAY__HOLDS(ready, "an event that was waited for is not ready");
    ASSAY__PART(assay__conform_work_check(c, &w, 1));
    ASSAY__FINE(assay_engine_event_elapsed(c->engine, from, to, &ns));
    ASSAY__HOLDS(isfinite(ns) && ns >= 0.0, "between two events lie %g ns", ns);
    ASSAY__HOLDS(!can_fault(c) || ns >= 50e6, "a launch held up for 50 ms took %g ns", ns);
    ASSAY__FINE(assay_engine_queue_wait(c->engine, queue));
    ASSAY__FINE(assay_engine_event_record(c->engine, to, NULL)); /* again, and of no queue */
    ASSAY__FINE(assay_engine_event_wait(c->engine, to));
    ASSAY__FINE(assay_engine_event_destroy(c->engine, &from));
    ASSAY__FINE(assay_engine_event_destroy(c->engine, &to));
    ASSAY__HOLDS(from == NULL && to == NULL, "a destroyed event is not NULL");
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &queue));
    return ASSAY__CONFORM_PASS;
}
