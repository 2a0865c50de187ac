/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_pinned.c -- memory of the host that the copy engine reaches by itself.
 *
 * Pages of our own, registered with the driver, and not what cuMemHostAlloc gives: that goes with
 * the context, and a caller who recovers a lost device would find a hole where his data was. */
#include <stdlib.h>

#include "backends/cuda/cuda_instance.h"

static assay_status fix(assay_instance *instance, void *memory, uint64_t bytes)
{
    const CUresult result = instance->cu->cuMemHostRegister(memory, (size_t)bytes, 0);

    if (result == CUDA_ERROR_NOT_SUPPORTED || result == CUDA_ERROR_NOT_PERMITTED)
        return cuda_fail(instance, ASSAY_UNSUPPORTED,
                         "host_alloc: the driver fixes no memory of the host here (%s); use malloc",
                         cuda_result_name(instance->cu, result));
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return cuda_fail(instance, ASSAY_NOMEM,
                         "host_alloc: the driver cannot fix %llu bytes of the host's memory; free "
                         "some, or use malloc",
                         (unsigned long long)bytes);
    ASSAY_TRY(cuda_check(instance, result, "host_alloc"));
    if (assay__pinned_add(&instance->pinned, memory, bytes))
        return ASSAY_OK;
    (void)instance->cu->cuMemHostUnregister(memory);
    return cuda_fail(instance, ASSAY_NOMEM, "host_alloc: no memory for another block");
}

static assay_status make(assay_instance *instance, uint64_t bytes, void **out)
{
    void *memory = assay__pinned_pages(bytes);

    if (memory == NULL)
        return cuda_fail(instance, ASSAY_NOMEM, "host_alloc: the host has no %llu bytes",
                         (unsigned long long)bytes);
    const assay_status status = fix(instance, memory, bytes);
    if (status != ASSAY_OK)
        free(memory);
    else
        *out = memory;
    return status;
}

assay_status cuda_host_alloc(assay_instance *instance, uint64_t bytes, void **out)
{
    if (bytes == 0)
        return cuda_fail(instance, ASSAY_INVALID, "host_alloc: 0 bytes; give at least 1");
    ASSAY_TRY(cuda_enter(instance, "host_alloc"));
    const assay_status status = make(instance, bytes, out);
    cuda_leave(instance);
    return status;
}

/* With the staging lock held no transfer is under way. */
static assay_status let_go(assay_instance *instance, void *host)
{
    assay__pinned_block was;
    const assay_status status = assay__pinned_take(&instance->pinned, host, &was);

    if (status == ASSAY_FREED)
        return cuda_fail(instance, status, "host_free: this memory was freed before");
    if (status != ASSAY_OK)
        return cuda_fail(instance, status,
                         "host_free: no host_alloc of this instance gave this address");
    if (was.is_fixed)
        (void)instance->cu->cuMemHostUnregister(host);
    free(host);
    return ASSAY_OK;
}

assay_status cuda_host_free(assay_instance *instance, void *host)
{
    cuda_enter_any(instance);
    pthread_mutex_lock(&instance->staging.lock);
    const assay_status status = let_go(instance, host);
    pthread_mutex_unlock(&instance->staging.lock);
    cuda_leave(instance);
    return status;
}

static void unregister(void *cookie, void *memory)
{
    const assay_instance *instance = cookie;

    (void)instance->cu->cuMemHostUnregister(memory);
}

void cuda_loosen_host(assay_instance *instance)
{
    assay__pinned_loosen(&instance->pinned, unregister, instance);
}

void cuda_drop_host(assay_instance *instance)
{
    for (size_t i = 0; i < instance->pinned.count; i++)
        if (instance->pinned.blocks[i].is_taken)
            free(instance->pinned.blocks[i].memory);
    assay__pinned_clear(&instance->pinned);
}
