/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_norm.cuh -- when squares leave the range of f32, and by what to scale.
 *
 * Squares of values beyond 2^64 overflow, those below 2^-64 vanish, which matters when eps is as
 * small.  Such rows are taken again, scaled by a power of two to values up to one. */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_NORM_CUH
#define BACKENDS_CUDA_KERNELS_CUDA_NORM_CUH

#include "backends/cuda/kernels/cuda_math.cuh"
#include "backends/cuda/kernels/cuda_part.cuh"

template <int PER, int VEC> CUDA_INLINE float norm_largest(float (*v)[VEC])
{
    float largest = 0.0f;

#pragma unroll
    for (int u = 0; u < PER; u++)
#pragma unroll
        for (int k = 0; k < VEC; k++)
            largest = fmaxf(largest, fabsf(v[u][k]));
    return largest;
}

template <int PER, int VEC> CUDA_INLINE void norm_multiply(float (*v)[VEC], float factor)
{
#pragma unroll
    for (int u = 0; u < PER; u++)
#pragma unroll
        for (int k = 0; k < VEC; k++)
            v[u][k] *= factor;
}

/* May a mean of squares be trusted, as it is or beside eps?  False for NaN and infinity too. */
CUDA_INLINE bool norm_in_range(float mean_square, double eps)
{
    return mean_square <= 0x1p+100f && (mean_square >= 0x1p-90f || eps >= 0x1p-60);
}

/* The power of two that brings `largest` >= 0 to [1/2, 1), as far as normal numbers reach; 0 goes
 * to the largest, so that it decides nothing beside others; what is not finite stays. */
CUDA_INLINE float norm_scale(float largest)
{
    const int exponent = (int)(__float_as_uint(largest) >> 23 & 255) - 126;

    if (exponent > 128)
        return 1.0f;
    return __uint_as_float((unsigned)(127 - min(max(exponent, -126), 126)) << 23);
}

/* 1 / sqrt(x), x normal: the device's own within 2 ulp, and a step of Newton's. */
CUDA_INLINE float norm_rsqrt(float x)
{
    const float y = rsqrtf(x);

    return fmaf(0.5f * y, fmaf(-x * y, y, 1.0f), y);
}

/* 1 / sqrt(x) of any x >= 0 that f64 holds: by its exponent and the rest.  Not infinite while x is
 * positive, as the result may meet a zero. */
CUDA_INLINE float norm_rsqrt_wide(double x)
{
    const int high = __double2hiint(x), exponent = (high >> 20 & 0x7ff) - 1023;
    const int half = exponent >> 1;
    const double rest = __hiloint2double(high - half * 2 * (1 << 20), __double2loint(x));
    const int power = min(max(-half, -252), 126);

    if (!(x > 0.0) || exponent > 1023) /* 0, infinity, NaN */
        return x == 0.0 ? __uint_as_float(0x7f800000u) : x > 0.0 ? 0.0f : (float)x;
    return norm_rsqrt((float)rest) * __uint_as_float((unsigned)(127 + power / 2) << 23) *
           __uint_as_float((unsigned)(127 + power - power / 2) << 23);
}

/* 1 / sqrt(m / scale^2 + eps) / scale, for results of values that were scaled. */
CUDA_INLINE float norm_inverse(float mean_square, double eps, float scale)
{
    if (scale == 1.0f && norm_in_range(mean_square, eps))
        return norm_rsqrt(mean_square + (float)eps);
    return norm_rsqrt_wide((double)mean_square + eps * scale * scale);
}

#endif
