/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_compute_ops.c -- typed convolutions, attention, elements, axes and rows: against
 * plain loops, and what they refuse.
 *
 * Loops over two engines: the reference, and the CPU with the kernels of every library. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/engine_case.h"

static assay_context *context;
static assay_engine *engine;

static void setup(void)
{
    context = engine_context();
}

static void teardown(void)
{
    assay_engine_destroy(&engine);
    assay_close(&context);
}

static void open_engine(int i)
{
    engine = i == 0 ? engine_open(context, "ref", NULL) : engine_open(context, "cpu", "");
}

static assay_place place(void *host, uint64_t bytes)
{
    assay_place p = {.byte_offset = 0};

    ck_assert_int_eq(assay_engine_wrap(engine, host, bytes, &p.buffer), ASSAY_OK);
    return p;
}
#define PLACE(array) place((array), sizeof(array))

static void fine(assay_status status)
{
    ck_assert_msg(status == ASSAY_OK, "%s", assay_last_error());
}

static void close_to(const float *got, const double *want, size_t count, double bound)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_msg((isnan(got[i]) && isnan(want[i])) || (double)got[i] == want[i] ||
                          fabs((double)got[i] - want[i]) <= bound * (1.0 + fabs(want[i])),
                      "element %zu: %g instead of %g", i, (double)got[i], want[i]);
}

/* ---- by element ---- */

START_TEST(unary_every_op)
{
    float x[8] = {0.5f, 2.0f, 1.0f, 4.0f, 0.25f, 3.0f, 10.0f, 0.125f}, y[8];

    open_engine(_i);
    const assay_place in = PLACE(x), out = PLACE(y);
    for (int op = 0; op <= ASSAY_UNARY_NEG; op++) {
        double want[8];
        for (int i = 0; i < 8; i++) {
            const double v = (double)x[i];
            const double by[] = {v, 1.0 / (1.0 + exp(-v)), tanh(v), exp(v), log(v), sqrt(v), v, -v};
            want[i] = by[op];
        }
        fine(assay_unary(engine, (assay_unary_op)op, ASSAY_F32, in, out, 8, NULL));
        close_to(y, want, 8, 1e-6);
    }
    fine(assay_unary(engine, ASSAY_UNARY_NEG, ASSAY_F32, out, out, 8, NULL)); /* in place */
    ck_assert(y[0] == x[0] && y[7] == x[7]);
    engine_refuses(assay_unary(engine, (assay_unary_op)8, ASSAY_F32, in, out, 8, NULL),
                   ASSAY_INVALID, "number 8");
    engine_refuses(assay_unary(engine, ASSAY_UNARY_EXP, ASSAY_F32, in, out, 9, NULL), ASSAY_INVALID,
                   "operand 0");
    engine_refuses(assay_unary(engine, ASSAY_UNARY_EXP, ASSAY_F32, in, out, -1, NULL),
                   ASSAY_INVALID, "negative");
    engine_refuses(assay_unary(engine, ASSAY_UNARY_EXP, ASSAY_U8, in, out, 8, NULL),
                   ASSAY_UNSUPPORTED, "exp");
}
END_TEST

/* A NaN is no number less than another, and none is lost. */
START_TEST(unary_and_binary_nan_propagates)
{
    float x[4] = {NAN, -1.0f, -0.0f, 5.0f}, z[4] = {1.0f, NAN, 0.0f, NAN}, y[4];
    const double relu[4] = {(double)NAN, 0.0, 0.0, 5.0};

    open_engine(_i);
    const assay_place in = PLACE(x), more = PLACE(z), out = PLACE(y);
    fine(assay_unary(engine, ASSAY_UNARY_RELU, ASSAY_F32, in, out, 4, NULL));
    close_to(y, relu, 4, 0.0);
    for (int op = ASSAY_BINARY_MAX; op <= ASSAY_BINARY_MIN; op++) {
        fine(assay_binary(engine, (assay_binary_op)op, ASSAY_F32, in, more, out, 4, NULL));
        ck_assert(isnan(y[0]) && isnan(y[1]) && isnan(y[3]));
        ck_assert_int_eq(signbit(y[2]) != 0, op == ASSAY_BINARY_MIN); /* -0 < +0 */
    }
}
END_TEST

