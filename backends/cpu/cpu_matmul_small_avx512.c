/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_small_avx512.c -- C = alpha A op(B) + beta C, and y = a b + bias, for
 * small and skinny products: operands are read where they lie, without packing.
 *
 * op(B) must have its rows in one piece.  The products of one element are summed in order of k. */
#include <immintrin.h>

#include "backends/cpu/cpu_matmul.h"
#include "runtime/host_team.h"

enum { NARROW_ROWS = 16, WIDE_ROWS = 12 }; /* rows of C in registers, of one vector or two */

#define REAL     double
#define VEC      __m512d
#define MASK     __mmask8
#define LANES    8
#define FN(name) name##_double
#define OP(call) _mm512_##call##_pd
#include "backends/cpu/cpu_matmul_direct_avx512.h"
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
#include "backends/cpu/cpu_matmul_direct_avx512.h"

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
