/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_layer_norm_last_dim_avx2.c -- y = (x - mean) / sqrt(var + eps), memory read
 * once.
 *
 * Three loops over a row that stays in the cache: mean, variance of the differences, results. */
#include "backends/cpu/cpu_rows_avx2.h"

#define ROW(unused, name, type, wide, lanes, vector, op, load, store)                     \
    static inline vector squared_##name(vector v, vector mean)                            \
    {                                                                                     \
        vector d = op(sub)(v, mean);                                                      \
        return op(mul)(d, d);                                                             \
    }                                                                                     \
    static inline __attribute__((always_inline)) void row_##name(                         \
        const type *x, type *y, int64_t n, double eps, bool around)                       \
    {                                                                                     \
        wide sum, squares;                                                                \
        CPU_ROW_SUM(name, lanes, vector, op, load, ITSELF, false, sum);                   \
        vector mean = op(set1)((wide)((double)sum / (double)n));                          \
        CPU_ROW_SUM(name, lanes, vector, op, load, SQUARED_##name, around, squares);      \
        vector inverse = op(set1)((wide)(1.0 / sqrt((double)squares / (double)n + eps))); \
        CPU_ROW_MAP(name, lanes, load, store, RESULT_##name);                             \
    }
#define ITSELF(v)       (v)
#define SQUARED_f64(v)  squared_f64(v, mean)
#define SQUARED_f32(v)  squared_f32(v, mean)
#define SQUARED_f16(v)  squared_f16(v, mean)
#define SQUARED_bf16(v) squared_bf16(v, mean)
#define RESULT_f64(v)   _mm256_mul_pd(_mm256_sub_pd(v, mean), inverse)
#define RESULT_f32(v)   _mm256_mul_ps(_mm256_sub_ps(v, mean), inverse)
#define RESULT_f16(v)   _mm256_mul_ps(_mm256_sub_ps(v, mean), inverse)
#define RESULT_bf16(v)  _mm256_mul_ps(_mm256_sub_ps(v, mean), inverse)

CPU_ROW_TYPES(ROW, 0)
CPU_ROW_TYPES(CPU_ROW_ENTRY, 0)
CPU_ROW_RUN(layer_norm_last_dim, avx2, ASSAY__REAL(launch->problem, layer_norm_last_dim, eps))
