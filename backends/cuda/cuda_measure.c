/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_measure.c -- how long launches take on the device.
 *
 * By records of activity where CUPTI gives them: from the first start to the last end of all that a
 * span launched, which no launch of the host's is in.  Else by events around the span.
 *
 * Calls shorter than SHORT_NS in a row would wait for the host, which takes about that long to
 * launch one; they are captured into a graph, which the device runs without it.  What cannot be
 * captured is launched as it is.
 *
 * All runs on a stream of its own, so that nothing else of the instance is captured or timed.
 *
 * Telling of a span and asking for its records takes milliseconds, behind which a device is slow at
 * first (backends/lead_in.h).  So each span follows launches of the same kernel that are not timed,
 * on operands that it comes to last, on the instance's other stream, whose records are not counted.
 *
 * Times that nobody keeps are taken by events, without any of this. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_activity.h"
#include "backends/cuda/cuda_instance.h"
#include "backends/lead_in.h"

enum {
    BY_RECORDS = 0,
    BY_EVENTS = 1,
    PROBES = 32,
    TRIALS = 8,
    RETAKES = 3,
    MOST_NODES = 8192,
    ROUGH_NODES =
        64 /* of a graph of one launch again and again, which is run as often as it takes */
};
#define SHORT_NS 10000.0

typedef struct timing {
    assay_instance *instance;
    const assay_measure *what;
    assay_launch *launches; /* resolved, on the stream `timed` */
    size_t next;            /* launch that the next span begins with */
    CUevent from, to, led;
    double call_ns; /* by the last span, or an earlier measurement of it; 0: not known */
    int clock;
    bool by_graph;
    CUgraphExec graph;
    size_t graph_first; /* launch that it begins with */
    size_t row;         /* calls that it has */
    bool is_rough;
    size_t records; /* of each span; 0: none was whole yet */
} timing;

static CUstream stream_of(const timing *t)
{
    return t->instance->timed->stream;
}

static assay_status check(const timing *t, CUresult result)
{
    return cuda_check(t->instance, result, "measure");
}

/* ---- what measuring costs beside the spans: metrics ---- */

static void count_since(const timing *t, int what, uint64_t begin)
{
    cuda_count_since(t->instance, what, begin);
}

/* Of calls that no span has in it. */
static void count_untimed(const timing *t, double ns)
{
    cuda_count(t->instance, CUDA_COUNT_measure_untimed_ns, ns > 0.0 ? (uint64_t)ns : 0);
}

/* ---- launching ---- */

static assay_status run_in_a_row(const timing *t, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ASSAY_TRY(t->what->run(&t->launches[first]));
        first = first + 1 == t->what->launch_count ? 0 : first + 1;
    }
    return ASSAY_OK;
}

static void drop_graph(timing *t)
{
    if (t->graph != NULL)
        (void)t->instance->cu->cuGraphExecDestroy(t->graph);
    t->graph = NULL;
}

/* false: it cannot be captured; the stream is as before. */
static bool capture(const timing *t, CUgraph *out)
{
    const cuda_driver *cu = t->instance->cu;
    CUgraph graph = NULL;

    if (cu->cuStreamBeginCapture(stream_of(t), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) != CUDA_SUCCESS)
        return false;
    const bool ran = run_in_a_row(t, t->next, t->row) == ASSAY_OK;
    const bool ended = cu->cuStreamEndCapture(stream_of(t), &graph) == CUDA_SUCCESS;
    if (ran && ended && graph != NULL) {
        *out = graph;
        return true;
    }
    if (graph != NULL)
        (void)cu->cuGraphDestroy(graph);
    return false;
}

static bool make_graph_anew(timing *t)
{
    const cuda_driver *cu = t->instance->cu;
    CUgraph graph;

    drop_graph(t);
    if (!capture(t, &graph))
        return false;
    if (cu->cuGraphInstantiate(&t->graph, graph, 0) != CUDA_SUCCESS)
        t->graph = NULL;
    (void)cu->cuGraphDestroy(graph);
    if (t->graph != NULL && cu->cuGraphUpload(t->graph, stream_of(t)) != CUDA_SUCCESS)
        drop_graph(t);
    t->graph_first = t->next;
    return t->graph != NULL && cu->cuStreamSynchronize(stream_of(t)) == CUDA_SUCCESS;
}

