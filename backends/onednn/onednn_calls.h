/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/onednn/onednn_calls.h -- oneDNN, opened at run time; types come from its header. */
#ifndef ASSAY_BACKENDS_ONEDNN_CALLS_H
#define ASSAY_BACKENDS_ONEDNN_CALLS_H

#include <stdbool.h>

#include "assay/plugin.h"
#include "gen/config.h"
#include "runtime/host_openmp.h"

/* "key=value" lines behind SONAME, version and build-id, or why there is none: the library is
 * absent, or implements no `what` on this CPU.  `what`: "onednn", or "onednn_<op>_<dtype>". */
assay_status onednn_identify(assay_instance *instance, const char *what, char *buf, size_t cap);

assay_status onednn_matmul(const assay_launch *launch);
assay_status onednn_linear(const assay_launch *launch);
assay_status onednn_softmax(const assay_launch *launch);
/* conv2d and both its gradients. */
assay_status onednn_conv2d(const assay_launch *launch);
assay_status onednn_cast(const assay_launch *launch);
/* Elementwise ops, reductions and layer_norm. */
assay_status onednn_simple(const assay_launch *launch);
bool onednn_elementwise_usable(const assay_problem *problem, const int64_t *tunables);
bool onednn_reduce_usable(const assay_problem *problem, const int64_t *tunables);
bool onednn_layer_norm_usable(const assay_problem *problem, const int64_t *tunables);
bool onednn_cast_usable(const assay_problem *problem, const int64_t *tunables);
bool onednn_conv2d_usable(const assay_problem *problem, const int64_t *tunables);
bool onednn_matmul_usable(const assay_problem *problem, const int64_t *tunables);
bool onednn_linear_usable(const assay_problem *problem, const int64_t *tunables);
bool onednn_softmax_axis_usable(const assay_problem *problem, const int64_t *tunables);
bool onednn_softmax_usable(const assay_problem *problem, const int64_t *tunables);

/* Pairs that it may convert as the op's law says, which is asked: X(from, to, "from_to").  Of
 * others it is known that floats go to integers rounded, integers to shorter ones clamped. */
#define ONEDNN_CASTS(X)      \
    X(F32, F16, "f32_f16")   \
    X(F32, BF16, "f32_bf16") \
    X(F16, F32, "f16_f32")   \
    X(BF16, F32, "bf16_f32") \
    X(I32, F32, "i32_f32")   \
    X(I8, F32, "i8_f32")     \
    X(U8, F32, "u8_f32")     \
    X(I8, I32, "i8_i32")     \
    X(U8, I32, "u8_i32")     \
    X(I8, BF16, "i8_bf16")   \
    X(U8, BF16, "u8_bf16")

/* Ops of onednn_simple, where the library follows their law, which is asked: X(op, dtype, operands,
 * usable, call).  2.6 makes numbers of NaN in relu, maximum, minimum and the reductions by them,
 * and zeros of subnormals in tanh of bf16: rows with that reason.  Without a row: exp, sigmoid and
 * silu end where results are subnormal, log has no digit left beside 1. */
