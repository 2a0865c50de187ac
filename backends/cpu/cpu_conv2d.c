/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d.c -- convolution without special instructions.
 *
 * A stretch of one line of y is summed in a local array, tap by tap in their order: f64 in f64,
 * others in f32. */
#include "backends/cpu/cpu_conv2d.h"
#include "assay/dtype_inline.h"
#include "runtime/host_team.h"

enum { STRETCH = 256 };

/* line_<name>: line `index` of y, counted over images and channels. */
#define CONVOLUTION(name, type, real, widen, narrow)                                             \
    static void tap_##name(const cpu_conv2d *g, const type *row, real t, int64_t at,             \
                           int64_t count, real *sums)                                            \
    {                                                                                            \
        int64_t from, to;                                                                        \
        cpu_conv2d_inside(at, g->stride_w, g->w, count, &from, &to);                             \
        if (g->stride_w == 1)                                                                    \
            for (int64_t j = from; j < to; j++)                                                  \
                sums[j] += t * widen(row[at + j]);                                               \
        else                                                                                     \
            for (int64_t j = from; j < to; j++)                                                  \
                sums[j] += t * widen(row[at + j * g->stride_w]);                                 \
    }                                                                                            \
    static void stretch_##name(const cpu_conv2d *g, const type *x, const type *filter, type *y,  \
                               int64_t oy, int64_t first, int64_t count)                         \
    {                                                                                            \
        real sums[STRETCH] = {0};                                                                \
        int64_t at = first * g->stride_w - g->pad_w;                                             \
        for (int64_t line = 0; line < g->c * g->r; line++) {                                     \
            int64_t iy = oy * g->stride_h - g->pad_h + line % g->r * g->dil_h;                   \
            const type *row = x + (line / g->r * g->h + iy) * g->w;                              \
            if (iy >= 0 && iy < g->h)                                                            \
                for (int64_t i = 0; i < g->s; i++)                                               \
                    tap_##name(g, row, widen(filter[line * g->s + i]), at + i * g->dil_w, count, \
                               sums);                                                            \
        }                                                                                        \
        for (int64_t j = 0; j < count; j++)                                                      \
            y[first + j] = narrow(sums[j]);                                                      \
    }                                                                                            \
    static void line_##name(const cpu_conv2d *g, int64_t index)                                  \
    {                                                                                            \
        int64_t channel = index / g->oh, part = channel / g->k; /* image and group */            \
        const type *x = (const type *)(const void *)g->x + part * g->c * g->h * g->w;            \
        const type *filter =                                                                     \
            (const type *)(const void *)g->filter + channel % (g->k * g->groups) * g->taps;      \
        type *y = (type *)(void *)g->y + index * g->ow;                                          \
        for (int64_t j = 0; j < g->ow; j += STRETCH)                                             \
            stretch_##name(g, x, filter, y, index % g->oh, j,                                    \
                           g->ow - j < STRETCH ? g->ow - j : STRETCH);                           \
    }                                                                                            \
    CPU_ENTRY(conv2d_##name)                                                                     \
    {                                                                                            \
        return run(launch, line_##name);                                                         \
    }

typedef struct portable {
    cpu_conv2d g;
    void (*line)(const cpu_conv2d *g, int64_t index);
    int64_t lines, parts;
} portable;

static void lines_part(void *cookie, int64_t part)
{
    const portable *p = cookie;
    int64_t from, to;

    cpu_part(p->lines, 1, p->parts, part, &from, &to);
    for (int64_t index = from; index < to; index++)
        p->line(&p->g, index);
}

static assay_status run(const assay_launch *launch,
                        void (*line)(const cpu_conv2d *g, int64_t index))
{
    int threads = cpu_threads(launch);
    portable p = {.line = line};

    cpu_conv2d_read(launch, &p.g);
    if (cpu_conv2d_empty(&p.g))
        return ASSAY_OK;
    p.lines = p.g.n * p.g.groups * p.g.k * p.g.oh;
    p.parts = threads > 1 ? (int64_t)threads * 4 : 1;
    p.parts = p.parts < p.lines ? p.parts : p.lines;
    assay__host_team_run(threads, p.parts, lines_part, &p);
    return ASSAY_OK;
}

#define SAME(x) (x)

CONVOLUTION(f64, double, double, SAME, SAME)
CONVOLUTION(f32, float, float, SAME, SAME)
CONVOLUTION(f16, uint16_t, float, assay_f16_to_f32, assay_f32_to_f16)
CONVOLUTION(bf16, uint16_t, float, assay_bf16_to_f32, assay_f32_to_bf16)
