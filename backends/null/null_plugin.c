/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/null/null_plugin.c -- a backend that is always there and does nothing.
 *
 * For programs that want to see whether they handle a backend without any ability, and for probes
 * that must not depend on a driver.  What waits or tells succeeds, since there is nothing to wait
 * for and nothing to tell; all else is ASSAY_UNSUPPORTED and says which call it was.  It has no
 * kernels and is chosen only when named. */
#include "assay/plugin.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/source_hash.h"
#include "gen/config.h"

struct assay_instance {
    const assay_host *host; /* borrowed; may be NULL */
};

static assay_status fail(const assay_instance *instance, assay_status status, const char *text)
{
    return instance->host != NULL ? instance->host->fail(status, text) : status;
}

static assay_status refuse(const assay_instance *instance, const char *operation)
{
    char text[192];

    (void)snprintf(text, sizeof text,
                   "%s: backend 'null' only synchronizes; take a backend that has it ('assay "
                   "devices' lists those that are here)",
                   operation);
    return fail(instance, ASSAY_UNSUPPORTED, text);
}

static assay_status check_device(const assay_instance *instance, assay_status status, size_t device)
{
    char text[96];

    if (device == 0)
        return ASSAY_OK;
    (void)snprintf(text, sizeof text, "device %zu: backend 'null' has one device, number 0",
                   device);
    return fail(instance, status, text);
}

/* ---- what succeeds ---- */

static assay_status null_open(const assay_host *host, assay_instance **out)
{
    static const char text[] =
        "backend 'null': no memory for an instance; free some and open again";
    assay_instance *instance = calloc(1, sizeof *instance);

    if (instance == NULL)
        return host != NULL ? host->fail(ASSAY_NOMEM, text) : ASSAY_NOMEM;
    instance->host = host;
    *out = instance;
    return ASSAY_OK;
}

static void null_close(assay_instance *instance)
{
    free(instance);
}

static assay_status null_device_count(assay_instance *instance, size_t *out)
{
    (void)instance;
    *out = 1; /* an engine is made on device 0 */
    return ASSAY_OK;
}

static assay_status null_device_info(assay_instance *instance, size_t device,
                                     assay_device_info *out)
{
    ASSAY_TRY(check_device(instance, ASSAY_INVALID, device));
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    memcpy(out->name, "null", sizeof "null");
    return ASSAY_OK;
}

static assay_status null_device_profile(assay_instance *instance, size_t device,
                                        assay_device_profile *out)
{
    ASSAY_TRY(check_device(instance, ASSAY_INVALID, device));
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    out->flops_per_ns = out->bytes_per_ns = (double)NAN;
    return ASSAY_OK;
}

static assay_status null_select_device(assay_instance *instance, size_t device)
{
    return check_device(instance, ASSAY_UNSUPPORTED, device);
}

/* prepare, flush and synchronize: nothing is ever under way. */
static assay_status null_wait(assay_instance *instance)
{
    (void)instance;
    return ASSAY_OK;
}

static assay_status null_state(assay_instance *instance, assay_instance_state *out)
{
    (void)instance;
    *out = (assay_instance_state){.struct_size = sizeof *out, .generation = 1};
    return ASSAY_OK;
}

static assay_status null_metrics(assay_instance *instance, assay_metric *out, size_t cap,
                                 size_t *count)
{
    (void)instance;
    (void)out;
    (void)cap;
    *count = 0;
    return ASSAY_OK;
}

/* ---- what is refused ---- */

