/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_sigmoid_avx2.h -- e^-a of a vector in two factors, and what is built on it.
 *
 * a >= 0 is n ln2 + r, |r| <= ln2/2; the result is low * scale with low = 2^(n/2) p(r): neither
 * factor is subnormal, so that a product formed between them loses nothing where the result is
 * small.  Both are NaN or such that the product is NaN for NaN. */
#ifndef ASSAY_BACKENDS_CPU_SIGMOID_AVX2_H
#define ASSAY_BACKENDS_CPU_SIGMOID_AVX2_H

#include "backends/cpu/cpu_simd_avx2.h"
#include "backends/exp_series_avx2.h"

/* Below these e^x times any |x| <= -x rounds to zero. */
#define CPU_EXP_LEAST_PS (-110.0f)
#define CPU_EXP_LEAST_PD (-760.0)

static inline __m256 abs_ps(__m256 x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

static inline __m256d abs_pd(__m256d x)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}

/* e^(x + rest) for x <= 0, |rest| far below one; zero where x is below CPU_EXP_LEAST_PS. */
static inline __m256 exp_parts_ps(__m256 x, __m256 rest, __m256 *scale)
{
    __m256 keep = _mm256_cmp_ps(x, _mm256_set1_ps(CPU_EXP_LEAST_PS), _CMP_NLT_UQ);

    /* maxps gives its second operand when one is NaN. */
    x = _mm256_max_ps(_mm256_set1_ps(CPU_EXP_LEAST_PS), x);
    __m256 shifted, r = exp_rest_ps(x, &shifted);
    r = _mm256_add_ps(r, rest);
    __m256 p = _mm256_add_ps(exp_less_one_ps(r), _mm256_set1_ps(1.0f));
    __m256i whole = _mm256_sub_epi32(_mm256_castps_si256(shifted), _mm256_set1_epi32(0x4b400000));
    __m256i half = _mm256_srai_epi32(whole, 1), bias = _mm256_set1_epi32(127);
    __m256i low = _mm256_slli_epi32(_mm256_add_epi32(half, bias), 23);
    __m256i high = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(whole, half), bias), 23);
    *scale = _mm256_castsi256_ps(high);
    return _mm256_and_ps(_mm256_mul_ps(p, _mm256_castsi256_ps(low)), keep);
}

/* The same in f64. */
static inline __m256d exp_parts_pd(__m256d x, __m256d rest, __m256d *scale)
{
    __m256d keep = _mm256_cmp_pd(x, _mm256_set1_pd(CPU_EXP_LEAST_PD), _CMP_NLT_UQ);

    x = _mm256_max_pd(_mm256_set1_pd(CPU_EXP_LEAST_PD), x);
    __m256d n, r = exp_rest_pd(x, &n);
    r = _mm256_add_pd(r, rest);
    __m256d p = _mm256_add_pd(exp_less_one_pd(r), _mm256_set1_pd(1.0));
    __m128i whole = _mm256_cvtpd_epi32(n), half = _mm_srai_epi32(whole, 1);
    __m256i bias = _mm256_set1_epi64x(1023);
    __m256i low = _mm256_add_epi64(_mm256_cvtepi32_epi64(half), bias);
    __m256i high = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm_sub_epi32(whole, half)), bias);
    *scale = _mm256_castsi256_pd(_mm256_slli_epi64(high, 52));
    p = _mm256_mul_pd(p, _mm256_castsi256_pd(_mm256_slli_epi64(low, 52)));
    return _mm256_and_pd(p, keep);
}

/* factor / (1 + e^-(x + rest)): e^-|x|, so that nothing overflows, and the factor between the two
 * parts, so that nothing is subnormal too early. */
static inline __m256 sigmoid_times_ps(__m256 x, __m256 rest, __m256 factor)
{
    const __m256 one = _mm256_set1_ps(1.0f), sign = _mm256_set1_ps(-0.0f);
    __m256 scale, negative = _mm256_and_ps(sign, x);
    __m256 e = exp_parts_ps(_mm256_or_ps(sign, x),
                            _mm256_xor_ps(rest, _mm256_xor_ps(negative, sign)), &scale);
    __m256 y = _mm256_div_ps(factor, _mm256_fmadd_ps(e, scale, one));

    return _mm256_blendv_ps(y, _mm256_mul_ps(_mm256_mul_ps(y, e), scale), x);
}

static inline __m256d sigmoid_times_pd(__m256d x, __m256d rest, __m256d factor)
{
    const __m256d one = _mm256_set1_pd(1.0), sign = _mm256_set1_pd(-0.0);
    __m256d scale, negative = _mm256_and_pd(sign, x);
    __m256d e = exp_parts_pd(_mm256_or_pd(sign, x),
                             _mm256_xor_pd(rest, _mm256_xor_pd(negative, sign)), &scale);
    __m256d y = _mm256_div_pd(factor, _mm256_fmadd_pd(e, scale, one));

    return _mm256_blendv_pd(y, _mm256_mul_pd(_mm256_mul_pd(y, e), scale), x);
}

/* A function of f64 on a vector of f32, rounded once: within one value of the correctly rounded
 * one where the function is good to 2^-30. */
#define CPU_THROUGH_F64(name, f)                                             \
    static inline __m256 name(__m256 x)                                      \
    {                                                                        \
        __m256d low = f(_mm256_cvtps_pd(_mm256_castps256_ps128(x)));         \
        __m256d high = f(_mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)));      \
        return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low)); \
    }

#endif
