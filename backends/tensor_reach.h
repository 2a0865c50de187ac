/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/tensor_reach.h -- does an operand lie within the memory that its handle stands for?
 *
 * A device would read and write what is beside it, or be lost by it. */
#ifndef ASSAY_BACKENDS_TENSOR_REACH_H
#define ASSAY_BACKENDS_TENSOR_REACH_H

#include "assay/plugin.h"

static inline bool tensor_has_elements(const assay_tensor *t)
{
    for (uint32_t d = 0; d < t->rank; d++)
        if (t->dims[d] == 0)
            return false;
    return true;
}

/* Of one in a row, as kernels of known work have. */
static inline bool tensor_has_bytes(const assay_tensor *t, int64_t bytes)
{
    const int64_t each = (int64_t)assay_dtype_bytes(t->dtype);

    return t->rank == 1 && t->dims[0] >= bytes / each + (bytes % each != 0);
}

/* Of one with elements, in a buffer of so many bytes. */
static inline bool tensor_is_inside(const assay_tensor *t, uint64_t bytes)
{
    const uint64_t each = assay_dtype_bytes(t->dtype);
    uint64_t last = 0;

    for (uint32_t d = 0; d < t->rank; d++)
        if (t->dims[d] > 1)
            last += (uint64_t)(t->dims[d] - 1) * (uint64_t)t->strides[d];
    return t->byte_offset <= bytes && (last + 1) * each <= bytes - t->byte_offset;
}

#endif
