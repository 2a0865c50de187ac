/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_fixed.c -- the slots host_alloc and host_free of a backend for tests, whose device
 * is the host: the memory is plain, what is known of it is as of a real one. */
#include <stdlib.h>

#include "runtime/host_backend.h"

assay_status assay__host_fixed_alloc(assay_instance *instance, uint64_t bytes, void **out)
{
    if (bytes == 0)
        return assay__host_fail(instance, ASSAY_INVALID, "host_alloc: 0 bytes; give at least 1");
    ASSAY_TRY(assay__host_alive(instance, "host_alloc"));
    void *memory = assay__pinned_pages(bytes);
    if (memory == NULL || !assay__pinned_add(&instance->pinned, memory, bytes)) {
        free(memory);
        return assay__host_fail(instance, ASSAY_NOMEM, "host_alloc: the host has no %llu bytes",
                                (unsigned long long)bytes);
    }
    *out = memory;
    return ASSAY_OK;
}

assay_status assay__host_fixed_free(assay_instance *instance, void *host)
{
    assay__pinned_block was;
    const assay_status status = assay__pinned_take(&instance->pinned, host, &was);

    if (status == ASSAY_FREED)
        return assay__host_fail(instance, status, "host_free: this memory was freed before");
    if (status != ASSAY_OK)
        return assay__host_fail(instance, status,
                                "host_free: no host_alloc of this instance gave this address");
    free(host);
    return ASSAY_OK;
}
