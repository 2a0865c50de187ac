/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/engine_pinned.c -- memory of the host that is fixed for an engine's device.
 *
 * Whose address it is and whether it was freed the backend knows; the engine keeps a list of its
 * own to tell for prices which memory is pinned. */
#include "runtime/engine_internal.h"
#include "runtime/error.h"

static assay_status allocate(assay_engine *engine, uint64_t bytes, void **out)
{
    void *memory = NULL;

    if (bytes == 0)
        return assay__fail(ASSAY_INVALID, "host_alloc: 0 bytes; give at least 1");
    assay_status status = assay__backend_host_alloc(&engine->backend, bytes, &memory);
    if (status == ASSAY_UNSUPPORTED)
        return assay__fail_context(status, "host_alloc: '%s'; malloc will do, transfers are staged",
                                   assay_engine_name(engine));
    ASSAY_TRY(status);
    if (!assay__pinned_add(&engine->pinned, memory, bytes)) {
        (void)assay__backend_host_free(&engine->backend, memory);
        return assay__fail(ASSAY_NOMEM, "host_alloc: no memory");
    }
    *out = memory;
    return ASSAY_OK;
}

assay_status assay_engine_host_alloc(assay_engine *engine, uint64_t bytes, void **out)
{
    assay__engine_call call;

    ASSAY_TRY(assay__engine_enter(engine, "host_alloc", &call));
    return assay__engine_leave(&call, allocate(engine, bytes, out), NULL);
}

static assay_status give_back(assay_engine *engine, void *host)
{
    assay__pinned_block was;

    if (host == NULL)
        return ASSAY_OK;
    /* First out of the list: once it is free another thread may be given the same address. */
    const assay_status known = assay__pinned_take(&engine->pinned, host, &was);
    if (known == ASSAY_FREED)
        return assay__fail(ASSAY_FREED, "host_free: this memory was freed before");
    if (known != ASSAY_OK)
        return assay__fail(ASSAY_FOREIGN,
                           "host_free: host_alloc of this engine did not give this address; free "
                           "it where it was made");
    return assay__backend_host_free(&engine->backend, host);
}

assay_status assay_engine_host_free(assay_engine *engine, void *host)
{
    assay__engine_call call;

    ASSAY_TRY(assay__engine_enter(engine, "host_free", &call));
    return assay__engine_leave(&call, give_back(engine, host), NULL);
}
