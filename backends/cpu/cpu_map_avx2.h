/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_map_avx2.h -- elementwise kernels, vectors at a time.
 *
 * CPU_UNARY_AVX2(op, f, g, h) and CPU_BINARY_AVX2(op, f, g) define cpu_<op>_avx2_{f64,f32,f16,bf16}
 * from functions of __m256d (f), of __m256 for f32 (g) and of __m256 for halves (h), which are
 * rounded once more; CPU_UNARY_FAST_AVX2(op, g) adds cpu_<op>_fast_avx2_f32.  Whole vectors and
 * tails take the same path, so that neither alignment nor the number of threads changes a bit. */
#ifndef ASSAY_BACKENDS_CPU_MAP_AVX2_H
#define ASSAY_BACKENDS_CPU_MAP_AVX2_H

#include "backends/cpu/cpu.h"
#include "backends/cpu/cpu_simd_avx2.h"

/* Memory is asked for this many bytes before its turn: arithmetic fills the window in which loads
 * could run ahead. */
#define CPU_AHEAD 2048

/* One vector in, one out, for each dtype: in(pointer), out(pointer, vector, nontemporal). */
#define cpu_in_f64(x)          _mm256_loadu_pd(x)
#define cpu_in_f32(x)          _mm256_loadu_ps(x)
#define cpu_in_f16(x)          load_f16(x)
#define cpu_in_bf16(x)         load_bf16(x)
#define cpu_out_f64(y, v, nt)  store_f64(y, v, nt)
#define cpu_out_f32(y, v, nt)  store_f32(y, v, nt)
#define cpu_out_f16(y, v, nt)  store_half(y, round_f16(v), nt)
#define cpu_out_bf16(y, v, nt) store_half(y, round_bf16(v), nt)
#define cpu_align_f64          32
#define cpu_align_f32          32
#define cpu_align_f16          16
#define cpu_align_bf16         16

