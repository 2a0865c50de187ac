/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_transfer.c -- copies, fills, uploads and downloads.
 *
 * Every buffer is looked up, checked and pinned before the first byte moves.  All goes through the
 * instance's own stream, hence behind what was launched without a queue, and has ended when the
 * call returns. */
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_instance.h"

enum { BOUNCE = 16 << 20, FEW = 16 };

/* ---- copies ---- */

static assay_status copy_part(assay_instance *instance, CUdeviceptr to, CUdeviceptr from,
                              uint64_t bytes)
{
    return cuda_check(
        instance, instance->cu->cuMemcpyDtoDAsync(to, from, (size_t)bytes, instance->own->stream),
        "copy");
}

/* Ranges that overlap go part by part through memory that is neither, from the end that is not
 * overwritten first. */
static assay_status copy_apart(assay_instance *instance, CUdeviceptr to, CUdeviceptr from,
                               uint64_t bytes, CUdeviceptr aside)
{
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t now = bytes - done < BOUNCE ? bytes - done : BOUNCE;
        const uint64_t at = to > from ? bytes - done - now : done;
        ASSAY_TRY(copy_part(instance, aside, from + at, now));
        ASSAY_TRY(copy_part(instance, to + at, aside, now));
        done += now;
    }
    return ASSAY_OK;
}

static assay_status copy_overlapping(assay_instance *instance, CUdeviceptr to, CUdeviceptr from,
                                     uint64_t bytes)
{
    const assay_launch own = {.struct_size = sizeof own, .instance = instance};
    CUdeviceptr aside = 0;

    pthread_mutex_lock(&instance->own->lock);
    assay_status status = cuda_workspace(&own, bytes < BOUNCE ? (size_t)bytes : BOUNCE, &aside);
    if (status == ASSAY_OK)
        status = copy_apart(instance, to, from, bytes, aside);
    pthread_mutex_unlock(&instance->own->lock);
    return status;
}

static assay_status copy_on_device(assay_instance *instance, CUdeviceptr to, CUdeviceptr from,
                                   uint64_t bytes)
{
    const uint64_t apart = to > from ? to - from : from - to;

    if (apart == 0)
        return ASSAY_OK;
    ASSAY_TRY(apart >= bytes ? copy_part(instance, to, from, bytes)
                             : copy_overlapping(instance, to, from, bytes));
    return cuda_check(instance, instance->cu->cuStreamSynchronize(instance->own->stream), "copy");
}

static assay_status copy_places(assay_instance *instance, const cuda_place *to,
                                const cuda_place *from, uint64_t bytes)
{
    if (bytes == 0)
        return ASSAY_OK;
    if (to->host != NULL && from->host != NULL) {
        memmove(to->host, from->host, (size_t)bytes);
        return ASSAY_OK;
    }
    if (to->host == NULL && from->host == NULL)
        return copy_on_device(instance, to->device, from->device, bytes);
    const bool up = to->host == NULL;
    const cuda_piece piece = {
        .host = up ? from->host : to->host, .at = up ? *to : *from, .bytes = bytes};
    return cuda_stage(instance, &piece, 1, up);
}

static assay_status copy_buffers(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                                 assay_buffer src, uint64_t src_offset, uint64_t bytes)
{
    cuda_place to, from;

    ASSAY_TRY(cuda_pin(instance, "copy, destination", dst, dst_offset, bytes, &to));
    assay_status status = cuda_pin(instance, "copy, source", src, src_offset, bytes, &from);
    if (status == ASSAY_OK) {
        status = copy_places(instance, &to, &from, bytes);
        cuda_unpin(instance, &from);
    }
    cuda_unpin(instance, &to);
    if (status == ASSAY_OK) {
        cuda_count(instance, CUDA_COUNT_copies, 1);
        cuda_count(instance, CUDA_COUNT_copy_bytes, bytes);
    }
    return status;
}

assay_status cuda_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                       assay_buffer src, uint64_t src_offset, uint64_t bytes)
{
    ASSAY_TRY(cuda_enter(instance, "copy"));
    const assay_status status = copy_buffers(instance, dst, dst_offset, src, src_offset, bytes);
    cuda_leave(instance);
    return status;
}

/* ---- fills ---- */

