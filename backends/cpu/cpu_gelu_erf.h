/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_gelu_erf.h -- y = x/2 (1 + erf(x / sqrt 2)).
 *
 * With Q(a) = erfc(a / sqrt 2) / 2 = e^(-a^2/2) F(t) / (1 + a), t = (a - k) / (a + k), a = |x|: x Q
 * below zero, x - x Q above.  F is a polynomial interpolated at Chebyshev's points (relative error
 * 2^-57 for a <= 39, k = 4); beyond, Q is zero.
 *
 * For vectors of either width: see vector_avx2.h. */
#ifndef ASSAY_BACKENDS_CPU_GELU_ERF_H
#define ASSAY_BACKENDS_CPU_GELU_ERF_H

#include "backends/cpu/cpu_sigmoid.h"

static inline vec_pd gelu_erf_pd(vec_pd x)
{
    const vec_pd one = V(set1_pd)(1.0), four = V(set1_pd)(4.0);
    vec_pd a = V(min_pd)(V(set1_pd)(39.5), abs_pd(x)), scale;
    vec_pd sum = V(add_pd)(a, four), next = V(add_pd)(a, one);
    vec_pd t = V(div_pd)(V(sub_pd)(a, four), sum);
    vec_pd f = V(set1_pd)(-0x1.b339ed86cc2a1p-31);
    f = V(fmadd_pd)(f, t, V(set1_pd)(-0x1.aa40ad3d8f16fp-30));
    f = V(fmadd_pd)(f, t, V(set1_pd)(0x1.ad6f91f8c34f4p-28));
    f = V(fmadd_pd)(f, t, V(set1_pd)(0x1.2fa6fc9cc9f86p-26));
    f = V(fmadd_pd)(f, t, V(set1_pd)(-0x1.561b689224ebp-26));
    f = V(fmadd_pd)(f, t, V(set1_pd)(-0x1.dce1f3c1eb6eep-24));
    f = V(fmadd_pd)(f, t, V(set1_pd)(0x1.936d652f68a5bp-30));
    f = V(fmadd_pd)(f, t, V(set1_pd)(0x1.285c60b68ebb3p-21));
    f = V(fmadd_pd)(f, t, V(set1_pd)(0x1.b2500fcf6560fp-22));
    f = V(fmadd_pd)(f, t, V(set1_pd)(-0x1.5eb2ea415428dp-19));
    f = V(fmadd_pd)(f, t, V(set1_pd)(-0x1.cca97befd6715p-19));
    f = V(fmadd_pd)(f, t, V(set1_pd)(0x1.c93deb4650a3fp-17));
    f = V(fmadd_pd)(f, t, V(set1_pd)(0x1.6484447a3b02fp-16));
    f = V(fmadd_pd)(f, t, V(set1_pd)(-0x1.707ba346b3515p-14));
    f = V(fmadd_pd)(f, t, V(set1_pd)(-0x1.8c11b68a6b928p-14));
    f = V(fmadd_pd)(f, t, V(set1_pd)(0x1.6c5382b5034bbp-11));
    f = V(fmadd_pd)(f, t, V(set1_pd)(-0x1.2b7f5dd621291p-12));
    f = V(fmadd_pd)(f, t, V(set1_pd)(-0x1.47d5fc7365d66p-8));
    f = V(fmadd_pd)(f, t, V(set1_pd)(0x1.25dd7205f4c0ap-6));
    f = V(fmadd_pd)(f, t, V(set1_pd)(-0x1.07c3c2582d7aep-5));
    f = V(fmadd_pd)(f, t, V(set1_pd)(0x1.d4969f10e0611p-6));
    f = V(fmadd_pd)(f, t, V(set1_pd)(0x1.cabd72a60faa8p-7));
    f = V(fmadd_pd)(f, t, V(set1_pd)(-0x1.8c18f2086e34dp-4));
    f = V(fmadd_pd)(f, t, V(set1_pd)(0x1.e361ea6fba141p-2));
    vec_pd square = V(mul_pd)(a, a), low = V(fmsub_pd)(a, a, square);
    vec_pd half = V(set1_pd)(-0.5);
    low = V(mul_pd)(half, low);
    vec_pd e = exp_parts_pd(V(mul_pd)(half, square), &low, &scale);
    /* x before the second factor; -inf times zero is NaN, as the formula says. */
    vec_pd q = V(mul_pd)(V(mul_pd)(e, V(div_pd)(f, next)), x);
    q = scaled_pd(q, scale);
    vec_pd above = select_pd(CMP_PD(a, V(set1_pd)(39.0), _CMP_GT_OQ), x, V(sub_pd)(x, q));
    return select_negative_pd(x, q, above);
}

