/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/backend_slots.h -- a backend as the rest of the library calls it: every slot filled.
 *
 * A plug-in may leave slots out (NULL, or beyond its struct_size).  What stands in for them:
 *   open, close        succeed; the instance is NULL
 *   device_count       1, the host
 *   device_info        "host", is_cpu
 *   library_identity   UNAVAILABLE
 *   alloc, free        aligned host memory
 *   copy, fill         between host buffers (owner 0); UNSUPPORTED for others
 *   wrap               a host buffer
 *   launch             calls the kernel
 *   synchronize        succeeds
 *   measure            launch and synchronize around CLOCK_MONOTONIC_RAW; see assay_measure
 */
#ifndef ASSAY_RUNTIME_BACKEND_SLOTS_H
#define ASSAY_RUNTIME_BACKEND_SLOTS_H

#include "assay/plugin.h"

typedef struct assay__backend {
    assay_backend slots;      /* no NULL but `measure`, whose default needs the other slots */
    assay_instance *instance; /* owned while `is_open` */
    bool is_open;
} assay__backend;

/* from NULL: a backend of defaults.  ASSAY_ABI for another abi_version or a struct_size that holds
 * no slot at all. */
assay_status assay__backend_init(const assay_backend *from, assay__backend *out);

/* Opening an open backend and closing a closed one do nothing. One thread at a time. */
assay_status assay__backend_open(assay__backend *b);
void assay__backend_close(assay__backend *b);

/* X(slot, parameters, arguments): one forwarder each, assay__backend_<slot>. */
#define ASSAY__BACKEND_SLOTS(X)                                                                    \
    X(device_count, (const assay__backend *b, size_t *out), (b->instance, out))                    \
    X(device_info, (const assay__backend *b, size_t device, assay_device_info *out),               \
      (b->instance, device, out))                                                                  \
    X(library_identity, (const assay__backend *b, const char *library, char *buf, size_t cap),     \
      (b->instance, library, buf, cap))                                                            \
    X(alloc, (const assay__backend *b, uint64_t bytes, uint64_t align, assay_buffer *out),         \
      (b->instance, bytes, align, out))                                                            \
    X(free, (const assay__backend *b, assay_buffer buffer), (b->instance, buffer))                 \
    X(copy,                                                                                        \
      (const assay__backend *b, assay_buffer dst, uint64_t dst_offset, assay_buffer src,           \
       uint64_t src_offset, uint64_t bytes),                                                       \
      (b->instance, dst, dst_offset, src, src_offset, bytes))                                      \
    X(fill,                                                                                        \
      (const assay__backend *b, assay_buffer dst, uint64_t offset, uint64_t bytes, uint8_t value), \
      (b->instance, dst, offset, bytes, value))                                                    \
    X(wrap, (const assay__backend *b, void *host, uint64_t bytes, assay_buffer *out),              \
      (b->instance, host, bytes, out))                                                             \
    X(launch, (const assay__backend *b, assay_kernel_fn run, const assay_launch *launch),          \
      (b->instance, run, launch))                                                                  \
    X(synchronize, (const assay__backend *b), (b->instance))

#define X(slot, parameters, arguments) assay_status assay__backend_##slot parameters;
ASSAY__BACKEND_SLOTS(X)
#undef X
assay_status assay__backend_measure(const assay__backend *b, const assay_measure *what,
                                    assay_clock_info *clock);
/* The same of whole calls as a program makes them, each launched and waited for before the next:
 * what the host spends on a call is in the span.  Of any backend by the host's clock, since no
 * device sees that cost. */
assay_status assay__backend_measure_calls(const assay__backend *b, const assay_measure *what,
                                          assay_clock_info *clock);

/* What a launch, a wait for it or a measurement gave, as one that says whose fault it is:
 * UNSUPPORTED, DEVICE and NUMERIC stay, any other failure becomes ASSAY_DEVICE with its name in the
 * text.  Else whoever tries out kernels would take what one of them returns for a state of his own.
 */
assay_status assay__backend_blame(assay_status status);

/* What plug-ins are given to report errors through. */
const assay_host *assay__host(void);

#endif
