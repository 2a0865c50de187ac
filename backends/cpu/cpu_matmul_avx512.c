/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_avx512.c -- C = alpha op(A) op(B) + beta C, and y = a b + bias, by
 * packed panels and a 14 x 2 vector kernel; f16 and bf16 are widened while packing, summed in f32
 * and rounded once.
 *
 * The products of one element are summed in order of k in blocks of kc, whatever the thread count
 * and mc. */
#include <immintrin.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu_matmul.h"
#include "runtime/host_team.h"

/* MR: rows of C in registers.  PANEL_BYTES: packed op(B), meant to stay in the last cache.
 * PACK_ALONE: elements. */
enum { MR = 14, MAX_KC = 512, PANEL_BYTES = 16 * 1024 * 1024, PACK_ALONE = 32 * 1024 };

static inline double fused_double(double a, double b, double c)
{
    return fma(a, b, c);
}

static inline float fused_float(float a, float b, float c)
{
    return fmaf(a, b, c);
}

/* ---- f64 ------------------------------------------------------------------------------------- */

#define REAL     double
#define VEC      __m512d
#define MASK     __mmask8
#define LANES    8
#define FN(name) name##_double
#define OP(call) _mm512_##call##_pd

#include "backends/cpu/cpu_matmul_tile_avx512.h"

#define TYPE              double
#define IN(name)          name##_f64
#define SPAN(from, to, n) memcpy(to, from, (size_t)(n) * sizeof(double))
#define ONE(x)            (x)
#define NARROW            0

static inline double narrow_f64(double v)
{
    return v;
}

#include "backends/cpu/cpu_matmul_blocked_avx2.h"
#undef TYPE
#undef IN
#undef SPAN
#undef ONE
#undef REAL
#undef VEC
#undef MASK
#undef LANES
#undef FN
#undef OP
#undef NR

/* ---- f32 ------------------------------------------------------------------------------------- */

#define REAL     float
#define VEC      __m512
#define MASK     __mmask16
#define LANES    16
#define FN(name) name##_float
#define OP(call) _mm512_##call##_ps

#include "backends/cpu/cpu_matmul_tile_avx512.h"

#define TYPE              float
#define IN(name)          name##_f32
#define SPAN(from, to, n) memcpy(to, from, (size_t)(n) * sizeof(float))
#define ONE(x)            (x)

static inline float narrow_f32(float v)
{
    return v;
}

#include "backends/cpu/cpu_matmul_blocked_avx2.h"
#undef TYPE
#undef IN
#undef SPAN
#undef ONE
#undef NARROW

/* ---- f16 and bf16 ---------------------------------------------------------------------------- */

#define NARROW 1

static void widen_f16(const uint16_t *from, float *to, int64_t n)
{
    int64_t i = 0;

    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(
            to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(from + i))));
    for (; i < n; i++)
        to[i] = assay_f16_to_f32(from[i]);
}

static inline uint16_t narrow_f16(float v)
{
    return assay_f32_to_f16(v);
}

#define TYPE     uint16_t
#define IN(name) name##_f16
#define SPAN     widen_f16
#define ONE      assay_f16_to_f32
#include "backends/cpu/cpu_matmul_blocked_avx2.h"

/* C of f32: sums go where they belong, nothing is rounded. */
static inline float narrow_f16_f32(float v)
{
    return v;
}

#undef IN
#undef NARROW
#define IN(name)   name##_f16_f32
#define NARROW     0
#define OUT        float
#define ONE_OUT(x) (x)
#include "backends/cpu/cpu_matmul_blocked_avx2.h"
#undef NARROW
#define NARROW 1
#undef IN
#undef SPAN
#undef ONE

static void widen_bf16(const uint16_t *from, float *to, int64_t n)
{
    int64_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)(from + i));
        _mm512_storeu_si512(to + i, _mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
    }
    for (; i < n; i++)
        to[i] = assay_bf16_to_f32(from[i]);
}

static inline uint16_t narrow_bf16(float v)
{
    return assay_f32_to_bf16(v);
}

#define IN(name) name##_bf16
#define SPAN     widen_bf16
#define ONE      assay_bf16_to_f32
#include "backends/cpu/cpu_matmul_blocked_avx2.h"

/* C of f32: sums go where they belong, nothing is rounded. */
static inline float narrow_bf16_f32(float v)
{
    return v;
}

#undef IN
#undef NARROW
#define IN(name)   name##_bf16_f32
#define NARROW     0
#define OUT        float
#define ONE_OUT(x) (x)
#include "backends/cpu/cpu_matmul_blocked_avx2.h"

CPU_ENTRY(matmul_avx512_f64)
{
    return run_f64(launch);
}

CPU_ENTRY(matmul_avx512_f32)
{
    return run_f32(launch);
}

CPU_ENTRY(matmul_avx512_f16)
{
    return run_f16(launch);
}

CPU_ENTRY(matmul_avx512_bf16)
{
    return run_bf16(launch);
}

CPU_ENTRY(matmul_avx512_f16_f32)
{
    return run_f16_f32(launch);
}

CPU_ENTRY(matmul_avx512_bf16_f32)
{
    return run_bf16_f32(launch);
}

CPU_ENTRY(fused_linear_avx512_f64)
{
    return run_f64(launch);
}

CPU_ENTRY(fused_linear_avx512_f32)
{
    return run_f32(launch);
}

CPU_ENTRY(fused_linear_avx512_f16)
{
    return run_f16(launch);
}

CPU_ENTRY(fused_linear_avx512_bf16)
{
    return run_bf16(launch);
}
