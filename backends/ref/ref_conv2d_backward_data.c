/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_conv2d_backward_data.c -- the reference gradient by x: for one image and group,
 * rows are channels, places those of x, and a tap (k, r, s) is absent where no y saw the place by
 * it. */
#include "backends/ref/ref_columns.h"

static double filter_of(const ref_conv *g, int64_t plane, int64_t c, int64_t tap)
{
    int64_t k = plane % g->groups * g->k + tap / (g->r * g->s);

    return ref_at4(g->in[1], k, c, tap / g->s % g->r, tap % g->s);
}

/* The line of y that saw line `at` of x by tap `tap`; false: none did. */
static bool seen_from(const ref_conv *g, int axis, int64_t at, int64_t tap, int64_t extent,
                      int64_t *from)
{
    int64_t way = at + g->pad[axis] - tap * g->dilation[axis];

    *from = way / g->stride[axis];
    return way >= 0 && way % g->stride[axis] == 0 && *from < extent;
}

static bool gradient_of(const ref_conv *g, int64_t plane, int64_t tap, int64_t place, double *value)
{
    int64_t k = plane % g->groups * g->k + tap / (g->r * g->s), p, q;

    if (!seen_from(g, 0, place / g->w, tap / g->s % g->r, g->oh, &p) ||
        !seen_from(g, 1, place % g->w, tap % g->s, g->ow, &q))
        return false;
    *value = ref_at4(g->in[0], plane / g->groups, k, p, q);
    return true;
}

REF_OP(conv2d_backward_data, 1 << 18)
{
    ref_columns g = {.first = filter_of, .second = gradient_of};

    ref_conv_read(launch, &launch->operands[0], &g.g);
    g.rows = g.g.c;
    g.taps = g.g.k * g.g.r * g.g.s;
    g.places = g.g.h * g.g.w;
    return ref_columns_wide(&g, &launch->operands[2], threads, out);
}
