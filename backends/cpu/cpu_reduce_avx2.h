/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_reduce_avx2.h -- reductions in vectors; f32 and halves in f32.
 *
 * CPU_REDUCE_AVX2(op, start, f, g, plain, sense, p, q) defines cpu_<op>_avx2_{f64,f32,f16,bf16}: f
 * and g combine vectors of f64 and f32, p and q end a scalar of them with the axis.  plain: the
 * instruction that does so but for NaNs and signs of zeros, sense: 1 where it keeps the larger one,
 * -1 the smaller; 0: none.  With inner == 1 four vectors run along the axis and are combined in a
 * fixed order; else results lie side by side. */
#ifndef ASSAY_BACKENDS_CPU_REDUCE_AVX2_H
#define ASSAY_BACKENDS_CPU_REDUCE_AVX2_H

#include "backends/cpu/cpu_reduce.h"
#include "backends/cpu/cpu_simd_avx2.h"

/* Memory is asked for this many bytes before its turn, as what combines two vectors may take long.
 */
#define CPU_REDUCE_AHEAD 4096

#define CPU_OP_PS(call) _mm256_##call##_ps
#define CPU_OP_PD(call) _mm256_##call##_pd

#define CPU_REDUCE_SPAN_AVX2(entry, start, f, plain, sense, end, type, wide, lanes, vector, op,    \
                             load, store)                                                          \
    /* Elements behind the n-th are `start`, which changes nothing. */                             \
    static inline vector tail_##entry(const type *x, int64_t n)                                    \
    {                                                                                              \
        type in[lanes] = {0};                                                                      \
        wide kept[lanes];                                                                          \
        memcpy(in, x, (size_t)n * sizeof *x);                                                      \
        op(storeu)(kept, load(in));                                                                \
        for (int64_t j = n; j < (lanes); j++)                                                      \
            kept[j] = (start);                                                                     \
        return op(loadu)(kept);                                                                    \
    }                                                                                              \
    /* Elements of a line, from the first on, for which *y stands in the lanes: 0 where a NaN or a \
     * zero, whose sign counts, asks for f. */                                                     \
    static inline int64_t quick_##entry(const type *x, int64_t n, vector *y)                       \
    {                                                                                              \
        vector v0 = op(set1)(start), v1 = v0, v2 = v0, v3 = v0, odd = op(setzero)();               \
        wide parts[lanes], most = (start);                                                         \
        int64_t i = 0;                                                                             \
        if ((sense) == 0 || n < 8 * (lanes))                                                       \
            return 0;                                                                              \
        for (; i + 4 * (lanes) <= n; i += 4 * (lanes)) {                                           \
            for (size_t at = 0; at < 4 * (lanes) * sizeof *x; at += 64)                            \
                _mm_prefetch((const char *)(x + i) + CPU_REDUCE_AHEAD + at, _MM_HINT_T0);          \
            vector a = load(x + i), b = load(x + i + (lanes));                                     \
            vector c = load(x + i + 2 * (lanes)), d = load(x + i + 3 * (lanes));                   \
            odd = op(or)(odd, op(or)(op(cmp)(a, b, _CMP_UNORD_Q), op(cmp)(c, d, _CMP_UNORD_Q)));   \
            v0 = op(plain)(v0, a);                                                                 \
            v1 = op(plain)(v1, b);                                                                 \
            v2 = op(plain)(v2, c);                                                                 \
            v3 = op(plain)(v3, d);                                                                 \
        }                                                                                          \
        *y = op(plain)(op(plain)(v0, v1), op(plain)(v2, v3));                                      \
        op(storeu)(parts, *y);                                                                     \
        for (int j = 0; j < (lanes); j++)                                                          \
            most = (sense)*parts[j] > (sense)*most ? parts[j] : most;                              \
        if (op(movemask)(odd) == 0 && most != 0)                                                   \
            return i;                                                                              \
        *y = op(set1)(start);                                                                      \
        return 0;                                                                                  \
    }                                                                                              \
    static wide line_##entry(const type *x, int64_t n)                                             \
    {                                                                                              \
        vector v0 = op(set1)(start), v1 = v0, v2 = v0, v3 = v0;                                    \
        wide parts[lanes], y = (start);                                                            \
        int64_t i = quick_##entry(x, n, &v0);                                                      \
        for (; i + 4 * (lanes) <= n; i += 4 * (lanes)) {                                           \
            for (size_t at = 0; at < 4 * (lanes) * sizeof *x; at += 64)                            \
                _mm_prefetch((const char *)(x + i) + CPU_REDUCE_AHEAD + at, _MM_HINT_T0);          \
            v0 = f(v0, load(x + i));                                                               \
            v1 = f(v1, load(x + i + (lanes)));                                                     \
            v2 = f(v2, load(x + i + 2 * (lanes)));                                                 \
            v3 = f(v3, load(x + i + 3 * (lanes)));                                                 \
        }                                                                                          \
        for (; i + (lanes) <= n; i += (lanes))                                                     \
            v0 = f(v0, load(x + i));                                                               \
        if (i < n)                                                                                 \
            v1 = f(v1, tail_##entry(x + i, n - i));                                                \
        op(storeu)(parts, f(f(v0, v1), f(v2, v3)));                                                \
        for (int j = 0; j < (lanes); j++) {                                                        \
            wide pair[lanes];                                                                      \
            op(storeu)(pair, f(op(set1)(y), op(set1)(parts[j])));                                  \
            y = pair[0];                                                                           \
        }                                                                                          \
        return y;                                                                                  \
    }                                                                                              \
    static void reduce_##entry(const void *in, void *out, int64_t axis, int64_t inner,             \
                               int64_t count)                                                      \
    {                                                                                              \
        wide y[CPU_REDUCE_BLOCK + (lanes)];                                                        \
        const type *x = in;                                                                        \
        type *to = out;                                                                            \
        if (inner == 1) {                                                                          \
            to[0] = store(end(line_##entry(x, axis), axis));                                       \
            return;                                                                                \
        }                                                                                          \
        for (int64_t j = 0; j < count; j++)                                                        \
            y[j] = (start);                                                                        \
        for (int64_t a = 0; a < axis; a++, x += inner) {                                           \
            int64_t j = 0;                                                                         \
            for (; j + (lanes) <= count; j += (lanes))                                             \
                op(storeu)(y + j, f(op(loadu)(y + j), load(x + j)));                               \
            if (j < count)                                                                         \
                op(storeu)(y + j, f(op(loadu)(y + j), tail_##entry(x + j, count - j)));            \
        }                                                                                          \
        for (int64_t j = 0; j < count; j++)                                                        \
            to[j] = store(end(y[j], axis));                                                        \
    }                                                                                              \
    CPU_ENTRY(entry)                                                                               \
    {                                                                                              \
        return cpu_run_reduce(launch, reduce_##entry);                                             \
    }

#define CPU_REDUCE_AVX2(op, start, f, g, plain, sense, p, q)                                    \
    CPU_REDUCE_SPAN_AVX2(op##_avx2_f64, start, f, plain, sense, p, double, double, 4, __m256d,  \
                         CPU_OP_PD, _mm256_loadu_pd, cpu_reduce_same)                           \
    CPU_REDUCE_SPAN_AVX2(op##_avx2_f32, start, g, plain, sense, q, float, float, 8, __m256,     \
                         CPU_OP_PS, _mm256_loadu_ps, cpu_reduce_same)                           \
    CPU_REDUCE_SPAN_AVX2(op##_avx2_f16, start, g, plain, sense, q, uint16_t, float, 8, __m256,  \
                         CPU_OP_PS, load_f16, assay_f32_to_f16)                                 \
    CPU_REDUCE_SPAN_AVX2(op##_avx2_bf16, start, g, plain, sense, q, uint16_t, float, 8, __m256, \
                         CPU_OP_PS, load_bf16, assay_f32_to_bf16)

#define cpu_mean_f64(y, axis) ((y) / (double)(axis))
#define cpu_mean_f32(y, axis) ((float)((double)(y) / (double)(axis)))

#endif
