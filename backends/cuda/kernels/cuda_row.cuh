/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_row.cuh -- rows that a group of threads keeps in registers.
 *
 * A row is read once and written once.  A thread holds PER vectors of VEC elements as f32, its
 * vectors `lanes` apart; blocks are lanes x rows.
 *
 * A compiler at run time makes one kernel alone, named jit, of CUDA_ROW_TYPE, CUDA_ROW_PER and
 * CUDA_ROW_BLOCK; with CUDA_ROW_AHEAD 1 blocks walk over rows, and the next row is on its way while
 * one is worked on. */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_ROW_CUH
#define BACKENDS_CUDA_KERNELS_CUDA_ROW_CUH

#include "backends/cuda/kernels/cuda_group.cuh"
#include "backends/cuda/kernels/cuda_shapes.h"

/* rows of `cols` elements, `x_step` and `y_step` apart; with vectors all rows of x and y have the
 * same distance from 16 bytes. */
struct cuda_rows_place {
    const void *x;
    void *y;
    cuda_index rows, cols, x_step, y_step;
};

/* The row of this thread in aligned coordinates; [0, 0) past the last. */
template <typename T, int VEC> struct cuda_row {
    const T *x;
    T *y;
    unsigned lo, hi;
    bool has_edges; /* vectors of it are in part outside */
};

template <typename T, int VEC>
CUDA_INLINE cuda_row<T, VEC> cuda_row_at(const cuda_rows_place &p, cuda_index index)
{
    cuda_row<T, VEC> row = {0, 0, 0, 0, false};

    if (index >= p.rows)
        return row;
    row.x = (const T *)p.x + index * p.x_step;
    row.y = (T *)p.y + index * p.y_step;
    if (VEC > 1)
        row.lo = (unsigned)((cuda_index)row.x % 16 / sizeof(T));
    row.hi = row.lo + (unsigned)p.cols;
    row.x -= row.lo;
    row.y -= row.lo;
    row.has_edges = row.lo % VEC != 0 || row.hi % VEC != 0;
    return row;
}

/* Element of the thread's first; its next vector is lanes * VEC on. */
template <int VEC> CUDA_INLINE unsigned cuda_row_first()
{
    return threadIdx.x * VEC;
}

template <int VEC> CUDA_INLINE unsigned cuda_row_step()
{
    return blockDim.x * VEC;
}

/* Sends for the whole vectors of a row; the others get `fill`. */
template <typename T, int VEC, int PER>
CUDA_INLINE void cuda_row_fetch(const cuda_row<T, VEC> &row, float fill,
                                typename cuda_access<T, VEC>::raw *raw)
{
    float outside[VEC];

#pragma unroll
    for (int k = 0; k < VEC; k++)
        outside[k] = fill;
#pragma unroll
    for (int u = 0; u < PER; u++) {
        const unsigned e = cuda_row_first<VEC>() + u * cuda_row_step<VEC>();
        raw[u] = cuda_access<T, VEC>::pack(outside);
        if (e >= row.lo && e + VEC <= row.hi)
            raw[u] = cuda_access<T, VEC>::load(row.x + e);
    }
}

/* What was fetched as f32, with the elements of vectors in part outside. */
template <typename T, int VEC, int PER>
CUDA_INLINE void cuda_row_take(const cuda_row<T, VEC> &row, float fill,
                               const typename cuda_access<T, VEC>::raw *raw, float (*v)[VEC])
{
#pragma unroll
    for (int u = 0; u < PER; u++)
        cuda_access<T, VEC>::unpack(raw[u], v[u]);
    if (VEC > 1 && row.has_edges) {
#pragma unroll
        for (int u = 0; u < PER; u++) {
            const unsigned e = cuda_row_first<VEC>() + u * cuda_row_step<VEC>();
            if (e + VEC > row.lo && e < row.hi && !(e >= row.lo && e + VEC <= row.hi))
                cuda_load_edge<T, VEC>(row.x, e, row.lo, row.hi, fill, v[u]);
        }
    }
}

template <typename T, int VEC, int PER>
CUDA_INLINE void cuda_row_store(const cuda_row<T, VEC> &row, float (*v)[VEC])
{
#pragma unroll
    for (int u = 0; u < PER; u++) {
        const unsigned e = cuda_row_first<VEC>() + u * cuda_row_step<VEC>();
        if (e >= row.lo && e + VEC <= row.hi)
            cuda_access<T, VEC>::store(row.y + e, cuda_access<T, VEC>::pack(v[u]));
        else if (VEC > 1 && e + VEC > row.lo && e < row.hi)
            cuda_store_edge<T, VEC>(row.y, e, row.lo, row.hi, v[u]);
    }
}

/* What lies outside the row becomes `fill`. */
template <typename T, int VEC, int PER>
CUDA_INLINE void cuda_row_fill(const cuda_row<T, VEC> &row, float fill, float (*v)[VEC])
{
#pragma unroll
    for (int u = 0; u < PER; u++) {
        const unsigned e = cuda_row_first<VEC>() + u * cuda_row_step<VEC>();
        if (e >= row.lo && e + VEC <= row.hi)
            continue;
#pragma unroll
        for (int k = 0; k < VEC; k++)
            if (e + k < row.lo || e + k >= row.hi)
                v[u][k] = fill;
    }
}

