/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_cast.cu -- y = x as another type among f32, f16 and bf16.
 *
 * A vector is 8 elements, 16 bytes on the narrow side.  f16 and bf16 meet in f32, which holds both
 * exactly, so each result is rounded once.  The same type is copied by its bits. */
#include "backends/cuda/kernels/cuda_element.cuh"
#include "backends/cuda/kernels/cuda_shapes.h"

/* 8 elements as f32. */
template <typename T> CUDA_INLINE void cast_load(const T *p, float *v)
{
    enum { vec = cuda_type<T>::vec };
#pragma unroll
    for (int i = 0; i < 8; i += vec)
        cuda_access<T, vec>::unpack(cuda_access<T, vec>::load(p + i), v + i);
}

template <typename T> CUDA_INLINE void cast_store(T *p, const float *v)
{
    enum { vec = cuda_type<T>::vec };
#pragma unroll
    for (int i = 0; i < 8; i += vec)
        cuda_access<T, vec>::store(p + i, cuda_access<T, vec>::pack(v + i));
}

/* VEC 8, or 1 where the two lie apart by less than 16 bytes. */
template <typename From, typename To, int VEC>
CUDA_INLINE void cast(const From *x, To *y, cuda_index lo, cuda_index hi)
{
    const cuda_index first = (cuda_index)blockIdx.x * (CUDA_CAST_BLOCK * CUDA_CAST_UNROLL * VEC);
    const cuda_index e = first + threadIdx.x * VEC;
    float v[CUDA_CAST_UNROLL][VEC];

    if (VEC == 8 && first >= lo && first + CUDA_CAST_BLOCK * CUDA_CAST_UNROLL * VEC <= hi) {
#pragma unroll
        for (int u = 0; u < CUDA_CAST_UNROLL; u++)
            cast_load(x + e + u * CUDA_CAST_BLOCK * VEC, v[u]);
#pragma unroll
        for (int u = 0; u < CUDA_CAST_UNROLL; u++)
            cast_store(y + e + u * CUDA_CAST_BLOCK * VEC, v[u]);
        return;
    }
#pragma unroll
    for (int u = 0; u < CUDA_CAST_UNROLL; u++)
#pragma unroll
        for (int k = 0; k < VEC; k++) {
            const cuda_index i = e + u * CUDA_CAST_BLOCK * VEC + k;
            v[u][k] = i >= lo && i < hi ? cuda_type<From>::widen(x[i]) : 0.0f;
        }
#pragma unroll
    for (int u = 0; u < CUDA_CAST_UNROLL; u++)
#pragma unroll
        for (int k = 0; k < VEC; k++) {
            const cuda_index i = e + u * CUDA_CAST_BLOCK * VEC + k;
            if (i >= lo && i < hi)
                y[i] = cuda_type<To>::narrow(v[u][k]);
        }
}

/* Elements of BYTES each, by vectors of 16 bytes or one by one. */
template <typename T, int VEC> CUDA_INLINE void copy(const T *x, T *y, cuda_index lo, cuda_index hi)
{
    const cuda_index e = ((cuda_index)blockIdx.x * CUDA_CAST_BLOCK + threadIdx.x) * VEC;

    if (VEC > 1 && e >= lo && e + VEC <= hi) {
        *(uint4 *)(y + e) = *(const uint4 *)(x + e);
        return;
    }
#pragma unroll
    for (int k = 0; k < VEC; k++)
        if (e + k >= lo && e + k < hi)
            y[e + k] = x[e + k];
}

#define CAST_OF(name, From, To, VEC)                              \
    extern "C" __global__ void __launch_bounds__(CUDA_CAST_BLOCK) \
        name(const From *x, To *y, cuda_index lo, cuda_index hi)  \
    {                                                             \
        cast<From, To, VEC>(x, y, lo, hi);                        \
    }
#define CAST(from, to)                                     \
    CAST_OF(cast_##from##_##to, cuda_##from, cuda_##to, 8) \
    CAST_OF(cast_##from##_##to##_single, cuda_##from, cuda_##to, 1)
#define COPY_OF(name, T, VEC)                                     \
    extern "C" __global__ void __launch_bounds__(CUDA_CAST_BLOCK) \
        name(const T *x, T *y, cuda_index lo, cuda_index hi)      \
    {                                                             \
        copy<T, VEC>(x, y, lo, hi);                               \
    }

CAST(f32, f16)
CAST(f32, bf16)
CAST(f16, f32)
CAST(f16, bf16)
CAST(bf16, f32)
CAST(bf16, f16)
COPY_OF(copy_4, unsigned, 4)
COPY_OF(copy_4_single, unsigned, 1)
COPY_OF(copy_2, unsigned short, 8)
COPY_OF(copy_2_single, unsigned short, 1)
