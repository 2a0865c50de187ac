/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_peer.c -- bytes from the memory of one device into that of another.
 *
 * The driver copies between any two contexts, by way of the host where the devices do not reach one
 * another: that is left to the library, which then says so. */
#include "backends/cuda/cuda_instance.h"

static assay_status check_reach(assay_instance *instance, const assay_instance *source)
{
    const CUdevice to = cuda_selected(instance)->number, from = cuda_selected(source)->number;
    int reaches = 1;

    if (to != from)
        ASSAY_TRY(cuda_check(instance, instance->cu->cuDeviceCanAccessPeer(&reaches, to, from),
                             "peer_copy"));
    return reaches != 0 ? ASSAY_OK
                        : cuda_fail(instance, ASSAY_UNSUPPORTED,
                                    "peer_copy: devices %zu and %zu do not reach one another",
                                    instance->device, source->device);
}

static assay_status need_device(const assay_instance *instance, const cuda_place *place)
{
    return place->host == NULL
               ? ASSAY_OK
               : cuda_fail(instance, ASSAY_INVALID,
                           "peer_copy: the buffer is memory of the host; use upload or download");
}

static assay_status move(assay_instance *instance, const cuda_place *to,
                         const assay_instance *source, const cuda_place *from, uint64_t bytes)
{
    if (bytes == 0)
        return ASSAY_OK;
    ASSAY_TRY(cuda_check(instance,
                         instance->cu->cuMemcpyPeerAsync(to->device, instance->context,
                                                         from->device, source->context,
                                                         (size_t)bytes, instance->own->stream),
                         "peer_copy"));
    return cuda_check(instance, instance->cu->cuStreamSynchronize(instance->own->stream),
                      "peer_copy");
}

/* With both inside: the source is pinned. */
static assay_status copy_into(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                              const assay_instance *source, const cuda_place *from, uint64_t bytes)
{
    cuda_place to;

    ASSAY_TRY(check_reach(instance, source));
    ASSAY_TRY(cuda_pin(instance, "peer_copy, destination", dst, dst_offset, bytes, &to));
    assay_status status = need_device(instance, &to);
    if (status == ASSAY_OK)
        status = move(instance, &to, source, from, bytes);
    cuda_unpin(instance, &to);
    if (status == ASSAY_OK) {
        cuda_count(instance, CUDA_COUNT_copies, 1);
        cuda_count(instance, CUDA_COUNT_copy_bytes, bytes);
    }
    return status;
}

/* What the source was told before has ended first: the streams of two contexts know nothing of each
 * other. */
static assay_status copy_out_of(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                                assay_instance *source, const cuda_place *from, uint64_t bytes)
{
    ASSAY_TRY(need_device(source, from));
    ASSAY_TRY(cuda_check(source, source->cu->cuStreamSynchronize(source->own->stream),
                         "peer_copy, source"));
    ASSAY_TRY(cuda_enter(instance, "peer_copy"));
    const assay_status status = copy_into(instance, dst, dst_offset, source, from, bytes);
    cuda_leave(instance);
    return status;
}

assay_status cuda_peer_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                            assay_instance *source, assay_buffer src, uint64_t src_offset,
                            uint64_t bytes)
{
    cuda_place from;

    ASSAY_TRY(cuda_enter(source, "peer_copy, source"));
    assay_status status = cuda_pin(source, "peer_copy, source", src, src_offset, bytes, &from);
    if (status == ASSAY_OK) {
        status = copy_out_of(instance, dst, dst_offset, source, &from, bytes);
        cuda_unpin(source, &from);
    }
    cuda_leave(source);
    return status;
}