START_TEST(binary_every_op_and_in_place)
{
    double x[4] = {6.0, -8.0, 1.5, 0.0}, z[4] = {3.0, 2.0, -1.5, 7.0}, y[4];

    open_engine(_i);
    const assay_place in = PLACE(x), more = PLACE(z), out = PLACE(y);
    for (int op = 0; op <= ASSAY_BINARY_MIN; op++) {
        fine(assay_binary(engine, (assay_binary_op)op, ASSAY_F64, in, more, out, 4, NULL));
        for (int i = 0; i < 4; i++) {
            const double by[] = {x[i] + z[i], x[i] - z[i],      x[i] * z[i],
                                 x[i] / z[i], fmax(x[i], z[i]), fmin(x[i], z[i])};
            ck_assert(y[i] == by[op]);
        }
    }
    fine(assay_binary(engine, ASSAY_BINARY_MUL, ASSAY_F64, in, more, in, 4, NULL));
    ck_assert(x[0] == 18.0 && x[1] == -16.0);
    fine(assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F64, in, in, in, 4, NULL));
    ck_assert(x[0] == 36.0);
    assay_place half = in;
    half.byte_offset = 8;
    engine_refuses(assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F64, in, more, half, 3, NULL),
                   ASSAY_INVALID, "overlaps");
    engine_refuses(assay_binary(engine, (assay_binary_op)6, ASSAY_F64, in, more, out, 4, NULL),
                   ASSAY_INVALID, "number 6");
}
END_TEST

/* ---- along an axis ---- */

/* Trap 5: first, middle and last axis, a NaN in each place, an empty axis. */
START_TEST(reduce_trap5_axes_and_nan)
{
    const int64_t shape[3] = {2, 3, 4};
    float x[24], y[12];

    open_engine(_i);
    assay_axis_args a = {.struct_size = sizeof a, .dtype = ASSAY_F32, .rank = 3, .shape = shape};
    a.input = PLACE(x);
    a.output = PLACE(y);
    for (int i = 0; i < 24; i++)
        x[i] = (float)((i * 7) % 24);
    for (int op = 0; op <= ASSAY_REDUCE_MEAN; op++)
        for (a.axis = -3; a.axis < 3; a.axis++) {
            const int64_t axis = a.axis < 0 ? a.axis + 3 : a.axis;
            const int64_t inner = axis == 0 ? 12 : axis == 1 ? 4 : 1, n = shape[axis];
            double want[12];
            for (int64_t o = 0; o < 24 / n; o++) {
                double sum = 0, most = -INFINITY, least = INFINITY;
                for (int64_t l = 0; l < n; l++) {
                    const double v = (double)x[o / inner * inner * n + l * inner + o % inner];
                    sum += v;
                    most = fmax(most, v);
                    least = fmin(least, v);
                }
                const double by[] = {sum, most, least, sum / (double)n};
                want[o] = by[op];
            }
            fine(assay_reduce(engine, (assay_reduce_op)op, &a, NULL));
            close_to(y, want, (size_t)(24 / n), 1e-6);
        }
    a.axis = 2;
    for (int i = 0; i < 4; i++) {
        const float kept = x[i];
        x[i] = NAN;
        for (int op = 0; op <= ASSAY_REDUCE_MEAN; op++) {
            fine(assay_reduce(engine, (assay_reduce_op)op, &a, NULL));
            ck_assert(isnan(y[0]) && !isnan(y[1]));
        }
        x[i] = kept;
    }
}
END_TEST

