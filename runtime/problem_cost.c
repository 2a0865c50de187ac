/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/problem_cost.c -- Layer-1 counts of a problem from the catalogue's expressions. */
#include "runtime/problem_cost.h"

#include <math.h>
#include <string.h>

#include "runtime/error.h"

static int resolve(const void *context, const char *name)
{
    const assay_op_info *info = context;

    return assay_op_param_index(info->id, name);
}

assay_status assay__problem_expr(const assay_op_info *info, const char *text, assay__expr *out)
{
    const assay__expr_scope scope = {.resolve = resolve,
                                     .context = info,
                                     .dtype_count = info->inputs + info->outputs,
                                     .known = "the op's parameters"};

    return assay__expr_compile(text, &scope, out);
}

bool assay__problem_eval(const assay_problem *p, const assay__expr *e, double *out)
{
    double slots[ASSAY_MAX_PARAMS], bytes[ASSAY_MAX_OPERANDS] = {0};

    for (size_t i = 0; i < p->param_count; i++)
        slots[i] = assay_problem_value(p, i);
    for (size_t i = 0; i < p->dtype_count; i++)
        bytes[i] = (double)assay_dtype_bytes((assay_dtype)p->dtypes[i]);
    return assay__expr_eval(e, slots, bytes, out);
}

static bool eval_text(const assay_problem *p, const char *text, double *out)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);
    assay__expr e;

    return info != NULL && text != NULL && assay__problem_expr(info, text, &e) == ASSAY_OK &&
           assay__problem_eval(p, &e, out);
}

bool assay_problem_flops(const assay_problem *p, double *out)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);

    return info != NULL && eval_text(p, info->flops, out);
}

bool assay_problem_bytes(const assay_problem *p, double *out)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);

    return info != NULL && eval_text(p, info->bytes, out);
}

bool assay__layer1_floor_ns(const assay_problem *p, double flops_per_ns, double bytes_per_ns,
                            double *out)
{
    double flops, bytes, compute, memory;

    if (!assay_problem_flops(p, &flops) || !assay_problem_bytes(p, &bytes))
        return false;
    if (!(flops_per_ns > 0) || !(bytes_per_ns > 0))
        return false;
    compute = flops / flops_per_ns;
    memory = bytes / bytes_per_ns;
    *out = compute > memory ? compute : memory;
    return true;
}
