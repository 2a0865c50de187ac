/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/nvml.c -- clocks, power and heat of the device, where NVML tells them.
 *
 * NVML comes with the driver, its header with nobody that we build with: the few calls are declared
 * here, from the NVML API Reference Guide.  A reading that the device does not give is no metric at
 * all; which there are is settled at the first question, since the list must not change.  One that
 * fails later is told as not known: what was read before says nothing of now. */
#include "backends/nvml.h"

#include "runtime/host_opened.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef int nvml_result; /* nvmlReturn_t: 0 is success */
typedef void *nvml_device;

typedef struct nvml {
    nvml_result (*init)(void);
    nvml_result (*by_bus_id)(const char *bus_id, nvml_device *out);
    nvml_result (*by_uuid)(const char *uuid, nvml_device *out);
    nvml_result (*clock)(nvml_device device, int type, unsigned *mhz);
    nvml_result (*power)(nvml_device device, unsigned *milliwatts);
    nvml_result (*temperature)(nvml_device device, int sensor, unsigned *celsius);
    nvml_result (*throttle)(nvml_device device, unsigned long long *reasons);
} nvml;

#define TAKE(name, field)           \
    {                               \
        name, offsetof(nvml, field) \
    }
static const assay__opened_symbol symbols[] = {
    TAKE("nvmlInit_v2", init),
    TAKE("nvmlDeviceGetHandleByPciBusId_v2", by_bus_id),
    TAKE("nvmlDeviceGetHandleByUUID", by_uuid),
    TAKE("nvmlDeviceGetClockInfo", clock),
    TAKE("nvmlDeviceGetPowerUsage", power),
    TAKE("nvmlDeviceGetTemperature", temperature),
    TAKE("nvmlDeviceGetCurrentClocksThrottleReasons", throttle),
};
static const char *const places[] = {"libnvidia-ml.so.1", NULL};
static const assay__opened_spec spec = {
    .title = "NVML",
    .variable = "ASSAY_NVML",
    .package = "NVIDIA's driver",
    .places = places,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};
static nvml table;
static assay__opened opened = ASSAY__OPENED(&spec, &table, NULL);

/* ---- readings ---- */

/* nvmlClockType_t: the multiprocessors' and the memory's. nvmlTemperatureSensors_t: the GPU's. */
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0 };

static bool read_clock(const nvml *n, nvml_device d, int type, uint64_t *out)
{
    unsigned mhz = 0;

    if (n->clock(d, type, &mhz) != 0)
        return false;
    *out = mhz;
    return true;
}

static bool read_sm_clock(const nvml *n, nvml_device d, uint64_t *out)
{
    return read_clock(n, d, CLOCK_SM, out);
}

static bool read_memory_clock(const nvml *n, nvml_device d, uint64_t *out)
{
    return read_clock(n, d, CLOCK_MEMORY, out);
}

static bool read_power(const nvml *n, nvml_device d, uint64_t *out)
{
    unsigned milliwatts = 0;

    if (n->power(d, &milliwatts) != 0)
        return false;
    *out = milliwatts;
    return true;
}

static bool read_temperature(const nvml *n, nvml_device d, uint64_t *out)
{
    unsigned celsius = 0;

    if (n->temperature(d, SENSOR_GPU, &celsius) != 0)
        return false;
    *out = celsius;
    return true;
}

static bool read_throttle(const nvml *n, nvml_device d, uint64_t *out)
{
    unsigned long long reasons = 0;

    if (n->throttle(d, &reasons) != 0)
        return false;
    *out = reasons;
    return true;
}

static const struct {
    const char *name;
    bool (*read)(const nvml *n, nvml_device d, uint64_t *out);
} sensors[] = {
    {"sm_clock_mhz", read_sm_clock},     {"memory_clock_mhz", read_memory_clock},
    {"power_milliwatts", read_power},    {"temperature_celsius", read_temperature},
    {"throttle_reasons", read_throttle}, /* bits: nvmlClocksThrottleReason... */
};
enum { SENSORS = sizeof sensors / sizeof *sensors };
_Static_assert(SENSORS <= (int)ASSAY__NVML_SENSORS, "every sensor has its place");

/* A reading may take milliseconds, for which no slot but metrics waits. */
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

static bool find(const nvml *n, const assay__nvml_id *id, nvml_device *out)
{
    return id->uuid != NULL ? n->by_uuid(id->uuid, out) == 0 : n->by_bus_id(id->bus_id, out) == 0;
}

static void settle(const nvml *n, const assay__nvml_id *id, assay__nvml *s)
{
    const char *const name = id->uuid != NULL ? id->uuid : id->bus_id;
    uint64_t value;

    s->count = 0;
    s->is_settled = true;
    (void)snprintf(s->of, sizeof s->of, "%s", name);
    if (n == NULL || n->init() != 0 || !find(n, id, &s->device))
        return;
    for (int i = 0; i < SENSORS; i++)
        if (sensors[i].read(n, s->device, &value))
            s->which[s->count++] = i;
}

static bool is_of(const assay__nvml *s, const assay__nvml_id *id)
{
    return s->is_settled && strcmp(s->of, id->uuid != NULL ? id->uuid : id->bus_id) == 0;
}

size_t assay__nvml_sense(assay__nvml *s, const assay__nvml_id *id, assay_metric *out, size_t cap)
{
    const nvml *n = assay__opened_get(&opened, NULL);

    pthread_mutex_lock(&reading);
    if (!is_of(s, id))
        settle(n, id, s);
    for (size_t i = 0; i < s->count && i < cap; i++) {
        out[i] = (assay_metric){sensors[s->which[i]].name, 0};
        if (!sensors[s->which[i]].read(n, s->device, &out[i].value))
            out[i].value = ASSAY_METRIC_UNKNOWN;
    }
    const size_t count = s->count;
    pthread_mutex_unlock(&reading);
    return count;
}
