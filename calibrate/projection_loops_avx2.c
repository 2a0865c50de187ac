/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/projection_loops_avx2.c -- the loops for AVX2 with FMA. */
#include "calibrate/projection_loops.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define MULTIPLY_ADD(a, b, c) ((four)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#include "calibrate/projection_body.h"

const assay__projection_loops assay__projection_avx2 = {dot, add, multiply};

#endif
