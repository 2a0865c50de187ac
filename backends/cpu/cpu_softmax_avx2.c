/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_softmax_avx2.c -- softmax over rows, eight columns at a time. */
#include <math.h>

#include "backends/cpu/cpu_exp_avx2.h"

/* What is known of a row before its exponentials are computed. */
typedef struct row_range {
    float max;
    bool is_ordinary; /* no |x - max| beyond 87, no NaN */
} row_range;

/* Prefetches the first half of the next row. */
static row_range range_f32(const float *x, int64_t n, const float *next)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    __m256 m0 = _mm256_set1_ps(-INFINITY), m1 = m0;
    __m256i size0 = _mm256_setzero_si256(), size1 = size0;
    int64_t i = 0;

    for (; i + 16 <= n; i += 16) {
        _mm_prefetch((const char *)(next + i / 2), _MM_HINT_T0);
        __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + i + 8);
        m0 = _mm256_max_ps(a, m0);
        m1 = _mm256_max_ps(b, m1);
        size0 = _mm256_max_epu32(_mm256_and_si256(_mm256_castps_si256(a), magnitude), size0);
        size1 = _mm256_max_epu32(_mm256_and_si256(_mm256_castps_si256(b), magnitude), size1);
    }
    float max = max_lanes_ps(_mm256_max_ps(m0, m1));
    for (; i < n; i++)
        max = x[i] > max ? x[i] : max;
    /* The bits of 43.5; columns behind the last group take the careful way. */
    size0 = _mm256_cmpgt_epi32(_mm256_max_epu32(size0, size1), _mm256_set1_epi32(0x422e0000));
    return (row_range){max, _mm256_testz_si256(size0, size0) && fabsf(max) <= 43.5f};
}

static inline __attribute__((always_inline)) void weigh_four(__m256 *v0, __m256 *v1, __m256 *v2,
                                                             __m256 *v3, const row_range *range)
{
    if (range->is_ordinary) {
        exp_two_ps(v0, v1);
        exp_two_ps(v2, v3);
    } else {
        exp_four_ps(v0, v1, v2, v3);
    }
}

#include "backends/cpu/cpu_softmax.h"

CPU_ENTRY(softmax_f64_avx2)
{
    return cpu_run_rows_eps(launch, 0.0, rows_f64);
}

CPU_ENTRY(softmax_f32_avx2)
{
    return cpu_run_rows_eps(launch, 0.0, all_rows_f32);
}

CPU_ENTRY(softmax_f16_avx2)
{
    return cpu_run_rows_eps(launch, 0.0, rows_f16);
}

CPU_ENTRY(softmax_bf16_avx2)
{
    return cpu_run_rows_eps(launch, 0.0, rows_bf16);
}
