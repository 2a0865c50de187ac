/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_map.cu -- y = f(x), y = a + b, element by element.
 *
 * Bound by memory: each element is read and written once.  A thread has CUDA_MAP_UNROLL vectors of
 * 16 bytes in flight, a block's width apart.  A compiler at run time makes one kernel alone, named
 * jit, of CUDA_MAP_FUNCTION (none: addition) and CUDA_MAP_TYPE. */
#include "backends/cuda/kernels/cuda_math.cuh"
#include "backends/cuda/kernels/cuda_shapes.h"

#ifndef CUDA_MAP_ONCE
#define CUDA_MAP_ONCE 0
#endif

/* Loads a thread. */
template <int VEC> struct map_count {
    enum { of = VEC == 1 ? CUDA_MAP_SINGLES * CUDA_MAP_UNROLL : CUDA_MAP_UNROLL };
};

template <typename T, int VEC> CUDA_INLINE typename cuda_access<T, VEC>::raw map_load(const T *p)
{
    return CUDA_MAP_ONCE ? cuda_access<T, VEC>::load_once(p) : cuda_access<T, VEC>::load(p);
}

template <typename T, int VEC> CUDA_INLINE void map_store(T *p, const float *v)
{
    if (CUDA_MAP_ONCE)
        cuda_access<T, VEC>::store_once(p, cuda_access<T, VEC>::pack(v));
    else
        cuda_access<T, VEC>::store(p, cuda_access<T, VEC>::pack(v));
}

/* Where a block's share begins, and is all of it within [lo, hi)? */
template <int VEC> CUDA_INLINE bool map_tile(cuda_index lo, cuda_index hi, cuda_index *first)
{
    const cuda_index elements = (cuda_index)blockDim.x * VEC * map_count<VEC>::of;

    *first = blockIdx.x * elements;
    return *first >= lo && *first + elements <= hi;
}

template <typename T, int VEC, typename F>
CUDA_INLINE void map_one(const T *x, T *y, cuda_index lo, cuda_index hi)
{
    enum { count = map_count<VEC>::of };
    const unsigned step = blockDim.x * VEC;
    float v[count][VEC];
    cuda_index e;

    if (map_tile<VEC>(lo, hi, &e)) {
        typename cuda_access<T, VEC>::raw raw[count];
        e += threadIdx.x * VEC;
#pragma unroll
        for (int u = 0; u < count; u++)
            raw[u] = map_load<T, VEC>(x + e + u * step);
#pragma unroll
        for (int u = 0; u < count; u++) {
            cuda_access<T, VEC>::unpack(raw[u], v[u]);
#pragma unroll
            for (int k = 0; k < VEC; k++)
                v[u][k] = F::of(v[u][k]);
            map_store<T, VEC>(y + e + u * step, v[u]);
        }
        return;
    }
    e += threadIdx.x * VEC;
#pragma unroll
    for (int u = 0; u < count; u++)
        cuda_load_edge<T, VEC>(x, e + u * step, lo, hi, 0.0f, v[u]);
#pragma unroll
    for (int u = 0; u < count; u++) {
#pragma unroll
        for (int k = 0; k < VEC; k++)
            v[u][k] = F::of(v[u][k]);
        cuda_store_edge<T, VEC>(y, e + u * step, lo, hi, v[u]);
    }
}

template <typename T, int VEC>
CUDA_INLINE void map_add(const T *a, const T *b, T *y, cuda_index lo, cuda_index hi)
{
    enum { count = map_count<VEC>::of };
    const unsigned step = blockDim.x * VEC;
    float v[count][VEC], w[count][VEC];
    cuda_index e;

    if (map_tile<VEC>(lo, hi, &e)) {
        typename cuda_access<T, VEC>::raw first[count], second[count];
        e += threadIdx.x * VEC;
#pragma unroll
        for (int u = 0; u < count; u++) {
            first[u] = map_load<T, VEC>(a + e + u * step);
            second[u] = map_load<T, VEC>(b + e + u * step);
        }
#pragma unroll
        for (int u = 0; u < count; u++) {
            cuda_access<T, VEC>::unpack(first[u], v[u]);
            cuda_access<T, VEC>::unpack(second[u], w[u]);
#pragma unroll
            for (int k = 0; k < VEC; k++)
                v[u][k] += w[u][k];
            map_store<T, VEC>(y + e + u * step, v[u]);
        }
        return;
    }
    e += threadIdx.x * VEC;
#pragma unroll
    for (int u = 0; u < count; u++) {
        cuda_load_edge<T, VEC>(a, e + u * step, lo, hi, 0.0f, v[u]);
        cuda_load_edge<T, VEC>(b, e + u * step, lo, hi, 0.0f, w[u]);
    }
#pragma unroll
    for (int u = 0; u < count; u++) {
#pragma unroll
        for (int k = 0; k < VEC; k++)
            v[u][k] += w[u][k];
        cuda_store_edge<T, VEC>(y, e + u * step, lo, hi, v[u]);
    }
}

#define MAP_ONE_OF(name, T, VEC, F)                              \
    extern "C" __global__ void __launch_bounds__(CUDA_MAP_BLOCK) \
        name(const T *x, T *y, cuda_index lo, cuda_index hi)     \
    {                                                            \
        map_one<T, VEC, F>(x, y, lo, hi);                        \
    }
#define MAP_ADD_OF(name, T, VEC)                                         \
    extern "C" __global__ void __launch_bounds__(CUDA_MAP_BLOCK)         \
        name(const T *a, const T *b, T *y, cuda_index lo, cuda_index hi) \
    {                                                                    \
        map_add<T, VEC>(a, b, y, lo, hi);                                \
    }

#ifdef CUDA_MAP_TYPE
#ifdef CUDA_MAP_FUNCTION
MAP_ONE_OF(jit, CUDA_MAP_TYPE, cuda_type<CUDA_MAP_TYPE>::vec, CUDA_MAP_FUNCTION)
#else
MAP_ADD_OF(jit, CUDA_MAP_TYPE, cuda_type<CUDA_MAP_TYPE>::vec)
#endif
#else
/* <op>_<dtype> by vectors, <op>_<dtype>_single where operands lie apart by less. */
#define MAP_ONE(op, t, F)                                       \
    MAP_ONE_OF(op##_##t, cuda_##t, cuda_type<cuda_##t>::vec, F) \
    MAP_ONE_OF(op##_##t##_single, cuda_##t, 1, F)
#define MAP_ADD(t)                                          \
    MAP_ADD_OF(add_##t, cuda_##t, cuda_type<cuda_##t>::vec) \
    MAP_ADD_OF(add_##t##_single, cuda_##t, 1)
#define MAP_TYPES(op, F) \
    MAP_ONE(op, f32, F)  \
    MAP_ONE(op, f16, F)  \
    MAP_ONE(op, bf16, F)

MAP_ADD(f32)
MAP_ADD(f16)
MAP_ADD(bf16)
MAP_TYPES(relu, cuda_relu)
MAP_TYPES(gelu, cuda_gelu)
MAP_TYPES(gelu_fast, cuda_gelu_fast)
MAP_TYPES(exp, cuda_exp)
MAP_ONE(exp_fast, f16, cuda_exp_fast)
MAP_ONE(exp_fast, bf16, cuda_exp_fast)
#endif
