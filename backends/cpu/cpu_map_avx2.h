/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_map_avx2.h -- elementwise kernels, vectors at a time.
 *
 * CPU_UNARY_AVX2(op, f, g, h) and CPU_UNARY_FAST_AVX2(op, g): see cpu_map_vector.h.
 * CPU_BINARY_AVX2(op, f, g) defines cpu_<op>_avx2_{f64,f32,f16,bf16} from functions of two __m256d
 * (f) and of two __m256 (g). */
#ifndef ASSAY_BACKENDS_CPU_MAP_AVX2_H
#define ASSAY_BACKENDS_CPU_MAP_AVX2_H

#include "backends/cpu/cpu.h"
#include "backends/cpu/cpu_simd_avx2.h"
#include "backends/vector_avx2.h"

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

#include "backends/cpu/cpu_map_vector.h"

#define CPU_UNARY_AVX2(op, f, g, h) CPU_UNARY_KERNEL(op, avx2, f, g, h)
#define CPU_UNARY_FAST_AVX2(op, g)  CPU_UNARY_FAST(op, avx2, g)

/* Around the caches, a kernel is bound by how much a core asks of memory at a time: its own look
 * ahead stops at the end of a page, so that two pages are taken side by side.  To ask for the next
 * two as well gained 2 % and in one run of five cost 70: the core then looked ahead no more. */
#define CPU_PAGE 4096

/* Two vectors are a line.  Left to themselves, compilers take the upper half of it first, and a
 * core whose loads go down takes them for no stream: twice the time from the second cache, and from
 * memory a third more, in every other run. */
#define CPU_IN_ORDER() __asm__ volatile("" ::: "memory")

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
            cpu_out_##name(y + i, v0, nt);                                                        \
            CPU_IN_ORDER();                                                                       \
            vector v1 = f(cpu_in_##name(a + i + (lanes)), cpu_in_##name(b + i + (lanes)));        \
            cpu_out_##name(y + i + (lanes), v1, nt);                                              \
        }                                                                                         \
        for (; i + (lanes) <= n; i += (lanes))                                                    \
            cpu_out_##name(y + i, f(cpu_in_##name(a + i), cpu_in_##name(b + i)), nt);             \
        return i;                                                                                 \
    }                                                                                             \
    /* A line of y. */                                                                            \
    static inline                                                                                 \
        __attribute__((always_inline)) void line_##entry(const type *a, const type *b, type *y)   \
    {                                                                                             \
        vectors_##entry(a, b, y, 0, (int64_t)(64 / sizeof *y), true);                             \
    }                                                                                             \
    static inline int64_t pages_##entry(const type *a, const type *b, type *y, int64_t i,         \
                                        int64_t n)                                                \
    {                                                                                             \
        enum { PAGE = CPU_PAGE / sizeof *y, LINE = 64 / sizeof *y };                              \
        int64_t lead = elements_to_align(y + i, 64, sizeof *y, n - i);                            \
        i = vectors_##entry(a, b, y, i, i + lead, true);                                          \
        for (; i + 4 * PAGE <= n; i += PAGE)                                                      \
            for (int64_t end = i + PAGE; i < end; i += LINE) {                                    \
                line_##entry(a + i, b + i, y + i);                                                \
                line_##entry(a + i + PAGE, b + i + PAGE, y + i + PAGE);                           \
            }                                                                                     \
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
            i = pages_##entry(a, b, y, i, n);                                                     \
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
