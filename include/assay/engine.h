/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/engine.h -- a backend in use: its life, devices, memory, queues, and what it reports.
 *
 * An engine is one instance of a backend, with buffers of its own.  Typed calls over it are in
 * assay/compute.h; which backend to take, in assay/select.h.
 *
 * Life: create, init, use, shutdown, destroy.  Before init and after shutdown every function but
 * name, version, describe, is_initialized, capabilities of the table and destroy returns
 * ASSAY_NOT_INITIALIZED; the engine of backend "null" counts as initialised always.  A second init
 * and a second shutdown do nothing.
 *
 * Threads: any number may use one engine at once, init and shutdown included; destroy needs it
 * alone.  shutdown waits for calls that are under way.
 *
 * Handles: an assay_buffer names the engine that made it and its generation.  One of another engine
 * is refused with ASSAY_FOREIGN, one that was freed with ASSAY_FREED, one from before a recover
 * with ASSAY_GENERATION, freeing one that a queue still uses with ASSAY_PENDING; none of them is
 * ever taken for another buffer. */
#ifndef ASSAY_ENGINE_H
#define ASSAY_ENGINE_H

#include "assay/pick.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct assay_engine assay_engine; /* opaque; owned by whoever created it */

typedef struct assay_engine_options {
    uint32_t struct_size;
    /* Backends whose kernels typed calls may run on this engine's buffers: a comma list, NULL: its
     * own alone, "": of all that reach its memory and are not explicit-only. */
    const char *kernels;
    /* 1: a call may bring its operands to the host, run there and take the results back where the
     * device has no kernel for it, or where kernels and transfers were measured and that is faster
     * beyond their intervals; the record says so.  0: it fails, or runs on the device. */
    uint32_t allow_host_fallback;
} assay_engine_options;

/* context: outlives the engine.  ASSAY_UNAVAILABLE: it has no usable backend of this name.
 * options NULL: defaults. */
assay_status assay_engine_create(assay_context *context, const char *backend,
                                 const assay_engine_options *options, assay_engine **out);
void assay_engine_destroy(assay_engine **engine); /* shuts down first */

/* Valid as long as the engine; never fail. */
const char *assay_engine_name(const assay_engine *engine);
const char *assay_engine_version(const assay_engine *engine);
bool assay_engine_is_initialized(const assay_engine *engine);
/* One line: name, version, device, generation, live buffers, calls.  Length as snprintf's. */
size_t assay_engine_describe(const assay_engine *engine, char *buf, size_t cap);

/* ---- life ---- */

/* device: number below device_count.  Safe when several threads call it first.  Of an engine that
 * is initialised it does nothing; on another device that is ASSAY_INVALID. */
assay_status assay_engine_init(assay_engine *engine, size_t device);
assay_status assay_engine_prepare(assay_engine *engine); /* may be called again */
/* Waits for all that was queued, and reports what failed in it. */
assay_status assay_engine_flush(assay_engine *engine);
assay_status assay_engine_synchronize(assay_engine *engine); /* flush of one backend: the same */
assay_status assay_engine_shutdown(assay_engine *engine);
/* false also where it cannot be known. */
bool assay_engine_is_lost(assay_engine *engine);
/* A new generation: buffers, queues and events from before are void.  ASSAY_UNSUPPORTED "recovery"
 * where the backend cannot; ASSAY_OK and nothing done when the device is not lost. */
assay_status assay_engine_recover(assay_engine *engine);
assay_status assay_engine_state(assay_engine *engine, assay_instance_state *out);

/* ---- what it is and can do ---- */

/* Before init too. out NULL and cap 0: only *count. */
assay_status assay_engine_devices(assay_engine *engine, assay_device_info *out, size_t cap,
                                  size_t *count);
/* With the rates that were measured here, from the context's store. */
assay_status assay_engine_profile(assay_engine *engine, assay_device_profile *out);
/* false also before init. */
bool assay_engine_supports(assay_engine *engine, assay_feature feature);
/* ASSAY_UNSUPPORTED with the feature and the backend in the text. */
assay_status assay_engine_require(assay_engine *engine, assay_feature feature);
const char *assay_feature_name(assay_feature feature); /* "?" for a number outside */
/* Would a grid barrier of this launch be possible?  UNSUPPORTED without GRID_SYNC. */
assay_status assay_engine_grid_fits(assay_engine *engine, uint64_t workgroups, uint32_t invocations,
                                    bool *out);
/* Has the table a kernel of this engine for these dtypes? */
bool assay_engine_supports_op(assay_engine *engine, assay_op_id op, const uint8_t *dtypes,
                              size_t dtype_count);

/* ---- memory ---- */

/* bytes 0 is ASSAY_INVALID.  Zero-filled on backends ref and fake, else undefined.  ASSAY_NOMEM
 * leaves requested and available bytes in assay_last_detail.  align 0: 64. */
assay_status assay_engine_alloc(assay_engine *engine, uint64_t bytes, uint64_t align,
                                assay_buffer *out);
/* Memory of the caller's, which outlives the handle. */
assay_status assay_engine_wrap(assay_engine *engine, void *host, uint64_t bytes, assay_buffer *out);
assay_status assay_engine_free(assay_engine *engine, assay_buffer buffer);
/* Whole buffers: bytes must be the buffer's size. */
assay_status assay_engine_upload(assay_engine *engine, assay_buffer to, const void *from,
                                 uint64_t bytes);
assay_status assay_engine_download(assay_engine *engine, void *to, assay_buffer from,
                                   uint64_t bytes);
/* Parts; 0 bytes at the end are legal. */
assay_status assay_engine_upload_at(assay_engine *engine, assay_buffer to, uint64_t offset,
                                    const void *from, uint64_t bytes);
