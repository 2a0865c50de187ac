/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/projection.h -- Freivalds' check of a whole product: Y r against A (B r), in f64.
 *
 * R. Freivalds, Probabilistic machines can use less running time, IFIP 1977.  Columns are taken in
 * blocks of up to 512, so that each row has a sum and a threshold of its own in each block (a
 * strip): over a whole row of 28,672 the threshold, which adds up what each element may err, would
 * hide much more.  A block costs 4 of its columns' products: less than a hundredth of the whole.
 *
 * Three vectors share their sizes, which lie in [1, 2), no two in a block alike, and have seeded
 * signs of their own.  So every element's error counts at least once; errors that are of one sign
 * do not add up, nor can two columns that changed places cancel, which they may behind entries of
 * +-1, in every row at once.  Sizes have 9 bits: products with f32 are exact. */
#ifndef ASSAY_CALIBRATE_PROJECTION_H
#define ASSAY_CALIBRATE_PROJECTION_H

#include "calibrate/accept.h"
#include "calibrate/product.h"

#define ASSAY__PROJECTION_BLOCK 512

/* Numbers come in fours: a sum for each vector, and one of absolute values for the threshold. */
typedef struct assay__projection {
    assay__product product;
    int64_t width, blocks; /* columns of a block, the last may have fewer; blocks of a row */
    double *vectors;       /* owned: of each column */
    double *expected;      /* owned: of each strip, row by row */
} assay__projection;

/* Strips of a product: what the arrays take. */
int64_t assay__projection_strips(const assay__product *g);

/* from: A, B and the addend, as in product.h.  ASSAY_NOMEM. */
assay_status assay__projection_make(const assay__product *g, const void *const from[3],
                                    uint64_t seed, const char *stream, unsigned threads,
                                    assay__projection *out);
void assay__projection_clear(assay__projection *e);

/* share, of each strip: the largest |Y r - A (B r)| over its threshold.  Where every element is
 * within its certain bound and a number, and so is what is expected, the share is at most 1: a
 * theorem, not a chance.  INFINITY where one is no number.  The same for every number of threads.
 */
assay_status assay__projection_compare(const assay__projection *e, const void *y,
                                       const assay_accept_spec *spec, unsigned threads,
                                       double *share);

typedef struct assay__strip {
    size_t at;
    double share;
} assay__strip;
/* Those of `count` strips that are not within their thresholds, all, and of the others the worst
 * `others`; worst first, of equals the first.  list: room for all.  How many. */
size_t assay__projection_suspects(const double *share, size_t count, size_t others,
                                  assay__strip *list);

#endif
