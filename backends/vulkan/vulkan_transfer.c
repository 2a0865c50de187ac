/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_transfer.c -- the slots copy, fill, upload and download.
 *
 * Places are looked up with the lock of staging held, which free takes too: what was checked stays
 * until the last byte has moved. */
#include <string.h>

#include "backends/vulkan/vulkan.h"

/* Checks, then the lock of staging in the gate. */
static assay_status begin(vulkan_instance *v, const char *what)
{
    ASSAY_TRY(assay__host_alive(&v->base, what));
    ASSAY_TRY(vulkan_enter(v));
    vulkan_stage_begin(v);
    return ASSAY_OK;
}

static assay_status end(vulkan_instance *v, assay_status status)
{
    status = vulkan_stage_end(v, status);
    vulkan_leave(v);
    return status != ASSAY_OK ? status : vulkan_tell_messages(&v->base);
}

/* ---- between host and device ---- */

static assay_status find_pieces(vulkan_instance *v, const char *what, const assay_transfer *pieces,
                                size_t count, uint64_t *total)
{
    vulkan_place unused;

    *total = 0;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].host == NULL && pieces[i].bytes > 0)
            return assay__host_fail(&v->base, ASSAY_INVALID, "%s: piece %zu has no host memory",
                                    what, i);
        ASSAY_TRY(vulkan_find_place(v, what, pieces[i].buffer, pieces[i].offset, pieces[i].bytes,
                                    &unused));
        *total += pieces[i].bytes;
    }
    return ASSAY_OK;
}

/* To or from wrapped memory, at once: what was staged before has to have moved. */
static assay_status move_wrapped(vulkan_instance *v, const vulkan_place *place, void *host, bool up)
{
    ASSAY_TRY(vulkan_stage_drain(v));
    if (place->bytes > 0)
        memmove(up ? place->host : (char *)host, up ? (char *)host : place->host, place->bytes);
    return ASSAY_OK;
}

static assay_status move_piece(vulkan_instance *v, const vulkan_place *place, void *host, bool up)
{
    if (place->host != NULL)
        return move_wrapped(v, place, host, up);
    return up ? vulkan_stage_up(v, place, host) : vulkan_stage_down(v, place, host);
}

static assay_status move_pieces(vulkan_instance *v, const char *what, const assay_transfer *pieces,
                                size_t count, bool up)
{
    for (size_t i = 0; i < count; i++) {
        vulkan_place place;
        ASSAY_TRY(vulkan_find_place(v, what, pieces[i].buffer, pieces[i].offset, pieces[i].bytes,
                                    &place));
        ASSAY_TRY(move_piece(v, &place, pieces[i].host, up));
    }
    return ASSAY_OK;
}

static assay_status transfer(assay_instance *instance, const char *what,
                             const assay_transfer *pieces, size_t count, bool up)
{
    vulkan_instance *v = vulkan_of(instance);
    uint64_t total;

    ASSAY_TRY(begin(v, what));
    assay_status status = find_pieces(v, what, pieces, count, &total);
    if (status == ASSAY_OK)
        status = move_pieces(v, what, pieces, count, up);
    ASSAY_TRY(end(v, status));
    assay__host_count(instance, ASSAY__HOST_COUNT_staging_operations, 1);
    assay__host_count(instance, up ? ASSAY__HOST_COUNT_uploads : ASSAY__HOST_COUNT_downloads,
                      count);
    assay__host_count(
        instance, up ? ASSAY__HOST_COUNT_upload_bytes : ASSAY__HOST_COUNT_download_bytes, total);
    return ASSAY_OK;
}

assay_status vulkan_upload(assay_instance *instance, const assay_transfer *pieces, size_t count)
{
    return transfer(instance, "upload", pieces, count, true);
}

assay_status vulkan_download(assay_instance *instance, const assay_transfer *pieces, size_t count)
{
    return transfer(instance, "download", pieces, count, false);
}

/* ---- copy ---- */

/* Of plain memory, too. */
static assay_status find_end(vulkan_instance *v, const char *what, assay_buffer buffer,
                             uint64_t offset, uint64_t bytes, vulkan_place *place)
{
    if (buffer.owner != 0)
        return vulkan_find_place(v, what, buffer, offset, bytes, place);
    if (offset > buffer.size_bytes || bytes > buffer.size_bytes - offset)
        return assay__host_fail(&v->base, ASSAY_INVALID,
                                "%s: bytes %llu..+%llu lie outside a buffer of %llu", what,
                                (unsigned long long)offset, (unsigned long long)bytes,
                                (unsigned long long)buffer.size_bytes);
    if (buffer.at.host == NULL && bytes > 0)
        return assay__host_fail(&v->base, ASSAY_INVALID, "%s: the buffer is NULL", what);
    *place = (vulkan_place){.bytes = bytes};
    if (buffer.at.host != NULL)
        place->host = (char *)buffer.at.host + offset;
    return ASSAY_OK;
}

static bool overlap(const vulkan_place *a, const vulkan_place *b)
{
    return a->buffer == b->buffer && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

static assay_status copy_ends(vulkan_instance *v, assay_buffer dst, uint64_t dst_offset,
                              assay_buffer src, uint64_t src_offset, uint64_t bytes)
{
    vulkan_place to, from;

    ASSAY_TRY(find_end(v, "copy, destination", dst, dst_offset, bytes, &to));
    ASSAY_TRY(find_end(v, "copy, source", src, src_offset, bytes, &from));
    if (bytes == 0)
        return ASSAY_OK;
    if (to.host != NULL && from.host != NULL)
        memmove(to.host, from.host, bytes);
    else if (to.host != NULL)
        return vulkan_stage_down(v, &from, to.host);
    else if (from.host != NULL)
        return vulkan_stage_up(v, &to, from.host);
    else
        return overlap(&to, &from) ? vulkan_stage_across(v, &to, &from)
                                   : vulkan_stage_copy(v, &to, &from);
    return ASSAY_OK;
}

assay_status vulkan_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                         assay_buffer src, uint64_t src_offset, uint64_t bytes)
{
    vulkan_instance *v = vulkan_of(instance);

    ASSAY_TRY(begin(v, "copy"));
    ASSAY_TRY(end(v, copy_ends(v, dst, dst_offset, src, src_offset, bytes)));
    assay__host_count(instance, ASSAY__HOST_COUNT_copies, 1);
    assay__host_count(instance, ASSAY__HOST_COUNT_copy_bytes, bytes);
    return ASSAY_OK;
}

/* ---- fill ---- */

static assay_status fill_end(vulkan_instance *v, assay_buffer dst, uint64_t offset, uint64_t bytes,
                             uint8_t value)
{
    vulkan_place to;

    ASSAY_TRY(find_end(v, "fill", dst, offset, bytes, &to));
    if (bytes == 0)
        return ASSAY_OK;
    if (to.host == NULL)
        return vulkan_stage_fill(v, &to, value);
    memset(to.host, value, bytes);
    return ASSAY_OK;
}

assay_status vulkan_fill(assay_instance *instance, assay_buffer dst, uint64_t offset,
                         uint64_t bytes, uint8_t value)
{
    vulkan_instance *v = vulkan_of(instance);

    ASSAY_TRY(begin(v, "fill"));
    ASSAY_TRY(end(v, fill_end(v, dst, offset, bytes, value)));
    assay__host_count(instance, ASSAY__HOST_COUNT_fills, 1);
    assay__host_count(instance, ASSAY__HOST_COUNT_fill_bytes, bytes);
    return ASSAY_OK;
}
