/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_softmax_avx512.c -- softmax over rows, sixteen columns at a time. */
#include <math.h>

#include "backends/cpu/cpu_simd_avx512.h"
#include "backends/vector_avx512.h"

#include "backends/cpu/cpu_exp.h"

typedef struct row_range {
    float max;
} row_range;

/* Prefetches the first half of the next row. */
static row_range range_f32(const float *x, int64_t n, const float *next)
{
    __m512 m0 = _mm512_set1_ps(-INFINITY), m1 = m0, m2 = m0, m3 = m0;
    int64_t i = 0;

    for (; i + 64 <= n; i += 64) {
        _mm_prefetch((const char *)(next + i / 2), _MM_HINT_T0);
        _mm_prefetch((const char *)(next + i / 2 + 16), _MM_HINT_T0);
        m0 = _mm512_max_ps(_mm512_loadu_ps(x + i), m0);
        m1 = _mm512_max_ps(_mm512_loadu_ps(x + i + 16), m1);
        m2 = _mm512_max_ps(_mm512_loadu_ps(x + i + 32), m2);
        m3 = _mm512_max_ps(_mm512_loadu_ps(x + i + 48), m3);
    }
    float max = max_lanes_ps(_mm512_max_ps(_mm512_max_ps(m0, m1), _mm512_max_ps(m2, m3)));
    for (; i < n; i++)
        max = x[i] > max ? x[i] : max;
    return (row_range){max};
}

static inline __attribute__((always_inline)) void weigh_four(__m512 *v0, __m512 *v1, __m512 *v2,
                                                             __m512 *v3, const row_range *range)
{
    (void)range;
    *v0 = exp_not_large_ps(*v0);
    *v1 = exp_not_large_ps(*v1);
    *v2 = exp_not_large_ps(*v2);
    *v3 = exp_not_large_ps(*v3);
}

#include "backends/cpu/cpu_softmax.h"

CPU_ENTRY(softmax_avx512_f64)
{
    return cpu_run_rows_eps(launch, 0.0, rows_f64);
}

CPU_ENTRY(softmax_avx512_f32)
{
    return cpu_run_rows_eps(launch, 0.0, all_rows_f32);
}

CPU_ENTRY(softmax_avx512_f16)
{
    return cpu_run_rows_eps(launch, 0.0, rows_f16);
}

CPU_ENTRY(softmax_avx512_bf16)
{
    return cpu_run_rows_eps(launch, 0.0, rows_bf16);
}
