/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_dot_avx2.c -- C = alpha A B^T + beta C for few rows of A: see
 * cpu_matmul_dot_body.h. f16 and bf16 are widened, summed in f32 and rounded once. */
#include <math.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu_matmul_dot.h"
#include "backends/cpu/cpu_simd_avx2.h"

static inline float add_up_ps(__m256 v)
{
    __m128 x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}

static inline double add_up_pd(__m256d v)
{
    __m128d x = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));

    return _mm_cvtsd_f64(_mm_add_sd(x, _mm_unpackhi_pd(x, x)));
}

#define TILE(X, r) X(r, 0) X(r, 1) X(r, 2)
#define TILE_COLS  3

#define VEC       __m256d
#define LANES     4
#define REAL      double
#define TYPE      double
#define IN(name)  name##_f64
#define ZERO      _mm256_setzero_pd
#define LOAD      _mm256_loadu_pd
#define FMADD     _mm256_fmadd_pd
#define ADD_UP    add_up_pd
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

#define VEC      __m256
#define LANES    8
#define REAL     float
#define TYPE     float
#define IN(name) name##_f32
#define ZERO     _mm256_setzero_ps
#define LOAD     _mm256_loadu_ps
#define FMADD    _mm256_fmadd_ps
#define ADD_UP   add_up_ps
#define FUSED    fmaf
#include "backends/cpu/cpu_matmul_dot_body.h"
#undef TYPE
#undef IN
#undef LOAD
#undef ONE
#undef NARROW

#define TYPE     uint16_t
#define IN(name) name##_f16
#define LOAD     load_f16
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
#define LOAD     load_bf16
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

CPU_ENTRY(matmul_dot_avx2_f64)
{
    return run_dot(launch, part_f64);
}

CPU_ENTRY(matmul_dot_avx2_f32)
{
    return run_dot(launch, part_f32);
}

CPU_ENTRY(matmul_dot_avx2_f16)
{
    return run_dot(launch, part_f16);
}

CPU_ENTRY(matmul_dot_avx2_bf16)
{
    return run_dot(launch, part_bf16);
}

CPU_ENTRY(matmul_dot_avx2_f16_f32)
{
    return run_dot(launch, part_f16_f32);
}

CPU_ENTRY(matmul_dot_avx2_bf16_f32)
{
    return run_dot(launch, part_bf16_f32);
}