/* A graph of the next span's launches, sent to the device before the clock runs. */
static bool make_graph(timing *t)
{
    if (t->graph != NULL && t->graph_first == t->next)
        return true;
    const uint64_t begin = cuda_now_ns();
    const bool is_made = make_graph_anew(t);
    count_since(t, CUDA_COUNT_measure_graph_ns, begin);
    return is_made;
}

/* `own`'s lock held. */
static assay_status run_lead(const timing *t, size_t count)
{
    const cuda_driver *cu = t->instance->cu;
    const size_t all = t->what->launch_count;
    size_t at = (t->next + all - count % all) % all;

    for (size_t i = 0; i < count; i++) {
        assay_launch launch = t->launches[at];
        launch.queue = t->instance->own;
        ASSAY_TRY(t->what->run(&launch));
        at = at + 1 == all ? 0 : at + 1;
    }
    ASSAY_TRY(check(t, cu->cuEventRecord(t->led, t->instance->own->stream)));
    return check(t, cu->cuStreamWaitEvent(stream_of(t), t->led, CU_EVENT_WAIT_DEFAULT));
}

static assay_status lead_in(const timing *t)
{
    assay_queue *own = t->instance->own;
    const size_t count = lead_count(t->call_ns, t->what->inner);

    /* A row that is as long leads itself in. */
    if (count == 0 || (t->is_rough && t->call_ns * (double)t->what->inner > LEAD_NS))
        return ASSAY_OK;
    pthread_mutex_lock(&own->lock);
    const assay_status status = run_lead(t, count);
    if (status != ASSAY_OK) /* buffers are let go behind a failure */
        (void)t->instance->cu->cuStreamSynchronize(own->stream);
    pthread_mutex_unlock(&own->lock);
    count_untimed(t, (double)count * t->call_ns);
    return status;
}

static assay_status enqueue_span(const timing *t)
{
    if (!t->by_graph)
        return run_in_a_row(t, t->next, t->what->inner);
    for (size_t i = 0; i < t->what->inner / t->row; i++)
        ASSAY_TRY(check(t, t->instance->cu->cuGraphLaunch(t->graph, stream_of(t))));
    return run_in_a_row(t, t->next, t->what->inner % t->row);
}

/* ---- one span ---- */

/* Whatever was enqueued has ended afterwards, also behind a failure. */
static assay_status span_by_events(const timing *t, double *out_ns)
{
    const cuda_driver *cu = t->instance->cu;
    float ms = 0.0f;

    ASSAY_TRY(lead_in(t));
    ASSAY_TRY(check(t, cu->cuEventRecord(t->from, stream_of(t))));
    assay_status status = enqueue_span(t);
    if (status == ASSAY_OK)
        status = check(t, cu->cuEventRecord(t->to, stream_of(t)));
    const assay_status waited = check(t, cu->cuStreamSynchronize(stream_of(t)));
    ASSAY_TRY(status);
    ASSAY_TRY(waited);
    ASSAY_TRY(check(t, cu->cuEventElapsedTime(&ms, t->from, t->to)));
    *out_ns = (double)ms * 1e6;
    return ASSAY_OK;
}

static assay_status record_span(const timing *t, cuda_activity *seen)
{
    ASSAY_TRY(lead_in(t));
    const assay_status status = enqueue_span(t);
    const assay_status waited = check(t, t->instance->cu->cuStreamSynchronize(stream_of(t)));

    ASSAY_TRY(status);
    ASSAY_TRY(waited);
    const uint64_t begin = cuda_now_ns();
    if (!cuda_activity_look(t->records > 0 ? t->records : t->by_graph ? 1 : t->what->inner, seen))
        *seen = (cuda_activity){0};
    count_since(t, CUDA_COUNT_measure_record_ns, begin);
    return ASSAY_OK;
}

/* Are these all records of a span and no others?  Every span has as many, and calls in a row have
 * the same number each. */
