/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/backend_defaults.c -- what stands in for the slots that a backend leaves out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/backend_slots.h"
#include "runtime/error.h"

static assay_status default_open(const assay_host *host, assay_instance **out)
{
    (void)host;
    *out = NULL;
    return ASSAY_OK;
}

static void default_close(assay_instance *instance)
{
    (void)instance;
}

static assay_status default_device_count(assay_instance *instance, size_t *out)
{
    (void)instance;
    *out = 1;
    return ASSAY_OK;
}

static assay_status default_device_info(assay_instance *instance, size_t device,
                                        assay_device_info *out)
{
    (void)instance;
    if (device != 0)
        return assay__fail(ASSAY_INVALID, "device %zu does not exist; there is one, the host",
                           device);
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    memcpy(out->name, "host", sizeof "host");
    out->is_cpu = 1;
    return ASSAY_OK;
}

static assay_status default_library_identity(assay_instance *instance, const char *library,
                                             char *buf, size_t cap)
{
    (void)instance;
    (void)buf;
    (void)cap;
    return assay__fail(ASSAY_UNAVAILABLE, "library '%s': this backend identifies no libraries",
                       library);
}

static assay_status default_alloc(assay_instance *instance, uint64_t bytes, uint64_t align,
                                  assay_buffer *out)
{
    void *memory = NULL;

    (void)instance;
    if (align < sizeof(void *))
        align = sizeof(void *);
    if ((align & (align - 1)) != 0)
        return assay__fail(ASSAY_INVALID, "alloc: alignment %llu is no power of two",
                           (unsigned long long)align);
    if (bytes > SIZE_MAX / 2 || posix_memalign(&memory, align, bytes > 0 ? bytes : 1) != 0)
        return assay__fail(ASSAY_NOMEM, "alloc: no memory for %llu bytes",
                           (unsigned long long)bytes);
    memset(out, 0, sizeof *out);
    out->at.host = memory;
    out->size_bytes = bytes;
    return ASSAY_OK;
}

static assay_status need_host(const char *what, assay_buffer buffer)
{
    if (buffer.owner != 0)
        return assay__fail(ASSAY_UNSUPPORTED,
                           "%s: the backend keeps buffers of its own but does not offer this",
                           what);
    return ASSAY_OK;
}

static assay_status need_range(const char *what, assay_buffer buffer, uint64_t offset,
                               uint64_t bytes)
{
    ASSAY_TRY(need_host(what, buffer));
    if (offset > buffer.size_bytes || bytes > buffer.size_bytes - offset)
        return assay__fail(ASSAY_INVALID, "%s: %llu bytes at %llu leave a buffer of %llu", what,
                           (unsigned long long)bytes, (unsigned long long)offset,
                           (unsigned long long)buffer.size_bytes);
    if (buffer.at.host == NULL && bytes > 0)
        return assay__fail(ASSAY_INVALID, "%s: the buffer is NULL", what);
    return ASSAY_OK;
}

static assay_status default_free(assay_instance *instance, assay_buffer buffer)
{
    (void)instance;
    ASSAY_TRY(need_host("free", buffer));
    free(buffer.at.host);
    return ASSAY_OK;
}

static assay_status default_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                                 assay_buffer src, uint64_t src_offset, uint64_t bytes)
{
    (void)instance;
    ASSAY_TRY(need_range("copy", dst, dst_offset, bytes));
    ASSAY_TRY(need_range("copy", src, src_offset, bytes));
    if (bytes > 0)
        memmove((char *)dst.at.host + dst_offset, (const char *)src.at.host + src_offset, bytes);
    return ASSAY_OK;
}

static assay_status default_fill(assay_instance *instance, assay_buffer dst, uint64_t offset,
                                 uint64_t bytes, uint8_t value)
{
    (void)instance;
    ASSAY_TRY(need_range("fill", dst, offset, bytes));
    if (bytes > 0)
        memset((char *)dst.at.host + offset, value, bytes);
    return ASSAY_OK;
}

static assay_status default_wrap(assay_instance *instance, void *host, uint64_t bytes,
                                 assay_buffer *out)
{
    (void)instance;
    memset(out, 0, sizeof *out);
    out->at.host = host;
    out->size_bytes = bytes;
    return ASSAY_OK;
}

static assay_status default_device_profile(assay_instance *instance, size_t device,
                                           assay_device_profile *out)
{
    (void)instance;
    (void)device;
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    for (int i = 0; i < 3; i++)
        out->max_workgroup_size[i] = 1;
    out->max_workgroup_invocations = out->max_workgroups = 1;
    out->flops_per_ns = out->bytes_per_ns = (double)NAN;
    return ASSAY_OK;
}

static assay_status default_select_device(assay_instance *instance, size_t device)
{
    (void)instance;
    return device == 0 ? ASSAY_OK
                       : assay__fail(ASSAY_UNSUPPORTED,
                                     "device %zu: this backend always takes device 0", device);
}

static assay_status default_prepare(assay_instance *instance)
{
    (void)instance;
    return ASSAY_OK;
}

static assay_status default_state(assay_instance *instance, assay_instance_state *out)
{
    (void)instance;
    *out = (assay_instance_state){.struct_size = sizeof *out, .generation = 1};
    return ASSAY_OK;
}

static assay_status fail_lacks(const char *feature)
{
    return assay__fail(ASSAY_UNSUPPORTED, "this backend has no %s", feature);
}

