/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_kernel_fill.c -- launches of cuda_fill.cu, for products without terms. */
#include "backends/cuda/cuda_fill.h"
#include "backends/cuda/cuda_images.h"
#include "backends/cuda/cuda_vectors.h"
#include "backends/cuda/kernels/cuda_shapes.h"
#include "backends/matmul_scale.h"

enum { MOST_GROUPS = 65535 }; /* of a grid's second and third dimension */

/* As cuda_fill.cu declares it. */
typedef struct fill_place {
    uint64_t batch, m, n, ld, step;
} fill_place;

static fill_place place_of(const matmul_launch *g)
{
    return (fill_place){(uint64_t)g->batch, (uint64_t)g->m, (uint64_t)g->n, (uint64_t)g->ldc,
                        (uint64_t)g->c_step};
}

static uint64_t at_most(uint64_t n)
{
    return n < MOST_GROUPS ? n : MOST_GROUPS;
}

static assay_status enqueue(const assay_launch *launch, const char *name, const fill_place *place,
                            void **arguments)
{
    const cuda_grid grid = {
        .groups = {cuda_parts_of(place->n, CUDA_FILL_BLOCK), at_most(place->m),
                   at_most(place->batch)},
        .threads = {CUDA_FILL_BLOCK, 1, 1},
    };
    CUfunction function;

    if (place->batch == 0 || place->m == 0 || place->n == 0)
        return ASSAY_OK;
    ASSAY_TRY(cuda_function(launch->instance, &cuda_image_fill, name, &function));
    return cuda_enqueue(launch, function, &grid, arguments);
}

assay_status cuda_fill_scale(const assay_launch *launch, const matmul_launch *g)
{
    const assay_tensor *c = &launch->operands[launch->operand_count - 1];
    static const char *const names[CUDA_TYPES] = {"scale_f32", "scale_f16", "scale_bf16"};
    const char *name = c->dtype == ASSAY_F64 ? "scale_f64" : names[cuda_type_index(c->dtype)];
    CUdeviceptr address = cuda_address(c);
    fill_place place = place_of(g);
    double beta = g->beta;
    int reads = !matmul_factor_is_zero(beta, c->dtype);
    void *arguments[] = {&address, &place, &beta, &reads};

    return enqueue(launch, name, &place, arguments);
}

assay_status cuda_fill_bias(const assay_launch *launch, const matmul_launch *g)
{
    const assay_tensor *bias = &launch->operands[2], *y = &launch->operands[3];
    const size_t bytes = assay_dtype_bytes(y->dtype);
    CUdeviceptr from = cuda_address(bias), to = cuda_address(y);
    fill_place place = place_of(g);
    void *arguments[] = {&from, &to, &place};

    return enqueue(launch,
                   bytes == 8   ? "rows_8"
                   : bytes == 4 ? "rows_4"
                                : "rows_2",
                   &place, arguments);
}