#define ONEDNN_NAME_F32  "f32"
#define ONEDNN_NAME_BF16 "bf16"
#define ONEDNN_SIMPLE(X)                                                                     \
    X(add, F32, 3, elementwise, "dnnl_binary_desc_init")                                     \
    X(sub, F32, 3, elementwise, "dnnl_binary_desc_init")                                     \
    X(mul, F32, 3, elementwise, "dnnl_binary_desc_init")                                     \
    X(div, F32, 3, elementwise, "dnnl_binary_desc_init")                                     \
    X(maximum, F32, 3, elementwise, "dnnl_binary_desc_init")                                 \
    X(minimum, F32, 3, elementwise, "dnnl_binary_desc_init")                                 \
    X(relu, F32, 2, elementwise, "dnnl_eltwise_forward_desc_init")                           \
    X(tanh, F32, 2, elementwise, "dnnl_eltwise_forward_desc_init")                           \
    X(tanh, BF16, 2, elementwise, "dnnl_eltwise_forward_desc_init")                          \
    X(gelu, F32, 2, elementwise, "dnnl_eltwise_forward_desc_init")                           \
    X(gelu_erf, F32, 2, elementwise, "dnnl_eltwise_forward_desc_init")                       \
    X(sum_reduce, F32, 2, reduce, "dnnl_reduction_desc_init")                                \
    X(sum_reduce, BF16, 2, reduce, "dnnl_reduction_desc_init")                               \
    X(mean_reduce, F32, 2, reduce, "dnnl_reduction_desc_init")                               \
    X(mean_reduce, BF16, 2, reduce, "dnnl_reduction_desc_init")                              \
    X(max_reduce, F32, 2, reduce, "dnnl_reduction_desc_init")                                \
    X(min_reduce, F32, 2, reduce, "dnnl_reduction_desc_init")                                \
    X(layer_norm_last_dim, F32, 2, layer_norm, "dnnl_layer_normalization_forward_desc_init") \
    X(layer_norm_last_dim, BF16, 2, layer_norm, "dnnl_layer_normalization_forward_desc_init")

#if HAVE_ONEDNN

#include <dnnl.h>

#define ONEDNN_CALLS(X)                               \
    X(version)                                        \
    X(set_verbose)                                    \
    X(get_effective_cpu_isa)                          \
    X(engine_create)                                  \
    X(stream_create)                                  \
    X(stream_wait)                                    \
    X(stream_destroy)                                 \
    X(memory_desc_init_by_strides)                    \
    X(memory_desc_init_by_tag)                        \
    X(memory_desc_equal)                              \
    X(memory_desc_get_size)                           \
    X(memory_create)                                  \
    X(memory_set_data_handle)                         \
    X(memory_destroy)                                 \
    X(primitive_attr_create)                          \
    X(primitive_attr_set_output_scales)               \
    X(primitive_attr_set_fpmath_mode)                 \
    X(primitive_attr_get_fpmath_mode)                 \
    X(primitive_attr_set_post_ops)                    \
    X(primitive_attr_destroy)                         \
    X(post_ops_create)                                \
    X(post_ops_append_sum)                            \
    X(post_ops_destroy)                               \
    X(matmul_desc_init)                               \
    X(softmax_forward_desc_init)                      \
    X(logsoftmax_forward_desc_init)                   \
    X(dilated_convolution_forward_desc_init)          \
    X(dilated_convolution_backward_data_desc_init)    \
    X(dilated_convolution_backward_weights_desc_init) \
    X(binary_desc_init)                               \
    X(eltwise_forward_desc_init)                      \
    X(reduction_desc_init)                            \
    X(layer_normalization_forward_desc_init)          \
    X(reorder_primitive_desc_create)                  \
    X(primitive_desc_create)                          \
    X(primitive_desc_query)                           \
    X(primitive_desc_query_md)                        \
    X(primitive_desc_get_attr)                        \
    X(primitive_desc_destroy)                         \
    X(primitive_create)                               \
    X(primitive_execute)                              \
    X(primitive_destroy)

typedef struct onednn_library {
#define X(name) __typeof__(dnnl_##name) *name;
    ONEDNN_CALLS(X)
#undef X
    assay__openmp openmp;
    dnnl_engine_t engine;
} onednn_library;

/* Opens the library on the first call; NULL with the reason in *why (static) when it cannot. */
const onednn_library *onednn_open(const char **why);

/* ---- primitives: made once a problem and thread, kept, run ----------------------------------- */

enum { ONEDNN_OPERANDS = 4, ONEDNN_RANK = 5 };

