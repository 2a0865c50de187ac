/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_backward_filter_avx2.c -- the gradient by the filter: the gradient
 * times what the taps see of x, packed a block of places at a time.
 *
 * Products are summed image by image in blocks of up to KC places, whatever the thread count. f16
 * and bf16 are widened while packing, summed in f32 and rounded once. A gradient that is not
 * finite, where there is padding, is left to the portable kernel. */
#include <stdatomic.h>

#include "backends/cpu/cpu_conv2d_back.h"

/* COLS: taps of a task, at most. */
enum { KC = 256, COLS = 512 };

#define CONV2D_NO_TILE
#define PRODUCT_TYPE 64
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_backward_filter_body_avx2.h"

#define PRODUCT_TYPE 32
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_backward_filter_body_avx2.h"

#define PRODUCT_TYPE 16
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_backward_filter_body_avx2.h"

#define PRODUCT_TYPE 17
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_backward_filter_body_avx2.h"

assay_status cpu_conv2d_backward_filter_f64(const assay_launch *launch);

CPU_ENTRY(conv2d_backward_filter_avx2_f64)
{
    return run_f64(launch, cpu_conv2d_backward_filter_f64);
}

assay_status cpu_conv2d_backward_filter_f32(const assay_launch *launch);

CPU_ENTRY(conv2d_backward_filter_avx2_f32)
{
    return run_f32(launch, cpu_conv2d_backward_filter_f32);
}

assay_status cpu_conv2d_backward_filter_f16(const assay_launch *launch);

CPU_ENTRY(conv2d_backward_filter_avx2_f16)
{
    return run_f16(launch, cpu_conv2d_backward_filter_f16);
}

assay_status cpu_conv2d_backward_filter_bf16(const assay_launch *launch);

CPU_ENTRY(conv2d_backward_filter_avx2_bf16)
{
    return run_bf16(launch, cpu_conv2d_backward_filter_bf16);
}
