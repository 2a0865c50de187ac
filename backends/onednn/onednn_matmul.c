/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/onednn/onednn_matmul.c -- matmul, fused_linear, softmax and cast as primitives of
 * oneDNN.
 */
#include <string.h>

#include "backends/matmul_launch.h"
#include "backends/matmul_scale.h"
#include "backends/onednn/onednn_calls.h"
#include "backends/thread_choice.h"

/* Sums of nothing are left to others: what oneDNN makes of k = 0 is not documented, and a scale of
 * 0 it multiplies with, so that a NaN in A stays one. */
bool onednn_matmul_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, matmul, k) > 0 && matmul_extents_are_int(problem) &&
           !matmul_factor_is_zero(ASSAY__REAL(problem, matmul, alpha),
                                  (assay_dtype)problem->dtypes[2]) &&
           (tunables == NULL || threads_usable(tunables[0]));
}

bool onednn_linear_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, fused_linear, k) > 0 && matmul_extents_are_int(problem) &&
           (tunables == NULL || threads_usable(tunables[0]));
}

/* Extents are read by place, those of log_softmax too. */
_Static_assert(ASSAY__PARAM_INDEX(log_softmax_last_dim, rows) ==
                       ASSAY__PARAM_INDEX(softmax_last_dim, rows) &&
                   ASSAY__PARAM_INDEX(log_softmax_last_dim, cols) ==
                       ASSAY__PARAM_INDEX(softmax_last_dim, cols) &&
                   ASSAY__PARAM_INDEX(log_softmax, outer) == ASSAY__PARAM_INDEX(softmax, outer) &&
                   ASSAY__PARAM_INDEX(log_softmax, axis) == ASSAY__PARAM_INDEX(softmax, axis) &&
                   ASSAY__PARAM_INDEX(log_softmax, inner) == ASSAY__PARAM_INDEX(softmax, inner),
               "softmax and its logarithm");

bool onednn_softmax_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, softmax_last_dim, rows) <= INT_MAX &&
           ASSAY__INT(problem, softmax_last_dim, cols) <= INT_MAX &&
           (tunables == NULL || threads_usable(tunables[0]));
}

bool onednn_cast_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, cast, n) <= INT_MAX &&
           (tunables == NULL || threads_usable(tunables[0]));
}

/* One lane: another implementation, that of rows, which makes numbers of NaN. */
bool onednn_softmax_axis_usable(const assay_problem *problem, const int64_t *tunables)
{
    int64_t inner = ASSAY__INT(problem, softmax, inner);

    return inner > 1 && inner <= INT_MAX && ASSAY__INT(problem, softmax, outer) <= INT_MAX &&
           ASSAY__INT(problem, softmax, axis) <= INT_MAX &&
           (tunables == NULL || threads_usable(tunables[0]));
}

#if HAVE_ONEDNN

static void set_matrix(onednn_problem *p, int i, const int64_t *dims, int64_t step, int64_t ld,
                       bool transposed)
{
    int64_t from = p->rank - 2;

    if (p->rank == 3) {
        p->dims[i][0] = dims[0];
        p->strides[i][0] = step;
    }
    p->dims[i][from] = dims[1];
    p->dims[i][from + 1] = dims[2];
    p->strides[i][from] = transposed ? 1 : ld;
    p->strides[i][from + 1] = transposed ? ld : 1;
}

static void describe_matmul(const matmul_launch *g, assay_dtype t, assay_dtype result,
                            int64_t threads, onednn_problem *p)
{
    memset(p, 0, sizeof *p);
    p->op = ASSAY_OP_matmul;
    p->threads = threads;
    p->rank = g->batch == 1 ? 2 : 3;
    p->dtype = (int32_t)t;
    p->out_dtype = (int32_t)result;
    p->count = 3;
    p->alpha = g->alpha;
    p->beta = g->beta;
    set_matrix(p, 0, (int64_t[]){g->batch, g->m, g->k}, g->a_step, g->lda, g->trans_a);
    set_matrix(p, 1, (int64_t[]){g->batch, g->k, g->n}, g->b_step, g->ldb, g->trans_b);
    set_matrix(p, 2, (int64_t[]){g->batch, g->m, g->n}, g->c_step, g->ldc, false);
}

/* A product whose output moves one place back, behind a bias that all rows share. */
static void describe_linear(const matmul_launch *g, assay_dtype t, int64_t threads,
                            onednn_problem *p)
{
    describe_matmul(g, t, t, threads, p);
    p->op = ASSAY_OP_fused_linear;
    p->beta = 0.0;
    p->count = 4;
    memcpy(p->dims[3], p->dims[2], sizeof p->dims[2]);
    memcpy(p->strides[3], p->strides[2], sizeof p->strides[2]);
    for (int64_t d = 0; d < p->rank; d++) {
        p->dims[2][d] = d + 1 == p->rank ? g->n : 1;
        p->strides[2][d] = d + 1 == p->rank ? 1 : g->n;
    }
}