static assay_status fill_place(assay_instance *instance, const cuda_place *to, uint64_t bytes,
                               uint8_t value)
{
    const cuda_driver *cu = instance->cu;

    if (bytes == 0)
        return ASSAY_OK;
    if (to->host != NULL) {
        memset(to->host, value, (size_t)bytes);
        return ASSAY_OK;
    }
    ASSAY_TRY(cuda_check(
        instance, cu->cuMemsetD8Async(to->device, value, (size_t)bytes, instance->own->stream),
        "fill"));
    return cuda_check(instance, cu->cuStreamSynchronize(instance->own->stream), "fill");
}

static assay_status fill_buffer(assay_instance *instance, assay_buffer dst, uint64_t offset,
                                uint64_t bytes, uint8_t value)
{
    cuda_place to;

    ASSAY_TRY(cuda_pin(instance, "fill", dst, offset, bytes, &to));
    const assay_status status = fill_place(instance, &to, bytes, value);
    cuda_unpin(instance, &to);
    if (status == ASSAY_OK) {
        cuda_count(instance, CUDA_COUNT_fills, 1);
        cuda_count(instance, CUDA_COUNT_fill_bytes, bytes);
    }
    return status;
}

assay_status cuda_fill(assay_instance *instance, assay_buffer dst, uint64_t offset, uint64_t bytes,
                       uint8_t value)
{
    ASSAY_TRY(cuda_enter(instance, "fill"));
    const assay_status status = fill_buffer(instance, dst, offset, bytes, value);
    cuda_leave(instance);
    return status;
}

/* ---- batches ---- */

static assay_status pin_piece(assay_instance *instance, const char *what,
                              const assay_transfer *piece, size_t i, cuda_piece *out)
{
    if (piece->host == NULL && piece->bytes > 0)
        return cuda_fail(instance, ASSAY_INVALID, "%s: piece %zu has no host memory", what, i);
    *out = (cuda_piece){.host = piece->host, .bytes = piece->bytes};
    return cuda_pin(instance, what, piece->buffer, piece->offset, piece->bytes, &out->at);
}

static assay_status move_pinned(assay_instance *instance, const char *what,
                                const assay_transfer *pieces, size_t count, bool up,
                                cuda_piece *pinned)
{
    size_t held = 0;
    uint64_t total = 0;
    assay_status status = ASSAY_OK;

    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        status = pin_piece(instance, what, &pieces[i], i, &pinned[i]);
        held += status == ASSAY_OK;
        total += pieces[i].bytes;
    }
    if (status == ASSAY_OK)
        status = cuda_stage(instance, pinned, count, up);
    for (size_t i = 0; i < held; i++)
        cuda_unpin(instance, &pinned[i].at);
    ASSAY_TRY(status);
    cuda_count(instance, CUDA_COUNT_staging_operations, 1);
    cuda_count(instance, up ? CUDA_COUNT_uploads : CUDA_COUNT_downloads, count);
    cuda_count(instance, up ? CUDA_COUNT_upload_bytes : CUDA_COUNT_download_bytes, total);
    return ASSAY_OK;
}

static assay_status move_batch(assay_instance *instance, const char *what,
                               const assay_transfer *pieces, size_t count, bool up)
{
    cuda_piece few[FEW] = {{0}};
    cuda_piece *pinned = count <= FEW ? few : calloc(count, sizeof *pinned);

    if (pinned == NULL)
        return cuda_fail(instance, ASSAY_NOMEM, "%s: no memory for %zu pieces", what, count);
    const assay_status status = move_pinned(instance, what, pieces, count, up, pinned);
    if (pinned != few)
        free(pinned);
    return status;
}

assay_status cuda_upload(assay_instance *instance, const assay_transfer *pieces, size_t count)
{
    ASSAY_TRY(cuda_enter(instance, "upload"));
    const assay_status status = move_batch(instance, "upload", pieces, count, true);
    cuda_leave(instance);
    return status;
}

assay_status cuda_download(assay_instance *instance, const assay_transfer *pieces, size_t count)
{
    ASSAY_TRY(cuda_enter(instance, "download"));
    const assay_status status = move_batch(instance, "download", pieces, count, false);
    cuda_leave(instance);
    return status;
}
