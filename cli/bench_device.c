/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_device.c -- `assay bench`: is the clock of a device apart from the host right, and what
 * does the device do at most?
 *
 * Kernels of known work are timed as all others are.  Spins say what they really waited by the
 * device's own clocks; arithmetic is of 1 to 4 times an amount.  Nothing is taken off a time that
 * the row does not name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench_device.h"
#include "cli/cmd_common.h"
#include "runtime/error.h"
#include "runtime/plugin_set.h"
#include "support/json.h"
#include "tuner/clock_proof.h"
#include "tuner/device_lock.h"
#include "tuner/stats.h"
#include "tuner/worker_client.h"

#define LIMIT_MS 300000
#define SPANS    32
#define LENGTHS  4
#define ROUNDS   15
#define REPEATS  5
#define LATE_NS  100e6
#define WORK_NS  300e3
/* A start and an end of a kernel; what a clock may be off the empty kernel's time. */
#define MOST_OVER_NS  3000.0
#define MOST_OFF_NS   1000.0
#define MOST_OFF      0.01
#define PRODUCT_MOST  8192
#define PRODUCT_LEAST 64
#define PRODUCT_NS    100e6

typedef struct device {
    const assay__bench_options *o;
    assay__bench_rows *rows;
    assay__worker *worker;
    const char *name; /* of the backend */
    double empty_ns;  /* of an empty kernel; NaN: not known */
    bool has_spins;
} device;

typedef struct times {
    double ns[64], spun_ns[64], spun_cycles[64];
    size_t n;
    double step_ns, resolution_ns; /* of the device's own clock, of the one that times */
    int64_t amount;
    char clock[48];
} times;

/* What a probe is asked for. */
typedef struct request {
    const char *kind;
    assay_dtype dtype;
    int64_t amount;
    double wanted_ns, late_ns; /* wanted_ns > 0: instead of an amount */
    size_t spans;
} request;

/* ---- asking ---- */

static void read_list(const json_t *reply, const char *name, double *out, size_t n)
{
    const json_t *list = json_object_get(reply, name);

    for (size_t i = 0; i < n; i++)
        out[i] = json_is_number(json_array_get(list, i))
                     ? json_number_value(json_array_get(list, i))
                     : (double)NAN;
}

static assay_status call(const device *d, json_t *body, json_t **reply)
{
    return assay__worker_call(d->worker, body, NULL, 0, LIMIT_MS, reply);
}

static assay_status ask(const device *d, const request *r, times *out)
{
    json_t *reply = NULL;

    ASSAY_TRY(call(d,
                   json_pack("{s:s, s:s, s:s, s:i, s:I, s:f, s:f, s:I}", "cmd", "probe", "backend",
                             d->name, "kind", r->kind, "dtype", (int)r->dtype, "amount",
                             (json_int_t)r->amount, "wanted_ns", r->wanted_ns, "late_ns",
                             r->late_ns, "spans", (json_int_t)r->spans),
                   &reply));
    *out = (times){.n = r->spans};
    read_list(reply, "spans", out->ns, out->n);
    read_list(reply, "spun_ns", out->spun_ns, out->n);
    read_list(reply, "spun_cycles", out->spun_cycles, out->n);
    out->step_ns = json_number_value(json_object_get(reply, "step_ns"));
    out->resolution_ns = json_number_value(json_object_get(reply, "resolution_ns"));
    out->amount = json_integer_value(json_object_get(reply, "amount"));
    const char *clock = json_string_value(json_object_get(reply, "clock"));
    (void)snprintf(out->clock, sizeof out->clock, "%s", clock != NULL ? clock : "?");
    json_decref(reply);
    return ASSAY_OK;
}

static assay_status add_proof(const device *d, const char *what, const char *unit,
                              const assay__proof *p, double floor, double goal)
{
    assay__bench_row *row = NULL;
    char text[80];

    (void)snprintf(text, sizeof text, "device, %s, %s", d->name, what);
    ASSAY_TRY(assay__bench_add(d->rows, text, unit, p->value, &row));
    row->lo = p->lo;
    row->hi = p->hi;
    row->n = p->n;
    row->floor = floor;
    row->goal = goal;
    row->by_interval = !isnan(goal);
    return ASSAY_OK;
}

/* ---- the empty kernel, and which clock times ---- */

