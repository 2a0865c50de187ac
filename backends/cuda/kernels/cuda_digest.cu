/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_digest.cu -- sums of mixed words, as runtime/word_digest.h has them.
 *
 * Piece y of a grid: `words` of eight bytes from y * step on.  Sums of 64 bits wrap, so that their
 * order changes nothing. */
#include "backends/cuda/kernels/cuda_element.cuh"

CUDA_INLINE cuda_index digest_mix(cuda_index x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

/* Whole warps alone.  sums: zeros at first. */
extern "C" __global__ void digest_words(const cuda_index *from, cuda_index words, cuda_index step,
                                        cuda_index pieces, cuda_index *sums)
{
    const cuda_index all = (cuda_index)gridDim.x * blockDim.x;
    const cuda_index first = (cuda_index)blockIdx.x * blockDim.x + threadIdx.x;

    for (cuda_index piece = blockIdx.y; piece < pieces; piece += gridDim.y) {
        const cuda_index *at = from + piece * step;
        cuda_index sum = 0;
        for (cuda_index i = first; i < words; i += all)
            sum += digest_mix(at[i] + (i + 1) * 0x9e3779b97f4a7c15ull);
        for (unsigned distance = 16; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, (int)distance);
        if ((threadIdx.x & 31u) == 0)
            atomicAdd(&sums[piece], sum);
    }
}
