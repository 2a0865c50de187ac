/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/exhaust_worker.h -- the worker's request to run a kernel over a part of all inputs.
 *
 *   exhaust  problem, backend, kernel, tunables, first_batch, batch_count, digest_only, threads
 * [that judge, of a device apart] + descriptor of a file for an assay__exhaust_part */
#ifndef ASSAY_SWEEP_EXHAUST_WORKER_H
#define ASSAY_SWEEP_EXHAUST_WORKER_H

#include "calibrate/error_stats.h"
#include "tuner/worker.h"

typedef struct assay__exhaust_part {
    uint64_t inputs, nan_inputs, digest;
    unsigned char stats[ASSAY_ERROR_STATS_PACKED];
} assay__exhaust_part;

/* Ends with a NULL name. */
extern const assay__worker_command assay__exhaust_commands[];

#endif
