/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_count.c -- what counters say of a variant, in calls that nobody times. */
#include "runtime/error.h"
#include "tuner/counters.h"
#include "tuner/worker.h"

static json_t *source_row(const assay__counter *c)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", c->name, "unit", c->unit, "source",
                     c->source != NULL ? c->source->name : "", "event", c->event, "reason",
                     c->reason);
}

assay_status assay__worker_counters(json_t *reply)
{
    json_t *list = json_array();
    size_t count;
    const assay__counter *all = assay__counters(&count);

    ASSAY_TRY(assay__json_put_take(reply, "counters", list));
    for (size_t i = 0; i < count; i++)
        ASSAY_TRY(assay__json_append_take(list, source_row(&all[i])));
    return ASSAY_OK;
}

/* Of one counter. */
typedef struct pass {
    const assay__counter *counter;
    json_t *values; /* borrowed */
    size_t calls;   /* in each */
} pass;

static assay_status begin(void *cookie)
{
    const pass *p = cookie;

    return assay__counter_begin(p->counter);
}

/* A kernel that fails says more than a counter that does. */
static assay_status end(void *cookie, size_t calls, assay_status status)
{
    pass *p = cookie;
    double count = 0;
    assay_status counted = assay__counter_end(p->counter, &count);

    ASSAY_TRY(status);
    ASSAY_TRY(counted);
    p->calls = calls;
    return assay__json_append_take(p->values, json_real(count / (double)calls));
}

static assay_status count_one(assay__worker_state *s, json_t *request, const char *name,
                              json_t *row)
{
    const size_t passes = (size_t)json_integer_value(json_object_get(request, "passes"));
    pass p = {.counter = assay__counter_find(name), .values = json_array()};
    const assay__worker_pass hooks = {begin, end, &p};
    assay_status status;

    ASSAY_TRY(assay__json_put_take(row, "values", p.values));
    status = p.counter != NULL ? assay__worker_passes(s, request, passes, &hooks)
                               : assay__fail(ASSAY_UNAVAILABLE, "it cannot be counted here");
    if (status == ASSAY_UNAVAILABLE)
        return assay__json_put_string(row, "reason", assay_last_error());
    ASSAY_TRY(status);
    return assay__json_put_int(row, "calls", (int64_t)p.calls);
}

assay_status assay__worker_count(assay__worker_state *s, json_t *request, json_t *reply)
{
    json_t *names, *list = json_array();

    ASSAY_TRY(assay__json_put_take(reply, "counts", list));
    ASSAY_TRY(assay__json_get_array(request, "counters", &names));
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        json_t *row = json_object();
        ASSAY_TRY(assay__json_append_take(list, row));
        if (name == NULL)
            return assay__fail(ASSAY_INVALID, "count: a counter has no name");
        ASSAY_TRY(assay__json_put_string(row, "name", name));
        ASSAY_TRY(count_one(s, request, name, row));
    }
    return ASSAY_OK;
}
