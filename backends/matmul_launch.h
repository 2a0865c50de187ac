/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/matmul_launch.h -- a matmul launch as BLAS-like libraries want it: extents, leading
 * dimensions, distances between the products of a batch.  All in elements. */
#ifndef ASSAY_BACKENDS_MATMUL_LAUNCH_H
#define ASSAY_BACKENDS_MATMUL_LAUNCH_H

#include <limits.h>
#include <string.h>

#include "assay/plugin.h"
#include "runtime/op_params.h"

typedef struct matmul_launch {
    int64_t batch, m, n, k, lda, ldb, ldc;
    int64_t a_step, b_step, c_step;
    void *a, *b, *c;
    double alpha, beta;
    bool trans_a, trans_b;
} matmul_launch;

/* Row distance of a matrix; what a single row has there means nothing to BLAS. */
static inline int64_t matmul_leading(const assay_tensor *t)
{
    int64_t least = t->dims[2] > 1 ? t->dims[2] : 1;
    int64_t ld = t->dims[1] > 1 ? t->strides[1] : least;

    return ld > least ? ld : least;
}

/* Extents and places of the first two operands and of the last. */
static inline void matmul_operands(const assay_launch *launch, bool ta, bool tb, matmul_launch *g)
{
    const assay_tensor *a = &launch->operands[0], *b = &launch->operands[1];
    const assay_tensor *c = &launch->operands[launch->operand_count - 1];

    g->batch = c->dims[0];
    g->m = c->dims[1];
    g->n = c->dims[2];
    g->k = a->dims[ta ? 1 : 2];
    g->trans_a = ta;
    g->trans_b = tb;
    g->lda = matmul_leading(a);
    g->ldb = matmul_leading(b);
    g->ldc = matmul_leading(c);
    g->a_step = a->strides[0];
    g->b_step = b->strides[0];
    g->c_step = c->strides[0];
    g->a = assay_tensor_data(a);
    g->b = assay_tensor_data(b);
    g->c = assay_tensor_data(c);
    g->alpha = g->beta = 1.0;
}

/* Every row of y becomes the bias, for a gemm with beta 1 to add to. */
static inline void matmul_fill_bias(const assay_launch *launch, const matmul_launch *g)
{
    const assay_tensor *bias = &launch->operands[2];
    size_t bytes = assay_dtype_bytes(bias->dtype);

    for (int64_t i = 0; i < g->batch && g->n > 0; i++)
        for (int64_t row = 0; row < g->m; row++)
            memcpy((char *)g->c + (size_t)(i * g->c_step + row * g->ldc) * bytes,
                   assay_tensor_data(bias), (size_t)g->n * bytes);
}

/* A matmul, or a fused_linear without its bias. */
static inline void matmul_read_operands(const assay_launch *launch, matmul_launch *g)
{
    const assay_problem *p = launch->problem;

    if (p->op == ASSAY_OP_fused_linear) {
        matmul_operands(launch, false, false, g);
        return;
    }
    /* Conjugation is the identity on real numbers. */
    matmul_operands(launch, ASSAY__INT(p, matmul, trans_a) != 0,
                    ASSAY__INT(p, matmul, trans_b) != 0, g);
    g->alpha = ASSAY__REAL(p, matmul, alpha);
    g->beta = ASSAY__REAL(p, matmul, beta);
}

/* For libraries that have no bias: a fused_linear becomes C = A B + C. */
static inline void matmul_read(const assay_launch *launch, matmul_launch *g)
{
    matmul_read_operands(launch, g);
    if (launch->problem->op == ASSAY_OP_fused_linear)
        matmul_fill_bias(launch, g);
}

/* Do extents and leading dimensions fit a library that counts in int? */
static inline bool matmul_extents_are_int(const assay_problem *p)
{
    if (p->op == ASSAY_OP_fused_linear)
        return ASSAY__INT(p, fused_linear, m) <= INT_MAX &&
               ASSAY__INT(p, fused_linear, n) <= INT_MAX &&
               ASSAY__INT(p, fused_linear, k) <= INT_MAX;
    return ASSAY__INT(p, matmul, m) <= INT_MAX && ASSAY__INT(p, matmul, n) <= INT_MAX &&
           ASSAY__INT(p, matmul, k) <= INT_MAX;
}

static inline bool matmul_leading_are_int(const matmul_launch *g)
{
    return g->lda <= INT_MAX && g->ldb <= INT_MAX && g->ldc <= INT_MAX;
}

#endif