static assay_status default_recover(assay_instance *instance)
{
    (void)instance;
    return fail_lacks("device recovery");
}

static assay_status default_map(assay_instance *instance, assay_buffer buffer, void **host,
                                uint64_t *bytes)
{
    (void)instance;
    ASSAY_TRY(need_host("map", buffer));
    *host = buffer.at.host;
    *bytes = buffer.size_bytes;
    return ASSAY_OK;
}

static assay_status default_queue_create(assay_instance *instance, assay_queue **out)
{
    (void)instance;
    (void)out;
    return fail_lacks("async compute: no queues");
}

static assay_status default_queue_use(assay_instance *instance, assay_queue *queue)
{
    (void)instance;
    (void)queue;
    return fail_lacks("async compute: no queues");
}

static assay_status default_event_create(assay_instance *instance, assay_event **out)
{
    (void)instance;
    (void)out;
    return fail_lacks("async compute: no events");
}

static assay_status default_event_use(assay_instance *instance, assay_event *event)
{
    (void)instance;
    (void)event;
    return fail_lacks("async compute: no events");
}

static assay_status default_event_record(assay_instance *instance, assay_event *event,
                                         assay_queue *queue)
{
    (void)queue;
    return default_event_use(instance, event);
}

static assay_status default_event_ready(assay_instance *instance, assay_event *event, bool *out)
{
    (void)out;
    return default_event_use(instance, event);
}

static assay_status default_event_elapsed(assay_instance *instance, assay_event *from,
                                          assay_event *to, double *out_ns)
{
    (void)to;
    (void)out_ns;
    return default_event_use(instance, from);
}

static assay_status default_metrics(assay_instance *instance, assay_metric *out, size_t cap,
                                    size_t *count)
{
    (void)instance;
    (void)out;
    (void)cap;
    *count = 0;
    return ASSAY_OK;
}

static assay_status default_inject(assay_instance *instance, const assay_fault *fault)
{
    (void)instance;
    (void)fault;
    return fail_lacks("fault injection");
}

static assay_status default_grid_fits(assay_instance *instance, uint64_t workgroups,
                                      uint32_t invocations, bool *out)
{
    (void)instance;
    (void)workgroups;
    (void)invocations;
    (void)out;
    return fail_lacks("grid sync");
}

static assay_status default_host_alloc(assay_instance *instance, uint64_t bytes, void **out)
{
    (void)instance;
    (void)bytes;
    (void)out;
    return fail_lacks("pinned memory");
}

static assay_status default_host_free(assay_instance *instance, void *host)
{
    (void)instance;
    (void)host;
    return fail_lacks("pinned memory");
}

static assay_status default_peer_copy(assay_instance *instance, assay_buffer dst,
                                      uint64_t dst_offset, assay_instance *source, assay_buffer src,
                                      uint64_t src_offset, uint64_t bytes)
{
    (void)instance;
    (void)dst;
    (void)dst_offset;
    (void)source;
    (void)src;
    (void)src_offset;
    (void)bytes;
    return fail_lacks("copies from device to device");
}

static assay_status default_probe(assay_instance *instance, assay_probe *probe)
{
    (void)instance;
    (void)probe;
    return fail_lacks("probes");
}

static assay_status default_digest(assay_instance *instance, assay_buffer buffer, uint64_t offset,
                                   uint64_t bytes, uint64_t step, size_t count, uint64_t *out)
{
    (void)instance;
    (void)buffer;
    (void)offset;
    (void)bytes;
    (void)step;
    (void)count;
    (void)out;
    return fail_lacks("digests");
}

static assay_status default_judge(assay_instance *instance, assay_judge *judge)
{
    (void)instance;
    (void)judge;
    return fail_lacks("a judge on the device");
}

static assay_status default_launch(assay_instance *instance, assay_kernel_fn run,
                                   const assay_launch *launch)
{
    (void)instance;
    return run(launch);
}

static assay_status default_synchronize(assay_instance *instance)
{
    (void)instance;
    return ASSAY_OK;
}

const assay_backend assay__backend_defaults = {
    .struct_size = sizeof(assay_backend),
    .abi_version = ASSAY_PLUGIN_ABI,
    .open = default_open,
    .close = default_close,
    .device_count = default_device_count,
    .device_info = default_device_info,
    .library_identity = default_library_identity,
    .alloc = default_alloc,
    .free = default_free,
    .copy = default_copy,
    .fill = default_fill,
    .wrap = default_wrap,
    .launch = default_launch,
    .synchronize = default_synchronize,
    .device_profile = default_device_profile,
    .select_device = default_select_device,
    .prepare = default_prepare,
    .state = default_state,
    .recover = default_recover,
    .map = default_map,
    .queue_create = default_queue_create,
    .queue_destroy = default_queue_use,
    .queue_wait = default_queue_use,
    .event_create = default_event_create,
    .event_destroy = default_event_use,
    .event_record = default_event_record,
    .event_wait = default_event_use,
    .event_ready = default_event_ready,
    .event_elapsed = default_event_elapsed,
    .metrics = default_metrics,
    .inject = default_inject,
    .grid_fits = default_grid_fits,
    .host_alloc = default_host_alloc,
    .host_free = default_host_free,
    .peer_copy = default_peer_copy,
    .probe = default_probe,
    .digest = default_digest,
    .judge = default_judge,
};
