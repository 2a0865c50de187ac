/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_dot.h -- a launch of the products of few rows, for every type and width
 * of vector: see cpu_matmul_dot_body.h. */
#ifndef ASSAY_BACKENDS_CPU_MATMUL_DOT_H
#define ASSAY_BACKENDS_CPU_MATMUL_DOT_H

#include "backends/cpu/cpu_matmul.h"
#include "runtime/host_team.h"

/* Lines of B that are read side by side; parts of a launch for each thread. */
enum { GROUP = 6, PARTS_A_THREAD = 4 };

/* One launch; the same for every element type. */
typedef struct dot_job {
    cpu_matmul g;
    int64_t splits; /* parts of the columns */
} dot_job;

static assay_status run_dot(const assay_launch *launch, assay__host_part_fn part)
{
    int threads = cpu_threads(launch);
    dot_job job;

    cpu_matmul_read(launch, &job.g);
    if (job.g.k == 0) /* sums of nothing, whatever alpha is */
        job.g.alpha = 1.0;
    job.splits = threads > 1 ? threads * PARTS_A_THREAD : 1;
    if (job.g.m > 0 && job.g.n > 0)
        assay__host_team_run(threads, job.g.batch * job.splits, part, &job);
    return ASSAY_OK;
}

#endif
