/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_gelu_avx2.c -- y = x/2 (1 + tanh(c (x + 0.044715 x^3))), c = sqrt(2/pi).
 *
 * That is x / (1 + e^-u), u = x (2c + 2c 0.044715 x^2), which does not cancel.  An error of u grows
 * |u|-fold in e^-u, hence u in two parts. */
#include "backends/cpu/cpu_map_avx2.h"
#include "backends/cpu/cpu_sigmoid_avx2.h"

static inline __m256d gelu_pd(__m256d x)
{
    const __m256d c = _mm256_set1_pd(0x1.9884533d43651p+0),
                  k = _mm256_set1_pd(0x1.2444f2a4d8b4bp-4);
    /* Beyond it the result is x or zero whatever u is; x^2 must not overflow. */
    __m256d v = _mm256_max_pd(_mm256_set1_pd(-1e6), _mm256_min_pd(_mm256_set1_pd(1e6), x));
    __m256d square = _mm256_mul_pd(v, v), square_low = _mm256_fmsub_pd(v, v, square);
    __m256d t = _mm256_mul_pd(k, square), t_low = _mm256_fmsub_pd(k, square, t);
    __m256d w = _mm256_add_pd(t, c), back = _mm256_sub_pd(w, t);
    __m256d w_low = _mm256_add_pd(_mm256_sub_pd(t, _mm256_sub_pd(w, back)), _mm256_sub_pd(c, back));
    /* The constants' own low parts. */
    w_low = _mm256_add_pd(w_low, _mm256_set1_pd(-0x1.cbc0d30ebfd15p-54));
    w_low = _mm256_fmadd_pd(square, _mm256_set1_pd(-0x1.6c843a29d1c7p-61), w_low);
    w_low = _mm256_add_pd(_mm256_fmadd_pd(k, square_low, t_low), w_low);
    __m256d u = _mm256_mul_pd(v, w), rest = _mm256_fmsub_pd(v, w, u);
    rest = _mm256_fmadd_pd(v, w_low, rest);
    return sigmoid_times_pd(u, rest, x);
}

static inline __m256 gelu_fast_ps(__m256 x)
{
    const __m256 c = _mm256_set1_ps(0x1.988454p+0f), k = _mm256_set1_ps(0x1.2444f2p-4f);
    __m256 v = _mm256_max_ps(_mm256_set1_ps(-1e3f), _mm256_min_ps(_mm256_set1_ps(1e3f), x));
    __m256 square = _mm256_mul_ps(v, v), square_low = _mm256_fmsub_ps(v, v, square);
    __m256 w = _mm256_fmadd_ps(k, square, c);
    /* c - w is exact where |u| matters: w stays below 16 there. */
    __m256 w_low = _mm256_fmadd_ps(k, square, _mm256_sub_ps(c, w));
    w_low = _mm256_fmadd_ps(k, square_low, w_low);
    w_low = _mm256_add_ps(w_low, _mm256_set1_ps(-0x1.857936p-25f));
    __m256 u = _mm256_mul_ps(v, w), rest = _mm256_fmsub_ps(v, w, u);
    rest = _mm256_fmadd_ps(v, w_low, rest);
    return sigmoid_times_ps(u, rest, x);
}

CPU_THROUGH_F64(gelu_ps, gelu_pd)

CPU_UNARY_AVX2(gelu, gelu_pd, gelu_ps, gelu_fast_ps)
CPU_UNARY_FAST_AVX2(gelu, gelu_fast_ps)
