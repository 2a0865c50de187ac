/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_rsqrt_avx2.c -- y = 1 / sqrt x by root and quotient, corrected once.
 *
 * With y0 = 1 / sqrt x rounded twice and the residual 1 - x y0^2 from exact products, y0 + y0/2
 * times it is within half a step and a little. */
#include "backends/cpu/cpu_map_avx2.h"

static inline __m256d rsqrt_pd(__m256d x)
{
    const __m256d one = _mm256_set1_pd(1.0);
    __m256d y = _mm256_div_pd(one, _mm256_sqrt_pd(x));
    __m256d h = _mm256_mul_pd(x, y), low = _mm256_fmsub_pd(x, y, h);
    __m256d rest = _mm256_fnmadd_pd(low, y, _mm256_fnmadd_pd(h, y, one));
    __m256d better = _mm256_fmadd_pd(_mm256_mul_pd(_mm256_set1_pd(0.5), y), rest, y);

    /* 0 and infinity leave a NaN; there y is right. */
    return _mm256_blendv_pd(better, y, _mm256_cmp_pd(better, better, _CMP_UNORD_Q));
}

static inline __m256 rsqrt_ps(__m256 x)
{
    const __m256 one = _mm256_set1_ps(1.0f);
    __m256 y = _mm256_div_ps(one, _mm256_sqrt_ps(x));
    __m256 h = _mm256_mul_ps(x, y), low = _mm256_fmsub_ps(x, y, h);
    __m256 rest = _mm256_fnmadd_ps(low, y, _mm256_fnmadd_ps(h, y, one));
    __m256 better = _mm256_fmadd_ps(_mm256_mul_ps(_mm256_set1_ps(0.5f), y), rest, y);

    return _mm256_blendv_ps(better, y, _mm256_cmp_ps(better, better, _CMP_UNORD_Q));
}

static inline __m256 rsqrt_plain_ps(__m256 x)
{
    return _mm256_div_ps(_mm256_set1_ps(1.0f), _mm256_sqrt_ps(x));
}

CPU_UNARY_AVX2(rsqrt, rsqrt_pd, rsqrt_ps, rsqrt_plain_ps)
CPU_UNARY_FAST_AVX2(rsqrt, rsqrt_plain_ps)
