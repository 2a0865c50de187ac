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

#include "backends/cpu/cpu_matmul.h"

/* PANEL_BYTES: packed op(B), meant to stay in the last cache.  PACK_ALONE: elements. */
enum { MAX_KC = 512, PANEL_BYTES = 16 * 1024 * 1024, PACK_ALONE = 32 * 1024 };

#define PRODUCT_TYPE 64
#include "backends/cpu/cpu_product_types_avx2.h"

#include "backends/cpu/cpu_matmul_blocked_avx2.h"

#define PRODUCT_TYPE 32
#include "backends/cpu/cpu_product_types_avx2.h"

#include "backends/cpu/cpu_matmul_blocked_avx2.h"

#define PRODUCT_TYPE 16
#include "backends/cpu/cpu_product_types_avx2.h"

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

#define PRODUCT_TYPE 17
#include "backends/cpu/cpu_product_types_avx2.h"

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

CPU_ENTRY(matmul_f16_f32_avx2)
{
    return run_f16_f32(launch);
}

CPU_ENTRY(matmul_bf16_f32_avx2)
{
    return run_bf16_f32(launch);
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
