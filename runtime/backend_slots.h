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
 *   device_profile     what device_info says; workgroups of one; no features
 *   select_device      device 0; UNSUPPORTED for others
 *   prepare            succeeds
 *   flush              synchronize
 *   state              generation 1, not lost, nothing live
 *   recover            UNSUPPORTED, "device recovery"
 *   upload, download   piece by piece by copy, after all were checked; UNSUPPORTED for buffers of
 *                      an owner whose backend has no copy
 *   map                host buffers; UNSUPPORTED for others
 *   queues, events     UNSUPPORTED, "async compute"
 *   metrics            none
 *   inject             UNSUPPORTED, "fault injection"
 *   grid_fits          UNSUPPORTED, "grid sync"
 *   host_alloc, host_free  UNSUPPORTED, "pinned memory"
 *   peer_copy          UNSUPPORTED, "copies from device to device"
 *   probe              UNSUPPORTED, "probes"
 *   digest             UNSUPPORTED, "digests"
 *   judge              UNSUPPORTED, "a judge on the device"
 */
#ifndef ASSAY_RUNTIME_BACKEND_SLOTS_H
#define ASSAY_RUNTIME_BACKEND_SLOTS_H

#include "assay/plugin.h"

typedef struct assay__backend {
    assay_backend slots;      /* no NULL but in ASSAY__BACKEND_MADE_SLOTS */
    assay_instance *instance; /* owned while `is_open` */
    bool is_open;
} assay__backend;

extern const assay_backend assay__backend_defaults;

/* from NULL: a backend of defaults.  ASSAY_ABI for another abi_version or a struct_size that holds
 * no slot at all. */
assay_status assay__backend_init(const assay_backend *from, assay__backend *out);

/* A backend that passes every slot on to the open backend `to`, which outlives it: where something
 * is to stand between, its slots replace those.  Its instance is `to` itself, for which open and
 * close do nothing. */
void assay__backend_forward(const assay__backend *to, assay__backend *out);

/* Opening an open backend and closing a closed one do nothing. One thread at a time. */
assay_status assay__backend_open(assay__backend *b);
void assay__backend_close(assay__backend *b);

/* Lists of what follows the instance, with the comma before it, so that they may be empty. */
#define ASSAY__ALSO(...) __VA_ARGS__

/* X(slot, parameters, arguments): slots that return a status and take an instance.  First those
 * whose default is a function, then those whose default is made of other slots and which stay NULL
 * therefore.  One forwarder each, assay__backend_<slot>. */
