/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_tanh.h -- tanh x = t / (t + 2), t = e^(2|x|) - 1, with the sign of x.
 *
 * 2|x| = n ln2 + r; t = 2^n m + (2^n - 1), m = e^r - 1 without its 1, so that small x keep their
 * relative accuracy.
 *
 * For vectors of either width: see vector_avx2.h. */
#ifndef ASSAY_BACKENDS_CPU_TANH_H
#define ASSAY_BACKENDS_CPU_TANH_H

#include "backends/exp_series.h"

static inline vec_pd tanh_pd(vec_pd x)
{
    const vec_pd sign = V(set1_pd)(-0.0), one = V(set1_pd)(1.0);
    vec_pd a = V(andnot_pd)(sign, x);

    /* tanh 20 rounds to 1; minpd gives its second operand when one is NaN. */
    a = V(min_pd)(V(set1_pd)(20.0), a);
    a = V(add_pd)(a, a);
    vec_pd n, r = exp_rest_pd(a, &n), m = exp_less_one_pd(r);
    vec_int whole = V(cvtepi32_epi64)(V(cvtpd_epi32)(n));
    vec_pd power = pd_of_bits(V(slli_epi64)(V(add_epi64)(whole, set_int64(1023)), 52));
    vec_pd t = V(fmadd_pd)(power, m, V(sub_pd)(power, one));
    vec_pd y = V(div_pd)(t, V(add_pd)(t, V(set1_pd)(2.0)));
    return V(or_pd)(y, V(and_pd)(sign, x));
}

static inline vec_ps tanh_fast_ps(vec_ps x)
{
    const vec_ps sign = V(set1_ps)(-0.0f);
    vec_ps a = V(min_ps)(V(set1_ps)(10.0f), V(andnot_ps)(sign, x));

    a = V(add_ps)(a, a);
    vec_ps shifted, r = exp_rest_ps(a, &shifted), m = exp_less_one_ps(r);
    vec_int bits = V(add_epi32)(V(slli_epi32)(bits_of_ps(shifted), 23), V(set1_epi32)(0x3f800000));
    vec_ps power = ps_of_bits(bits);
    vec_ps t = V(fmadd_ps)(power, m, V(sub_ps)(power, V(set1_ps)(1.0f)));
    vec_ps y = V(div_ps)(t, V(add_ps)(t, V(set1_ps)(2.0f)));
    return V(or_ps)(y, V(and_ps)(sign, x));
}

CPU_THROUGH_F64(tanh_ps, tanh_pd)

#endif
