/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_backward_data_avx2.c -- the gradient by x: products of the filter
 * with the gradient, added to where the taps looked (col2im), never all of them in memory.
 *
 * Products are summed in the order of k in blocks of KC, then by lines of y and taps, whatever the
 * thread count. f16 and bf16 are widened while packing, summed in f32 and rounded once. */
#include <stdatomic.h>

#include "backends/cpu/cpu_conv2d_back.h"

/* BLOCK: places of y at a time; ROWS: taps of some channels. */
enum { KC = 256, BLOCK = 512, ROWS = 384 };

#define CONV2D_NO_TILE
#define PRODUCT_TYPE 64
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_backward_data_body_avx2.h"

#define PRODUCT_TYPE 32
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_backward_data_body_avx2.h"

#define PRODUCT_TYPE 16
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_backward_data_body_avx2.h"

#define PRODUCT_TYPE 17
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_backward_data_body_avx2.h"

CPU_ENTRY(conv2d_backward_data_avx2_f64)
{
    return run_f64(launch);
}

CPU_ENTRY(conv2d_backward_data_avx2_f32)
{
    return run_f32(launch);
}

CPU_ENTRY(conv2d_backward_data_avx2_f16)
{
    return run_f16(launch);
}

CPU_ENTRY(conv2d_backward_data_avx2_bf16)
{
    return run_bf16(launch);
}
