/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/product_sample.h -- which elements of a large product are compared with the oracle.
 *
 * Borders (first and last rows and columns), and inside them grids of seeded rows and columns, one
 * in each of equal bands, so that no region is left out: each grid is a product of its own, which
 * the oracle computes as any other.  A pure function of (problem, sets, limit, seed, stream). */
#ifndef ASSAY_CALIBRATE_PRODUCT_SAMPLE_H
#define ASSAY_CALIBRATE_PRODUCT_SAMPLE_H

#include "calibrate/product.h"

/* Products of more work than this are sampled (design: 2 GFLOP). */
#define ASSAY__SAMPLE_ABOVE_FLOPS 2e9

typedef struct assay__grid {
    int64_t batch, rows, cols;
    size_t row, col; /* where they begin in `at` */
} assay__grid;

typedef struct assay__product_sample {
    assay__grid *grids; /* owned */
    size_t grid_count, grid_cap;
    int64_t *at; /* owned: rows and columns of all grids */
    size_t at_count, at_cap;
    int64_t elements; /* all different */
} assay__product_sample;

/* How many elements of each of `sets` input sets are to be compared, about; 0: all.  As many as
 * cost `above_flops`, or as make 10^6 of all sets together where that costs no more than ten times
 * as much; at least 4,096 and the borders. */
int64_t assay__product_sample_size(const assay__product *g, double above_flops, size_t sets);

/* `wanted` from the above.  ASSAY_NOMEM. */
assay_status assay__product_sample_make(const assay__product *g, int64_t wanted, uint64_t seed,
                                        const char *stream, assay__product_sample *out);
void assay__product_sample_clear(assay__product_sample *s);

#endif
