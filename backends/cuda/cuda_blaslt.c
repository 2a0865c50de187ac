/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_blaslt.c -- matmul and fused_linear through cublasLtMatmul.
 *
 * Products without terms (k or alpha 0), which the library does not take or may multiply NaN by 0
 * in, are kernels of our own. */
#include "backends/cuda/cuda_blaslt.h"

#include <stdlib.h>

#include "backends/cuda/cuda_fill.h"
#include "backends/cuda/cuda_kernels.h"
#include "backends/cuda/cuda_vectors.h"
#include "backends/matmul_scale.h"

/* What NVIDIA recommends for Hopper is 32 MiB; twice that admits wider split-k. */
#define WORKSPACE_HOPPER ((size_t)64 << 20)
#define WORKSPACE_OLDER  ((size_t)8 << 20)

assay_status cuda_blaslt_check(const assay_instance *instance, cublasStatus_t status,
                               const char *what)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return ASSAY_OK;
    case CUBLAS_STATUS_ALLOC_FAILED:
        return cuda_fail(instance, ASSAY_NOMEM, "cuBLASLt, %s: no memory", what);
    case CUBLAS_STATUS_NOT_SUPPORTED:
    case CUBLAS_STATUS_ARCH_MISMATCH:
        return cuda_fail(instance, ASSAY_UNSUPPORTED, "cuBLASLt, %s: not supported", what);
    default:
        return cuda_fail(instance, ASSAY_DEVICE, "cuBLASLt, %s: status %d", what, (int)status);
    }
}

/* ---- the instance's own ------------------------------------------------------------------------
 */

static size_t workspace_of(const assay_instance *instance)
{
    return cuda_device_limits(instance)->compute_major >= 9 ? WORKSPACE_HOPPER : WORKSPACE_OLDER;
}

static assay_status make_state(assay_instance *instance, const cuda_blaslt_library *library,
                               cuda_blaslt_state **out)
{
    cuda_blaslt_state *state = calloc(1, sizeof *state);

    if (state == NULL)
        return cuda_fail(instance, ASSAY_NOMEM, "out of memory");
    state->library = library;
    state->workspace = workspace_of(instance);
    cublasStatus_t status = library->Create(&state->handle);
    if (status != CUBLAS_STATUS_SUCCESS || pthread_mutex_init(&state->lock, NULL) != 0) {
        if (status == CUBLAS_STATUS_SUCCESS)
            (void)library->Destroy(state->handle);
        free(state);
        return status != CUBLAS_STATUS_SUCCESS
                   ? cuda_blaslt_check(instance, status, "making a handle")
                   : cuda_fail(instance, ASSAY_NOMEM, "no mutex");
    }
    *out = state;
    return ASSAY_OK;
}

static assay_status state_of(assay_instance *instance, cuda_blaslt_state **out)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* on making one */
    void **place = cuda_blaslt_place(instance);
    cuda_blaslt_state *state;
    assay_status status = ASSAY_OK;
    const char *why;

    pthread_mutex_lock(&lock);
    state = *place;
    if (state == NULL) {
        const cuda_blaslt_library *library = cuda_blaslt_open(&why);
        status = library == NULL ? cuda_fail(instance, ASSAY_UNAVAILABLE, "%s", why)
                                 : make_state(instance, library, &state);
        if (status == ASSAY_OK)
            *place = state;
    }
    pthread_mutex_unlock(&lock);
    *out = state;
    return status;
}

assay_status cuda_blaslt_identity(assay_instance *instance, char *buf, size_t cap)
{
    const char *why;

    if (cuda_blaslt_open(&why) == NULL)
        return cuda_fail(instance, ASSAY_UNAVAILABLE, "%s", why);
    return cuda_blaslt_describe(instance, workspace_of(instance), buf, cap);
}

