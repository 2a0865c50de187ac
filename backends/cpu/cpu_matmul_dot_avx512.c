/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_dot_avx512.c -- C = alpha A B^T + beta C for few rows of A: see
 * cpu_matmul_dot_body.h. f16 and bf16 are widened, summed in f32 and rounded once. */
#include <math.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu_matmul_dot.h"
#include "backends/cpu/cpu_simd_avx2.h"

static inline __m512 load16_f16(const uint16_t *x)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)x));
}

static inline __m512 load16_bf16(const uint16_t *x)
{
    __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)x);

    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

#define TILE(X, r) X(r, 0) X(r, 1) X(r, 2) X(r, 3) X(r, 4) X(r, 5)
#define TILE_COLS  6

#define VEC       __m512d
#define LANES     8
#define REAL      double
#define TYPE      double
#define IN(name)  name##_f64
#define ZERO      _mm512_setzero_pd
#define LOAD      _mm512_loadu_pd
#define FMADD     _mm512_fmadd_pd
#define ADD_UP    _mm512_reduce_add_pd
#define FUSED     fma
#define ONE(x)    (x)
#define NARROW(x) (x)
#include "backends/cpu/cpu_matmul_dot_body.h"
#undef VEC
#undef LANES
#undef REAL
#undef TYPE
#undef IN
#undef ZERO
#undef LOAD
#undef FMADD
#undef ADD_UP
#undef FUSED

#define VEC      __m512
#define LANES    16
#define REAL     float
#define TYPE     float
#define IN(name) name##_f32
#define ZERO     _mm512_setzero_ps
#define LOAD     _mm512_loadu_ps
#define FMADD    _mm512_fmadd_ps
#define ADD_UP   _mm512_reduce_add_ps
#define FUSED    fmaf
#include "backends/cpu/cpu_matmul_dot_body.h"
#undef TYPE
#undef IN
#undef LOAD
#undef ONE
#undef NARROW

#define TYPE     uint16_t
#define IN(name) name##_f16
#define LOAD     load16_f16
#define ONE      assay_f16_to_f32
#define NARROW   assay_f32_to_f16
#include "backends/cpu/cpu_matmul_dot_body.h"
#undef IN
#undef NARROW

#define IN(name)   name##_f16_f32
#define OUT        float
#define ONE_OUT(x) (x)
#define NARROW(x)  (x)
#include "backends/cpu/cpu_matmul_dot_body.h"
#undef IN
#undef LOAD
#undef ONE
#undef NARROW

#define IN(name) name##_bf16
#define LOAD     load16_bf16
#define ONE      assay_bf16_to_f32
#define NARROW   assay_f32_to_bf16
#include "backends/cpu/cpu_matmul_dot_body.h"
#undef IN
#undef NARROW

#define IN(name)   name##_bf16_f32
#define OUT        float
#define ONE_OUT(x) (x)
#define NARROW(x)  (x)
#include "backends/cpu/cpu_matmul_dot_body.h"

CPU_ENTRY(matmul_dot_avx512_f64)
{
    return run_dot(launch, part_f64);
}

CPU_ENTRY(matmul_dot_avx512_f32)
{
    return run_dot(launch, part_f32);
}

CPU_ENTRY(matmul_dot_avx512_f16)
{
    return run_dot(launch, part_f16);
}

CPU_ENTRY(matmul_dot_avx512_bf16)
{
    return run_dot(launch, part_bf16);
}

CPU_ENTRY(matmul_dot_avx512_f16_f32)
{
    return run_dot(launch, part_f16_f32);
}

CPU_ENTRY(matmul_dot_avx512_bf16_f32)
{
    return run_dot(launch, part_bf16_f32);
}
