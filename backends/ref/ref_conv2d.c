/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_conv2d.c -- the reference convolution: windows as columns, then ref_matmul.c.
 *
 * For one image and group, y[k][place] = sum over taps of filter[k][tap] * column[tap][place]; both
 * as doubles, which hold every value of the op's types. So the sum, its bound and its magnitude are
 * those of the reference matmul over k = taps: a tap outside x stands as 0, which adds nothing to
 * any of them, but where the filter is not finite: 0 * inf. Such rows of y are summed anew over the
 * taps inside x alone. */
#include "backends/ref/ref_matmul.h"

#include <stdlib.h>
#include <string.h>

/* Places and filters done at a time, and doubles of columns at most. */
enum { PLACES = 4096, FILTERS = 256, COLUMN_DOUBLES = 4 * 1024 * 1024 };

typedef struct conv {
    const assay_tensor *x, *filter;
    int64_t c, h, w, k, r, s;             /* c, k: of one group */
    int64_t oh, ow, groups, taps, places; /* taps: c r s; places: oh ow */
    int64_t stride[2], pad[2], dilation[2];
} conv;

/* A rectangle of y[image][group]: filters by places. */
typedef struct block {
    int64_t image, group, k0, k1, at0, at1;
} block;

typedef struct room {
    double *filter, *columns, *row, *column; /* the last two: one element's taps inside x */
    assay_wide out;
} room;

static void read_problem(const assay_launch *launch, conv *g)
{
    const assay_problem *p = launch->problem;
    const assay_tensor *y = &launch->operands[2];

    g->x = &launch->operands[0];
    g->filter = &launch->operands[1];
    g->groups = ASSAY__INT(p, conv2d, groups);
    g->c = ASSAY__INT(p, conv2d, c) / g->groups;
    g->k = ASSAY__INT(p, conv2d, k) / g->groups;
    g->h = ASSAY__INT(p, conv2d, h);
    g->w = ASSAY__INT(p, conv2d, w);
    g->r = ASSAY__INT(p, conv2d, r);
    g->s = ASSAY__INT(p, conv2d, s);
    g->stride[0] = ASSAY__INT(p, conv2d, stride_h);
    g->stride[1] = ASSAY__INT(p, conv2d, stride_w);
    g->pad[0] = ASSAY__INT(p, conv2d, pad_h);
    g->pad[1] = ASSAY__INT(p, conv2d, pad_w);
    g->dilation[0] = ASSAY__INT(p, conv2d, dil_h);
    g->dilation[1] = ASSAY__INT(p, conv2d, dil_w);
    g->oh = y->dims[2];
    g->ow = y->dims[3];
    g->taps = g->c * g->r * g->s;
    g->places = g->oh * g->ow;
}

static double at4(const assay_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t offset = a * t->strides[0] + b * t->strides[1] + c * t->strides[2] + d * t->strides[3];
    const char *base = assay_tensor_data(t);

    return assay_load_f64(t->dtype, base + offset * (int64_t)assay_dtype_bytes(t->dtype), 0);
}

/* Where tap `tap` of place `place` lies in x; false: outside. */
static bool locate(const conv *g, int64_t tap, int64_t place, int64_t *y, int64_t *x)
{
    *y = place / g->ow * g->stride[0] - g->pad[0] + tap / g->s % g->r * g->dilation[0];
    *x = place % g->ow * g->stride[1] - g->pad[1] + tap % g->s * g->dilation[1];
    return *y >= 0 && *y < g->h && *x >= 0 && *x < g->w;
}

static double tap_of(const conv *g, const block *b, int64_t tap, int64_t place, bool *inside)
{
    int64_t y, x;

    *inside = locate(g, tap, place, &y, &x);
    return *inside ? at4(g->x, b->image, b->group * g->c + tap / (g->r * g->s), y, x) : 0.0;
}

/* All taps of filter k of the group. */
static void fill_filter(const conv *g, const block *b, int64_t k, double *to)
{
    const assay_tensor *f = g->filter;
    int64_t bytes = (int64_t)assay_dtype_bytes(f->dtype);
    const char *base = assay_tensor_data(f);

    base += (b->group * g->k + k) * f->strides[0] * bytes;
    for (int64_t line = 0; line < g->c * g->r; line++) {
        const char *at = base + (line / g->r * f->strides[1] + line % g->r * f->strides[2]) * bytes;
        for (int64_t i = 0; i < g->s; i++, at += f->strides[3] * bytes)
            *to++ = f->dtype == ASSAY_F32 ? (double)*(const float *)(const void *)at
                                          : assay_load_f64(f->dtype, at, 0);
    }
}

