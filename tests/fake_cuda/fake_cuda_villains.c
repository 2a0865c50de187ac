/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_villains.c -- what the kernels of tests/cuda_villains do, as functions
 * of the host's. */
#include <string.h>
#include <unistd.h>

#include "tests/fake_cuda/fake_cuda_state.h"

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* The three operands of an add. */
static bool are_there(const uint64_t *a)
{
    const size_t bytes = (size_t)a[3] * sizeof(float);

    return fake_find(at(a[0]), bytes) != NULL && fake_find(at(a[1]), bytes) != NULL &&
           fake_find(at(a[2]), bytes) != NULL;
}

static CUresult add_but(const uint64_t *arguments, uint64_t hole)
{
    const float *a = at(arguments[0]), *b = at(arguments[1]);
    float *y = at(arguments[2]);

    if (!are_there(arguments))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (uint64_t i = 0; i < arguments[3]; i++)
        if (hole == 0 || i % hole != 0)
            y[i] = a[i] + b[i];
    return CUDA_SUCCESS;
}

static CUresult add(const uint64_t *arguments)
{
    return add_but(arguments, 0);
}

static CUresult add_with_holes(const uint64_t *arguments)
{
    return add_but(arguments, 100);
}

static CUresult copy(const uint64_t *arguments)
{
    const size_t bytes = (size_t)arguments[2] * sizeof(float);

    if (fake_find(at(arguments[0]), bytes) == NULL || fake_find(at(arguments[1]), bytes) == NULL)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    memmove(at(arguments[1]), at(arguments[0]), bytes);
    return CUDA_SUCCESS;
}

static CUresult store(const uint64_t *arguments)
{
    const uint32_t bits = (uint32_t)arguments[1];

    if (arguments[0] % sizeof bits != 0)
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    if (fake_find(at(arguments[0]), sizeof bits) == NULL)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    memcpy(at(arguments[0]), &bits, sizeof bits);
    return CUDA_SUCCESS;
}

static CUresult fail_assertion(const uint64_t *arguments)
{
    return arguments[0] != 0 ? CUDA_SUCCESS : CUDA_ERROR_ASSERT;
}

static CUresult trap(const uint64_t *arguments)
{
    return arguments[0] != 0 ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

static CUresult run_on(const uint64_t *arguments)
{
    (void)arguments;
    while (pause() < 0)
        ;
    return CUDA_SUCCESS;
}

const fake_kernel fake_villains[] = {{"v_add", 6, add, false, 5},
                                     {"v_holes", 4, add_with_holes, false, 0},
                                     {"v_copy", 3, copy, false, 0},
                                     {"v_store", 2, store, false, 0},
                                     {"v_store_later", 2, store, true, 0},
                                     {"v_assert", 1, fail_assertion, false, 0},
                                     {"v_trap", 1, trap, false, 0},
                                     {"v_endless", 0, run_on, false, 0},
                                     {NULL, 0, NULL, false, 0}};
