/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_probe.c -- requests for kernels of known work. */
#include "runtime/error.h"
#include "support/json.h"
#include "tuner/device_peaks.h"
#include "tuner/probe_run.h"
#include "tuner/worker.h"

static assay_status backend_of(assay__worker_state *s, const json_t *request,
                               const assay__backend **out)
{
    const char *name = json_string_value(json_object_get(request, "backend"));
    assay__plugin *plugin = name != NULL ? assay__plugins_find(s->plugins, name) : NULL;

    if (plugin == NULL)
        return assay__fail(ASSAY_UNAVAILABLE, "backend '%s' is not loaded",
                           name != NULL ? name : "");
    ASSAY_TRY(assay__plugin_open(plugin));
    *out = &plugin->backend;
    return ASSAY_OK;
}

assay_status assay__worker_device_peaks(assay__worker_state *s, json_t *request, json_t *reply)
{
    const assay__backend *backend;

    ASSAY_TRY(backend_of(s, request, &backend));
    return assay__device_peaks_measure(backend, json_is_true(json_object_get(request, "spot")),
                                       reply);
}

/* ---- one probe ---- */

static assay_status put_list(json_t *reply, const char *name, const double *values, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_real(values[i]));
    return assay__json_put_take(reply, name, list);
}

static assay_status put_spun(const assay__probe_run *run, size_t spans, json_t *reply)
{
    assay_probe_spun spun[ASSAY__PROBE_SPANS];
    double ns[ASSAY__PROBE_SPANS], cycles[ASSAY__PROBE_SPANS], step = 0;

    ASSAY_TRY(assay__probe_spun(run, spans, spun));
    for (size_t i = 0; i < spans; i++) {
        ns[i] = (double)spun[i].ns;
        cycles[i] = (double)spun[i].cycles;
        step = (double)spun[i].step_ns > step ? (double)spun[i].step_ns : step;
    }
    ASSAY_TRY(put_list(reply, "spun_ns", ns, spans));
    ASSAY_TRY(put_list(reply, "spun_cycles", cycles, spans));
    return assay__json_put_real(reply, "step_ns", step);
}

static assay_status put_clock(const assay_clock_info *clock, json_t *reply)
{
    ASSAY_TRY(assay__json_put_string(reply, "clock", clock->name));
    ASSAY_TRY(assay__json_put_real(reply, "resolution_ns", clock->resolution_ns));
    return assay__json_put_real(reply, "overhead_ns", clock->overhead_ns);
}

static assay_status time_probe(const assay__probe_run *run, const json_t *request, json_t *reply)
{
    const double wanted_ns = json_number_value(json_object_get(request, "wanted_ns"));
    const size_t spans = (size_t)json_integer_value(json_object_get(request, "spans"));
    const size_t inner = (size_t)json_integer_value(json_object_get(request, "inner"));
    int64_t amount = json_integer_value(json_object_get(request, "amount"));
    double ns[ASSAY__PROBE_SPANS];
    assay_clock_info clock;

    if (wanted_ns > 0)
        ASSAY_TRY(assay__probe_amount(run, wanted_ns, &amount));
    ASSAY_TRY(assay__json_put_int(reply, "amount", amount));
    ASSAY_TRY(assay__probe_time(run, amount, spans, inner > 0 ? inner : 1, ns, &clock));
    ASSAY_TRY(put_list(reply, "spans", ns, spans));
    ASSAY_TRY(put_clock(&clock, reply));
    if (run->probe.kind == ASSAY_PROBE_SPIN_NS || run->probe.kind == ASSAY_PROBE_SPIN_CYCLES)
        return put_spun(run, spans, reply);
    return ASSAY_OK;
}

assay_status assay__worker_probe(assay__worker_state *s, json_t *request, json_t *reply)
{
    const char *kind_name = json_string_value(json_object_get(request, "kind"));
    const json_int_t dtype = json_integer_value(json_object_get(request, "dtype"));
    const assay__backend *backend;
    assay_probe_kind kind;
    assay__probe_run run;

    if (!assay__probe_kind_of(kind_name, &kind) || dtype < 0 || dtype >= ASSAY_DTYPE_COUNT)
        return assay__fail(ASSAY_INTERNAL, "a probe has no kind or no dtype");
    ASSAY_TRY(backend_of(s, request, &backend));
    assay_status status =
        assay__probe_begin(backend, kind, (assay_dtype)dtype,
                           (uint64_t)json_integer_value(json_object_get(request, "bytes")), &run);
    run.late_ns = json_number_value(json_object_get(request, "late_ns"));
    if (status == ASSAY_OK)
        status = time_probe(&run, request, reply);
    assay__probe_end(&run);
    return status;
}
