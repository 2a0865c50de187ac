/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_direct_avx2.c -- convolution on a padded copy of x, without columns.
 *
 * The lines of a padded image lie one behind another; for a stride of one, place (oy, ox) of y is
 * number oy * columns + ox there, and the tap (c, r, s) of all places is the same distance away. So
 * 16 places in a row (f64: 8) times six filters are a tile of a matrix product whose second operand
 * is read where it lies, over the ends of lines too: the places between lines are dropped. Greater
 * strides: the copy holds every stride-th line and column for each remainder that a tap has, and
 * the same is true in each of these planes. Products are summed in the order of taps in blocks of
 * KC, whatever the thread count. f16 and bf16 are widened by the copy, summed in f32 and rounded
 * once. */
#include <stdatomic.h>

#include "backends/cpu/cpu_conv2d.h"

/* BLOCK: places done for one strip of filters before the next. COPY_BYTES: of padded images. */
enum { KC = 256, BLOCK = 512, TAPS_MAX = 64, COPY_BYTES = 8 * 1024 * 1024 };

typedef struct shape {
    int64_t phase_h[TAPS_MAX], phase_w[TAPS_MAX]; /* remainders of taps by the stride */
    int64_t phases_h, phases_w;
    int64_t lines, columns, channel; /* of a plane; elements of all planes of a channel */
    int64_t places;                  /* of a plane, from the first of y to the last */
    int64_t blocks, shares, images;  /* of places; of filters; copied at a time */
} shape;

/* Numbers of the different remainders; how far the taps reach in a plane. */
static int64_t find_phases(int64_t taps, int64_t dilation, int64_t stride, int64_t *phases)
{
    int64_t n = 0;

    for (int64_t tap = 0; tap < taps; tap++) {
        int64_t phase = tap * dilation % stride, i = 0;
        while (i < n && phases[i] != phase)
            i++;
        if (i == n)
            phases[n++] = phase;
    }
    return n;
}

static int64_t phase_number(const int64_t *phases, int64_t phase)
{
    int64_t i = 0;

    while (phases[i] != phase)
        i++;
    return i;
}

static void plan(const cpu_conv2d *g, int threads, size_t real_bytes, shape *s)
{
    s->phases_h = find_phases(g->r, g->dil_h, g->stride_h, s->phase_h);
    s->phases_w = find_phases(g->s, g->dil_w, g->stride_w, s->phase_w);
    s->lines = g->oh + (g->r - 1) * g->dil_h / g->stride_h;
    s->columns = g->ow + (g->s - 1) * g->dil_w / g->stride_w;
    s->channel = s->phases_h * s->phases_w * s->lines * s->columns;
    s->places = (g->oh - 1) * s->columns + g->ow;
    s->blocks = (s->places + BLOCK - 1) / BLOCK;
    int64_t fit = COPY_BYTES / (g->groups * g->c * s->channel * (int64_t)real_bytes);
    s->images = fit < 1 ? 1 : fit < g->n ? fit : g->n;
    /* Some items a thread; all strips of one item find the block of x in the second cache. */
    int64_t items = s->images * g->groups * s->blocks, strips = (g->k + 5) / 6;
    s->shares = threads > 1 && items < 4 * (int64_t)threads ? 4 * (int64_t)threads / items : 1;
    s->shares = s->shares < strips ? s->shares : strips;
}

static void fill_offsets(const cpu_conv2d *g, const shape *s, int64_t *offsets)
{
    int64_t plane = s->lines * s->columns;

    for (int64_t c = 0; c < g->c; c++)
        for (int64_t r = 0; r < g->r; r++)
            for (int64_t i = 0; i < g->s; i++) {
                int64_t dy = r * g->dil_h, dx = i * g->dil_w;
                int64_t v = phase_number(s->phase_h, dy % g->stride_h);
                int64_t u = phase_number(s->phase_w, dx % g->stride_w);
                *offsets++ = c * s->channel + (v * s->phases_w + u) * plane +
                             dy / g->stride_h * s->columns + dx / g->stride_w;
            }
}

#define TAP(r, row)                      \
    f = OP(broadcast)(row + p);          \
    c##r##0 = OP(fmadd)(f, b0, c##r##0); \
    c##r##1 = OP(fmadd)(f, b1, c##r##1)

#define PRODUCT_TYPE 64
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_direct_body_avx2.h"

#define PRODUCT_TYPE 32
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_direct_body_avx2.h"

#define PRODUCT_TYPE 16
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_direct_body_avx2.h"

#define PRODUCT_TYPE 17
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_direct_body_avx2.h"

CPU_ENTRY(conv2d_direct_avx2_f64)
{
    return run_f64(launch);
}

CPU_ENTRY(conv2d_direct_avx2_f32)
{
    return run_f32(launch);
}

CPU_ENTRY(conv2d_direct_avx2_f16)
{
    return run_f16(launch);
}

CPU_ENTRY(conv2d_direct_avx2_bf16)
{
    return run_bf16(launch);
}
