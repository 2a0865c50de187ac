/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_backward_data.c -- the gradient by x without special instructions.
 *
 * A line of a channel of x is summed in a local array, in the order of k, r, s: f64 in f64, others
 * in f32. */
#include <stdatomic.h>
#include <stdlib.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu_conv2d_back.h"
#include "runtime/host_team.h"

typedef struct portable {
    cpu_conv2d g;
    bool (*plane)(const cpu_conv2d *g, int64_t index);
    int64_t planes, parts;
    atomic_bool failed; /* no memory */
} portable;

static void planes_part(void *cookie, int64_t part)
{
    portable *p = cookie;
    int64_t from, to;

    cpu_part(p->planes, 1, p->parts, part, &from, &to);
    for (int64_t index = from; index < to; index++)
        if (!p->plane(&p->g, index))
            atomic_store_explicit(&p->failed, true, memory_order_relaxed);
}

static assay_status run(const assay_launch *launch,
                        bool (*plane)(const cpu_conv2d *g, int64_t index))
{
    int threads = cpu_threads(launch);
    portable p = {.plane = plane};

    cpu_conv2d_back_read(launch, 2, 1, 0, &p.g);
    p.planes = p.g.n * p.g.groups * p.g.c;
    if (p.planes == 0 || p.g.h == 0 || p.g.w == 0)
        return ASSAY_OK;
    p.parts = threads > 1 ? (int64_t)threads * 4 : 1;
    p.parts = p.parts < p.planes ? p.parts : p.planes;
    atomic_init(&p.failed, false);
    assay__host_team_run(threads, p.parts, planes_part, &p);
    return atomic_load(&p.failed) ? ASSAY_NOMEM : ASSAY_OK;
}

/* line_<name>: sums of line `iy` of a channel of x. plane_<name>: channel `index`, counted over
 * images. */
#define GRADIENT(name, type, real, widen, narrow)                                                \
    static void tap_##name(const cpu_conv2d *g, const type *row, real t, int64_t at, real *sums) \
    {                                                                                            \
        int64_t from, to;                                                                        \
        cpu_conv2d_inside(at, g->stride_w, g->w, g->ow, &from, &to);                             \
        for (int64_t q = from; q < to; q++)                                                      \
            sums[at + q * g->stride_w] += t * widen(row[q]);                                     \
    }                                                                                            \
    static void line_##name(const cpu_conv2d *g, const type *filter, const type *y, int64_t iy,  \
                            real *sums)                                                          \
    {                                                                                            \
        for (int64_t i = 0; i < g->k * g->r; i++) {                                              \
            int64_t k = i / g->r, r = i % g->r, way = iy + g->pad_h - r * g->dil_h;              \
            if (way < 0 || way % g->stride_h != 0 || way / g->stride_h >= g->oh)                 \
                continue;                                                                        \
            const type *row = y + (k * g->oh + way / g->stride_h) * g->ow;                       \
            for (int64_t s = 0; s < g->s; s++)                                                   \
                tap_##name(g, row, widen(filter[k * g->taps + r * g->s + s]),                    \
                           s * g->dil_w - g->pad_w, sums);                                       \
        }                                                                                        \
    }                                                                                            \
    static bool plane_##name(const cpu_conv2d *g, int64_t index)                                 \
    {                                                                                            \
        int64_t part = index / g->c, group = part % g->groups; /* image and group */             \
        const type *y = (const type *)(const void *)g->y + part * g->k * g->oh * g->ow;          \
        const type *filter = (const type *)(const void *)g->filter + group * g->k * g->taps +    \
                             index % g->c * g->r * g->s;                                         \
        type *x = (type *)(void *)(uintptr_t)g->x + index * g->h * g->w;                         \
        real *sums = malloc((size_t)g->w * sizeof *sums);                                        \
        if (sums == NULL)                                                                        \
            return false;                                                                        \
        for (int64_t iy = 0; iy < g->h; iy++) {                                                  \
            for (int64_t j = 0; j < g->w; j++)                                                   \
                sums[j] = 0;                                                                     \
            line_##name(g, filter, y, iy, sums);                                                 \
            for (int64_t j = 0; j < g->w; j++)                                                   \
                x[iy * g->w + j] = narrow(sums[j]);                                              \
        }                                                                                        \
        free(sums);                                                                              \
        return true;                                                                             \
    }                                                                                            \
    CPU_ENTRY(conv2d_backward_data_##name)                                                       \
    {                                                                                            \
        return run(launch, plane_##name);                                                        \
    }

#define SAME(v) (v)

GRADIENT(f64, double, double, SAME, SAME)
GRADIENT(f32, float, float, SAME, SAME)
GRADIENT(f16, uint16_t, float, assay_f16_to_f32, assay_f32_to_f16)
GRADIENT(bf16, uint16_t, float, assay_bf16_to_f32, assay_f32_to_bf16)
