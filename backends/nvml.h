/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/nvml.h -- sensors of NVIDIA's devices, for every backend that runs on them. */
#ifndef ASSAY_BACKENDS_NVML_H
#define ASSAY_BACKENDS_NVML_H

#include "assay/plugin.h"

enum {
    ASSAY__NVML_SENSORS = 8,
    ASSAY__NVML_NAME = 48 /* a UUID with its prefix, a bus id */
};

/* One of an instance, zeros at first.  Which sensors a device has is settled at the first question
 * about it. */
typedef struct assay__nvml {
    bool is_settled;
    char of[ASSAY__NVML_NAME]; /* whose these are */
    void *device;              /* NVML's handle */
    size_t count;
    int which[ASSAY__NVML_SENSORS];
} assay__nvml;

/* One of the two, as NVML writes it: "GPU-" and five groups, or domain:bus:device.function. */
typedef struct assay__nvml_id {
    const char *uuid, *bus_id;
} assay__nvml_id;

/* At most cap metrics of state; returns how many there are, 0 where there is no NVML or it does not
 * know the device.  A reading that fails is ASSAY_METRIC_UNKNOWN.  From any thread. */
size_t assay__nvml_sense(assay__nvml *s, const assay__nvml_id *id, assay_metric *out, size_t cap);

#endif