static assay_status add_empty(device *d)
{
    static const double zeros[SPANS];
    const request r = {.kind = "empty", .amount = 1, .spans = SPANS};
    assay__bench_row *row = NULL;
    assay__proof p;
    times t;
    char text[80];

    ASSAY_TRY(ask(d, &r, &t));
    (void)snprintf(text, sizeof text, "device, %s, step of %s", d->name, t.clock);
    ASSAY_TRY(assay__bench_add(d->rows, text, "ns", t.resolution_ns, &row));
    row->lo = row->hi = t.resolution_ns;
    row->n = 1;
    ASSAY_TRY(assay__proof_difference(t.ns, zeros, t.n, 0, &p));
    d->empty_ns = p.value;
    return add_proof(d, "an empty kernel", "ns", &p, 0, NAN);
}

/* ---- spins ---- */

static assay_status add_spin(const device *d, double us)
{
    const request r = {.kind = "spin_ns", .amount = (int64_t)(us * 1000), .spans = SPANS};
    assay__proof p;
    times t;
    char what[64];

    ASSAY_TRY(ask(d, &r, &t));
    (void)snprintf(what, sizeof what, "spin of %g us, told less waited", us);
    ASSAY_TRY(assay__proof_difference(t.ns, t.spun_ns, t.n, 0, &p));
    ASSAY_TRY(add_proof(d, what, "ns", &p, 0, MOST_OVER_NS + t.step_ns));
    if (us > 1000)
        return ASSAY_OK;
    (void)snprintf(what, sizeof what, "spin of %g us, the same less an empty kernel", us);
    ASSAY_TRY(assay__proof_difference(t.ns, t.spun_ns, t.n, d->empty_ns, &p));
    return add_proof(d, what, "ns", &p, -MOST_OFF_NS - t.step_ns, MOST_OFF_NS + t.step_ns);
}

/* The launcher sleeps before it enqueues anything: the device has no part in that. */
static assay_status add_late_spin(const device *d)
{
    const request r = {.kind = "spin_ns", .amount = 100000, .late_ns = LATE_NS, .spans = REPEATS};
    assay__proof p;
    times t;

    ASSAY_TRY(ask(d, &r, &t));
    ASSAY_TRY(assay__proof_difference(t.ns, t.spun_ns, t.n, 0, &p));
    return add_proof(d, "spin of 100 us, the host sleeps 100 ms in each launch", "ns", &p, 0,
                     MOST_OVER_NS + t.step_ns);
}

static assay_status add_cycles(const device *d)
{
    double told[ROUNDS * LENGTHS], waited[ROUNDS * LENGTHS], cycles[ROUNDS * LENGTHS];
    assay__proof p;
    times t;

    for (size_t i = 0; i < LENGTHS; i++) {
        const request r = {
            .kind = "spin_cycles", .amount = 200000 * (int64_t)(i + 1), .spans = ROUNDS};
        ASSAY_TRY(ask(d, &r, &t));
        for (size_t k = 0; k < ROUNDS; k++) {
            told[k * LENGTHS + i] = t.ns[k];
            waited[k * LENGTHS + i] = t.spun_ns[k];
            cycles[k * LENGTHS + i] = t.spun_cycles[k];
        }
    }
    ASSAY_TRY(assay__proof_slope(told, waited, cycles, ROUNDS, LENGTHS, &p));
    ASSAY_TRY(add_proof(d, "ns a cycle, off the device's own", "share", &p, NAN, MOST_OFF));
    ASSAY_TRY(assay__proof_ratio(cycles, waited, ROUNDS * LENGTHS, &p));
    return add_proof(d, "cycles of a core", "cycle/ns", &p, NAN, NAN);
}

static assay_status add_spins(device *d)
{
    static const double lengths_us[] = {2, 10, 100, 1000, 10000};

    for (size_t i = 0; i < sizeof lengths_us / sizeof *lengths_us; i++)
        ASSAY_TRY(add_spin(d, lengths_us[i]));
    ASSAY_TRY(add_late_spin(d));
    d->has_spins = true;
    return add_cycles(d);
}

/* ---- arithmetic ---- */

static assay_status time_amount(const device *d, int64_t amount, double late_ns, double *ns)
{
    const request r = {.kind = "fma",
                       .dtype = ASSAY_F32,
                       .amount = amount,
                       .late_ns = late_ns,
                       .spans = late_ns > 0 ? 1 : REPEATS};
    times t;

    ASSAY_TRY(ask(d, &r, &t));
    return assay__stats_median(t.ns, t.n, ns);
}

