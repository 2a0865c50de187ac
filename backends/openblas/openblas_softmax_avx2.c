/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas_softmax_avx2.c -- the softmax between two products, in place. */
#include <math.h>
#include <string.h>

#include "backends/exp_below_avx2.h"
#include "backends/openblas/openblas_attention.h"

static float largest(const float *s, int64_t n)
{
    __m256 m0 = _mm256_set1_ps(-INFINITY), m1 = m0;
    float lanes[8], max = -INFINITY;
    int64_t j = 0;

    for (; j + 16 <= n; j += 16) {
        m0 = _mm256_max_ps(_mm256_loadu_ps(s + j), m0); /* passes over NaN */
        m1 = _mm256_max_ps(_mm256_loadu_ps(s + j + 8), m1);
    }
    _mm256_storeu_ps(lanes, _mm256_max_ps(m0, m1));
    for (; j < n; j++)
        max = s[j] > max ? s[j] : max;
    for (int i = 0; i < 8; i++)
        max = lanes[i] > max ? lanes[i] : max;
    return max;
}

/* Eight weights of which n count. */
static __m256 last_weights(float *s, int64_t n, __m256 top)
{
    float in[8];

    for (int i = 0; i < 8; i++)
        in[i] = -INFINITY;
    memcpy(in, s, (size_t)n * sizeof *s);
    __m256 e = exp_below_ps(_mm256_sub_ps(_mm256_loadu_ps(in), top));
    _mm256_storeu_ps(in, e);
    memcpy(s, in, (size_t)n * sizeof *s);
    return e;
}

void openblas_softmax_row(float *s, int64_t seen, int64_t n)
{
    __m256 top = _mm256_set1_ps(largest(s, seen)), a = _mm256_setzero_ps(), b = a;
    float lanes[8], sum = 0.0f;
    int64_t j = 0;

    for (; j + 16 <= seen; j += 16) {
        __m256 e0 = exp_below_ps(_mm256_sub_ps(_mm256_loadu_ps(s + j), top));
        __m256 e1 = exp_below_ps(_mm256_sub_ps(_mm256_loadu_ps(s + j + 8), top));
        _mm256_storeu_ps(s + j, e0);
        _mm256_storeu_ps(s + j + 8, e1);
        a = _mm256_add_ps(a, e0);
        b = _mm256_add_ps(b, e1);
    }
    for (; j < seen; j += 8)
        a = _mm256_add_ps(a, last_weights(s + j, seen - j < 8 ? seen - j : 8, top));
    _mm256_storeu_ps(lanes, _mm256_add_ps(a, b));
    for (int i = 0; i < 8; i++)
        sum += lanes[i];
    __m256 inverse = _mm256_set1_ps(1.0f / sum);
    for (j = 0; j + 8 <= seen; j += 8)
        _mm256_storeu_ps(s + j, _mm256_mul_ps(_mm256_loadu_ps(s + j), inverse));
    for (; j < seen; j++)
        s[j] *= 1.0f / sum;
    memset(s + seen, 0, (size_t)(n - seen) * sizeof *s);
}
