/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_tanh_avx2.c -- tanh x = t / (t + 2), t = e^(2|x|) - 1, with the sign of x.
 *
 * 2|x| = n ln2 + r; t = 2^n m + (2^n - 1), m = e^r - 1 without its 1, so that small x keep their
 * relative accuracy. */
#include "backends/cpu/cpu_map_avx2.h"
#include "backends/exp_series_avx2.h"

static inline __m256d tanh_pd(__m256d x)
{
    const __m256d sign = _mm256_set1_pd(-0.0), one = _mm256_set1_pd(1.0);
    __m256d a = _mm256_andnot_pd(sign, x);

    /* tanh 20 rounds to 1; minpd gives its second operand when one is NaN. */
    a = _mm256_min_pd(_mm256_set1_pd(20.0), a);
    a = _mm256_add_pd(a, a);
    __m256d n, r = exp_rest_pd(a, &n), m = exp_less_one_pd(r);
    __m256i whole = _mm256_cvtepi32_epi64(_mm256_cvtpd_epi32(n));
    __m256d power = _mm256_castsi256_pd(
        _mm256_slli_epi64(_mm256_add_epi64(whole, _mm256_set1_epi64x(1023)), 52));
    __m256d t = _mm256_fmadd_pd(power, m, _mm256_sub_pd(power, one));
    __m256d y = _mm256_div_pd(t, _mm256_add_pd(t, _mm256_set1_pd(2.0)));
    return _mm256_or_pd(y, _mm256_and_pd(sign, x));
}

static inline __m256 tanh_fast_ps(__m256 x)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 a = _mm256_min_ps(_mm256_set1_ps(10.0f), _mm256_andnot_ps(sign, x));

    a = _mm256_add_ps(a, a);
    __m256 shifted, r = exp_rest_ps(a, &shifted), m = exp_less_one_ps(r);
    __m256i bits = _mm256_add_epi32(_mm256_slli_epi32(_mm256_castps_si256(shifted), 23),
                                    _mm256_set1_epi32(0x3f800000));
    __m256 power = _mm256_castsi256_ps(bits);
    __m256 t = _mm256_fmadd_ps(power, m, _mm256_sub_ps(power, _mm256_set1_ps(1.0f)));
    __m256 y = _mm256_div_ps(t, _mm256_add_ps(t, _mm256_set1_ps(2.0f)));
    return _mm256_or_ps(y, _mm256_and_ps(sign, x));
}

static inline __m256 tanh_ps(__m256 x)
{
    __m256d low = tanh_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(x)));
    __m256d high = tanh_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)));

    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}

CPU_UNARY_AVX2(tanh, tanh_pd, tanh_ps, tanh_fast_ps)
CPU_UNARY_FAST_AVX2(tanh, tanh_fast_ps)
