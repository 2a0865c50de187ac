/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/judge_host.h -- the kernels of backends/cuda/kernels/cuda_judge.cu on the host: the
 * same steps over the same headers, one thread in place of a grid. */
#ifndef ASSAY_TESTS_JUDGE_HOST_H
#define ASSAY_TESTS_JUDGE_HOST_H

#include <stdint.h>

#include "assay/plugin.h"

typedef struct judge_host_task {
    int op, in, out; /* JUDGE_EXP and its kin, JUDGE_F32 and its kin */
    const void *y;
    uint64_t first, batches;
    uint64_t *record, *best;
    uint64_t limit, capacity;
} judge_host_task;

void judge_host_run(const judge_host_task *task);
void judge_host_patterns(void *x, uint64_t x_bytes, void *y, uint64_t y_bytes, uint64_t first,
                         uint64_t n);

#endif
