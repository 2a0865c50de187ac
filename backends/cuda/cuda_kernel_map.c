/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_kernel_map.c -- launches of cuda_map.cu: element by element. */
#include "backends/cuda/cuda_images.h"
#include "backends/cuda/cuda_kernels.h"
#include "backends/cuda/cuda_vectors.h"
#include "backends/cuda/kernels/cuda_shapes.h"

typedef struct map_op {
    const char *names[2][CUDA_TYPES]; /* by vectors; one by one */
    const char *function;             /* option for the compiler at run time; NULL: addition */
} map_op;

#define NAMES(op)                                                 \
    {                                                             \
        {op "_f32", op "_f16", op "_bf16"},                       \
        {                                                         \
            op "_f32_single", op "_f16_single", op "_bf16_single" \
        }                                                         \
    }

static const map_op add_op = {NAMES("add"), NULL};
static const map_op relu_op = {NAMES("relu"), "-DCUDA_MAP_FUNCTION=cuda_relu"};
static const map_op gelu_op = {NAMES("gelu"), "-DCUDA_MAP_FUNCTION=cuda_gelu"};
static const map_op gelu_fast_op = {NAMES("gelu_fast"), "-DCUDA_MAP_FUNCTION=cuda_gelu_fast"};
static const map_op exp_op = {NAMES("exp"), "-DCUDA_MAP_FUNCTION=cuda_exp"};
static const map_op exp_fast_op = {NAMES("exp_fast"), "-DCUDA_MAP_FUNCTION=cuda_exp_fast"};

/* threads a block, loads a thread. */
static assay_status enqueue(const assay_launch *launch, CUfunction function, cuda_span *span,
                            uint32_t threads, uint32_t loads)
{
    const bool is_binary = launch->operand_count == 3;
    cuda_grid grid = {.groups = {1, 1, 1}, .threads = {threads, 1, 1}};
    void *arguments[] = {&span->address[0], &span->address[1], &span->address[2], &span->lo,
                         &span->hi};
    void *two[] = {&span->address[0], &span->address[1], &span->lo, &span->hi};

    grid.groups[0] = cuda_parts_of(span->hi, (uint64_t)threads * loads * span->vector);
    return cuda_enqueue(launch, function, &grid, is_binary ? arguments : two);
}

static cuda_span span_of(const assay_launch *launch)
{
    const assay_dtype t = launch->operands[0].dtype;

    return cuda_span_of(launch->operands, launch->operand_count,
                        CUDA_VECTOR_BYTES / (unsigned)assay_dtype_bytes(t));
}

static assay_status run(const assay_launch *launch, const map_op *op, cuda_span *span)
{
    const bool is_single = span->vector == 1;
    CUfunction function;

    ASSAY_TRY(cuda_function(launch->instance, &cuda_image_map,
                            op->names[is_single][cuda_type_index(launch->operands[0].dtype)],
                            &function));
    return enqueue(launch, function, span, CUDA_MAP_BLOCK,
                   is_single ? CUDA_MAP_SINGLES * CUDA_MAP_UNROLL : CUDA_MAP_UNROLL);
}

static assay_status run_built(const assay_launch *launch, const map_op *op)
{
    cuda_span span = span_of(launch);

    return span.lo == span.hi ? ASSAY_OK : run(launch, op, &span);
}

/* ---- compiled at run time ----------------------------------------------------------------------
 */

static const char *block_option(int64_t block)
{
    return block == 128   ? "-DCUDA_MAP_BLOCK=128"
           : block == 256 ? "-DCUDA_MAP_BLOCK=256"
                          : "-DCUDA_MAP_BLOCK=512";
}

static const char *unroll_option(int64_t unroll)
{
    return unroll == 1   ? "-DCUDA_MAP_UNROLL=1"
           : unroll == 2 ? "-DCUDA_MAP_UNROLL=2"
                         : "-DCUDA_MAP_UNROLL=4";
}

static assay_status run_compiled(const assay_launch *launch, const map_op *op)
{
    static const char *const types[CUDA_TYPES] = {
        "-DCUDA_MAP_TYPE=cuda_f32", "-DCUDA_MAP_TYPE=cuda_f16", "-DCUDA_MAP_TYPE=cuda_bf16"};
    const int64_t *t = launch->tunables;
    const char *const options[] = {CUDA_NO_CONTRACTION,
                                   types[cuda_type_index(launch->operands[0].dtype)],
                                   block_option(t[CUDA_MAP_TUNABLE_BLOCK]),
                                   unroll_option(t[CUDA_MAP_TUNABLE_UNROLL]),
                                   t[CUDA_MAP_TUNABLE_ONCE] != 0 ? "-DCUDA_MAP_ONCE=1"
                                                                 : "-DCUDA_MAP_ONCE=0",
                                   op->function,
                                   NULL};
    cuda_span span = span_of(launch);
    CUfunction function;

    if (span.lo == span.hi)
        return ASSAY_OK;
    /* Compiled are vectors alone. */
    if (span.vector == 1)
        return run(launch, op, &span);
    ASSAY_TRY(cuda_compiled(launch->instance, &cuda_source_map, options, "jit", &function));
    return enqueue(launch, function, &span, (uint32_t)t[CUDA_MAP_TUNABLE_BLOCK],
                   (uint32_t)t[CUDA_MAP_TUNABLE_UNROLL]);
}

#define ENTRIES(op)                                               \
    assay_status cuda_##op(const assay_launch *launch)            \
    {                                                             \
        return run_built(launch, &op##_op);                       \
    }                                                             \
    assay_status cuda_##op##_compiled(const assay_launch *launch) \
    {                                                             \
        return run_compiled(launch, &op##_op);                    \
    }

ENTRIES(add)
ENTRIES(relu)
ENTRIES(gelu)
ENTRIES(gelu_fast)
ENTRIES(exp)
ENTRIES(exp_fast)
