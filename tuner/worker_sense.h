/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_sense.h -- what a device's sensors say around a stay, and which samples that costs.
 *
 * Sensors are metrics of a backend that end in a unit of state (docs/backends.md, Sensors).  They
 * are read when a stay begins, while the device runs untimed calls just before the timed ones, and
 * after each timed span.  The clock is the multiprocessors', sm_clock_mhz, and a word of bits says
 * why it is not higher, throttle_reasons.
 *
 * A reading behind a span may lag, or be that of a device which has nothing to do any more: alone
 * it costs no sample.  Two must be low, that under load and that behind the span, unless the device
 * tells of heat, of its supply, or of a slowdown.  Where it tells of its power limit alone the
 * clock is what the kernel's own work leaves of it, wherever it runs, and costs no sample either.
 */
#ifndef ASSAY_TUNER_WORKER_SENSE_H
#define ASSAY_TUNER_WORKER_SENSE_H

#include "support/json.h"

#include "runtime/backend_slots.h"
#include "tuner/core_clock.h"

#define ASSAY__SENSORS 16u /* more are not read */

/* Bits of throttle_reasons, those of NVML's nvmlClocksThrottleReasons. */
#define ASSAY__REASON_IDLE        UINT64_C(0x1)
#define ASSAY__REASON_POWER_CAP   UINT64_C(0x4)
#define ASSAY__REASON_SLOWDOWN    UINT64_C(0x8) /* by the hardware: heat or supply */
#define ASSAY__REASON_HEAT        UINT64_C(0x60)
#define ASSAY__REASON_POWER_BRAKE UINT64_C(0x80)

typedef struct assay__sense_reading {
    assay_metric list[ASSAY__SENSORS];
    size_t count;
    bool is_done;     /* somebody asked, whatever came of it */
    size_t costs;     /* metrics up to the last that says what measuring costs; 0: none does */
    double clock_mhz; /* 0: not known */
    bool has_reasons;
    uint64_t reasons; /* 0: none, or not known */
} assay__sense_reading;

#define ASSAY__SENSE_AGREE     3u
#define ASSAY__SENSE_SETTLE_NS 2e9 /* of calls, after which nobody waits for the clock any more */

/* The newest clocks under load that a worker read, of one backend's device. */
typedef struct assay__sense_history {
    const assay__backend *backend;
    double clock_mhz[ASSAY__SENSE_AGREE]; /* 0: not read yet, which agrees with none */
    size_t count;
    double fastest_mhz; /* of all loads so far */
    bool is_restless;   /* they did not agree, for as long as is waited for */
} assay__sense_history;

typedef struct assay__sense {
    const assay__backend *backend; /* NULL: it has no sensors, and all here does nothing */
    assay__clock_guard guard;
    assay__sense_reading before, loaded, after;
    uint64_t seen;            /* reasons from the load on */
    json_t *speeds;           /* MHz by which each sample is judged; 0: by none.  NULL: no spans */
    json_t *clocks, *reasons; /* as read behind each span */
} assay__sense;

/* A stay begins; fastest_mhz: what the variant was seen at, 0: not known. */
void assay__sense_begin(assay__sense *s, const assay__backend *backend, double fastest_mhz);
void assay__sense_clear(assay__sense *s);

/* Does the device tell its clock? */
bool assay__sense_has_clock(const assay__sense *s);

/* Makes so many calls, reads while they run, waits for them.  Fails as they do. */
assay_status assay__sense_load(assay__sense *s, assay_kernel_fn run, const assay_launch *launch,
                               size_t calls);
/* Has the clock of the loads arrived where it stays?  The newest of each worker agree within 1 %,
 * or a limit holds it down, around which it goes up and down for as long as the load lasts. */
bool assay__sense_is_settled(const assay__sense *s, assay__sense_history *history);

/* A timed span has ended. */
void assay__sense_span(assay__sense *s);
/* Was sample i taken at a low clock? */
bool assay__sense_is_low(const assay__sense *s, size_t i);

/* device: {before, loaded, after, spans?}, device_flags [words], device_mhz [the fastest]. */
assay_status assay__sense_reply(const assay__sense *s, json_t *reply);

/* Words (runtime/noise_words.h) for reasons. */
unsigned assay__sense_noise(uint64_t reasons);
/* Is it a sensor by its name? */
bool assay__sense_is_sensor(const char *name);

#endif
