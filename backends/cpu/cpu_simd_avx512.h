/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_simd_avx512.h -- loads, stores and conversions of sixteen values, by the names
 * of cpu_simd_avx2.h.
 *
 * Conversions give the bits of assay/dtype_inline.h, NaN payloads apart. */
#ifndef ASSAY_BACKENDS_CPU_SIMD_AVX512_H
#define ASSAY_BACKENDS_CPU_SIMD_AVX512_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "backends/cpu/cpu_align.h"

static inline __m512 load_f16(const uint16_t *x)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)x));
}

static inline __m512 load_bf16(const uint16_t *x)
{
    __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)x);

    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

static inline __m256i round_f16(__m512 v)
{
    return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* vcvtneps2bf16 would take subnormals for zero. */
static inline __m256i round_bf16(__m512 v)
{
    __m512i bits = _mm512_castps_si512(v);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    __m512i sum = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    __mmask16 is_nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);

    sum = _mm512_mask_or_epi32(sum, is_nan, bits, _mm512_set1_epi32(0x400000));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(sum, 16));
}

static inline void store_half(uint16_t *y, __m256i bits, bool nontemporal)
{
    if (nontemporal)
        _mm256_stream_si256((__m256i *)(void *)y, bits);
    else
        _mm256_storeu_si256((__m256i *)(void *)y, bits);
}

static inline void store_f32(float *y, __m512 v, bool nontemporal)
{
    if (nontemporal)
        _mm512_stream_ps(y, v);
    else
        _mm512_storeu_ps(y, v);
}

static inline void store_f64(double *y, __m512d v, bool nontemporal)
{
    if (nontemporal)
        _mm512_stream_pd(y, v);
    else
        _mm512_storeu_pd(y, v);
}

#endif
