/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_sense.c -- see worker_sense.h. */
#include "tuner/worker_sense.h"

#include <math.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/noise_words.h"
#include "tuner/worker_apart.h"
#include "tuner/worker_phases.h"

/* ---- reading ---- */

enum { METRICS_MAX = 256 };

static bool ends_in(const char *name, const char *tail)
{
    const size_t length = strlen(name), more = strlen(tail);

    return length > more && strcmp(name + length - more, tail) == 0;
}

bool assay__sense_is_sensor(const char *name)
{
    static const char *const tails[] = {"_mhz", "_milliwatts", "_celsius", "_reasons"};

    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (ends_in(name, tails[i]))
            return true;
    return false;
}

static void keep(const assay_metric *m, assay__sense_reading *out)
{
    const bool is_known = m->value != ASSAY_METRIC_UNKNOWN;

    if (is_known && strcmp(m->name, "sm_clock_mhz") == 0)
        out->clock_mhz = (double)m->value;
    if (is_known && strcmp(m->name, "throttle_reasons") == 0) {
        out->reasons = m->value;
        out->has_reasons = true;
    }
    if (out->count < ASSAY__SENSORS)
        out->list[out->count++] = *m;
}

/* What fails tells nothing, and costs nobody a measurement. */
static void read_sensors(const assay__backend *backend, assay__sense_reading *out)
{
    assay_metric list[METRICS_MAX];
    size_t count = 0;

    *out = (assay__sense_reading){.is_done = true};
    if (assay__backend_metrics(backend, list, METRICS_MAX, &count) != ASSAY_OK)
        return;
    for (size_t i = 0; i < count && i < METRICS_MAX; i++) {
        if (assay__sense_is_sensor(list[i].name))
            keep(&list[i], out);
        if (assay__phases_knows(list[i].name))
            out->costs = i + 1;
    }
}

/* ---- a stay ---- */

void assay__sense_begin(assay__sense *s, const assay__backend *backend, double fastest_mhz)
{
    *s = (assay__sense){.backend = backend};
    assay__clock_guard_init(&s->guard, fastest_mhz);
    read_sensors(backend, &s->before);
    if (s->before.count == 0)
        s->backend = NULL;
}

void assay__sense_clear(assay__sense *s)
{
    json_decref(s->speeds);
    json_decref(s->clocks);
    json_decref(s->reasons);
    *s = (assay__sense){.backend = NULL};
}

bool assay__sense_has_clock(const assay__sense *s)
{
    return s->backend != NULL && s->before.clock_mhz > 0;
}

static assay_status make_calls(const assay__backend *b, assay_kernel_fn run,
                               const assay_launch *launch, size_t calls)
{
    for (size_t i = 0; i < calls; i++)
        ASSAY_TRY(assay__backend_launch(b, run, launch));
    return ASSAY_OK;
}

assay_status assay__sense_load(assay__sense *s, assay_kernel_fn run, const assay_launch *launch,
                               size_t calls)
{
    assay_status status, waited;

    if (s->backend == NULL)
        return ASSAY_OK;
    status = make_calls(s->backend, run, launch, calls);
    if (status == ASSAY_OK)
        read_sensors(s->backend, &s->loaded);
    if (status != ASSAY_OK) /* its text must stay, and the worker ends with what is queued */
        return assay__worker_blame(s->backend, status);
    waited = assay__backend_synchronize(s->backend);
    assay__clock_guard_saw(&s->guard, s->loaded.clock_mhz);
    s->seen |= s->loaded.reasons;
    return assay__worker_blame(s->backend, waited);
}

/* ---- the warm-up's end ---- */

#define AGREE 0.01 /* of the highest */
#define AWAKE 0.75 /* of the fastest */

static void remember(assay__sense_history *h, const assay__backend *backend, double clock_mhz)
{
    if (h->backend != backend)
        *h = (assay__sense_history){.backend = backend};
    h->clock_mhz[h->count++ % ASSAY__SENSE_AGREE] = clock_mhz;
    h->fastest_mhz = fmax(h->fastest_mhz, clock_mhz);
}

static bool do_agree(const assay__sense_history *h)
{
    double least = h->clock_mhz[0], most = h->clock_mhz[0];

    for (size_t i = 1; i < ASSAY__SENSE_AGREE; i++) {
        least = fmin(least, h->clock_mhz[i]);
        most = fmax(most, h->clock_mhz[i]);
    }
    return most - least <= AGREE * most;
}

static bool is_held_down(uint64_t reasons)
{
    return (reasons & (ASSAY__REASON_POWER_CAP | ASSAY__REASON_SLOWDOWN | ASSAY__REASON_HEAT |
                       ASSAY__REASON_POWER_BRAKE)) != 0;
}

bool assay__sense_is_settled(const assay__sense *s, assay__sense_history *history)
{
    if (!(s->loaded.clock_mhz > 0))
        return true;
    remember(history, s->backend, s->loaded.clock_mhz);
    if (is_held_down(s->loaded.reasons))
        return true;
    /* Readings agree, too, on the clock of a device that has not noticed yet that there is work. */
    return do_agree(history) && s->loaded.clock_mhz >= AWAKE * history->fastest_mhz;
}

