/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_winograd_avx512.c -- Winograd's convolution in vectors of sixteen. */
#include <immintrin.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "backends/cpu/cpu_conv2d.h"
#include "backends/cpu/cpu_matmul.h"
#include "runtime/host_team.h"

enum { MR = 14 }; /* filters in registers */

static inline float fused_float(float a, float b, float c)
{
    return fmaf(a, b, c);
}

#define REAL     float
#define VEC      __m512
#define MASK     __mmask16
#define LANES    16
#define FN(name) name##_float
#define OP(call) _mm512_##call##_ps
#include "backends/cpu/cpu_matmul_tile_avx512.h"

#define TYPE              float
#define IN(name)          name##_f32
#define SPAN(from, to, n) memcpy(to, from, (size_t)(n) * sizeof(float))
#define ONE(x)            (x)
#define NARROW            0
#define IS_NAN(v)         _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q)
#include "backends/cpu/cpu_conv2d_tile_avx2.h"

#include "backends/cpu/cpu_conv2d_winograd_body.h"

CPU_ENTRY(conv2d_winograd_avx512_f32)
{
    return run_winograd(launch);
}
