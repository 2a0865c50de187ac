/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_small_avx2.c -- C = alpha A op(B) + beta C, and y = a b + bias, for small
 * and skinny products: operands are read where they lie, without packing.
 *
 * op(B) must have its rows in one piece.  Six rows at a time; a missing row repeats the last one
 * and is not stored. */
#include <stdatomic.h>
#include <string.h>

#include "backends/cpu/cpu_matmul.h"
#include "backends/cpu/cpu_matmul_ops_avx2.h"
#include "runtime/host_team.h"

#define REAL     double
#define VEC      __m256d
#define LANES    4
#define FN(name) name##_double
#define OP(call) OP_##call##_pd
#include "backends/cpu/cpu_matmul_tile_avx2.h"

#include "backends/cpu/cpu_matmul_direct_avx2.h"
#undef REAL
#undef VEC
#undef LANES
#undef FN
#undef OP
#undef NR

#define REAL     float
#define VEC      __m256
#define LANES    8
#define FN(name) name##_float
#define OP(call) OP_##call##_ps
#include "backends/cpu/cpu_matmul_tile_avx2.h"

#include "backends/cpu/cpu_matmul_direct_avx2.h"

CPU_ENTRY(matmul_small_f64_avx2)
{
    return run_double(launch);
}

CPU_ENTRY(matmul_small_f32_avx2)
{
    return run_float(launch);
}

CPU_ENTRY(fused_linear_small_f64_avx2)
{
    return run_double(launch);
}

CPU_ENTRY(fused_linear_small_f32_avx2)
{
    return run_float(launch);
}
