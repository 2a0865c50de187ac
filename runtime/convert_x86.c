/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/convert_x86.c -- f16 and bf16 from and to f32 with AVX2 and F16C where the processor
 * has them. tests/unit/test_dtype.c proves the bits equal to the portable ones. */
#include "runtime/convert.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

#define TARGET __attribute__((target("avx2,f16c")))
#define LANES  8

/* __builtin_cpu_supports() of clang 14 does not know f16c; its AVX2 answer includes that the
 * operating system saves the wide registers. CPUID traps in a guest, so it is asked once. */
static bool can_run(void)
{
    static atomic_int known; /* 0 not asked, 1 no, 2 yes */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);

    if (answer == 0) {
        unsigned a, b, c = 0, d;
        __builtin_cpu_init();
        bool yes =
            __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
        answer = yes ? 2 : 1;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
}

TARGET static __m256 f16_to_f32(__m128i h)
{
    return _mm256_cvtph_ps(h);
}

TARGET static __m128i f32_to_f16(__m256 x)
{
    return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
}

TARGET static __m256 bf16_to_f32(__m128i h)
{
    __m256i bits = _mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16);
    __m256i rest = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
    __m256i nan = _mm256_cmpgt_epi32(rest, _mm256_set1_epi32(0x7f800000));

    return _mm256_castsi256_ps(
        _mm256_or_si256(bits, _mm256_and_si256(nan, _mm256_set1_epi32(0x00400000))));
}

TARGET static __m128i f32_to_bf16(__m256 x)
{
    __m256i bits = _mm256_castps_si256(x);
    __m256i rest = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
    __m256i nan = _mm256_cmpgt_epi32(rest, _mm256_set1_epi32(0x7f800000));
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x00400000));
    __m256i top = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);

    return _mm_packus_epi32(_mm256_castsi256_si128(top), _mm256_extracti128_si256(top, 1));
}

/* Whole vectors here, the rest in a padded one: one code for every element. */
#define DEFINE_NARROW(name, op)                                                 \
    TARGET static void name(uint16_t *d, const float *s, size_t n)              \
    {                                                                           \
        size_t i = 0;                                                           \
        for (; n - i >= LANES; i += LANES)                                      \
            _mm_storeu_si128((__m128i_u *)(d + i), op(_mm256_loadu_ps(s + i))); \
        if (i < n) {                                                            \
            float in[LANES] = {0};                                              \
            uint16_t out[LANES];                                                \
            memcpy(in, s + i, (n - i) * sizeof *s);                             \
            _mm_storeu_si128((__m128i_u *)out, op(_mm256_loadu_ps(in)));        \
            memcpy(d + i, out, (n - i) * sizeof *d);                            \
        }                                                                       \
    }

#define DEFINE_WIDEN(name, op)                                                        \
    TARGET static void name(float *d, const uint16_t *s, size_t n)                    \
    {                                                                                 \
        size_t i = 0;                                                                 \
        for (; n - i >= LANES; i += LANES)                                            \
            _mm256_storeu_ps(d + i, op(_mm_loadu_si128((const __m128i_u *)(s + i)))); \
        if (i < n) {                                                                  \
            uint16_t in[LANES] = {0};                                                 \
            float out[LANES];                                                         \
            memcpy(in, s + i, (n - i) * sizeof *s);                                   \
            _mm256_storeu_ps(out, op(_mm_loadu_si128((const __m128i_u *)in)));        \
            memcpy(d + i, out, (n - i) * sizeof *d);                                  \
        }                                                                             \
    }

DEFINE_NARROW(narrow_f16, f32_to_f16)
DEFINE_NARROW(narrow_bf16, f32_to_bf16)
DEFINE_WIDEN(widen_f16, f16_to_f32)
DEFINE_WIDEN(widen_bf16, bf16_to_f32)

bool assay__convert_x86(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n)
{
    bool is_half = dst == ASSAY_F16 || src == ASSAY_F16;
    bool is_brain = dst == ASSAY_BF16 || src == ASSAY_BF16;

    if (is_half == is_brain || !can_run())
        return false;
    if (src == ASSAY_F32)
        (is_half ? narrow_f16 : narrow_bf16)(d, s, n);
    else if (dst == ASSAY_F32)
        (is_half ? widen_f16 : widen_bf16)(d, s, n);
    else
        return false;
    return true;
}

#else

bool assay__convert_x86(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n)
{
    (void)dst, (void)d, (void)src, (void)s, (void)n;
    return false;
}

#endif
