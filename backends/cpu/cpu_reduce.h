/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_reduce.h -- reductions of x[outer, axis, inner] to y[outer, inner].
 *
 * A task is one outer index and up to CPU_REDUCE_BLOCK neighbouring results, which one thread
 * computes in the order of the axis, so that the number of threads changes no bit. */
#ifndef ASSAY_BACKENDS_CPU_REDUCE_H
#define ASSAY_BACKENDS_CPU_REDUCE_H

#include <math.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu.h"
#include "runtime/host_team.h"

#define CPU_REDUCE_BLOCK 512

/* `count` results: x + a inner + j for a < axis. */
typedef void (*cpu_reduce_fn)(const void *x, void *y, int64_t axis, int64_t inner, int64_t count);

typedef struct cpu_reduce_job {
    const char *x;
    char *y;
    int64_t axis, inner, bytes, blocks, tasks, parts;
    cpu_reduce_fn fn;
} cpu_reduce_job;

static inline void cpu_reduce_part(void *cookie, int64_t part)
{
    const cpu_reduce_job *j = cookie;
    int64_t from, to;

    cpu_part(j->tasks, 1, j->parts, part, &from, &to);
    for (int64_t task = from; task < to; task++) {
        int64_t outer = task / j->blocks, at = task % j->blocks * CPU_REDUCE_BLOCK;
        int64_t left = j->inner - at, count = left < CPU_REDUCE_BLOCK ? left : CPU_REDUCE_BLOCK;
        j->fn(j->x + (outer * j->axis * j->inner + at) * j->bytes,
              j->y + (outer * j->inner + at) * j->bytes, j->axis, j->inner, count);
    }
}

static inline assay_status cpu_run_reduce(const assay_launch *launch, cpu_reduce_fn fn)
{
    const assay_tensor *x = &launch->operands[0];
    int threads = cpu_threads(launch);
    int64_t most = threads > 1 ? (int64_t)threads * 4 : 1;
    cpu_reduce_job job = {.x = assay_tensor_data(x),
                          .y = assay_tensor_data(&launch->operands[1]),
                          .axis = x->dims[1],
                          .inner = x->dims[2],
                          .bytes = (int64_t)assay_dtype_bytes(x->dtype),
                          .blocks = (x->dims[2] + CPU_REDUCE_BLOCK - 1) / CPU_REDUCE_BLOCK,
                          .fn = fn};

    job.tasks = x->dims[0] * job.blocks;
    if (job.tasks == 0)
        return ASSAY_OK;
    job.parts = job.tasks < most ? job.tasks : most;
    assay__host_team_run(threads, job.parts, cpu_reduce_part, &job);
    return ASSAY_OK;
}

#define cpu_reduce_same(v)    (v)
#define cpu_reduce_f32(v)     ((float)(v))
#define cpu_reduce_to_f16(v)  assay_f32_to_f16((float)(v))
#define cpu_reduce_to_bf16(v) assay_f32_to_bf16((float)(v))

/* CPU_REDUCE(op, start, f, g): cpu_<op>_{f64,f32,f16,bf16} by f(double so far, double next), f64
 * inside; g(so far, axis) ends it. */
#define CPU_REDUCE_SPAN(op, start, f, g, name, type, load, store)                            \
    static void reduce_##op##_##name(const void *in, void *out, int64_t axis, int64_t inner, \
                                     int64_t count)                                          \
    {                                                                                        \
        double y[CPU_REDUCE_BLOCK];                                                          \
        const type *x = in;                                                                  \
        type *to = out;                                                                      \
        for (int64_t j = 0; j < count; j++)                                                  \
            y[j] = start;                                                                    \
        for (int64_t a = 0; a < axis; a++, x += inner)                                       \
            for (int64_t j = 0; j < count; j++)                                              \
                y[j] = f(y[j], (double)load(x[j]));                                          \
        for (int64_t j = 0; j < count; j++)                                                  \
            to[j] = store(g(y[j], axis));                                                    \
    }                                                                                        \
    CPU_ENTRY(op##_##name)                                                                   \
    {                                                                                        \
        return cpu_run_reduce(launch, reduce_##op##_##name);                                 \
    }
#define CPU_REDUCE(op, start, f, g)                                                      \
    CPU_REDUCE_SPAN(op, start, f, g, f64, double, cpu_reduce_same, cpu_reduce_same)      \
    CPU_REDUCE_SPAN(op, start, f, g, f32, float, cpu_reduce_same, cpu_reduce_f32)        \
    CPU_REDUCE_SPAN(op, start, f, g, f16, uint16_t, assay_f16_to_f32, cpu_reduce_to_f16) \
    CPU_REDUCE_SPAN(op, start, f, g, bf16, uint16_t, assay_bf16_to_f32, cpu_reduce_to_bf16)

#define cpu_reduce_done(y, axis) (y)
#define cpu_reduce_mean(y, axis) ((y) / (double)(axis))

#endif
