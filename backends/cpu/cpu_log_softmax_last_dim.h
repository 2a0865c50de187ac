/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_log_softmax_last_dim.h -- y = x - max - ln(sum(e^(x - max))), memory read
 * once.
 *
 * Three loops over a row that stays in the cache; one logarithm a row, by the C library.
 *
 * For vectors of either width: see vector_avx2.h. */
#ifndef ASSAY_BACKENDS_CPU_LOG_SOFTMAX_LAST_DIM_H
#define ASSAY_BACKENDS_CPU_LOG_SOFTMAX_LAST_DIM_H

#include "backends/cpu/cpu_sigmoid.h"

/* e^d for d <= 0; -inf gives 0, NaN stays. */
static inline vec_ps weight_ps(vec_ps v, vec_ps max)
{
    return exp_down_ps(V(sub_ps)(v, max));
}

static inline vec_pd weight_pd(vec_pd v, vec_pd max)
{
    vec_pd scale, e = exp_parts_pd(V(sub_pd)(v, max), NULL, &scale);

    return scaled_pd(e, scale);
}

#define ROW(unused, name, type, wide, lanes, vector, op, load, store)                      \
    static wide max_##name(const type *x, int64_t n)                                       \
    {                                                                                      \
        vector m0 = op(set1)(-INFINITY), m1 = m0, m2 = m0, m3 = m0;                        \
        wide parts[lanes], most = -INFINITY;                                               \
        int64_t i = 0;                                                                     \
        for (; i + 4 * (lanes) <= n; i += 4 * (lanes)) { /* a NaN comes in with the sum */ \
            m0 = op(max)(load(x + i), m0);                                                 \
            m1 = op(max)(load(x + i + (lanes)), m1);                                       \
            m2 = op(max)(load(x + i + 2 * (lanes)), m2);                                   \
            m3 = op(max)(load(x + i + 3 * (lanes)), m3);                                   \
        }                                                                                  \
        for (; i + (lanes) <= n; i += (lanes))                                             \
            m0 = op(max)(load(x + i), m0);                                                 \
        for (; i < n; i++) {                                                               \
            wide lone = cpu_first_##name(tail_##name(x + i, 1));                           \
            most = lone > most ? lone : most;                                              \
        }                                                                                  \
        op(storeu)(parts, op(max)(op(max)(m0, m1), op(max)(m2, m3)));                      \
        for (int j = 0; j < (lanes); j++)                                                  \
            most = parts[j] > most ? parts[j] : most;                                      \
        return most;                                                                       \
    }                                                                                      \
    static inline __attribute__((always_inline)) void row_##name(                          \
        const type *x, type *y, int64_t n, double eps, bool around)                        \
    {                                                                                      \
        wide sum, most = max_##name(x, n);                                                 \
        vector max = op(set1)(most);                                                       \
        (void)eps;                                                                         \
        CPU_ROW_SUM(name, lanes, vector, op, load, WEIGHT_##name, around, sum);            \
        vector shift = op(set1)((wide)log((double)sum));                                   \
        CPU_ROW_MAP(name, lanes, load, store, RESULT_##name);                              \
    }
#define WEIGHT_f64(v)  weight_pd(v, max)
#define WEIGHT_f32(v)  weight_ps(v, max)
#define WEIGHT_f16(v)  weight_ps(v, max)
#define WEIGHT_bf16(v) weight_ps(v, max)
#define RESULT_f64(v)  V(sub_pd)(V(sub_pd)(v, max), shift)
#define RESULT_f32(v)  V(sub_ps)(V(sub_ps)(v, max), shift)
#define RESULT_f16(v)  V(sub_ps)(V(sub_ps)(v, max), shift)
#define RESULT_bf16(v) V(sub_ps)(V(sub_ps)(v, max), shift)

CPU_ROW_TYPES(ROW, 0)
CPU_ROW_TYPES(CPU_ROW_ENTRY, 0)

#endif
