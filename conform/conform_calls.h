/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_calls.h -- typed calls made of a problem of the catalogue. */
#ifndef ASSAY_CONFORM_CONFORM_CALLS_H
#define ASSAY_CONFORM_CONFORM_CALLS_H

#include "conform/conform_case.h"

/* One typed call that computes the case's problem from buffers that hold its operands. */
typedef assay_status (*assay__call_fn)(assay_engine *engine, const assay__case *k,
                                       const assay_buffer *buffers, assay_call *call);

/* A call and the op that it stands for. */
typedef struct assay__call_row {
    const char *name;
    assay_op_id op;
    assay__call_fn run;
} assay__call_row;

assay_status assay__call_gemm_rows(assay_engine *engine, const assay__case *k,
                                   const assay_buffer *buffers, assay_call *call);
assay_status assay__call_gemm_columns(assay_engine *engine, const assay__case *k,
                                      const assay_buffer *buffers, assay_call *call);
assay_status assay__call_batched(assay_engine *engine, const assay__case *k,
                                 const assay_buffer *buffers, assay_call *call);
/* The buffers hold A and B as f32, whatever the case's own say. */
assay_status assay__call_mixed(assay_engine *engine, const assay__case *k,
                               const assay_buffer *buffers, assay_call *call);
assay_status assay__call_conv(assay_engine *engine, const assay__case *k,
                              const assay_buffer *buffers, assay_call *call);
assay_status assay__call_attention(assay_engine *engine, const assay__case *k,
                                   const assay_buffer *buffers, assay_call *call);
assay_status assay__call_unary(assay_engine *engine, const assay__case *k,
                               const assay_buffer *buffers, assay_call *call);
assay_status assay__call_binary(assay_engine *engine, const assay__case *k,
                                const assay_buffer *buffers, assay_call *call);
assay_status assay__call_reduce(assay_engine *engine, const assay__case *k,
                                const assay_buffer *buffers, assay_call *call);
assay_status assay__call_softmax(assay_engine *engine, const assay__case *k,
                                 const assay_buffer *buffers, assay_call *call);
assay_status assay__call_rows(assay_engine *engine, const assay__case *k,
                              const assay_buffer *buffers, assay_call *call);

/* X(op): those with a typed call each. */
#define ASSAY__CALL_UNARY_OPS(X) \
    X(relu, RELU)                \
    X(sigmoid, SIGMOID) X(tanh, TANH) X(exp, EXP) X(log, LOG) X(sqrt, SQRT) X(abs, ABS) X(neg, NEG)
#define ASSAY__CALL_BINARY_OPS(X) \
    X(add, ADD) X(sub, SUB) X(mul, MUL) X(div, DIV) X(maximum, MAX) X(minimum, MIN)
#define ASSAY__CALL_REDUCE_OPS(X) \
    X(sum_reduce, SUM) X(max_reduce, MAX) X(min_reduce, MIN) X(mean_reduce, MEAN)

/* One product, where the problem says several: most calls make one. */
void assay__call_unbatch(assay_problem *p);
/* SKIP with the reason when calls were tried and none of them ran. */
assay__conform_verdict assay__call_end(assay__conform *c);

/* The kernel that a record names; NULL: none of that name. */
const assay_kernel_desc *assay__call_kernel(const assay__conform *c, const assay_execution *record,
                                            const assay_problem *problem);

#endif
