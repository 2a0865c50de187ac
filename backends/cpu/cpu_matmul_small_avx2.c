/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_small_avx2.c -- C = alpha A op(B) + beta C, and y = a b + bias, for small
 * and skinny products: operands are read where they lie, without packing.
 *
 * op(B) must have its rows in one piece.  The products of one element are summed in order of k. */
#include "backends/cpu/cpu_matmul.h"
#include "backends/cpu/cpu_matmul_ops_avx2.h"
#include "runtime/host_team.h"

/* Of 16 registers: 12 sums, op(B) and a value of op(A). */
#define NARROW_ROWS 12
#define WIDE_ROWS   6

#define OP_maskz_loadu_pd(mask, x)    _mm256_maskload_pd(x, mask)
#define OP_mask_storeu_pd(x, mask, v) _mm256_maskstore_pd(x, mask, v)
#define OP_maskz_loadu_ps(mask, x)    _mm256_maskload_ps(x, mask)
#define OP_mask_storeu_ps(x, mask, v) _mm256_maskstore_ps(x, mask, v)

/* The mask of n lanes begins LANES - n values in. */
static const int64_t masks_double[8] = {-1, -1, -1, -1};
static const int32_t masks_float[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

#define REAL     double
#define VEC      __m256d
#define MASK     __m256i
#define LANES    4
#define FN(name) name##_double
#define OP(call) OP_##call##_pd

static inline MASK FN(lanes)(int64_t cols)
{
    const int64_t lanes = cols >= LANES ? LANES : cols <= 0 ? 0 : cols;

    return _mm256_loadu_si256((const MASK *)(const void *)(FN(masks) + LANES - lanes));
}

#include "backends/cpu/cpu_matmul_direct_body.h"
#undef REAL
#undef VEC
#undef LANES
#undef FN
#undef OP

#define REAL     float
#define VEC      __m256
#define LANES    8
#define FN(name) name##_float
#define OP(call) OP_##call##_ps

static inline MASK FN(lanes)(int64_t cols)
{
    const int64_t lanes = cols >= LANES ? LANES : cols <= 0 ? 0 : cols;

    return _mm256_loadu_si256((const MASK *)(const void *)(FN(masks) + LANES - lanes));
}

#include "backends/cpu/cpu_matmul_direct_body.h"

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