START_TEST(reduce_trap5_empty_axis)
{
    const int64_t shape[2] = {3, 0};
    float x[1], y[3] = {7.0f, 7.0f, 7.0f};

    open_engine(_i);
    assay_axis_args a = {
        .struct_size = sizeof a, .dtype = ASSAY_F32, .rank = 2, .shape = shape, .axis = 1};
    a.input = PLACE(x);
    a.output = PLACE(y);
    engine_refuses(assay_reduce(engine, ASSAY_REDUCE_MAX, &a, NULL), ASSAY_INVALID, "max_reduce");
    engine_refuses(assay_reduce(engine, ASSAY_REDUCE_MIN, &a, NULL), ASSAY_INVALID, "min_reduce");
    ck_assert(y[0] == 7.0f);
    fine(assay_reduce(engine, ASSAY_REDUCE_SUM, &a, NULL));
    ck_assert(y[0] == 0.0f && y[2] == 0.0f);
    fine(assay_reduce(engine, ASSAY_REDUCE_MEAN, &a, NULL));
    ck_assert(isnan(y[0]) && isnan(y[2]));
    a.axis = 2;
    engine_refuses(assay_reduce(engine, ASSAY_REDUCE_SUM, &a, NULL), ASSAY_INVALID, "axis");
    a.axis = 0;
    a.rank = 0;
    engine_refuses(assay_reduce(engine, ASSAY_REDUCE_SUM, &a, NULL), ASSAY_INVALID, "rank 0");
    a.rank = 9;
    engine_refuses(assay_softmax(engine, &a, NULL), ASSAY_INVALID, "rank 9");
    a.rank = 2;
    a.shape = NULL;
    engine_refuses(assay_softmax(engine, &a, NULL), ASSAY_INVALID, "no shape");
}
END_TEST

/* Trap 6: rows of -inf, an +inf, a NaN, an axis of one, a huge spread; any axis, in place. */
START_TEST(softmax_trap6_special_rows)
{
    const int64_t shape[2] = {6, 3};
    float x[18] = {-INFINITY, -INFINITY, -INFINITY, INFINITY, 1.0f, 2.0f, NAN,  1.0f, 2.0f,
                   1e30f,     -1e30f,    0.0f,      1.0f,     1.0f, 1.0f, 0.0f, 1.0f, 2.0f};
    float y[18];

    open_engine(_i);
    assay_axis_args a = {
        .struct_size = sizeof a, .dtype = ASSAY_F32, .rank = 2, .shape = shape, .axis = 1};
    a.input = PLACE(x);
    a.output = PLACE(y);
    fine(assay_softmax(engine, &a, NULL));
    for (int i = 0; i < 3; i++)
        ck_assert(isnan(y[i]) && isnan(y[6 + i]));
    ck_assert(isnan(y[3]));
    ck_assert(y[9] == 1.0f && y[10] == 0.0f && y[11] == 0.0f);
    ck_assert(fabsf(y[12] - 1.0f / 3.0f) < 1e-6f);
    ck_assert(fabsf(y[17] - 0.66524096f) < 1e-6f);
    const int64_t ones[3] = {6, 1, 3};
    a.rank = 3;
    a.shape = ones;
    fine(assay_softmax(engine, &a, NULL)); /* an axis of one */
    ck_assert(y[17] == 1.0f && isnan(y[0]));
    const int64_t columns[2] = {3, 2};
    float z[6] = {0.0f, 5.0f, 1.0f, 5.0f, 2.0f, 5.0f};
    a = (assay_axis_args){.struct_size = sizeof a, .dtype = ASSAY_F32, .rank = 2, .shape = columns};
    a.input = a.output = PLACE(z);
    fine(assay_softmax(engine, &a, NULL)); /* the first axis, in place */
    ck_assert(fabsf(z[4] - 0.66524096f) < 1e-6f && fabsf(z[1] - 1.0f / 3.0f) < 1e-6f);
}
END_TEST

