/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_min_reduce.c -- smallest elements along an axis; a NaN wins, -0 < +0. */
#include "backends/ref/ref_reduce.h"

static ref_dd smallest(const assay_tensor *x, int64_t first, int64_t step, int64_t n, double *bound,
                       double *magnitude)
{
    double y = ref_load(x, first);

    (void)bound;
    (void)magnitude;
    for (int64_t j = 1; j < n; j++) {
        double v = ref_load(x, first + j * step);
        bool wins = v < y || (v == y && signbit(v));
        y = isnan(y) || isnan(v) ? NAN : wins ? v : y;
    }
    return (ref_dd){y, 0.0};
}

REF_OP(min_reduce, 4096)
{
    return ref_wide_reduce(launch, threads, out, smallest);
}
