/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/device_peaks.h -- what a device apart from the host does at most, by the kernels of known
 * work that its backend has (slot probe).
 *
 * Names are what it is of and _d1, one device: fma_f32_d1 and matrix_bf16_d1 (flop/ns; tf32: f32
 * cut to that), copy_d1 (byte/ns, read and written), launch_d1 (call/ns, empty kernels one after
 * the other by the device's clock), call_d1 (call/ns, each launched and waited for by the host's).
 * Of what a device has no probe there is no peak. */
#ifndef ASSAY_TUNER_DEVICE_PEAKS_H
#define ASSAY_TUNER_DEVICE_PEAKS_H

#include "runtime/backend_slots.h"
#include "support/json.h"

/* Adds "peaks": [{name, unit, samples: [...]}] to reply and, when known, "cache_bytes".
 * spot: arithmetic alone, fewer runs: does what was measured before still hold? */
assay_status assay__device_peaks_measure(const assay__backend *backend, bool spot, json_t *reply);

#endif
