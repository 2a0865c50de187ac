/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/unary_launch.c -- see unary_launch.h. */
#include "calibrate/unary_launch.h"

#include "runtime/error.h"
#include "runtime/table_internal.h"

#include <string.h>

#define EXTENT   "n"
#define TAIL_MAX 63 /* elements of the short piece, at most */

assay_status assay__unary_problem(const assay_problem *from, assay_problem *out)
{
    const assay_op_info *info = assay_op_get((assay_op_id)from->op);
    assay_problem p = *from;

    if (info->family != ASSAY_FAMILY_ELEMENTWISE_UNARY || info->inputs != 1)
        return assay__fail(ASSAY_UNSUPPORTED,
                           "%s: only elementwise ops of one input are run over "
                           "all inputs",
                           info->name);
    for (size_t i = 0; i < info->param_count; i++)
        if (info->params[i].klass == ASSAY_SHAPE && strcmp(info->params[i].name, EXTENT) != 0)
            return assay__fail(ASSAY_UNSUPPORTED, "%s: its results depend on the shape (%s)",
                               info->name, info->params[i].name);
    if (assay__exhaustive_batches((assay_dtype)p.dtypes[0]) == 0)
        return assay__fail(ASSAY_UNSUPPORTED, "%s: %s has too many values to run over all of them",
                           info->name, assay_dtype_name((assay_dtype)p.dtypes[0]));
    ASSAY_TRY(assay_problem_set_int(
        &p, EXTENT, (int64_t)1 << (8 * assay_dtype_bytes((assay_dtype)p.dtypes[0]))));
    ASSAY_TRY(assay_problem_check(&p));
    *out = p;
    return ASSAY_OK;
}

assay_status assay__unary_prepare(const assay_unary_launch *l, const void *x, void *y, size_t n,
                                  assay_problem *problem, assay_tensor operands[2],
                                  assay_launch *out)
{
    const int64_t extent = (int64_t)n;
    void *in;

    memcpy(&in, &x, sizeof in); /* tensors are not const; inputs are only read */
    *problem = l->problem;
    ASSAY_TRY(assay_problem_set_int(problem, EXTENT, extent));
    ASSAY_TRY(
        assay_tensor_host(in, (assay_dtype)problem->dtypes[0], 1, &extent, NULL, &operands[0]));
    ASSAY_TRY(
        assay_tensor_host(y, (assay_dtype)problem->dtypes[1], 1, &extent, NULL, &operands[1]));
    *out = (assay_launch){.struct_size = sizeof *out,
                          .operand_count = 2,
                          .problem = problem,
                          .operands = operands,
                          .tunables = l->tunables,
                          .instance = l->backend->instance};
    return ASSAY_OK;
}

static assay_status launch_piece(const assay_unary_launch *l, const void *x, void *y, size_t n)
{
    assay_problem problem;
    assay_tensor operands[2];
    assay_launch launch;

    ASSAY_TRY(assay__unary_prepare(l, x, y, n, &problem, operands, &launch));
    assay_status status = assay__backend_launch(l->backend, l->kernel->run, &launch);
    if (status == ASSAY_OK)
        status = assay__backend_synchronize(l->backend);
    return assay__backend_blame(status);
}

/* Does the kernel admit n elements? */
static bool admits(const assay_unary_launch *l, size_t n)
{
    const assay_kernel_desc *k = l->kernel;
    assay_problem p = l->problem;
    assay__expr e;

    if (assay_problem_set_int(&p, EXTENT, (int64_t)n) != ASSAY_OK)
        return false;
    if (k->can_run_fn != NULL && !k->can_run_fn(&p, l->tunables))
        return false;
    return k->can_run == NULL || (assay__row_expr_compile(k, k->can_run, false, &e) == ASSAY_OK &&
                                  assay__row_expr_holds(&e, &p, NULL, 0));
}

/* By the values alone, so it is the same for every run. */
assay_status assay__unary_tail(const assay_unary_launch *l, uint64_t first_pattern, size_t n,
                               size_t *out)
{
    const size_t tail = 1 + (size_t)((first_pattern * 0x9e3779b97f4a7c15u) >> 32) % TAIL_MAX;

    *out = 0;
    if (tail < n && admits(l, n - tail) && admits(l, tail))
        *out = tail;
    else if (!admits(l, n))
        return assay__fail(ASSAY_UNSUPPORTED, "%s does not take n=%zu", l->kernel->name, n);
    return ASSAY_OK;
}

static assay_status run_kernel(void *cookie, const void *x, void *y, size_t n)
{
    const assay_unary_launch *l = cookie;
    const size_t in = assay_dtype_bytes((assay_dtype)l->problem.dtypes[0]);
    const size_t out = assay_dtype_bytes((assay_dtype)l->problem.dtypes[1]);
    _Alignas(64) unsigned char tail_x[4 * TAIL_MAX], tail_y[8 * TAIL_MAX];
    uint64_t first = 0;
    size_t tail;

    memcpy(&first, x, in);
    ASSAY_TRY(assay__unary_tail(l, first, n, &tail));
    const size_t head = n - tail;
    ASSAY_TRY(launch_piece(l, x, y, head));
    if (tail == 0)
        return ASSAY_OK;
    memcpy(tail_x, (const unsigned char *)x + head * in, tail * in);
    memcpy(tail_y, (unsigned char *)y + head * out, tail * out); /* the poison */
    ASSAY_TRY(launch_piece(l, tail_x, tail_y, tail));
    memcpy((unsigned char *)y + head * out, tail_y, tail * out);
    return ASSAY_OK;
}

static assay_status run_oracle(void *cookie, const void *x, size_t n, double *hi, double *lo,
                               double *bound)
{
    const assay_unary_launch *l = cookie;
    const assay_wide wide = {.hi = hi, .lo = lo, .bound = bound, .count = (int64_t)n};
    assay_problem problem;
    assay_tensor operands[2];
    assay_launch launch;
    uint64_t nothing = 0; /* the oracle reads no output of a unary op */

    ASSAY_TRY(assay__unary_prepare(l, x, &nothing, n, &problem, operands, &launch));
    launch.tunables = NULL;
    launch.instance = NULL;
    return l->oracle->wide(&launch, 1, &wide);
}

assay__unary assay__unary_of(const assay_unary_launch *launch)
{
    void *cookie;

    memcpy(&cookie, &launch, sizeof cookie); /* the callbacks only read it */
    return (assay__unary){.input = (assay_dtype)launch->problem.dtypes[0],
                          .output = (assay_dtype)launch->problem.dtypes[1],
                          .kernel = run_kernel,
                          .wide = run_oracle,
                          .kernel_cookie = cookie,
                          .wide_cookie = cookie,
                          .fetch = launch->is_apart ? assay__unary_fetch : NULL,
                          .piece = launch->piece,
                          .rooms = {launch->rooms[0], launch->rooms[1]}};
}
