/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peak_kernels.c -- FMA chains and copies; AVX2 behind a run-time check. */
#include "tuner/peak_kernels.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define TARGET_AVX2 __attribute__((target("avx2,fma")))
#endif

#define CHAINS 12

static volatile double sink; /* keeps the chains alive */

static bool always(void)
{
    return true;
}

static void copy_plain(uint64_t units, void *to, const void *from, size_t bytes)
{
    for (uint64_t i = 0; i < units; i++) {
        memcpy(to, from, bytes);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
}

#if defined(__x86_64__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

TARGET_AVX2 static void fma_f32_avx2(uint64_t units, void *to, const void *from, size_t bytes)
{
    __m256 acc[CHAINS];
    __m256 a = _mm256_set1_ps(0.999999f), b = _mm256_set1_ps(1e-9f);

    (void)to;
    (void)from;
    (void)bytes;
    for (int i = 0; i < CHAINS; i++)
        acc[i] = _mm256_set1_ps((float)i);
    for (uint64_t u = 0; u < units; u++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            acc[i] = _mm256_fmadd_ps(acc[i], a, b);
    }
    for (int i = 1; i < CHAINS; i++)
        acc[0] = _mm256_add_ps(acc[0], acc[i]);
    sink = (double)_mm256_cvtss_f32(acc[0]);
}

TARGET_AVX2 static void fma_f64_avx2(uint64_t units, void *to, const void *from, size_t bytes)
{
    __m256d acc[CHAINS];
    __m256d a = _mm256_set1_pd(0.999999), b = _mm256_set1_pd(1e-9);

    (void)to;
    (void)from;
    (void)bytes;
    for (int i = 0; i < CHAINS; i++)
        acc[i] = _mm256_set1_pd((double)i);
    for (uint64_t u = 0; u < units; u++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            acc[i] = _mm256_fmadd_pd(acc[i], a, b);
    }
    for (int i = 1; i < CHAINS; i++)
        acc[0] = _mm256_add_pd(acc[0], acc[i]);
    sink = _mm256_cvtsd_f64(acc[0]);
}

TARGET_AVX2 static void copy_nt_avx2(uint64_t units, void *to, const void *from, size_t bytes)
{
    for (uint64_t u = 0; u < units; u++) {
        char *d = to;
        const char *s = from;
        for (size_t i = 0; i + 64 <= bytes; i += 64) {
            _mm256_stream_si256((__m256i *)(void *)(d + i),
                                _mm256_load_si256((const __m256i *)(const void *)(s + i)));
            _mm256_stream_si256((__m256i *)(void *)(d + i + 32),
                                _mm256_load_si256((const __m256i *)(const void *)(s + i + 32)));
        }
        _mm_sfence();
    }
}
#endif

const assay__peak_kernel assay__peak_kernels[] = {
#if defined(__x86_64__)
    {"fma_f32_avx2", false, 2.0 * 8 * CHAINS, has_avx2, fma_f32_avx2},
    {"fma_f64_avx2", false, 2.0 * 4 * CHAINS, has_avx2, fma_f64_avx2},
    {"copy_nt", true, 0, has_avx2, copy_nt_avx2},
#endif
    {"copy_plain", true, 0, always, copy_plain},
    {NULL, false, 0, NULL, NULL},
};
