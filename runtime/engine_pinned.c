/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/engine_pinned.c -- memory of the host that is fixed for an engine's device, and what
 * moving bytes costs from and to it.
 *
 * Whose address it is and whether it was freed the backend knows; the engine keeps a list of its
 * own to tell for prices which memory is pinned. */
#include <stdio.h>
#include <string.h>

#include "runtime/engine_internal.h"
#include "runtime/error.h"
#include "runtime/pick_internal.h"

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

/* ---- prices ---- */

static bool look_up(assay_context *routes, const char *from, const char *to, uint64_t bytes,
                    assay_transfer_cost *out)
{
    double price[3];

    pthread_mutex_lock(&routes->answering);
    const bool known = assay__pick_store_transfer(routes->store_data, from, to, (double)bytes,
                                                  &out->path, price);
    pthread_mutex_unlock(&routes->answering);
    if (!known)
        return false;
    out->median_ns = price[0];
    out->lo_ns = price[1];
    out->hi_ns = price[2];
    (void)snprintf(out->from, sizeof out->from, "%s", from);
    (void)snprintf(out->to, sizeof out->to, "%s", to);
    return true;
}

bool assay__engine_transfer_cost(assay_engine *engine, const void *host, uint64_t bytes, bool up,
                                 assay_transfer_cost *out)
{
    char own[ASSAY__MEMORY_MAX];
    const char *const there = host != NULL && assay__pinned_holds(&engine->pinned, host, bytes)
                                  ? ASSAY__HOST_PINNED
                                  : ASSAY__HOST_PAGEABLE;

    (void)snprintf(own, sizeof own, "%s:%zu", assay_engine_name(engine), engine->device);
    return look_up(engine->routes, up ? there : own, up ? own : there, bytes, out);
}

/* The caller's struct may be shorter. */
static assay_status hand_over(const char *what, const assay_transfer_cost *found, bool is_known,
                              assay_transfer_cost *out)
{
    const uint32_t known = out->struct_size;

    if (known < sizeof known || known > 4096)
        return assay__fail(ASSAY_INVALID, "%s: the cost's struct_size is %u; set it", what, known);
    if (!is_known)
        return assay__fail(ASSAY_NOTFOUND,
                           "%s: what this move costs was not measured here; `assay sweep` with "
                           "these backends does",
                           what);
    memcpy(out, found, known < sizeof *found ? known : sizeof *found);
    out->struct_size = known;
    return ASSAY_OK;
}

static assay_status cost(assay_engine *engine, const char *what, const void *host, uint64_t bytes,
                         bool up, assay_transfer_cost *out)
{
    assay_transfer_cost found = {.struct_size = sizeof found};
    assay__engine_call call;

    ASSAY_TRY(assay__engine_enter(engine, what, &call));
    const bool known = assay__engine_transfer_cost(engine, host, bytes, up, &found);
    return assay__engine_leave(&call, hand_over(what, &found, known, out), NULL);
}

assay_status assay_engine_upload_cost(assay_engine *engine, const void *from, uint64_t bytes,
                                      assay_transfer_cost *out)
{
    return cost(engine, "upload_cost", from, bytes, true, out);
}

assay_status assay_engine_download_cost(assay_engine *engine, const void *to, uint64_t bytes,
                                        assay_transfer_cost *out)
{
    return cost(engine, "download_cost", to, bytes, false, out);
}
