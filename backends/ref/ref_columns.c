/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_columns.c -- blocks of rows and places by ref_matmul.c, whose bounds and
 * magnitudes are those of the sums.
 *
 * An absent factor stands as 0, which adds nothing, but where the other one is not finite: such
 * rows are summed anew over what is there alone. */
#include "backends/ref/ref_columns.h"

#include <stdlib.h>

#include "backends/ref/ref_matmul.h"

/* Doubles of either factor in a block, and places or rows of it, at most. */
enum { FACTOR_DOUBLES = 4 * 1024 * 1024, EDGE_MIN = 16, EDGE_MAX = 512 };

typedef struct block {
    int64_t plane, row0, row1, at0, at1;
} block;

typedef struct room {
    double *first, *second, *row, *column; /* the last two: one element's products */
    assay_wide out;
} room;

/* Both gradients have the parameters of conv2d in its order. */
void ref_conv_read(const assay_launch *launch, const assay_tensor *y, ref_conv *g)
{
    const assay_problem *p = launch->problem;

    g->in[0] = &launch->operands[0];
    g->in[1] = &launch->operands[1];
    g->groups = ASSAY__INT(p, conv2d, groups);
    g->n = ASSAY__INT(p, conv2d, n);
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
}

double ref_at4(const assay_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t offset = a * t->strides[0] + b * t->strides[1] + c * t->strides[2] + d * t->strides[3];
    const char *base = assay_tensor_data(t);

    return assay_load_f64(t->dtype, base + offset * (int64_t)assay_dtype_bytes(t->dtype), 0);
}

static void fill(const ref_columns *g, const block *b, unsigned threads, room *m)
{
    int64_t rows = b->row1 - b->row0, wide = b->at1 - b->at0;

#pragma omp parallel num_threads(threads) if (g->taps * (wide + rows) > 65536)
    {
#pragma omp for
        for (int64_t tap = 0; tap < g->taps; tap++)
            for (int64_t i = 0; i < wide; i++)
                if (!g->second(&g->g, b->plane, tap, b->at0 + i, &m->second[tap * wide + i]))
                    m->second[tap * wide + i] = 0.0;
#pragma omp for
        for (int64_t i = 0; i < rows; i++)
            for (int64_t tap = 0; tap < g->taps; tap++)
                m->first[i * g->taps + tap] = g->first(&g->g, b->plane, b->row0 + i, tap);
    }
}

static assay_tensor matrix(double *data, int64_t rows, int64_t cols)
{
    return (assay_tensor){.buffer.at.host = data,
                          .dtype = ASSAY_F64,
                          .rank = 3,
                          .dims = {1, rows, cols},
                          .strides = {rows * cols, cols, 1}};
}

static ref_matmul product_of(const assay_tensor *a, const assay_tensor *b, const assay_tensor *c,
                             int64_t m, int64_t n, int64_t k)
{
    return (ref_matmul){.a = a, .b = b, .c = c, .m = m, .n = n, .k = k, .alpha = 1.0, .beta = 0.0};
}

static ref_sum without_absent(const ref_columns *g, const block *b, const assay_tensor *y, room *m,
                              int64_t row, int64_t place)
{
    int64_t used = 0;

    for (int64_t tap = 0; tap < g->taps; tap++) {
        bool there = g->second(&g->g, b->plane, tap, place, &m->column[used]);
        m->row[used] = m->first[(row - b->row0) * g->taps + tap];
        used += there;
    }
    assay_tensor line = matrix(m->row, 1, used), column = matrix(m->column, used, 1);
    ref_matmul one = product_of(&line, &column, y, 1, 1, used);
    return ref_matmul_exact(&one, 0, 0, 0);
}

static bool all_finite(const double *x, int64_t n)
{
    bool finite = true;

    for (int64_t i = 0; i < n; i++)
        finite = finite && isfinite(x[i]);
    return finite;
}

static void mend(const ref_columns *g, const block *b, const assay_tensor *y, room *m)
{
    int64_t wide = b->at1 - b->at0;

    for (int64_t row = b->row0; row < b->row1; row++) {
        if (all_finite(m->first + (row - b->row0) * g->taps, g->taps))
            continue;
        for (int64_t place = b->at0; place < b->at1; place++) {
            int64_t at = (row - b->row0) * wide + place - b->at0;
            ref_sum sum = without_absent(g, b, y, m, row, place);
            ref_put(&m->out, at, sum.value, sum.bound);
            m->out.magnitude[at] = sum.magnitude;
        }
    }
}

