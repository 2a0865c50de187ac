/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda.h -- what the kernels of this plug-in need of its device.
 *
 * Slots launch and measure replace each buffer handle of a launch by the device address behind it
 * before a kernel's run() sees it: there, operands have owner 0 and assay_tensor_data() is an
 * address of the device, never to be followed on the host. launch->queue is an assay_queue of this
 * plug-in or NULL, the instance's own stream. */
#ifndef BACKENDS_CUDA_CUDA_H
#define BACKENDS_CUDA_CUDA_H

#include <cuda.h>

#include "assay/plugin.h"

/* Machine code of one .cu file for all architectures that the build names, embedded. */
typedef struct cuda_image {
    const char *name;           /* the file, for messages */
    const unsigned char *bytes; /* a fatbin; its own header holds its length */
    size_t size;
} cuda_image;

/* CUDA C for the compiler at run time (NVRTC): the same file as an image is made of. */
typedef struct cuda_source {
    const char *name; /* the file, for messages */
    const char *text;
} cuda_source;

/* Stream that this launch goes into. */
CUstream cuda_stream(const assay_launch *launch);

/* Function `name` of an image, loaded into the instance's context on first use and kept.
 * ASSAY_UNSUPPORTED: no code in it for this device. */
assay_status cuda_function(assay_instance *instance, const cuda_image *image, const char *name,
                           CUfunction *out);

/* The same of CUDA C, compiled for this device with `options` (NULL-terminated, NULL: none) on
 * first use and kept by (source, options).  ASSAY_UNAVAILABLE without NVRTC; ASSAY_INVALID with the
 * compiler's log when it does not compile. */
assay_status cuda_compiled(assay_instance *instance, const cuda_source *source,
                           const char *const *options, const char *name, CUfunction *out);

/* Enqueues one grid on the launch's stream; dynamic shared memory over 48 KiB is opted in to.
 * ASSAY_UNSUPPORTED for a grid, block or shared memory over the device's limits; a grid of 0
 * workgroups succeeds and launches nothing. */
typedef struct cuda_grid {
    uint64_t groups[3];
    uint32_t threads[3];
    uint32_t shared_bytes;
} cuda_grid;
assay_status cuda_enqueue(const assay_launch *launch, CUfunction function, const cuda_grid *grid,
                          void **arguments);

/* Device memory for the time of this launch, one block a stream that grows and is never shared by
 * two streams: what is enqueued next on the same stream may have it again. */
assay_status cuda_workspace(const assay_launch *launch, size_t bytes, CUdeviceptr *out);

/* Figures of the device in use, read once at open. */
typedef struct cuda_limits {
    int compute_major, compute_minor, multiprocessors, warp;
    int max_threads_block, max_threads_multiprocessor;
    int shared_block_optin, shared_multiprocessor, registers_multiprocessor;
    uint64_t l2_bytes, memory_bytes;
    uint32_t max_groups[3];
} cuda_limits;
const cuda_limits *cuda_device_limits(const assay_instance *instance);

/* Records the text behind assay_last_error() and returns `status`. */
__attribute__((format(printf, 3, 4))) assay_status
cuda_fail(const assay_instance *instance, assay_status status, const char *format, ...);
/* Turns a CUresult into a status: out of memory ASSAY_NOMEM; an error that poisons the context
 * (illegal address, launch failure, ECC, ...) marks the instance lost and is ASSAY_DEVICE_LOST;
 * anything else ASSAY_DEVICE.  CUDA_SUCCESS is ASSAY_OK. */
assay_status cuda_check(assay_instance *instance, CUresult result, const char *what);

/* Kernel rows of this plug-in, cuda_rows.c. */
extern const assay_kernel_desc cuda_rows[];
extern const size_t cuda_row_count;

/* cuBLASLt of this instance, opened on first use: cuda_blaslt.c.  Its part of library_identity, and
 * what to let go at close. */
assay_status cuda_blaslt_identity(assay_instance *instance, char *buf, size_t cap);
void cuda_blaslt_close(assay_instance *instance);
/* A place of the instance that cuda_blaslt.c alone uses; NULL at open. */
void **cuda_blaslt_place(assay_instance *instance);

#endif
