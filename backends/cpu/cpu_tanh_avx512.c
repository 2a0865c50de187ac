/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_tanh_avx512.c -- tanh x = t / (t + 2), t = e^(2|x|) - 1, with the sign of x. */
#include "backends/cpu/cpu_map_avx512.h"

#include "backends/cpu/cpu_tanh.h"

CPU_UNARY_AVX512(tanh, tanh_pd, tanh_ps, tanh_fast_ps)
CPU_UNARY_FAST_AVX512(tanh, tanh_fast_ps)
