/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/product.h -- a problem whose result is alpha op(A) op(B) + beta C, element by element.
 *
 * What too large a product is checked by, a sample of its elements and projections of all, needs no
 * more of the op than this. */
#ifndef ASSAY_CALIBRATE_PRODUCT_H
#define ASSAY_CALIBRATE_PRODUCT_H

#include "assay/op.h"

/* Operands are contiguous and row-major.  The addend is the third input: old contents of C, or one
 * row for all. */
typedef struct assay__product {
    assay_problem problem;
    int64_t batch, m, n, k;
    bool trans_a, trans_b;
    double alpha, beta;   /* as kernels take them: in f32 but for f64 */
    bool has_addend;      /* beta is not 0 */
    bool is_addend_a_row; /* of n elements, in every row of every product */
} assay__product;

/* False: no such op, or A and B are not read. */
bool assay__product_of(const assay_problem *p, assay__product *out);

/* The problem of those of its elements that lie in `rows` rows and `cols` columns. */
assay_status assay__product_part(const assay__product *g, int64_t rows, int64_t cols,
                                 assay_problem *out);
/* Its inputs, out of those of the whole: `row` and `col` name rows and columns of product `batch`,
 * ascending.  from, to: addresses of A, B and, where there is one, the addend. */
void assay__product_gather(const assay__product *g, int64_t batch, const int64_t *row, int64_t rows,
                           const int64_t *col, int64_t cols, const void *const from[3],
                           void *const to[3]);

#endif
