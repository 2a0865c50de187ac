/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/engine_memory.c -- buffers, transfers, queues and events of an engine.
 *
 * What a backend checks is not checked here again; what backends leave open is: sizes of whole
 * transfers, and features that are not there. */
#include <stdio.h>
#include <string.h>

#include "runtime/engine_internal.h"
#include "runtime/error.h"

/* Every call of this file: enters, runs `expr`, leaves with the bytes it is about. */
#define CALL(what_, bytes_, expr)                                \
    do {                                                         \
        assay__engine_call call_;                                \
        ASSAY_TRY(assay__engine_enter(engine, (what_), &call_)); \
        return leave(&call_, (expr), (bytes_));                  \
    } while (0)

static assay_status leave(const assay__engine_call *call, assay_status status, uint64_t bytes)
{
    char detail[32] = "";

    if (call->begin_ns != 0 && bytes > 0)
        (void)snprintf(detail, sizeof detail, "%llu bytes", (unsigned long long)bytes);
    return assay__engine_leave(call, status, detail);
}

static const assay__backend *backend_of(const assay_engine *engine)
{
    return &engine->backend;
}

/* ---- buffers ---- */

static assay_status alloc(const assay_engine *engine, uint64_t bytes, uint64_t align,
                          assay_buffer *out)
{
    const uint64_t most = engine->profile.max_buffer_bytes;

    if (bytes == 0)
        return assay__fail(ASSAY_INVALID, "alloc: a buffer of 0 bytes; give at least 1");
    if (align != 0 && (align & (align - 1)) != 0)
        return assay__fail(ASSAY_INVALID, "alloc: alignment %llu is no power of two",
                           (unsigned long long)align);
    if (most != 0 && bytes > most) {
        char text[160];
        (void)snprintf(text, sizeof text,
                       "alloc: %llu bytes, one buffer has at most %llu on '%s'; use several",
                       (unsigned long long)bytes, (unsigned long long)most,
                       assay_engine_name(engine));
        return assay__fail_detail(&(assay_error_detail){.status = ASSAY_NOMEM,
                                                        .requested_bytes = bytes,
                                                        .available_bytes = most},
                                  text);
    }
    return assay__backend_alloc(&engine->backend, bytes, align != 0 ? align : 64, out);
}

assay_status assay_engine_alloc(assay_engine *engine, uint64_t bytes, uint64_t align,
                                assay_buffer *out)
{
    CALL("alloc", bytes, alloc(engine, bytes, align, out));
}

assay_status assay_engine_wrap(assay_engine *engine, void *host, uint64_t bytes, assay_buffer *out)
{
    CALL("wrap", bytes, assay__backend_wrap(backend_of(engine), host, bytes, out));
}

assay_status assay_engine_free(assay_engine *engine, assay_buffer buffer)
{
    CALL("free", buffer.size_bytes, assay__backend_free(backend_of(engine), buffer));
}

static assay_status map(const assay_engine *engine, assay_buffer buffer, void **host)
{
    uint64_t bytes;

    ASSAY_TRY(assay__engine_needs(engine, ASSAY_FEATURE_UNIFIED_MEMORY));
    return assay__backend_map(&engine->backend, buffer, host, &bytes);
}

assay_status assay_engine_map(assay_engine *engine, assay_buffer buffer, void **host)
{
    CALL("map", 0, map(engine, buffer, host));
}

/* ---- transfers ---- */

static assay_status check_whole(const char *what, assay_buffer buffer, uint64_t bytes)
{
    if (bytes == buffer.size_bytes)
        return ASSAY_OK;
    return assay__fail(ASSAY_INVALID, "%s: %llu bytes for a buffer of %llu; parts go with %s_at",
                       what, (unsigned long long)bytes, (unsigned long long)buffer.size_bytes,
                       what);
}

static assay_status check_list(const char *what, const assay_transfer *pieces, size_t count)
{
    uint64_t total = 0;

    if (pieces == NULL && count > 0)
        return assay__fail(ASSAY_INVALID, "%s: no pieces, but a count of %zu", what, count);
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(total, pieces[i].bytes, &total))
            return assay__fail(ASSAY_OVERFLOW, "%s: piece %zu: all bytes together do not fit", what,
                               i);
    return ASSAY_OK;
}

static assay_status upload(const assay_engine *engine, const assay_transfer *pieces, size_t count)
{
    ASSAY_TRY(check_list("upload", pieces, count));
    return count > 0 ? assay__backend_upload(&engine->backend, pieces, count) : ASSAY_OK;
}

static assay_status download(const assay_engine *engine, const assay_transfer *pieces, size_t count)
{
    ASSAY_TRY(check_list("download", pieces, count));
    return count > 0 ? assay__backend_download(&engine->backend, pieces, count) : ASSAY_OK;
}

/* An upload only reads what the piece points to. */
static void *unconst(const void *from)
{
    union {
        const void *read;
        void *write;
    } p = {from};

    return p.write;
}

static assay_status upload_whole(const assay_engine *engine, assay_buffer to, const void *from,
                                 uint64_t bytes)
{
    const assay_transfer piece = {.buffer = to, .host = unconst(from), .bytes = bytes};

    ASSAY_TRY(check_whole("upload", to, bytes));
    return upload(engine, &piece, 1);
}

assay_status assay_engine_upload(assay_engine *engine, assay_buffer to, const void *from,
                                 uint64_t bytes)
{
    CALL("upload", bytes, upload_whole(engine, to, from, bytes));
}

