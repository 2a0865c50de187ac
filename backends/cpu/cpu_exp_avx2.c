/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_exp_avx2.c -- y = e^x, a vector at a time, stores around the cache on request.
 */
#include "backends/cpu/cpu_exp_avx2.h"
#include "backends/cpu/cpu.h"

#define SPAN(name, kernel, type, lanes, apply, store, head_align)                   \
    static inline void part_##name(const type *x, type *y, int64_t n)               \
    {                                                                               \
        type in[lanes] = {0}, out[lanes];                                           \
        memcpy(in, x, (size_t)n * sizeof *x);                                       \
        store(out, apply(in), false);                                               \
        memcpy(y, out, (size_t)n * sizeof *y);                                      \
    }                                                                               \
    static void span_##name(const void *in, void *out, int64_t n, bool nontemporal) \
    {                                                                               \
        const type *x = in;                                                         \
        type *y = out;                                                              \
        int64_t i = 0;                                                              \
        if (nontemporal) {                                                          \
            i = elements_to_align(y, head_align, sizeof *y, n);                     \
            part_##name(x, y, i);                                                   \
            for (; i + (lanes) <= n; i += (lanes))                                  \
                store(y + i, apply(x + i), true);                                   \
            _mm_sfence();                                                           \
        } else {                                                                    \
            for (; i + (lanes) <= n; i += (lanes))                                  \
                store(y + i, apply(x + i), false);                                  \
        }                                                                           \
        part_##name(x + i, y + i, n - i);                                           \
    }                                                                               \
    CPU_ENTRY(kernel)                                                               \
    {                                                                               \
        return cpu_run_unary(launch, span_##name);                                  \
    }

static inline __m256d apply_f64(const double *x)
{
    return exp_pd(_mm256_loadu_pd(x));
}

static inline __m256 apply_f32(const float *x)
{
    return exp_accurate_ps(_mm256_loadu_ps(x));
}

static inline __m128i apply_f16(const uint16_t *x)
{
    return round_f16(exp_fast_ps(load_f16(x)));
}

static inline __m128i apply_bf16(const uint16_t *x)
{
    return round_bf16(exp_fast_ps(load_bf16(x)));
}

SPAN(f64, exp_f64_avx2, double, 4, apply_f64, store_f64, 32)
SPAN(f32, exp_f32_avx2, float, 8, apply_f32, store_f32, 32)
SPAN(f16, exp_f16_avx2, uint16_t, 8, apply_f16, store_half, 16)
SPAN(bf16, exp_bf16_avx2, uint16_t, 8, apply_bf16, store_half, 16)

/* The fast f32 kernel works on four vectors at a time; memory is asked for AHEAD elements before
 * its turn, as the arithmetic fills the window in which loads could run ahead. */
enum { AHEAD = 1024 };

static inline void fast_part(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i += 8) {
        float in[8] = {0}, out[8];
        size_t bytes = (size_t)(n - i < 8 ? n - i : 8) * sizeof *x;
        memcpy(in, x + i, bytes);
        _mm256_storeu_ps(out, exp_fast_ps(_mm256_loadu_ps(in)));
        memcpy(y + i, out, bytes);
    }
}

static inline __attribute__((always_inline)) int64_t
fast_groups(const float *x, float *y, int64_t i, int64_t n, bool nontemporal)
{
    for (; i + 32 <= n; i += 32) {
        __m256 v0 = _mm256_loadu_ps(x + i), v1 = _mm256_loadu_ps(x + i + 8);
        __m256 v2 = _mm256_loadu_ps(x + i + 16), v3 = _mm256_loadu_ps(x + i + 24);
        _mm_prefetch((const char *)(x + i) + AHEAD * sizeof *x, _MM_HINT_T0);
        _mm_prefetch((const char *)(x + i + 16) + AHEAD * sizeof *x, _MM_HINT_T0);
        exp_four_ps(&v0, &v1, &v2, &v3);
        store_f32(y + i, v0, nontemporal);
        store_f32(y + i + 8, v1, nontemporal);
        store_f32(y + i + 16, v2, nontemporal);
        store_f32(y + i + 24, v3, nontemporal);
    }
    return i;
}

static void span_fast_f32(const void *in, void *out, int64_t n, bool nontemporal)
{
    const float *x = in;
    float *y = out;
    int64_t i = 0;

    if (nontemporal) {
        i = elements_to_align(y, 32, sizeof *y, n);
        fast_part(x, y, i);
        i = fast_groups(x, y, i, n, true);
        _mm_sfence();
    } else {
        i = fast_groups(x, y, i, n, false);
    }
    fast_part(x + i, y + i, n - i);
}

CPU_ENTRY(exp_fast_f32_avx2)
{
    return cpu_run_unary(launch, span_fast_f32);
}
