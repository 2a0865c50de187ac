/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_judge.c -- the kernels of cuda_judge.cu by functions of the host. */
#include <math.h>
#include <stddef.h>

#include "backends/cuda/kernels/cuda_judge_point.h"
#include "backends/cuda/kernels/cuda_judge_shape.h"
#include "tests/fake_cuda/fake_cuda_state.h"
#include "tests/support/judge_host.h"

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static CUresult patterns(const uint64_t *a)
{
    if (fake_find(at(a[0]), a[5] * a[1]) == NULL || fake_find(at(a[2]), a[5] * a[3]) == NULL)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    judge_host_patterns(at(a[0]), a[1], at(a[2]), a[3], a[4], a[5]);
    return CUDA_SUCCESS;
}

static CUresult judge(const uint64_t *a, int op, int in, int out)
{
    const judge_host_task task = {.op = op,
                                  .in = in,
                                  .out = out,
                                  .y = at(a[0]),
                                  .first = a[1],
                                  .batches = a[2],
                                  .record = at(a[3]),
                                  .best = at(a[4]),
                                  .limit = a[5],
                                  .capacity = a[6]};
    const size_t bytes = a[2] * CUDA_JUDGE_BATCH * (out == JUDGE_F32 ? 4 : 2);

    if (fake_find(task.y, bytes) == NULL ||
        fake_find(task.record, JUDGED_WORDS * 8 + a[6] * 16) == NULL ||
        fake_find(task.best, JUDGE_BESTS * 8) == NULL)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    judge_host_run(&task);
    return CUDA_SUCCESS;
}

#define JUDGES(X)             \
    X(relu, RELU, f32, f32)   \
    X(relu, RELU, f16, f16)   \
    X(relu, RELU, bf16, bf16) \
    X(gelu, GELU, f32, f32)   \
    X(gelu, GELU, f16, f16)   \
    X(gelu, GELU, bf16, bf16) \
    X(exp, EXP, f32, f32)     \
    X(exp, EXP, f16, f16)     \
    X(exp, EXP, bf16, bf16)   \
    X(cast, CAST, f32, f32)   \
    X(cast, CAST, f16, f16)   \
    X(cast, CAST, bf16, bf16) \
    X(cast, CAST, f32, f16)   \
    X(cast, CAST, f32, bf16)  \
    X(cast, CAST, f16, f32)   \
    X(cast, CAST, f16, bf16)  \
    X(cast, CAST, bf16, f32)  \
    X(cast, CAST, bf16, f16)

enum { TYPE_f32 = JUDGE_F32, TYPE_f16 = JUDGE_F16, TYPE_bf16 = JUDGE_BF16 };
#define X(name, op, in, out)                                               \
    static CUresult judge_##name##_##in##_##out(const uint64_t *arguments) \
    {                                                                      \
        return judge(arguments, JUDGE_##op, TYPE_##in, TYPE_##out);        \
    }
JUDGES(X)
#undef X

const fake_kernel fake_judges[] = {{"judge_patterns", 6, patterns, false, 0},
#define X(name, op, in, out) \
    {"judge_" #name "_" #in "_" #out, 7, judge_##name##_##in##_##out, false, 0},
                                   JUDGES(X)
#undef X
                                       {NULL, 0, NULL, false, 0}};