static assay_status add_scaled(const device *d, int64_t amount)
{
    double ns[ROUNDS * LENGTHS], work[ROUNDS * LENGTHS], once[ROUNDS], twice[ROUNDS];
    assay__proof p;

    for (size_t k = 0; k < ROUNDS; k++) {
        for (size_t i = 0; i < LENGTHS; i++) {
            work[k * LENGTHS + i] = (double)(i + 1);
            ASSAY_TRY(time_amount(d, amount * (int64_t)(i + 1), 0, &ns[k * LENGTHS + i]));
        }
        once[k] = ns[k * LENGTHS];
        twice[k] = ns[k * LENGTHS + 1];
    }
    ASSAY_TRY(assay__proof_ratio(twice, once, ROUNDS, &p));
    ASSAY_TRY(add_proof(d, "twice the work", "ratio", &p, 1.9, 2.1));
    ASSAY_TRY(assay__proof_line(ns, work, ROUNDS, LENGTHS, &p));
    return add_proof(d, "1 to 4 times the work, off a line", "share", &p, NAN, MOST_OFF);
}

/* Where nothing spins.  A device that was idle is slow at first, which a spin does not show. */
static assay_status add_late_work(const device *d, int64_t amount)
{
    double at_once[REPEATS], late[REPEATS];
    assay__proof p;

    for (size_t i = 0; i < REPEATS; i++) {
        ASSAY_TRY(time_amount(d, amount, 0, &at_once[i]));
        ASSAY_TRY(time_amount(d, amount, LATE_NS, &late[i]));
    }
    ASSAY_TRY(assay__proof_ratio(late, at_once, REPEATS, &p));
    return add_proof(d, "work, the host sleeps 100 ms in each launch", "ratio", &p, 0.8, 1.25);
}

static assay_status add_work(device *d)
{
    const request warm = {
        .kind = "fma", .dtype = ASSAY_F32, .wanted_ns = WORK_NS, .spans = 2 * SPANS};
    times t;

    ASSAY_TRY(ask(d, &warm, &t));
    ASSAY_TRY(add_scaled(d, t.amount));
    return d->has_spins ? ASSAY_OK : add_late_work(d, t.amount);
}

/* ---- peaks ---- */

static assay_status add_peaks(device *d)
{
    json_t *reply = NULL, *list = NULL;
    char prefix[64];
    assay_status status =
        call(d, json_pack("{s:s, s:s}", "cmd", "device_peaks", "backend", d->name), &reply);

    (void)snprintf(prefix, sizeof prefix, "device, %s, peak ", d->name);
    if (status == ASSAY_OK)
        status = assay__json_get_array(reply, "peaks", &list);
    for (size_t i = 0; status == ASSAY_OK && i < json_array_size(list); i++) {
        const json_t *peak = json_array_get(list, i);
        status = assay__bench_add_peak(peak, prefix, d->rows);
    }
    json_decref(reply);
    return status;
}

/* ---- data ---- */

static assay_status ask_product(const device *d, assay_dtype dtype, json_int_t n, size_t rounds,
                                double *zeros, double *random)
{
    json_t *reply = NULL;

    ASSAY_TRY(call(d,
                   json_pack("{s:s, s:s, s:i, s:I, s:I, s:I}", "cmd", "products", "backend",
                             d->name, "dtype", (int)dtype, "n", n, "rounds", (json_int_t)rounds,
                             "seed", (json_int_t)d->o->seed),
                   &reply));
    read_list(reply, "zeros", zeros, rounds);
    read_list(reply, "random", random, rounds);
    json_decref(reply);
    return ASSAY_OK;
}

/* As large as 8,192 a side where eight times a call of half of it is short enough: how far a kernel
 * is from the device's peak is not known before. */
static assay_status product_side(const device *d, assay_dtype dtype, json_int_t *n)
{
    double zeros, random = 0;

    *n = PRODUCT_LEAST;
    for (;;) {
        ASSAY_TRY(ask_product(d, dtype, *n, 1, &zeros, &random));
        if (*n == PRODUCT_MOST || !(8 * random <= PRODUCT_NS))
            return ASSAY_OK;
        *n *= 2;
    }
}

static assay_status add_product(const device *d, assay_dtype dtype)
{
    double zeros[ROUNDS], random[ROUNDS];
    assay__proof p;
    json_int_t n;
    char what[64];

    ASSAY_TRY(product_side(d, dtype, &n));
    ASSAY_TRY(ask_product(d, dtype, n, ROUNDS, zeros, random));
    (void)snprintf(what, sizeof what, "matmul %s %lld, N(0,1) over zeros", assay_dtype_name(dtype),
                   (long long)n);
    ASSAY_TRY(assay__proof_ratio(random, zeros, ROUNDS, &p));
    return add_proof(d, what, "ratio", &p, NAN, NAN);
}

