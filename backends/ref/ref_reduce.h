/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_reduce.h -- references of reductions over the middle extent. */
#ifndef ASSAY_BACKENDS_REF_REDUCE_H
#define ASSAY_BACKENDS_REF_REDUCE_H

#include "backends/ref/ref.h"

/* One result: elements first, first + step, ... of x, n of them. */
typedef ref_dd (*ref_reduce_fn)(const assay_tensor *x, int64_t first, int64_t step, int64_t n,
                                double *bound, double *magnitude);
assay_status ref_wide_reduce(const assay_launch *launch, unsigned threads, const assay_wide *out,
                             ref_reduce_fn f);

/* The sum; bound n 2^-103 of the sum of |x|, which is the magnitude. */
ref_dd ref_sum_of(const assay_tensor *x, int64_t first, int64_t step, int64_t n, double *bound,
                  double *magnitude);

#endif
