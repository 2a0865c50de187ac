/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_gelu_erf_avx2.c -- y = x/2 (1 + erf(x / sqrt 2)).
 *
 * With Q(a) = erfc(a / sqrt 2) / 2 = e^(-a^2/2) F(t) / (1 + a), t = (a - k) / (a + k), a = |x|: x Q
 * below zero, x - x Q above.  F is a polynomial interpolated at Chebyshev's points (relative error
 * 2^-26.7 for a <= 14.7, k = 2.5, and 2^-57 for a <= 39, k = 4); beyond, Q is zero. */
#include "backends/cpu/cpu_map_avx2.h"
#include "backends/cpu/cpu_sigmoid_avx2.h"

static inline __m256d gelu_erf_pd(__m256d x)
{
    const __m256d one = _mm256_set1_pd(1.0), four = _mm256_set1_pd(4.0);
    __m256d a = _mm256_min_pd(_mm256_set1_pd(39.5), abs_pd(x)), scale;
    __m256d sum = _mm256_add_pd(a, four), next = _mm256_add_pd(a, one);
    __m256d t = _mm256_div_pd(_mm256_sub_pd(a, four), sum);
    __m256d f = _mm256_set1_pd(-0x1.b339ed86cc2a1p-31);
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(-0x1.aa40ad3d8f16fp-30));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(0x1.ad6f91f8c34f4p-28));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(0x1.2fa6fc9cc9f86p-26));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(-0x1.561b689224ebp-26));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(-0x1.dce1f3c1eb6eep-24));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(0x1.936d652f68a5bp-30));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(0x1.285c60b68ebb3p-21));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(0x1.b2500fcf6560fp-22));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(-0x1.5eb2ea415428dp-19));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(-0x1.cca97befd6715p-19));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(0x1.c93deb4650a3fp-17));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(0x1.6484447a3b02fp-16));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(-0x1.707ba346b3515p-14));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(-0x1.8c11b68a6b928p-14));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(0x1.6c5382b5034bbp-11));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(-0x1.2b7f5dd621291p-12));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(-0x1.47d5fc7365d66p-8));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(0x1.25dd7205f4c0ap-6));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(-0x1.07c3c2582d7aep-5));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(0x1.d4969f10e0611p-6));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(0x1.cabd72a60faa8p-7));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(-0x1.8c18f2086e34dp-4));
    f = _mm256_fmadd_pd(f, t, _mm256_set1_pd(0x1.e361ea6fba141p-2));
    __m256d square = _mm256_mul_pd(a, a), low = _mm256_fmsub_pd(a, a, square);
    __m256d half = _mm256_set1_pd(-0.5);
    __m256d e = exp_parts_pd(_mm256_mul_pd(half, square), _mm256_mul_pd(half, low), &scale);
    /* x before the second factor; -inf times zero is NaN, as the formula says. */
    __m256d q = _mm256_mul_pd(_mm256_mul_pd(e, _mm256_div_pd(f, next)), x);
    q = _mm256_mul_pd(q, scale);
    __m256d above = _mm256_blendv_pd(_mm256_sub_pd(x, q), x,
                                     _mm256_cmp_pd(a, _mm256_set1_pd(39.0), _CMP_GT_OQ));
    return _mm256_blendv_pd(above, q, x);
}

static inline __m256 gelu_erf_fast_ps(__m256 x)
{
    const __m256 one = _mm256_set1_ps(1.0f), shift = _mm256_set1_ps(2.5f);
    __m256 a = _mm256_min_ps(_mm256_set1_ps(15.5f), abs_ps(x)), scale;
    __m256 sum = _mm256_add_ps(a, shift), next = _mm256_add_ps(a, one);
    __m256 inverse = _mm256_div_ps(one, _mm256_mul_ps(sum, next));
    __m256 t = _mm256_mul_ps(_mm256_sub_ps(a, shift), _mm256_mul_ps(next, inverse));
    __m256 f = _mm256_set1_ps(-0x1.1d5654p-14f);
    f = _mm256_fmadd_ps(f, t, _mm256_set1_ps(-0x1.eac4acp-13f));
    f = _mm256_fmadd_ps(f, t, _mm256_set1_ps(0x1.519908p-18f));
    f = _mm256_fmadd_ps(f, t, _mm256_set1_ps(0x1.4d878ap-10f));
    f = _mm256_fmadd_ps(f, t, _mm256_set1_ps(0x1.505508p-10f));
    f = _mm256_fmadd_ps(f, t, _mm256_set1_ps(-0x1.8c8f82p-8f));
    f = _mm256_fmadd_ps(f, t, _mm256_set1_ps(-0x1.1d1378p-7f));
    f = _mm256_fmadd_ps(f, t, _mm256_set1_ps(0x1.795a04p-5f));
    f = _mm256_fmadd_ps(f, t, _mm256_set1_ps(-0x1.34f98ap-5f));
    f = _mm256_fmadd_ps(f, t, _mm256_set1_ps(-0x1.772476p-4f));
    f = _mm256_fmadd_ps(f, t, _mm256_set1_ps(0x1.fa881p-2f));
    __m256 square = _mm256_mul_ps(a, a), low = _mm256_fmsub_ps(a, a, square);
    __m256 half = _mm256_set1_ps(-0.5f);
    __m256 e = exp_parts_ps(_mm256_mul_ps(half, square), _mm256_mul_ps(half, low), &scale);
    __m256 q = _mm256_mul_ps(e, _mm256_mul_ps(f, _mm256_mul_ps(sum, inverse)));
    q = _mm256_mul_ps(_mm256_mul_ps(q, x), scale);
    __m256 above = _mm256_blendv_ps(_mm256_sub_ps(x, q), x,
                                    _mm256_cmp_ps(a, _mm256_set1_ps(15.0f), _CMP_GT_OQ));
    return _mm256_blendv_ps(above, q, x);
}

CPU_THROUGH_F64(gelu_erf_ps, gelu_erf_pd)

CPU_UNARY_AVX2(gelu_erf, gelu_erf_pd, gelu_erf_ps, gelu_erf_fast_ps)
CPU_UNARY_FAST_AVX2(gelu_erf, gelu_erf_fast_ps)
