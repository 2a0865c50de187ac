/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/exp_below_avx2.h -- e^x for x <= 0, as a softmax needs it, without a branch.
 *
 * x = n ln2 + r, |r| <= ln2/2; p is 1 + r + r^2 q(r) with the q of degree 4 whose relative error is
 * least (Remez, 2^-28.2).  Within 1.5 units in the last place down to -87; 0 below, where results
 * would soon be subnormal.  NaN comes through. */
#ifndef ASSAY_BACKENDS_EXP_BELOW_AVX2_H
#define ASSAY_BACKENDS_EXP_BELOW_AVX2_H

#include <immintrin.h>

static inline __m256 exp_below_ps(__m256 x)
{
    const __m256 magic = _mm256_set1_ps(0x1.8p23f), least = _mm256_set1_ps(-87.0f);
    __m256 is_least = _mm256_cmp_ps(x, least, _CMP_LT_OQ);

    x = _mm256_max_ps(least, x); /* its second operand when that is NaN */
    __m256 shifted = _mm256_fmadd_ps(x, _mm256_set1_ps(0x1.715476p0f), magic);
    __m256 n = _mm256_sub_ps(shifted, magic);
    __m256 r = _mm256_fmadd_ps(n, _mm256_set1_ps(-0x1.62e400p-1f), x);
    r = _mm256_fmadd_ps(n, _mm256_set1_ps(-0x1.7f7d1cp-20f), r);
    __m256 q = _mm256_set1_ps(0x1.6a23d0p-10f);
    q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(0x1.123a20p-7f));
    q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(0x1.5558f2p-5f));
    q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(0x1.555492p-3f));
    q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(0x1.fffffcp-2f));
    __m256 p = _mm256_fmadd_ps(_mm256_mul_ps(r, r), q, r);
    p = _mm256_add_ps(p, _mm256_set1_ps(1.0f));
    /* n stands in the low bits of `shifted`. */
    __m256i bias = _mm256_set1_epi32(127);
    __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_castps_si256(shifted), bias), 23);
    return _mm256_andnot_ps(is_least, _mm256_mul_ps(p, _mm256_castsi256_ps(power)));
}

#endif