/* Along the middle extent: rows of softmax_last_dim have one lane. */
static void describe_softmax(assay_op_id op, const int64_t dims[3], assay_dtype t, int64_t threads,
                             onednn_problem *p)
{
    memset(p, 0, sizeof *p);
    p->op = op;
    p->threads = threads;
    p->rank = onednn_is_axis((int64_t)op) ? 3 : 2;
    p->dtype = p->out_dtype = (int32_t)t;
    p->count = 2;
    p->alpha = 1.0;
    for (int i = 0; i < 2; i++) {
        memcpy(p->dims[i], dims, (size_t)p->rank * sizeof *dims);
        p->strides[i][0] = dims[1] * dims[2];
        p->strides[i][1] = dims[2];
        p->strides[i][2] = p->rank == 3 ? 1 : 0;
    }
}

static void describe_cast(assay_dtype from, assay_dtype to, int64_t n, int64_t threads,
                          onednn_problem *p)
{
    memset(p, 0, sizeof *p);
    p->op = ASSAY_OP_cast;
    p->threads = threads;
    p->rank = 1;
    p->dtype = (int32_t)from;
    p->out_dtype = (int32_t)to;
    p->count = 2;
    p->alpha = 1.0;
    for (int i = 0; i < 2; i++) {
        p->dims[i][0] = n;
        p->strides[i][0] = 1;
    }
}

void onednn_example(assay_op_id op, assay_dtype t, assay_dtype result, onednn_problem *out)
{
    matmul_launch g = {
        .batch = 1, .m = 32, .n = 32, .k = 32, .lda = 32, .ldb = 32, .ldc = 32, .alpha = 1.0};

    out->op = (int64_t)op;
    if (onednn_is_conv2d(out))
        onednn_conv2d_example(op, t, out);
    else if (op == ASSAY_OP_matmul)
        describe_matmul(&g, t, result, 1, out);
    else if (op == ASSAY_OP_cast)
        describe_cast(t, result, 1024, 1, out);
    else if (op == ASSAY_OP_fused_linear)
        describe_linear(&g, t, 1, out);
    else if (onednn_is_simple((int64_t)op))
        onednn_simple_example(op, t, (int64_t[]){32, 32, 1}, out);
    else
        describe_softmax(op, (int64_t[]){32, 32, onednn_is_axis((int64_t)op) ? ONEDNN_LANES : 1}, t,
                         1, out);
}

static int64_t threads_of(const assay_launch *launch)
{
    return launch->tunables != NULL ? launch->tunables[0] : 1;
}

assay_status onednn_opened(const assay_launch *launch, const onednn_library **out)
{
    const char *why;

    *out = onednn_open(&why);
    if (*out == NULL)
        return assay__host_fail(launch->instance, ASSAY_UNAVAILABLE, "oneDNN: %s", why);
    return ASSAY_OK;
}

assay_status onednn_matmul(const assay_launch *launch)
{
    const onednn_library *l;
    matmul_launch g;
    onednn_problem p;

    ASSAY_TRY(onednn_opened(launch, &l));
    matmul_read(launch, &g);
    if (g.batch == 0 || g.m == 0 || g.n == 0)
        return ASSAY_OK;
    if (matmul_factor_is_zero(g.beta, launch->operands[2].dtype))
        g.beta = 0.0;
    describe_matmul(&g, launch->operands[0].dtype, launch->operands[2].dtype, threads_of(launch),
                    &p);
    return onednn_run(launch, l, &p, (void *[]){g.a, g.b, g.c});
}

assay_status onednn_linear(const assay_launch *launch)
{
    const onednn_library *l;
    matmul_launch g;
    onednn_problem p;

    ASSAY_TRY(onednn_opened(launch, &l));
    matmul_read_operands(launch, &g);
    if (g.batch == 0 || g.m == 0 || g.n == 0)
        return ASSAY_OK;
    describe_linear(&g, launch->operands[0].dtype, threads_of(launch), &p);
    return onednn_run(launch, l, &p,
                      (void *[]){g.a, g.b, assay_tensor_data(&launch->operands[2]), g.c});
}

assay_status onednn_cast(const assay_launch *launch)
{
    const assay_tensor *x = &launch->operands[0], *y = &launch->operands[1];
    const onednn_library *l;
    onednn_problem p;

    ASSAY_TRY(onednn_opened(launch, &l));
    if (x->dims[0] == 0)
        return ASSAY_OK;
    describe_cast(x->dtype, y->dtype, x->dims[0], threads_of(launch), &p);
    return onednn_run(launch, l, &p, (void *[]){assay_tensor_data(x), assay_tensor_data(y)});
}

/* Of four ops: over rows and along an axis, and the logarithms. */
assay_status onednn_softmax(const assay_launch *launch)
{
    const onednn_library *l;
    const assay_tensor *x = &launch->operands[0];
    int64_t dims[3] = {x->dims[0], x->dims[1], x->rank == 3 ? x->dims[2] : 1};
    onednn_problem p;

    ASSAY_TRY(onednn_opened(launch, &l));
    if (dims[0] == 0 || dims[1] == 0 || dims[2] == 0)
        return ASSAY_OK;
    describe_softmax((assay_op_id)launch->problem->op, dims, x->dtype, threads_of(launch), &p);
    return onednn_run(launch, l, &p,
                      (void *[]){assay_tensor_data(x), assay_tensor_data(&launch->operands[1])});
}

#else

assay_status onednn_matmul(const assay_launch *launch)
{
    return onednn_identify(launch->instance, "onednn", NULL, 0);
}

assay_status onednn_softmax(const assay_launch *launch)
{
    return onednn_matmul(launch);
}

assay_status onednn_cast(const assay_launch *launch)
{
    return onednn_matmul(launch);
}

#endif
