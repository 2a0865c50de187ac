/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_call_args.c -- arguments of typed calls from problems. */
#include <stdlib.h>
#include <string.h>

#include "conform/conform_calls.h"

static int64_t param(const assay_problem *p, const char *name)
{
    return (int64_t)assay_problem_value(p, (size_t)assay_op_param_index((assay_op_id)p->op, name));
}

static double real(const assay_problem *p, const char *name)
{
    return assay_problem_value(p, (size_t)assay_op_param_index((assay_op_id)p->op, name));
}

static assay_dtype output_dtype(const assay__case *k)
{
    return (assay_dtype)k->problem.dtypes[k->count - 1];
}

static assay_place at(assay_buffer buffer)
{
    return (assay_place){.buffer = buffer};
}

/* ---- products ---- */

static int64_t leading(const assay_tensor *t)
{
    return t->dims[2] > 1 ? t->dims[2] : 1;
}

static assay_gemm_args gemm_args(const assay__case *k, const assay_buffer *b)
{
    const assay_problem *p = &k->problem;

    return (assay_gemm_args){.struct_size = sizeof(assay_gemm_args),
                             .dtype = output_dtype(k),
                             .order = ASSAY_ROW_MAJOR,
                             .trans_a = (assay_transpose)param(p, "trans_a"),
                             .trans_b = (assay_transpose)param(p, "trans_b"),
                             .m = param(p, "m"),
                             .n = param(p, "n"),
                             .k = param(p, "k"),
                             .alpha = real(p, "alpha"),
                             .beta = real(p, "beta"),
                             .a = at(b[0]),
                             .b = at(b[1]),
                             .c = at(b[2]),
                             .lda = leading(&k->operands[0]),
                             .ldb = leading(&k->operands[1]),
                             .ldc = leading(&k->operands[2])};
}

assay_status assay__call_gemm_rows(assay_engine *engine, const assay__case *k,
                                   const assay_buffer *buffers, assay_call *call)
{
    const assay_gemm_args g = gemm_args(k, buffers);

    return assay_gemm(engine, &g, call);
}

/* The same memory read by columns is the transpose of everything: C^T = op(B)^T op(A)^T. */
assay_status assay__call_gemm_columns(assay_engine *engine, const assay__case *k,
                                      const assay_buffer *buffers, assay_call *call)
{
    const assay_gemm_args rows = gemm_args(k, buffers);
    assay_gemm_args g = rows;

    g.order = ASSAY_COLUMN_MAJOR;
    g.m = rows.n;
    g.n = rows.m;
    g.a = rows.b;
    g.b = rows.a;
    g.lda = rows.ldb;
    g.ldb = rows.lda;
    g.trans_a = rows.trans_b;
    g.trans_b = rows.trans_a;
    return assay_gemm(engine, &g, call);
}

assay_status assay__call_batched(assay_engine *engine, const assay__case *k,
                                 const assay_buffer *buffers, assay_call *call)
{
    const assay_batched_gemm_args g = {.struct_size = sizeof g,
                                       .one = gemm_args(k, buffers),
                                       .stride_a = k->operands[0].dims[1] * k->operands[0].dims[2],
                                       .stride_b = k->operands[1].dims[1] * k->operands[1].dims[2],
                                       .stride_c = k->operands[2].dims[1] * k->operands[2].dims[2],
                                       .batch_count = param(&k->problem, "batch")};

    return assay_batched_gemm(engine, &g, call);
}

assay_status assay__call_mixed(assay_engine *engine, const assay__case *k,
                               const assay_buffer *buffers, assay_call *call)
{
    const assay_gemm_args g = gemm_args(k, buffers);

    return assay_gemm_mixed_precision(engine, (assay_dtype)k->problem.dtypes[0], &g, call);
}

/* ---- convolutions, attention ---- */

/* Which operand of the three ops is x, filter, y. */
static void conv_places(assay_op_id op, int out[3])
{
    static const int forward[3] = {0, 1, 2}, data[3] = {2, 1, 0}, filter[3] = {0, 2, 1};

    memcpy(out,
           op == ASSAY_OP_conv2d                 ? forward
           : op == ASSAY_OP_conv2d_backward_data ? data
                                                 : filter,
           3 * sizeof *out);
}

