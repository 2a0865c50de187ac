/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_sub_avx2.c -- y = a - b, a vector at a time. */
#include "backends/cpu/cpu_map_avx2.h"

CPU_BINARY_AVX2(sub, _mm256_sub_pd, _mm256_sub_ps)
