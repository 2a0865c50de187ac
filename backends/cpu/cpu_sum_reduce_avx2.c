/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_sum_reduce_avx2.c -- along the middle extent, in vectors. */
#include "backends/cpu/cpu_reduce_avx2.h"

CPU_REDUCE_AVX2(sum_reduce, 0, _mm256_add_pd, _mm256_add_ps, add, 0, cpu_reduce_done,
                cpu_reduce_done)
