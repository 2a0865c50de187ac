/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_bits_avx2.h -- elementwise kernels that change bits and round nothing: halves
 * stay what they are, sixteen at a time, and a signaling NaN too.
 *
 * CPU_BITS_AVX2(op, f, g, h) defines cpu_<op>_avx2_{f64,f32,f16,bf16} from functions of __m256d
 * (f), of __m256 (g) and of sixteen halves (h). */
#ifndef ASSAY_BACKENDS_CPU_BITS_AVX2_H
#define ASSAY_BACKENDS_CPU_BITS_AVX2_H

#include "backends/cpu/cpu_map_avx2.h"

static inline __m256i load_halves(const uint16_t *x)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)x);
}

static inline void store_halves(uint16_t *y, __m256i bits, bool nontemporal)
{
    if (nontemporal)
        _mm256_stream_si256((__m256i *)(void *)y, bits);
    else
        _mm256_storeu_si256((__m256i *)(void *)y, bits);
}

#define cpu_in_halves(x)         load_halves(x)
#define cpu_out_halves(y, v, nt) store_halves(y, v, nt)
#define cpu_align_halves         32

#define CPU_BITS_AVX2(op, f, g, h)                                  \
    CPU_UNARY_SPAN(op##_avx2_f64, f64, double, LANES_PD, vec_pd, f) \
    CPU_UNARY_SPAN(op##_avx2_f32, f32, float, LANES_PS, vec_ps, g)  \
    CPU_UNARY_SPAN(op##_avx2_f16, halves, uint16_t, 16, __m256i, h) \
    CPU_UNARY_SPAN(op##_avx2_bf16, halves, uint16_t, 16, __m256i, h)

#endif
