/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_sigmoid_avx2.c -- y = 1 / (1 + e^-x). */
#include "backends/cpu/cpu_map_avx2.h"

#include "backends/cpu/cpu_sigmoid.h"

CPU_THROUGH_F64(sigmoid_ps, sigmoid_pd)

CPU_UNARY_AVX2(sigmoid, sigmoid_pd, sigmoid_ps, sigmoid_fast_ps)
CPU_UNARY_FAST_AVX2(sigmoid, sigmoid_fast_ps)
