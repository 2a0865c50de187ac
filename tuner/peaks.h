/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peaks.h -- what this machine can do at most: arithmetic and streaming rates.
 *
 * Arithmetic: independent chains in registers, for every instruction set that can be used: FMA in
 * f32 and f64 (portable, AVX2, AVX-512), f16 (AVX512-FP16), pairs of bf16 (AVX512-BF16), tiles of
 * bf16 and 8-bit integers (AMX).  Memory: copies, stores and loads over buffers of twice the last
 * cache, each run over its own part; absent where there is not memory enough to exceed the caches.
 * Cache: loads and copies inside the first cache, and inside the second and third (l2, l3) over
 * what assay__cache_operands says.  Bytes count reads and writes.  Launch: empty kernels one after
 * the other (call/ns), with a part for each thread, as far as a team has threads.  Each per thread
 * count 1 .. usable CPUs (doubling, and the count itself), threads pinned but those of launches,
 * which run where the system puts them; the best of several short runs: a neighbour can only make a
 * peak too low. */
#ifndef ASSAY_TUNER_PEAKS_H
#define ASSAY_TUNER_PEAKS_H

#include "support/json.h"

#include "assay/status.h"

/* Takes about `seconds` in all, however many units the machine has (peak_budget.h).
 *
 * Adds "peaks": [{name, unit, samples: [...]}] to reply and, when known, "cache_bytes".  Names end
 * in the thread count: fma_f32_avx512_t1 (flop/ns), copy_nt_t2 (byte/ns).
 * spot: arithmetic alone: does what was measured before still hold?
 *
 * For tests the machine may be scripted: $ASSAY_FAKE_PEAKS names a file with a line of
 * name_tN=value words (and cache_bytes=N) for each probe to come; the last line serves all further
 * ones, and spot checks use up none. */
assay_status assay__peaks_measure(double seconds, bool spot, json_t *reply);

#endif