/* ---- samples ---- */

static bool is_slowed(uint64_t reasons)
{
    return (reasons & (ASSAY__REASON_SLOWDOWN | ASSAY__REASON_HEAT | ASSAY__REASON_POWER_BRAKE)) !=
           0;
}

static bool is_capped(uint64_t reasons)
{
    return !is_slowed(reasons) && (reasons & ASSAY__REASON_POWER_CAP) != 0;
}

/* The clock by which the newest sample is judged; 0: by none. */
static double judged_mhz(const assay__sense *s)
{
    const assay__sense_reading *a = &s->after, *l = &s->loaded;

    if (is_slowed(a->reasons))
        return a->clock_mhz;
    if (is_capped(a->reasons) || is_capped(l->reasons) || (l->reasons & ASSAY__REASON_IDLE) != 0)
        return 0;
    return a->clock_mhz > 0 && l->clock_mhz > 0 ? fmax(a->clock_mhz, l->clock_mhz) : 0;
}

static json_t *number_or_null(bool is_known, uint64_t value)
{
    return is_known ? json_integer((json_int_t)value) : json_null();
}

void assay__sense_span(assay__sense *s)
{
    if (s->backend == NULL)
        return;
    if (s->speeds == NULL) {
        s->speeds = json_array();
        s->clocks = json_array();
        s->reasons = json_array();
    }
    read_sensors(s->backend, &s->after);
    s->seen |= s->after.reasons;
    assay__clock_guard_saw(&s->guard, s->after.clock_mhz);
    json_array_append_new(s->speeds, json_real(judged_mhz(s)));
    json_array_append_new(s->clocks,
                          number_or_null(s->after.clock_mhz > 0, (uint64_t)s->after.clock_mhz));
    json_array_append_new(s->reasons, number_or_null(s->after.has_reasons, s->after.reasons));
}

bool assay__sense_is_low(const assay__sense *s, size_t i)
{
    return s->speeds != NULL &&
           assay__clock_guard_is_slow(&s->guard, json_number_value(json_array_get(s->speeds, i)));
}

/* ---- the reply ---- */

unsigned assay__sense_noise(uint64_t reasons)
{
    const bool heat = (reasons & ASSAY__REASON_HEAT) != 0;
    unsigned noise = heat ? ASSAY__NOISE_HEAT : 0u;

    /* A slowdown by the hardware is by heat where it says so, too, else by the supply. */
    if ((reasons & (ASSAY__REASON_POWER_CAP | ASSAY__REASON_POWER_BRAKE)) != 0 ||
        ((reasons & ASSAY__REASON_SLOWDOWN) != 0 && !heat))
        noise |= ASSAY__NOISE_POWER;
    return noise;
}

static const assay_metric *find(const assay__sense_reading *r, const char *name)
{
    for (size_t i = 0; r != NULL && i < r->count; i++)
        if (strcmp(r->list[i].name, name) == 0)
            return &r->list[i];
    return NULL;
}

/* All of it, or what is not as it was before.  null: it was asked for, and is not known. */
static json_t *reading_json(const assay__sense_reading *r, const assay__sense_reading *before)
{
    json_t *out = json_object();

    for (size_t i = 0; before != NULL && r->is_done && i < before->count; i++)
        if (find(r, before->list[i].name) == NULL)
            json_object_set_new(out, before->list[i].name, json_null());
    for (size_t i = 0; i < r->count; i++) {
        const assay_metric *m = &r->list[i], *old = find(before, m->name);
        if (old == NULL || old->value != m->value)
            json_object_set_new(out, m->name,
                                number_or_null(m->value != ASSAY_METRIC_UNKNOWN, m->value));
    }
    return out;
}

static bool is_even(const json_t *list)
{
    const json_t *first = json_array_get(list, 0), *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        if (json_equal(first, one) == 0)
            return false;
    }
    return true;
}

/* Where spans differ. */
static void put_spans(const assay__sense *s, json_t *device)
{
    if (is_even(s->clocks) && is_even(s->reasons))
        return;
    json_t *spans = json_object();
    json_object_set_new(device, "spans", spans);
    if (find(&s->before, "sm_clock_mhz") != NULL)
        json_object_set(spans, "sm_clock_mhz", s->clocks);
    if (find(&s->before, "throttle_reasons") != NULL)
        json_object_set(spans, "throttle_reasons", s->reasons);
}

assay_status assay__sense_reply(const assay__sense *s, json_t *reply)
{
    json_t *device;
    char words[80];

    if (s->backend == NULL)
        return ASSAY_OK;
    device = json_object();
    ASSAY_TRY(assay__json_put_take(reply, "device", device));
    json_object_set_new(device, "before", reading_json(&s->before, NULL));
    json_object_set_new(device, "loaded", reading_json(&s->loaded, &s->before));
    json_object_set_new(device, "after", reading_json(&s->after, &s->before));
    put_spans(s, device);
    (void)assay__noise_words(assay__sense_noise(s->seen), words, sizeof words);
    ASSAY_TRY(assay__json_put_string(reply, "device_flags", words));
    return assay__json_put_real(reply, "device_mhz", s->guard.fastest);
}
