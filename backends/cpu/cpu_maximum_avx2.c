/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_maximum_avx2.c -- the larger of two numbers, a vector at a time.
 *
 * The instruction gives its second operand for zeros and NaNs, so that the two orders together
 * show both: and joins the signs of zeros, and a sum carries a NaN. */
#include "backends/cpu/cpu_map_avx2.h"

static inline __m256d maximum_pd(__m256d a, __m256d b)
{
    __m256d y = _mm256_and_pd(_mm256_max_pd(a, b), _mm256_max_pd(b, a));

    return _mm256_blendv_pd(y, _mm256_add_pd(a, b), _mm256_cmp_pd(a, b, _CMP_UNORD_Q));
}

static inline __m256 maximum_ps(__m256 a, __m256 b)
{
    __m256 y = _mm256_and_ps(_mm256_max_ps(a, b), _mm256_max_ps(b, a));

    return _mm256_blendv_ps(y, _mm256_add_ps(a, b), _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}

CPU_BINARY_AVX2(maximum, maximum_pd, maximum_ps)
