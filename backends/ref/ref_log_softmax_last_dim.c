/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_log_softmax_last_dim.c -- y = x - max - ln s, s = sum of e^(x - max).
 *
 * Exponentials are double-doubles of relative error 2^-85.  ln s by one Newton step from the
 * double l: l + (s e^-l - 1), which leaves 2^-103.  Magnitude: 1, an error of s, and the mean depth
 * weighted by the exponentials, which the rounding of x - max puts into s; beside them |y|. */
#include "backends/ref/ref.h"

static ref_dd difference(double x, double max)
{
    ref_dd d = ref_two_sum(x, -max);

    if (!isfinite(d.hi) || !isfinite(d.lo))
        d.lo = 0.0;
    return d;
}

/* Sum of exponentials and of exponential times depth; below e^-600 nothing counts beside 1. */
static ref_dd sum_of(const double *x, int64_t n, double max, double *depth)
{
    ref_dd sum = {0.0, 0.0};

    *depth = 0.0;
    for (int64_t j = 0; j < n; j++) {
        ref_dd d = difference(x[j], max);
        if (!(d.hi > -600.0))
            continue;
        ref_dd e = ref_exp_dd(d);
        sum = ref_add_dd(sum, e);
        *depth += e.hi * fabs(d.hi);
    }
    *depth /= sum.hi;
    return sum;
}

static ref_dd log_dd(ref_dd s)
{
    double l = log(s.hi);
    ref_dd product = ref_mul_dd(s, ref_exp_dd((ref_dd){-l, 0.0}));

    return ref_two_sum(l, (product.hi - 1.0) + product.lo);
}

void ref_log_softmax_line(const assay_problem *problem, const double *x, int64_t n,
                          const assay_wide *out)
{
    double max = -INFINITY, depth;
    bool invalid = false;

    (void)problem;
    for (int64_t j = 0; j < n; j++) {
        invalid = invalid || isnan(x[j]);
        max = x[j] > max ? x[j] : max;
    }
    if (invalid || isinf(max)) {
        for (int64_t j = 0; j < n; j++) {
            ref_put(out, j, (ref_dd){NAN, 0.0}, 0.0);
            out->magnitude[j] = 0.0;
        }
        return;
    }
    ref_dd l = log_dd(sum_of(x, n, max, &depth));
    for (int64_t j = 0; j < n; j++) {
        ref_dd d = difference(x[j], max);
        ref_dd y = isfinite(d.hi) ? ref_add_dd(d, (ref_dd){-l.hi, -l.lo}) : d;
        double bound = 0x1p-83 + fabs(y.hi) * 0x1p-100 + (double)n * 0x1p-102;
        ref_put(out, j, y, isfinite(y.hi) ? bound : 0.0);
        out->magnitude[j] = isfinite(y.hi) ? 1.0 + depth + fabs(y.hi) : 0.0;
    }
}

REF_ROWS_OP(log_softmax_last_dim)
{
    return ref_wide_rows(launch, threads, out, ref_log_softmax_line);
}
