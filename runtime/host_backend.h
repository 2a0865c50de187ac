/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_backend.h -- the backend slots of a plug-in whose kernels run on the host's CPU.
 *
 * Linked hidden into each such plug-in.  Buffers are slots of the instance with a generation, so
 * that a stale handle is refused; launch and measure turn slots into host addresses once, before
 * the clock starts.  All slots are thread-safe except close. */
#ifndef ASSAY_RUNTIME_HOST_BACKEND_H
#define ASSAY_RUNTIME_HOST_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>

#include "assay/plugin.h"
#include "runtime/host_pinned.h"

typedef struct assay__host_slot {
    void *memory; /* NULL: free slot */
    uint64_t bytes;
    uint32_t generation;
    uint32_t users; /* queued launches that still need it */
    bool owned;
} assay__host_slot;

/* What a plug-in counts; the names of assay_metric, in this order. */
#define ASSAY__HOST_METRICS(X) \
    X(allocs)                  \
    X(frees)                   \
    X(uploads)                 \
    X(upload_bytes)            \
    X(downloads)               \
    X(download_bytes)          \
    X(copies)                  \
    X(copy_bytes)              \
    X(fills)                   \
    X(fill_bytes)              \
    X(staging_operations)      \
    X(launches)                \
    X(queued_launches)         \
    X(faults)                  \
    X(recoveries)
enum {
#define X(name) ASSAY__HOST_COUNT_##name,
    ASSAY__HOST_METRICS(X)
#undef X
        ASSAY__HOST_COUNTS
};

struct assay_instance {
    const assay_host *host; /* borrowed; may be NULL */
    /* Mark in buffers: 48 bits unique in the process, then the low bits of the generation. */
    uint64_t owner;
    pthread_mutex_t lock;
    pthread_cond_t let_go; /* a queue has one holder less */
    assay__host_slot *slots;
    size_t slot_count;
    uint64_t live_buffers, live_bytes, generation;
    assay_queue *queues; /* a list; those from before a recover stay in it, closed */
    assay_event *events;
    atomic_bool has_queues; /* one was made */
    bool zero_fill;         /* set by a plug-in's open: alloc gives zeros */
    atomic_bool is_lost;
    atomic_bool has_faults; /* any of those below is planned */
    assay_fault faults[ASSAY_FAULT_LAUNCH + 1];
    _Atomic uint64_t counts[ASSAY__HOST_COUNTS];
    assay__pinned pinned; /* by host_alloc */
};

/* Records the text where the host gave a place for it; returns `status`. */
__attribute__((format(printf, 3, 4))) assay_status
assay__host_fail(const assay_instance *instance, assay_status status, const char *format, ...);
/* The same with a detail, whose status it returns. */
__attribute__((format(printf, 3, 4))) assay_status
assay__host_fail_detail(const assay_instance *instance, const assay_error_detail *detail,
                        const char *format, ...);

/* Text of the calling thread's last assay__host_fail in this plug-in. */
const char *assay__host_last_text(void);
void assay__host_clear_text(void);

static inline void assay__host_count(assay_instance *instance, int what, uint64_t by)
{
    atomic_fetch_add_explicit(&instance->counts[what], by, memory_order_relaxed);
}

assay_status assay__host_open(const assay_host *host, assay_instance **out);
void assay__host_close(assay_instance *instance);
assay_status assay__host_device_count(assay_instance *instance, size_t *out);
assay_status assay__host_device_info(assay_instance *instance, size_t device,
                                     assay_device_info *out);
assay_status assay__host_device_profile(assay_instance *instance, size_t device,
                                        assay_device_profile *out);

/* The same of a backend for tests, which has the slot inject. */
assay_status assay__host_test_profile(assay_instance *instance, size_t device,
                                      assay_device_profile *out);

/* ---- memory: host_memory.c ---- */

assay_status assay__host_alloc(assay_instance *instance, uint64_t bytes, uint64_t align,
                               assay_buffer *out);
assay_status assay__host_free(assay_instance *instance, assay_buffer buffer);
assay_status assay__host_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                              assay_buffer src, uint64_t src_offset, uint64_t bytes);
assay_status assay__host_fill(assay_instance *instance, assay_buffer dst, uint64_t offset,
                              uint64_t bytes, uint8_t value);
assay_status assay__host_wrap(assay_instance *instance, void *host, uint64_t bytes,
                              assay_buffer *out);
assay_status assay__host_upload(assay_instance *instance, const assay_transfer *pieces,
                                size_t count);
assay_status assay__host_download(assay_instance *instance, const assay_transfer *pieces,
                                  size_t count);
assay_status assay__host_map(assay_instance *instance, assay_buffer buffer, void **host,
                             uint64_t *bytes);
/* Frees every slot, whoever holds it, and starts a new generation of marks. Lock held. */
void assay__host_forget_memory(assay_instance *instance);

/* ---- handles: host_handle.c; lock held ---- */

/* FOREIGN, GENERATION, or INVALID for a place that is none of slot_count: with their texts. */
assay_status assay__host_check_handle(const assay_instance *instance, assay_buffer buffer,
                                      size_t slot_count);
assay_status assay__host_fail_freed(const assay_instance *instance);
/* Handles of before are void from now on. */
void assay__host_new_generation(assay_instance *instance);

/* Operands with slots of `instance` replaced by host addresses; the status of a stale or foreign
 * buffer.  pin: +1 keeps slots from being freed, -1 lets them go, 0 neither. */
