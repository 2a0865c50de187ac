/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_matmul.h -- the reference matmul's problem and its element-by-element paths. */
#ifndef ASSAY_BACKENDS_REF_MATMUL_H
#define ASSAY_BACKENDS_REF_MATMUL_H

#include "backends/ref/ref.h"

typedef struct ref_matmul {
    const assay_tensor *a, *b, *c;
    int64_t m, n, k;
    bool trans_a, trans_b;
    double alpha, beta; /* as the dtype's kernels take them */
} ref_matmul;

/* A sum of products with its absolute error bound and the sum of their absolute values. */
typedef struct ref_sum {
    ref_dd value;
    double bound;
    double magnitude;
} ref_sum;

void ref_matmul_read(const assay_launch *launch, ref_matmul *g);

/* Elements [out->first, + out->count) of all products; operands may be wider than c's type says, as
 * long as their values fit it. */
assay_status ref_matmul_wide(const ref_matmul *g, unsigned threads, const assay_wide *out);

/* Elements of op(A), op(B) and C as doubles. */
double ref_matmul_a(const ref_matmul *g, int64_t batch, int64_t i, int64_t p);
double ref_matmul_b(const ref_matmul *g, int64_t batch, int64_t p, int64_t j);
double ref_matmul_c(const ref_matmul *g, int64_t batch, int64_t i, int64_t j);

/* One element before alpha and beta; the bound is found on the way and 0 when nothing was lost. */
ref_sum ref_matmul_dot(const ref_matmul *g, int64_t batch, int64_t i, int64_t j);

/* alpha * sum + beta * C[i][j]; C is read only when beta is not 0. */
ref_sum ref_matmul_scale(const ref_matmul *g, int64_t batch, int64_t i, int64_t j, ref_sum sum);

/* The finished element, as exactly as this file knows: up to 32 bits through ref_matmul_dot, f64
 * through an MPFR accumulator that loses nothing. */
ref_sum ref_matmul_exact(const ref_matmul *g, int64_t batch, int64_t i, int64_t j);

#endif
