/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_sigmoid.h -- e^-a of a vector in two factors, and what is built on it.
 *
 * a >= 0 is n ln2 + r, |r| <= ln2/2; the result is low * scale with low = 2^(n/2) p(r): neither
 * factor is subnormal, so that a product formed between them loses nothing where the result is
 * small.  Both are NaN or such that the product is NaN for NaN.  For vectors of either width: see
 * vector_avx2.h. */
#ifndef ASSAY_BACKENDS_CPU_SIGMOID_H
#define ASSAY_BACKENDS_CPU_SIGMOID_H

#include <math.h>

#include "backends/exp_series.h"

/* Below these e^x times any |x| <= -x rounds to zero. */
#define CPU_EXP_LEAST_PS (-110.0f)
#define CPU_EXP_LEAST_PD (-760.0)

static inline vec_ps abs_ps(vec_ps x)
{
    return V(andnot_ps)(V(set1_ps)(-0.0f), x);
}

static inline vec_pd abs_pd(vec_pd x)
{
    return V(andnot_pd)(V(set1_pd)(-0.0), x);
}

/* e^x for x <= 0; zero where x is below CPU_EXP_LEAST_PS. */
static inline vec_ps exp_parts_ps(vec_ps x, vec_ps *scale)
{
    mask_ps keep = CMP_PS(x, V(set1_ps)(CPU_EXP_LEAST_PS), _CMP_NLT_UQ);

    /* maxps gives its second operand when one is NaN. */
    x = V(max_ps)(V(set1_ps)(CPU_EXP_LEAST_PS), x);
    vec_ps shifted, r = exp_rest_ps(x, &shifted);
    vec_ps p = V(add_ps)(exp_less_one_ps(r), V(set1_ps)(1.0f));
    return keep_ps(keep, scale_parts_ps(p, shifted, scale));
}

/* e^(x + *rest) in f64, |*rest| far below one, NULL: 0. */
static inline vec_pd exp_parts_pd(vec_pd x, const vec_pd *rest, vec_pd *scale)
{
    mask_pd keep = CMP_PD(x, V(set1_pd)(CPU_EXP_LEAST_PD), _CMP_NLT_UQ);

    x = V(max_pd)(V(set1_pd)(CPU_EXP_LEAST_PD), x);
    vec_pd n, r = exp_rest_pd(x, &n);
    if (rest != NULL)
        r = V(add_pd)(r, *rest);
    vec_pd p = V(add_pd)(exp_less_one_pd(r), V(set1_pd)(1.0));
    return keep_pd(keep, scale_parts_pd(p, n, scale));
}

/* factor / (1 + 2^-w), w = n + f with n = shifted - 0x1.8p23 and |f| <= 1/2, as factor 2^n / (2^n +
 * 2^-f): nothing overflows or cancels, and nothing is subnormal too early.  Where not `keep`,
 * factor times zero. */
static inline vec_ps sigmoid_times_ps(vec_ps shifted, vec_ps f, mask_ps keep, vec_ps factor)
{
    vec_ps scale, one = scale_parts_ps(V(set1_ps)(1.0f), shifted, &scale);
    vec_ps sum = scaled_plus_ps(one, scale, exp2_minus_ps(f));
    vec_ps y = V(div_ps)(factor, select_ps(keep, sum, V(set1_ps)(INFINITY)));

    y = scale_parts_ps(y, shifted, &scale);
    return scaled_ps(y, scale);
}

/* factor / (1 + e^-x). */
static inline vec_ps logistic_ps(vec_ps x, vec_ps factor)
{
    const vec_ps magic = V(set1_ps)(0x1.8p23f), log2e = V(set1_ps)(0x1.715476p+0f);
    mask_ps keep = CMP_PS(x, V(set1_ps)(CPU_EXP_LEAST_PS), _CMP_NLT_UQ);

    /* Beyond 40 it is 1; minps and maxps give their second operand when one is NaN. */
    x = V(max_ps)(V(set1_ps)(CPU_EXP_LEAST_PS), V(min_ps)(V(set1_ps)(40.0f), x));
    vec_ps shifted = V(fmadd_ps)(x, log2e, magic), n = V(sub_ps)(shifted, magic);
    vec_ps f = V(fmsub_ps)(x, log2e, n);
    f = V(fmadd_ps)(x, V(set1_ps)(0x1.4ae0c0p-26f), f);
    return sigmoid_times_ps(shifted, f, keep, factor);
}

/* factor / (1 + e^-(x + *rest)), NULL: 0; e^-|x|, so that nothing overflows, and the factor between
 * the two parts, so that nothing is subnormal too early. */
static inline vec_pd sigmoid_times_pd(vec_pd x, const vec_pd *rest, vec_pd factor)
{
    const vec_pd sign = V(set1_pd)(-0.0);
    vec_pd scale, less = sign;

    if (rest != NULL)
        less = V(xor_pd)(*rest, V(andnot_pd)(x, sign));
    vec_pd e = exp_parts_pd(V(or_pd)(sign, x), rest != NULL ? &less : NULL, &scale);
    vec_pd y = V(div_pd)(factor, scaled_plus_pd(e, scale, V(set1_pd)(1.0)));
    return select_negative_pd(x, scaled_pd(V(mul_pd)(y, e), scale), y);
}

static inline vec_pd sigmoid_pd(vec_pd x)
{
    return sigmoid_times_pd(x, NULL, V(set1_pd)(1.0));
}

static inline vec_ps sigmoid_fast_ps(vec_ps x)
{
    return logistic_ps(x, V(set1_ps)(1.0f));
}

static inline vec_pd silu_pd(vec_pd x)
{
    return sigmoid_times_pd(x, NULL, x);
}

static inline vec_ps silu_fast_ps(vec_ps x)
{
    return logistic_ps(x, x);
}

#endif