assay_status assay__host_resolve(assay_instance *instance, const assay_launch *in,
                                 assay_launch *out, assay_tensor *operands, int pin);

/* Slots of a backend for tests: host_fixed.c. */
assay_status assay__host_fixed_alloc(assay_instance *instance, uint64_t bytes, void **out);
assay_status assay__host_fixed_free(assay_instance *instance, void *host);
assay_status assay__host_peer_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                                   assay_instance *source, assay_buffer src, uint64_t src_offset,
                                   uint64_t bytes);

/* ---- faults and loss: host_fault.c ---- */

assay_status assay__host_inject(assay_instance *instance, const assay_fault *fault);
assay_status assay__host_state(assay_instance *instance, assay_instance_state *out);
assay_status assay__host_recover(assay_instance *instance);
assay_status assay__host_metrics(assay_instance *instance, assay_metric *out, size_t cap,
                                 size_t *count);
/* ASSAY_DEVICE_LOST when the device is, or now goes by plan. */
assay_status assay__host_alive(assay_instance *instance, const char *what);
/* The same for what is no operation yet: no planned fault comes by it. */
assay_status assay__host_not_lost(assay_instance *instance, const char *what);
/* Does the planned fault of this kind come now?  *delay_ns: NULL, or a planned delay. */
bool assay__host_fault_due(assay_instance *instance, assay_fault_kind kind, uint64_t *delay_ns);

/* ---- launches and queues: host_queue.c ---- */

assay_status assay__host_launch(assay_instance *instance, assay_kernel_fn run,
                                const assay_launch *launch);
assay_status assay__host_synchronize(assay_instance *instance); /* flush, too */
assay_status assay__host_queue_create(assay_instance *instance, assay_queue **out);
assay_status assay__host_queue_destroy(assay_instance *instance, assay_queue *queue);
assay_status assay__host_queue_wait(assay_instance *instance, assay_queue *queue);
assay_status assay__host_event_create(assay_instance *instance, assay_event **out);
assay_status assay__host_event_destroy(assay_instance *instance, assay_event *event);
assay_status assay__host_event_record(assay_instance *instance, assay_event *event,
                                      assay_queue *queue);
assay_status assay__host_event_wait(assay_instance *instance, assay_event *event);
assay_status assay__host_event_ready(assay_instance *instance, assay_event *event, bool *out);
assay_status assay__host_event_elapsed(assay_instance *instance, assay_event *from, assay_event *to,
                                       double *out_ns);
/* Lets queues finish and closes them; `forget` frees them and the events. No lock held. */
void assay__host_close_queues(assay_instance *instance, bool forget);

assay_status assay__host_digest(assay_instance *instance, assay_buffer buffer, uint64_t offset,
                                uint64_t bytes, uint64_t step, size_t count, uint64_t *out);
assay_status assay__host_measure(assay_instance *instance, const assay_measure *what,
                                 assay_clock_info *clock);

/* "soname=, version=, build_id=" lines of a loaded library: by its SONAME ("libm.so.6"), or by an
 * address inside it.  ASSAY_UNAVAILABLE when it is not loaded. */
assay_status assay__host_library_identity(assay_instance *instance, const char *library, char *buf,
                                          size_t cap);
assay_status assay__host_library_at(const assay_instance *instance, const void *address, char *buf,
                                    size_t cap);

/* What follows ".so." in the name of the file behind `path`; "unknown" where nothing does. */
void assay__host_file_version(const char *path, char *version, size_t cap);

/* CPUs that the calling thread may use (affinity), at least 1. */
unsigned assay__host_usable_cpus(void);

/* CLOCK_MONOTONIC_RAW in nanoseconds. */
uint64_t assay__host_now_ns(void);

/* The slots that no host plug-in replaces, and with them those of the one real device; open,
 * library_identity, launch and measure are named by each plug-in, inject by those for tests. */
#define ASSAY__HOST_MEMORY_SLOTS \
    ASSAY__HOST_PLAIN_SLOTS, .synchronize = assay__host_synchronize, .metrics = assay__host_metrics
/* But for what a scripted device does its own way. */
#define ASSAY__HOST_PLAIN_SLOTS                                                                   \
    .struct_size = sizeof(assay_backend), .abi_version = ASSAY_PLUGIN_ABI,                        \
    .close = assay__host_close, .alloc = assay__host_alloc, .free = assay__host_free,             \
    .copy = assay__host_copy, .fill = assay__host_fill, .wrap = assay__host_wrap,                 \
    .flush = assay__host_synchronize, .state = assay__host_state, .recover = assay__host_recover, \
    .upload = assay__host_upload, .download = assay__host_download,                               \
    .queue_create = assay__host_queue_create, .queue_destroy = assay__host_queue_destroy,         \
    .queue_wait = assay__host_queue_wait, .event_create = assay__host_event_create,               \
    .event_destroy = assay__host_event_destroy, .event_record = assay__host_event_record,         \
    .event_wait = assay__host_event_wait, .event_ready = assay__host_event_ready,                 \
    .event_elapsed = assay__host_event_elapsed
#define ASSAY__HOST_BACKEND_SLOTS                                       \
    ASSAY__HOST_MEMORY_SLOTS, .device_count = assay__host_device_count, \
                              .device_info = assay__host_device_info,   \
                              .device_profile = assay__host_device_profile, .map = assay__host_map

#endif
