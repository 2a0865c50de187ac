/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/matmul_launch.h -- a matmul launch as BLAS-like libraries want it: extents, leading
 * dimensions, distances between the products of a batch.  All in elements. */
#ifndef ASSAY_BACKENDS_MATMUL_LAUNCH_H
#define ASSAY_BACKENDS_MATMUL_LAUNCH_H

#include <limits.h>

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

static inline void matmul_read(const assay_launch *launch, matmul_launch *g)
{
    const assay_problem *p = launch->problem;
    const assay_tensor *t = launch->operands;

    g->batch = ASSAY__INT(p, matmul, batch);
    g->m = ASSAY__INT(p, matmul, m);
    g->n = ASSAY__INT(p, matmul, n);
    g->k = ASSAY__INT(p, matmul, k);
    /* Conjugation is the identity on real numbers. */
    g->trans_a = ASSAY__INT(p, matmul, trans_a) != 0;
    g->trans_b = ASSAY__INT(p, matmul, trans_b) != 0;
    g->alpha = ASSAY__REAL(p, matmul, alpha);
    g->beta = ASSAY__REAL(p, matmul, beta);
    g->lda = matmul_leading(&t[0]);
    g->ldb = matmul_leading(&t[1]);
    g->ldc = matmul_leading(&t[2]);
    g->a_step = t[0].strides[0];
    g->b_step = t[1].strides[0];
    g->c_step = t[2].strides[0];
    g->a = assay_tensor_data(&t[0]);
    g->b = assay_tensor_data(&t[1]);
    g->c = assay_tensor_data(&t[2]);
}

/* Do extents and leading dimensions fit a library that counts in int? */
static inline bool matmul_extents_are_int(const assay_problem *p)
{
    return ASSAY__INT(p, matmul, m) <= INT_MAX && ASSAY__INT(p, matmul, n) <= INT_MAX &&
           ASSAY__INT(p, matmul, k) <= INT_MAX;
}

static inline bool matmul_leading_are_int(const matmul_launch *g)
{
    return g->lda <= INT_MAX && g->ldb <= INT_MAX && g->ldc <= INT_MAX;
}

#endif