/* ---- by rows ---- */

/* Trap 7: repeated rows, and nothing written when one of them is bad. */
START_TEST(gather_scatter_trap7)
{
    const int64_t some[4] = {2, 0, 2, 1}, bad[3] = {0, 3, 1}, negative[2] = {1, -1};
    float table[6] = {0, 1, 10, 11, 20, 21}, y[8], rows[8] = {5, 6, 7, 8, 9, 10, 11, 12};
    const float gathered[8] = {20, 21, 0, 1, 20, 21, 10, 11}, last[6] = {7, 8, 11, 12, 9, 10};

    open_engine(_i);
    assay_rows_args a = {.struct_size = sizeof a,
                         .dtype = ASSAY_F32,
                         .indices = some,
                         .count = 4,
                         .rows = 3,
                         .cols = 2};
    a.input = PLACE(table);
    a.output = PLACE(y);
    fine(assay_gather(engine, &a, NULL));
    ck_assert_int_eq(memcmp(y, gathered, sizeof y), 0);
    a.indices = bad;
    a.count = 3;
    engine_refuses(assay_gather(engine, &a, NULL), ASSAY_INVALID, "index 1 is row 3 of 3");
    a.indices = negative;
    a.count = 2;
    engine_refuses(assay_gather(engine, &a, NULL), ASSAY_INVALID, "row -1");
    a.indices = some;
    a.cols = 0; /* rows of nothing */
    fine(assay_gather(engine, &a, NULL));
    fine(assay_scatter(engine, &a, NULL));
    a.cols = -1;
    engine_refuses(assay_gather(engine, &a, NULL), ASSAY_INVALID, "none may be negative");
    a.cols = 2;
    a.indices = NULL;
    engine_refuses(assay_gather(engine, &a, NULL), ASSAY_INVALID, "no indices");
    a.count = 0;
    fine(assay_gather(engine, &a, NULL));
    ck_assert_int_eq(memcmp(y, gathered, sizeof y), 0);
    a = (assay_rows_args){.struct_size = sizeof a,
                          .dtype = ASSAY_F32,
                          .indices = bad,
                          .count = 3,
                          .rows = 3,
                          .cols = 2};
    a.input = PLACE(rows);
    a.output = PLACE(table);
    engine_refuses(assay_scatter(engine, &a, NULL), ASSAY_INVALID, "row 3");
    ck_assert(table[0] == 0.0f && table[5] == 21.0f);
    a.indices = some;
    a.count = 4;
    fine(assay_scatter(engine, &a, NULL)); /* row 2 is written twice, the later stays */
    ck_assert_int_eq(memcmp(table, last, sizeof last), 0);
    a.count = 1;
    a.indices = &some[3];
    fine(assay_scatter(engine, &a, NULL)); /* other rows stay */
    ck_assert(table[2] == 5.0f && table[0] == 7.0f && table[4] == 9.0f);
}
END_TEST

/* ---- convolutions ---- */

typedef struct conv {
    int64_t x[4], f[4], y[4], stride[2], pad[2];
    int64_t dilation[2], groups; /* 0: 1 */
} conv;

static const conv convs[] = {{{2, 3, 7, 5}, {4, 3, 3, 2}, {2, 4, 4, 6}, {2, 1}, {1, 1}, {0, 0}, 0},
                             {{1, 2, 4, 4}, {2, 2, 1, 1}, {1, 2, 4, 4}, {1, 1}, {0, 0}, {1, 1}, 1},
                             {{1, 1, 3, 6}, {1, 1, 2, 3}, {1, 1, 8, 4}, {1, 2}, {3, 2}, {0, 0}, 0},
                             {{1, 4, 7, 6}, {2, 2, 2, 3}, {1, 2, 4, 4}, {1, 1}, {0, 1}, {3, 2}, 2}};

static float cx[512], cf[512], cy[512];

