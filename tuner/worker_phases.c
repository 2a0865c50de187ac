/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_phases.c -- see worker_phases.h. */
#include "tuner/worker_phases.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *name, *text;
} phases[ASSAY__PHASES] = {
#define X(name, text) {#name, text},
    ASSAY__PHASE_MAP(X)
#undef X
};

const char *assay__phase_name(assay__phase phase)
{
    return phases[phase].name;
}

const char *assay__phase_text(assay__phase phase)
{
    return phases[phase].text;
}

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- what a backend tells ---- */

enum { METRICS_MAX = 256, BY_CALLS = ASSAY__PHASES };

/* The phase that each is time of; BY_CALLS: calls of the kernel that no span has in it. */
static const struct {
    const char *name;
    int phase;
} kinds[ASSAY__PHASE_METRICS] = {{"code_ns_total", ASSAY__PHASE_code},
                                 {"measure_graph_ns_total", ASSAY__PHASE_graphs},
                                 {"measure_record_ns_total", ASSAY__PHASE_records},
                                 {"measure_untimed_ns_total", BY_CALLS}};

static size_t place_of(const char *name)
{
    size_t i = 0;

    while (i < ASSAY__PHASE_METRICS && strcmp(kinds[i].name, name) != 0)
        i++;
    return i;
}

static void read_metrics(assay__phases *p, uint64_t out[ASSAY__PHASE_METRICS])
{
    assay_metric list[METRICS_MAX];
    const size_t cap = p->metrics_cap;
    size_t count = 0;

    memcpy(out, p->metrics, sizeof p->metrics);
    if (cap == 0 || assay__backend_metrics(p->backend, list, cap, &count) != ASSAY_OK)
        return;
    for (size_t i = 0; i < count && i < cap; i++)
        if (place_of(list[i].name) < ASSAY__PHASE_METRICS)
            out[place_of(list[i].name)] = list[i].value;
}

bool assay__phases_knows(const char *metric)
{
    return place_of(metric) < ASSAY__PHASE_METRICS;
}

/* ---- a stay ---- */

void assay__phases_begin(assay__phases *p, const assay__backend *backend)
{
    *p = (assay__phases){.backend = backend, .now = ASSAY__PHASE_other, .since_ns = now_ns()};
}

void assay__phases_ask(assay__phases *p, size_t metrics)
{
    p->metrics_cap = metrics < METRICS_MAX ? metrics : METRICS_MAX;
    read_metrics(p, p->metrics);
}

assay__phase assay__phases_go(assay__phases *p, assay__phase to)
{
    const assay__phase from = p->now;

    if (!(p->since_ns > 0))
        return from;
    const double now = now_ns();
    p->ns[from] += now - p->since_ns;
    p->since_ns = now;
    p->now = to;
    return from;
}

void assay__phases_called(assay__phases *p, double ns)
{
    p->ns[p->now] -= ns;
}

double assay__phases_measured(assay__phases *p)
{
    uint64_t now[ASSAY__PHASE_METRICS];
    double called_ns = 0;

    read_metrics(p, now);
    for (size_t i = 0; i < ASSAY__PHASE_METRICS; i++) {
        const double ns = (double)(now[i] - p->metrics[i]);
        p->ns[p->now] -= ns;
        if (kinds[i].phase == BY_CALLS)
            called_ns += ns;
        else
            p->ns[kinds[i].phase] += ns;
    }
    memcpy(p->metrics, now, sizeof now);
    return called_ns;
}

assay_status assay__phases_reply(assay__phases *p, json_t *reply)
{
    json_t *all = json_object();

    (void)assay__phases_go(p, ASSAY__PHASE_other);
    p->since_ns = 0;
    ASSAY_TRY(assay__json_put_take(reply, "phases", all));
    for (int i = 0; i < ASSAY__PHASES; i++)
        if (p->ns[i] > 0)
            ASSAY_TRY(assay__json_put_real(all, phases[i].name, p->ns[i]));
    return ASSAY_OK;
}

double assay__phases_add(const json_t *reply, double seconds[ASSAY__PHASES])
{
    const json_t *all = json_object_get(reply, "phases");
    double sum = 0;

    for (int i = 0; i < ASSAY__PHASES; i++) {
        const double ns = json_number_value(json_object_get(all, phases[i].name));
        if (!(ns > 0 && ns < 1e18))
            continue;
        seconds[i] += 1e-9 * ns;
        sum += 1e-9 * ns;
    }
    return sum;
}
