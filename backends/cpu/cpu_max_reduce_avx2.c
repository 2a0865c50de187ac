/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_max_reduce_avx2.c -- along the middle extent, in vectors; a NaN wins, -0 < +0.
 *
 * Both orders of the instruction together show zeros and NaNs; see cpu_maximum_avx2.c. */
#include "backends/cpu/cpu_reduce_avx2.h"

static inline __m256d next_pd(__m256d a, __m256d b)
{
    __m256d y = _mm256_and_pd(_mm256_max_pd(a, b), _mm256_max_pd(b, a));

    return _mm256_blendv_pd(y, _mm256_add_pd(a, b), _mm256_cmp_pd(a, b, _CMP_UNORD_Q));
}

static inline __m256 next_ps(__m256 a, __m256 b)
{
    __m256 y = _mm256_and_ps(_mm256_max_ps(a, b), _mm256_max_ps(b, a));

    return _mm256_blendv_ps(y, _mm256_add_ps(a, b), _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}

CPU_REDUCE_AVX2(max_reduce, -INFINITY, next_pd, next_ps, max, 1, cpu_reduce_done, cpu_reduce_done)