#define ASSAY__BACKEND_SLOTS(X)                                                                   \
    X(device_count, ASSAY__ALSO(, size_t *out), ASSAY__ALSO(, out))                               \
    X(device_info, ASSAY__ALSO(, size_t device, assay_device_info *out),                          \
      ASSAY__ALSO(, device, out))                                                                 \
    X(library_identity, ASSAY__ALSO(, const char *library, char *buf, size_t cap),                \
      ASSAY__ALSO(, library, buf, cap))                                                           \
    X(alloc, ASSAY__ALSO(, uint64_t bytes, uint64_t align, assay_buffer *out),                    \
      ASSAY__ALSO(, bytes, align, out))                                                           \
    X(free, ASSAY__ALSO(, assay_buffer buffer), ASSAY__ALSO(, buffer))                            \
    X(copy,                                                                                       \
      ASSAY__ALSO(, assay_buffer dst, uint64_t dst_offset, assay_buffer src, uint64_t src_offset, \
                  uint64_t bytes),                                                                \
      ASSAY__ALSO(, dst, dst_offset, src, src_offset, bytes))                                     \
    X(fill, ASSAY__ALSO(, assay_buffer dst, uint64_t offset, uint64_t bytes, uint8_t value),      \
      ASSAY__ALSO(, dst, offset, bytes, value))                                                   \
    X(wrap, ASSAY__ALSO(, void *host, uint64_t bytes, assay_buffer *out),                         \
      ASSAY__ALSO(, host, bytes, out))                                                            \
    X(launch, ASSAY__ALSO(, assay_kernel_fn run, const assay_launch *launch),                     \
      ASSAY__ALSO(, run, launch))                                                                 \
    X(synchronize, ASSAY__ALSO(), ASSAY__ALSO())                                                  \
    X(device_profile, ASSAY__ALSO(, size_t device, assay_device_profile *out),                    \
      ASSAY__ALSO(, device, out))                                                                 \
    X(select_device, ASSAY__ALSO(, size_t device), ASSAY__ALSO(, device))                         \
    X(prepare, ASSAY__ALSO(), ASSAY__ALSO())                                                      \
    X(state, ASSAY__ALSO(, assay_instance_state *out), ASSAY__ALSO(, out))                        \
    X(recover, ASSAY__ALSO(), ASSAY__ALSO())                                                      \
    X(map, ASSAY__ALSO(, assay_buffer buffer, void **host, uint64_t *bytes),                      \
      ASSAY__ALSO(, buffer, host, bytes))                                                         \
    X(queue_create, ASSAY__ALSO(, assay_queue **out), ASSAY__ALSO(, out))                         \
    X(queue_destroy, ASSAY__ALSO(, assay_queue *queue), ASSAY__ALSO(, queue))                     \
    X(queue_wait, ASSAY__ALSO(, assay_queue *queue), ASSAY__ALSO(, queue))                        \
    X(event_create, ASSAY__ALSO(, assay_event **out), ASSAY__ALSO(, out))                         \
    X(event_destroy, ASSAY__ALSO(, assay_event *event), ASSAY__ALSO(, event))                     \
    X(event_record, ASSAY__ALSO(, assay_event *event, assay_queue *queue),                        \
      ASSAY__ALSO(, event, queue))                                                                \
    X(event_wait, ASSAY__ALSO(, assay_event *event), ASSAY__ALSO(, event))                        \
    X(event_ready, ASSAY__ALSO(, assay_event *event, bool *out), ASSAY__ALSO(, event, out))       \
    X(event_elapsed, ASSAY__ALSO(, assay_event *from, assay_event *to, double *out_ns),           \
      ASSAY__ALSO(, from, to, out_ns))                                                            \
    X(metrics, ASSAY__ALSO(, assay_metric *out, size_t cap, size_t *count),                       \
      ASSAY__ALSO(, out, cap, count))                                                             \
    X(inject, ASSAY__ALSO(, const assay_fault *fault), ASSAY__ALSO(, fault))                      \
    X(grid_fits, ASSAY__ALSO(, uint64_t workgroups, uint32_t invocations, bool *out),             \
      ASSAY__ALSO(, workgroups, invocations, out))                                                \
    X(host_alloc, ASSAY__ALSO(, uint64_t bytes, void **out), ASSAY__ALSO(, bytes, out))           \
    X(host_free, ASSAY__ALSO(, void *host), ASSAY__ALSO(, host))                                  \
    X(peer_copy,                                                                                  \
      ASSAY__ALSO(, assay_buffer dst, uint64_t dst_offset, assay_instance *source,                \
                  assay_buffer src, uint64_t src_offset, uint64_t bytes),                         \
      ASSAY__ALSO(, dst, dst_offset, source, src, src_offset, bytes))                             \
    X(probe, ASSAY__ALSO(, assay_probe *probe), ASSAY__ALSO(, probe))                             \
    X(digest,                                                                                     \
      ASSAY__ALSO(, assay_buffer buffer, uint64_t offset, uint64_t bytes, uint64_t step,          \
                  size_t count, uint64_t *out),                                                   \
      ASSAY__ALSO(, buffer, offset, bytes, step, count, out))                                     \
    X(judge, ASSAY__ALSO(, assay_judge *judge), ASSAY__ALSO(, judge))
#define ASSAY__BACKEND_MADE_SLOTS(X)                                              \
    X(measure, ASSAY__ALSO(, const assay_measure *what, assay_clock_info *clock), \
      ASSAY__ALSO(, what, clock))                                                 \
    X(flush, ASSAY__ALSO(), ASSAY__ALSO())                                        \
    X(upload, ASSAY__ALSO(, const assay_transfer *pieces, size_t count),          \
      ASSAY__ALSO(, pieces, count))                                               \
    X(download, ASSAY__ALSO(, const assay_transfer *pieces, size_t count),        \
      ASSAY__ALSO(, pieces, count))

#define X(slot, parameters, arguments) \
    assay_status assay__backend_##slot(const assay__backend *b parameters);
ASSAY__BACKEND_SLOTS(X)
ASSAY__BACKEND_MADE_SLOTS(X)
#undef X
/* assay__backend_measure of whole calls as a program makes them, each launched and waited for
 * before the next: what the host spends on a call is in the span.  Of any backend by the host's
 * clock, since no device sees that cost. */
assay_status assay__backend_measure_calls(const assay__backend *b, const assay_measure *what,
                                          assay_clock_info *clock);

/* What a launch, a wait for it or a measurement gave, as one that says whose fault it is:
 * UNSUPPORTED, DEVICE and NUMERIC stay, any other failure becomes ASSAY_DEVICE with its name in the
 * text.  Else whoever tries out kernels would take what one of them returns for a state of his own.
 */
assay_status assay__backend_blame(assay_status status);

/* Do its kernels take handles alone, no addresses of the host's?  Of a device elsewhere, and of
 * memory that the host does not reach. */
bool assay__profile_is_apart(const assay_device_profile *profile);

/* What plug-ins are given to report errors through. */
const assay_host *assay__host(void);

#endif
