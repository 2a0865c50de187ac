/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_rows.h -- kernels over rows with a real parameter, and their f64 forms.
 *
 * CPU_ROWS(op, eps, f) defines cpu_<op>_{f64,f32,f16,bf16} from void f(double *row, int64_t n,
 * double eps), which works in place on a row in f64; every result is rounded once more. */
#ifndef ASSAY_BACKENDS_CPU_ROWS_H
#define ASSAY_BACKENDS_CPU_ROWS_H

#include <stdlib.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu.h"
#include "runtime/host_team.h"

/* false: no memory. */
typedef bool (*cpu_rows_eps_fn)(const void *x, void *y, int64_t rows, int64_t cols, double eps,
                                bool nontemporal);

/* Parts a thread, so that one that came late takes fewer. */
#define CPU_ROW_SHARES 4

typedef struct cpu_rows_job {
    const char *x;
    char *y;
    int64_t rows, cols, bytes, parts; /* bytes: of a row */
    double eps;
    bool direct;
    bool failed; /* atomic */
    cpu_rows_eps_fn fn;
} cpu_rows_job;

static inline void cpu_rows_part(void *cookie, int64_t part)
{
    cpu_rows_job *j = cookie;
    int64_t from, to;

    cpu_part(j->rows, 1, j->parts, part, &from, &to);
    if (!j->fn(j->x + from * j->bytes, j->y + from * j->bytes, to - from, j->cols, j->eps,
               j->direct))
        __atomic_store_n(&j->failed, true, __ATOMIC_RELAXED);
}

static inline assay_status cpu_run_rows_eps(const assay_launch *launch, double eps,
                                            cpu_rows_eps_fn fn)
{
    const assay_tensor *t = &launch->operands[1];
    int threads = cpu_threads(launch);
    int64_t most = threads > 1 ? (int64_t)threads * CPU_ROW_SHARES : 1;
    cpu_rows_job job = {.x = assay_tensor_data(&launch->operands[0]),
                        .y = assay_tensor_data(t),
                        .rows = t->dims[0],
                        .cols = t->dims[1],
                        .bytes = t->dims[1] * (int64_t)assay_dtype_bytes(t->dtype),
                        .parts = t->dims[0] < most ? t->dims[0] : most,
                        .eps = eps,
                        .fn = fn};

    if (job.rows == 0 || job.cols == 0)
        return ASSAY_OK;
    /* Portable kernels have no such tunable and ignore it. */
    job.direct = launch->tunables != NULL && launch->tunables[CPU_NONTEMPORAL] != 0;
    assay__host_team_run(threads, job.parts, cpu_rows_part, &job);
    return __atomic_load_n(&job.failed, __ATOMIC_RELAXED) ? ASSAY_NOMEM : ASSAY_OK;
}

#define CPU_ROWS_SPAN(op, eps_, f, name, type, load, store)                               \
    static bool rows_##op##_##name(const void *in, void *out, int64_t rows, int64_t cols, \
                                   double eps, bool nontemporal)                          \
    {                                                                                     \
        double *wide_row = malloc((size_t)cols * sizeof *wide_row);                       \
        const type *x = in;                                                               \
        type *y = out;                                                                    \
        (void)nontemporal;                                                                \
        if (wide_row == NULL)                                                             \
            return false;                                                                 \
        for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {                        \
            for (int64_t i = 0; i < cols; i++)                                            \
                wide_row[i] = (double)load(x[i]);                                         \
            f(wide_row, cols, eps);                                                       \
            for (int64_t i = 0; i < cols; i++)                                            \
                y[i] = store(wide_row[i]);                                                \
        }                                                                                 \
        free(wide_row);                                                                   \
        return true;                                                                      \
    }                                                                                     \
    CPU_ENTRY(op##_##name)                                                                \
    {                                                                                     \
        return cpu_run_rows_eps(launch, eps_, rows_##op##_##name);                        \
    }

#define cpu_row_same(v)     (v)
#define cpu_row_to_float(v) ((float)(v))
#define cpu_row_to_f16(v)   assay_f32_to_f16((float)(v))
#define cpu_row_to_bf16(v)  assay_f32_to_bf16((float)(v))

#define CPU_ROWS(op, eps, f)                                                   \
    CPU_ROWS_SPAN(op, eps, f, f64, double, cpu_row_same, cpu_row_same)         \
    CPU_ROWS_SPAN(op, eps, f, f32, float, cpu_row_same, cpu_row_to_float)      \
    CPU_ROWS_SPAN(op, eps, f, f16, uint16_t, assay_f16_to_f32, cpu_row_to_f16) \
    CPU_ROWS_SPAN(op, eps, f, bf16, uint16_t, assay_bf16_to_f32, cpu_row_to_bf16)

#endif
