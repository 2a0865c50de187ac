/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_group.cuh -- sums and maxima over the threads that share a row.
 *
 * A group is `lanes` threads: a power of two up to a warp, of which a block has many, or whole
 * warps, and then it is the block.  Every thread of a block takes part in every call and gets the
 * result.  The order of a sum depends on `lanes` alone. */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_GROUP_CUH
#define BACKENDS_CUDA_KERNELS_CUDA_GROUP_CUH

#include "backends/cuda/kernels/cuda_element.cuh"

/* One value a warp, twice: neighbouring calls use different halves, so that one barrier between
 * writing and reading is enough: who writes a half again has passed the barrier of the other. */
template <typename V> struct cuda_group {
    V *values; /* [2][32] of the block's shared memory */
    unsigned lanes;
    unsigned half;
};

/* is_symmetric: join(a, b) and join(b, a) have the same bits. */
struct cuda_sum_of {
    enum { is_symmetric = 1 };
    CUDA_INLINE float nothing()
    {
        return 0.0f;
    }
    CUDA_INLINE float join(float a, float b)
    {
        return a + b;
    }
    CUDA_INLINE float shuffled(float v, unsigned distance)
    {
        return __shfl_xor_sync(0xffffffffu, v, (int)distance);
    }
};

struct cuda_max_of {
    enum { is_symmetric = 1 };
    CUDA_INLINE float nothing()
    {
        return __uint_as_float(0xff800000u);
    }
    CUDA_INLINE float join(float a, float b) /* of a NaN and a number the number */
    {
        return fmaxf(a, b);
    }
    CUDA_INLINE float shuffled(float v, unsigned distance)
    {
        return __shfl_xor_sync(0xffffffffu, v, (int)distance);
    }
};

/* All lanes end with the same bits. */
template <typename Of, typename V> CUDA_INLINE V cuda_warp_reduce(V v, unsigned width)
{
    for (unsigned distance = width / 2; distance > 0; distance /= 2) {
        const V other = Of::shuffled(v, distance);
        const bool is_second = !Of::is_symmetric && (threadIdx.x & distance) != 0;
        v = is_second ? Of::join(other, v) : Of::join(v, other);
    }
    return v;
}

template <typename Of, typename V> CUDA_INLINE V cuda_group_reduce(cuda_group<V> *g, V v)
{
    v = cuda_warp_reduce<Of, V>(v, g->lanes < 32 ? g->lanes : 32);
    if (g->lanes <= 32)
        return v;
    V *values = g->values + g->half * 32;
    g->half ^= 1;
    if ((threadIdx.x & 31) == 0)
        values[threadIdx.x / 32] = v;
    __syncthreads();
    v = (threadIdx.x & 31) < g->lanes / 32 ? values[threadIdx.x & 31] : Of::nothing();
    return cuda_warp_reduce<Of, V>(v, 32);
}

#endif
