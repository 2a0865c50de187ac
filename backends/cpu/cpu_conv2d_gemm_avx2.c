/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_gemm_avx2.c -- convolution as a matrix product over columns (im2col).
 *
 * Columns of a block of places are packed as the 6 x 2 vector kernel of matmul reads them, places
 * of all images in a row; nowhere are there columns of the whole image. Products are summed in the
 * order of taps in blocks of KC, whatever the thread count. f16 and bf16 are widened while packing,
 * summed in f32 and rounded once. */
#include <stdatomic.h>

/* PANEL_BYTES: packed columns of one thread, meant to stay in its second cache. */
enum { KC = 256, BLOCK = 512, PANEL_BYTES = 512 * 1024 };

#define PRODUCT_TYPE 64
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_gemm_body_avx2.h"

#define PRODUCT_TYPE 32
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_gemm_body_avx2.h"

#define PRODUCT_TYPE 16
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_gemm_body_avx2.h"

#define PRODUCT_TYPE 17
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_gemm_body_avx2.h"

CPU_ENTRY(conv2d_gemm_avx2_f64)
{
    return run_f64(launch);
}

CPU_ENTRY(conv2d_gemm_avx2_f32)
{
    return run_f32(launch);
}

CPU_ENTRY(conv2d_gemm_avx2_f16)
{
    return run_f16(launch);
}

CPU_ENTRY(conv2d_gemm_avx2_bf16)
{
    return run_bf16(launch);
}
