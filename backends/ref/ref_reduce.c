/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_reduce.c -- see ref_reduce.h. */
#include "backends/ref/ref_reduce.h"

assay_status ref_wide_reduce(const assay_launch *launch, unsigned threads, const assay_wide *out,
                             ref_reduce_fn f)
{
    const assay_tensor *x = &launch->operands[0];
    int64_t axis = x->dims[1], inner = x->dims[2], count = out->count;

#pragma omp parallel for num_threads(threads) schedule(static) if (count * (axis + 1) > 65536)
    for (int64_t i = 0; i < count; i++) {
        int64_t at = out->first + i, first = at / inner * axis * inner + at % inner;
        double bound = 0.0, magnitude = 0.0;
        ref_dd y = f(x, first, inner, axis, &bound, &magnitude);
        ref_put(out, i, y, bound);
        if (out->magnitude != NULL)
            out->magnitude[i] = magnitude;
    }
    return ASSAY_OK;
}

/* The sum of x times 2^down; partial sums of large doubles may overflow where the sum does not. */
static ref_dd scaled_sum(const assay_tensor *x, int64_t first, int64_t step, int64_t n, int down,
                         double *magnitude)
{
    ref_dd sum = {0.0, 0.0};

    *magnitude = 0.0;
    for (int64_t j = 0; j < n; j++) {
        double v = ldexp(ref_load(x, first + j * step), -down);
        sum = ref_add_dd(sum, (ref_dd){v, 0.0});
        *magnitude += fabs(v);
    }
    return sum;
}

ref_dd ref_sum_of(const assay_tensor *x, int64_t first, int64_t step, int64_t n, double *bound,
                  double *magnitude)
{
    double plain = 0.0;
    bool finite = true;

    for (int64_t j = 0; j < n; j++) {
        double v = ref_load(x, first + j * step);
        plain += v;
        finite = finite && isfinite(v);
    }
    if (!finite) { /* infinities of one sign, or NaN, whatever the order */
        *magnitude = INFINITY;
        return (ref_dd){plain, 0.0};
    }
    ref_dd sum = scaled_sum(x, first, step, n, 0, magnitude);
    if (!isfinite(*magnitude) || !isfinite(sum.hi)) {
        sum = scaled_sum(x, first, step, n, 64, magnitude);
        *bound = ldexp(*magnitude * (double)n * 0x1p-103, 64);
        *magnitude = ldexp(*magnitude, 64);
        sum = (ref_dd){ldexp(sum.hi, 64), ldexp(sum.lo, 64)};
        if (!isfinite(sum.hi))
            return (ref_dd){sum.hi, *bound = 0.0};
        return sum;
    }
    *bound = *magnitude * (double)n * 0x1p-103;
    return sum;
}
