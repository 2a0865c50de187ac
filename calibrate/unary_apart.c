/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/unary_apart.c -- unary kernels on a device apart: inputs go there and outputs come back
 * in pieces that are long enough for the way not to count. */
#include "calibrate/unary_launch.h"

#include "runtime/error.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN 64

static size_t bytes_of(const assay_unary_launch *l, size_t operand)
{
    return l->piece * assay_dtype_bytes((assay_dtype)l->problem.dtypes[operand]);
}

/* ---- memory ---- */

/* Memory that the device reaches by itself, where there is such. */
static assay_status take_host(assay_unary_launch *l, size_t bytes, void **out)
{
    if (l->is_pinned)
        return assay__backend_host_alloc(l->backend, bytes, out);
    *out = aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN);
    return *out != NULL ? ASSAY_OK : assay__fail(ASSAY_NOMEM, "outputs of a device");
}

static void free_host(const assay_unary_launch *l, void **at)
{
    if (*at != NULL && l->is_pinned)
        (void)assay__backend_host_free(l->backend, *at);
    else
        free(*at);
    *at = NULL;
}

static assay_status take_rooms(assay_unary_launch *l)
{
    assay_status status = take_host(l, bytes_of(l, 0), &l->patterns);

    for (size_t i = 0; i < 2 && status == ASSAY_OK; i++)
        status = take_host(l, bytes_of(l, 1), &l->rooms[i]);
    return status;
}

static void free_rooms(assay_unary_launch *l)
{
    free_host(l, &l->patterns);
    free_host(l, &l->rooms[0]);
    free_host(l, &l->rooms[1]);
}

/* Pinned memory is scarce, and not every backend has it. */
static assay_status take_any_rooms(assay_unary_launch *l)
{
    l->is_pinned = true;
    if (take_rooms(l) == ASSAY_OK)
        return ASSAY_OK;
    free_rooms(l);
    l->is_pinned = false;
    assay_status status = take_rooms(l);
    if (status != ASSAY_OK)
        free_rooms(l);
    return status;
}

static assay_status take_far(assay_unary_launch *l)
{
    ASSAY_TRY(assay__backend_alloc(l->backend, bytes_of(l, 0), ALIGN, &l->far[0]));
    assay_status status = assay__backend_alloc(l->backend, bytes_of(l, 1), ALIGN, &l->far[1]);
    if (status != ASSAY_OK)
        (void)assay__backend_free(l->backend, l->far[0]);
    return status;
}

static void free_far(const assay_unary_launch *l)
{
    for (size_t i = 0; i < 2; i++)
        (void)assay__backend_free(l->backend, l->far[i]);
}

assay_status assay__unary_bring(assay_unary_launch *l, size_t piece)
{
    const size_t all = (size_t)assay_problem_int(&l->problem, "n");
    assay_device_profile profile = {.struct_size = sizeof profile};

    assay_status status = assay__backend_device_profile(l->backend, 0, &profile);
    if (status == ASSAY_NOMEM || status == ASSAY_DEVICE_LOST)
        return status;
    if (status != ASSAY_OK) /* no kernel's fault */
        return assay__fail_context(ASSAY_UNAVAILABLE, "the device does not say what it is");
    if (!assay__profile_is_apart(&profile))
        return ASSAY_OK;
    l->piece = all < piece ? all : piece;
    status = take_far(l);
    while (status == ASSAY_NOMEM && l->piece > ASSAY_EXHAUSTIVE_BATCH) {
        l->piece /= 2;
        status = take_far(l);
    }
    ASSAY_TRY(status);
    status = take_any_rooms(l);
    if (status != ASSAY_OK)
        free_far(l);
    l->is_apart = status == ASSAY_OK;
    return status;
}

void assay__unary_leave(assay_unary_launch *l)
{
    if (!l->is_apart)
        return;
    free_rooms(l);
    free_far(l);
    l->is_apart = false;
}

/* ---- pieces ---- */

/* Outputs are poisoned there, so that what is not written shows. */
static assay_status bring_inputs(const assay_unary_launch *l, uint64_t first, size_t n)
{
    const size_t in = assay_dtype_bytes((assay_dtype)l->problem.dtypes[0]);
    const size_t out = assay_dtype_bytes((assay_dtype)l->problem.dtypes[1]);
    const assay_transfer up = {.buffer = l->far[0], .host = l->patterns, .bytes = n * in};

    assay__exhaustive_patterns(l->patterns, in, first, n);
    ASSAY_TRY(assay__backend_upload(l->backend, &up, 1));
    return assay__backend_fill(l->backend, l->far[1], 0, n * out, 0xff);
}

static assay_status run_far(const assay_unary_launch *l, uint64_t first, size_t n, void *y)
{
    const size_t out = assay_dtype_bytes((assay_dtype)l->problem.dtypes[1]);
    const assay_transfer down = {.buffer = l->far[1], .host = y, .bytes = n * out};
    assay_problem problem;
    assay_tensor operands[2];
    assay_launch launch;

    ASSAY_TRY(bring_inputs(l, first, n));
    ASSAY_TRY(assay__unary_prepare(l, l->patterns, y, n, &problem, operands, &launch));
    operands[0].buffer = l->far[0]; /* a handle in place of an address */
    operands[1].buffer = l->far[1];
    assay_status status = assay__backend_launch(l->backend, l->kernel->run, &launch);
    if (status == ASSAY_OK)
        status = assay__backend_synchronize(l->backend);
    if (status == ASSAY_OK)
        status = assay__backend_download(l->backend, &down, 1);
    /* Who else uses the device takes from its memory: that is no fault of the kernel's. */
    return status == ASSAY_NOMEM ? status : assay__backend_blame(status);
}

assay_status assay__unary_fetch(void *cookie, uint64_t first, size_t n, void *y)
{
    const assay_unary_launch *l = cookie;
    const size_t out = assay_dtype_bytes((assay_dtype)l->problem.dtypes[1]);
    size_t tail;

    ASSAY_TRY(assay__unary_tail(l, first, n, &tail));
    ASSAY_TRY(run_far(l, first, n - tail, y));
    if (tail == 0)
        return ASSAY_OK;
    return run_far(l, first + n - tail, tail, (unsigned char *)y + (n - tail) * out);
}
