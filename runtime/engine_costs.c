/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/engine_costs.c -- what moving bytes costs between an engine's memory, the host's and that
 * of another engine, by what was measured here. */
#include <stdio.h>
#include <string.h>

#include "runtime/engine_internal.h"
#include "runtime/error.h"
#include "runtime/pick_internal.h"

/* For who asks: by the number that he knows. */
static void tell_memory(const assay_engine *engine, char *out, size_t cap)
{
    (void)snprintf(out, cap, "%s:%zu", assay_engine_name(engine), engine->device);
}

static bool look_up(assay_context *routes, const char *from, const char *to, uint64_t bytes,
                    assay_transfer_cost *out)
{
    double price[3];

    pthread_mutex_lock(&routes->answering);
    const bool known =
        assay__pick_store_transfer(routes->store_data, from, to, (double)bytes, &out->path, price);
    pthread_mutex_unlock(&routes->answering);
    if (!known)
        return false;
    out->median_ns = price[0];
    out->lo_ns = price[1];
    out->hi_ns = price[2];
    return true;
}

bool assay__engine_transfer_cost(assay_engine *engine, const void *host, uint64_t bytes, bool up,
                                 assay_transfer_cost *out)
{
    const char *const own = engine->memory;
    const char *const there = host != NULL && assay__pinned_holds(&engine->pinned, host, bytes)
                                  ? ASSAY__HOST_PINNED
                                  : ASSAY__HOST_PAGEABLE;

    if (!look_up(engine->routes, up ? there : own, up ? own : there, bytes, out))
        return false;
    (void)snprintf(up ? out->from : out->to, sizeof out->from, "%s", there);
    tell_memory(engine, up ? out->to : out->from, sizeof out->from);
    return true;
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

/* ---- between two devices ---- */

/* Device to device, which is stored with the one that it goes to. */
static bool by_peer(const assay_engine *from, const assay_engine *to, uint64_t bytes,
                    assay_transfer_cost *out)
{
    char source[ASSAY__MEMORY_MAX];

    assay__memory_seen_from(from->memory, from->routes->deployment, to->routes->deployment, source);
    if (!look_up(to->routes, source, to->memory, bytes, out) ||
        out->path != (from == to ? ASSAY_PATH_COPY : ASSAY_PATH_PEER))
        return false;
    tell_memory(from, out->from, sizeof out->from);
    tell_memory(to, out->to, sizeof out->to);
    return true;
}

/* Down into memory of the library's, then up. */
static bool by_host(assay_engine *from, assay_engine *to, uint64_t bytes, assay_transfer_cost *out)
{
    assay_transfer_cost down, up;

    if (!assay__engine_transfer_cost(from, NULL, bytes, false, &down) ||
        !assay__engine_transfer_cost(to, NULL, bytes, true, &up))
        return false;
    out->path = ASSAY_PATH_STAGING;
    out->median_ns = down.median_ns + up.median_ns;
    out->lo_ns = down.lo_ns + up.lo_ns;
    out->hi_ns = down.hi_ns + up.hi_ns;
    memcpy(out->from, down.from, sizeof out->from);
    memcpy(out->to, up.to, sizeof out->to);
    return true;
}

static bool pair_cost(assay_engine *from, assay_engine *to, uint64_t bytes,
                      assay_transfer_cost *out)
{
    return by_peer(from, to, bytes, out) || (from != to && by_host(from, to, bytes, out));
}

assay_status assay_engine_pair_cost(assay_engine *from, assay_engine *to, uint64_t bytes,
                                    assay_transfer_cost *out)
{
    assay_transfer_cost found = {.struct_size = sizeof found};
    assay__engine_call calls[2];

    ASSAY_TRY(assay__engines_enter(from, to, "pair_cost", calls));
    const bool known = pair_cost(from, to, bytes, &found);
    return assay__engines_leave(calls, hand_over("pair_cost", &found, known, out));
}
