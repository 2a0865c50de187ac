/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_peaks.c -- what the machine can do at most: measured, or recalled and checked. */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "support/json.h"
#include "sweep/sweep_internal.h"
#include "tuner/stats.h"

#define PROBE_S     1.5 /* two seconds with those of sweep_transfers.c */
#define SPOT_S      0.1
#define MAX_PEAKS   1024
#define MAX_SAMPLES 64
/* A spot check has few runs: a neighbour makes it lower at times, nothing makes it higher. */
#define SPOT_LOWER  0.75
#define SPOT_HIGHER 1.06

void assay__sweep_affinity(char *buf, size_t cap)
{
    cpu_set_t set;
    size_t used = 0;

    buf[0] = '\0';
    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        int first = i;
        if (!CPU_ISSET((size_t)i, &set))
            continue;
        while (i + 1 < CPU_SETSIZE && CPU_ISSET((size_t)i + 1, &set))
            i++;
        int n = first == i
                    ? snprintf(buf + used, cap - used, "%s%d", used > 0 ? "," : "", i)
                    : snprintf(buf + used, cap - used, "%s%d-%d", used > 0 ? "," : "", first, i);
        if (n < 0 || (size_t)n >= cap - used)
            return; /* longer than any list that a scheduler makes: compared as far as it goes */
        used += (size_t)n;
    }
}

/* A clock set back makes an age negative: not to be trusted either. */
bool assay__sweep_is_fresh(const sweep *s, double age_s, const char *affinity)
{
    return age_s >= -1 && age_s < 86400 && strcmp(affinity, s->affinity) == 0;
}

static sweep_peak *find_peak(sweep *s, const char *name)
{
    for (size_t i = 0; i < s->peak_count; i++)
        if (strcmp(s->peaks[i].name, name) == 0)
            return &s->peaks[i];
    return NULL;
}

/* Merges: the better of what is known and what is new. */
static assay_status keep_peak(sweep *s, const sweep_peak *p)
{
    sweep_peak *old = find_peak(s, p->name);

    if (old == NULL) {
        if (s->peaks == NULL)
            s->peaks = calloc(MAX_PEAKS, sizeof *s->peaks);
        if (s->peaks == NULL || s->peak_count == MAX_PEAKS)
            return assay__fail(ASSAY_NOMEM, "peaks");
        s->peaks[s->peak_count++] = *p;
    } else {
        old->value = fmax(old->value, p->value);
        old->hi = fmax(old->hi, p->hi);
        old->lo = fmin(old->lo, p->lo);
        old->samples += p->samples;
    }
    assay__roofline_add(&s->roof, p->name, p->value);
    return ASSAY_OK;
}

static assay_status read_row(const json_t *row, sweep_peak *out)
{
    assay_sample_summary summary;
    const char *name, *unit;
    double values[MAX_SAMPLES];
    json_t *list;
    size_t n;

    ASSAY_TRY(assay__json_get_string(row, "name", &name));
    ASSAY_TRY(assay__json_get_string(row, "unit", &unit));
    ASSAY_TRY(assay__json_get_array(row, "samples", &list));
    n = json_array_size(list);
    n = n < MAX_SAMPLES ? n : MAX_SAMPLES;
    for (size_t i = 0; i < n; i++)
        values[i] = json_number_value(json_array_get(list, i));
    ASSAY_TRY(assay__stats_summarise(values, n, 0, &summary));
    memset(out, 0, sizeof *out);
    (void)snprintf(out->name, sizeof out->name, "%s", name);
    (void)snprintf(out->unit, sizeof out->unit, "%s", unit);
    /* The peak is what the machine can do at most: the best of the runs. */
    out->value = out->hi = summary.max;
    out->lo = summary.min;
    out->samples = (int64_t)n;
    return ASSAY_OK;
}

/* ---- asking a worker ---- */

typedef assay_status (*row_fn)(sweep *s, const sweep_peak *p);

static json_t *request_of(const sweep *s, bool spot)
{
    if (s->place != NULL)
        return json_pack("{s:s, s:s, s:b}", "cmd", "device_peaks", "backend", s->place->name,
                         "spot", (int)spot);
    return json_pack("{s:s, s:f, s:b}", "cmd", "peaks", "seconds", spot ? SPOT_S : PROBE_S, "spot",
                     (int)spot);
}

static assay_status ask(sweep *s, bool spot, row_fn take)
{
    const assay__worker_options options =
        assay__sweep_worker_options(s, s->place != NULL ? s->place->name : "ref");
    assay__worker *w = NULL;
    json_t *reply = NULL, *list = NULL;
    assay_status status;

    ASSAY_TRY(assay__worker_start(&options, &w));
    status = assay__worker_call(w, request_of(s, spot), NULL, 0, 120000, &reply);
    if (status == ASSAY_OK)
        status = assay__json_get_array(reply, "peaks", &list);
    if (status == ASSAY_OK && json_is_number(json_object_get(reply, "cache_bytes")))
        s->roof.cache_bytes = json_number_value(json_object_get(reply, "cache_bytes"));
    for (size_t i = 0; status == ASSAY_OK && i < json_array_size(list); i++) {
        sweep_peak row;
        status = read_row(json_array_get(list, i), &row);
        if (status == ASSAY_OK)
            status = take(s, &row);
    }
    json_decref(reply);
    assay__worker_stop(&w);
    return status;
}

