/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_gelu.h -- y = x/2 (1 + tanh(c (x + 0.044715 x^3))), c = sqrt(2/pi).
 *
 * That is x / (1 + e^-u), u = x (2c + 2c 0.044715 x^2), which does not cancel.  An error of u grows
 * |u|-fold in e^-u, hence u in two parts.
 *
 * For vectors of either width: see vector_avx2.h. */
#ifndef ASSAY_BACKENDS_CPU_GELU_H
#define ASSAY_BACKENDS_CPU_GELU_H

#include "backends/cpu/cpu_sigmoid.h"

static inline vec_pd gelu_pd(vec_pd x)
{
    const vec_pd c = V(set1_pd)(0x1.9884533d43651p+0), k = V(set1_pd)(0x1.2444f2a4d8b4bp-4);
    /* Beyond it the result is x or zero whatever u is; x^2 must not overflow. */
    vec_pd v = V(max_pd)(V(set1_pd)(-1e6), V(min_pd)(V(set1_pd)(1e6), x));
    vec_pd square = V(mul_pd)(v, v), square_low = V(fmsub_pd)(v, v, square);
    vec_pd t = V(mul_pd)(k, square), t_low = V(fmsub_pd)(k, square, t);
    vec_pd w = V(add_pd)(t, c), back = V(sub_pd)(w, t);
    vec_pd w_low = V(add_pd)(V(sub_pd)(t, V(sub_pd)(w, back)), V(sub_pd)(c, back));
    /* The constants' own low parts. */
    w_low = V(add_pd)(w_low, V(set1_pd)(-0x1.cbc0d30ebfd15p-54));
    w_low = V(fmadd_pd)(square, V(set1_pd)(-0x1.6c843a29d1c7p-61), w_low);
    w_low = V(add_pd)(V(fmadd_pd)(k, square_low, t_low), w_low);
    vec_pd u = V(mul_pd)(v, w), rest = V(fmsub_pd)(v, w, u);
    rest = V(fmadd_pd)(v, w_low, rest);
    return sigmoid_times_pd(u, &rest, x);
}

/* With w = u log2(e) = x (A + B x^2); A is cut so short that A - (A + B x^2) is exact. */
static inline vec_ps gelu_fast_ps(vec_ps x)
{
    const vec_ps a = V(set1_ps)(0x1.26aecp+1f), b = V(set1_ps)(0x1.a5a7d0p-4f);
    const vec_ps magic = V(set1_ps)(0x1.8p23f);
    mask_ps keep = CMP_PS(x, V(set1_ps)(-11.0f), _CMP_NLT_UQ); /* zero below */
    /* From 6 on the result is x; minps and maxps give their second operand when one is NaN. */
    vec_ps v = V(max_ps)(V(set1_ps)(-11.0f), V(min_ps)(V(set1_ps)(6.0f), x));
    vec_ps square = V(mul_ps)(v, v), square_low = V(fmsub_ps)(v, v, square);
    vec_ps sum = V(fmadd_ps)(b, square, a);
    vec_ps low = V(fmadd_ps)(square, V(set1_ps)(-0x1.151aaep-29f), V(set1_ps)(0x1.0de73ap-22f));
    low = V(fmadd_ps)(b, square_low, low);
    low = V(add_ps)(V(fmadd_ps)(b, square, V(sub_ps)(a, sum)), low);
    vec_ps shifted = V(fmadd_ps)(v, sum, magic), n = V(sub_ps)(shifted, magic);
    vec_ps f = V(fmadd_ps)(v, low, V(fmsub_ps)(v, sum, n));
    return sigmoid_times_ps(shifted, f, keep, x);
}

CPU_THROUGH_F64(gelu_ps, gelu_pd)

#endif
