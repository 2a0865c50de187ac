/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_fill.cu -- what is left of a product without terms: C = beta C, and
 * every row of y the bias.
 *
 * Matrices lie `step` apart, their rows `ld`.  x is over columns; rows and matrices that exceed
 * what a grid may have are walked. */
#include "backends/cuda/kernels/cuda_element.cuh"

struct fill_place {
    cuda_index batch, m, n, ld, step;
};

template <typename T> CUDA_INLINE T fill_product(T c, double beta)
{
    return cuda_type<T>::narrow((float)beta * cuda_type<T>::widen(c));
}

CUDA_INLINE double fill_product(double c, double beta)
{
    return beta * c;
}

/* reads 0: C is all zeros, whatever it held. */
template <typename T> CUDA_INLINE void scale(T *c, fill_place p, double beta, int reads)
{
    const cuda_index column = (cuda_index)blockIdx.x * blockDim.x + threadIdx.x;

    if (column >= p.n)
        return;
    for (cuda_index b = blockIdx.z; b < p.batch; b += gridDim.z)
        for (cuda_index row = blockIdx.y; row < p.m; row += gridDim.y) {
            T *at = c + b * p.step + row * p.ld + column;
            *at = reads ? fill_product(*at, beta) : T();
        }
}

template <typename T> CUDA_INLINE void rows(const T *bias, T *y, fill_place p)
{
    const cuda_index column = (cuda_index)blockIdx.x * blockDim.x + threadIdx.x;

    if (column >= p.n)
        return;
    const T value = bias[column];
    for (cuda_index b = blockIdx.z; b < p.batch; b += gridDim.z)
        for (cuda_index row = blockIdx.y; row < p.m; row += gridDim.y)
            y[b * p.step + row * p.ld + column] = value;
}

#define SCALE(t, T)                                                                  \
    extern "C" __global__ void scale_##t(T *c, fill_place p, double beta, int reads) \
    {                                                                                \
        scale<T>(c, p, beta, reads);                                                 \
    }
#define ROWS(bytes, T)                                                         \
    extern "C" __global__ void rows_##bytes(const T *bias, T *y, fill_place p) \
    {                                                                          \
        rows<T>(bias, y, p);                                                   \
    }

SCALE(f64, double)
SCALE(f32, cuda_f32)
SCALE(f16, cuda_f16)
SCALE(bf16, cuda_bf16)
ROWS(2, unsigned short)
ROWS(4, unsigned)
ROWS(8, cuda_index)
