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

/* A launch over n elements; x and y as the tensors of a caller would be. */
static assay_status prepare(const assay_unary_launch *l, const void *x, void *y, size_t n,
                            assay_problem *problem, assay_tensor operands[2], assay_launch *out)
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

/* ---- on a device apart ---- */

static uint64_t batch_bytes(const assay_unary_launch *l, size_t operand)
{
    return ASSAY_EXHAUSTIVE_BATCH * assay_dtype_bytes((assay_dtype)l->problem.dtypes[operand]);
}

assay_status assay__unary_bring(assay_unary_launch *l)
{
    assay_device_profile profile = {.struct_size = sizeof profile};

    assay_status status = assay__backend_device_profile(l->backend, 0, &profile);
    if (status == ASSAY_NOMEM || status == ASSAY_DEVICE_LOST)
        return status;
    if (status != ASSAY_OK) /* no kernel's fault */
        return assay__fail_context(ASSAY_UNAVAILABLE, "the device does not say what it is");
    if (!assay__profile_is_apart(&profile))
        return ASSAY_OK;
    ASSAY_TRY(assay__backend_alloc(l->backend, batch_bytes(l, 0), 64, &l->far[0]));
    status = assay__backend_alloc(l->backend, batch_bytes(l, 1), 64, &l->far[1]);
    if (status != ASSAY_OK)
        (void)assay__backend_free(l->backend, l->far[0]);
    l->is_apart = status == ASSAY_OK;
    return status;
}

void assay__unary_leave(assay_unary_launch *l)
{
    for (size_t i = 0; l->is_apart && i < 2; i++)
        (void)assay__backend_free(l->backend, l->far[i]);
    l->is_apart = false;
}

/* Handles in place of addresses, with what lies there brought over, the poison of outputs too. */
static assay_status bring_piece(const assay_unary_launch *l, assay_transfer pieces[2],
                                assay_tensor operands[2])
{
    for (size_t i = 0; i < 2; i++) {
        pieces[i] = (assay_transfer){.buffer = l->far[i],
                                     .host = assay_tensor_data(&operands[i]),
                                     .bytes = (uint64_t)operands[i].dims[0] *
                                              assay_dtype_bytes(operands[i].dtype)};
        operands[i].buffer = l->far[i];
    }
    return assay__backend_upload(l->backend, pieces, 2);
}

static assay_status launch_piece(const assay_unary_launch *l, const void *x, void *y, size_t n)
{
    assay_transfer pieces[2];
    assay_problem problem;
    assay_tensor operands[2];
    assay_launch launch;

    ASSAY_TRY(prepare(l, x, y, n, &problem, operands, &launch));
    if (l->is_apart)
        ASSAY_TRY(bring_piece(l, pieces, operands));
    assay_status status = assay__backend_launch(l->backend, l->kernel->run, &launch);
    if (status == ASSAY_OK)
        status = assay__backend_synchronize(l->backend);
    if (status == ASSAY_OK && l->is_apart)
        status = assay__backend_download(l->backend, &pieces[1], 1);
    /* Who else uses the device takes from its memory: that is no fault of the kernel's. */
    return l->is_apart && status == ASSAY_NOMEM ? status : assay__backend_blame(status);
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

/* Length of the short piece: depends on the values alone, so it is the same for every run. */
static size_t tail_of(const void *x, size_t bytes, size_t n)
{
    uint64_t first = 0;

    memcpy(&first, x, bytes);
    size_t tail = 1 + (size_t)((first * 0x9e3779b97f4a7c15u) >> 32) % TAIL_MAX;
    return tail < n ? tail : 0;
}

static assay_status run_kernel(void *cookie, const void *x, void *y, size_t n)
{
    const assay_unary_launch *l = cookie;
    size_t in = assay_dtype_bytes((assay_dtype)l->problem.dtypes[0]);
    size_t out = assay_dtype_bytes((assay_dtype)l->problem.dtypes[1]);
    size_t tail = tail_of(x, in, n);
    _Alignas(64) unsigned char tail_x[4 * TAIL_MAX], tail_y[8 * TAIL_MAX];

    if (tail > 0 && (!admits(l, n - tail) || !admits(l, tail)))
        tail = 0;
    if (tail == 0 && !admits(l, n))
        return assay__fail(ASSAY_UNSUPPORTED, "%s does not take n=%zu", l->kernel->name, n);
    size_t head = n - tail;
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

    ASSAY_TRY(prepare(l, x, &nothing, n, &problem, operands, &launch));
    launch.tunables = NULL;
    launch.instance = NULL;
    return l->oracle->wide(&launch, 1, &wide);
}

assay_unary assay__unary_of(const assay_unary_launch *launch)
{
    void *cookie;

    memcpy(&cookie, &launch, sizeof cookie); /* the callbacks only read it */
    return (assay_unary){.input = (assay_dtype)launch->problem.dtypes[0],
                         .output = (assay_dtype)launch->problem.dtypes[1],
                         .kernel = run_kernel,
                         .wide = run_oracle,
                         .kernel_cookie = cookie,
                         .wide_cookie = cookie};
}
