/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/engine_pairs.c -- bytes from a buffer of one engine into one of another. */
#include <stdlib.h>

#include "runtime/engine_internal.h"
#include "runtime/error.h"

#define PART_BYTES (UINT64_C(64) << 20) /* on the host at once */

typedef struct pair {
    const assay__backend *to, *from;
    assay_buffer into, out_of;
    uint64_t into_offset, out_of_offset, bytes;
} pair;

/* ---- inside of two ---- */

/* In one order for all: whoever is inside of one engine holds its recovery up, and waits for that
 * of the other, which somebody may hold up who came the other way round.  So would he himself who
 * came twice. */
assay_status assay__engines_enter(assay_engine *a, assay_engine *b, const char *what,
                                  assay__engine_call calls[2])
{
    assay_engine *const first = a->serial < b->serial ? a : b;

    calls[1].engine = NULL;
    ASSAY_TRY(assay__engine_enter(first, what, &calls[0]));
    if (a == b)
        return ASSAY_OK;
    const assay_status status = assay__engine_enter(first == a ? b : a, what, &calls[1]);
    return status == ASSAY_OK ? ASSAY_OK : assay__engine_leave(&calls[0], status, NULL);
}

assay_status assay__engines_leave(const assay__engine_call calls[2], assay_status status)
{
    if (calls[1].engine != NULL)
        (void)assay__engine_leave(&calls[1], status, NULL);
    return assay__engine_leave(&calls[0], status, NULL);
}

/* ---- moving ---- */

static assay_status move_part(const pair *p, uint64_t done, uint64_t bytes, void *host)
{
    const assay_transfer down = {p->out_of, p->out_of_offset + done, host, bytes},
                         up = {p->into, p->into_offset + done, host, bytes};

    ASSAY_TRY(assay__backend_download(p->from, &down, 1));
    return assay__backend_upload(p->to, &up, 1);
}

/* Both ends are asked before the first byte moves: by a piece of nothing whose handle and place
 * must be good, and by their sizes. */
static assay_status check_ends(const pair *p)
{
    const uint64_t bytes = p->bytes;

    if (p->into_offset > p->into.size_bytes || bytes > p->into.size_bytes - p->into_offset ||
        p->out_of_offset > p->out_of.size_bytes || bytes > p->out_of.size_bytes - p->out_of_offset)
        return assay__fail(ASSAY_INVALID,
                           "copy_from: %llu bytes from %llu of a buffer of %llu to %llu of one of "
                           "%llu leave one of them",
                           (unsigned long long)bytes, (unsigned long long)p->out_of_offset,
                           (unsigned long long)p->out_of.size_bytes,
                           (unsigned long long)p->into_offset,
                           (unsigned long long)p->into.size_bytes);
    const assay_transfer up = {p->into, p->into_offset, NULL, 0};
    return assay__backend_upload(p->to, &up, 1);
}

static assay_status move_by_host(const pair *p)
{
    const uint64_t most = p->bytes < PART_BYTES ? p->bytes : PART_BYTES;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(check_ends(p));
    void *host = aligned_alloc(64, (size_t)(most / 64 + 1) * 64);
    if (host == NULL)
        return assay__fail(ASSAY_NOMEM, "copy_from: the host has no %llu bytes",
                           (unsigned long long)most);
    uint64_t done = 0;
    do {
        const uint64_t now = p->bytes - done < most ? p->bytes - done : most;
        status = move_part(p, done, now, host);
        done += now;
    } while (status == ASSAY_OK && done < p->bytes);
    free(host);
    return status;
}

static assay_status move(const assay_engine *engine, const assay_engine *source, const pair *p,
                         assay_path *path)
{
    assay_status status = ASSAY_UNSUPPORTED;

    *path = ASSAY_PATH_PEER;
    if (engine->plugin == source->plugin)
        status = assay__backend_peer_copy(p->to, p->into, p->into_offset, p->from->instance,
                                          p->out_of, p->out_of_offset, p->bytes);
    if (status != ASSAY_UNSUPPORTED)
        return status;
    *path = ASSAY_PATH_STAGING;
    return move_by_host(p);
}

assay_status assay_engine_copy_from(assay_engine *engine, assay_buffer to, uint64_t to_offset,
                                    assay_engine *source, assay_buffer from, uint64_t from_offset,
                                    uint64_t bytes, assay_path *path)
{
    const pair p = {&engine->backend, &source->backend, to, from, to_offset, from_offset, bytes};
    assay__engine_call calls[2];
    assay_path by;

    if (engine == source)
        return assay__fail(ASSAY_INVALID, "copy_from: both buffers are of one engine; use copy");
    ASSAY_TRY(assay__engines_enter(engine, source, "copy_from", calls));
    const assay_status status = move(engine, source, &p, &by);
    if (status == ASSAY_OK && path != NULL)
        *path = by;
    return assay__engines_leave(calls, status);
}