static bool is_whole(const timing *t, const cuda_activity *seen)
{
    if (seen->records == 0 || seen->dropped > 0)
        return false;
    if (t->records > 0)
        return seen->records == t->records;
    return t->by_graph || seen->records % t->what->inner == 0;
}

/* What comes late of a span that is not whole must not count as of the next. */
static assay_status span_by_records(timing *t, double *out_ns, bool *whole)
{
    cuda_activity seen;

    ASSAY_TRY(record_span(t, &seen));
    *whole = is_whole(t, &seen);
    if (*whole)
        t->records = seen.records;
    else
        cuda_activity_forget();
    *out_ns = (double)(seen.last_ns - seen.first_ns);
    return ASSAY_OK;
}

static void end_records(timing *t)
{
    if (t->clock == BY_EVENTS)
        return;
    const uint64_t begin = cuda_now_ns();
    cuda_activity_end();
    count_since(t, CUDA_COUNT_measure_record_ns, begin);
    t->clock = BY_EVENTS;
}

/* What this begins with: no span was told yet, so that events may take over. */
static assay_status first_span(timing *t, double *out_ns)
{
    bool whole = false;

    for (int i = 0; i < RETAKES && t->clock == BY_RECORDS; i++) {
        ASSAY_TRY(span_by_records(t, out_ns, &whole));
        if (whole)
            return ASSAY_OK;
    }
    end_records(t);
    return span_by_events(t, out_ns);
}

static assay_status later_span(timing *t, double *out_ns)
{
    bool whole = false;

    if (t->clock == BY_EVENTS)
        return span_by_events(t, out_ns);
    for (int i = 0; i < RETAKES; i++) {
        ASSAY_TRY(span_by_records(t, out_ns, &whole));
        if (whole)
            return ASSAY_OK;
    }
    return cuda_fail(t->instance, ASSAY_DEVICE,
                     "measure: CUPTI lost records of a span %d times in a row; set "
                     "ASSAY_CUDA_CUPTI to nothing that is there and events take over",
                     RETAKES);
}

static assay_status run_spans(timing *t)
{
    const assay_measure *what = t->what;

    for (size_t span = 0; span < what->spans; span++) {
        double ns = 0.0;
        if (t->by_graph && !make_graph(t)) {
            if (span > 0)
                return cuda_fail(t->instance, ASSAY_DEVICE,
                                 "measure: a span could not be captured as those before it were");
            t->by_graph = false; /* choose_graph saw that it can; it cannot any more */
        }
        ASSAY_TRY(span == 0 ? first_span(t, &ns) : later_span(t, &ns));
        t->call_ns = ns / (double)what->inner;
        what->sink(what->cookie, ns, what->inner);
        t->next = (t->next + what->inner) % what->launch_count;
    }
    return ASSAY_OK;
}

/* ---- choosing ---- */

/* So many calls in a row by events, the first launch with them. */
static assay_status time_calls(const timing *t, size_t count, double *out_ns)
{
    const cuda_driver *cu = t->instance->cu;
    float ms = 0.0f;

    ASSAY_TRY(check(t, cu->cuEventRecord(t->from, stream_of(t))));
    ASSAY_TRY(run_in_a_row(t, 0, count));
    ASSAY_TRY(check(t, cu->cuEventRecord(t->to, stream_of(t))));
    ASSAY_TRY(check(t, cu->cuStreamSynchronize(stream_of(t))));
    ASSAY_TRY(check(t, cu->cuEventElapsedTime(&ms, t->from, t->to)));
    count_untimed(t, (double)ms * 1e6);
    *out_ns = (double)ms * 1e6 / (double)count;
    return ASSAY_OK;
}

/* How long one call takes, with the host's part where that is longer.  What is long by far is
 * called no more than twice, since the first call may load code. */
static assay_status estimate(const timing *t, double *out_ns)
{
    const size_t count = t->what->inner < TRIALS ? t->what->inner : TRIALS;

    ASSAY_TRY(time_calls(t, 1, out_ns));
    if (*out_ns > 4 * SHORT_NS)
        ASSAY_TRY(time_calls(t, 1, out_ns));
    return *out_ns > 4 * SHORT_NS ? ASSAY_OK : time_calls(t, count, out_ns);
}

