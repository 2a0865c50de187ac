/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/judge_slot.c -- see judge_slot.h. */
#include "tests/support/judge_slot.h"

#include <math.h>

#include "backends/cuda/kernels/cuda_judge_point.h"
#include "runtime/error.h"
#include "tests/support/judge_host.h"

void (*judge_host_lie)(assay_judged *record);

static int type_of(uint8_t dtype)
{
    return dtype == ASSAY_F32    ? JUDGE_F32
           : dtype == ASSAY_F16  ? JUDGE_F16
           : dtype == ASSAY_BF16 ? JUDGE_BF16
                                 : JUDGE_TYPES;
}

static int op_of(const assay_problem *p)
{
    return p->op == ASSAY_OP_relu   ? JUDGE_RELU
           : p->op == ASSAY_OP_gelu ? JUDGE_GELU
           : p->op == ASSAY_OP_exp  ? JUDGE_EXP
           : p->op == ASSAY_OP_cast ? JUDGE_CAST
                                    : JUDGE_OPS;
}

static assay_status run_patterns(const assay_launch *launch)
{
    const assay_tensor *x = &launch->operands[0], *y = &launch->operands[1];

    judge_host_patterns(assay_tensor_data(x), assay_dtype_bytes(x->dtype), assay_tensor_data(y),
                        assay_dtype_bytes(y->dtype), (uint64_t)launch->tunables[0],
                        (uint64_t)x->dims[0]);
    return ASSAY_OK;
}

static assay_status run_judge(const assay_launch *launch)
{
    const assay_problem *p = launch->problem;
    const judge_host_task task = {.op = op_of(p),
                                  .in = type_of(p->dtypes[0]),
                                  .out = type_of(p->dtypes[1]),
                                  .y = assay_tensor_data(&launch->operands[0]),
                                  .first = (uint64_t)launch->tunables[0],
                                  .batches =
                                      (uint64_t)assay_problem_int(p, "n") / ASSAY_JUDGE_BATCH,
                                  .record = assay_tensor_data(&launch->operands[1]),
                                  .best = assay_tensor_data(&launch->operands[2]),
                                  .limit = (uint64_t)launch->tunables[1],
                                  .capacity = (uint64_t)launch->tunables[2]};

    judge_host_run(&task);
    if (judge_host_lie != NULL)
        judge_host_lie(assay_tensor_data(&launch->operands[1]));
    return ASSAY_OK;
}

assay_status judge_host_slot(assay_instance *instance, assay_judge *judge)
{
    const assay_problem *p = judge->problem;

    (void)instance;
    if (op_of(p) == JUDGE_OPS || type_of(p->dtypes[0]) == JUDGE_TYPES ||
        type_of(p->dtypes[1]) == JUDGE_TYPES)
        return assay__fail(ASSAY_UNSUPPORTED, "no reference on this device");
    judge->patterns = run_patterns;
    judge->judge = run_judge;
    return ASSAY_OK;
}
