/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peaks.h -- what this machine can do at most: FMA rates and copy bandwidth.
 *
 * FMA peaks: independent chains of fused multiply-adds in registers, twelve of them, enough to
 * cover latency 4 to 5 at two a cycle.  Copy: non-temporal stores, source and target far beyond the
 * last cache; bytes count reads and writes.  Each per thread count 1 .. usable CPUs (doubling, and
 * the count itself), threads pinned. */
#ifndef ASSAY_TUNER_PEAKS_H
#define ASSAY_TUNER_PEAKS_H

#include "support/json.h"

#include "assay/status.h"

/* Adds "peaks": [{name, unit, samples: [...]}] to reply.  Names: fma_f32_avx2_t1 (flop/ns),
 * fma_f64_avx2_t1, copy_nt_t1 (byte/ns), copy_plain_t1. */
assay_status assay__peaks_measure(double seconds, json_t *reply);

#endif
