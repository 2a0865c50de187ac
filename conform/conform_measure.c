/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_measure.c -- what the slot measure says of one kernel. */
#include <math.h>
#include <string.h>

#include "conform/conform_raw.h"

typedef struct spans {
    const assay__backend *backend;
    size_t count, inner;
    bool is_bad;  /* a span of no time that there is */
    bool is_deaf; /* metrics did not answer behind a span */
} spans;

static void on_span(void *cookie, double span_ns, size_t inner)
{
    spans *s = cookie;
    size_t metrics = 0;

    s->count++;
    s->inner += inner;
    s->is_bad = s->is_bad || !(span_ns >= 0.0) || !isfinite(span_ns);
    /* So that sensors can be read there. */
    s->is_deaf = s->is_deaf || assay__backend_metrics(s->backend, NULL, 0, &metrics) != ASSAY_OK;
}

static assay__conform_verdict check_spans(assay__conform *c, const spans *s, size_t count,
                                          size_t inner, const assay_clock_info *clock)
{
    ASSAY__HOLDS(s->count == count, "%zu spans were asked for, %zu told", count, s->count);
    ASSAY__HOLDS(s->inner == count * inner, "spans of %zu launches are told as %zu in all", inner,
                 s->inner);
    ASSAY__HOLDS(!s->is_bad, "a span takes a time that there is not");
    ASSAY__HOLDS(!s->is_deaf, "its slot metrics fails when sink calls it between spans");
    ASSAY__HOLDS(memchr(clock->name, 0, sizeof clock->name) != NULL && clock->name[0] != '\0',
                 "its clock has no name");
    ASSAY__HOLDS(clock->resolution_ns >= 0.0 && clock->overhead_ns >= 0.0,
                 "its clock has a resolution of %g ns and an overhead of %g", clock->resolution_ns,
                 clock->overhead_ns);
    ASSAY__HOLDS((int)clock->quality >= 0 && clock->quality <= ASSAY_TIMING_COUNTERS,
                 "its clock has quality %d", (int)clock->quality);
    return ASSAY__CONFORM_PASS;
}

/* Every launch ran, and those before the first span, if any; y only grows. */
static assay__conform_verdict at_least(assay__conform *c, const assay__conform_work *w, int times)
{
    const float want = assay__conform_work_want(w, times);
    float y = 0.0f;

    ASSAY__FINE(assay_engine_download_at(c->engine, &y, w->y, 0, sizeof y));
    ASSAY__HOLDS(y >= want, "after %d launches that were timed an element is %g instead of %g",
                 times, (double)y, (double)want);
    return ASSAY__CONFORM_PASS;
}

/* What the features say that it times by. */
static assay__conform_verdict check_quality(assay__conform *c, const assay_clock_info *clock)
{
    ASSAY__HOLDS(!assay_engine_supports(c->engine, ASSAY_FEATURE_DEVICE_TIMESTAMPS) ||
                     clock->quality >= ASSAY_TIMING_DEVICE,
                 "it has device_timestamps, and its slot measure reports quality %d, not "
                 "TIMING_DEVICE",
                 (int)clock->quality);
    ASSAY__HOLDS(!assay_engine_supports(c->engine, ASSAY_FEATURE_HARDWARE_COUNTERS) ||
                     clock->quality == ASSAY_TIMING_COUNTERS,
                 "it has hardware_counters, and its slot measure reports quality %d, not "
                 "TIMING_COUNTERS",
                 (int)clock->quality);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_measure_spans(assay__conform *c)
{
    const assay__backend *backend = &c->engine->backend;
    assay_clock_info clock;
    assay__conform_work w;
    spans seen = {.backend = backend};
    assay__raw raw;

    ASSAY__PART(assay__conform_work_make(c, 64, &w));
    ASSAY__PART(assay__raw_make(c, &w, &raw));
    const assay_measure what = {.struct_size = sizeof what,
                                .run = raw.run,
                                .launches = &raw.launch,
                                .launch_count = 1,
                                .inner = 3,
                                .spans = 7,
                                .cache = ASSAY_CACHE_HOT,
                                .sink = on_span,
                                .cookie = &seen};
    memset(&clock, 0, sizeof clock);
    ASSAY__FINE(assay__backend_measure(backend, &what, &clock));
    ASSAY__PART(check_spans(c, &seen, 7, 3, &clock));
    ASSAY__PART(check_quality(c, &clock));
    return at_least(c, &w, 21);
}
