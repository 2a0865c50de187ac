/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/projection_loops.h -- the inner loops of projections, for two instruction sets.
 *
 * x * four: x times each of the first three of a four, |x| times the last. */
#ifndef ASSAY_CALIBRATE_PROJECTION_LOOPS_H
#define ASSAY_CALIBRATE_PROJECTION_LOOPS_H

#include <stddef.h>

typedef struct assay__projection_loops {
    /* sum[4] += x[j] * fours[j], over n */
    void (*dot)(const double *x, const double *fours, size_t n, double *sum);
    /* out[p] += x[p] * four, over n */
    void (*add)(const double *x, const double *four, size_t n, double *out);
    /* out[i][c] += sum over p of x(i, p) * fours[p][c]: rows x k times k x count.  x(i, p) lies at
     * i * row_step + p * step; rows of the others are `count` fours, count even, rows a multiple of
     * four. */
    void (*multiply)(const double *x, size_t row_step, size_t step, size_t rows, size_t k,
                     const double *fours, size_t count, double *out);
} assay__projection_loops;

extern const assay__projection_loops assay__projection_portable, assay__projection_avx2;

/* Whichever this machine can run. */
const assay__projection_loops *assay__projection_best(void);

#endif
