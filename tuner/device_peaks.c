/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/device_peaks.c -- see device_peaks.h. */
#include "tuner/device_peaks.h"

#include <stdio.h>

#include "runtime/error.h"
#include "tuner/probe_run.h"

#define RUNS        9
#define SPOT_RUNS   3
#define SPAN_NS     1e6
#define WARM_SPANS  40 /* clocks of a device that was idle rise within tens of ms */
#define LAUNCHES    1000
#define COPY_BYTES  (UINT64_C(1) << 30)
#define COPY_NS     20e6
#define CACHE_TIMES 4.0 /* the last cache */

static const struct unit {
    const char *name;
    assay_probe_kind kind;
    assay_dtype dtype;
} units[] = {
    {"fma_f64_d1", ASSAY_PROBE_FMA, ASSAY_F64},
    {"fma_f32_d1", ASSAY_PROBE_FMA, ASSAY_F32},
    {"fma_f16_d1", ASSAY_PROBE_FMA, ASSAY_F16},
    {"fma_bf16_d1", ASSAY_PROBE_FMA, ASSAY_BF16},
    {"matrix_f64_d1", ASSAY_PROBE_MATRIX, ASSAY_F64},
    {"matrix_tf32_d1", ASSAY_PROBE_MATRIX, ASSAY_F32},
    {"matrix_f16_d1", ASSAY_PROBE_MATRIX, ASSAY_F16},
    {"matrix_bf16_d1", ASSAY_PROBE_MATRIX, ASSAY_BF16},
    {"matrix_i8_d1", ASSAY_PROBE_MATRIX, ASSAY_I8},
    {"copy_d1", ASSAY_PROBE_COPY, ASSAY_U8},
    {"launch_d1", ASSAY_PROBE_EMPTY, ASSAY_U8},
    {"call_d1", ASSAY_PROBE_EMPTY, ASSAY_U8},
};
enum { UNITS = sizeof units / sizeof *units };

static const char *unit_text(const struct unit *u)
{
    return u->kind == ASSAY_PROBE_EMPTY  ? "call/ns"
           : u->kind == ASSAY_PROBE_COPY ? "byte/ns"
                                         : "flop/ns";
}

static bool is_call(const struct unit *u)
{
    return u->name[0] == 'c' && u->kind == ASSAY_PROBE_EMPTY;
}

/* ---- rates of one ---- */

static assay_status put(json_t *list, const struct unit *u, const double *ns, size_t n, double work)
{
    json_t *samples = json_array();

    for (size_t i = 0; i < n; i++)
        if (ns[i] > 0)
            json_array_append_new(samples, json_real(work / ns[i]));
    if (json_array_size(samples) == 0) { /* too short for the device's clock */
        json_decref(samples);
        return ASSAY_OK;
    }
    return assay__json_append_take(list, json_pack("{s:s, s:s, s:o}", "name", u->name, "unit",
                                                   unit_text(u), "samples", samples));
}

static void on_call(void *cookie, double span_ns, size_t inner)
{
    double **at = cookie;

    (void)inner;
    *(*at)++ = span_ns;
}

/* As a program that needs each result before it goes on, by the host's clock. */
static assay_status time_calls(const assay__probe_run *run, size_t runs, double *ns)
{
    const int64_t amount = 1;
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .tunables = &amount,
                                 .instance = run->backend->instance,
                                 .tunable_count = 1};
    const assay_measure what = {.struct_size = sizeof what,
                                .run = run->probe.run,
                                .launches = &launch,
                                .launch_count = 1,
                                .inner = LAUNCHES / 10,
                                .spans = runs,
                                .cache = ASSAY_CACHE_HOT,
                                .sink = on_call,
                                .cookie = &ns};
    assay_clock_info clock;

    return assay__backend_measure_calls(run->backend, &what, &clock);
}

static assay_status measure_empty(const assay__probe_run *run, const struct unit *u, size_t runs,
                                  json_t *list)
{
    double ns[RUNS];

    if (is_call(u)) {
        ASSAY_TRY(time_calls(run, runs, ns));
        return put(list, u, ns, runs, LAUNCHES / 10);
    }
    ASSAY_TRY(assay__probe_time(run, 1, runs, LAUNCHES, ns, NULL));
    return put(list, u, ns, runs, LAUNCHES);
}