/* All that a primitive is made from; compared as bytes, so cleared whole first. */
typedef struct onednn_problem {
    int64_t op, threads, rank;
    int64_t dims[ONEDNN_OPERANDS][ONEDNN_RANK], strides[ONEDNN_OPERANDS][ONEDNN_RANK];
    double alpha, beta, eps;
    int32_t dtype, out_dtype, count; /* of operands, the output last */
    /* Of convolutions: filters in groups have one extent more; steps and places as in conv2d. */
    int64_t filter, groups, step[2], gap[2], pad[2];
} onednn_problem;

static inline bool onednn_is_conv2d(const onednn_problem *p)
{
    return p->op == ASSAY_OP_conv2d || p->op == ASSAY_OP_conv2d_backward_data ||
           p->op == ASSAY_OP_conv2d_backward_filter;
}

static inline bool onednn_is_log_softmax(int64_t op)
{
    return op == ASSAY_OP_log_softmax_last_dim || op == ASSAY_OP_log_softmax;
}

/* Along the middle of three extents, not the last of two. */
static inline bool onednn_is_axis(int64_t op)
{
    return op == ASSAY_OP_softmax || op == ASSAY_OP_log_softmax;
}

/* Extents of operand i. */
static inline int onednn_rank(const onednn_problem *p, int i)
{
    return (int)p->rank + (onednn_is_conv2d(p) && i == p->filter && p->groups > 1);
}

/* The argument that operand i is. */
int onednn_argument(const onednn_problem *p, int i);
/* A convolution over operands as `md` says. */
dnnl_status_t onednn_describe_conv2d(const onednn_library *l, const onednn_problem *p,
                                     const dnnl_memory_desc_t *md,
                                     const_dnnl_primitive_attr_t attributes,
                                     dnnl_primitive_desc_t *out);

/* Is it one of onednn_simple's?  The same for one over operands as `md` says. */
bool onednn_is_simple(int64_t op);
dnnl_status_t onednn_describe_simple(const onednn_library *l, const onednn_problem *p,
                                     const dnnl_memory_desc_t *md,
                                     const_dnnl_primitive_attr_t attributes,
                                     dnnl_primitive_desc_t *out);

/* A descriptor for the problem: dnnl_unimplemented where this CPU has none. */
dnnl_status_t onednn_describe(const onednn_library *l, const onednn_problem *p,
                              dnnl_primitive_desc_t *out);
/* Is there a descriptor, with p->threads threads?  Where the library answers otherwise than that
 * none is implemented, the answer is yes, so that a launch tells what is wrong. */
bool onednn_implements(const onednn_library *l, const onednn_problem *p);
/* Runs the problem on `data`, with p->threads threads of OpenMP, or with one where OpenMP would not
 * give as many. */
assay_status onednn_run(const assay_launch *launch, const onednn_library *l,
                        const onednn_problem *p, void *const *data);

/* The library of a launch. */
assay_status onednn_opened(const assay_launch *launch, const onednn_library **out);

/* Types as oneDNN calls them: F32, BF16, F16, I32, I8 and U8. */
dnnl_data_type_t onednn_type(assay_dtype t);

/* Lanes behind the axis of that example. */
enum { ONEDNN_LANES = 16 };

/* A small problem of this op, dtype and dtype of results, to ask what is implemented. */
void onednn_example(assay_op_id op, assay_dtype t, assay_dtype result, onednn_problem *out);
void onednn_conv2d_example(assay_op_id op, assay_dtype t, onednn_problem *out);
/* dims: n, rows and cols, or what is before, of and behind the axis; the rest 1. */
void onednn_simple_example(assay_op_id op, assay_dtype t, const int64_t dims[3],
                           onednn_problem *out);

/* Does the library compute one of onednn_simple's as the catalogue's law says?  `text` names it in
 * the reason. */
assay_status onednn_ask_law(assay_instance *instance, const onednn_library *l, assay_op_id op,
                            assay_dtype t, const char *text);

#endif
#endif
