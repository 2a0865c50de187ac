/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_add_avx2.c -- y = a + b, a vector at a time, stores around the cache on request.
 *
 * Every element takes the same path, whole vectors and tails alike, so that alignment changes no
 * bit. */
#include "backends/cpu/cpu.h"
#include "backends/cpu/cpu_simd_avx2.h"

/* span_<name>(a, b, y, n, nontemporal): a head up to the alignment of streaming stores, whole
 * vectors, a tail. */
#define SPAN(name, type, lanes, vector, add, store, head_align)                        \
    static inline void part_##name(const type *a, const type *b, type *y, int64_t n)   \
    {                                                                                  \
        type left[lanes] = {0}, right[lanes] = {0}, sum[lanes];                        \
        memcpy(left, a, (size_t)n * sizeof *a);                                        \
        memcpy(right, b, (size_t)n * sizeof *b);                                       \
        store(sum, add(left, right), false);                                           \
        memcpy(y, sum, (size_t)n * sizeof *y);                                         \
    }                                                                                  \
    static inline __attribute__((always_inline)) int64_t vectors_##name(               \
        const type *a, const type *b, type *y, int64_t i, int64_t n, bool nontemporal) \
    {                                                                                  \
        for (; i + 4 * (lanes) <= n; i += 4 * (lanes)) {                               \
            vector v0 = add(a + i, b + i), v1 = add(a + i + (lanes), b + i + (lanes)); \
            vector v2 = add(a + i + 2 * (lanes), b + i + 2 * (lanes));                 \
            vector v3 = add(a + i + 3 * (lanes), b + i + 3 * (lanes));                 \
            store(y + i, v0, nontemporal);                                             \
            store(y + i + (lanes), v1, nontemporal);                                   \
            store(y + i + 2 * (lanes), v2, nontemporal);                               \
            store(y + i + 3 * (lanes), v3, nontemporal);                               \
        }                                                                              \
        for (; i + (lanes) <= n; i += (lanes))                                         \
            store(y + i, add(a + i, b + i), nontemporal);                              \
        return i;                                                                      \
    }                                                                                  \
    static void span_##name(const void *left, const void *right, void *out, int64_t n, \
                            bool nontemporal)                                          \
    {                                                                                  \
        const type *a = left, *b = right;                                              \
        type *y = out;                                                                 \
        int64_t i = 0;                                                                 \
        if (nontemporal) {                                                             \
            i = elements_to_align(y, head_align, sizeof *y, n);                        \
            part_##name(a, b, y, i);                                                   \
            i = vectors_##name(a, b, y, i, n, true);                                   \
            _mm_sfence();                                                              \
        } else {                                                                       \
            i = vectors_##name(a, b, y, i, n, false);                                  \
        }                                                                              \
        part_##name(a + i, b + i, y + i, n - i);                                       \
    }                                                                                  \
    CPU_ENTRY(add_##name##_avx2)                                                       \
    {                                                                                  \
        return cpu_run_binary(launch, span_##name);                                    \
    }

static inline __m256d add_f64(const double *a, const double *b)
{
    return _mm256_add_pd(_mm256_loadu_pd(a), _mm256_loadu_pd(b));
}

static inline __m256 add_f32(const float *a, const float *b)
{
    return _mm256_add_ps(_mm256_loadu_ps(a), _mm256_loadu_ps(b));
}

static inline __m128i add_f16(const uint16_t *a, const uint16_t *b)
{
    return round_f16(_mm256_add_ps(load_f16(a), load_f16(b)));
}

static inline __m128i add_bf16(const uint16_t *a, const uint16_t *b)
{
    return round_bf16(_mm256_add_ps(load_bf16(a), load_bf16(b)));
}

SPAN(f64, double, 4, __m256d, add_f64, store_f64, 32)
SPAN(f32, float, 8, __m256, add_f32, store_f32, 32)
SPAN(f16, uint16_t, 8, __m128i, add_f16, store_half, 16)
SPAN(bf16, uint16_t, 8, __m128i, add_bf16, store_half, 16)
