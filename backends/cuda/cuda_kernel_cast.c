/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_kernel_cast.c -- launches of cuda_cast.cu: other types, or the same by bits.
 */
#include "backends/cuda/cuda_images.h"
#include "backends/cuda/cuda_kernels.h"
#include "backends/cuda/cuda_vectors.h"
#include "backends/cuda/kernels/cuda_shapes.h"

/* By source and result; by vectors, one by one. */
#define PAIR(from, to)                                         \
    {                                                          \
        "cast_" #from "_" #to, "cast_" #from "_" #to "_single" \
    }
#define COPY(bytes)                              \
    {                                            \
        "copy_" #bytes, "copy_" #bytes "_single" \
    }
static const char *const names[CUDA_TYPES][CUDA_TYPES][2] = {
    {COPY(4), PAIR(f32, f16), PAIR(f32, bf16)},
    {PAIR(f16, f32), COPY(2), PAIR(f16, bf16)},
    {PAIR(bf16, f32), PAIR(bf16, f16), COPY(2)},
};

assay_status cuda_cast(const assay_launch *launch)
{
    const assay_dtype from = launch->operands[0].dtype, to = launch->operands[1].dtype;
    const unsigned vector =
        from == to ? CUDA_VECTOR_BYTES / (unsigned)assay_dtype_bytes(from) : CUDA_CAST_VECTOR;
    const unsigned unroll = from == to ? 1 : CUDA_CAST_UNROLL;
    cuda_span span = cuda_span_of(launch->operands, 2, vector);
    cuda_grid grid = {.groups = {1, 1, 1}, .threads = {CUDA_CAST_BLOCK, 1, 1}};
    void *arguments[] = {&span.address[0], &span.address[1], &span.lo, &span.hi};
    CUfunction function;

    if (span.lo == span.hi)
        return ASSAY_OK;
    ASSAY_TRY(cuda_function(launch->instance, &cuda_image_cast,
                            names[cuda_type_index(from)][cuda_type_index(to)][span.vector == 1],
                            &function));
    grid.groups[0] = cuda_parts_of(span.hi, (uint64_t)CUDA_CAST_BLOCK * unroll * span.vector);
    return cuda_enqueue(launch, function, &grid, arguments);
}