assay_status assay_engine_upload_at(assay_engine *engine, assay_buffer to, uint64_t offset,
                                    const void *from, uint64_t bytes)
{
    const assay_transfer piece = {
        .buffer = to, .offset = offset, .host = unconst(from), .bytes = bytes};

    CALL("upload_at", bytes, upload(engine, &piece, 1));
}

static uint64_t bytes_of(const assay_transfer *pieces, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; pieces != NULL && i < count; i++)
        bytes += pieces[i].bytes;
    return bytes;
}

assay_status assay_engine_upload_many(assay_engine *engine, const assay_transfer *pieces,
                                      size_t count)
{
    CALL("upload_many", bytes_of(pieces, count), upload(engine, pieces, count));
}

static assay_status download_whole(const assay_engine *engine, void *to, assay_buffer from,
                                   uint64_t bytes)
{
    const assay_transfer piece = {.buffer = from, .host = to, .bytes = bytes};

    ASSAY_TRY(check_whole("download", from, bytes));
    return download(engine, &piece, 1);
}

assay_status assay_engine_download(assay_engine *engine, void *to, assay_buffer from,
                                   uint64_t bytes)
{
    CALL("download", bytes, download_whole(engine, to, from, bytes));
}

assay_status assay_engine_download_at(assay_engine *engine, void *to, assay_buffer from,
                                      uint64_t offset, uint64_t bytes)
{
    const assay_transfer piece = {.buffer = from, .offset = offset, .host = to, .bytes = bytes};

    CALL("download_at", bytes, download(engine, &piece, 1));
}

assay_status assay_engine_download_many(assay_engine *engine, const assay_transfer *pieces,
                                        size_t count)
{
    CALL("download_many", bytes_of(pieces, count), download(engine, pieces, count));
}

assay_status assay_engine_copy(assay_engine *engine, assay_buffer to, uint64_t to_offset,
                               assay_buffer from, uint64_t from_offset, uint64_t bytes)
{
    CALL("copy", bytes,
         assay__backend_copy(backend_of(engine), to, to_offset, from, from_offset, bytes));
}

assay_status assay_engine_fill(assay_engine *engine, assay_buffer to, uint64_t offset,
                               uint64_t bytes, uint8_t value)
{
    CALL("fill", bytes, assay__backend_fill(backend_of(engine), to, offset, bytes, value));
}

/* ---- queues and events ---- */

#define NEEDS_QUEUES(expr)                                                         \
    (assay__engine_needs(engine, ASSAY_FEATURE_ASYNC_COMPUTE) == ASSAY_OK ? (expr) \
                                                                          : ASSAY_UNSUPPORTED)

assay_status assay_engine_queue_create(assay_engine *engine, assay_queue **out)
{
    CALL("queue_create", 0, NEEDS_QUEUES(assay__backend_queue_create(backend_of(engine), out)));
}

static assay_status destroy_queue(const assay_engine *engine, assay_queue **queue)
{
    if (*queue == NULL)
        return ASSAY_OK;
    ASSAY_TRY(assay__backend_queue_destroy(&engine->backend, *queue));
    *queue = NULL;
    return ASSAY_OK;
}

assay_status assay_engine_queue_destroy(assay_engine *engine, assay_queue **queue)
{
    CALL("queue_destroy", 0, NEEDS_QUEUES(destroy_queue(engine, queue)));
}

assay_status assay_engine_queue_wait(assay_engine *engine, assay_queue *queue)
{
    CALL("queue_wait", 0, NEEDS_QUEUES(assay__backend_queue_wait(backend_of(engine), queue)));
}

assay_status assay_engine_event_create(assay_engine *engine, assay_event **out)
{
    CALL("event_create", 0, NEEDS_QUEUES(assay__backend_event_create(backend_of(engine), out)));
}

static assay_status destroy_event(const assay_engine *engine, assay_event **event)
{
    if (*event == NULL)
        return ASSAY_OK;
    ASSAY_TRY(assay__backend_event_destroy(&engine->backend, *event));
    *event = NULL;
    return ASSAY_OK;
}

assay_status assay_engine_event_destroy(assay_engine *engine, assay_event **event)
{
    CALL("event_destroy", 0, NEEDS_QUEUES(destroy_event(engine, event)));
}

assay_status assay_engine_event_record(assay_engine *engine, assay_event *event, assay_queue *queue)
{
    CALL("event_record", 0,
         NEEDS_QUEUES(assay__backend_event_record(backend_of(engine), event, queue)));
}

assay_status assay_engine_event_wait(assay_engine *engine, assay_event *event)
{
    CALL("event_wait", 0, NEEDS_QUEUES(assay__backend_event_wait(backend_of(engine), event)));
}

assay_status assay_engine_event_ready(assay_engine *engine, assay_event *event, bool *out)
{
    CALL("event_ready", 0,
         NEEDS_QUEUES(assay__backend_event_ready(backend_of(engine), event, out)));
}

assay_status assay_engine_event_elapsed(assay_engine *engine, assay_event *from, assay_event *to,
                                        double *out_ns)
{
    CALL("event_elapsed", 0,
         NEEDS_QUEUES(assay__backend_event_elapsed(backend_of(engine), from, to, out_ns)));
}

/* ---- faults ---- */

static assay_status inject(const assay_engine *engine, const assay_fault *fault)
{
    ASSAY_TRY(assay__engine_needs(engine, ASSAY_FEATURE_FAULT_INJECTION));
    if (fault == NULL)
        return assay__fail(ASSAY_INVALID, "inject: no fault; one of kind NONE takes all back");
    return assay__backend_inject(&engine->backend, fault);
}

assay_status assay_engine_inject(assay_engine *engine, const assay_fault *fault)
{
    CALL("inject", 0, inject(engine, fault));
}
