/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/rerun.h -- one more run of a variant whose result was checked once: the same bits today?
 *
 * A worker runs it on the first input set of a sweep, made anew from its seed. */
#ifndef ASSAY_SWEEP_RERUN_H
#define ASSAY_SWEEP_RERUN_H

#include "assay/op.h"
#include "runtime/digest.h"

typedef struct assay__rerun assay__rerun;

typedef struct assay__rerun_item {
    const char *problem; /* canonical ACCURACY text */
    const char *backend, *kernel;
    const int64_t *tunables; /* in the order of the kernel's row */
    size_t tunable_count;
    assay_digest kernel_revision;
    unsigned align;
    uint64_t seed;
    double expected_ns; /* of a call; NaN not known */
} assay__rerun_item;

/* plugin_path NULL: the default places.  stop: not 0 ends a run with ASSAY_INTERRUPTED; may be
 * NULL. */
assay_status assay__rerun_open(const char *plugin_path, unsigned threads, const volatile int *stop,
                               assay__rerun **out);
void assay__rerun_close(assay__rerun **rerun);

/* The output's digest (assay__output_digest).  What the variant did instead of giving one is a
 * status with its text: CRASH, TIMEOUT, STALE when its code is another by now, DEVICE, ... */
assay_status assay__rerun_digest(assay__rerun *rerun, const assay__rerun_item *item,
                                 uint64_t *digest);

#endif
