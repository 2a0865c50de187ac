/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_minimum_avx2.c -- the smaller of two numbers, a vector at a time.
 *
 * The instruction gives its second operand for zeros and NaNs, so that the two orders together
 * show both: or joins the signs of zeros, and a sum carries a NaN. */
#include "backends/cpu/cpu_map_avx2.h"

static inline __m256d minimum_pd(__m256d a, __m256d b)
{
    __m256d y = _mm256_or_pd(_mm256_min_pd(a, b), _mm256_min_pd(b, a));

    return _mm256_blendv_pd(y, _mm256_add_pd(a, b), _mm256_cmp_pd(a, b, _CMP_UNORD_Q));
}

static inline __m256 minimum_ps(__m256 a, __m256 b)
{
    __m256 y = _mm256_or_ps(_mm256_min_ps(a, b), _mm256_min_ps(b, a));

    return _mm256_blendv_ps(y, _mm256_add_ps(a, b), _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}

CPU_BINARY_AVX2(minimum, minimum_pd, minimum_ps)
