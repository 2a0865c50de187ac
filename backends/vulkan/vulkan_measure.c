/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_measure.c -- spans timed by the device: one command buffer a span, with a
 * timestamp before its launches and one behind, and a barrier between any two launches.
 *
 * Before the first timestamp come launches that keep the device busy (backends/lead_in.h), on
 * operands that the span comes to last.  What rotates over few operand sets comes to the same start
 * again: those command buffers are kept and submitted once more.  One that never ran is run once
 * before, for what drivers do then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/lead_in.h"
#include "backends/vulkan/vulkan.h"
#include "backends/vulkan/vulkan_ticks.h"

enum { KEPT = 16, EMPTY_SPANS = 16 };

typedef struct session {
    vulkan_instance *v;
    const assay_measure *what;
    assay_launch *launches; /* resolved */
    assay_tensor *operands;
    size_t pinned;
    double call_ns; /* 0: not known yet */
    size_t lead;    /* launches before a span, settled as soon as that is known */
    struct {
        vulkan_commands *commands;
        size_t start, lead;
    } kept[KEPT];
} session;

/* ---- one span ---- */

static assay_status record_launches(const session *s, vulkan_recording *recording, size_t start,
                                    size_t count)
{
    assay_status status = ASSAY_OK;

    vulkan_record(recording);
    for (size_t i = 0, at = start; i < count && status == ASSAY_OK; i++) {
        status = s->what->run(&s->launches[at]);
        at = at + 1 == s->what->launch_count ? 0 : at + 1;
    }
    vulkan_record(NULL);
    return status;
}

/* count 0: an empty span. */
static assay_status record_span(const session *s, vulkan_commands *c, size_t start, size_t count)
{
    const vulkan_device *d = s->v->device;
    const size_t all = s->what->launch_count, lead = count > 0 ? s->lead : 0;
    vulkan_recording recording = {.buffer = c->buffer};

    ASSAY_TRY(vulkan_begin(s->v, c));
    d->call.CmdResetQueryPool(c->buffer, d->queries, 0, 2);
    ASSAY_TRY(record_launches(s, &recording, (start + all - lead % all) % all, lead));
    if (lead > 0) /* what the span's first launch waits for is no part of it */
        vulkan_barrier(d, c->buffer, false);
    recording.has_launches = false;
    d->call.CmdWriteTimestamp(c->buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, d->queries, 0);
    ASSAY_TRY(record_launches(s, &recording, start, count));
    d->call.CmdWriteTimestamp(c->buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, d->queries, 1);
    return vulkan_end(s->v, c);
}