static void copy_out(const ref_columns *g, const block *b, const room *m, const assay_wide *out)
{
    int64_t wide = b->at1 - b->at0;

    for (int64_t row = b->row0; row < b->row1; row++)
        for (int64_t place = b->at0; place < b->at1; place++) {
            int64_t from = (row - b->row0) * wide + place - b->at0;
            int64_t to = (b->plane * g->rows + row) * g->places + place - out->first;
            if (to < 0 || to >= out->count)
                continue;
            ref_put(out, to, (ref_dd){m->out.hi[from], m->out.lo[from]}, m->out.bound[from]);
            if (out->magnitude != NULL)
                out->magnitude[to] = m->out.magnitude[from];
        }
}

static assay_status run_block(const ref_columns *g, const block *b, const assay_tensor *y,
                              unsigned threads, const assay_wide *out)
{
    int64_t rows = b->row1 - b->row0, wide = b->at1 - b->at0, cells = rows * wide;
    size_t doubles = (size_t)((rows + wide + 2) * g->taps + 2 + 4 * cells);
    double *memory = malloc(doubles * sizeof *memory);
    room m = {.first = memory};

    if (memory == NULL)
        return ASSAY_NOMEM;
    m.second = m.first + rows * g->taps;
    m.row = m.second + wide * g->taps;
    m.column = m.row + g->taps + 1; /* both may hold one that is not counted */
    m.out = (assay_wide){.hi = m.column + g->taps + 1, .first = 0, .count = cells};
    m.out.lo = m.out.hi + cells;
    m.out.bound = m.out.lo + cells;
    m.out.magnitude = m.out.bound + cells;
    fill(g, b, threads, &m);
    assay_tensor first = matrix(m.first, rows, g->taps), second = matrix(m.second, g->taps, wide);
    ref_matmul product = product_of(&first, &second, y, rows, wide, g->taps);
    assay_status status = ref_matmul_wide(&product, threads, &m.out);
    if (status == ASSAY_OK) {
        mend(g, b, y, &m);
        copy_out(g, b, &m, out);
    }
    free(memory);
    return status;
}

/* Rows [row0, row1) of a plane at places [at0, at1), in blocks that fit the room. */
static assay_status run_blocks(const ref_columns *g, const block *whole, const assay_tensor *y,
                               unsigned threads, const assay_wide *out)
{
    int64_t fit = g->taps > 0 ? FACTOR_DOUBLES / g->taps : EDGE_MAX;
    int64_t step = fit < EDGE_MIN ? EDGE_MIN : fit > EDGE_MAX ? EDGE_MAX : fit;

    for (int64_t at = whole->at0; at < whole->at1; at += step)
        for (int64_t row = whole->row0; row < whole->row1; row += step) {
            block b = {whole->plane, row, row + step, at, at + step};
            b.row1 = b.row1 < whole->row1 ? b.row1 : whole->row1;
            b.at1 = b.at1 < whole->at1 ? b.at1 : whole->at1;
            ASSAY_TRY(run_block(g, &b, y, threads, out));
        }
    return ASSAY_OK;
}

/* Whole rows, of which `out` takes what it asks for; places alone where that is one row's part. */
assay_status ref_columns_wide(const ref_columns *g, const assay_tensor *y, unsigned threads,
                              const assay_wide *out)
{
    if (out->count == 0)
        return ASSAY_OK;
    int64_t from = out->first / g->places, to = (out->first + out->count - 1) / g->places;
    for (int64_t row = from; row <= to;) {
        int64_t plane = row / g->rows, end = (plane + 1) * g->rows;
        block b = {plane, row % g->rows, 0, 0, g->places};
        end = end <= to ? end : to + 1;
        b.row1 = b.row0 + end - row;
        if (from == to) {
            b.at0 = out->first % g->places;
            b.at1 = b.at0 + out->count;
        }
        ASSAY_TRY(run_blocks(g, &b, y, threads, out));
        row = end;
    }
    return ASSAY_OK;
}
