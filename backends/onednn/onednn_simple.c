/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/onednn/onednn_simple.c -- elementwise ops, reductions and layer_norm as primitives of
 * oneDNN: one call of the library each, and no layout but the caller's. */
#include <limits.h>
#include <string.h>

#include "backends/onednn/onednn_calls.h"
#include "backends/thread_choice.h"
#include "runtime/host_backend.h"
#include "runtime/op_params.h"

/* Extents are read by place, those of all reductions too, and n of all elementwise ops. */
_Static_assert(ASSAY__PARAM_INDEX(add, n) == ASSAY__PARAM_INDEX(tanh, n) &&
                   ASSAY__PARAM_INDEX(sum_reduce, outer) ==
                       ASSAY__PARAM_INDEX(mean_reduce, outer) &&
                   ASSAY__PARAM_INDEX(sum_reduce, axis) == ASSAY__PARAM_INDEX(mean_reduce, axis) &&
                   ASSAY__PARAM_INDEX(sum_reduce, inner) == ASSAY__PARAM_INDEX(mean_reduce, inner),
               "ops of one family");

bool onednn_elementwise_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, tanh, n) <= INT_MAX &&
           (tunables == NULL || threads_usable(tunables[0]));
}

/* What it makes of no elements is not documented, and of one it makes no reduction. */
bool onednn_reduce_usable(const assay_problem *problem, const int64_t *tunables)
{
    int64_t axis = ASSAY__INT(problem, sum_reduce, axis);

    return axis > 1 && axis <= INT_MAX && ASSAY__INT(problem, sum_reduce, outer) <= INT_MAX &&
           ASSAY__INT(problem, sum_reduce, inner) <= INT_MAX &&
           (tunables == NULL || threads_usable(tunables[0]));
}

/* Its eps is a float: one that would be infinite, or lose digits, is left to others. */
bool onednn_layer_norm_usable(const assay_problem *problem, const int64_t *tunables)
{
    double eps = ASSAY__REAL(problem, layer_norm_last_dim, eps);

    return ASSAY__INT(problem, layer_norm_last_dim, cols) > 0 &&
           ASSAY__INT(problem, layer_norm_last_dim, rows) <= INT_MAX &&
           ASSAY__INT(problem, layer_norm_last_dim, cols) <= INT_MAX &&
           (eps == 0.0 || (eps >= 0x1p-126 && eps <= 0x1p127)) &&
           (tunables == NULL || threads_usable(tunables[0]));
}

#if HAVE_ONEDNN

static const struct algorithm {
    assay_op_id op;
    dnnl_alg_kind_t kind;
    int inputs;
} algorithms[] = {
    {ASSAY_OP_add, dnnl_binary_add, 2},
    {ASSAY_OP_sub, dnnl_binary_sub, 2},
    {ASSAY_OP_mul, dnnl_binary_mul, 2},
    {ASSAY_OP_div, dnnl_binary_div, 2},
    {ASSAY_OP_maximum, dnnl_binary_max, 2},
    {ASSAY_OP_minimum, dnnl_binary_min, 2},
    {ASSAY_OP_relu, dnnl_eltwise_relu, 1},
    {ASSAY_OP_tanh, dnnl_eltwise_tanh, 1},
    {ASSAY_OP_gelu, dnnl_eltwise_gelu_tanh, 1},
    {ASSAY_OP_gelu_erf, dnnl_eltwise_gelu_erf, 1},
    {ASSAY_OP_sum_reduce, dnnl_reduction_sum, 1},
    {ASSAY_OP_mean_reduce, dnnl_reduction_mean, 1},
    {ASSAY_OP_max_reduce, dnnl_reduction_max, 1},
    {ASSAY_OP_min_reduce, dnnl_reduction_min, 1},
    {ASSAY_OP_layer_norm_last_dim, dnnl_alg_kind_undef, 1},
};

static const struct algorithm *algorithm_of(int64_t op)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if ((int64_t)algorithms[i].op == op)
            return &algorithms[i];
    return NULL;
}

bool onednn_is_simple(int64_t op)
{
    return algorithm_of(op) != NULL;
}

static bool is_reduction(int64_t op)
{
    return op == ASSAY_OP_sum_reduce || op == ASSAY_OP_mean_reduce || op == ASSAY_OP_max_reduce ||
           op == ASSAY_OP_min_reduce;
}

