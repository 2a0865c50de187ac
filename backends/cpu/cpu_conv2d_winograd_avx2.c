/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_winograd_avx2.c -- Winograd's convolution in vectors of eight. */
#include <stdatomic.h>

#define NARROW       0
#define PRODUCT_TYPE 32
#include "backends/cpu/cpu_conv2d_types_avx2.h"

#include "backends/cpu/cpu_conv2d_winograd_body.h"

CPU_ENTRY(conv2d_winograd_avx2_f32)
{
    return run_winograd(launch);
}
