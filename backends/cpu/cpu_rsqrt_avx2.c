/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_rsqrt_avx2.c -- y = 1 / sqrt x by root and quotient, corrected once. */
#include "backends/cpu/cpu_map_avx2.h"

static inline vec_pd rsqrt_start_pd(vec_pd x)
{
    return _mm256_div_pd(_mm256_set1_pd(1.0), _mm256_sqrt_pd(x));
}

static inline vec_ps rsqrt_start_ps(vec_ps x)
{
    return _mm256_div_ps(_mm256_set1_ps(1.0f), _mm256_sqrt_ps(x));
}

#include "backends/cpu/cpu_rsqrt.h"

CPU_UNARY_AVX2(rsqrt, rsqrt_pd, rsqrt_ps, rsqrt_start_ps)
CPU_UNARY_FAST_AVX2(rsqrt, rsqrt_start_ps)
