/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_conv2d_backward_filter.c -- the reference gradient by the filter: for one group,
 * rows are channels of y, places the taps of a filter, and the sum runs over all elements of y of a
 * channel; absent is what a tap sees outside x. */
#include "backends/ref/ref_columns.h"

static double gradient_of(const ref_conv *g, int64_t group, int64_t k, int64_t at)
{
    int64_t plane = g->oh * g->ow;

    return ref_at4(g->in[1], at / plane, group * g->k + k, at % plane / g->ow, at % g->ow);
}

static bool seen_of_x(const ref_conv *g, int64_t group, int64_t at, int64_t tap, double *value)
{
    int64_t plane = g->oh * g->ow, c = group * g->c + tap / (g->r * g->s);
    int64_t y = at % plane / g->ow * g->stride[0] - g->pad[0] + tap / g->s % g->r * g->dilation[0];
    int64_t x = at % g->ow * g->stride[1] - g->pad[1] + tap % g->s * g->dilation[1];

    if (y < 0 || y >= g->h || x < 0 || x >= g->w)
        return false;
    *value = ref_at4(g->in[0], at / plane, c, y, x);
    return true;
}

REF_OP(conv2d_backward_filter, 1 << 18)
{
    ref_columns g = {.first = gradient_of, .second = seen_of_x};

    ref_conv_read(launch, &launch->operands[1], &g.g);
    g.rows = g.g.k;
    g.taps = g.g.n * g.g.oh * g.g.ow;
    g.places = g.g.c * g.g.r * g.g.s;
    return ref_columns_wide(&g, &launch->operands[2], threads, out);
}
