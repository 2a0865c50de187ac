/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_matmul_avx2.c -- micro-kernels of the reference matmul, four columns a step. */
#include "backends/ref/ref.h"

#include <immintrin.h>

static inline __m256d absolute(__m256d x)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}

/* hi + lo += x without loss in hi; lo takes the remainder. */
static inline void add_exactly(double *hi, double *lo, __m256d x)
{
    __m256d a = _mm256_loadu_pd(hi);
    __m256d s = _mm256_add_pd(a, x);
    __m256d t = _mm256_sub_pd(s, a);
    __m256d e = _mm256_add_pd(_mm256_sub_pd(a, _mm256_sub_pd(s, t)), _mm256_sub_pd(x, t));

    _mm256_storeu_pd(hi, s);
    _mm256_storeu_pd(lo, _mm256_add_pd(_mm256_loadu_pd(lo), e));
}

/* Sums stay in named registers: an array of them goes through memory at every step. */
#define FMA_STEP(i, sum, total)                                 \
    do {                                                        \
        __m256d x_ = _mm256_broadcast_sd(a + p * REF_MR + (i)); \
        sum = _mm256_fmadd_pd(x_, y, sum);                      \
        total = _mm256_fmadd_pd(absolute(x_), y_size, total);   \
    } while (0)

static inline void finish_row(double *hi, double *lo, double *magnitude, __m256d sum, __m256d total)
{
    add_exactly(hi, lo, sum);
    _mm256_storeu_pd(magnitude, _mm256_add_pd(_mm256_loadu_pd(magnitude), total));
}

void ref_tile_fma_avx2(int64_t kc, const double *a, const double *b, double *hi, double *lo,
                       double *magnitude, int64_t ld)
{
    __m256d zero = _mm256_setzero_pd();
    __m256d s0 = zero, s1 = zero, s2 = zero, s3 = zero, s4 = zero, s5 = zero;
    __m256d t0 = zero, t1 = zero, t2 = zero, t3 = zero, t4 = zero, t5 = zero;

    for (int64_t p = 0; p < kc; p++) {
        __m256d y = _mm256_loadu_pd(b + p * REF_NR), y_size = absolute(y);
        FMA_STEP(0, s0, t0);
        FMA_STEP(1, s1, t1);
        FMA_STEP(2, s2, t2);
        FMA_STEP(3, s3, t3);
        FMA_STEP(4, s4, t4);
        FMA_STEP(5, s5, t5);
    }
    finish_row(hi, lo, magnitude, s0, t0);
    finish_row(hi + ld, lo + ld, magnitude + ld, s1, t1);
    finish_row(hi + 2 * ld, lo + 2 * ld, magnitude + 2 * ld, s2, t2);
    finish_row(hi + 3 * ld, lo + 3 * ld, magnitude + 3 * ld, s3, t3);
    finish_row(hi + 4 * ld, lo + 4 * ld, magnitude + 4 * ld, s4, t4);
    finish_row(hi + 5 * ld, lo + 5 * ld, magnitude + 5 * ld, s5, t5);
}

/* s + c += x * y without loss in s; total += |x * y|. */
#define DOT2_STEP(i, s, c, total)                                              \
    do {                                                                       \
        __m256d x_ = _mm256_broadcast_sd(a + p * REF_MR + (i));                \
        __m256d product_ = _mm256_mul_pd(x_, y);                               \
        __m256d tail_ = _mm256_fmsub_pd(x_, y, product_);                      \
        __m256d next_ = _mm256_add_pd(s, product_);                            \
        __m256d t_ = _mm256_sub_pd(next_, s);                                  \
        __m256d e_ = _mm256_add_pd(_mm256_sub_pd(s, _mm256_sub_pd(next_, t_)), \
                                   _mm256_sub_pd(product_, t_));               \
        s = next_;                                                             \
        c = _mm256_add_pd(c, _mm256_add_pd(e_, tail_));                        \
        total = _mm256_add_pd(total, absolute(product_));                      \
    } while (0)

/* Three rows at a time: sum, carry and magnitude of each stay in registers. */
static inline void dot2_rows(int64_t kc, const double *a, const double *b, double *hi, double *lo,
                             double *magnitude, int64_t ld)
{
    __m256d s0 = _mm256_loadu_pd(hi), c0 = _mm256_loadu_pd(lo);
    __m256d s1 = _mm256_loadu_pd(hi + ld), c1 = _mm256_loadu_pd(lo + ld);
    __m256d s2 = _mm256_loadu_pd(hi + 2 * ld), c2 = _mm256_loadu_pd(lo + 2 * ld);
    __m256d t0 = _mm256_loadu_pd(magnitude), t1 = _mm256_loadu_pd(magnitude + ld);
    __m256d t2 = _mm256_loadu_pd(magnitude + 2 * ld);

    for (int64_t p = 0; p < kc; p++) {
        __m256d y = _mm256_loadu_pd(b + p * REF_NR);
        DOT2_STEP(0, s0, c0, t0);
        DOT2_STEP(1, s1, c1, t1);
        DOT2_STEP(2, s2, c2, t2);
    }
    _mm256_storeu_pd(hi, s0);
    _mm256_storeu_pd(hi + ld, s1);
    _mm256_storeu_pd(hi + 2 * ld, s2);
    _mm256_storeu_pd(lo, c0);
    _mm256_storeu_pd(lo + ld, c1);
    _mm256_storeu_pd(lo + 2 * ld, c2);
    _mm256_storeu_pd(magnitude, t0);
    _mm256_storeu_pd(magnitude + ld, t1);
    _mm256_storeu_pd(magnitude + 2 * ld, t2);
}

void ref_tile_dot2_avx2(int64_t kc, const double *a, const double *b, double *hi, double *lo,
                        double *magnitude, int64_t ld)
{
    dot2_rows(kc, a, b, hi, lo, magnitude, ld);
    dot2_rows(kc, a + 3, b, hi + 3 * ld, lo + 3 * ld, magnitude + 3 * ld, ld);
}
