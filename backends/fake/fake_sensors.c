/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/fake/fake_sensors.c -- readings that a script writes, beside the counters of the host.
 *
 * A launch makes the device busy until somebody waits; timed spans leave it idle. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "backends/fake/fake.h"

#define IDLE_REASON UINT64_C(1)

/* Whoever asks may be any thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    size_t at;     /* step of the sensor */
    uint64_t used; /* readings of that step so far */
} places[FAKE_SENSORS];
static atomic_bool is_busy;

static uint64_t next(size_t i)
{
    const fake_sensor *s = &fake_current.sensors[i];

    if (places[i].used >= s->steps[places[i].at].times &&
        (s->is_round || places[i].at + 1 < s->count)) {
        places[i].at = (places[i].at + 1) % s->count;
        places[i].used = 0;
    }
    places[i].used++;
    return s->steps[places[i].at].value;
}

/* Of a device that drops its clock as soon as it has nothing to do. */
static uint64_t as_idle(const char *name, uint64_t value)
{
    if (fake_current.idle_mhz == 0 || is_busy || value == ASSAY_METRIC_UNKNOWN)
        return value;
    if (strcmp(name, "throttle_reasons") == 0)
        return value | IDLE_REASON;
    return strcmp(name, "sm_clock_mhz") == 0 ? (uint64_t)fake_current.idle_mhz : value;
}

assay_status fake_metrics(assay_instance *instance, assay_metric *out, size_t cap, size_t *count)
{
    size_t own = 0;

    ASSAY_TRY(assay__host_metrics(instance, out, cap, &own));
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < fake_current.sensor_count; i++) {
        const char *name = fake_current.sensors[i].name;
        const uint64_t value = as_idle(name, next(i));
        if (own + i < cap)
            out[own + i] = (assay_metric){name, value};
    }
    pthread_mutex_unlock(&lock);
    *count = own + fake_current.sensor_count;
    return ASSAY_OK;
}

void fake_sensors_begin(void)
{
    pthread_mutex_lock(&lock);
    memset(places, 0, sizeof places);
    pthread_mutex_unlock(&lock);
}

assay_status fake_launch(assay_instance *instance, assay_kernel_fn run, const assay_launch *launch)
{
    is_busy = true;
    return assay__host_launch(instance, run, launch);
}

assay_status fake_synchronize(assay_instance *instance)
{
    is_busy = false;
    return assay__host_synchronize(instance);
}
