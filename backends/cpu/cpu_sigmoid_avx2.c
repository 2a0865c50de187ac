/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_sigmoid_avx2.c -- y = 1 / (1 + e^-x). */
#include "backends/cpu/cpu_sigmoid_avx2.h"
#include "backends/cpu/cpu_map_avx2.h"

static inline __m256d sigmoid_pd(__m256d x)
{
    return sigmoid_times_pd(x, _mm256_setzero_pd(), _mm256_set1_pd(1.0));
}

static inline __m256 sigmoid_fast_ps(__m256 x)
{
    return sigmoid_times_ps(x, _mm256_setzero_ps(), _mm256_set1_ps(1.0f));
}

CPU_THROUGH_F64(sigmoid_ps, sigmoid_pd)

CPU_UNARY_AVX2(sigmoid, sigmoid_pd, sigmoid_ps, sigmoid_fast_ps)
CPU_UNARY_FAST_AVX2(sigmoid, sigmoid_fast_ps)
