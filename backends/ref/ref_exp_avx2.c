/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_exp_avx2.c -- e^x four doubles at a time through libmvec.
 *
 * Declared by hand: compilers call libmvec by themselves only under -ffast-math, which would turn
 * off subnormals for the process. */
#include "backends/ref/ref.h"

#include <immintrin.h>
#include <string.h>

__m256d _ZGVdN4v_exp(__m256d x);

/* Outside, e^x is infinite or rounds to zero as a double, and finding that out takes libmvec four
 * times as long as the rest: half of all f32 values are there. */
#define MOST  710.0
#define LEAST (-746.0)

static inline __m256d exp_any(__m256d x)
{
    __m256d above = _mm256_cmp_pd(x, _mm256_set1_pd(MOST), _CMP_GT_OQ);
    __m256d below = _mm256_cmp_pd(x, _mm256_set1_pd(LEAST), _CMP_LT_OQ);
    __m256d outside = _mm256_or_pd(above, below);

    if (_mm256_movemask_pd(outside) == 0)
        return _ZGVdN4v_exp(x);
    __m256d y = _ZGVdN4v_exp(_mm256_andnot_pd(outside, x));
    y = _mm256_blendv_pd(y, _mm256_set1_pd(INFINITY), above);
    return _mm256_andnot_pd(below, y);
}

void ref_exp_fast_avx2(const double *x, double *y, int64_t n)
{
    int64_t i = 0;

    for (; i + 4 <= n; i += 4)
        _mm256_storeu_pd(y + i, exp_any(_mm256_loadu_pd(x + i)));
    if (i < n) {
        double tail[4] = {0.0, 0.0, 0.0, 0.0};
        memcpy(tail, x + i, (size_t)(n - i) * sizeof *x);
        _mm256_storeu_pd(tail, exp_any(_mm256_loadu_pd(tail)));
        memcpy(y + i, tail, (size_t)(n - i) * sizeof *x);
    }
}

void ref_exp_bounds_avx2(const double *y, double *bound, uint8_t *open, int64_t n)
{
    const __m256d infinity = _mm256_set1_pd(INFINITY), sign = _mm256_set1_pd(-0.0);
    const __m256d unit = _mm256_set1_pd(REF_EXP_FAST_ULP * 0x1p-52);
    const __m256d least = _mm256_set1_pd(REF_EXP_FAST_ULP * REF_EXP_LEAST_UNIT);
    const __m256d reach = _mm256_set1_pd(REF_EXP_REACH);
    int64_t i = 0;

    for (; i + 4 <= n; i += 4) {
        __m256d v = _mm256_loadu_pd(y + i);
        __m256d b = _mm256_add_pd(_mm256_mul_pd(_mm256_andnot_pd(sign, v), unit), least);
        b = _mm256_and_pd(b, _mm256_cmp_pd(v, infinity, _CMP_LT_OQ)); /* e^x is not negative */
        _mm256_storeu_pd(bound + i, b);
        b = _mm256_mul_pd(b, reach);
        __m128 below = _mm256_cvtpd_ps(_mm256_sub_pd(v, b));
        __m128 above = _mm256_cvtpd_ps(_mm256_add_pd(v, b));
        int mask = _mm_movemask_ps(_mm_cmpneq_ps(below, above));
        uint32_t spread = ((uint32_t)mask * 0x00204081u) & 0x01010101u; /* a bit a byte */
        memcpy(open + i, &spread, sizeof spread);
    }
    for (; i < n; i++) {
        bound[i] =
            isfinite(y[i]) ? REF_EXP_FAST_ULP * (fabs(y[i]) * 0x1p-52 + REF_EXP_LEAST_UNIT) : 0.0;
        double wider = bound[i] * REF_EXP_REACH;
        open[i] = (float)(y[i] - wider) != (float)(y[i] + wider);
    }
}
