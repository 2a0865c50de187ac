/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_add_avx2.c -- y = a + b, a vector at a time, stores around the cache on request.
 *
 * Every element takes the same path, whole vectors and tails alike, so that alignment changes no
 * bit. */
#include "backends/cpu/cpu_map_avx2.h"

CPU_BINARY_SPAN_AVX2(add_f64_avx2, f64, double, 4, __m256d, _mm256_add_pd)
CPU_BINARY_SPAN_AVX2(add_f32_avx2, f32, float, 8, __m256, _mm256_add_ps)
CPU_BINARY_SPAN_AVX2(add_f16_avx2, f16, uint16_t, 8, __m256, _mm256_add_ps)
CPU_BINARY_SPAN_AVX2(add_bf16_avx2, bf16, uint16_t, 8, __m256, _mm256_add_ps)
