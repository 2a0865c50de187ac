/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_rms_norm_last_dim_avx2.c -- y = x / sqrt(mean(x^2) + eps), memory read once.
 *
 * f32 and halves sum in f32, in 32 lanes; the second loop finds the row in the cache. */
#include "backends/cpu/cpu_rows_avx2.h"

#define ROW(unused, name, type, wide, lanes, vector, op, load, store)                 \
    static inline __attribute__((always_inline)) void row_##name(                     \
        const type *x, type *y, int64_t n, double eps, bool around)                   \
    {                                                                                 \
        wide sum;                                                                     \
        CPU_ROW_SUM(name, lanes, vector, op, load, SQUARE_##name, around, sum);       \
        vector inverse = op(set1)((wide)(1.0 / sqrt((double)sum / (double)n + eps))); \
        CPU_ROW_MAP(name, lanes, load, store, TIMES_##name);                          \
    }
#define SQUARE_f64(v)  _mm256_mul_pd(v, v)
#define SQUARE_f32(v)  _mm256_mul_ps(v, v)
#define SQUARE_f16(v)  _mm256_mul_ps(v, v)
#define SQUARE_bf16(v) _mm256_mul_ps(v, v)
#define TIMES_f64(v)   _mm256_mul_pd(v, inverse)
#define TIMES_f32(v)   _mm256_mul_ps(v, inverse)
#define TIMES_f16(v)   _mm256_mul_ps(v, inverse)
#define TIMES_bf16(v)  _mm256_mul_ps(v, inverse)

CPU_ROW_TYPES(ROW, 0)
CPU_ROW_TYPES(CPU_ROW_ENTRY, 0)
CPU_ROW_RUN(rms_norm_last_dim, avx2, ASSAY__REAL(launch->problem, rms_norm_last_dim, eps))
