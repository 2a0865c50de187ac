/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_rms_norm_last_dim.c -- y = x / sqrt(mean(x^2) + eps), in double-doubles.
 *
 * Sums of n squares lose n 2^-104 of themselves at most; root and product 2^-97.  The magnitude is
 * |y|: an error of the sum counts half, and in full proportion. */
#include "backends/ref/ref.h"

/* A power of two that brings squares into range.  eps times its square may vanish or not count:
 * beside the squares of such elements it does so anyway. */
static double scale_of(const double *x, int64_t n, double eps)
{
    double most = 0.0;

    for (int64_t j = 0; j < n; j++)
        most = fabs(x[j]) > most ? fabs(x[j]) : most;
    if (most == 0.0 || isinf(most))
        return 1.0;
    int exponent = ilogb(most);
    if (exponent > 400 || (exponent < -400 && eps == 0.0))
        return ldexp(1.0, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
    return 1.0;
}

/* A NaN is in every sum; beside an infinity numbers vanish. */
static void without_numbers(const double *x, int64_t n, double most, const assay_wide *out)
{
    for (int64_t j = 0; j < n; j++) {
        double y = isnan(most) || isinf(x[j]) ? NAN : copysign(0.0, x[j]);
        ref_put(out, j, (ref_dd){y, 0.0}, 0.0);
        out->magnitude[j] = 0.0;
    }
}

static void row(const assay_problem *problem, const double *x, int64_t n, const assay_wide *out)
{
    double eps = ASSAY__REAL(problem, rms_norm_last_dim, eps);
    double scale = scale_of(x, n, eps), most = 0.0;
    ref_dd sum = {0.0, 0.0};

    for (int64_t j = 0; j < n; j++) /* NaN when there is one, else infinity when there is one */
        most += isfinite(x[j]) ? 0.0 : fabs(x[j]);
    if (!isfinite(most)) {
        without_numbers(x, n, most, out);
        return;
    }
    for (int64_t j = 0; j < n; j++)
        sum = ref_add_dd(sum, ref_two_prod(x[j] * scale, x[j] * scale));
    ref_dd mean = ref_add_dd(ref_divide_dd(sum, (double)n), ref_two_prod(eps * scale, scale));
    bool plain = isfinite(mean.hi) && mean.hi > 0.0;
    /* No square and no eps: 0 times infinity. */
    ref_dd inverse = plain ? ref_rsqrt_dd(mean) : (ref_dd){INFINITY, 0.0};
    for (int64_t j = 0; j < n; j++) {
        ref_dd y = ref_mul_dd((ref_dd){x[j] * scale, 0.0}, inverse);
        if (!plain || !isfinite(y.hi) || y.hi == 0.0)
            y = (ref_dd){x[j] * scale * inverse.hi, 0.0};
        double relative = 0x1p-95 + (double)n * 0x1p-103;
        ref_put(out, j, y,
                isfinite(y.hi) ? fabs(y.hi) * relative + (x[j] != 0.0 ? REF_TINY : 0.0) : 0.0);
        out->magnitude[j] = fabs(y.hi);
    }
}

REF_ROWS_OP(rms_norm_last_dim)
{
    return ref_wide_rows(launch, threads, out, row);
}
