/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_lines.h -- ops along the middle of three extents: a line is x[o][.][i].
 *
 * CPU_LINES(stem, f) defines cpu_<stem>_{f64,f32,f16,bf16} from void f(double *line, int64_t n),
 * which works in place on a line in f64; every result is rounded once more. */
#ifndef ASSAY_BACKENDS_CPU_LINES_H
#define ASSAY_BACKENDS_CPU_LINES_H

#include <stdlib.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu.h"
#include "runtime/host_team.h"

/* Lines [from, to), counted over all lanes of all blocks.  false: no memory. */
typedef bool (*cpu_lines_fn)(const void *x, void *y, int64_t from, int64_t to, int64_t axis,
                             int64_t inner);

typedef struct cpu_lines_job {
    const void *x;
    void *y;
    int64_t lines, axis, inner, parts;
    bool failed; /* atomic */
    cpu_lines_fn fn;
} cpu_lines_job;

static inline void cpu_lines_part(void *cookie, int64_t part)
{
    cpu_lines_job *j = cookie;
    int64_t from, to;

    cpu_part(j->lines, 1, j->parts, part, &from, &to);
    if (!j->fn(j->x, j->y, from, to, j->axis, j->inner))
        __atomic_store_n(&j->failed, true, __ATOMIC_RELAXED);
}

static inline assay_status cpu_run_lines(const assay_launch *launch, cpu_lines_fn fn)
{
    const assay_tensor *t = &launch->operands[1];
    int threads = cpu_threads(launch);
    cpu_lines_job job = {.x = assay_tensor_data(&launch->operands[0]),
                         .y = assay_tensor_data(t),
                         .lines = t->dims[0] * t->dims[2],
                         .axis = t->dims[1],
                         .inner = t->dims[2],
                         .fn = fn};

    if (job.lines == 0 || job.axis == 0)
        return ASSAY_OK;
    job.parts = threads > 1 ? (int64_t)threads * 4 : 1;
    job.parts = job.parts < job.lines ? job.parts : job.lines;
    assay__host_team_run(threads, job.parts, cpu_lines_part, &job);
    return __atomic_load_n(&job.failed, __ATOMIC_RELAXED) ? ASSAY_NOMEM : ASSAY_OK;
}

#define CPU_LINES_SPAN(stem, f, name, type, load, store)                                   \
    static bool lines_##stem##_##name(const void *in, void *out, int64_t from, int64_t to, \
                                      int64_t axis, int64_t inner)                         \
    {                                                                                      \
        double *line = malloc((size_t)axis * sizeof *line);                                \
        if (line == NULL)                                                                  \
            return false;                                                                  \
        for (int64_t l = from; l < to; l++) {                                              \
            int64_t first = l / inner * axis * inner + l % inner;                          \
            const type *x = (const type *)in + first;                                      \
            type *y = (type *)out + first;                                                 \
            for (int64_t i = 0; i < axis; i++)                                             \
                line[i] = (double)load(x[i * inner]);                                      \
            f(line, axis);                                                                 \
            for (int64_t i = 0; i < axis; i++)                                             \
                y[i * inner] = store(line[i]);                                             \
        }                                                                                  \
        free(line);                                                                        \
        return true;                                                                       \
    }                                                                                      \
    CPU_ENTRY(stem##_##name)                                                               \
    {                                                                                      \
        return cpu_run_lines(launch, lines_##stem##_##name);                               \
    }

#define cpu_line_same(v)     (v)
#define cpu_line_to_float(v) ((float)(v))
#define cpu_line_to_f16(v)   assay_f32_to_f16((float)(v))
#define cpu_line_to_bf16(v)  assay_f32_to_bf16((float)(v))

#define CPU_LINES(stem, f)                                                    \
    CPU_LINES_SPAN(stem, f, f64, double, cpu_line_same, cpu_line_same)        \
    CPU_LINES_SPAN(stem, f, f32, float, cpu_line_same, cpu_line_to_float)     \
    CPU_LINES_SPAN(stem, f, f16, uint16_t, assay_f16_to_f32, cpu_line_to_f16) \
    CPU_LINES_SPAN(stem, f, bf16, uint16_t, assay_bf16_to_f32, cpu_line_to_bf16)

/* The largest element; a NaN comes in with the sum. */
static inline double cpu_line_max(const double *line, int64_t n)
{
    double max = -(double)__builtin_inf();

    for (int64_t i = 0; i < n; i++)
        max = line[i] > max ? line[i] : max;
    return max;
}

#endif