/* Sums by twos: the error grows with the logarithm of what a thread holds. */
template <int VEC> CUDA_INLINE float cuda_vector_sum(const float *v)
{
    float s[VEC];

#pragma unroll
    for (int k = 0; k < VEC; k++)
        s[k] = v[k];
#pragma unroll
    for (int width = VEC / 2; width > 0; width /= 2)
#pragma unroll
        for (int k = 0; k < width; k++)
            s[k] += s[k + width];
    return s[0];
}

/* Op::outside() is what elements outside a row have at first; Op::work<T, VEC, PER>(group, row, n,
 * eps, v) turns a row of n elements in v into its results. */
#if defined(CUDA_ROW_AHEAD) && CUDA_ROW_AHEAD
template <typename Op, typename T, int VEC, int PER>
CUDA_INLINE void cuda_rows_run(const cuda_rows_place &place, double eps)
{
    __shared__ float shared[64];
    cuda_group<float> group = {shared, blockDim.x, 0};
    const cuda_index step = (cuda_index)gridDim.x * blockDim.y;
    cuda_index first = (cuda_index)blockIdx.x * blockDim.y;
    cuda_row<T, VEC> row = cuda_row_at<T, VEC>(place, first + threadIdx.y);
    typename cuda_access<T, VEC>::raw raw[PER];
    float v[PER][VEC];

    cuda_row_fetch<T, VEC, PER>(row, Op::outside(), raw);
    for (; first < place.rows; first += step) { /* the same for all threads of a block */
        const cuda_row<T, VEC> next = cuda_row_at<T, VEC>(place, first + step + threadIdx.y);
        cuda_row_take<T, VEC, PER>(row, Op::outside(), raw, v);
        cuda_row_fetch<T, VEC, PER>(next, Op::outside(), raw);
        Op::template work<T, VEC, PER>(&group, row, (float)place.cols, eps, v);
        cuda_row_store<T, VEC, PER>(row, v);
        row = next;
    }
}
#else
template <typename Op, typename T, int VEC, int PER>
CUDA_INLINE void cuda_rows_run(const cuda_rows_place &place, double eps)
{
    __shared__ float shared[64];
    cuda_group<float> group = {shared, blockDim.x, 0};
    const cuda_row<T, VEC> row =
        cuda_row_at<T, VEC>(place, (cuda_index)blockIdx.x * blockDim.y + threadIdx.y);
    typename cuda_access<T, VEC>::raw raw[PER];
    float v[PER][VEC];

    cuda_row_fetch<T, VEC, PER>(row, Op::outside(), raw);
    cuda_row_take<T, VEC, PER>(row, Op::outside(), raw, v);
    Op::template work<T, VEC, PER>(&group, row, (float)place.cols, eps, v);
    cuda_row_store<T, VEC, PER>(row, v);
}
#endif

/* Entry points of one op: <op>_<dtype>_<PER> by vectors, <op>_<dtype>_single element by element. */
/* Blocks that walk are as many as fit: with more the last ones would wait for a second turn. */
#if defined(CUDA_ROW_FIT)
#define CUDA_ROW_BOUNDS(block) __launch_bounds__(block, CUDA_ROW_FIT)
#else
#define CUDA_ROW_BOUNDS(block) __launch_bounds__(block)
#endif
#define CUDA_ROW_KERNEL(name, Op, T, VEC, PER, block)                                         \
    extern "C" __global__ void CUDA_ROW_BOUNDS(block) name(cuda_rows_place place, double eps) \
    {                                                                                         \
        cuda_rows_run<Op, T, VEC, PER>(place, eps);                                           \
    }
#define CUDA_ROW_FULL(name, Op, T, VEC) \
    CUDA_ROW_KERNEL(name, Op, T, VEC, CUDA_ROW_HELD / VEC, CUDA_ROW_BLOCK)
#define CUDA_ROW_LESS(name, Op, T, VEC, PER) \
    CUDA_ROW_KERNEL(name, Op, T, VEC, PER, 2 * CUDA_ROW_BLOCK)
#ifdef CUDA_ROW_TYPE
#define CUDA_ROW_KERNELS(op, Op)                                                         \
    CUDA_ROW_KERNEL(jit, Op, CUDA_ROW_TYPE, cuda_type<CUDA_ROW_TYPE>::vec, CUDA_ROW_PER, \
                    CUDA_ROW_BLOCK)
#else
#define CUDA_ROW_KERNELS(op, Op)                    \
    CUDA_ROW_LESS(op##_f32_1, Op, cuda_f32, 4, 1)   \
    CUDA_ROW_LESS(op##_f32_2, Op, cuda_f32, 4, 2)   \
    CUDA_ROW_LESS(op##_f32_4, Op, cuda_f32, 4, 4)   \
    CUDA_ROW_FULL(op##_f32_8, Op, cuda_f32, 4)      \
    CUDA_ROW_LESS(op##_f16_1, Op, cuda_f16, 8, 1)   \
    CUDA_ROW_LESS(op##_f16_2, Op, cuda_f16, 8, 2)   \
    CUDA_ROW_FULL(op##_f16_4, Op, cuda_f16, 8)      \
    CUDA_ROW_LESS(op##_bf16_1, Op, cuda_bf16, 8, 1) \
    CUDA_ROW_LESS(op##_bf16_2, Op, cuda_bf16, 8, 2) \
    CUDA_ROW_FULL(op##_bf16_4, Op, cuda_bf16, 8)    \
    CUDA_ROW_FULL(op##_f32_single, Op, cuda_f32, 1) \
    CUDA_ROW_FULL(op##_f16_single, Op, cuda_f16, 1) \
    CUDA_ROW_FULL(op##_bf16_single, Op, cuda_bf16, 1)
#endif

#endif
