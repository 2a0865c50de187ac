/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_norm.cuh -- when squares leave the range of f32, and by what to scale.
 *
 * Squares of values beyond 2^64 overflow, those below 2^-64 vanish, which matters when eps is as
 * small.  Such rows are taken again, scaled by a power of two to values up to one. */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_NORM_CUH
#define BACKENDS_CUDA_KERNELS_CUDA_NORM_CUH

#include "backends/cuda/kernels/cuda_part.cuh"

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

/* 1 / sqrt(m / scale^2 + eps) / scale, for results of values that were scaled.  Not infinite while
 * eps is positive, as it may meet a zero. */
CUDA_INLINE float norm_inverse(float mean_square, double eps, float scale)
{
    if (scale == 1.0f && norm_in_range(mean_square, eps))
        return 1.0f / sqrtf(mean_square + (float)eps);
    const double total = (double)mean_square + eps * scale * scale;
    const double inverse = 1.0 / sqrt(total);
    return total > 0.0 && inverse > 0x1p+127 ? 0x1p+127f : (float)inverse;
}

#endif
