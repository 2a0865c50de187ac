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

/* v 2^n, both normal, n = shifted - 0x1.8p23. */
static inline vec_ps times_power_ps(vec_ps v, vec_ps shifted)
{
    vec_int power = V(slli_epi32)(bits_of_ps(shifted), 23);

    return ps_of_bits(V(add_epi32)(bits_of_ps(v), power));
}

/* e^x for x <= 0; zero where x is below CPU_EXP_LEAST_PS.  The bits of the shorter way are those of
 * the longer one, as a power of two passes through every rounding. */
static inline vec_ps exp_down_ps(vec_ps x)
{
    const vec_ps normal = V(set1_ps)(-80.0f), one = V(set1_ps)(1.0f);
    vec_ps shifted, scale;

    if (SCALE_PARTS > 1 && __builtin_expect(!any_ps(CMP_PS(x, normal, _CMP_NGE_UQ)), 1)) {
        vec_ps r = exp_rest_ps(x, &shifted);
        return times_power_ps(V(add_ps)(exp_less_one_ps(r), one), shifted);
    }
    mask_ps keep = CMP_PS(x, V(set1_ps)(CPU_EXP_LEAST_PS), _CMP_NLT_UQ);
    /* maxps gives its second operand when one is NaN. */
    x = V(max_ps)(V(set1_ps)(CPU_EXP_LEAST_PS), x);
    vec_ps r = exp_rest_ps(x, &shifted), p = V(add_ps)(exp_less_one_ps(r), one);
    p = keep_ps(keep, scale_parts_ps(p, shifted, &scale));
    return scaled_ps(p, scale);
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

/* factor / (1 + 2^-w), w = n + f with n = shifted - 0x1.8p23 and |f| <= 1/2, where 2^-n and the
 * quotient are normal: the bits of what follows, as a power of two passes through every rounding.
 */
static inline vec_ps sigmoid_times_normal_ps(vec_ps shifted, vec_ps f, vec_ps factor)
{
    vec_int power = V(slli_epi32)(bits_of_ps(shifted), 23);
    vec_ps e = ps_of_bits(V(sub_epi32)(bits_of_ps(exp2_minus_ps(f)), power));

    return V(div_ps)(factor, V(add_ps)(V(set1_ps)(1.0f), e));
}

/* The same for any w as factor 2^n / (2^n + 2^-f): nothing overflows or cancels, and nothing is
 * subnormal too early.  Where not `keep`, factor times zero. */
static inline vec_ps sigmoid_times_ps(vec_ps shifted, vec_ps f, mask_ps keep, vec_ps factor)
{
    /* No |factor| below 1/2 comes with an n below -1. */
    const vec_ps least = V(set1_ps)(0x1.8p23f - 118.0f);

    if (SCALE_PARTS > 1 && __builtin_expect(!any_ps(CMP_PS(shifted, least, _CMP_NGE_UQ)), 1))
        return sigmoid_times_normal_ps(shifted, f, factor);
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
