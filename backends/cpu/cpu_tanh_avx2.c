/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_tanh_avx2.c -- tanh x = t / (t + 2), t = e^(2|x|) - 1, with the sign of x.
 *
 * 2|x| = n ln2 + r; t = 2^n m + (2^n - 1), m = e^r - 1 without its 1, so that small x keep their
 * relative accuracy. */
#include "backends/cpu/cpu_map_avx2.h"

static inline __m256d tanh_pd(__m256d x)
{
    const __m256d sign = _mm256_set1_pd(-0.0), one = _mm256_set1_pd(1.0);
    __m256d a = _mm256_andnot_pd(sign, x);

    /* tanh 20 rounds to 1; minpd gives its second operand when one is NaN. */
    a = _mm256_min_pd(_mm256_set1_pd(20.0), a);
    a = _mm256_add_pd(a, a);
    __m256d n = _mm256_round_pd(_mm256_mul_pd(a, _mm256_set1_pd(0x1.71547652b82fep0)),
                                _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256d r = _mm256_fmadd_pd(n, _mm256_set1_pd(-0x1.62e42fefa39efp-1), a);
    r = _mm256_fmadd_pd(n, _mm256_set1_pd(-0x1.abc9e3b39803fp-56), r);
    __m256d m = _mm256_set1_pd(1.0 / 6227020800.0);
    m = _mm256_fmadd_pd(m, r, _mm256_set1_pd(1.0 / 479001600.0));
    m = _mm256_fmadd_pd(m, r, _mm256_set1_pd(1.0 / 39916800.0));
    m = _mm256_fmadd_pd(m, r, _mm256_set1_pd(1.0 / 3628800.0));
    m = _mm256_fmadd_pd(m, r, _mm256_set1_pd(1.0 / 362880.0));
    m = _mm256_fmadd_pd(m, r, _mm256_set1_pd(1.0 / 40320.0));
    m = _mm256_fmadd_pd(m, r, _mm256_set1_pd(1.0 / 5040.0));
    m = _mm256_fmadd_pd(m, r, _mm256_set1_pd(1.0 / 720.0));
    m = _mm256_fmadd_pd(m, r, _mm256_set1_pd(1.0 / 120.0));
    m = _mm256_fmadd_pd(m, r, _mm256_set1_pd(1.0 / 24.0));
    m = _mm256_fmadd_pd(m, r, _mm256_set1_pd(1.0 / 6.0));
    m = _mm256_fmadd_pd(m, r, _mm256_set1_pd(0.5));
    m = _mm256_fmadd_pd(_mm256_mul_pd(r, r), m, r);
    __m256i whole = _mm256_cvtepi32_epi64(_mm256_cvtpd_epi32(n));
    __m256d power = _mm256_castsi256_pd(
        _mm256_slli_epi64(_mm256_add_epi64(whole, _mm256_set1_epi64x(1023)), 52));
    __m256d t = _mm256_fmadd_pd(power, m, _mm256_sub_pd(power, one));
    __m256d y = _mm256_div_pd(t, _mm256_add_pd(t, _mm256_set1_pd(2.0)));
    return _mm256_or_pd(y, _mm256_and_pd(sign, x));
}

static inline __m256 tanh_fast_ps(__m256 x)
{
    const __m256 sign = _mm256_set1_ps(-0.0f), magic = _mm256_set1_ps(0x1.8p23f);
    __m256 a = _mm256_min_ps(_mm256_set1_ps(10.0f), _mm256_andnot_ps(sign, x));

    a = _mm256_add_ps(a, a);
    __m256 shifted = _mm256_fmadd_ps(a, _mm256_set1_ps(0x1.715476p0f), magic);
    __m256 n = _mm256_sub_ps(shifted, magic);
    __m256 r = _mm256_fmadd_ps(n, _mm256_set1_ps(-0x1.62e400p-1f), a);
    r = _mm256_fmadd_ps(n, _mm256_set1_ps(-0x1.7f7d1cp-20f), r);
    __m256 q = _mm256_set1_ps(0x1.6a23d0p-10f);
    q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(0x1.123a20p-7f));
    q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(0x1.5558f2p-5f));
    q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(0x1.555492p-3f));
    q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(0x1.fffffcp-2f));
    __m256 m = _mm256_fmadd_ps(_mm256_mul_ps(r, r), q, r);
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