/* REFUSE(slot, parameters after the instance): the parameters are not looked at. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define ALSO(...) __VA_ARGS__
#define REFUSE(slot, parameters)                                         \
    static assay_status null_##slot(assay_instance *instance parameters) \
    {                                                                    \
        return refuse(instance, #slot);                                  \
    }
REFUSE(library_identity, ALSO(, const char *library, char *buf, size_t cap))
REFUSE(alloc, ALSO(, uint64_t bytes, uint64_t align, assay_buffer *out))
REFUSE(free, ALSO(, assay_buffer buffer))
REFUSE(copy, ALSO(, assay_buffer dst, uint64_t dst_offset, assay_buffer src, uint64_t src_offset,
                  uint64_t bytes))
REFUSE(fill, ALSO(, assay_buffer dst, uint64_t offset, uint64_t bytes, uint8_t value))
REFUSE(wrap, ALSO(, void *host, uint64_t bytes, assay_buffer *out))
REFUSE(launch, ALSO(, assay_kernel_fn run, const assay_launch *launch))
REFUSE(measure, ALSO(, const assay_measure *what, assay_clock_info *clock))
REFUSE(recover, ALSO())
REFUSE(upload, ALSO(, const assay_transfer *pieces, size_t count))
REFUSE(download, ALSO(, const assay_transfer *pieces, size_t count))
REFUSE(map, ALSO(, assay_buffer buffer, void **host, uint64_t *bytes))
REFUSE(queue_create, ALSO(, assay_queue **out))
REFUSE(queue_destroy, ALSO(, assay_queue *queue))
REFUSE(queue_wait, ALSO(, assay_queue *queue))
REFUSE(event_create, ALSO(, assay_event **out))
REFUSE(event_destroy, ALSO(, assay_event *event))
REFUSE(event_record, ALSO(, assay_event *event, assay_queue *queue))
REFUSE(event_wait, ALSO(, assay_event *event))
REFUSE(event_ready, ALSO(, assay_event *event, bool *out))
REFUSE(event_elapsed, ALSO(, assay_event *from, assay_event *to, double *out_ns))
REFUSE(inject, ALSO(, const assay_fault *fault))
REFUSE(grid_fits, ALSO(, uint64_t workgroups, uint32_t invocations, bool *out))
REFUSE(host_alloc, ALSO(, uint64_t bytes, void **out))
REFUSE(host_free, ALSO(, void *host))
REFUSE(peer_copy, ALSO(, assay_buffer dst, uint64_t dst_offset, assay_instance *source,
                       assay_buffer src, uint64_t src_offset, uint64_t bytes))
REFUSE(probe, ALSO(, assay_probe *probe))
REFUSE(digest, ALSO(, assay_buffer buffer, uint64_t offset, uint64_t bytes, uint64_t step,
                    size_t count, uint64_t *out))
REFUSE(judge, ALSO(, assay_judge *judge))
#pragma GCC diagnostic pop

static const assay_backend backend = {
    .struct_size = sizeof(assay_backend),
    .abi_version = ASSAY_PLUGIN_ABI,
    .open = null_open,
    .close = null_close,
    .device_count = null_device_count,
    .device_info = null_device_info,
    .library_identity = null_library_identity,
    .alloc = null_alloc,
    .free = null_free,
    .copy = null_copy,
    .fill = null_fill,
    .wrap = null_wrap,
    .launch = null_launch,
    .synchronize = null_wait,
    .measure = null_measure,
    .device_profile = null_device_profile,
    .select_device = null_select_device,
    .prepare = null_wait,
    .flush = null_wait,
    .state = null_state,
    .recover = null_recover,
    .upload = null_upload,
    .download = null_download,
    .map = null_map,
    .queue_create = null_queue_create,
    .queue_destroy = null_queue_destroy,
    .queue_wait = null_queue_wait,
    .event_create = null_event_create,
    .event_destroy = null_event_destroy,
    .event_record = null_event_record,
    .event_wait = null_event_wait,
    .event_ready = null_event_ready,
    .event_elapsed = null_event_elapsed,
    .metrics = null_metrics,
    .inject = null_inject,
    .grid_fits = null_grid_fits,
    .host_alloc = null_host_alloc,
    .host_free = null_host_free,
    .peer_copy = null_peer_copy,
    .probe = null_probe,
    .digest = null_digest,
    .judge = null_judge,
};
/* A slot left out would get the library's default, and alloc would succeed. */
_Static_assert(sizeof(assay_backend) == offsetof(assay_backend, judge) + sizeof(void *),
               "assay_backend has a slot that this backend does not refuse");

ASSAY_PLUGIN_EXPORT const assay_manifest assay_plugin_manifest = {
    .struct_size = sizeof(assay_manifest),
    .abi_version = ASSAY_PLUGIN_ABI,
    .name = "null",
    .version = ASSAY_VERSION,
    .compiler = ASSAY_COMPILER_ID,
    .sources = assay__source_hashes,
    .source_count = ASSAY_SOURCE_COUNT,
    .backend = &backend,
    .explicit_only = 1,
};
