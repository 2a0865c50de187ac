/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_kernel_sum.c -- launches of cuda_sum.cu: one grid, or parts and their sums.
 *
 * Sums of parts are f32 in memory, summed by the same kernels in a second grid. */
#include "backends/cuda/cuda_images.h"
#include "backends/cuda/cuda_kernels.h"
#include "backends/cuda/cuda_vectors.h"
#include "backends/cuda/kernels/cuda_shapes.h"

enum { WARP = 32, SHORT_BLOCK = 128, BLOCKS_A_UNIT = 8, LEAST_PART = 64 };

/* By source and result, where either is f32 or both are the same. */
#define NAMES(stem, suffix)                                                        \
    {                                                                              \
        {stem "_f32_f32" suffix, stem "_f32_f16" suffix, stem "_f32_bf16" suffix}, \
            {stem "_f16_f32" suffix, stem "_f16_f16" suffix, NULL},                \
        {                                                                          \
            stem "_bf16_f32" suffix, NULL, stem "_bf16_bf16" suffix                \
        }                                                                          \
    }
static const char *const row_names[CUDA_TYPES][CUDA_TYPES] = NAMES("sum_rows", "");
static const char *const column_names[2][CUDA_TYPES][CUDA_TYPES] = {
    NAMES("sum_columns", ""), NAMES("sum_columns", "_single")};

/* x[outer, axis, inner] of type `from` to y[outer, parts, inner] of type `to`. */
typedef struct sum_job {
    CUdeviceptr x, y;
    assay_dtype from, to;
    uint64_t outer, axis, inner, parts;
} sum_job;

static uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t vector_of(const sum_job *job)
{
    return CUDA_VECTOR_BYTES / assay_dtype_bytes(job->from);
}

/* ---- along the last extent ---------------------------------------------------------------------
 */

/* As cuda_sum.cu declares it. */
typedef struct rows_place {
    CUdeviceptr x, y;
    uint64_t rows, cols, parts, length;
} rows_place;

/* Threads of a group: four vectors each, a power of two up to a warp or whole warps. */
static uint64_t lanes_for(uint64_t vectors)
{
    const uint64_t wanted = cuda_parts_of(vectors, CUDA_SUM_UNROLL);
    uint64_t lanes = 1;

    if (wanted > WARP)
        return min_of(cuda_parts_of(wanted, WARP) * WARP, CUDA_SUM_BLOCK);
    while (lanes < wanted)
        lanes *= 2;
    return lanes;
}

static assay_status enqueue_rows(const assay_launch *launch, const sum_job *job)
{
    const uint64_t vector = vector_of(job);
    rows_place place = {job->x, job->y, job->outer, job->axis, job->parts, 0};
    CUfunction function;
    void *arguments[] = {&place};

    place.length = cuda_parts_of(cuda_parts_of(job->axis, job->parts), vector) * vector;
    /* A row that begins between vectors touches one more. */
    const uint64_t lanes = lanes_for(place.length / vector + 1);
    const uint64_t together = lanes <= WARP ? SHORT_BLOCK / lanes : 1;
    const cuda_grid grid = {
        .groups = {cuda_parts_of(job->outer * job->parts, together), 1, 1},
        .threads = {(uint32_t)lanes, (uint32_t)together, 1},
    };
    ASSAY_TRY(cuda_function(launch->instance, &cuda_image_sum,
                            row_names[cuda_type_index(job->from)][cuda_type_index(job->to)],
                            &function));
    return cuda_enqueue(launch, function, &grid, arguments);
}

/* ---- along an earlier extent -------------------------------------------------------------------
 */

typedef struct columns_place {
    CUdeviceptr x, y;
    uint64_t outer, axis, inner, parts, length;
} columns_place;

/* Vectors where all lines begin with one and enough of them lie side by side. */
static bool has_vectors(const sum_job *job)
{
    return job->x % CUDA_VECTOR_BYTES == 0 && job->inner % vector_of(job) == 0 &&
           job->inner >= WARP / 2 * vector_of(job);
}

static uint64_t tiles_of(const sum_job *job)
{
    return cuda_parts_of(job->inner, CUDA_SUM_COLUMNS * (has_vectors(job) ? vector_of(job) : 1));
}

static assay_status enqueue_columns(const assay_launch *launch, const sum_job *job)
{
    columns_place place = {job->x,
                           job->y,
                           job->outer,
                           job->axis,
                           job->inner,
                           job->parts,
                           cuda_parts_of(job->axis, job->parts)};
    const cuda_grid grid = {.groups = {job->outer * job->parts * tiles_of(job), 1, 1},
                            .threads = {CUDA_SUM_COLUMNS, CUDA_SUM_BLOCK / CUDA_SUM_COLUMNS, 1}};
    const char *name =
        column_names[!has_vectors(job)][cuda_type_index(job->from)][cuda_type_index(job->to)];
    CUfunction function;
    void *arguments[] = {&place};

    ASSAY_TRY(cuda_function(launch->instance, &cuda_image_sum, name, &function));
    return cuda_enqueue(launch, function, &grid, arguments);
}

/* ---- both --------------------------------------------------------------------------------------
 */

static assay_status enqueue(const assay_launch *launch, const sum_job *job)
{
    return job->inner == 1 ? enqueue_rows(launch, job) : enqueue_columns(launch, job);
}

/* As many as fill the device, of which none is without work. */
static uint64_t parts_for(const assay_launch *launch, const sum_job *job)
{
    const int units = cuda_device_limits(launch->instance)->multiprocessors;
    const uint64_t wanted = (uint64_t)(units > 0 ? units : 1) * BLOCKS_A_UNIT;
    const bool are_rows = job->inner == 1;
    const uint64_t blocks = are_rows ? job->outer : job->outer * tiles_of(job);
    const uint64_t least =
        are_rows ? vector_of(job) * CUDA_SUM_BLOCK * CUDA_SUM_UNROLL : LEAST_PART;

    return blocks * 2 >= wanted || job->axis < 2 * least
               ? 1
               : min_of(cuda_parts_of(wanted, blocks), cuda_parts_of(job->axis, least));
}

static sum_job job_of(const assay_launch *launch)
{
    const assay_tensor *x = &launch->operands[0], *y = &launch->operands[1];

    return (sum_job){.x = cuda_address(x),
                     .y = cuda_address(y),
                     .from = x->dtype,
                     .to = y->dtype,
                     .outer = (uint64_t)x->dims[0],
                     .axis = (uint64_t)x->dims[1],
                     .inner = (uint64_t)x->dims[2],
                     .parts = 1};
}

assay_status cuda_sum_reduce(const assay_launch *launch)
{
    const int64_t given = launch->tunables[CUDA_SUM_TUNABLE_PARTS];
    sum_job whole = job_of(launch);

    if (whole.outer == 0 || whole.inner == 0)
        return ASSAY_OK;
    uint64_t parts = given > 0 ? (uint64_t)given : parts_for(launch, &whole);
    if (parts <= 1)
        return enqueue(launch, &whole);
    sum_job first = whole, second = whole;
    first.parts = second.axis = parts;
    first.to = second.from = ASSAY_F32;
    ASSAY_TRY(cuda_workspace(launch, (size_t)(whole.outer * parts * whole.inner * sizeof(float)),
                             &first.y));
    second.x = first.y;
    ASSAY_TRY(enqueue(launch, &first));
    return enqueue(launch, &second);
}