/* With F(t) / (a + k), k = 2.3125, for a <= 14.5 (2^-27.5), and e^(-a^2/2) = 2^-(a^2 log2(e)/2). */
static inline vec_ps gelu_erf_fast_ps(vec_ps x)
{
    const vec_ps one = V(set1_ps)(1.0f), shift = V(set1_ps)(2.3125f), end = V(set1_ps)(14.5f);
    /* From 2^-99 on no factor of the result is subnormal. */
    const vec_ps normal = V(set1_ps)(11.7f);
    const vec_ps magic = V(set1_ps)(0x1.8p23f), h = V(set1_ps)(0x1.715476p-1f);
    vec_ps a = abs_ps(x), scale;
    mask_ps keep = CMP_PS(a, end, _CMP_NGE_UQ);

    a = V(min_ps)(end, a);
    vec_ps inverse = V(div_ps)(one, V(add_ps)(a, shift));
    vec_ps t = V(fmadd_ps)(inverse, V(set1_ps)(-4.625f), one);
    vec_ps f = V(set1_ps)(-0x1.4f2ed2p-14f);
    f = V(fmadd_ps)(f, t, V(set1_ps)(-0x1.e6c102p-13f));
    f = V(fmadd_ps)(f, t, V(set1_ps)(0x1.493ad6p-14f));
    f = V(fmadd_ps)(f, t, V(set1_ps)(0x1.51aebap-10f));
    f = V(fmadd_ps)(f, t, V(set1_ps)(0x1.6e8546p-10f));
    f = V(fmadd_ps)(f, t, V(set1_ps)(-0x1.3c4a92p-8f));
    f = V(fmadd_ps)(f, t, V(set1_ps)(-0x1.99c686p-7f));
    f = V(fmadd_ps)(f, t, V(set1_ps)(0x1.8937d2p-6f));
    f = V(fmadd_ps)(f, t, V(set1_ps)(0x1.7d8626p-4f));
    f = V(fmadd_ps)(f, t, V(set1_ps)(-0x1.987606p-2f));
    f = V(fmadd_ps)(f, t, V(set1_ps)(0x1.641fd4p-1f));
    vec_ps square = V(mul_ps)(a, a), low = V(fmsub_ps)(a, a, square);
    vec_ps shifted = V(fnmadd_ps)(square, h, magic), n = V(sub_ps)(shifted, magic);
    vec_ps rest = V(fmadd_ps)(square, h, n);
    rest = V(fmadd_ps)(square, V(set1_ps)(0x1.4ae0c0p-27f), rest);
    rest = V(fmadd_ps)(low, h, rest);
    vec_ps p = exp2_minus_ps(rest);
    f = V(mul_ps)(f, inverse);
    if (SCALE_PARTS > 1 && __builtin_expect(!any_ps(CMP_PS(a, normal, _CMP_NLE_UQ)), 1)) {
        /* The bits of what follows, as a power of two passes through every rounding. */
        vec_ps q = V(mul_ps)(V(mul_ps)(times_power_ps(p, shifted), f), x);
        return select_negative_ps(x, q, V(sub_ps)(x, q));
    }
    vec_ps e = scale_parts_ps(keep_ps(keep, p), shifted, &scale);
    /* x before the second factor; -inf times zero is NaN, as the formula says. */
    vec_ps q = V(mul_ps)(V(mul_ps)(e, f), x);
    q = scaled_ps(q, scale);
    return select_negative_ps(x, q, select_ps(keep, V(sub_ps)(x, q), x));
}

CPU_THROUGH_F64(gelu_erf_ps, gelu_erf_pd)

#endif
