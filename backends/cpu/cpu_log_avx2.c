/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_log_avx2.c -- ln x = k ln2 + ln(1 + f), sqrt(1/2) <= 1 + f < sqrt 2.
 *
 * ln(1 + f) = f - (f^2/2 - s (f^2/2 + s^2 P(s^2))), s = f / (2 + f) (the form of fdlibm's e_log.c);
 * P interpolates at Chebyshev's points, error 2^-58 in f64 and 2^-29 in f32. */
#include <math.h>

#include "backends/cpu/cpu_map_avx2.h"

/* Zero, negative numbers, infinity, NaN. */
static inline __m256d log_special_pd(__m256d x, __m256d y)
{
    const __m256d zero = _mm256_setzero_pd(), top = _mm256_set1_pd(INFINITY);

    y = _mm256_blendv_pd(y, _mm256_set1_pd(-INFINITY), _mm256_cmp_pd(x, zero, _CMP_EQ_OQ));
    y = _mm256_blendv_pd(y, _mm256_set1_pd(NAN), _mm256_cmp_pd(x, zero, _CMP_NGE_UQ));
    return _mm256_blendv_pd(y, top, _mm256_cmp_pd(x, top, _CMP_EQ_OQ));
}

static inline __m256 log_special_ps(__m256 x, __m256 y)
{
    const __m256 zero = _mm256_setzero_ps(), top = _mm256_set1_ps(INFINITY);

    y = _mm256_blendv_ps(y, _mm256_set1_ps(-INFINITY), _mm256_cmp_ps(x, zero, _CMP_EQ_OQ));
    y = _mm256_blendv_ps(y, _mm256_set1_ps(NAN), _mm256_cmp_ps(x, zero, _CMP_NGE_UQ));
    return _mm256_blendv_ps(y, top, _mm256_cmp_ps(x, top, _CMP_EQ_OQ));
}

static inline __m256d log_pd(__m256d x)
{
    const __m256d least = _mm256_set1_pd(0x1p-1022), two = _mm256_set1_pd(2.0);
    __m256d tiny = _mm256_cmp_pd(x, least, _CMP_LT_OQ);
    __m256d v = _mm256_blendv_pd(x, _mm256_mul_pd(x, _mm256_set1_pd(0x1p54)), tiny);
    /* k: exponent of x over sqrt(1/2), as a biased number that stays positive. */
    __m256i bits = _mm256_sub_epi64(_mm256_castpd_si256(v), _mm256_set1_epi64x(0x3fe6a09e667f3bcd));
    __m256i biased = _mm256_srli_epi64(_mm256_add_epi64(bits, _mm256_set1_epi64x(INT64_MIN)), 52);
    __m256i down = _mm256_slli_epi64(_mm256_sub_epi64(biased, _mm256_set1_epi64x(2048)), 52);
    __m256d m = _mm256_castsi256_pd(_mm256_sub_epi64(_mm256_castpd_si256(v), down));
    /* 2^52 + biased, minus 2^52 + 2048. */
    __m256i in_place = _mm256_or_si256(biased, _mm256_set1_epi64x(0x4330000000000000));
    __m256d k = _mm256_sub_pd(_mm256_castsi256_pd(in_place), _mm256_set1_pd(0x1p52 + 2048.0));
    k = _mm256_sub_pd(k, _mm256_and_pd(tiny, _mm256_set1_pd(54.0)));
    __m256d f = _mm256_sub_pd(m, _mm256_set1_pd(1.0));
    __m256d s = _mm256_div_pd(f, _mm256_add_pd(f, two)), z = _mm256_mul_pd(s, s);
    __m256d p = _mm256_set1_pd(0x1.0c0aff044a97p-3);
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(0x1.0fbde0f4ad17bp-3));
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(0x1.3b1c3c1c81c8fp-3));
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(0x1.745cf8e4bba1bp-3));
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(0x1.c71c7201a55d7p-3));
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(0x1.2492492476a1ap-2));
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(0x1.9999999999a39p-2));
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(0x1.5555555555555p-1));
    __m256d half = _mm256_mul_pd(_mm256_mul_pd(_mm256_set1_pd(0.5), f), f);
    __m256d inner = _mm256_mul_pd(s, _mm256_fmadd_pd(z, p, half));
    inner = _mm256_fmadd_pd(k, _mm256_set1_pd(0x1.a39ef35793c76p-33), inner);
    __m256d y = _mm256_sub_pd(f, _mm256_sub_pd(half, inner));
    y = _mm256_fmadd_pd(k, _mm256_set1_pd(0x1.62e42feep-1), y);
    return log_special_pd(x, y);
}

static inline __m256 log_fast_ps(__m256 x)
{
    __m256 tiny = _mm256_cmp_ps(x, _mm256_set1_ps(0x1p-126f), _CMP_LT_OQ);
    __m256 v = _mm256_blendv_ps(x, _mm256_mul_ps(x, _mm256_set1_ps(0x1p24f)), tiny);
    __m256i bits = _mm256_sub_epi32(_mm256_castps_si256(v), _mm256_set1_epi32(0x3f3504f3));
    __m256i whole = _mm256_srai_epi32(bits, 23);
    __m256 m =
        _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_castps_si256(v), _mm256_slli_epi32(whole, 23)));
    __m256 k = _mm256_cvtepi32_ps(whole);
    k = _mm256_sub_ps(k, _mm256_and_ps(tiny, _mm256_set1_ps(24.0f)));
    __m256 f = _mm256_sub_ps(m, _mm256_set1_ps(1.0f));
    __m256 s = _mm256_div_ps(f, _mm256_add_ps(f, _mm256_set1_ps(2.0f))), z = _mm256_mul_ps(s, s);
    __m256 p = _mm256_set1_ps(0x1.ddd4dap-3f);
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(0x1.245c28p-2f));
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(0x1.9999ecp-2f));
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(0x1.555556p-1f));
    __m256 half = _mm256_mul_ps(_mm256_mul_ps(_mm256_set1_ps(0.5f), f), f);
    __m256 inner = _mm256_mul_ps(s, _mm256_fmadd_ps(z, p, half));
    inner = _mm256_fmadd_ps(k, _mm256_set1_ps(0x1.7f7d1cp-20f), inner);
    __m256 y = _mm256_sub_ps(f, _mm256_sub_ps(half, inner));
    y = _mm256_fmadd_ps(k, _mm256_set1_ps(0x1.62e400p-1f), y);
    return log_special_ps(x, y);
}

static inline __m256 log_ps(__m256 x)
{
    __m256d low = log_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(x)));
    __m256d high = log_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)));

    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}

CPU_UNARY_AVX2(log, log_pd, log_ps, log_fast_ps)
CPU_UNARY_FAST_AVX2(log, log_fast_ps)
