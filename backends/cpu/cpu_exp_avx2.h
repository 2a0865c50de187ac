/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_exp_avx2.h -- e^x of a vector, shared by exp and softmax.
 *
 * x = n ln2 + r, |r| <= ln2/2, e^x = 2^n p(r); p is the Taylor series, cut where its rest is below
 * the last place aimed at.  NaN comes through; overflow gives infinity, underflow subnormals. */
#ifndef ASSAY_BACKENDS_CPU_EXP_AVX2_H
#define ASSAY_BACKENDS_CPU_EXP_AVX2_H

#include "backends/cpu/cpu_simd_avx2.h"

/* f32 throughout: about one unit in the last place.  Rest of the series: r^8/8! < 2^-27. */
static inline __m256 exp_fast_ps(__m256 x)
{
    const __m256 ln2_high = _mm256_set1_ps(-0x1.62e400p-1f);
    const __m256 ln2_low = _mm256_set1_ps(-0x1.7f7d1cp-20f);

    /* minps and maxps give their second operand when one is NaN. */
    x = _mm256_max_ps(_mm256_set1_ps(-105.0f), _mm256_min_ps(_mm256_set1_ps(89.0f), x));
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(0x1.715476p0f)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fmadd_ps(n, ln2_low, _mm256_fmadd_ps(n, ln2_high, x));
    __m256 p = _mm256_set1_ps(1.0f / 5040.0f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 720.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 120.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 24.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 6.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(_mm256_mul_ps(p, r), r, r);
    p = _mm256_add_ps(p, _mm256_set1_ps(1.0f));
    /* 2^n in two factors: n reaches 128 and -151. */
    __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1);
    __m256i bias = _mm256_set1_epi32(127);
    __m256i low = _mm256_slli_epi32(_mm256_add_epi32(half, bias), 23);
    __m256i rest = _mm256_add_epi32(_mm256_sub_epi32(whole, half), bias);
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(low));
    return _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(rest, 23)));
}

/* e^x for x <= 0 or NaN: no overflow, and a shorter way to n. */
static inline __m256 exp_negative_ps(__m256 x)
{
    const __m256 magic = _mm256_set1_ps(0x1.8p23f);

    x = _mm256_max_ps(_mm256_set1_ps(-105.0f), x);
    __m256 shifted = _mm256_fmadd_ps(x, _mm256_set1_ps(0x1.715476p0f), magic);
    __m256 n = _mm256_sub_ps(shifted, magic);
    __m256 r = _mm256_fmadd_ps(n, _mm256_set1_ps(-0x1.62e400p-1f), x);
    r = _mm256_fmadd_ps(n, _mm256_set1_ps(-0x1.7f7d1cp-20f), r);
    __m256 p = _mm256_set1_ps(1.0f / 720.0f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 120.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 24.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 6.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(_mm256_mul_ps(p, r), r, r);
    p = _mm256_add_ps(p, _mm256_set1_ps(1.0f));
    /* n + 151 is at least 0: 2^(n + 24) is normal, and 2^-24 brings subnormals about. */
    __m256i power = _mm256_slli_epi32(
        _mm256_add_epi32(_mm256_castps_si256(shifted), _mm256_set1_epi32(127 + 24)), 23);
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(power));
    return _mm256_mul_ps(p, _mm256_set1_ps(0x1p-24f));
}

/* p(r) to degree 11 for four doubles and 2^n, for |x| <= 151: error below 2^-46. */
static inline __m256d exp_narrow_pd(__m256d x)
{
    const __m256d magic = _mm256_set1_pd(0x1.8p52 + 1023.0);
    __m256d shifted = _mm256_fmadd_pd(x, _mm256_set1_pd(0x1.71547652b82fep0), magic);
    __m256d n = _mm256_sub_pd(shifted, magic);
    __m256d r = _mm256_fmadd_pd(n, _mm256_set1_pd(-0x1.62e42fefa39efp-1), x);
    __m256d p = _mm256_set1_pd(1.0 / 39916800.0);
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 3628800.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 362880.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 40320.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 5040.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 720.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 120.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 24.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 6.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(0.5));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0));
    return _mm256_mul_pd(p,
                         _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(shifted), 52)));
}

/* Through f64 and rounded once, subnormal and overflowing results too. */
static inline __m256 exp_accurate_ps(__m256 x)
{
    x = _mm256_max_ps(_mm256_set1_ps(-150.0f), _mm256_min_ps(_mm256_set1_ps(150.0f), x));
    __m256d low = exp_narrow_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(x)));
    __m256d high = exp_narrow_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)));
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}

/* Within one unit in the last place.  Rest of the series: r^14/14! < 2^-57. */
static inline __m256d exp_pd(__m256d x)
{
    x = _mm256_max_pd(_mm256_set1_pd(-746.0), _mm256_min_pd(_mm256_set1_pd(710.0), x));
    __m256d n = _mm256_round_pd(_mm256_mul_pd(x, _mm256_set1_pd(0x1.71547652b82fep0)),
                                _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256d r = _mm256_fmadd_pd(n, _mm256_set1_pd(-0x1.62e42fefa39efp-1), x);
    r = _mm256_fmadd_pd(n, _mm256_set1_pd(-0x1.abc9e3b39803fp-56), r);
    __m256d p = _mm256_set1_pd(1.0 / 6227020800.0);
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 479001600.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 39916800.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 3628800.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 362880.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 40320.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 5040.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 720.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 120.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 24.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 6.0));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(0.5));
    p = _mm256_fmadd_pd(_mm256_mul_pd(r, r), p, r);
    p = _mm256_add_pd(p, _mm256_set1_pd(1.0));
    __m128i whole = _mm256_cvtpd_epi32(n), half = _mm_srai_epi32(whole, 1);
    __m256i bias = _mm256_set1_epi64x(1023);
    __m256i low = _mm256_add_epi64(_mm256_cvtepi32_epi64(half), bias);
    __m256i rest = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm_sub_epi32(whole, half)), bias);
    p = _mm256_mul_pd(p, _mm256_castsi256_pd(_mm256_slli_epi64(low, 52)));
    return _mm256_mul_pd(p, _mm256_castsi256_pd(_mm256_slli_epi64(rest, 52)));
}

#endif
