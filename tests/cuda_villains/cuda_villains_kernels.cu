// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Assay authors
/* tests/cuda_villains/cuda_villains_kernels.cu -- what runs on the device, see cuda_villains.h.
 *
 * All arguments are of 8 bytes: tests/fake_cuda/fake_cuda_villains.c has a function of the host's
 * for each of these names. */
#undef NDEBUG
#include <cassert>

typedef unsigned long long word;

__device__ inline word place()
{
    return (word)blockIdx.x * blockDim.x + threadIdx.x;
}

/* never: 0, which the compiler does not know; the rounds take time and change nothing. */
extern "C" __global__ void v_add(const float *a, const float *b, float *y, word n, word rounds,
                                 word never)
{
    const word i = place();
    unsigned h = (unsigned)i;

    if (i >= n)
        return;
    for (word r = 0; r < rounds; r++)
        h = h * 1664525u + 1013904223u;
    y[i] = never != 0 && h == (unsigned)never ? 0.0f : a[i] + b[i];
}

/* Leaves one element in a hundred as it was. */
extern "C" __global__ void v_holes(const float *a, const float *b, float *y, word n)
{
    const word i = place();

    if (i < n && i % 100 != 0)
        y[i] = a[i] + b[i];
}

extern "C" __global__ void v_copy(const float *from, float *to, word n)
{
    const word i = place();

    if (i < n)
        to[i] = from[i];
}

/* Four bytes, wherever that is. */
extern "C" __global__ void v_store(volatile unsigned *at, word bits)
{
    *at = (unsigned)bits;
}

/* The same after twenty milliseconds. */
extern "C" __global__ void v_store_later(volatile unsigned *at, word bits)
{
    word begin, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - begin < 20000000ull);
    *at = (unsigned)bits;
}

extern "C" __global__ void v_assert(word never)
{
    assert(never != 0);
}

extern "C" __global__ void v_trap(word never)
{
    if (never == 0)
        __trap();
}

/* Nobody writes to it. */
__device__ unsigned is_over;

extern "C" __global__ void v_endless()
{
    while (atomicAdd(&is_over, 0u) == 0u)
        ;
}
