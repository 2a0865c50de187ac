/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_relu_avx2.c -- y = x below which zero stands; NaN stays, -0 becomes +0. */
#include "backends/cpu/cpu_map_avx2.h"

/* The instruction gives its second operand when one is NaN, or both are zeros. */
static inline __m256d relu_pd(__m256d x)
{
    __m256d y = _mm256_max_pd(_mm256_setzero_pd(), x);

    return _mm256_and_pd(y, _mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_NEQ_UQ));
}

static inline __m256 relu_ps(__m256 x)
{
    __m256 y = _mm256_max_ps(_mm256_setzero_ps(), x);

    return _mm256_and_ps(y, _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_NEQ_UQ));
}

CPU_UNARY_AVX2(relu, relu_pd, relu_ps, relu_ps)
