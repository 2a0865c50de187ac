/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/probe_run.h -- kernels of known work of one backend, timed by its own clock. */
#ifndef ASSAY_TUNER_PROBE_RUN_H
#define ASSAY_TUNER_PROBE_RUN_H

#include "runtime/backend_slots.h"

#define ASSAY__PROBE_SPANS 64 /* at most, of one call */

typedef struct assay__probe_run {
    const assay__backend *backend; /* borrowed, open */
    assay_probe probe;
    assay_buffer buffers[2]; /* owned, `held` of them */
    uint32_t held;
    uint64_t bytes; /* of each */
    double late_ns; /* what the host sleeps inside of each launch, before it enqueues anything */
} assay__probe_run;

/* "empty", "spin_ns", "spin_cycles", "copy", "fma", "matrix"; false: none of them. */
bool assay__probe_kind_of(const char *name, assay_probe_kind *out);

/* Finds the probe, takes what it needs, and runs it once so that nothing is loaded later.
 * ASSAY_UNSUPPORTED: the device has none of that kind.  copy_bytes: what a copy may move at most,
 * halved until the device has room for it.  end frees what it holds, also behind a failure. */
assay_status assay__probe_begin(const assay__backend *backend, assay_probe_kind kind,
                                assay_dtype dtype, uint64_t copy_bytes, assay__probe_run *out);
void assay__probe_end(assay__probe_run *run);

/* Times of `spans` spans (at most ASSAY__PROBE_SPANS) of `inner` launches each.  Spins have a place
 * to tell of for each span: inner 1.  clock may be NULL. */
assay_status assay__probe_time(const assay__probe_run *run, int64_t amount, size_t spans,
                               size_t inner, double *ns, assay_clock_info *clock);
/* The amount that takes about so long, found by trying; copies stay within what they may move. */
assay_status assay__probe_amount(const assay__probe_run *run, double wanted_ns, int64_t *out);
/* What the spins of the last time told, one a span. */
assay_status assay__probe_spun(const assay__probe_run *run, size_t spans, assay_probe_spun *out);

#endif