/* ---- what a rough measurement leaves to the next ---- */

/* Of so few calls the host's part is too large. */
static void note_roughly(const timing *t)
{
    lead_pace *r = &t->instance->rough;

    *r = (lead_pace){.run = NULL};
    if (t->is_rough && t->what->inner >= TRIALS)
        lead_note(r, t->what, t->call_ns);
}

static assay_status expect(const timing *t, double *out_ns)
{
    *out_ns = lead_recall(&t->instance->rough, t->what);
    return *out_ns > 0.0 ? ASSAY_OK : estimate(t, out_ns);
}

static assay_status choose_graph(timing *t)
{
    double ns = 0.0;

    t->row = t->what->inner;
    if (t->is_rough && t->what->launch_count == 1 && t->row > ROUGH_NODES)
        t->row = ROUGH_NODES;
    if (t->what->inner < 2 || t->row > MOST_NODES)
        return ASSAY_OK;
    ASSAY_TRY(expect(t, &ns));
    t->call_ns = t->call_ns > 0.0 ? t->call_ns : ns;
    t->by_graph = ns < SHORT_NS && make_graph(t);
    return ASSAY_OK;
}

static void choose_clock(timing *t)
{
    const uint64_t begin = cuda_now_ns();
    char why[512];
    const bool there =
        cuda_activity_begin(t->instance->context, stream_of(t), t->by_graph, why, sizeof why);

    count_since(t, CUDA_COUNT_measure_record_ns, begin);
    t->clock = there ? BY_RECORDS : BY_EVENTS;
}

/* ---- what the clocks are worth ---- */

/* A kernel that does nothing, in the driver's own language for any device that this build knows. */
static const char empty_text[] = ".version 6.3\n"
                                 ".target sm_75\n"
                                 ".address_size 64\n"
                                 ".visible .entry assay_empty()\n"
                                 "{\n"
                                 "    ret;\n"
                                 "}\n";

