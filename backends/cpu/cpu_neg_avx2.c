/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_neg_avx2.c -- y = x with the other sign bit, whatever the others say. */
#include "backends/cpu/cpu_bits_avx2.h"

static inline __m256d neg_pd(__m256d x)
{
    return _mm256_xor_pd(_mm256_set1_pd(-0.0), x);
}

static inline __m256 neg_ps(__m256 x)
{
    return _mm256_xor_ps(_mm256_set1_ps(-0.0f), x);
}

static inline __m256i neg_halves(__m256i x)
{
    return _mm256_xor_si256(x, _mm256_set1_epi16(INT16_MIN));
}

CPU_BITS_AVX2(neg, neg_pd, neg_ps, neg_halves)
