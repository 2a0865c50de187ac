/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/acceptance.h -- which rule an op's results are judged by. */
#ifndef ASSAY_SWEEP_ACCEPTANCE_H
#define ASSAY_SWEEP_ACCEPTANCE_H

#include "assay/op.h"
#include "assay/plugin.h"
#include "calibrate/accept.h"

/* The rule is the catalogue's (ASSAY_BOUND rows of assay/op.def), the arithmetic inside f64 for f64
 * and f32 for everything narrower.  Limits of distance are four times what OpenCL's full profile
 * allows, so that a fast kernel is measured and left to the tolerance of who asks. */
assay_status assay__acceptance_of(const assay_problem *p, assay_accept_spec *out);
/* The same, as `kernel` may err: more roundings where it says so. */
assay_status assay__acceptance_for(const assay_problem *p, const assay_kernel_desc *kernel,
                                   assay_accept_spec *out);
/* Of all outputs of a convolution, the largest magnitude in their tile of tile x tile outputs, at
 * the borders what there is of it; `out` and `magnitude` do not overlap. */
void assay__tile_magnitude(const assay_problem *p, int64_t tile, const double *magnitude,
                           double *out);
/* The bound as one number to store: dist, or roundings on a path. */
double assay__acceptance_bound(const assay_accept_spec *spec);

/* The maxima of the rows of one block, kept from batch to batch.  Owned: clear it. */
typedef struct assay__depth_state {
    int64_t block; /* -1: none */
    double *max;   /* owned */
} assay__depth_state;
#define ASSAY__DEPTH_START ((assay__depth_state){-1, NULL})
void assay__depth_clear(assay__depth_state *state);

/* |x - max of its row| of elements first .. first + count - 1 of a softmax input, along its axis.
 * ASSAY_NOMEM. */
assay_status assay__softmax_depth(const assay_problem *p, const void *x, int64_t first,
                                  int64_t count, assay__depth_state *state, double *out);

/* True where elements of the output are sums of nothing: an input has no elements, or alpha is 0.
 * Whatever the data, zeros are right there, and poison under them shows that they were written. */
bool assay__sums_nothing(const assay_problem *p);

#endif
