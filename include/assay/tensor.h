/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/tensor.h -- memory objects and strided views of up to eight dimensions. */
#ifndef ASSAY_TENSOR_H
#define ASSAY_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/dtype.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_MAX_RANK 8

/* The one memory object.  owner 0: plain host memory at `host` (borrowed); otherwise a slot of
 * the backend instance `owner`, stale once the slot's generation has moved on. */
typedef struct assay_buffer {
    uint64_t owner;
    union {
        void *host;
        struct {
            uint32_t index;
            uint32_t generation;
        } slot;
    } at;
    uint64_t size_bytes; /* UINT64_MAX: unknown (a wrapped pointer) */
} assay_buffer;

/* A view.  Strides count elements and may be zero (broadcast) or negative. */
typedef struct assay_tensor {
    assay_buffer buffer;
    uint64_t byte_offset; /* of element (0, ..., 0) from the start of the buffer */
    assay_dtype dtype;
    uint32_t rank;
    int64_t dims[ASSAY_MAX_RANK];
    int64_t strides[ASSAY_MAX_RANK];
} assay_tensor;

/* Wraps host memory without allocating.  strides NULL: row-major contiguous.
 * ASSAY_INVALID for a rank over 8 or a negative extent, ASSAY_OVERFLOW when the byte size does
 * not fit int64_t. */
assay_status assay_tensor_host(void *data, assay_dtype dtype, uint32_t rank, const int64_t *dims,
                               const int64_t *strides, assay_tensor *out);

/* Address of element (0, ..., 0) of a host tensor; NULL when it is not in host memory. */
static inline void *assay_tensor_data(const assay_tensor *t)
{
    return t->buffer.owner == 0 && t->buffer.at.host != NULL
               ? (void *)((char *)t->buffer.at.host + t->byte_offset)
               : NULL;
}

/* Copies the elements of a host tensor into another of the same dtype and extents, whatever their
 * strides; they must not overlap.  ASSAY_INVALID: they differ, or one has no host memory. */
assay_status assay_tensor_copy(const assay_tensor *from, const assay_tensor *to);

/* Extents before, at and behind an axis, as ops along an axis (softmax, log_softmax, the
 * reductions) want them: out[0] the product before it, out[1] its own, out[2] the product behind
 * it.  A negative axis counts from the end, -1 is the last.  ASSAY_INVALID: no such axis, or a
 * negative extent; ASSAY_OVERFLOW: a product beyond int64_t. */
assay_status assay_axis_split(uint32_t rank, const int64_t *dims, int64_t axis, int64_t out[3]);

/* Product of the extents (1 for rank 0). */
int64_t assay_tensor_elements(const assay_tensor *t);

/* Layout letter: 'c' row-major contiguous, 'l' contiguous rows with a leading dimension,
 * 's' other positive strides, 'b' some stride of an extent > 1 is zero, 'n' some is negative. */
char assay_tensor_layout(const assay_tensor *t);

/* Largest of 64 and 16 that divides the address of element 0; else 0, "element". */
unsigned assay_tensor_align(const assay_tensor *t);

#ifdef __cplusplus
}
#endif
#endif