static assay_status add_bf16_product(device *d)
{
    return add_product(d, ASSAY_BF16);
}

static assay_status add_f32_product(device *d)
{
    return add_product(d, ASSAY_F32);
}

/* ---- all of a device ---- */

static const struct part {
    const char *what;
    assay_status (*add)(device *d);
} parts[] = {
    {"an empty kernel", add_empty},    {"spins", add_spins},
    {"scaled work", add_work},         {"peaks", add_peaks},
    {"matmul bf16", add_bf16_product}, {"matmul f32", add_f32_product},
};

/* What a backend has no kernel, no library or no room for is told, and no failure. */
static bool is_left_out(assay_status status)
{
    return status == ASSAY_UNSUPPORTED || status == ASSAY_UNAVAILABLE || status == ASSAY_NOMEM;
}

static assay_status add_parts(device *d)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const assay_status status = parts[i].add(d);
        if (is_left_out(status))
            assay__cmd_warn("bench", d->o->is_quiet, "device, %s, %s: skipped: %s", d->name,
                            parts[i].what, assay_last_error());
        else
            ASSAY_TRY(status);
    }
    return ASSAY_OK;
}

static void waiting(void *cookie, long pid)
{
    const device *d = cookie;

    assay__cmd_warn("bench", d->o->is_quiet,
                    "waiting for process %ld, which measures the device of %s", pid, d->name);
}

/* Named as a sweep names it. */
static assay_status lock_device(device *d, int *lock)
{
    const char *name, *uuid;
    char text[160];
    json_t *reply = NULL;
    assay_status status =
        call(d, json_pack("{s:s, s:s}", "cmd", "device", "backend", d->name), &reply);

    if (status == ASSAY_OK)
        status = assay__json_get_string(reply, "device", &name);
    if (status == ASSAY_OK)
        status = assay__json_get_string(reply, "uuid", &uuid);
    if (status == ASSAY_OK) {
        assay__device_lock_name(name, uuid, text, sizeof text);
        status = assay__device_lock(text, false, NULL, waiting, d, lock);
    }
    json_decref(reply);
    return status;
}

static assay_status add_device(const assay__bench_options *o, const char *name,
                               assay__bench_rows *r)
{
    const assay__worker_options options = {.plugin_path = o->plugin_path, .backends = name};
    device d = {.o = o, .rows = r, .name = name, .empty_ns = (double)NAN};
    int lock = -1;

    ASSAY_TRY(assay__worker_start(&options, &d.worker));
    assay_status status = lock_device(&d, &lock);
    if (status == ASSAY_OK)
        status = add_parts(&d);
    if (lock >= 0)
        assay__device_unlock(&lock);
    assay__worker_stop(&d.worker);
    return status;
}

/* Whoever asked for a device by name is told that it is not here; of the others each machine has
 * its own. */
static assay_status add_wanted(const assay__bench_options *o, const assay_manifest *m,
                               assay__bench_rows *r, size_t *found)
{
    const assay_status status = add_device(o, m->name, r);

    if (status != ASSAY_UNAVAILABLE) {
        ++*found;
        return status == ASSAY_OK ? status : assay__fail_context(status, "backend %s", m->name);
    }
    if (o->backends != NULL)
        return assay__fail_context(status, "backend %s", m->name);
    assay__cmd_warn("bench", o->is_quiet, "device, %s: skipped: %s", m->name, assay_last_error());
    ++*found;
    return ASSAY_OK;
}

assay_status assay__bench_devices(const assay__bench_options *o, assay__bench_rows *r)
{
    assay__plugins *plugins = NULL;
    assay_status status = assay__plugins_load(o->plugin_path, o->backends, &plugins);
    size_t found = 0;

    for (size_t i = 0; status == ASSAY_OK && i < assay__plugins_count(plugins); i++) {
        const assay_manifest *m = assay__plugins_at(plugins, i)->manifest;
        if (m != NULL && m->location != ASSAY_LOCATION_CPU &&
            (o->backends != NULL || m->explicit_only == 0))
            status = add_wanted(o, m, r, &found);
    }
    assay__plugins_destroy(&plugins);
    if (status == ASSAY_OK && found == 0)
        assay__cmd_warn("bench", o->is_quiet,
                        "device: skipped: no backend asked for has a device apart from the host");
    return status;
}
