/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/engine_report.c -- counters of an engine, as numbers and as OpenMetrics text, and the
 * ring of its last calls. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/engine_internal.h"
#include "runtime/error.h"

/* ---- counters ---- */

static const char *const own_names[ASSAY__ENGINE_COUNTS] = {
#define X(name) "engine_" #name "_total",
    ASSAY__ENGINE_METRICS(X)
#undef X
};

enum { METRICS_MAX = 256 };

static int name_order(const void *left, const void *right)
{
    const assay_metric *a = left, *b = right;

    return strcmp(a->name, b->name);
}

/* Own counters, then the backend's, in one list with room for METRICS_MAX. */
static assay_status collect(const assay_engine *engine, assay_metric *list, size_t *count)
{
    const size_t room = METRICS_MAX - ASSAY__ENGINE_COUNTS;
    size_t more = 0;

    for (size_t i = 0; i < ASSAY__ENGINE_COUNTS; i++)
        list[i] = (assay_metric){own_names[i], atomic_load(&engine->counts[i])};
    ASSAY_TRY(assay__backend_metrics(&engine->backend, list + ASSAY__ENGINE_COUNTS, room, &more));
    *count = ASSAY__ENGINE_COUNTS + (more < room ? more : room);
    qsort(list, *count, sizeof *list, name_order);
    return ASSAY_OK;
}

assay_status assay_engine_metrics(assay_engine *engine, assay_metric *out, size_t cap,
                                  size_t *count)
{
    assay_metric list[METRICS_MAX];
    assay__engine_call call;

    ASSAY_TRY(assay__engine_enter(engine, "metrics", &call));
    assay_status status = collect(engine, list, count);
    if (status == ASSAY_OK && out != NULL)
        memcpy(out, list, (*count < cap ? *count : cap) * sizeof *out);
    return assay__engine_leave(&call, status, NULL);
}

/* ---- OpenMetrics: github.com/prometheus/OpenMetrics, specification 1.0 ---- */

typedef struct text {
    char *buf;
    size_t cap, length;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *t, const char *format, ...)
{
    const size_t at = t->length < t->cap ? t->length : t->cap;
    va_list args;

    va_start(args, format);
    int n = vsnprintf(at < t->cap ? t->buf + at : NULL, t->cap - at, format, args);
    va_end(args);
    t->length += n > 0 ? (size_t)n : 0;
}

/* A counter's family is its name without "_total".  What is not known is left out. */
static void add_metric(text *t, const char *backend, const assay_metric *m)
{
    if (m->value == ASSAY_METRIC_UNKNOWN)
        return;
    const size_t length = strlen(m->name), tail = sizeof "_total" - 1;
    const bool grows = length > tail && strcmp(m->name + length - tail, "_total") == 0;

    add(t, "# TYPE assay_%.*s %s\n", (int)(grows ? length - tail : length), m->name,
        grows ? "counter" : "gauge");
    add(t, "assay_%s{backend=\"%s\"} %llu\n", m->name, backend, (unsigned long long)m->value);
}

size_t assay_engine_metrics_text(assay_engine *engine, char *buf, size_t cap)
{
    assay_metric list[METRICS_MAX];
    text t = {buf, cap, 0};
    size_t count = 0;

    if (assay_engine_metrics(engine, list, METRICS_MAX, &count) != ASSAY_OK)
        count = 0;
    for (size_t i = 0; i < count; i++)
        add_metric(&t, assay_engine_name(engine), &list[i]);
    add(&t, "# EOF\n");
    return t.length;
}

/* ---- trace ---- */

uint64_t assay__trace_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void assay__trace_init(assay__trace *trace)
{
    const char *asked = getenv("ASSAY_TRACE");

    (void)pthread_mutex_init(&trace->lock, NULL); /* of the default kind it cannot fail */
    atomic_store(&trace->on, asked != NULL && strcmp(asked, "1") == 0);
}

void assay__trace_clear(assay__trace *trace)
{
    pthread_mutex_destroy(&trace->lock);
}

void assay__trace_add(assay__trace *trace, const assay__engine_call *call, uint64_t end_ns,
                      assay_status status, const char *detail)
{
    pthread_mutex_lock(&trace->lock);
    assay_trace_event *e = &trace->events[trace->count++ % ASSAY_TRACE_EVENTS];
    *e = (assay_trace_event){.number = trace->count,
                             .begin_ns = call->begin_ns,
                             .took_ns = end_ns - call->begin_ns,
                             .status = status};
    (void)snprintf(e->what, sizeof e->what, "%s", call->what);
    (void)snprintf(e->detail, sizeof e->detail, "%s", detail != NULL ? detail : "");
    pthread_mutex_unlock(&trace->lock);
}

void assay_engine_trace(assay_engine *engine, bool on)
{
    atomic_store(&engine->trace.on, on);
}

size_t assay_engine_trace_read(assay_engine *engine, assay_trace_event *out, size_t cap)
{
    assay__trace *trace = &engine->trace;

    pthread_mutex_lock(&trace->lock);
    const size_t count =
        trace->count < ASSAY_TRACE_EVENTS ? (size_t)trace->count : ASSAY_TRACE_EVENTS;
    for (size_t i = 0; i < count && i < cap; i++)
        out[i] = trace->events[(trace->count - count + i) % ASSAY_TRACE_EVENTS];
    pthread_mutex_unlock(&trace->lock);
    return count;
}