static assay_status run_empty(const assay_launch *launch)
{
    const cuda_image image = {.name = "the empty kernel",
                              .bytes = (const unsigned char *)empty_text,
                              .size = sizeof empty_text};
    const cuda_grid grid = {.groups = {1, 1, 1}, .threads = {1, 1, 1}};
    CUfunction function;

    if (cuda_function(launch->instance, &image, "assay_empty", &function) == ASSAY_OK)
        return cuda_enqueue(launch, function, &grid, NULL);
    /* Some containers lack the driver's compiler: a fill of one byte is next to nothing. */
    CUdeviceptr byte;
    ASSAY_TRY(cuda_workspace(launch, 1, &byte));
    return cuda_check(launch->instance,
                      launch->instance->cu->cuMemsetD8Async(byte, 0, 1, cuda_stream(launch)),
                      "measure, an empty span");
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Overhead: what a span of the empty kernel reads, the least of many.  Resolution: the step that
 * all times are multiples of. */
static assay_status probe_records(const timing *t, cuda_clock *out)
{
    uint64_t step = 0, least = UINT64_MAX, origin = 0;

    for (int i = 0; i < PROBES; i++) {
        cuda_activity seen;
        ASSAY_TRY(record_span(t, &seen));
        if (seen.records != 1 || seen.dropped > 0) {
            cuda_activity_forget();
            continue;
        }
        origin = origin == 0 ? seen.first_ns : origin;
        const uint64_t ns = seen.last_ns - seen.first_ns;
        step = common_divisor(common_divisor(step, ns), seen.first_ns - origin);
        least = ns < least ? ns : least;
    }
    if (step == 0)
        return cuda_fail(t->instance, ASSAY_DEVICE,
                         "measure: CUPTI gave no records of an empty kernel");
    *out = (cuda_clock){true, (double)step, (double)least};
    return ASSAY_OK;
}

/* Resolution: the least difference between two readings. */
static assay_status probe_events(const timing *t, cuda_clock *out)
{
    double read[PROBES], least = 0.0, step = 0.0;

    for (int i = 0; i < PROBES; i++) {
        ASSAY_TRY(span_by_events(t, &read[i]));
        least = i == 0 || read[i] < least ? read[i] : least;
    }
    for (int i = 0; i < PROBES; i++)
        for (int k = 0; k < i; k++) {
            const double apart = read[i] > read[k] ? read[i] - read[k] : read[k] - read[i];
            if (apart > 0.0 && (step == 0.0 || apart < step))
                step = apart;
        }
    *out = (cuda_clock){true, step > 0.0 ? step : least, least};
    return ASSAY_OK;
}

/* Spans of one empty kernel on the same stream, by the clock in use. */
static assay_status probe_clock(const timing *of, cuda_clock *out)
{
    assay_launch launch = {
        .struct_size = sizeof launch, .instance = of->instance, .queue = of->instance->timed};
    const assay_measure what = {.struct_size = sizeof what,
                                .run = run_empty,
                                .launches = &launch,
                                .launch_count = 1,
                                .inner = 1};
    timing t = *of;

    t.what = &what;
    t.launches = &launch;
    t.next = t.records = 0;
    t.by_graph = false;
    t.row = 1;
    ASSAY_TRY(run_in_a_row(&t, 0, 1)); /* loads it */
    ASSAY_TRY(check(&t, t.instance->cu->cuStreamSynchronize(stream_of(&t))));
    return t.clock == BY_RECORDS ? probe_records(&t, out) : probe_events(&t, out);
}

/* Kernels one by one are recorded here, while a measurement may record whole graphs. */
static assay_status know_clock(timing *t)
{
    cuda_clock *known = &t->instance->clocks[t->clock];
    char why[512];

    if (known->is_known)
        return ASSAY_OK;
    if (t->clock == BY_RECORDS && t->by_graph) {
        cuda_activity_end();
        if (!cuda_activity_begin(t->instance->context, stream_of(t), false, why, sizeof why)) {
            t->clock = BY_EVENTS;
            return know_clock(t);
        }
    }
    if (t->clock == BY_RECORDS && probe_clock(t, known) != ASSAY_OK)
        end_records(t); /* such records are worth nothing */
    if (t->clock == BY_EVENTS)
        return t->instance->clocks[BY_EVENTS].is_known
                   ? ASSAY_OK
                   : probe_clock(t, &t->instance->clocks[BY_EVENTS]);
    if (t->by_graph) {
        cuda_activity_end();
        choose_clock(t);
    }
    return ASSAY_OK;
}

static void describe_clock(const timing *t, assay_clock_info *out)
{
    const cuda_clock *known = &t->instance->clocks[t->clock];
    const bool by_records = t->clock == BY_RECORDS;

    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", by_records ? "CUPTI activity" : "CUDA events");
    out->resolution_ns = known->resolution_ns;
    out->overhead_ns = known->overhead_ns;
    out->quality = by_records ? ASSAY_TIMING_COUNTERS : ASSAY_TIMING_DEVICE;
}

/* ---- all of it ---- */

/* What is told of the clock is known from spans that were kept, or this is no rough measurement. */
static assay_status time_roughly(timing *t, assay_clock_info *clock)
{
    ASSAY_TRY(run_spans(t));
    t->clock = t->instance->spans_by;
    describe_clock(t, clock);
    return ASSAY_OK;
}

/* Events may have taken over while spans ran, whose worth is then found out behind them. */
static assay_status time_spans(timing *t, assay_clock_info *clock)
{
    ASSAY_TRY(choose_graph(t));
    if (t->is_rough)
        return time_roughly(t, clock);
    choose_clock(t);
    drop_graph(t); /* records are those of graphs that were made while recording is on */
    assay_status status = know_clock(t);
    if (status == ASSAY_OK)
        status = run_spans(t);
    if (status == ASSAY_OK)
        status = know_clock(t);
    if (status == ASSAY_OK)
        describe_clock(t, clock);
    t->instance->spans_by = t->clock;
    t->instance->has_spans_by = status == ASSAY_OK;
    end_records(t);
    return status;
}

static assay_status with_events(timing *t, assay_clock_info *clock)
{
    const cuda_driver *cu = t->instance->cu;
    CUresult result = cu->cuEventCreate(&t->from, CU_EVENT_DEFAULT);

    if (result == CUDA_SUCCESS)
        result = cu->cuEventCreate(&t->to, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS)
        result = cu->cuEventCreate(&t->led, CU_EVENT_DISABLE_TIMING);
    assay_status status = check(t, result);
    if (status == ASSAY_OK)
        status = time_spans(t, clock);
    drop_graph(t);
    if (t->led != NULL)
        (void)cu->cuEventDestroy(t->led);
    if (t->to != NULL)
        (void)cu->cuEventDestroy(t->to);
    if (t->from != NULL)
        (void)cu->cuEventDestroy(t->from);
    return status;
}

/* Everything that one measured launch needs; its slots are pinned. */
typedef struct operand_set {
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    uint32_t slots[ASSAY_MAX_OPERANDS], count;
} operand_set;

static assay_status resolve_all(timing *t, operand_set *sets, size_t *resolved)
{
    for (size_t i = 0; i < t->what->launch_count; i++) {
        ASSAY_TRY(cuda_resolve(t->instance, &t->what->launches[i], &t->launches[i],
                               sets[i].operands, sets[i].slots, &sets[i].count));
        t->launches[i].queue = t->instance->timed;
        ++*resolved;
    }
    return ASSAY_OK;
}

/* Of a caller who knows of it. */
static bool asks_roughly(const assay_measure *what)
{
    return what->struct_size >= offsetof(assay_measure, is_rough) + sizeof what->is_rough &&
           what->is_rough;
}

/* Behind what was launched without a queue: it may write what is measured, or disturb it. */
static assay_status measure_alone(timing *t, assay_clock_info *clock)
{
    assay_queue *q = t->instance->timed;
    ASSAY_TRY(check(t, t->instance->cu->cuStreamSynchronize(t->instance->own->stream)));
    pthread_mutex_lock(&q->lock);
    t->call_ns = lead_recall(&t->instance->pace, t->what);
    t->is_rough = asks_roughly(t->what) && t->instance->has_spans_by;
    const assay_status status = with_events(t, clock);
    lead_note(&t->instance->pace, t->what, t->call_ns);
    note_roughly(t);
    /* What had been launched before a failure still uses its buffers, which are let go next. */
    if (status != ASSAY_OK)
        (void)t->instance->cu->cuStreamSynchronize(stream_of(t));
    pthread_mutex_unlock(&q->lock);
    return status;
}

static assay_status measure_resolved(assay_instance *instance, const assay_measure *what,
                                     assay_clock_info *clock)
{
    operand_set *sets = calloc(what->launch_count, sizeof *sets);
    assay_launch *launches = calloc(what->launch_count, sizeof *launches);
    timing t = {.instance = instance, .what = what, .launches = launches, .clock = BY_EVENTS};
    size_t resolved = 0;
    assay_status status = ASSAY_OK;

    if (sets == NULL || launches == NULL)
        status = cuda_fail(instance, ASSAY_NOMEM, "measure: no memory for %zu launches",
                           what->launch_count);
    if (status == ASSAY_OK)
        status = resolve_all(&t, sets, &resolved);
    if (status == ASSAY_OK)
        status = measure_alone(&t, clock);
    for (size_t i = 0; i < resolved; i++)
        cuda_unpin_slots(instance, sets[i].slots, sets[i].count);
    free(launches);
    free(sets);
    return status;
}

assay_status cuda_measure(assay_instance *instance, const assay_measure *what,
                          assay_clock_info *clock)
{
    if (what->launch_count == 0 || what->inner == 0 || what->sink == NULL || what->run == NULL)
        return cuda_fail(instance, ASSAY_INVALID,
                         "measure: needs a kernel, a sink, launches and inner >= 1");
    if (what->cache == ASSAY_CACHE_HOT && what->launch_count != 1)
        return cuda_fail(instance, ASSAY_INVALID,
                         "measure: a hot cache needs one launch, %zu given", what->launch_count);
    ASSAY_TRY(cuda_enter(instance, "measure"));
    const assay_status status = measure_resolved(instance, what, clock);
    cuda_leave(instance);
    return status;
}
