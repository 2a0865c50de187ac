/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peak_avx2.c -- peaks with 32-byte registers: FMA, streaming through memory and cache. */
#include "tuner/peak_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define CHAINS 12
#define NEEDS  "avx2,fma"

static void fma_f32(uint64_t units, void *to, const void *from, size_t bytes)
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
    assay__peak_sink = (double)_mm256_cvtss_f32(acc[0]);
}

static void fma_f64(uint64_t units, void *to, const void *from, size_t bytes)
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
    assay__peak_sink = _mm256_cvtsd_f64(acc[0]);
}

static void copy_nt(uint64_t units, void *to, const void *from, size_t bytes)
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

static void store_nt(uint64_t units, void *to, const void *from, size_t bytes)
{
    const __m256i zero = _mm256_setzero_si256();

    (void)from;
    for (uint64_t u = 0; u < units; u++) {
        for (size_t i = 0; i + 32 <= bytes; i += 32)
            _mm256_stream_si256((__m256i *)(void *)((char *)to + i), zero);
        _mm_sfence();
    }
}

/* Reads only: what a product of a matrix with a vector does to memory. */
static void load(uint64_t units, void *to, const void *from, size_t bytes)
{
    __m256i sum[4];

    (void)to;
    for (int i = 0; i < 4; i++)
        sum[i] = _mm256_setzero_si256();
    for (uint64_t u = 0; u < units; u++) {
        const __m256i *s = from;
        for (size_t i = 0; i + 8 <= bytes / 32; i += 8) {
#pragma GCC unroll 8
            for (size_t j = 0; j < 8; j++)
                sum[j % 4] = _mm256_or_si256(sum[j % 4], _mm256_load_si256(s + i + j));
        }
        __asm__ volatile("" : : "r"(from) : "memory");
    }
    sum[0] = _mm256_or_si256(_mm256_or_si256(sum[0], sum[1]), _mm256_or_si256(sum[2], sum[3]));
    assay__peak_sink = (double)_mm256_extract_epi32(sum[0], 0);
}

static void copy_cached(uint64_t units, void *to, const void *from, size_t bytes)
{
    for (uint64_t u = 0; u < units; u++) {
        __m256i *d = to;
        const __m256i *s = from;
        for (size_t i = 0; i + 4 <= bytes / 32; i += 4) {
#pragma GCC unroll 4
            for (size_t j = 0; j < 4; j++)
                _mm256_store_si256(d + i + j, _mm256_load_si256(s + i + j));
        }
        __asm__ volatile("" : : "r"(to), "r"(from) : "memory");
    }
}

const assay__peak_kernel assay__peak_avx2[] = {
    {"fma_f32_avx2", ASSAY__PEAK_FLOPS, 2.0 * 8 * CHAINS, NEEDS, NULL, fma_f32},
    {"fma_f64_avx2", ASSAY__PEAK_FLOPS, 2.0 * 4 * CHAINS, NEEDS, NULL, fma_f64},
    {"copy_nt", ASSAY__PEAK_MEMORY, 2, NEEDS, NULL, copy_nt},
    {"store_nt", ASSAY__PEAK_MEMORY, 1, NEEDS, NULL, store_nt},
    {"load_memory", ASSAY__PEAK_MEMORY, 1, NEEDS, NULL, load},
    {"load_cache_avx2", ASSAY__PEAK_CACHE, 1, NEEDS, NULL, load},
    {"copy_cache_avx2", ASSAY__PEAK_CACHE, 2, NEEDS, NULL, copy_cached},
    {"load_l2_avx2", ASSAY__PEAK_LEVEL2, 1, NEEDS, NULL, load},
    {"copy_l2_avx2", ASSAY__PEAK_LEVEL2, 2, NEEDS, NULL, copy_cached},
    {"load_l3_avx2", ASSAY__PEAK_LEVEL3, 1, NEEDS, NULL, load},
    {"copy_l3_avx2", ASSAY__PEAK_LEVEL3, 2, NEEDS, NULL, copy_cached},
    {.name = NULL},
};
#else
const assay__peak_kernel assay__peak_avx2[] = {{.name = NULL}};
#endif
