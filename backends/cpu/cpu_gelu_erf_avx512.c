/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_gelu_erf_avx512.c -- y = x/2 (1 + erf(x / sqrt 2)). */
#include "backends/cpu/cpu_map_avx512.h"

#include "backends/cpu/cpu_gelu_erf.h"

CPU_UNARY_AVX512(gelu_erf, gelu_erf_pd, gelu_erf_ps, gelu_erf_fast_ps)
CPU_UNARY_FAST_AVX512(gelu_erf, gelu_erf_fast_ps)
