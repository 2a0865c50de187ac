/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_refusals.c -- typed calls with bad arguments: refused, with nothing written. */
#include <string.h>

#include "conform/conform_slots.h"

enum { BYTES = 1024 };

typedef struct bench {
    assay_buffer a, b, y;
    unsigned char was[BYTES];
} bench;

static assay__conform_verdict lay_out(assay__conform *c, bench *x)
{
    memset(x->was, 0x3f, sizeof x->was); /* a small number of any float */
    ASSAY__FINE(assay_engine_alloc(c->engine, BYTES, 0, &x->a));
    ASSAY__FINE(assay_engine_alloc(c->engine, BYTES, 0, &x->b));
    ASSAY__FINE(assay_engine_alloc(c->engine, BYTES, 0, &x->y));
    ASSAY__FINE(assay_engine_upload(c->engine, x->a, x->was, BYTES));
    ASSAY__FINE(assay_engine_upload(c->engine, x->b, x->was, BYTES));
    memset(x->was, 0x5e, sizeof x->was);
    ASSAY__FINE(assay_engine_upload(c->engine, x->y, x->was, BYTES));
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict kept(assay__conform *c, const bench *x, const char *when)
{
    char text[200];

    assay__conform_call_text(when, text, sizeof text);
    return assay__conform_holds_bytes(c, c->engine, x->y, x->was, BYTES, text);
}

#define REFUSED(call, wanted)            \
    do {                                 \
        ASSAY__GIVES(call, wanted);      \
        ASSAY__PART(kept(c, &x, #call)); \
    } while (0)

static assay__conform_verdict bad_products(assay__conform *c)
{
    bench x;

    ASSAY__PART(lay_out(c, &x));
    const assay_gemm_args good = {.struct_size = sizeof good,
                                  .dtype = ASSAY_F32,
                                  .m = 6,
                                  .n = 5,
                                  .k = 4,
                                  .alpha = 1.0,
                                  .a = {.buffer = x.a},
                                  .b = {.buffer = x.b},
                                  .c = {.buffer = x.y},
                                  .lda = 6,
                                  .ldb = 4,
                                  .ldc = 6};
    assay_gemm_args g;

#define WITH(field, value, status)                                \
    do {                                                          \
        g = good;                                                 \
        g.field = (value);                                        \
        REFUSED(assay_gemm(c->engine, &g, NULL), ASSAY_##status); \
    } while (0)
    WITH(lda, 5, INVALID);
    WITH(ldb, 3, INVALID);
    WITH(ldc, 5, INVALID);
    WITH(ldc, -6, INVALID);
    WITH(m, -1, INVALID);
    WITH(trans_a, (assay_transpose)3, INVALID);
    WITH(order, (assay_order)2, INVALID);
    WITH(struct_size, 0, INVALID);
    WITH(a.byte_offset, 2, INVALID);
    WITH(a.byte_offset, BYTES, INVALID);
    WITH(c.byte_offset, UINT64_MAX - 7, OVERFLOW);
    WITH(ldb, 100, INVALID);
    WITH(a.buffer, x.y, INVALID); /* an input that is the output */
    WITH(lda, INT64_MAX / 4, OVERFLOW);
#undef WITH
    REFUSED(assay_gemm(c->engine, NULL, NULL), ASSAY_INVALID);
    assay_batched_gemm_args b = {.struct_size = sizeof b, .one = good, .batch_count = -1};
    REFUSED(assay_batched_gemm(c->engine, &b, NULL), ASSAY_INVALID);
    b.batch_count = 2;
    REFUSED(assay_batched_gemm(c->engine, &b, NULL), ASSAY_INVALID); /* stride_c 0 */
    g = good;
    g.dtype = ASSAY_F64;
    REFUSED(assay_gemm_mixed_precision(c->engine, ASSAY_F16, &g, NULL), ASSAY_INVALID);
    REFUSED(assay_gemm_mixed_precision(c->engine, ASSAY_F8E4M3, &good, NULL), ASSAY_UNSUPPORTED);
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict bad_elements(assay__conform *c)
{
    bench x;

    ASSAY__PART(lay_out(c, &x));
    const assay_place a = {.buffer = x.a}, b = {.buffer = x.b}, y = {.buffer = x.y};
    const assay_place half = {.buffer = x.y, .byte_offset = 8};
    const int64_t most = BYTES / 4;

    REFUSED(assay_unary(c->engine, (assay_unary_op)8, ASSAY_F32, a, y, 8, NULL), ASSAY_INVALID);
    REFUSED(assay_unary(c->engine, ASSAY_UNARY_EXP, ASSAY_F32, a, y, -1, NULL), ASSAY_INVALID);
    REFUSED(assay_unary(c->engine, ASSAY_UNARY_EXP, ASSAY_F32, a, y, most + 1, NULL),
            ASSAY_INVALID);
    REFUSED(assay_unary(c->engine, ASSAY_UNARY_EXP, ASSAY_U8, a, y, 8, NULL), ASSAY_UNSUPPORTED);
    REFUSED(assay_binary(c->engine, (assay_binary_op)6, ASSAY_F32, a, b, y, 8, NULL),
            ASSAY_INVALID);
    REFUSED(assay_binary(c->engine, ASSAY_BINARY_ADD, ASSAY_F32, a, b, half, most, NULL),
            ASSAY_INVALID);
    REFUSED(assay_binary(c->engine, ASSAY_BINARY_ADD, ASSAY_F32, y, b, half, 8, NULL),
            ASSAY_INVALID); /* shifted by two */
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict bad_axes_and_rows(assay__conform *c)
{
    static const int64_t shape[2] = {4, 4}, bad[3] = {0, 4, 1}, negative[2] = {1, -1};
    bench x;

    ASSAY__PART(lay_out(c, &x));
    assay_axis_args a = {.struct_size = sizeof a,
                         .dtype = ASSAY_F32,
                         .input = {.buffer = x.a},
                         .output = {.buffer = x.y},
                         .rank = 2,
                         .shape = shape,
                         .axis = 2};
    REFUSED(assay_reduce(c->engine, ASSAY_REDUCE_SUM, &a, NULL), ASSAY_INVALID);
    REFUSED(assay_softmax(c->engine, &a, NULL), ASSAY_INVALID);
    a.axis = -3;
    REFUSED(assay_reduce(c->engine, ASSAY_REDUCE_MAX, &a, NULL), ASSAY_INVALID);
    a.axis = 0;
    a.rank = 9;
    REFUSED(assay_softmax(c->engine, &a, NULL), ASSAY_INVALID);
    assay_rows_args r = {.struct_size = sizeof r,
                         .dtype = ASSAY_F32,
                         .input = {.buffer = x.a},
                         .output = {.buffer = x.y},
                         .indices = bad,
                         .count = 3,
                         .rows = 4,
                         .cols = 2};
    REFUSED(assay_gather(c->engine, &r, NULL), ASSAY_INVALID);
    REFUSED(assay_scatter(c->engine, &r, NULL), ASSAY_INVALID);
    r.indices = negative;
    r.count = 2;
    REFUSED(assay_gather(c->engine, &r, NULL), ASSAY_INVALID);
    REFUSED(assay_scatter(c->engine, &r, NULL), ASSAY_INVALID);
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict bad_convolutions(assay__conform *c)
{
    bench x;

    ASSAY__PART(lay_out(c, &x));
    const assay_conv2d_args good = {.struct_size = sizeof good,
                                    .dtype = ASSAY_F32,
                                    .x = {.buffer = x.a},
                                    .filter = {.buffer = x.b},
                                    .y = {.buffer = x.y},
                                    .x_shape = {1, 2, 5, 5},
                                    .filter_shape = {2, 2, 3, 3},
                                    .y_shape = {1, 2, 3, 3},
                                    .stride = {1, 1}};
    assay_conv2d_args a = good;

    a.stride[0] = 0;
    REFUSED(assay_conv2d_forward(c->engine, &a, NULL), ASSAY_INVALID);
    a = good;
    a.filter_shape[2] = 9;
    REFUSED(assay_conv2d_forward(c->engine, &a, NULL), ASSAY_INVALID);
    a = good;
    a.y_shape[3] = 4;
    REFUSED(assay_conv2d_forward(c->engine, &a, NULL), ASSAY_INVALID);
    const assay_attention_args q = {.struct_size = sizeof q,
                                    .dtype = ASSAY_F32,
                                    .q = {.buffer = x.a},
                                    .k = {.buffer = x.b},
                                    .v = {.buffer = x.b},
                                    .o = {.buffer = x.y},
                                    .batch = 1,
                                    .heads = 2,
                                    .heads_kv = 3,
                                    .seq_q = 2,
                                    .seq_kv = 2,
                                    .head_dim = 4};
    REFUSED(assay_attention(c->engine, &q, NULL), ASSAY_INVALID);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_call_refuses_bad_arguments(assay__conform *c)
{
    ASSAY__PART(bad_products(c));
    ASSAY__PART(bad_elements(c));
    ASSAY__PART(bad_axes_and_rows(c));
    return bad_convolutions(c);
}
