/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_silu_avx512.c -- y = x / (1 + e^-x). */
#include "backends/cpu/cpu_map_avx512.h"

#include "backends/cpu/cpu_sigmoid.h"

CPU_THROUGH_F64(silu_ps, silu_pd)

CPU_UNARY_AVX512(silu, silu_pd, silu_ps, silu_fast_ps)
CPU_UNARY_FAST_AVX512(silu, silu_fast_ps)
