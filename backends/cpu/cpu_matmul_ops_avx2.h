/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_ops_avx2.h -- vector operations under one name for f64 and f32. */
#ifndef ASSAY_BACKENDS_CPU_MATMUL_OPS_AVX2_H
#define ASSAY_BACKENDS_CPU_MATMUL_OPS_AVX2_H

#include <immintrin.h>
#include <math.h>
#include <stdint.h>

enum { MR = 6 }; /* rows of C in registers */

#define OP_load_pd(x)        _mm256_load_pd(x)
#define OP_loadu_pd(x)       _mm256_loadu_pd(x)
#define OP_storeu_pd(x, v)   _mm256_storeu_pd(x, v)
#define OP_broadcast_pd(x)   _mm256_broadcast_sd(x)
#define OP_fmadd_pd(a, b, c) _mm256_fmadd_pd(a, b, c)
#define OP_mul_pd(a, b)      _mm256_mul_pd(a, b)
#define OP_set1_pd(x)        _mm256_set1_pd(x)
#define OP_setzero_pd()      _mm256_setzero_pd()

static inline double fused_double(double a, double b, double c)
{
    return fma(a, b, c);
}

#define OP_load_ps(x)        _mm256_load_ps(x)
#define OP_loadu_ps(x)       _mm256_loadu_ps(x)
#define OP_storeu_ps(x, v)   _mm256_storeu_ps(x, v)
#define OP_broadcast_ps(x)   _mm256_broadcast_ss(x)
#define OP_fmadd_ps(a, b, c) _mm256_fmadd_ps(a, b, c)
#define OP_mul_ps(a, b)      _mm256_mul_ps(a, b)
#define OP_set1_ps(x)        _mm256_set1_ps(x)
#define OP_setzero_ps()      _mm256_setzero_ps()

static inline float fused_float(float a, float b, float c)
{
    return fmaf(a, b, c);
}

#endif