assay_status assay_engine_download_at(assay_engine *engine, void *to, assay_buffer from,
                                      uint64_t offset, uint64_t bytes);
/* Several as one staging operation: all or none; overlaps in order, the later counts. */
assay_status assay_engine_upload_many(assay_engine *engine, const assay_transfer *pieces,
                                      size_t count);
assay_status assay_engine_download_many(assay_engine *engine, const assay_transfer *pieces,
                                        size_t count);
/* Within the device; ranges of one buffer may overlap. */
assay_status assay_engine_copy(assay_engine *engine, assay_buffer to, uint64_t to_offset,
                               assay_buffer from, uint64_t from_offset, uint64_t bytes);
/* Into a buffer of one engine from one of another: device to device where their backend does that,
 * else down to the host and up again; path, unless NULL: PEER or STAGING, which it was. */
assay_status assay_engine_copy_from(assay_engine *engine, assay_buffer to, uint64_t to_offset,
                                    assay_engine *source, assay_buffer from, uint64_t from_offset,
                                    uint64_t bytes, assay_path *path);
assay_status assay_engine_fill(assay_engine *engine, assay_buffer to, uint64_t offset,
                               uint64_t bytes, uint8_t value);
/* Valid until the buffer is freed; ASSAY_UNSUPPORTED without UNIFIED_MEMORY. */
assay_status assay_engine_map(assay_engine *engine, assay_buffer buffer, void **host);

/* Memory of the host that is fixed ("pinned") for the device: uploads from it and downloads to it
 * go without a copy on the way, and cost what was measured of such memory.  At a multiple of 64,
 * until it is freed or the engine is shut down; after a recover still memory, fixed no longer.
 * ASSAY_UNSUPPORTED "pinned memory" where it would save nothing: malloc will do then. */
assay_status assay_engine_host_alloc(assay_engine *engine, uint64_t bytes, void **out);
/* NULL does nothing.  ASSAY_FOREIGN: host_alloc of this engine did not give it; ASSAY_FREED: it was
 * freed before (told apart as long as its place in a list of 64 is not needed). */
assay_status assay_engine_host_free(assay_engine *engine, void *host);

/* What moving bytes as one operation costs here, by what a sweep measured. */
typedef struct assay_transfer_cost {
    uint32_t struct_size;
    assay_path path; /* by which it goes */
    double median_ns, lo_ns, hi_ns;
    char from[64], to[64]; /* memories: "host:pageable", "host:pinned", "cuda:0" */
} assay_transfer_cost;
/* Memory of host_alloc counts as pinned where all the bytes lie in one block of it, any other and
 * NULL as pageable.  ASSAY_NOTFOUND: not measured here; out stays. */
assay_status assay_engine_upload_cost(assay_engine *engine, const void *from, uint64_t bytes,
                                      assay_transfer_cost *out);
assay_status assay_engine_download_cost(assay_engine *engine, const void *to, uint64_t bytes,
                                        assay_transfer_cost *out);
/* From a buffer of one engine to one of another.  path: PEER, device to device, where that was
 * measured; STAGING, by way of the host, the sum of a download and an upload; COPY within one
 * engine. */
assay_status assay_engine_pair_cost(assay_engine *from, assay_engine *to, uint64_t bytes,
                                    assay_transfer_cost *out);

/* ---- queues and events ---- */

/* ASSAY_UNSUPPORTED without ASYNC_COMPUTE. */
assay_status assay_engine_queue_create(assay_engine *engine, assay_queue **out);
assay_status assay_engine_queue_destroy(assay_engine *engine, assay_queue **queue); /* waits */
assay_status assay_engine_queue_wait(assay_engine *engine, assay_queue *queue);
assay_status assay_engine_event_create(assay_engine *engine, assay_event **out);
assay_status assay_engine_event_destroy(assay_engine *engine, assay_event **event);
assay_status assay_engine_event_record(assay_engine *engine, assay_event *event,
                                       assay_queue *queue);
assay_status assay_engine_event_wait(assay_engine *engine, assay_event *event);
assay_status assay_engine_event_ready(assay_engine *engine, assay_event *event, bool *out);
/* Nanoseconds between two that have passed; ASSAY_PENDING when one has not. */
assay_status assay_engine_event_elapsed(assay_engine *engine, assay_event *from, assay_event *to,
                                        double *out_ns);

/* ---- faults and figures ---- */

/* ASSAY_UNSUPPORTED without FAULT_INJECTION. */
assay_status assay_engine_inject(assay_engine *engine, const assay_fault *fault);

/* The engine's own counters, then the backend's, each name once, sorted.  Two calls as for devices.
 * A sensor whose reading failed has the value ASSAY_METRIC_UNKNOWN. */
assay_status assay_engine_metrics(assay_engine *engine, assay_metric *out, size_t cap,
                                  size_t *count);
/* The same as OpenMetrics text, ended by "# EOF"; length as snprintf's. */
size_t assay_engine_metrics_text(assay_engine *engine, char *buf, size_t cap);

/* A ring of the last calls: what was asked, what ran. */
#define ASSAY_TRACE_EVENTS 256
typedef struct assay_trace_event {
    uint64_t number;   /* from 1, in the order of their ends */
    uint64_t begin_ns; /* CLOCK_MONOTONIC_RAW */
    uint64_t took_ns;
    assay_status status;
    char what[32];   /* "upload", "gemm" */
    char detail[64]; /* kernel, or bytes */
} assay_trace_event;
/* Off at first, unless $ASSAY_TRACE is 1; costs two readings of the clock a call. */
void assay_engine_trace(assay_engine *engine, bool on);
/* Oldest first; returns how many there are, at most ASSAY_TRACE_EVENTS. */
size_t assay_engine_trace_read(assay_engine *engine, assay_trace_event *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