#define CPU_UNARY_SPAN_AVX2(entry, name, type, lanes, vector, f)                     \
    static inline void part_##entry(const type *x, type *y, int64_t n)               \
    {                                                                                \
        type in[lanes] = {0}, out[lanes];                                            \
        memcpy(in, x, (size_t)n * sizeof *x);                                        \
        cpu_out_##name(out, f(cpu_in_##name(in)), false);                            \
        memcpy(y, out, (size_t)n * sizeof *y);                                       \
    }                                                                                \
    static inline __attribute__((always_inline))                                     \
    int64_t vectors_##entry(const type *x, type *y, int64_t i, int64_t n, bool nt)   \
    {                                                                                \
        for (; i + 4 * (lanes) <= n; i += 4 * (lanes)) {                             \
            vector v0 = cpu_in_##name(x + i), v1 = cpu_in_##name(x + i + (lanes));   \
            vector v2 = cpu_in_##name(x + i + 2 * (lanes));                          \
            vector v3 = cpu_in_##name(x + i + 3 * (lanes));                          \
            for (size_t at = 0; at < 4 * (lanes) * sizeof *x; at += 64)              \
                _mm_prefetch((const char *)(x + i) + CPU_AHEAD + at, _MM_HINT_T0);   \
            v0 = f(v0);                                                              \
            v1 = f(v1);                                                              \
            v2 = f(v2);                                                              \
            v3 = f(v3);                                                              \
            cpu_out_##name(y + i, v0, nt);                                           \
            cpu_out_##name(y + i + (lanes), v1, nt);                                 \
            cpu_out_##name(y + i + 2 * (lanes), v2, nt);                             \
            cpu_out_##name(y + i + 3 * (lanes), v3, nt);                             \
        }                                                                            \
        for (; i + (lanes) <= n; i += (lanes))                                       \
            cpu_out_##name(y + i, f(cpu_in_##name(x + i)), nt);                      \
        return i;                                                                    \
    }                                                                                \
    static void span_##entry(const void *in, void *out, int64_t n, bool nontemporal) \
    {                                                                                \
        const type *x = in;                                                          \
        type *y = out;                                                               \
        int64_t i = 0;                                                               \
        if (nontemporal) {                                                           \
            i = elements_to_align(y, cpu_align_##name, sizeof *y, n);                \
            part_##entry(x, y, i);                                                   \
            i = vectors_##entry(x, y, i, n, true);                                   \
            _mm_sfence();                                                            \
        } else {                                                                     \
            i = vectors_##entry(x, y, i, n, false);                                  \
        }                                                                            \
        part_##entry(x + i, y + i, n - i);                                           \
    }                                                                                \
    CPU_ENTRY(entry)                                                                 \
    {                                                                                \
        return cpu_run_unary(launch, span_##entry);                                  \
    }

#define CPU_UNARY_AVX2(op, f, g, h)                                 \
    CPU_UNARY_SPAN_AVX2(op##_avx2_f64, f64, double, 4, __m256d, f)  \
    CPU_UNARY_SPAN_AVX2(op##_avx2_f32, f32, float, 8, __m256, g)    \
    CPU_UNARY_SPAN_AVX2(op##_avx2_f16, f16, uint16_t, 8, __m256, h) \
    CPU_UNARY_SPAN_AVX2(op##_avx2_bf16, bf16, uint16_t, 8, __m256, h)

#define CPU_UNARY_FAST_AVX2(op, g) CPU_UNARY_SPAN_AVX2(op##_fast_avx2_f32, f32, float, 8, __m256, g)

#define CPU_BINARY_SPAN_AVX2(entry, name, type, lanes, vector, f)                                 \
    static inline void part_##entry(const type *a, const type *b, type *y, int64_t n)             \
    {                                                                                             \
        type left[lanes] = {0}, right[lanes] = {0}, out[lanes];                                   \
        memcpy(left, a, (size_t)n * sizeof *a);                                                   \
        memcpy(right, b, (size_t)n * sizeof *b);                                                  \
        cpu_out_##name(out, f(cpu_in_##name(left), cpu_in_##name(right)), false);                 \
        memcpy(y, out, (size_t)n * sizeof *y);                                                    \
    }                                                                                             \
    static inline __attribute__((always_inline))                                                  \
    int64_t vectors_##entry(const type *a, const type *b, type *y, int64_t i, int64_t n, bool nt) \
    {                                                                                             \
        for (; i + 2 * (lanes) <= n; i += 2 * (lanes)) {                                          \
            vector v0 = f(cpu_in_##name(a + i), cpu_in_##name(b + i));                            \
            vector v1 = f(cpu_in_##name(a + i + (lanes)), cpu_in_##name(b + i + (lanes)));        \
            cpu_out_##name(y + i, v0, nt);                                                        \
            cpu_out_##name(y + i + (lanes), v1, nt);                                              \
        }                                                                                         \
        for (; i + (lanes) <= n; i += (lanes))                                                    \
            cpu_out_##name(y + i, f(cpu_in_##name(a + i), cpu_in_##name(b + i)), nt);             \
        return i;                                                                                 \
    }                                                                                             \
    static void span_##entry(const void *left, const void *right, void *out, int64_t n,           \
                             bool nontemporal)                                                    \
    {                                                                                             \
        const type *a = left, *b = right;                                                         \
        type *y = out;                                                                            \
        int64_t i = 0;                                                                            \
        if (nontemporal) {                                                                        \
            i = elements_to_align(y, cpu_align_##name, sizeof *y, n);                             \
            part_##entry(a, b, y, i);                                                             \
            i = vectors_##entry(a, b, y, i, n, true);                                             \
            _mm_sfence();                                                                         \
        } else {                                                                                  \
            i = vectors_##entry(a, b, y, i, n, false);                                            \
        }                                                                                         \
        part_##entry(a + i, b + i, y + i, n - i);                                                 \
    }                                                                                             \
    CPU_ENTRY(entry)                                                                              \
    {                                                                                             \
        return cpu_run_binary(launch, span_##entry);                                              \
    }

#define CPU_BINARY_AVX2(op, f, g)                                    \
    CPU_BINARY_SPAN_AVX2(op##_avx2_f64, f64, double, 4, __m256d, f)  \
    CPU_BINARY_SPAN_AVX2(op##_avx2_f32, f32, float, 8, __m256, g)    \
    CPU_BINARY_SPAN_AVX2(op##_avx2_f16, f16, uint16_t, 8, __m256, g) \
    CPU_BINARY_SPAN_AVX2(op##_avx2_bf16, bf16, uint16_t, 8, __m256, g)

#endif