/* What a probe is measured with. */
typedef struct device {
    const assay__backend *backend;
    double cache_bytes; /* 0: not reported */
    uint64_t copy_bytes;
    size_t runs;
    json_t *list; /* borrowed */
} device;

/* Over much more than a cache keeps; 0: there is no room for that, and what were measured would be
 * the cache. */
static assay_status copy_amount(const device *d, const assay__probe_run *run, int64_t *out)
{
    const double least = d->cache_bytes > 0 ? CACHE_TIMES * d->cache_bytes : (double)COPY_BYTES / 4;

    if ((double)run->bytes < least) {
        *out = 0;
        return ASSAY_OK;
    }
    ASSAY_TRY(assay__probe_amount(run, COPY_NS, out));
    *out = (double)*out < least ? (int64_t)least : *out;
    return ASSAY_OK;
}

static assay_status measure_copy(const device *d, const assay__probe_run *run, const struct unit *u)
{
    double ns[RUNS];
    int64_t amount;

    ASSAY_TRY(copy_amount(d, run, &amount));
    if (amount == 0)
        return ASSAY_OK;
    ASSAY_TRY(assay__probe_time(run, amount, d->runs, 1, ns, NULL));
    return put(d->list, u, ns, d->runs, run->probe.work_per_amount * (double)amount);
}

static assay_status measure_rounds(const device *d, const assay__probe_run *run,
                                   const struct unit *u)
{
    double ns[ASSAY__PROBE_SPANS];
    int64_t amount;

    ASSAY_TRY(assay__probe_amount(run, SPAN_NS, &amount));
    ASSAY_TRY(assay__probe_time(run, amount, WARM_SPANS, 1, ns, NULL));
    ASSAY_TRY(assay__probe_time(run, amount, d->runs, 1, ns, NULL));
    return put(d->list, u, ns, d->runs, run->probe.work_per_amount * (double)amount);
}

static assay_status measure_unit(const device *d, const struct unit *u)
{
    assay__probe_run run;
    assay_status status = assay__probe_begin(d->backend, u->kind, u->dtype, d->copy_bytes, &run);

    if (status == ASSAY_OK)
        status = u->kind == ASSAY_PROBE_EMPTY  ? measure_empty(&run, u, d->runs, d->list)
                 : u->kind == ASSAY_PROBE_COPY ? measure_copy(d, &run, u)
                                               : measure_rounds(d, &run, u);
    assay__probe_end(&run);
    return status;
}

/* ---- all ---- */

/* A quarter of the memory for each buffer at most. */
static uint64_t copy_bytes_of(const assay_device_info *info)
{
    uint64_t bytes = COPY_BYTES;

    while (info->memory_bytes > 0 && bytes > info->memory_bytes / 4 && bytes > 1)
        bytes /= 2;
    return bytes;
}

assay_status assay__device_peaks_measure(const assay__backend *backend, bool spot, json_t *reply)
{
    assay_device_info info = {.struct_size = sizeof info};
    device d = {.backend = backend, .runs = spot ? SPOT_RUNS : RUNS, .list = json_array()};

    ASSAY_TRY(assay__json_put_take(reply, "peaks", d.list));
    ASSAY_TRY(assay__backend_device_info(backend, 0, &info));
    d.cache_bytes = (double)info.last_cache_bytes;
    d.copy_bytes = copy_bytes_of(&info);
    if (d.cache_bytes > 0)
        ASSAY_TRY(assay__json_put_real(reply, "cache_bytes", d.cache_bytes));
    for (size_t i = 0; i < UNITS; i++) {
        if (spot && units[i].kind != ASSAY_PROBE_FMA && units[i].kind != ASSAY_PROBE_MATRIX)
            continue;
        const assay_status status = measure_unit(&d, &units[i]);
        if (status != ASSAY_OK && status != ASSAY_UNSUPPORTED)
            return status;
    }
    return ASSAY_OK;
}