dnnl_status_t onednn_describe_simple(const onednn_library *l, const onednn_problem *p,
                                     const dnnl_memory_desc_t *md,
                                     const_dnnl_primitive_attr_t attributes,
                                     dnnl_primitive_desc_t *out)
{
    const struct algorithm *a = algorithm_of(p->op);
    union {
        dnnl_binary_desc_t binary;
        dnnl_eltwise_desc_t eltwise;
        dnnl_reduction_desc_t reduction;
        dnnl_layer_normalization_desc_t norm;
    } desc;
    dnnl_status_t status;

    if (a->inputs == 2)
        status = l->binary_desc_init(&desc.binary, a->kind, &md[0], &md[1], &md[2]);
    else if (is_reduction(p->op))
        status = l->reduction_desc_init(&desc.reduction, a->kind, &md[0], &md[1], 0.0f, 0.0f);
    else if (p->op == ASSAY_OP_layer_norm_last_dim)
        status = l->layer_normalization_forward_desc_init(&desc.norm, dnnl_forward_inference,
                                                          &md[0], NULL, (float)p->eps, 0);
    else
        status = l->eltwise_forward_desc_init(&desc.eltwise, dnnl_forward_inference, a->kind,
                                              &md[0], 0.0f, 0.0f);
    return status != dnnl_success
               ? status
               : l->primitive_desc_create(out, &desc, attributes, l->engine, NULL);
}

/* Row-major. */
static void set_operand(onednn_problem *p, int i, const int64_t *dims)
{
    int64_t step = 1;

    memcpy(p->dims[i], dims, (size_t)p->rank * sizeof *dims);
    for (int64_t d = p->rank - 1; d >= 0; step *= dims[d--])
        p->strides[i][d] = step;
}

/* Of a reduction three extents, the middle one goes; behind it may be nothing. */
static void describe(assay_op_id op, assay_dtype t, int64_t rank, const int64_t *dims,
                     int64_t threads, onednn_problem *out)
{
    bool reduces = is_reduction((int64_t)op);
    int64_t result[ONEDNN_RANK];

    memset(out, 0, sizeof *out);
    out->op = (int64_t)op;
    out->threads = threads;
    out->rank = reduces && dims[2] == 1 ? 2 : rank;
    out->dtype = out->out_dtype = (int32_t)t;
    out->count = algorithm_of((int64_t)op)->inputs + 1;
    out->alpha = 1.0;
    memcpy(result, dims, (size_t)rank * sizeof *dims);
    if (reduces)
        result[1] = 1;
    for (int i = 0; i < out->count; i++)
        set_operand(out, i, i == out->count - 1 ? result : dims);
}

void onednn_simple_example(assay_op_id op, assay_dtype t, const int64_t dims[3],
                           onednn_problem *out)
{
    int64_t rank = is_reduction((int64_t)op) ? 3 : op == ASSAY_OP_layer_norm_last_dim ? 2 : 1;

    describe(op, t, rank, dims, 1, out);
    out->eps = op == ASSAY_OP_layer_norm_last_dim ? 0x1p-16 : 0.0;
}

assay_status onednn_simple(const assay_launch *launch)
{
    const assay_tensor *x = &launch->operands[0];
    const assay_op_id op = (assay_op_id)launch->problem->op;
    void *data[ONEDNN_OPERANDS];
    const onednn_library *l;
    onednn_problem p;

    ASSAY_TRY(onednn_opened(launch, &l));
    for (uint32_t i = 0; i < x->rank; i++)
        if (x->dims[i] == 0) /* a sum of nothing is never asked for */
            return ASSAY_OK;
    describe(op, x->dtype, x->rank, x->dims, launch->tunables != NULL ? launch->tunables[0] : 1,
             &p);
    if (op == ASSAY_OP_layer_norm_last_dim)
        p.eps = ASSAY__REAL(launch->problem, layer_norm_last_dim, eps);
    for (int i = 0; i < p.count; i++)
        data[i] = assay_tensor_data(&launch->operands[i]);
    return onednn_run(launch, l, &p, data);
}

#else

assay_status onednn_simple(const assay_launch *launch)
{
    return onednn_identify(launch->instance, "onednn", NULL, 0);
}

#endif
