/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_plugin.c -- the slots of the CUDA backend.
 *
 * Left out: inject, which would let a program fake what happens to a device that others share, and
 * grid_fits, since no launch of ours is cooperative. */
#include <string.h>

#include "backends/cuda/cuda_instance.h"
#include "backends/cuda/cuda_judge.h"
#include "backends/cuda/cuda_manifest.h"
#include "backends/cuda/cuda_probe.h"

static bool is_called(const char *library, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(library, name, length) == 0 &&
           (library[length] == '\0' || strncmp(library + length, ".so", 3) == 0);
}

/* None of them needs a context, which would take the device's memory in every process that only
 * lists kernels. */
static assay_status library_identity(assay_instance *instance, const char *library, char *buf,
                                     size_t cap)
{
    if (is_called(library, "libcuda"))
        return cuda_driver_identity(instance, instance->cu, buf, cap);
    if (is_called(library, "libnvrtc"))
        return cuda_nvrtc_identity(instance, buf, cap);
    if (!is_called(library, "libcublasLt"))
        return cuda_fail(instance, ASSAY_UNAVAILABLE,
                         "library '%s': there are libcuda, libnvrtc and libcublasLt", library);
    cuda_enter_any(instance);
    const assay_status status = cuda_blaslt_identity(instance, buf, cap);
    cuda_leave(instance);
    return status;
}

const assay_backend cuda_backend = {
    .struct_size = sizeof(assay_backend),
    .abi_version = ASSAY_PLUGIN_ABI,
    .open = cuda_open,
    .close = cuda_close,
    .device_count = cuda_device_count,
    .device_info = cuda_device_info,
    .library_identity = library_identity,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .wrap = cuda_wrap,
    .launch = cuda_launch,
    .synchronize = cuda_synchronize,
    .measure = cuda_measure,
    .device_profile = cuda_device_profile,
    .select_device = cuda_select_device,
    .prepare = cuda_prepare,
    .flush = cuda_synchronize,
    .state = cuda_state,
    .recover = cuda_recover,
    .upload = cuda_upload,
    .download = cuda_download,
    .map = cuda_map,
    .queue_create = cuda_queue_create,
    .queue_destroy = cuda_queue_destroy,
    .queue_wait = cuda_queue_wait,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_wait = cuda_event_wait,
    .event_ready = cuda_event_ready,
    .event_elapsed = cuda_event_elapsed,
    .metrics = cuda_metrics,
    .host_alloc = cuda_host_alloc,
    .host_free = cuda_host_free,
    .peer_copy = cuda_peer_copy,
    .probe = cuda_probe,
    .digest = cuda_digest,
    .judge = cuda_judge,
};