/* Places [at0, at1) as one tap sees them. */
static void fill_tap(const conv *g, const block *b, int64_t tap, double *to)
{
    const assay_tensor *x = g->x;
    int64_t bytes = (int64_t)assay_dtype_bytes(x->dtype);
    int64_t channel = b->group * g->c + tap / (g->r * g->s);
    const char *image = (const char *)assay_tensor_data(x) +
                        (b->image * x->strides[0] + channel * x->strides[1]) * bytes;
    int64_t dy = tap / g->s % g->r * g->dilation[0] - g->pad[0];
    int64_t dx = tap % g->s * g->dilation[1] - g->pad[1];
    int64_t oy = b->at0 / g->ow, ox = b->at0 % g->ow;

    for (int64_t j = 0; j < b->at1 - b->at0; j++) {
        int64_t iy = oy * g->stride[0] + dy, ix = ox * g->stride[1] + dx;
        const char *at = image + (iy * x->strides[2] + ix * x->strides[3]) * bytes;
        if (iy < 0 || iy >= g->h || ix < 0 || ix >= g->w)
            to[j] = 0.0;
        else if (x->dtype == ASSAY_F32)
            to[j] = (double)*(const float *)(const void *)at;
        else
            to[j] = assay_load_f64(x->dtype, at, 0);
        if (++ox == g->ow) {
            ox = 0;
            oy++;
        }
    }
}

static void fill_room(const conv *g, const block *b, unsigned threads, room *m)
{
    int64_t wide = b->at1 - b->at0;

#pragma omp parallel for num_threads(threads) if (g->taps * wide > 65536)
    for (int64_t tap = 0; tap < g->taps; tap++)
        fill_tap(g, b, tap, m->columns + tap * wide);
    for (int64_t k = b->k0; k < b->k1; k++)
        fill_filter(g, b, k, m->filter + (k - b->k0) * g->taps);
}

static assay_tensor matrix(double *data, int64_t rows, int64_t cols)
{
    return (assay_tensor){.buffer.at.host = data,
                          .dtype = ASSAY_F64,
                          .rank = 3,
                          .dims = {1, rows, cols},
                          .strides = {rows * cols, cols, 1}};
}

/* Filter k at `place`, over the taps inside x alone. */
static ref_sum without_outside(const conv *g, const block *b, const assay_tensor *y, room *m,
                               int64_t k, int64_t place)
{
    int64_t used = 0;

    for (int64_t tap = 0; tap < g->taps; tap++) {
        bool inside;
        m->column[used] = tap_of(g, b, tap, place, &inside);
        m->row[used] = m->filter[(k - b->k0) * g->taps + tap];
        used += inside;
    }
    assay_tensor row = matrix(m->row, 1, used), column = matrix(m->column, used, 1);
    ref_matmul one = {
        .a = &row, .b = &column, .c = y, .m = 1, .n = 1, .k = used, .alpha = 1.0, .beta = 0.0};
    return ref_matmul_exact(&one, 0, 0, 0);
}

static bool all_finite(const double *x, int64_t n)
{
    bool finite = true;

    for (int64_t i = 0; i < n; i++)
        finite = finite && isfinite(x[i]);
    return finite;
}

static void mend_borders(const conv *g, const block *b, const assay_tensor *y, room *m)
{
    int64_t wide = b->at1 - b->at0;

    if (g->pad[0] == 0 && g->pad[1] == 0)
        return;
    for (int64_t k = b->k0; k < b->k1; k++) {
        if (all_finite(m->filter + (k - b->k0) * g->taps, g->taps))
            continue;
        for (int64_t place = b->at0; place < b->at1; place++) {
            int64_t at = (k - b->k0) * wide + place - b->at0;
            ref_sum sum = without_outside(g, b, y, m, k, place);
            ref_put(&m->out, at, sum.value, sum.bound);
            m->out.magnitude[at] = sum.magnitude;
        }
    }
}

static void copy_out(const conv *g, const block *b, const room *m, const assay_wide *out)
{
    int64_t wide = b->at1 - b->at0;

    for (int64_t k = b->k0; k < b->k1; k++)
        for (int64_t place = b->at0; place < b->at1; place++) {
            int64_t from = (k - b->k0) * wide + place - b->at0;
            int64_t row = (b->image * g->groups + b->group) * g->k + k;
            int64_t to = row * g->places + place - out->first;
            ref_put(out, to, (ref_dd){m->out.hi[from], m->out.lo[from]}, m->out.bound[from]);
            if (out->magnitude != NULL)
                out->magnitude[to] = m->out.magnitude[from];
        }
}

