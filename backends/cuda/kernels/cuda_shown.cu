/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_shown.cu -- one feature of the device each, which cannot leave the
 * right words without it.  Whole blocks of CUDA_SHOWN_BLOCK threads, a word each, as
 * many words as the last argument says. */
#include "backends/cuda/kernels/cuda_element.cuh"
#include "backends/cuda/kernels/cuda_probe_shape.h"

#define WHOLE     0xffffffffu
#define BACKWARDS 64u

CUDA_INLINE unsigned place()
{
    return blockIdx.x * CUDA_SHOWN_BLOCK + threadIdx.x;
}

extern "C" __global__ void shown_shared(const unsigned *from, unsigned *to, cuda_index)
{
    __shared__ unsigned words[CUDA_SHOWN_BLOCK];
    const unsigned i = place(), j = threadIdx.x;

    words[j] = from[i];
    __syncthreads();
    to[i] = words[j - j % BACKWARDS + (BACKWARDS - 1u - j % BACKWARDS)];
}

extern "C" __global__ void shown_shuffle(const unsigned *from, unsigned *to, cuda_index)
{
    const unsigned i = place();

    to[i] = __shfl_xor_sync(WHOLE, from[i], 1);
}

extern "C" __global__ void shown_subgroup(const unsigned *from, unsigned *to, cuda_index)
{
    const unsigned i = place();

    to[i] = __reduce_add_sync(WHOLE, from[i]);
}

extern "C" __global__ void shown_mul_high(const unsigned *from, unsigned *to, cuda_index)
{
    const unsigned i = place();

    to[i] = __umulhi(from[i], 0x9e3779b9u);
}