static assay_status put_all(sweep *s)
{
    for (size_t i = 0; i < s->peak_count; i++) {
        const sweep_peak *p = &s->peaks[i];
        ASSAY_TRY(assay__db_put_peak(s->db, s->deployment_row, p->name, p->unit, p->value, p->lo,
                                     p->hi, p->samples));
    }
    return ASSAY_OK;
}

/* What the host can do at most is no floor of another device's times, nor the reverse. */
void assay__sweep_roof_init(sweep *s)
{
    if (s->place != NULL)
        assay__roofline_init_device(&s->roof);
    else
        assay__roofline_init(&s->roof, s->cpus, s->deployment.isa);
}

static void forget(sweep *s)
{
    double cache_bytes = s->roof.cache_bytes;

    s->peak_count = 0;
    assay__sweep_roof_init(s);
    s->roof.cache_bytes = cache_bytes;
}

/* A worker that ended, and whatever a device or its backend says of its probes. */
static bool is_of_the_probe(const sweep *s, assay_status status)
{
    return status == ASSAY_CRASH || status == ASSAY_TIMEOUT || status == ASSAY_NOMEM ||
           (s->place != NULL && status != ASSAY_OK && status != ASSAY_INTERRUPTED);
}

static assay_status measure_and_put(sweep *s)
{
    double begin = assay__sweep_now_s(s);
    const assay_status status = ask(s, false, keep_peak);

    s->summary->peaks_s += assay__sweep_now_s(s) - begin;
    if (status == ASSAY_OK)
        return put_all(s);
    if (!is_of_the_probe(s, status))
        return status;
    /* Shares and floors are absent then; what is measured stands without them. */
    assay__sweep_warn(s, "the peaks could not be measured: %s", assay_last_error());
    return ASSAY_OK;
}

assay_status assay__sweep_peaks_again(sweep *s)
{
    return measure_and_put(s);
}

/* ---- recalling ---- */

/* What is old, or of other CPUs, is as good as not there. */
static assay_status recall_row(void *cookie, const assay__db_peak *p)
{
    sweep *s = cookie;
    sweep_peak row = {.value = p->value, .lo = p->lo, .hi = p->hi, .samples = p->samples};

    (void)snprintf(row.name, sizeof row.name, "%s", p->name);
    (void)snprintf(row.unit, sizeof row.unit, "%s", p->unit);
    if (!assay__sweep_is_fresh(s, p->age_s, p->affinity))
        return ASSAY_OK;
    return keep_peak(s, &row);
}

static assay_status compare_spot(sweep *s, const sweep_peak *p)
{
    const sweep_peak *known = find_peak(s, p->name);

    if (known == NULL)
        return assay__fail(ASSAY_NOTFOUND, "%s was not measured before", p->name);
    if (!(p->value >= known->value * SPOT_LOWER && p->value <= known->value * SPOT_HIGHER))
        return assay__fail(ASSAY_NUMERIC, "%s is %g now, %g before", p->name, p->value,
                           known->value);
    return ASSAY_OK;
}

/* What a device has no probe for is never there. */
static bool is_whole(const sweep *s)
{
    return s->peak_count > 0 &&
           (s->place != NULL || (s->roof.missing == 0 && !isnan(s->roof.memory_per_ns)));
}

static assay_status recall(sweep *s, bool *holds)
{
    double begin = assay__sweep_now_s(s);
    assay_status status;

    *holds = false;
    ASSAY_TRY(assay__db_each_peak(s->db, s->deployment_row, recall_row, s));
    if (!is_whole(s))
        return ASSAY_OK;
    status = ask(s, true, compare_spot);
    s->summary->peaks_s += assay__sweep_now_s(s) - begin;
    *holds = status == ASSAY_OK;
    if (s->place != NULL && is_of_the_probe(s, status))
        return ASSAY_OK; /* measuring anew tells */
    return status == ASSAY_NOTFOUND || status == ASSAY_NUMERIC ? ASSAY_OK : status;
}

assay_status assay__sweep_peaks_known(sweep *s)
{
    return assay__db_each_peak(s->db, s->deployment_row, recall_row, s);
}

assay_status assay__sweep_peaks(sweep *s)
{
    bool holds = false;

    assay__sweep_phase(s, "peaks");
    if (!s->o->probe_peaks)
        ASSAY_TRY(recall(s, &holds));
    s->summary->peaks_reused = holds;
    if (holds)
        return ASSAY_OK;
    forget(s);
    return measure_and_put(s);
}
