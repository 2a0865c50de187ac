/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/exp_below_avx2.h -- e^x for x <= 0, as a softmax needs it, without a branch.
 *
 * Within 1.5 units in the last place down to -87; 0 below, where results
 * would soon be subnormal.  NaN comes through. */
#ifndef ASSAY_BACKENDS_EXP_BELOW_AVX2_H
#define ASSAY_BACKENDS_EXP_BELOW_AVX2_H

#include "backends/vector_avx2.h"

#include "backends/exp_series.h"

static inline __m256 exp_below_ps(__m256 x)
{
    const __m256 least = _mm256_set1_ps(-87.0f);
    __m256 is_least = _mm256_cmp_ps(x, least, _CMP_LT_OQ);

    x = _mm256_max_ps(least, x); /* its second operand when that is NaN */
    __m256 shifted, r = exp_rest_ps(x, &shifted);
    __m256 p = _mm256_add_ps(exp_less_one_ps(r), _mm256_set1_ps(1.0f));
    /* n stands in the low bits of `shifted`. */
    __m256i bias = _mm256_set1_epi32(127);
    __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_castps_si256(shifted), bias), 23);
    return _mm256_andnot_ps(is_least, _mm256_mul_ps(p, _mm256_castsi256_ps(power)));
}

#endif