static assay_status run_block(const conv *g, const block *b, const assay_tensor *y,
                              unsigned threads, const assay_wide *out)
{
    int64_t rows = b->k1 - b->k0, wide = b->at1 - b->at0, cells = rows * wide;
    size_t doubles = (size_t)(rows * g->taps + wide * g->taps + 2 * g->taps + 4 * cells);
    double *memory = malloc((doubles + 1) * sizeof *memory);
    room m = {.filter = memory};

    if (memory == NULL)
        return ASSAY_NOMEM;
    m.columns = m.filter + rows * g->taps;
    m.row = m.columns + wide * g->taps;
    m.column = m.row + g->taps;
    m.out = (assay_wide){.hi = m.column + g->taps, .first = 0, .count = cells};
    m.out.lo = m.out.hi + cells;
    m.out.bound = m.out.lo + cells;
    m.out.magnitude = m.out.bound + cells;
    fill_room(g, b, threads, &m);
    assay_tensor filter = matrix(m.filter, rows, g->taps);
    assay_tensor columns = matrix(m.columns, g->taps, wide);
    ref_matmul product = {.a = &filter,
                          .b = &columns,
                          .c = y,
                          .m = rows,
                          .n = wide,
                          .k = g->taps,
                          .alpha = 1.0,
                          .beta = 0.0};
    assay_status status = ref_matmul_wide(&product, threads, &m.out);
    if (status == ASSAY_OK) {
        mend_borders(g, b, y, &m);
        copy_out(g, b, &m, out);
    }
    free(memory);
    return status;
}

/* A rectangle of any size, in blocks whose columns fit the room. */
static assay_status run_blocks(const conv *g, const block *whole, const assay_tensor *y,
                               unsigned threads, const assay_wide *out)
{
    int64_t fit = g->taps > 0 ? COLUMN_DOUBLES / g->taps : PLACES;
    int64_t step = fit < 16 ? 16 : fit > PLACES ? PLACES : fit;

    for (int64_t at = whole->at0; at < whole->at1; at += step)
        for (int64_t k = whole->k0; k < whole->k1; k += FILTERS) {
            block b = *whole;
            b.at0 = at;
            b.at1 = at + step < whole->at1 ? at + step : whole->at1;
            b.k0 = k;
            b.k1 = k + FILTERS < whole->k1 ? k + FILTERS : whole->k1;
            ASSAY_TRY(run_block(g, &b, y, threads, out));
        }
    return ASSAY_OK;
}

/* Rows of y, [from, to) counted over all images and filters: of one group and image at a time. */
static assay_status run_rows(const conv *g, const assay_tensor *y, unsigned threads, int64_t from,
                             int64_t to, const assay_wide *out)
{
    while (from < to) {
        int64_t plane = from / g->k, end = (plane + 1) * g->k < to ? (plane + 1) * g->k : to;
        block b = {plane / g->groups, plane % g->groups, from - plane * g->k, end - plane * g->k, 0,
                   g->places};
        ASSAY_TRY(run_blocks(g, &b, y, threads, out));
        from = end;
    }
    return ASSAY_OK;
}

/* Places [at0, at1) of one row of y. */
static assay_status run_part(const conv *g, const assay_tensor *y, unsigned threads, int64_t row,
                             int64_t at0, int64_t at1, const assay_wide *out)
{
    int64_t plane = row / g->k, k = row % g->k;
    block b = {plane / g->groups, plane % g->groups, k, k + 1, at0, at1};

    return run_blocks(g, &b, y, threads, out);
}

REF_OP(conv2d, 1 << 18)
{
    const assay_tensor *y = &launch->operands[2];
    conv g;

    read_problem(launch, &g);
    if (out->count == 0)
        return ASSAY_OK;
    int64_t end = out->first + out->count, row = out->first / g.places, last = end / g.places;
    if (row == last)
        return run_part(&g, y, threads, row, out->first % g.places, end % g.places, out);
    if (out->first % g.places != 0) {
        ASSAY_TRY(run_part(&g, y, threads, row, out->first % g.places, g.places, out));
        row++;
    }
    ASSAY_TRY(run_rows(&g, y, threads, row, last, out));
    return end % g.places == 0 ? ASSAY_OK : run_part(&g, y, threads, last, 0, end % g.places, out);
}
