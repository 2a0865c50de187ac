/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_sqrt_avx2.c -- y = sqrt x, correctly rounded; halves as in cpu_sqrt.c. */
#include "backends/cpu/cpu_map_avx2.h"

CPU_UNARY_AVX2(sqrt, _mm256_sqrt_pd, _mm256_sqrt_ps, _mm256_sqrt_ps)
