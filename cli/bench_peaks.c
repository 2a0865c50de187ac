/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_peaks.c -- `assay bench`: the peaks that a sweep takes for this machine.
 *
 * Like there the value is the best run, for a peak is what can be reached; lo..hi is the range of
 * the runs, which shows how far the rest of the machine came between. */
#include "cli/bench_device.h"

#include "support/json.h"
#include "tuner/stats.h"
#include "tuner/worker_client.h"

#define SECONDS   2.0
#define LIMIT_MS  60000
#define MAX_RUNS  64
#define ROW_TITLE "peak, "

/* Rows keep what they are given. */
static const char *unit_text(const char *unit)
{
    return unit[0] == 'f' ? "flop/ns" : unit[0] == 'c' ? "call/ns" : "byte/ns";
}

assay_status assay__bench_add_peak(const json_t *peak, const char *prefix, assay__bench_rows *r)
{
    assay_sample_summary summary;
    double values[MAX_RUNS];
    const char *name, *unit;
    char what[80];
    json_t *list;
    assay__bench_row *row = NULL;
    size_t n;

    ASSAY_TRY(assay__json_get_string(peak, "name", &name));
    ASSAY_TRY(assay__json_get_string(peak, "unit", &unit));
    ASSAY_TRY(assay__json_get_array(peak, "samples", &list));
    n = json_array_size(list) < MAX_RUNS ? json_array_size(list) : MAX_RUNS;
    for (size_t i = 0; i < n; i++)
        values[i] = json_number_value(json_array_get(list, i));
    ASSAY_TRY(assay__stats_summarise(values, n, 0, &summary));
    (void)snprintf(what, sizeof what, "%s%s", prefix, name);
    ASSAY_TRY(assay__bench_add(r, what, unit_text(unit), summary.max, &row));
    row->lo = summary.min;
    row->hi = summary.max;
    row->n = n;
    return ASSAY_OK;
}

assay_status assay__bench_peaks(const assay__bench_options *o, assay__bench_rows *r)
{
    const assay__worker_options options = {.plugin_path = o->plugin_path, .backends = "ref"};
    assay__worker *worker = NULL;
    json_t *reply = NULL, *list = NULL;
    assay_status status;

    ASSAY_TRY(assay__worker_start(&options, &worker));
    status = assay__worker_call(worker, json_pack("{s:s, s:f}", "cmd", "peaks", "seconds", SECONDS),
                                NULL, 0, LIMIT_MS, &reply);
    if (status == ASSAY_OK)
        status = assay__json_get_array(reply, "peaks", &list);
    for (size_t i = 0; status == ASSAY_OK && i < json_array_size(list); i++)
        status = assay__bench_add_peak(json_array_get(list, i), ROW_TITLE, r);
    json_decref(reply);
    assay__worker_stop(&worker);
    return status;
}