static assay_conv2d_args conv_args(const conv *c)
{
    assay_conv2d_args a = {.struct_size = sizeof a, .dtype = ASSAY_F32};

    memcpy(a.x_shape, c->x, sizeof c->x);
    memcpy(a.filter_shape, c->f, sizeof c->f);
    memcpy(a.y_shape, c->y, sizeof c->y);
    memcpy(a.stride, c->stride, sizeof c->stride);
    memcpy(a.padding, c->pad, sizeof c->pad);
    memcpy(a.dilation, c->dilation, sizeof c->dilation);
    a.groups = c->groups;
    a.x = PLACE(cx);
    a.filter = PLACE(cf);
    a.y = PLACE(cy);
    return a;
}

static void fill_conv(void)
{
    for (int i = 0; i < 512; i++) {
        cx[i] = (float)(i % 11) - 5.0f;
        cf[i] = (float)(i % 5) - 2.0f;
        cy[i] = (float)(i % 7) - 3.0f;
    }
}

/* Sum over all that meets: to y from x and f, to x from y and f, or to f from x and y. */
static void plain_conv(const conv *c, char to, double *out)
{
    const int64_t dil_h = c->dilation[0] != 0 ? c->dilation[0] : 1;
    const int64_t dil_w = c->dilation[1] != 0 ? c->dilation[1] : 1;
    const int64_t each = c->y[1] / (c->groups != 0 ? c->groups : 1); /* outputs of a group */

    for (int64_t n = 0; n < c->y[0]; n++)
        for (int64_t k = 0; k < c->y[1]; k++)
            for (int64_t oh = 0; oh < c->y[2]; oh++)
                for (int64_t ow = 0; ow < c->y[3]; ow++)
                    for (int64_t ch = 0; ch < c->f[1]; ch++)
                        for (int64_t r = 0; r < c->f[2]; r++)
                            for (int64_t s = 0; s < c->f[3]; s++) {
                                const int64_t h = oh * c->stride[0] + r * dil_h - c->pad[0];
                                const int64_t w = ow * c->stride[1] + s * dil_w - c->pad[1];
                                if (h < 0 || h >= c->x[2] || w < 0 || w >= c->x[3])
                                    continue;
                                const int64_t channel = k / each * c->f[1] + ch;
                                const int64_t ix =
                                    ((n * c->x[1] + channel) * c->x[2] + h) * c->x[3] + w;
                                const int64_t jf = ((k * c->f[1] + ch) * c->f[2] + r) * c->f[3] + s;
                                const int64_t iy =
                                    ((n * c->y[1] + k) * c->y[2] + oh) * c->y[3] + ow;
                                if (to == 'y')
                                    out[iy] += (double)cx[ix] * (double)cf[jf];
                                else if (to == 'x')
                                    out[ix] += (double)cy[iy] * (double)cf[jf];
                                else
                                    out[jf] += (double)cx[ix] * (double)cy[iy];
                            }
}

static size_t size_of(const int64_t *shape)
{
    return (size_t)(shape[0] * shape[1] * shape[2] * shape[3]);
}

START_TEST(conv2d_trap4_forward_and_gradients)
{
    open_engine(_i);
    for (size_t i = 0; i < sizeof convs / sizeof *convs; i++) {
        assay_conv2d_args a = conv_args(&convs[i]);
        double want[512] = {0};
        fill_conv();
        plain_conv(&convs[i], 'y', want);
        fine(assay_conv2d_forward(engine, &a, NULL));
        close_to(cy, want, size_of(convs[i].y), 1e-5);
        fill_conv();
        memset(want, 0, sizeof want);
        plain_conv(&convs[i], 'x', want);
        fine(assay_conv2d_backward_data(engine, &a, NULL));
        close_to(cx, want, size_of(convs[i].x), 1e-5);
        fill_conv();
        memset(want, 0, sizeof want);
        plain_conv(&convs[i], 'f', want);
        fine(assay_conv2d_backward_filter(engine, &a, NULL));
        close_to(cf, want, size_of(convs[i].f), 1e-5);
    }
}
END_TEST

