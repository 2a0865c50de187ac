/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_nvml.c -- readings of the scripted devices; none of power. */
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/fake_cuda_state.h"

enum { NOT_SUPPORTED = 3, NOT_FOUND = 6, UNKNOWN = 999 };

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **out);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **out);
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **out)
{
    *out = (void *)(uintptr_t)strtoul(bus_id + 5, NULL, 16); /* NOLINT: the number of its bus */
    return strncmp(bus_id, "0000:", 5) == 0 ? 0 : NOT_FOUND;
}

/* "GPU-" and five groups; the device's number is the last digit of the first. */
int nvmlDeviceGetHandleByUUID(const char *uuid, void **out)
{
    if (strncmp(uuid, "GPU-", 4) != 0 || strlen(uuid) != 40)
        return NOT_FOUND;
    *out = (void *)(uintptr_t)(strtoul(uuid + 4, NULL, 16) & 15); /* NOLINT: a number */
    return 0;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz)
{
    (void)device;
    if (type == 1 && fake.clock_mhz == 0)
        return UNKNOWN;
    *mhz = type == 1 ? fake.clock_mhz : 2619;
    return 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    (void)device;
    (void)milliwatts;
    return NOT_SUPPORTED;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    *celsius = sensor == 0 ? 40 + (unsigned)(uintptr_t)device : 0;
    return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    (void)device;
    *reasons = fake.reasons;
    return 0;
}
