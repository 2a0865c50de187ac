/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_vectors.h -- where operands lie among vectors of 16 bytes, and small sums. */
#ifndef BACKENDS_CUDA_CUDA_VECTORS_H
#define BACKENDS_CUDA_CUDA_VECTORS_H

#include <stdint.h>

#include "backends/cuda/cuda.h"

enum { CUDA_VECTOR_BYTES = 16, CUDA_TYPES = 3 };

/* Types that kernels of our own take, in the order of their tables of names. */
static inline unsigned cuda_type_index(assay_dtype t)
{
    return t == ASSAY_F32 ? 0 : t == ASSAY_F16 ? 1 : 2;
}

static inline CUdeviceptr cuda_address(const assay_tensor *t)
{
    return (CUdeviceptr)(uintptr_t)assay_tensor_data(t);
}

static inline uint64_t cuda_parts_of(uint64_t n, uint64_t part)
{
    return n / part + (n % part != 0);
}

/* n elements of `count` operands in aligned coordinates: elements [lo, hi) of lowered addresses.
 * vector: elements of a vector, or 1 where the operands lie apart by less than one. */
typedef struct cuda_span {
    CUdeviceptr address[3];
    uint64_t lo, hi;
    unsigned vector;
} cuda_span;

static inline bool cuda_lies_at(CUdeviceptr address, uint64_t bytes)
{
    return (address - bytes) % CUDA_VECTOR_BYTES == 0;
}

/* vector: that of the narrowest operand. */
static inline cuda_span cuda_span_of(const assay_tensor *operands, size_t count, unsigned vector)
{
    cuda_span span = {.hi = (uint64_t)operands[0].dims[0], .vector = vector};
    uint64_t shift = 0;

    for (size_t i = 0; i < count && shift < vector;) {
        bool fits =
            cuda_lies_at(cuda_address(&operands[i]), shift * assay_dtype_bytes(operands[i].dtype));
        i = fits ? i + 1 : 0;
        shift += !fits;
    }
    if (shift >= vector) {
        span.vector = 1;
        shift = 0;
    }
    span.lo = shift;
    span.hi += shift;
    for (size_t i = 0; i < count; i++)
        span.address[i] = cuda_address(&operands[i]) - shift * assay_dtype_bytes(operands[i].dtype);
    return span;
}

#endif
