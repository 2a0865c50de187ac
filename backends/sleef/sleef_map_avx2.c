/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/sleef/sleef_map_avx2.c -- a function of vectors of 256 bits over an array.
 *
 * The rest of an array takes the same path as whole vectors, so that no cut changes a bit. */
#include <immintrin.h>
#include <string.h>

#include "backends/sleef/sleef_calls.h"

void sleef_map_f32_avx2(const sleef_step *step, const void *x, void *y, int64_t n)
{
    __m256 (*function)(__m256) = (__m256(*)(__m256))step->fn;
    const float *in = x;
    float *out = y, last[8] = {0};
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(out + i, function(_mm256_loadu_ps(in + i)));
    if (i == n)
        return;
    memcpy(last, in + i, (size_t)(n - i) * sizeof *last);
    _mm256_storeu_ps(last, function(_mm256_loadu_ps(last)));
    memcpy(out + i, last, (size_t)(n - i) * sizeof *last);
}

/* `doubt`: a bit for each element whose result in `out` is computed anew. */
static void repair(const sleef_step *step, __m256d v, double *out, int doubt)
{
    double in[4];

    _mm256_storeu_pd(in, v);
    for (int i = 0; i < 4; i++)
        if (((unsigned)doubt >> i & 1u) != 0)
            out[i] = step->exact(in[i]);
}

void sleef_map_f64_avx2(const sleef_step *step, const void *x, void *y, int64_t n)
{
    __m256d (*function)(__m256d) = (__m256d(*)(__m256d))step->fn;
    __m256d limit = _mm256_set1_pd(step->doubtful);
    const double *in = x;
    double *out = y, last[4] = {0};

    for (int64_t i = 0; i < n; i += 4) {
        bool whole = i + 4 <= n;
        if (!whole)
            memcpy(last, in + i, (size_t)(n - i) * sizeof *last);
        __m256d v = _mm256_loadu_pd(whole ? in + i : last);
        double *to = whole ? out + i : last;
        int doubt = _mm256_movemask_pd(_mm256_cmp_pd(v, limit, _CMP_GT_OQ));
        _mm256_storeu_pd(to, function(v));
        if (doubt != 0)
            repair(step, v, to, doubt);
        if (!whole)
            memcpy(out + i, last, (size_t)(n - i) * sizeof *last);
    }
}
