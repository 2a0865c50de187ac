/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_avx2.c -- C = alpha op(A) op(B) + beta C, and y = a b + bias, by packed
 * panels and a 6 x 2 vector kernel; f16 and bf16 are widened while packing, summed in f32 and
 * rounded once.
 *
 * The products of one element are summed in order of k in blocks of kc, whatever the thread count
 * and mc. */
#include <stdatomic.h>
#include <string.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu_matmul.h"
#include "backends/cpu/cpu_matmul_ops_avx2.h"
#include "backends/cpu/cpu_simd_avx2.h"
#include "runtime/host_team.h"

/* PANEL_BYTES: packed op(B), meant to stay in the last cache.  PACK_ALONE: elements. */
enum { MAX_KC = 512, PANEL_BYTES = 16 * 1024 * 1024, PACK_ALONE = 32 * 1024 };

/* ---- f64 ------------------------------------------------------------------------------------- */

#define REAL     double
#define VEC      __m256d
#define LANES    4
#define FN(name) name##_double
#define OP(call) OP_##call##_pd

#include "backends/cpu/cpu_matmul_tile_avx2.h"

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
#undef LANES
#undef FN
#undef OP
#undef NR

/* ---- f32 ------------------------------------------------------------------------------------- */

#define REAL     float
#define VEC      __m256
#define LANES    8
#define FN(name) name##_float
#define OP(call) OP_##call##_ps

#include "backends/cpu/cpu_matmul_tile_avx2.h"

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

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, load_f16(from + i));
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
#undef IN
#undef SPAN
#undef ONE

static void widen_bf16(const uint16_t *from, float *to, int64_t n)
{
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, load_bf16(from + i));
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

CPU_ENTRY(matmul_f64_avx2)
{
    return run_f64(launch);
}

CPU_ENTRY(matmul_f32_avx2)
{
    return run_f32(launch);
}

CPU_ENTRY(matmul_f16_avx2)
{
    return run_f16(launch);
}

CPU_ENTRY(matmul_bf16_avx2)
{
    return run_bf16(launch);
}

CPU_ENTRY(fused_linear_f64_avx2)
{
    return run_f64(launch);
}

CPU_ENTRY(fused_linear_f32_avx2)
{
    return run_f32(launch);
}

CPU_ENTRY(fused_linear_f16_avx2)
{
    return run_f16(launch);
}

CPU_ENTRY(fused_linear_bf16_avx2)
{
    return run_bf16(launch);
}
