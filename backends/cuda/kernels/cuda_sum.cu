/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_sum.cu -- sums along the middle one of three extents, in f32.
 *
 * Along the last extent a group of threads walks each row; before others the threads lie over
 * neighbouring columns.  Where lines are fewer than the device has room for, parts of each leave
 * their sums in memory as f32, and the same kernels sum those. */
#include "backends/cuda/kernels/cuda_group.cuh"
#include "backends/cuda/kernels/cuda_shapes.h"

/* ---- along the last extent ---------------------------------------------------------------------
 */

/* rows x parts groups: part p of a row is its elements from p * length on. */
struct sum_rows_place {
    const void *x;
    void *y; /* rows * parts results, a row's side by side */
    cuda_index rows, cols, parts, length;
};

template <typename From, typename To> CUDA_INLINE void sum_rows(const sum_rows_place &p)
{
    enum { VEC = cuda_type<From>::vec };
    __shared__ float shared[64];
    cuda_group<float> group = {shared, blockDim.x, 0};
    const cuda_index index = (cuda_index)blockIdx.x * blockDim.y + threadIdx.y;
    const cuda_index first = index % p.parts * p.length;
    const unsigned step = blockDim.x * VEC;
    cuda_index lo = 0, hi = 0;
    const From *x = (const From *)p.x;
    float sum[CUDA_SUM_UNROLL] = {};

    if (index < p.rows * p.parts && first < p.cols) {
        x += index / p.parts * p.cols + first;
        lo = (cuda_index)x % 16 / sizeof(From);
        hi = lo + (p.cols - first < p.length ? p.cols - first : p.length);
        x -= lo;
    }
    for (cuda_index e = threadIdx.x * VEC; e < hi; e += CUDA_SUM_UNROLL * step) {
        float v[CUDA_SUM_UNROLL][VEC];
        if (e >= lo && e + (CUDA_SUM_UNROLL - 1) * step + VEC <= hi) {
            typename cuda_access<From, VEC>::raw raw[CUDA_SUM_UNROLL];
#pragma unroll
            for (int u = 0; u < CUDA_SUM_UNROLL; u++)
                raw[u] = cuda_access<From, VEC>::load(x + e + u * step);
#pragma unroll
            for (int u = 0; u < CUDA_SUM_UNROLL; u++)
                cuda_access<From, VEC>::unpack(raw[u], v[u]);
        } else {
#pragma unroll
            for (int u = 0; u < CUDA_SUM_UNROLL; u++)
                cuda_load_edge<From, VEC>(x, e + u * step, lo, hi, 0.0f, v[u]);
        }
#pragma unroll
        for (int u = 0; u < CUDA_SUM_UNROLL; u++) {
            float s = 0.0f;
#pragma unroll
            for (int k = 0; k < VEC; k += 4)
                s += v[u][k] + v[u][k + 1] + (v[u][k + 2] + v[u][k + 3]);
            sum[u] += s;
        }
    }
    const float total =
        cuda_group_reduce<cuda_sum_of, float>(&group, sum[0] + sum[1] + (sum[2] + sum[3]));
    if (threadIdx.x == 0 && index < p.rows * p.parts)
        ((To *)p.y)[index] = cuda_type<To>::narrow(total);
}

/* ---- along an earlier extent -------------------------------------------------------------------
 */

enum { SUM_DEEP = CUDA_SUM_BLOCK / CUDA_SUM_COLUMNS };

/* x[outer, axis, inner] to y[outer, parts, inner]; part p sums axis from p * length on. */
struct sum_columns_place {
    const void *x;
    void *y;
    cuda_index outer, axis, inner, parts, length;
};

/* Block (columns, deep): VEC neighbouring columns a thread, every deep-th element of the axis.
 * inner is a multiple of VEC, and x aligned to VEC elements. */
template <typename From, typename To, int VEC>
CUDA_INLINE void sum_columns(const sum_columns_place &p)
{
    __shared__ float shared[SUM_DEEP][CUDA_SUM_COLUMNS * VEC];
    const cuda_index width = CUDA_SUM_COLUMNS * VEC, tiles = (p.inner + width - 1) / width;
    const cuda_index line = blockIdx.x / tiles; /* outer * parts + part */
    const cuda_index column = blockIdx.x % tiles * width + threadIdx.x * VEC;
    const cuda_index first = line % p.parts * p.length;
    const cuda_index end = p.axis - first < p.length ? p.axis : first + p.length;
    const From *x = (const From *)p.x + line / p.parts * p.axis * p.inner + column;
    float sum[VEC] = {};

    if (first < p.axis && column < p.inner) {
        for (cuda_index i = first + threadIdx.y; i < end; i += CUDA_SUM_UNROLL * SUM_DEEP) {
            float v[CUDA_SUM_UNROLL][VEC];
#pragma unroll
            for (int u = 0; u < CUDA_SUM_UNROLL; u++) {
                const cuda_index at = i + u * SUM_DEEP;
                typename cuda_access<From, VEC>::raw raw = cuda_access<From, VEC>::zero();
                if (at < end)
                    raw = cuda_access<From, VEC>::load(x + at * p.inner);
                cuda_access<From, VEC>::unpack(raw, v[u]);
            }
#pragma unroll
            for (int u = 0; u < CUDA_SUM_UNROLL; u++)
#pragma unroll
                for (int k = 0; k < VEC; k++)
                    sum[k] += v[u][k];
        }
    }
#pragma unroll
    for (int k = 0; k < VEC; k++)
        shared[threadIdx.y][threadIdx.x * VEC + k] = sum[k];
    __syncthreads();
    /* One thread a column now, so that banks do not meet. */
    const unsigned thread = threadIdx.y * CUDA_SUM_COLUMNS + threadIdx.x;
    for (unsigned c = thread; c < CUDA_SUM_COLUMNS * VEC; c += CUDA_SUM_BLOCK) {
        const cuda_index at = blockIdx.x % tiles * width + c;
        float total = shared[0][c];
        for (int d = 1; d < SUM_DEEP; d++)
            total += shared[d][c];
        if (at < p.inner)
            ((To *)p.y)[line * p.inner + at] = cuda_type<To>::narrow(total);
    }
}

/* sum_rows_<from>_<to>, sum_columns_<from>_<to>, and the latter with _single behind. */
#define SUM_KERNELS(from, to)                                                    \
    extern "C" __global__ void __launch_bounds__(CUDA_SUM_BLOCK)                 \
        sum_rows_##from##_##to(sum_rows_place place)                             \
    {                                                                            \
        sum_rows<cuda_##from, cuda_##to>(place);                                 \
    }                                                                            \
    extern "C" __global__ void __launch_bounds__(CUDA_SUM_BLOCK)                 \
        sum_columns_##from##_##to(sum_columns_place place)                       \
    {                                                                            \
        sum_columns<cuda_##from, cuda_##to, cuda_type<cuda_##from>::vec>(place); \
    }                                                                            \
    extern "C" __global__ void __launch_bounds__(CUDA_SUM_BLOCK)                 \
        sum_columns_##from##_##to##_single(sum_columns_place place)              \
    {                                                                            \
        sum_columns<cuda_##from, cuda_##to, 1>(place);                           \
    }

SUM_KERNELS(f32, f32)
SUM_KERNELS(f16, f16)
SUM_KERNELS(bf16, bf16)
SUM_KERNELS(f16, f32)
SUM_KERNELS(bf16, f32)
SUM_KERNELS(f32, f16)
SUM_KERNELS(f32, bf16)
