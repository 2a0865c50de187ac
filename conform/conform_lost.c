/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_lost.c -- rules on a device that is lost: what it refuses, and what it still
 * does, so that a program can let go of all that it has. */
#include <string.h>

#include "conform/conform_slots.h"

enum { N = 16 };

typedef struct lost {
    assay_buffer a, b;
    assay_queue *queue;
    assay_event *event;
    bool has_work;
    assay__conform_work w;
} lost;

static bool has_queues(const assay__conform *c)
{
    return assay_engine_supports(c->engine, ASSAY_FEATURE_ASYNC_COMPUTE);
}

/* Two buffers, and a queue and an event where there are any; then the device goes. */
static assay__conform_verdict lose(assay__conform *c, lost *out)
{
    const assay_fault fault = {.struct_size = sizeof fault, .kind = ASSAY_FAULT_LOST, .times = 1};

    memset(out, 0, sizeof *out);
    const assay__conform_verdict works = assay__conform_work_make(c, N, &out->w);
    if (works == ASSAY__CONFORM_FAIL)
        return works;
    out->has_work = works == ASSAY__CONFORM_PASS;
    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &out->a));
    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &out->b));
    if (has_queues(c)) {
        ASSAY__FINE(assay_engine_queue_create(c->engine, &out->queue));
        ASSAY__FINE(assay_engine_event_create(c->engine, &out->event));
    }
    ASSAY__FINE(assay_engine_inject(c->engine, &fault));
    ASSAY__GIVES(assay_engine_fill(c->engine, out->a, 0, 8, 1), ASSAY_DEVICE_LOST);
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict memory_is_lost(assay__conform *c, const lost *l)
{
    const assay_transfer pieces[2] = {{.buffer = l->a, .host = &(char[8]){0}, .bytes = 8},
                                      {.buffer = l->b, .host = &(char[8]){0}, .bytes = 8}};
    assay_buffer out = {.owner = 5, .size_bytes = 9};
    char memory[64] = "", *mark = memory;
    void *host = mark;

    ASSAY__GIVES(assay_engine_alloc(c->engine, 8, 0, &out), ASSAY_DEVICE_LOST);
    ASSAY__GIVES(assay_engine_copy(c->engine, l->a, 0, l->b, 0, 8), ASSAY_DEVICE_LOST);
    ASSAY__GIVES(assay_engine_fill(c->engine, l->b, 0, 8, 1), ASSAY_DEVICE_LOST);
    ASSAY__GIVES(assay_engine_upload_many(c->engine, pieces, 2), ASSAY_DEVICE_LOST);
    ASSAY__GIVES(assay_engine_download_many(c->engine, pieces, 2), ASSAY_DEVICE_LOST);
    if (ASSAY__HAS_SLOT(c, wrap))
        ASSAY__GIVES(assay_engine_wrap(c->engine, memory, sizeof memory, &out), ASSAY_DEVICE_LOST);
    if (assay_engine_supports(c->engine, ASSAY_FEATURE_UNIFIED_MEMORY))
        ASSAY__GIVES(assay_engine_map(c->engine, l->a, &host), ASSAY_DEVICE_LOST);
    ASSAY__HOLDS(out.owner == 5 && out.size_bytes == 9 && host == mark,
                 "alloc, wrap or map of a lost device wrote a buffer or an address");
    return ASSAY__CONFORM_PASS;
}

/* Queued work may be refused at once, or be the queue's failure. */
static assay__conform_verdict queues_are_lost(assay__conform *c, const lost *l)
{
    assay_queue *queue = NULL;
    assay_event *event = NULL;

    ASSAY__GIVES(assay_engine_queue_create(c->engine, &queue), ASSAY_DEVICE_LOST);
    ASSAY__GIVES(assay_engine_event_create(c->engine, &event), ASSAY_DEVICE_LOST);
    ASSAY__HOLDS(queue == NULL && event == NULL, "a lost device gave a queue or an event");
    if (!l->has_work)
        return ASSAY__CONFORM_PASS;
    assay_status status = assay__conform_work_run(c->engine, &l->w, l->queue);
    if (status == ASSAY_OK)
        status = assay_engine_queue_wait(c->engine, l->queue);
    ASSAY__HOLDS(status == ASSAY_DEVICE_LOST,
                 "launch into a queue of a lost device, and queue_wait, gave %s instead of "
                 "DEVICE_LOST",
                 assay_status_name(status));
    return ASSAY__CONFORM_PASS;
}

static bool is_waited_for(assay_status status)
{
    return status == ASSAY_OK || status == ASSAY_DEVICE_LOST;
}

/* What waits has nothing to wait for: it ends, and may say why nothing came. */
assay__conform_verdict assay__conform_faults_lost_is_refused(assay__conform *c)
{
    assay_instance_state state;
    size_t count = 0;
    lost l;

    ASSAY__PART(lose(c, &l));
    ASSAY__PART(memory_is_lost(c, &l));
    if (l.has_work)
        ASSAY__GIVES(assay__conform_work_run(c->engine, &l.w, NULL), ASSAY_DEVICE_LOST);
    if (has_queues(c))
        ASSAY__PART(queues_are_lost(c, &l));
    assay_status status = assay_engine_synchronize(c->engine);
    ASSAY__HOLDS(is_waited_for(status),
                 "synchronize of a lost device gave %s, neither OK nor "
                 "DEVICE_LOST",
                 assay_status_name(status));
    status = assay_engine_flush(c->engine);
    ASSAY__HOLDS(is_waited_for(status),
                 "flush of a lost device gave %s, neither OK nor DEVICE_LOST",
                 assay_status_name(status));
    ASSAY__FINE(assay_engine_metrics(c->engine, NULL, 0, &count));
    memset(&state, 0, sizeof state);
    ASSAY__FINE(assay_engine_state(c->engine, &state));
    ASSAY__HOLDS(state.is_lost == 1 && state.generation == 1,
                 "state of a lost device says is_lost %u, generation %llu", state.is_lost,
                 (unsigned long long)state.generation);
    return ASSAY__CONFORM_PASS;
}

/* Nothing leaks for want of a device. */
assay__conform_verdict assay__conform_faults_lost_lets_go(assay__conform *c)
{
    assay_instance_state before, after;
    lost l;

    ASSAY__PART(lose(c, &l));
    memset(&before, 0, sizeof before);
    memset(&after, 0, sizeof after);
    ASSAY__FINE(assay_engine_state(c->engine, &before));
    ASSAY__FINE(assay_engine_free(c->engine, l.a));
    ASSAY__GIVES(assay_engine_free(c->engine, l.a), ASSAY_FREED);
    ASSAY__FINE(assay_engine_free(c->engine, l.b));
    if (l.has_work) {
        ASSAY__FINE(assay_engine_free(c->engine, l.w.a));
        ASSAY__FINE(assay_engine_free(c->engine, l.w.y));
    }
    if (has_queues(c)) {
        ASSAY__FINE(assay_engine_event_destroy(c->engine, &l.event));
        ASSAY__FINE(assay_engine_queue_destroy(c->engine, &l.queue));
    }
    ASSAY__FINE(assay_engine_state(c->engine, &after));
    ASSAY__HOLDS(before.live_buffers == 0 || (after.live_buffers == 0 && after.live_bytes == 0),
                 "all buffers of a lost device were freed, and state counts %llu of %llu bytes",
                 (unsigned long long)after.live_buffers, (unsigned long long)after.live_bytes);
    return ASSAY__CONFORM_PASS;
}
