/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_gelu_avx512.c -- y = x/2 (1 + tanh(c (x + 0.044715 x^3))), c = sqrt(2/pi). */
#include "backends/cpu/cpu_map_avx512.h"

#include "backends/cpu/cpu_gelu.h"

CPU_UNARY_AVX512(gelu, gelu_pd, gelu_ps, gelu_fast_ps)
CPU_UNARY_FAST_AVX512(gelu, gelu_fast_ps)
