/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_abs_avx2.c -- y = x without its sign bit, whatever the others say. */
#include "backends/cpu/cpu_bits_avx2.h"

static inline __m256d abs_pd(__m256d x)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}

static inline __m256 abs_ps(__m256 x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

static inline __m256i abs_halves(__m256i x)
{
    return _mm256_and_si256(x, _mm256_set1_epi16(INT16_MAX));
}

CPU_BITS_AVX2(abs, abs_pd, abs_ps, abs_halves)
