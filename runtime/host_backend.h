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

#include "assay/plugin.h"

typedef struct assay__host_slot {
    void *memory; /* NULL: free slot */
    uint64_t bytes;
    uint32_t generation;
    bool owned;
} assay__host_slot;

struct assay_instance {
    const assay_host *host; /* borrowed; may be NULL */
    uint64_t owner;         /* mark in buffers, unique in the process */
    pthread_mutex_t lock;
    assay__host_slot *slots;
    size_t slot_count;
};

/* Records the text where the host gave a place for it; returns `status`. */
__attribute__((format(printf, 3, 4))) assay_status
assay__host_fail(const assay_instance *instance, assay_status status, const char *format, ...);

assay_status assay__host_open(const assay_host *host, assay_instance **out);
void assay__host_close(assay_instance *instance);
assay_status assay__host_device_count(assay_instance *instance, size_t *out);
assay_status assay__host_device_info(assay_instance *instance, size_t device,
                                     assay_device_info *out);
assay_status assay__host_alloc(assay_instance *instance, uint64_t bytes, uint64_t align,
                               assay_buffer *out);
assay_status assay__host_free(assay_instance *instance, assay_buffer buffer);
assay_status assay__host_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                              assay_buffer src, uint64_t src_offset, uint64_t bytes);
assay_status assay__host_fill(assay_instance *instance, assay_buffer dst, uint64_t offset,
                              uint64_t bytes, uint8_t value);
assay_status assay__host_wrap(assay_instance *instance, void *host, uint64_t bytes,
                              assay_buffer *out);
assay_status assay__host_launch(assay_instance *instance, assay_kernel_fn run,
                                const assay_launch *launch);
assay_status assay__host_synchronize(assay_instance *instance);
assay_status assay__host_measure(assay_instance *instance, const assay_measure *what,
                                 assay_clock_info *clock);

/* Operands with slots of `instance` replaced by host addresses; ASSAY_INVALID for a stale or
 * foreign buffer. */
assay_status assay__host_resolve(assay_instance *instance, const assay_launch *in,
                                 assay_launch *out, assay_tensor *operands);

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
 * library_identity, launch and measure are named by each plug-in. */
#define ASSAY__HOST_MEMORY_SLOTS                                                      \
    .struct_size = sizeof(assay_backend), .abi_version = ASSAY_PLUGIN_ABI,            \
    .close = assay__host_close, .alloc = assay__host_alloc, .free = assay__host_free, \
    .copy = assay__host_copy, .fill = assay__host_fill, .wrap = assay__host_wrap,     \
    .synchronize = assay__host_synchronize
#define ASSAY__HOST_BACKEND_SLOTS                                       \
    ASSAY__HOST_MEMORY_SLOTS, .device_count = assay__host_device_count, \
                              .device_info = assay__host_device_info

#endif