START_TEST(conv2d_trap4_refuses_bad_shapes)
{
    open_engine(_i);
    const assay_conv2d_args good = conv_args(&convs[0]);
    assay_conv2d_args a;

#define WITH(field, value, says)                                                             \
    do {                                                                                     \
        a = good;                                                                            \
        a.field = (value);                                                                   \
        engine_refuses(assay_conv2d_forward(engine, &a, NULL), ASSAY_INVALID, says);         \
        engine_refuses(assay_conv2d_backward_data(engine, &a, NULL), ASSAY_INVALID, says);   \
        engine_refuses(assay_conv2d_backward_filter(engine, &a, NULL), ASSAY_INVALID, says); \
    } while (0)
    WITH(filter_shape[2], 10, "larger than the padded input");
    WITH(stride[0], 0, "stride_h=0");
    WITH(stride[1], -1, "stride_w=-1");
    WITH(padding[0], -1, "pad_h=-1");
    WITH(filter_shape[1], 2, "filter_shape");
    WITH(y_shape[1], 5, "y_shape");
    WITH(y_shape[2], 5, "y_shape");
    WITH(y_shape[0], 1, "y_shape");
    WITH(groups, 2, "groups");
    WITH(x_shape[0], -2, "n=-2");
#undef WITH
    a = good;
    a.dilation[0] = 2;
    a.filter_shape[2] = 2;
    a.y_shape[2] = 4;
    fine(assay_conv2d_forward(engine, &a, NULL));
}
END_TEST

/* ---- attention ---- */

enum { HEADS = 2, D = 3, MOST = 6 };

static void plain_attention(const float *q, const float *k, const float *v, int64_t sq, int64_t sk,
                            double scale, assay_causal causal, double *out)
{
    for (int64_t h = 0; h < HEADS; h++)
        for (int64_t i = 0; i < sq; i++) {
            double score[MOST], most = -INFINITY, sum = 0.0;
            int64_t seen = causal == ASSAY_CAUSAL_NONE           ? sk
                           : causal == ASSAY_CAUSAL_BOTTOM_RIGHT ? i + sk - sq + 1
                                                                 : i + 1;
            seen = seen < 0 ? 0 : seen > sk ? sk : seen;
            for (int64_t j = 0; j < seen; j++) {
                score[j] = 0.0;
                for (int64_t d = 0; d < D; d++)
                    score[j] += (double)q[(h * sq + i) * D + d] * (double)k[(h * sk + j) * D + d];
                score[j] *= scale;
                most = fmax(most, score[j]);
            }
            for (int64_t j = 0; j < seen; j++)
                sum += score[j] = exp(score[j] - most);
            for (int64_t d = 0; d < D; d++) {
                double y = 0.0;
                for (int64_t j = 0; j < seen; j++)
                    y += score[j] / sum * (double)v[(h * sk + j) * D + d];
                out[(h * sq + i) * D + d] = y;
            }
        }
}

