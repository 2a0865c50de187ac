/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/villains/villains.h -- what the files of the villains share. */
#ifndef ASSAY_TESTS_VILLAINS_H
#define ASSAY_TESTS_VILLAINS_H

#include "assay/plugin.h"

typedef struct job {
    const assay_launch *launch;
    bool is_matmul;
    int64_t m, n, k; /* add: 1, n, 0 */
    int64_t count;   /* of the output */
    float *a, *b, *y;
} job;
job read_job(const assay_launch *launch);
/* The right result, as fast as it gets. */
job run_fast(const assay_launch *launch);
/* Of an add, by way of memory. */
void slow_add(const job *j);

/* What they do to their process: villains_process.c. */
assay_status v_bomb(const assay_launch *launch);
assay_status v_overflow(const assay_launch *launch);
assay_status v_flood(const assay_launch *launch);
assay_status v_mute(const assay_launch *launch);
assay_status v_leak(const assay_launch *launch);
assay_status v_leak_slow(const assay_launch *launch);
assay_status v_chatty_err(const assay_launch *launch);
assay_status v_chatty_late(const assay_launch *launch);
assay_status v_chatty_later(const assay_launch *launch);
assay_status v_chatty_again(const assay_launch *launch);
assay_status v_spoils(const assay_launch *launch);
assay_status v_locks(const assay_launch *launch);
assay_status v_hoard(const assay_launch *launch);
assay_status v_once(const assay_launch *launch);
assay_status v_opens(const assay_launch *launch);
assay_status v_lost(const assay_launch *launch);
assay_status v_rounds(const assay_launch *launch);
assay_status v_coldfast(const assay_launch *launch);
assay_status v_coldslow(const assay_launch *launch);
assay_status v_bimodal(const assay_launch *launch);

/* Slots of the backend: where errors of earlier calls show. */
assay_status villains_launch(assay_instance *instance, assay_kernel_fn run,
                             const assay_launch *launch);
assay_status villains_measure(assay_instance *instance, const assay_measure *what,
                              assay_clock_info *clock);

/* Passes that the kernels of misleading times made over their operands, for their test to see. */
extern int64_t assay_plugin_passes;

#endif
