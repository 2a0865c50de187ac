/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_log.h -- ln x = k ln2 + ln(1 + f), sqrt(1/2) <= 1 + f < sqrt 2.
 *
 * ln(1 + f) = f - (f^2/2 - s (f^2/2 + s^2 P(s^2))), s = f / (2 + f) (the form of fdlibm's e_log.c);
 * P interpolates at Chebyshev's points, error 2^-58 in f64 and 2^-29 in f32.
 *
 * For vectors of either width: see vector_avx2.h. */
#ifndef ASSAY_BACKENDS_CPU_LOG_H
#define ASSAY_BACKENDS_CPU_LOG_H

static inline vec_pd log_pd(vec_pd x)
{
    const vec_pd least = V(set1_pd)(0x1p-1022), two = V(set1_pd)(2.0);
    mask_pd tiny = CMP_PD(x, least, _CMP_LT_OQ);
    vec_pd v = select_pd(tiny, V(mul_pd)(x, V(set1_pd)(0x1p54)), x);
    /* k: exponent of x over sqrt(1/2), as a biased number that stays positive. */
    vec_int bits = V(sub_epi64)(bits_of_pd(v), set_int64(0x3fe6a09e667f3bcd));
    vec_int biased = V(srli_epi64)(V(add_epi64)(bits, set_int64(INT64_MIN)), 52);
    vec_int down = V(slli_epi64)(V(sub_epi64)(biased, set_int64(2048)), 52);
    vec_pd m = pd_of_bits(V(sub_epi64)(bits_of_pd(v), down));
    /* 2^52 + biased, minus 2^52 + 2048. */
    vec_int in_place = or_int(biased, set_int64(0x4330000000000000));
    vec_pd k = V(sub_pd)(pd_of_bits(in_place), V(set1_pd)(0x1p52 + 2048.0));
    k = V(sub_pd)(k, keep_pd(tiny, V(set1_pd)(54.0)));
    vec_pd f = V(sub_pd)(m, V(set1_pd)(1.0));
    vec_pd s = V(div_pd)(f, V(add_pd)(f, two)), z = V(mul_pd)(s, s);
    vec_pd p = V(set1_pd)(0x1.0c0aff044a97p-3);
    p = V(fmadd_pd)(p, z, V(set1_pd)(0x1.0fbde0f4ad17bp-3));
    p = V(fmadd_pd)(p, z, V(set1_pd)(0x1.3b1c3c1c81c8fp-3));
    p = V(fmadd_pd)(p, z, V(set1_pd)(0x1.745cf8e4bba1bp-3));
    p = V(fmadd_pd)(p, z, V(set1_pd)(0x1.c71c7201a55d7p-3));
    p = V(fmadd_pd)(p, z, V(set1_pd)(0x1.2492492476a1ap-2));
    p = V(fmadd_pd)(p, z, V(set1_pd)(0x1.9999999999a39p-2));
    p = V(fmadd_pd)(p, z, V(set1_pd)(0x1.5555555555555p-1));
    vec_pd half = V(mul_pd)(V(mul_pd)(V(set1_pd)(0.5), f), f);
    vec_pd inner = V(mul_pd)(s, V(fmadd_pd)(z, p, half));
    inner = V(fmadd_pd)(k, V(set1_pd)(0x1.a39ef35793c76p-33), inner);
    vec_pd y = V(sub_pd)(f, V(sub_pd)(half, inner));
    y = V(fmadd_pd)(k, V(set1_pd)(0x1.62e42feep-1), y);
    return log_special_pd(x, y);
}

static inline vec_ps log_fast_ps(vec_ps x)
{
    mask_ps tiny = CMP_PS(x, V(set1_ps)(0x1p-126f), _CMP_LT_OQ);
    vec_ps v = select_ps(tiny, V(mul_ps)(x, V(set1_ps)(0x1p24f)), x);
    vec_int bits = V(sub_epi32)(bits_of_ps(v), V(set1_epi32)(0x3f3504f3));
    vec_int whole = V(srai_epi32)(bits, 23);
    vec_ps m = ps_of_bits(V(sub_epi32)(bits_of_ps(v), V(slli_epi32)(whole, 23)));
    vec_ps k = V(cvtepi32_ps)(whole);
    k = V(sub_ps)(k, keep_ps(tiny, V(set1_ps)(24.0f)));
    vec_ps f = V(sub_ps)(m, V(set1_ps)(1.0f));
    vec_ps s = V(div_ps)(f, V(add_ps)(f, V(set1_ps)(2.0f))), z = V(mul_ps)(s, s);
    vec_ps p = V(set1_ps)(0x1.ddd4dap-3f);
    p = V(fmadd_ps)(p, z, V(set1_ps)(0x1.245c28p-2f));
    p = V(fmadd_ps)(p, z, V(set1_ps)(0x1.9999ecp-2f));
    p = V(fmadd_ps)(p, z, V(set1_ps)(0x1.555556p-1f));
    vec_ps half = V(mul_ps)(V(mul_ps)(V(set1_ps)(0.5f), f), f);
    vec_ps inner = V(mul_ps)(s, V(fmadd_ps)(z, p, half));
    inner = V(fmadd_ps)(k, V(set1_ps)(0x1.7f7d1cp-20f), inner);
    vec_ps y = V(sub_ps)(f, V(sub_ps)(half, inner));
    y = V(fmadd_ps)(k, V(set1_ps)(0x1.62e400p-1f), y);
    return log_special_ps(x, y);
}

CPU_THROUGH_F64(log_ps, log_pd)

#endif
