/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_judge.c -- launches of cuda_judge.cu: for each unary op that this plug-in has
 * kernels of. */
#include "backends/cuda/cuda_judge.h"

#include <stddef.h>
#include <stdio.h>

#include "backends/cuda/cuda_images.h"
#include "backends/cuda/cuda_instance.h"
#include "backends/cuda/cuda_vectors.h"
#include "backends/cuda/kernels/cuda_judge_shape.h"

_Static_assert(ASSAY_JUDGE_BATCH == CUDA_JUDGE_BATCH, "a batch is a workgroup's");
_Static_assert(sizeof(assay_judged) == JUDGED_WORDS * 8 &&
                   offsetof(assay_judged, max_dist) == JUDGED_MAX_DIST * 8 &&
                   offsetof(assay_judged, sum_part) == JUDGED_SUM_PART * 8 &&
                   offsetof(assay_judged, digest) == JUDGED_DIGEST * 8 &&
                   offsetof(assay_judged, listed) == JUDGED_LISTED * 8 &&
                   offsetof(assay_judged, bins) == JUDGED_BINS * 8,
               "a record is one of words");

static const char *name_of(uint8_t dtype)
{
    return dtype == ASSAY_F32    ? "f32"
           : dtype == ASSAY_F16  ? "f16"
           : dtype == ASSAY_BF16 ? "bf16"
                                 : NULL;
}

/* The function's name; false: there is none. */
static bool function_name(const assay_problem *p, char *buf, size_t cap)
{
    const char *op = p->op == ASSAY_OP_relu   ? "relu"
                     : p->op == ASSAY_OP_gelu ? "gelu"
                     : p->op == ASSAY_OP_exp  ? "exp"
                     : p->op == ASSAY_OP_cast ? "cast"
                                              : NULL;

    if (op == NULL || name_of(p->dtypes[0]) == NULL || name_of(p->dtypes[1]) == NULL)
        return false;
    (void)snprintf(buf, cap, "judge_%s_%s_%s", op, name_of(p->dtypes[0]), name_of(p->dtypes[1]));
    return true;
}

static assay_status check(const assay_launch *launch, uint32_t operands, uint32_t tunables,
                          int64_t n)
{
    if (launch->operand_count != operands || launch->tunables == NULL ||
        launch->tunable_count != tunables || launch->tunables[0] < 0 || n < ASSAY_JUDGE_BATCH ||
        n % ASSAY_JUDGE_BATCH != 0 || launch->tunables[0] % ASSAY_JUDGE_BATCH != 0)
        return cuda_fail(launch->instance, ASSAY_INVALID,
                         "judge: needs whole batches of %d, %u operands and %u tunables",
                         ASSAY_JUDGE_BATCH, operands, tunables);
    return ASSAY_OK;
}

/* Workgroups that fill the device, or one for each of `parts` if those are fewer. */
static uint64_t groups_of(const assay_launch *launch, uint64_t parts)
{
    const uint64_t most =
        CUDA_JUDGE_GROUPS * (uint64_t)cuda_device_limits(launch->instance)->multiprocessors;

    return parts < most ? parts : most;
}

static assay_status enqueue(const assay_launch *launch, const char *name, uint64_t parts,
                            void **arguments)
{
    const cuda_grid grid = {.groups = {groups_of(launch, parts), 1, 1},
                            .threads = {CUDA_JUDGE_BLOCK, 1, 1}};
    CUfunction function;

    ASSAY_TRY(cuda_function(launch->instance, &cuda_image_judge, name, &function));
    return cuda_enqueue(launch, function, &grid, arguments);
}

static assay_status run_patterns(const assay_launch *launch)
{
    const assay_tensor *x = &launch->operands[0], *y = &launch->operands[1];

    ASSAY_TRY(check(launch, 2, 1, x->dims[0]));
    CUdeviceptr x_at = cuda_address(x), y_at = cuda_address(y);
    uint64_t x_bytes = assay_dtype_bytes(x->dtype), y_bytes = assay_dtype_bytes(y->dtype);
    uint64_t first = (uint64_t)launch->tunables[0], n = (uint64_t)x->dims[0];
    void *arguments[] = {&x_at, &x_bytes, &y_at, &y_bytes, &first, &n};

    return enqueue(launch, "judge_patterns", n / CUDA_JUDGE_BATCH, arguments);
}

/* A thread counts in 16 bits; what lies behind the record is another's. */
static assay_status check_room(const assay_launch *launch, uint64_t batches, uint64_t capacity)
{
    const uint64_t groups = groups_of(launch, batches);
    const uint64_t each = (batches + groups - 1) / groups * (CUDA_JUDGE_BATCH / CUDA_JUDGE_BLOCK);
    const uint64_t bytes = (uint64_t)launch->operands[1].dims[0];
    const uint64_t places = bytes < sizeof(assay_judged)
                                ? 0
                                : (bytes - sizeof(assay_judged)) / sizeof(assay_judged_element);

    if (each > UINT16_MAX || bytes < sizeof(assay_judged) || capacity > places)
        return cuda_fail(launch->instance, ASSAY_INVALID,
                         "judge: %llu batches are too many for one launch, or the record has no "
                         "place for %llu elements",
                         (unsigned long long)batches, (unsigned long long)capacity);
    return ASSAY_OK;
}

static assay_status run_judge(const assay_launch *launch)
{
    char name[64];

    ASSAY_TRY(check(launch, 3, 3, launch->operands[0].dims[0]));
    if (!function_name(launch->problem, name, sizeof name))
        return cuda_fail(launch->instance, ASSAY_UNSUPPORTED, "judge: no reference for this op");
    CUdeviceptr y = cuda_address(&launch->operands[0]), record = cuda_address(&launch->operands[1]);
    CUdeviceptr best = cuda_address(&launch->operands[2]);
    uint64_t first = (uint64_t)launch->tunables[0], limit = (uint64_t)launch->tunables[1];
    uint64_t capacity = (uint64_t)launch->tunables[2];
    uint64_t batches = (uint64_t)launch->operands[0].dims[0] / CUDA_JUDGE_BATCH;
    ASSAY_TRY(check_room(launch, batches, capacity));
    void *arguments[] = {&y, &first, &batches, &record, &best, &limit, &capacity};

    return enqueue(launch, name, batches, arguments);
}

assay_status cuda_judge(assay_instance *instance, assay_judge *judge)
{
    const assay_problem *p = judge->problem;
    char name[64];

    if (p == NULL || !function_name(p, name, sizeof name))
        return cuda_fail(instance, ASSAY_UNSUPPORTED,
                         "judge: there are references of relu, gelu, exp and cast, in f32, f16 and "
                         "bf16");
    judge->patterns = run_patterns;
    judge->judge = run_judge;
    return ASSAY_OK;
}