static assay_status time_span(const session *s, vulkan_commands *c, double *ns)
{
    const vulkan_device *d = s->v->device;
    uint64_t ticks[2] = {0, 0};

    ASSAY_TRY(vulkan_submit(s->v, c));
    ASSAY_TRY(vulkan_wait(s->v, c));
    VULKAN_TRY(s->v, "vkGetQueryPoolResults",
               d->call.GetQueryPoolResults(d->handle, d->queries, 0, 2, sizeof ticks, ticks,
                                           sizeof ticks[0],
                                           VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
    *ns = vulkan_ticks_ns(vulkan_ticks_between(ticks[0], ticks[1], d->found->timestamp_bits),
                          (double)d->found->properties.limits.timestampPeriod);
    return ASSAY_OK;
}

/* ---- all of them ---- */

/* The kept commands of this start, or those in its place, recorded anew. */
static assay_status commands_of(session *s, size_t start, vulkan_commands **out)
{
    const size_t place = start % KEPT;

    if (s->kept[place].commands == NULL) {
        ASSAY_TRY(vulkan_take_commands(s->v, 0, &s->kept[place].commands));
        s->kept[place].start = SIZE_MAX;
    }
    *out = s->kept[place].commands;
    if (s->kept[place].start == start && s->kept[place].lead == s->lead)
        return ASSAY_OK;
    s->kept[place].start = SIZE_MAX;
    ASSAY_TRY(record_span(s, *out, start, s->what->inner));
    s->kept[place].start = start;
    s->kept[place].lead = s->lead;
    return ASSAY_OK;
}

/* Once, untimed, what never ran. */
static assay_status warm_up(const session *s)
{
    vulkan_recording recording = {0};
    vulkan_commands *c;

    ASSAY_TRY(vulkan_take_commands(s->v, 0, &c));
    recording.buffer = c->buffer;
    assay_status status = vulkan_begin(s->v, c);
    if (status == ASSAY_OK)
        status = record_launches(s, &recording, 0, 1);
    if (status == ASSAY_OK)
        status = vulkan_end(s->v, c);
    if (status == ASSAY_OK && recording.is_cold)
        status = vulkan_submit(s->v, c);
    if (status == ASSAY_OK && recording.is_cold)
        status = vulkan_wait(s->v, c);
    vulkan_give_commands(s->v->device, c);
    return status;
}

static void settle_lead(session *s, double span_ns)
{
    if (!(s->call_ns > 0.0))
        s->lead = lead_count(span_ns / (double)s->what->inner, s->what->inner);
    s->call_ns = span_ns / (double)s->what->inner;
}

static assay_status run_spans(session *s)
{
    size_t next = 0;

    s->call_ns = lead_recall(&s->v->device->pace, s->what);
    s->lead = lead_count(s->call_ns, s->what->inner);
    for (size_t span = 0; span < s->what->spans; span++) {
        vulkan_commands *c;
        double ns;
        ASSAY_TRY(commands_of(s, next, &c));
        ASSAY_TRY(time_span(s, c, &ns));
        vulkan_count(s->v, VULKAN_COUNT_lead_launches, s->lead);
        settle_lead(s, ns);
        s->what->sink(s->what->cookie, ns, s->what->inner);
        vulkan_count(s->v, VULKAN_COUNT_measured_spans, 1);
        next = (next + s->what->inner % s->what->launch_count) % s->what->launch_count;
    }
    lead_note(&s->v->device->pace, s->what, s->call_ns);
    return ASSAY_OK;
}

/* The least that two timestamps in a row differ by. */
static assay_status find_overhead(const session *s)
{
    vulkan_device *d = s->v->device;
    vulkan_commands *c;
    double least = -1.0, ns = 0.0;

    if (d->overhead_ns >= 0.0)
        return ASSAY_OK;
    ASSAY_TRY(vulkan_take_commands(s->v, 0, &c));
    assay_status status = record_span(s, c, 0, 0);
    for (int i = 0; i < EMPTY_SPANS && status == ASSAY_OK; i++) {
        status = time_span(s, c, &ns);
        least = least < 0.0 || ns < least ? ns : least;
    }
    vulkan_give_commands(d, c);
    if (status == ASSAY_OK)
        d->overhead_ns = least;
    return status;
}

static void describe(const vulkan_device *d, assay_clock_info *clock)
{
    memset(clock, 0, sizeof *clock);
    (void)snprintf(clock->name, sizeof clock->name, "Vulkan timestamps, %u bits",
                   d->found->timestamp_bits);
    clock->resolution_ns = (double)d->found->properties.limits.timestampPeriod;
    clock->overhead_ns = d->overhead_ns;
    clock->quality = ASSAY_TIMING_DEVICE;
}

/* With the gate and d->measuring held. */
static assay_status measure_inside(session *s, assay_clock_info *clock)
{
    ASSAY_TRY(find_overhead(s));
    ASSAY_TRY(vulkan_check_clock(s->v));
    ASSAY_TRY(warm_up(s));
    ASSAY_TRY(run_spans(s));
    ASSAY_TRY(vulkan_check_clock(s->v));
    describe(s->v->device, clock);
    return ASSAY_OK;
}

/* ---- what it works on ---- */

/* Each with its own operands, pinned so that nobody frees them meanwhile. */
static assay_status resolve(session *s)
{
    assay_instance *instance = &s->v->base;

    for (; s->pinned < s->what->launch_count; s->pinned++)
        ASSAY_TRY(assay__host_resolve(instance, &s->what->launches[s->pinned],
                                      &s->launches[s->pinned],
                                      s->operands + s->pinned * ASSAY_MAX_OPERANDS, +1));
    return ASSAY_OK;
}

static void clear(session *s)
{
    assay_tensor unused[ASSAY_MAX_OPERANDS];
    assay_launch launch;

    for (int i = 0; i < KEPT; i++)
        if (s->kept[i].commands != NULL)
            vulkan_give_commands(s->v->device, s->kept[i].commands);
    while (s->pinned > 0)
        (void)assay__host_resolve(&s->v->base, &s->what->launches[--s->pinned], &launch, unused,
                                  -1);
    free(s->operands);
    free(s->launches);
}

static assay_status check(assay_instance *instance, const assay_measure *what)
{
    if (what->launch_count == 0 || what->inner == 0 || what->sink == NULL || what->run == NULL)
        return assay__host_fail(instance, ASSAY_INVALID,
                                "measure: needs a kernel, a sink, launches and inner >= 1");
    if (what->cache == ASSAY_CACHE_HOT && what->launch_count != 1)
        return assay__host_fail(instance, ASSAY_INVALID,
                                "measure: a hot cache needs one launch, %zu given",
                                what->launch_count);
    return ASSAY_OK;
}

static assay_status measure_entered(vulkan_instance *v, const assay_measure *what,
                                    assay_clock_info *clock)
{
    session s = {.v = v, .what = what};
    assay_status status;

    s.launches = calloc(what->launch_count, sizeof *s.launches);
    s.operands = calloc(what->launch_count, ASSAY_MAX_OPERANDS * sizeof *s.operands);
    status = s.launches != NULL && s.operands != NULL
                 ? resolve(&s)
                 : assay__host_fail(&v->base, ASSAY_NOMEM, "measure: no memory");
    if (status == ASSAY_OK) {
        pthread_mutex_lock(&v->device->measuring);
        status = measure_inside(&s, clock);
        pthread_mutex_unlock(&v->device->measuring);
    }
    clear(&s);
    return status;
}

assay_status vulkan_measure(assay_instance *instance, const assay_measure *what,
                            assay_clock_info *clock)
{
    vulkan_instance *v = vulkan_of(instance);

    ASSAY_TRY(assay__host_alive(instance, "measure"));
    ASSAY_TRY(check(instance, what));
    if (v->devices[v->selected].timestamp_bits == 0) { /* each launch is submitted and waited for */
        ASSAY_TRY(assay__host_measure(instance, what, clock));
        clock->quality = ASSAY_TIMING_ENQUEUE_WAIT;
        return ASSAY_OK;
    }
    ASSAY_TRY(vulkan_enter(v));
    assay_status status = measure_entered(v, what, clock);
    vulkan_leave(v);
    return status != ASSAY_OK ? status : vulkan_tell_messages(instance);
}
