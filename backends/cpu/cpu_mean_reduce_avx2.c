/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_mean_reduce_avx2.c -- along the middle extent, in vectors. */
#include "backends/cpu/cpu_reduce_avx2.h"

CPU_REDUCE_AVX2(mean_reduce, 0, _mm256_add_pd, _mm256_add_ps, add, 0, cpu_mean_f64, cpu_mean_f32)
