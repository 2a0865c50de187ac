/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peak_avx512.c -- peaks with 64-byte registers: FMA, loads and copies in the cache. */
#include "tuner/peak_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define CHAINS 12
#define NEEDS  "avx512f"

static void fma_f32(uint64_t units, void *to, const void *from, size_t bytes)
{
    __m512 acc[CHAINS];
    __m512 a = _mm512_set1_ps(0.999999f), b = _mm512_set1_ps(1e-9f);

    (void)to;
    (void)from;
    (void)bytes;
    for (int i = 0; i < CHAINS; i++)
        acc[i] = _mm512_set1_ps((float)i);
    for (uint64_t u = 0; u < units; u++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            acc[i] = _mm512_fmadd_ps(acc[i], a, b);
    }
    for (int i = 1; i < CHAINS; i++)
        acc[0] = _mm512_add_ps(acc[0], acc[i]);
    assay__peak_sink = (double)_mm512_cvtss_f32(acc[0]);
}

static void fma_f64(uint64_t units, void *to, const void *from, size_t bytes)
{
    __m512d acc[CHAINS];
    __m512d a = _mm512_set1_pd(0.999999), b = _mm512_set1_pd(1e-9);

    (void)to;
    (void)from;
    (void)bytes;
    for (int i = 0; i < CHAINS; i++)
        acc[i] = _mm512_set1_pd((double)i);
    for (uint64_t u = 0; u < units; u++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            acc[i] = _mm512_fmadd_pd(acc[i], a, b);
    }
    for (int i = 1; i < CHAINS; i++)
        acc[0] = _mm512_add_pd(acc[0], acc[i]);
    assay__peak_sink = _mm512_cvtsd_f64(acc[0]);
}

static void load(uint64_t units, void *to, const void *from, size_t bytes)
{
    __m512i sum[4];

    (void)to;
    for (int i = 0; i < 4; i++)
        sum[i] = _mm512_setzero_si512();
    for (uint64_t u = 0; u < units; u++) {
        const __m512i *s = from;
        for (size_t i = 0; i + 8 <= bytes / 64; i += 8) {
#pragma GCC unroll 8
            for (size_t j = 0; j < 8; j++)
                sum[j % 4] = _mm512_or_si512(sum[j % 4], _mm512_load_si512(s + i + j));
        }
        __asm__ volatile("" : : "r"(from) : "memory");
    }
    sum[0] = _mm512_or_si512(_mm512_or_si512(sum[0], sum[1]), _mm512_or_si512(sum[2], sum[3]));
    assay__peak_sink = (double)_mm_cvtsi128_si32(_mm512_castsi512_si128(sum[0]));
}

static void copy_cached(uint64_t units, void *to, const void *from, size_t bytes)
{
    for (uint64_t u = 0; u < units; u++) {
        __m512i *d = to;
        const __m512i *s = from;
        for (size_t i = 0; i + 4 <= bytes / 64; i += 4) {
#pragma GCC unroll 4
            for (size_t j = 0; j < 4; j++)
                _mm512_store_si512(d + i + j, _mm512_load_si512(s + i + j));
        }
        __asm__ volatile("" : : "r"(to), "r"(from) : "memory");
    }
}

const assay__peak_kernel assay__peak_avx512[] = {
    {"fma_f32_avx512", ASSAY__PEAK_FLOPS, 2.0 * 16 * CHAINS, NEEDS, NULL, fma_f32},
    {"fma_f64_avx512", ASSAY__PEAK_FLOPS, 2.0 * 8 * CHAINS, NEEDS, NULL, fma_f64},
    {"load_cache_avx512", ASSAY__PEAK_CACHE, 1, NEEDS, NULL, load},
    {"copy_cache_avx512", ASSAY__PEAK_CACHE, 2, NEEDS, NULL, copy_cached},
    {"load_l2_avx512", ASSAY__PEAK_LEVEL2, 1, NEEDS, NULL, load},
    {"copy_l2_avx512", ASSAY__PEAK_LEVEL2, 2, NEEDS, NULL, copy_cached},
    {"load_l3_avx512", ASSAY__PEAK_LEVEL3, 1, NEEDS, NULL, load},
    {"copy_l3_avx512", ASSAY__PEAK_LEVEL3, 2, NEEDS, NULL, copy_cached},
    {.name = NULL},
};
#else
const assay__peak_kernel assay__peak_avx512[] = {{.name = NULL}};
#endif
