/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_simd_avx2.h -- loads, stores and conversions of eight values.
 *
 * For files compiled with AVX2, FMA and F16C only.  Conversions give the bits of
 * assay/dtype_inline.h, NaN payloads apart. */
#ifndef ASSAY_BACKENDS_CPU_SIMD_AVX2_H
#define ASSAY_BACKENDS_CPU_SIMD_AVX2_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "backends/cpu/cpu_align.h"

static inline __m256 load_f16(const uint16_t *x)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)x));
}

static inline __m256 load_bf16(const uint16_t *x)
{
    __m128i bits = _mm_loadu_si128((const __m128i *)(const void *)x);

    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

static inline __m128i round_f16(__m256 v)
{
    return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline __m128i round_bf16(__m256 v)
{
    __m256i bits = _mm256_castps_si256(v);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i sum = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    __m256 is_nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
    __m256i top = _mm256_blendv_epi8(sum, quiet, _mm256_castps_si256(is_nan));

    top = _mm256_srli_epi32(top, 16);
    top = _mm256_packus_epi32(top, top);
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(top, 0x08));
}

static inline void store_half(uint16_t *y, __m128i bits, bool nontemporal)
{
    if (nontemporal)
        _mm_stream_si128((__m128i *)(void *)y, bits);
    else
        _mm_storeu_si128((__m128i *)(void *)y, bits);
}

static inline void store_f32(float *y, __m256 v, bool nontemporal)
{
    if (nontemporal)
        _mm256_stream_ps(y, v);
    else
        _mm256_storeu_ps(y, v);
}

static inline void store_f64(double *y, __m256d v, bool nontemporal)
{
    if (nontemporal)
        _mm256_stream_pd(y, v);
    else
        _mm256_storeu_pd(y, v);
}

#endif
