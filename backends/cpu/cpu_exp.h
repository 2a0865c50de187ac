/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_exp.h -- e^x of a vector, shared by exp and softmax.
 *
 * x = n ln2 + r, |r| <= ln2/2, e^x = 2^n p(r); p is the Taylor series, cut where its rest is below
 * the last place aimed at.  NaN comes through; overflow gives infinity, underflow subnormals.
 * For vectors of either width: see vector_avx2.h. */
#ifndef ASSAY_BACKENDS_CPU_EXP_H
#define ASSAY_BACKENDS_CPU_EXP_H

#include "backends/exp_series.h"

/* p(r) = 1 + m(r) for x = n ln2 + r; *shifted holds n in its low bits. */
static inline vec_ps exp_core_ps(vec_ps x, vec_ps *shifted)
{
    vec_ps r = exp_rest_ps(x, shifted);

    return V(add_ps)(exp_less_one_ps(r), V(set1_ps)(1.0f));
}

/* x not above 89. */
static inline vec_ps exp_not_large_ps(vec_ps x)
{
    vec_ps shifted, scale;

    /* maxps gives its second operand when one is NaN. */
    x = V(max_ps)(V(set1_ps)(-105.0f), x);
    vec_ps p = exp_core_ps(x, &shifted);
    p = scale_parts_ps(p, shifted, &scale);
    return scaled_ps(p, scale);
}

/* f32 throughout, any x. */
static inline vec_ps exp_fast_ps(vec_ps x)
{
    return exp_not_large_ps(V(min_ps)(V(set1_ps)(89.0f), x)); /* minps too */
}

/* p(r) to degree 11 for four doubles and 2^n, for |x| <= 151: error below 2^-46. */
static inline vec_pd exp_narrow_pd(vec_pd x)
{
    const vec_pd magic = V(set1_pd)(0x1.8p52 + 1023.0);
    vec_pd shifted = V(fmadd_pd)(x, V(set1_pd)(0x1.71547652b82fep0), magic);
    vec_pd n = V(sub_pd)(shifted, magic);
    vec_pd r = V(fmadd_pd)(n, V(set1_pd)(-0x1.62e42fefa39efp-1), x);
    vec_pd p = V(set1_pd)(1.0 / 39916800.0);
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 3628800.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 362880.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 40320.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 5040.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 720.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 120.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 24.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 6.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(0.5));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0));
    return V(mul_pd)(p, pd_of_bits(V(slli_epi64)(bits_of_pd(shifted), 52)));
}

/* Through f64 and rounded once, subnormal and overflowing results too. */
static inline vec_ps exp_accurate_ps(vec_ps x)
{
    x = V(max_ps)(V(set1_ps)(-150.0f), V(min_ps)(V(set1_ps)(150.0f), x));
    return join_pd(exp_narrow_pd(low_pd(x)), exp_narrow_pd(high_pd(x)));
}

/* Within one unit in the last place. */
static inline vec_pd exp_pd(vec_pd x)
{
    x = V(max_pd)(V(set1_pd)(-746.0), V(min_pd)(V(set1_pd)(710.0), x));
    vec_pd n, r = exp_rest_pd(x, &n), scale;
    vec_pd p = V(add_pd)(exp_less_one_pd(r), V(set1_pd)(1.0));
    p = scale_parts_pd(p, n, &scale);
    return scaled_pd(p, scale);
}

#endif
