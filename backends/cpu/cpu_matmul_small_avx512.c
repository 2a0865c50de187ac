/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_small_avx512.c -- C = alpha A op(B) + beta C, and y = a b + bias, for
 * small and skinny products: operands are read where they lie, without packing.
 *
 * op(B) must have its rows in one piece.  The products of one element are summed in order of k. */
#include <immintrin.h>

#include "backends/cpu/cpu_matmul.h"
#include "runtime/host_team.h"

/* Of 32 registers: 16 sums and op(B), or 24 sums, op(B) and a value of op(A). */
#define NARROW_ROWS 16
#define WIDE_ROWS   12

#define REAL     double
#define VEC      __m512d
#define MASK     __mmask8
#define LANES    8
#define FN(name) name##_double
#define OP(call) _mm512_##call##_pd

static inline MASK FN(lanes)(int64_t cols)
{
    const unsigned lanes = cols >= LANES ? ~0u : cols <= 0 ? 0u : (1u << cols) - 1u;

    return (MASK)lanes;
}

#include "backends/cpu/cpu_matmul_direct_body.h"
#undef REAL
#undef VEC
#undef MASK
#undef LANES
#undef FN
#undef OP

#define REAL     float
#define VEC      __m512
#define MASK     __mmask16
#define LANES    16
#define FN(name) name##_float
#define OP(call) _mm512_##call##_ps

static inline MASK FN(lanes)(int64_t cols)
{
    const unsigned lanes = cols >= LANES ? ~0u : cols <= 0 ? 0u : (1u << cols) - 1u;

    return (MASK)lanes;
}

#include "backends/cpu/cpu_matmul_direct_body.h"

CPU_ENTRY(matmul_small_avx512_f64)
{
    return run_double(launch);
}

CPU_ENTRY(matmul_small_avx512_f32)
{
    return run_float(launch);
}

CPU_ENTRY(fused_linear_small_avx512_f64)
{
    return run_double(launch);
}

CPU_ENTRY(fused_linear_small_avx512_f32)
{
    return run_float(launch);
}
