/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_unary_avx2.c -- functions of the C library four doubles at a time (libmvec).
 *
 * Declared by hand: compilers call libmvec by themselves only under -ffast-math, which would turn
 * off subnormals for the process. */
#include <immintrin.h>
#include <string.h>

#include "backends/ref/ref_unary.h"

#define X(name)                                                               \
    __m256d _ZGVdN4v_##name(__m256d x);                                       \
    void ref_map_##name##_avx2(const double *x, double *y, int64_t n)         \
    {                                                                         \
        int64_t i = 0;                                                        \
        for (; i + 4 <= n; i += 4)                                            \
            _mm256_storeu_pd(y + i, _ZGVdN4v_##name(_mm256_loadu_pd(x + i))); \
        if (i < n) {                                                          \
            double tail[4] = {1.0, 1.0, 1.0, 1.0};                            \
            memcpy(tail, x + i, (size_t)(n - i) * sizeof *x);                 \
            _mm256_storeu_pd(tail, _ZGVdN4v_##name(_mm256_loadu_pd(tail)));   \
            memcpy(y + i, tail, (size_t)(n - i) * sizeof *x);                 \
        }                                                                     \
    }
REF_LIBM(X)
#undef X