assay_status assay__call_conv(assay_engine *engine, const assay__case *k,
                              const assay_buffer *buffers, assay_call *call)
{
    const assay_problem *p = &k->problem;
    assay_conv2d_args a = {.struct_size = sizeof a, .dtype = output_dtype(k)};
    int place[3];

    conv_places((assay_op_id)p->op, place);
    a.x = at(buffers[place[0]]);
    a.filter = at(buffers[place[1]]);
    a.y = at(buffers[place[2]]);
    memcpy(a.x_shape, k->operands[place[0]].dims, sizeof a.x_shape);
    memcpy(a.filter_shape, k->operands[place[1]].dims, sizeof a.filter_shape);
    memcpy(a.y_shape, k->operands[place[2]].dims, sizeof a.y_shape);
    a.stride[0] = param(p, "stride_h");
    a.stride[1] = param(p, "stride_w");
    a.padding[0] = param(p, "pad_h");
    a.padding[1] = param(p, "pad_w");
    a.dilation[0] = param(p, "dil_h");
    a.dilation[1] = param(p, "dil_w");
    a.groups = param(p, "groups");
    if (p->op == ASSAY_OP_conv2d)
        return assay_conv2d_forward(engine, &a, call);
    return p->op == ASSAY_OP_conv2d_backward_data ? assay_conv2d_backward_data(engine, &a, call)
                                                  : assay_conv2d_backward_filter(engine, &a, call);
}

assay_status assay__call_attention(assay_engine *engine, const assay__case *k,
                                   const assay_buffer *buffers, assay_call *call)
{
    const assay_problem *p = &k->problem;
    const assay_attention_args a = {.struct_size = sizeof a,
                                    .dtype = output_dtype(k),
                                    .q = at(buffers[0]),
                                    .k = at(buffers[1]),
                                    .v = at(buffers[2]),
                                    .o = at(buffers[3]),
                                    .batch = param(p, "b"),
                                    .heads = param(p, "hq"),
                                    .heads_kv = param(p, "hkv"),
                                    .seq_q = param(p, "sq"),
                                    .seq_kv = param(p, "sk"),
                                    .head_dim = param(p, "d"),
                                    .scale = real(p, "scale"),
                                    .causal = (assay_causal)param(p, "causal")};

    return assay_attention(engine, &a, call);
}

/* ---- by element, along an axis, by rows ---- */

assay_status assay__call_unary(assay_engine *engine, const assay__case *k,
                               const assay_buffer *buffers, assay_call *call)
{
    static const assay_unary_op ops[ASSAY_OP_COUNT] = {
#define X(op, name) [ASSAY_OP_##op] = ASSAY_UNARY_##name,
        ASSAY__CALL_UNARY_OPS(X)
#undef X
    };

    return assay_unary(engine, ops[k->problem.op], output_dtype(k), at(buffers[0]), at(buffers[1]),
                       k->elements, call);
}

assay_status assay__call_binary(assay_engine *engine, const assay__case *k,
                                const assay_buffer *buffers, assay_call *call)
{
    static const assay_binary_op ops[ASSAY_OP_COUNT] = {
#define X(op, name) [ASSAY_OP_##op] = ASSAY_BINARY_##name,
        ASSAY__CALL_BINARY_OPS(X)
#undef X
    };

    return assay_binary(engine, ops[k->problem.op], output_dtype(k), at(buffers[0]), at(buffers[1]),
                        at(buffers[2]), k->elements, call);
}

static assay_axis_args axis_args(const assay__case *k, const assay_buffer *buffers)
{
    return (assay_axis_args){.struct_size = sizeof(assay_axis_args),
                             .dtype = output_dtype(k),
                             .input = at(buffers[0]),
                             .output = at(buffers[1]),
                             .rank = k->operands[0].rank,
                             .shape = k->operands[0].dims,
                             .axis = k->operands[0].rank == 3 ? 1 : -1};
}

assay_status assay__call_reduce(assay_engine *engine, const assay__case *k,
                                const assay_buffer *buffers, assay_call *call)
{
    static const assay_reduce_op ops[ASSAY_OP_COUNT] = {
#define X(op, name) [ASSAY_OP_##op] = ASSAY_REDUCE_##name,
        ASSAY__CALL_REDUCE_OPS(X)
#undef X
    };
    const assay_axis_args a = axis_args(k, buffers);

    return assay_reduce(engine, ops[k->problem.op], &a, call);
}

assay_status assay__call_softmax(assay_engine *engine, const assay__case *k,
                                 const assay_buffer *buffers, assay_call *call)
{
    const assay_axis_args a = axis_args(k, buffers);

    return assay_softmax(engine, &a, call);
}

/* Indices are the host's. */
assay_status assay__call_rows(assay_engine *engine, const assay__case *k,
                              const assay_buffer *buffers, assay_call *call)
{
    const assay_problem *p = &k->problem;
    const int64_t *indices = assay_tensor_data(&k->operands[1]);
    const assay_rows_args a = {.struct_size = sizeof a,
                               .dtype = output_dtype(k),
                               .input = at(buffers[0]),
                               .output = at(buffers[2]),
                               .indices = indices,
                               .count = param(p, "n"),
                               .rows = param(p, "rows"),
                               .cols = param(p, "cols")};

    return p->op == ASSAY_OP_gather ? assay_gather(engine, &a, call)
                                    : assay_scatter(engine, &a, call);
}