void cuda_blaslt_close(assay_instance *instance)
{
    void **place = cuda_blaslt_place(instance);
    cuda_blaslt_state *state = *place;

    if (state == NULL)
        return;
    *place = NULL;
    cuda_blaslt_plans_clear(state);
    (void)state->library->Destroy(state->handle);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

/* ---- launches ----------------------------------------------------------------------------------
 */

/* The library takes the factors in the type that it sums in. */
typedef union factor {
    float narrow;
    double wide;
} factor;

static factor factor_of(double value, assay_dtype t)
{
    factor f = {.wide = value};

    if (t != ASSAY_F64)
        f = (factor){.narrow = matmul_factor_is_zero(value, t) ? 0.0f : (float)value};
    return f;
}

static assay_status enqueue(const assay_launch *launch, const cuda_blaslt_state *state,
                            const cuda_blaslt_plan *plan, const matmul_launch *g)
{
    const factor alpha = factor_of(g->alpha, (assay_dtype)plan->key.in);
    const factor beta = factor_of(g->beta, (assay_dtype)plan->key.in);
    CUdeviceptr room = 0;

    if (plan->workspace > 0)
        ASSAY_TRY(cuda_workspace(launch, plan->workspace, &room));
    return cuda_blaslt_check(
        launch->instance,
        state->library->Matmul(state->handle, plan->product, &alpha, g->b, plan->b, g->a, plan->a,
                               &beta, g->c, plan->c, g->c, plan->c, &plan->algo,
                               (void *)(uintptr_t)room, plan->workspace, cuda_stream(launch)),
        "a product");
}

/* Held through the call: the address of the bias is part of the plan. */
static assay_status multiply(const assay_launch *launch, const matmul_launch *g, CUdeviceptr bias)
{
    cuda_blaslt_state *state;
    const cuda_blaslt_plan *plan;
    cuda_blaslt_key key;

    if (!matmul_leading_are_int(g))
        return cuda_fail(launch->instance, ASSAY_OVERFLOW,
                         "cuBLASLt: a leading dimension exceeds 32 bits");
    ASSAY_TRY(state_of(launch->instance, &state));
    cuda_blaslt_key_of(launch, g, bias, &key);
    pthread_mutex_lock(&state->lock);
    assay_status status = cuda_blaslt_plan_get(launch->instance, state, &key, bias, &plan);
    if (status == ASSAY_OK)
        status = enqueue(launch, state, plan, g);
    pthread_mutex_unlock(&state->lock);
    return status;
}

static bool is_empty(const matmul_launch *g)
{
    return g->batch == 0 || g->m == 0 || g->n == 0;
}

assay_status cuda_blaslt_matmul(const assay_launch *launch)
{
    matmul_launch g;

    matmul_read_operands(launch, &g);
    if (is_empty(&g))
        return ASSAY_OK;
    if (g.k == 0 || matmul_factor_is_zero(g.alpha, launch->operands[2].dtype))
        return cuda_fill_scale(launch, &g);
    return multiply(launch, &g, 0);
}

/* f64 has no epilogue, and results of 16 bits are rounded once before it, so that with the bias
 * they miss the last place: there the bias is what the product is added to. */
assay_status cuda_blaslt_linear(const assay_launch *launch)
{
    const assay_tensor *bias = &launch->operands[2];
    const bool has_epilogue = bias->dtype == ASSAY_F32;
    matmul_launch g;

    matmul_read_operands(launch, &g);
    if (is_empty(&g))
        return ASSAY_OK;
    if (g.k == 0)
        return cuda_fill_bias(launch, &g);
    g.beta = has_epilogue ? 0.0 : 1.0;
    if (has_epilogue)
        return multiply(launch, &g, cuda_address(bias));
    ASSAY_TRY(cuda_fill_bias(launch, &g));
    return multiply(launch, &g, 0);
}

bool cuda_blaslt_usable(const assay_problem *problem, const int64_t *tunables)
{
    const int64_t batch = problem->op == ASSAY_OP_fused_linear
                              ? ASSAY__INT(problem, fused_linear, batch)
                              : ASSAY__INT(problem, matmul, batch);

    (void)tunables;
    return matmul_extents_are_int(problem) && batch <= INT_MAX;
}
