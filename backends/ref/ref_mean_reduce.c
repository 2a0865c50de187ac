/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_mean_reduce.c -- means along an axis: the sum over the count. */
#include "backends/ref/ref_reduce.h"

static ref_dd mean(const assay_tensor *x, int64_t first, int64_t step, int64_t n, double *bound,
                   double *magnitude)
{
    if (n == 0)
        return (ref_dd){NAN, 0.0};
    ref_dd sum = ref_sum_of(x, first, step, n, bound, magnitude);
    *bound /= (double)n;
    *magnitude /= (double)n;
    if (!isfinite(sum.hi)) {
        /* A sum beyond doubles of a mean within: once more at 2^-64. */
        ref_dd part = {0.0, 0.0};
        for (int64_t j = 0; j < n && isfinite(part.hi); j++)
            part = ref_add_dd(part, (ref_dd){ldexp(ref_load(x, first + j * step), -64), 0.0});
        if (!isfinite(part.hi) || isnan(sum.hi))
            return (ref_dd){sum.hi, 0.0};
        ref_dd low = ref_divide_dd(part, (double)n);
        *bound = fabs(ldexp(low.hi, 64)) * (double)n * 0x1p-90;
        return (ref_dd){ldexp(low.hi, 64), ldexp(low.lo, 64)};
    }
    ref_dd y = ref_divide_dd(sum, (double)n);
    *bound += fabs(y.hi) * 0x1p-100 + (y.hi != 0.0 ? REF_TINY : 0.0);
    return y;
}

REF_OP(mean_reduce, 4096)
{
    return ref_wide_reduce(launch, threads, out, mean);
}
