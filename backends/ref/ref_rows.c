/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_rows.c -- ops over rows, or lines along the middle of three
 * extents: any window of the output, lines over threads. */
#include <stdlib.h>

#include "backends/ref/ref.h"

typedef struct rows_job {
    const assay_launch *launch;
    const assay_wide *out;
    ref_row_fn f;
    int64_t cols, step; /* elements of a line and how far they are apart */
} rows_job;

/* The line from `start` on, computed in `memory` (5 times cols) and its part of the window copied
 * out. */
static void one_row(const rows_job *job, int64_t start, double *memory)
{
    int64_t n = job->cols;
    assay_wide row = {memory + n, memory + 2 * n, memory + 3 * n, memory + 4 * n, 0, n};

    for (int64_t j = 0; j < n; j++)
        memory[j] = ref_load(&job->launch->operands[0], start + j * job->step);
    job->f(job->launch->problem, memory, n, &row);
    for (int64_t j = 0; j < n; j++) {
        int64_t at = start - job->out->first + j * job->step;
        if (at < 0 || at >= job->out->count)
            continue;
        ref_put(job->out, at, (ref_dd){row.hi[j], row.lo[j]}, row.bound[j]);
        if (job->out->magnitude != NULL)
            job->out->magnitude[at] = row.magnitude[j];
    }
}

assay_status ref_wide_rows(const assay_launch *launch, unsigned threads, const assay_wide *out,
                           ref_row_fn f)
{
    const assay_tensor *x = &launch->operands[0];
    rows_job job = {launch, out, f, x->dims[1], ref_line_step(x)};
    bool failed = false;

    if (out->count == 0 || job.cols == 0)
        return ASSAY_OK;
    int64_t block = job.cols * job.step, first = out->first / block * job.step;
    int64_t last = ((out->first + out->count - 1) / block + 1) * job.step;
#pragma omp parallel num_threads(threads) if (last > first + 1 && out->count > 4096)
    {
        double *memory = malloc((size_t)job.cols * 5 * sizeof *memory);
        if (memory == NULL) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(static)
        for (int64_t index = first; index < last; index++) {
            int64_t start = index / job.step * block + index % job.step;
            if (memory != NULL && ref_line_meets(out, start, job.cols, job.step))
                one_row(&job, start, memory);
        }
        free(memory);
        ref_mpfr_release();
    }
    return failed ? ASSAY_NOMEM : ASSAY_OK;
}

/* Whole planes of lines at a time, so that y may lie over x. */
assay_status ref_run_rows(const assay_launch *launch, ref_wide_fn wide)
{
    const assay_tensor *x = &launch->operands[0];
    int64_t block = x->dims[1] * ref_line_step(x);
    int64_t blocks = block > 0 && block < 8192 ? 8192 / block : 1;

    return ref_run(launch, wide, block > 0 ? blocks * block : 1);
}
