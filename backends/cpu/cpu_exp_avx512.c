/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_exp_avx512.c -- y = e^x, vectors of 512 bits at a time. */
#include "backends/cpu/cpu_map_avx512.h"

#include "backends/cpu/cpu_exp.h"

CPU_UNARY_AVX512(exp, exp_pd, exp_accurate_ps, exp_fast_ps)
CPU_UNARY_FAST_AVX512(exp, exp_fast_ps)
