/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/exp_series_avx2.h -- what kernels with an exponential inside have in common.
 *
 * x = n ln2 + r, |r| <= ln2/2; e^x = 2^n (1 + m(r)).  How 2^n is applied, and what becomes of
 * extreme x, is each function's own. */
#ifndef ASSAY_BACKENDS_EXP_SERIES_AVX2_H
#define ASSAY_BACKENDS_EXP_SERIES_AVX2_H

#include <immintrin.h>

/* r; *shifted holds n in its low bits, behind those of 0x1.8p23. */
static inline __attribute__((always_inline)) __m256 exp_rest_ps(__m256 x, __m256 *shifted)
{
    const __m256 magic = _mm256_set1_ps(0x1.8p23f);

    *shifted = _mm256_fmadd_ps(x, _mm256_set1_ps(0x1.715476p0f), magic);
    __m256 n = _mm256_sub_ps(*shifted, magic);
    __m256 r = _mm256_fmadd_ps(n, _mm256_set1_ps(-0x1.62e400p-1f), x);
    return _mm256_fmadd_ps(n, _mm256_set1_ps(-0x1.7f7d1cp-20f), r);
}

/* m = e^r - 1 as r + r^2 q(r), with the q of degree 4 whose relative error on |r| <= ln2/2 is least
 * (Remez): 2^-28.2. */
static inline __attribute__((always_inline)) __m256 exp_less_one_ps(__m256 r)
{
    __m256 q = _mm256_set1_ps(0x1.6a23d0p-10f);

    q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(0x1.123a20p-7f));
    q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(0x1.5558f2p-5f));
    q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(0x1.555492p-3f));
    q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(0x1.fffffcp-2f));
    return _mm256_fmadd_ps(_mm256_mul_ps(r, r), q, r);
}

/* r; *n as a whole number of type double. */
static inline __attribute__((always_inline)) __m256d exp_rest_pd(__m256d x, __m256d *n)
{
    *n = _mm256_round_pd(_mm256_mul_pd(x, _mm256_set1_pd(0x1.71547652b82fep0)),
                         _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256d r = _mm256_fmadd_pd(*n, _mm256_set1_pd(-0x1.62e42fefa39efp-1), x);
    return _mm256_fmadd_pd(*n, _mm256_set1_pd(-0x1.abc9e3b39803fp-56), r);
}

/* The Taylor series up to r^13: its rest is r^14/14! < 2^-57. */
static inline __attribute__((always_inline)) __m256d exp_less_one_pd(__m256d r)
{
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
    return _mm256_fmadd_pd(_mm256_mul_pd(r, r), p, r);
}

#endif
