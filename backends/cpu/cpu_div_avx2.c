/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_div_avx2.c -- y = a / b, a vector at a time. */
#include "backends/cpu/cpu_map_avx2.h"

CPU_BINARY_AVX2(div, _mm256_div_pd, _mm256_div_ps)
