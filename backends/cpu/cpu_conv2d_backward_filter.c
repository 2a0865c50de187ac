/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_backward_filter.c -- the gradient by the filter without special
 * instructions.
 *
 * Sums run over images, lines and columns of y in this order: f64 in f64, others in f32. */
#include "assay/dtype_inline.h"
#include "backends/cpu/cpu_conv2d_back.h"
#include "runtime/host_team.h"

typedef struct portable {
    cpu_conv2d g;
    void (*tap)(const cpu_conv2d *g, int64_t index);
    int64_t taps, parts;
} portable;

static void taps_part(void *cookie, int64_t part)
{
    const portable *p = cookie;
    int64_t from, to;

    cpu_part(p->taps, 1, p->parts, part, &from, &to);
    for (int64_t index = from; index < to; index++)
        p->tap(&p->g, index);
}

static assay_status run(const assay_launch *launch, void (*tap)(const cpu_conv2d *g, int64_t index))
{
    int threads = cpu_threads(launch);
    portable p = {.tap = tap};

    cpu_conv2d_back_read(launch, 0, 2, 1, &p.g);
    p.taps = p.g.groups * p.g.k * p.g.taps;
    if (p.taps == 0)
        return ASSAY_OK;
    p.parts = threads > 1 ? (int64_t)threads * 4 : 1;
    p.parts = p.parts < p.taps ? p.parts : p.taps;
    assay__host_team_run(threads, p.parts, taps_part, &p);
    return ASSAY_OK;
}

/* tap_<name>: element `index` of the gradient. */
#define GRADIENT(name, type, real, widen, narrow)                                            \
    static real line_##name(const cpu_conv2d *g, const type *row, const type *y, int64_t at, \
                            real sum)                                                        \
    {                                                                                        \
        int64_t from, to;                                                                    \
        cpu_conv2d_inside(at, g->stride_w, g->w, g->ow, &from, &to);                         \
        for (int64_t q = from; q < to; q++)                                                  \
            sum += widen(y[q]) * widen(row[at + q * g->stride_w]);                           \
        return sum;                                                                          \
    }                                                                                        \
    static void tap_##name(const cpu_conv2d *g, int64_t index)                               \
    {                                                                                        \
        int64_t k = index / g->taps, c = k / g->k * g->c + index % g->taps / (g->r * g->s);  \
        int64_t r = index / g->s % g->r, s = index % g->s;                                   \
        const type *all_x = (const type *)(const void *)g->x;                                \
        const type *all_y = (const type *)(const void *)g->y;                                \
        real sum = 0;                                                                        \
        for (int64_t i = 0; i < g->n * g->oh; i++) {                                         \
            int64_t image = i / g->oh, p = i % g->oh;                                        \
            int64_t iy = p * g->stride_h - g->pad_h + r * g->dil_h;                          \
            const type *x = all_x + ((image * g->groups * g->c + c) * g->h + iy) * g->w;     \
            const type *y = all_y + ((image * g->groups * g->k + k) * g->oh + p) * g->ow;    \
            if (iy >= 0 && iy < g->h)                                                        \
                sum = line_##name(g, x, y, s * g->dil_w - g->pad_w, sum);                    \
        }                                                                                    \
        ((type *)(void *)(uintptr_t)g->filter)[index] = narrow(sum);                         \
    }                                                                                        \
    CPU_ENTRY(conv2d_backward_filter_##name)                                                 \
    {                                                                                        \
        return run(launch, tap_##name);                                                      \
    }

#define SAME(v) (v)

GRADIENT(f64, double, double, SAME, SAME)
GRADIENT(f32, float, float, SAME, SAME)
GRADIENT(f16, uint16_t, float, assay_f16_to_f32, assay_f32_to_f16)
GRADIENT(bf16, uint16_t, float, assay_bf16_to_f32, assay_f32_to_bf16)
