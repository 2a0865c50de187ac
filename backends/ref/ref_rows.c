/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_rows.c -- ops over rows: any window of the output, rows over threads. */
#include <stdlib.h>

#include "backends/ref/ref.h"

typedef struct rows_job {
    const assay_launch *launch;
    const assay_wide *out;
    ref_row_fn f;
    int64_t cols;
} rows_job;

/* Row `index`, computed in `memory` (5 times cols) and its part of the window copied out. */
static void one_row(const rows_job *job, int64_t index, double *memory)
{
    int64_t n = job->cols, start = index * n - job->out->first;
    assay_wide row = {memory + n, memory + 2 * n, memory + 3 * n, memory + 4 * n, 0, n};

    for (int64_t j = 0; j < n; j++)
        memory[j] = ref_load(&job->launch->operands[0], index * n + j);
    job->f(job->launch->problem, memory, n, &row);
    for (int64_t j = 0; j < n; j++) {
        int64_t at = start + j;
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
    rows_job job = {launch, out, f, x->dims[x->rank - 1]};
    bool failed = false;

    if (out->count == 0 || job.cols == 0)
        return ASSAY_OK;
    int64_t first = out->first / job.cols, last = (out->first + out->count - 1) / job.cols;
#pragma omp parallel num_threads(threads) if (last > first && out->count > 4096)
    {
        double *memory = malloc((size_t)job.cols * 5 * sizeof *memory);
        if (memory == NULL) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(static)
        for (int64_t index = first; index <= last; index++)
            if (memory != NULL)
                one_row(&job, index, memory);
        free(memory);
        ref_mpfr_release();
    }
    return failed ? ASSAY_NOMEM : ASSAY_OK;
}

assay_status ref_run_rows(const assay_launch *launch, ref_wide_fn wide)
{
    const assay_tensor *x = &launch->operands[0];
    int64_t cols = x->dims[x->rank - 1];
    int64_t rows = cols > 0 && cols < 8192 ? 8192 / cols : 1;

    return ref_run(launch, wide, cols > 0 ? rows * cols : 1);
}
