/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d.h -- a convolution launch as numbers, all operands contiguous. */
#ifndef ASSAY_BACKENDS_CPU_CONV2D_H
#define ASSAY_BACKENDS_CPU_CONV2D_H

#include "backends/cpu/cpu.h"

typedef struct cpu_conv2d {
    const char *x, *filter;
    char *y;
    int64_t n, groups, h, w, r, s, oh, ow;
    int64_t c, k, taps; /* of one group; taps: c r s, products a sum */
    int64_t stride_h, stride_w, pad_h, pad_w, dil_h, dil_w;
} cpu_conv2d;

static inline void cpu_conv2d_read(const assay_launch *launch, cpu_conv2d *g)
{
    const assay_problem *p = launch->problem;
    const assay_tensor *y = &launch->operands[2];

    g->x = assay_tensor_data(&launch->operands[0]);
    g->filter = assay_tensor_data(&launch->operands[1]);
    g->y = assay_tensor_data(y);
    g->groups = ASSAY__INT(p, conv2d, groups);
    g->n = ASSAY__INT(p, conv2d, n);
    g->c = ASSAY__INT(p, conv2d, c) / g->groups;
    g->k = ASSAY__INT(p, conv2d, k) / g->groups;
    g->h = ASSAY__INT(p, conv2d, h);
    g->w = ASSAY__INT(p, conv2d, w);
    g->r = ASSAY__INT(p, conv2d, r);
    g->s = ASSAY__INT(p, conv2d, s);
    g->stride_h = ASSAY__INT(p, conv2d, stride_h);
    g->stride_w = ASSAY__INT(p, conv2d, stride_w);
    g->pad_h = ASSAY__INT(p, conv2d, pad_h);
    g->pad_w = ASSAY__INT(p, conv2d, pad_w);
    g->dil_h = ASSAY__INT(p, conv2d, dil_h);
    g->dil_w = ASSAY__INT(p, conv2d, dil_w);
    g->oh = y->dims[2];
    g->ow = y->dims[3];
    g->taps = g->c * g->r * g->s;
}

static inline bool cpu_conv2d_empty(const cpu_conv2d *g)
{
    return g->n == 0 || g->k == 0 || g->oh == 0 || g->ow == 0;
}

/* Of places first, first + 1, ... of a line that starts at `at` in x: those inside [0, w). */
static inline void cpu_conv2d_inside(int64_t at, int64_t stride, int64_t w, int64_t count,
                                     int64_t *from, int64_t *to)
{
    int64_t end = w > at ? (w - at + stride - 1) / stride : 0;

    *from = at < 0 ? (stride - 1 - at) / stride : 0;
    *to = end < count ? end : count;
    *from = *from < *to ? *from : *to;
}

/* Whether each tap of a place lies inside x. */
static inline bool cpu_conv2d_whole(const cpu_conv2d *g, int64_t oy, int64_t ox)
{
    int64_t y = oy * g->stride_h - g->pad_h, x = ox * g->stride_w - g->pad_w;

    return y >= 0 && x >= 0 && y + (g->r - 1) * g->dil_h < g->h && x + (g->s - 1) * g->dil_w < g->w;
}

#endif
