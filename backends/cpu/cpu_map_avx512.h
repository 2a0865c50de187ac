/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_map_avx512.h -- elementwise kernels of one operand, vectors of 512 bits at a
 * time: CPU_UNARY_AVX512(op, f, g, h) and CPU_UNARY_FAST_AVX512(op, g), see cpu_map_vector.h. */
#ifndef ASSAY_BACKENDS_CPU_MAP_AVX512_H
#define ASSAY_BACKENDS_CPU_MAP_AVX512_H

#include "backends/cpu/cpu.h"
#include "backends/cpu/cpu_simd_avx512.h"
#include "backends/vector_avx512.h"

/* One vector in, one out, for each dtype: in(pointer), out(pointer, vector, nontemporal). */
#define cpu_in_f64(x)          _mm512_loadu_pd(x)
#define cpu_in_f32(x)          _mm512_loadu_ps(x)
#define cpu_in_f16(x)          load_f16(x)
#define cpu_in_bf16(x)         load_bf16(x)
#define cpu_out_f64(y, v, nt)  store_f64(y, v, nt)
#define cpu_out_f32(y, v, nt)  store_f32(y, v, nt)
#define cpu_out_f16(y, v, nt)  store_half(y, round_f16(v), nt)
#define cpu_out_bf16(y, v, nt) store_half(y, round_bf16(v), nt)
#define cpu_align_f64          64
#define cpu_align_f32          64
#define cpu_align_f16          32
#define cpu_align_bf16         32

#include "backends/cpu/cpu_map_vector.h"

#define CPU_UNARY_AVX512(op, f, g, h) CPU_UNARY_KERNEL(op, avx512, f, g, h)
#define CPU_UNARY_FAST_AVX512(op, g)  CPU_UNARY_FAST(op, avx512, g)

#endif