/* Trap 3: the scale multiplies, both alignments where lengths differ, queries without a key. */
START_TEST(attention_trap3_scale_and_masks)
{
    float q[HEADS * MOST * D], k[HEADS * MOST * D], v[HEADS * MOST * D], o[HEADS * MOST * D];

    open_engine(_i);
    for (int i = 0; i < HEADS * MOST * D; i++) {
        q[i] = (float)(i % 7) * 3.0f - 9.0f;
        k[i] = (float)(i % 5) - 2.0f;
        v[i] = (float)(i % 11);
    }
    assay_attention_args a = {
        .struct_size = sizeof a, .dtype = ASSAY_F32, .batch = 1, .heads = HEADS, .head_dim = D};
    a.q = PLACE(q);
    a.k = PLACE(k);
    a.v = PLACE(v);
    a.o = PLACE(o);
    for (int causal = 0; causal < 3; causal++)
        for (a.seq_q = 1; a.seq_q <= MOST; a.seq_q += 2)
            for (a.seq_kv = 1; a.seq_kv <= MOST; a.seq_kv++)
                for (int s = 0; s < 2; s++) {
                    double want[HEADS * MOST * D];
                    a.scale = s == 0 ? 0.0 : 3.0;
                    a.causal = (assay_causal)causal;
                    plain_attention(q, k, v, a.seq_q, a.seq_kv, s == 0 ? 1.0 / sqrt(D) : 3.0,
                                    a.causal, want);
                    fine(assay_attention(engine, &a, NULL));
                    close_to(o, want, (size_t)(HEADS * a.seq_q * D), 1e-5);
                }
    a.seq_kv = 0;
    a.seq_q = 2;
    fine(assay_attention(engine, &a, NULL));
    for (int i = 0; i < HEADS * 2 * D; i++)
        ck_assert(o[i] == 0.0f);
    a.causal = (assay_causal)3;
    engine_refuses(assay_attention(engine, &a, NULL), ASSAY_INVALID, "number 3");
    a.causal = ASSAY_CAUSAL_NONE;
    a.heads_kv = 3;
    engine_refuses(assay_attention(engine, &a, NULL), ASSAY_INVALID, "hkv must divide hq");
    a.heads_kv = 0;
    a.head_dim = -1;
    engine_refuses(assay_attention(engine, &a, NULL), ASSAY_INVALID, "d=-1");
}
END_TEST

/* ---- tiles ---- */

START_TEST(tile_heuristic_table)
{
    static const struct {
        int64_t m, n, k, tile[3];
    } rows[] = {{64, 900, 900, {16, 16, 16}},  {65, 900, 900, {64, 64, 16}},
                {512, 900, 900, {64, 64, 16}}, {513, 900, 900, {128, 128, 8}},
                {1, 4096, 4096, {16, 16, 16}}, {4096, 4096, 4096, {128, 128, 8}}};
    assay_tile tile;
    int64_t outputs = 0;

    open_engine(_i);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fine(assay_recommended_tile(engine, rows[i].m, rows[i].n, rows[i].k, &tile));
        ck_assert(tile.m == rows[i].tile[0] && tile.n == rows[i].tile[1] &&
                  tile.k == rows[i].tile[2] && !tile.is_measured);
    }
    fine(assay_tile_outputs(&tile, &outputs));
    ck_assert_int_eq(outputs, 128 * 128);
    tile.m = tile.n = INT64_C(1) << 40;
    engine_refuses(assay_tile_outputs(&tile, &outputs), ASSAY_OVERFLOW, "does not fit");
    engine_refuses(assay_recommended_tile(engine, 0, 1, 1, &tile), ASSAY_INVALID, "at least 1");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("compute_ops");
    TCase *all = tcase_create("ops");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_loop_test(all, unary_every_op, 0, 2);
    tcase_add_loop_test(all, unary_and_binary_nan_propagates, 0, 2);
    tcase_add_loop_test(all, binary_every_op_and_in_place, 0, 2);
    tcase_add_loop_test(all, reduce_trap5_axes_and_nan, 0, 2);
    tcase_add_loop_test(all, reduce_trap5_empty_axis, 0, 2);
    tcase_add_loop_test(all, softmax_trap6_special_rows, 0, 2);
    tcase_add_loop_test(all, gather_scatter_trap7, 0, 2);
    tcase_add_loop_test(all, conv2d_trap4_forward_and_gradients, 0, 2);
    tcase_add_loop_test(all, conv2d_trap4_refuses_bad_shapes, 0, 2);
    tcase_add_loop_test(all, attention_trap3_scale_and_masks, 0, 2);
    tcase_add_loop_test(all, tile_heuristic_table, 0, 2);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
