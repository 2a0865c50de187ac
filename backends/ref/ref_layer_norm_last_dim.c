/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_layer_norm_last_dim.c -- y = (x - mean) / sqrt(var + eps), in double-doubles.
 *
 * The mean is off by n 2^-104 of the mean of |x| at most, and so is each difference.  Magnitude:
 * (mean |x| + |x|) / sqrt(var + eps) + |y|, the share of an error of the mean in y. */
#include "backends/ref/ref.h"

static ref_dd mean_of(const double *x, int64_t n, double *size)
{
    ref_dd sum = {0.0, 0.0};

    *size = 0.0;
    for (int64_t j = 0; j < n; j++) {
        sum = ref_add_dd(sum, (ref_dd){x[j], 0.0});
        *size += fabs(x[j]) / (double)n;
    }
    return ref_divide_dd(sum, (double)n);
}

static void invalid(int64_t n, const assay_wide *out)
{
    for (int64_t j = 0; j < n; j++) {
        ref_put(out, j, (ref_dd){NAN, 0.0}, 0.0);
        out->magnitude[j] = 0.0;
    }
}

static void row(const assay_problem *problem, const double *x, int64_t n, const assay_wide *out)
{
    double eps = ASSAY__REAL(problem, layer_norm_last_dim, eps), size;
    ref_dd mean = mean_of(x, n, &size), sum = {0.0, 0.0};

    for (int64_t j = 0; j < n; j++) {
        ref_dd d = ref_add_dd((ref_dd){x[j], 0.0}, (ref_dd){-mean.hi, -mean.lo});
        sum = ref_add_dd(sum, ref_mul_dd(d, d));
    }
    ref_dd variance = ref_add_dd(ref_divide_dd(sum, (double)n), (ref_dd){eps, 0.0});
    /* NaN or infinity in the row, or nothing to divide by: as the formula says. */
    if (!isfinite(variance.hi) || !(variance.hi > 0.0)) {
        invalid(n, out);
        return;
    }
    ref_dd inverse = ref_rsqrt_dd(variance);
    double lost = (double)(n + 4) * 0x1p-102, shared = size * inverse.hi;
    for (int64_t j = 0; j < n; j++) {
        ref_dd d = ref_add_dd((ref_dd){x[j], 0.0}, (ref_dd){-mean.hi, -mean.lo});
        ref_dd y = ref_mul_dd(d, inverse);
        double own = shared + fabs(x[j]) * inverse.hi;
        /* An error of the mean enters the variance in second order only. */
        ref_put(out, j, y, own * lost + fabs(y.hi) * (lost + 0x1p-95) + REF_TINY);
        out->magnitude[j] = own + fabs(y.hi);
    }
}

REF_ROWS_OP(layer_norm_last_dim)
{
    return ref_wide_rows(launch, threads, out, row);
}
