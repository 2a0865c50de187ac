/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/operands.h -- do tensors fit a problem?  Asked before a kernel sees them; none of their
 * memory is read. */
#ifndef ASSAY_RUNTIME_OPERANDS_H
#define ASSAY_RUNTIME_OPERANDS_H

#include "assay/op.h"

/* Whether an output of the op may be one of its inputs: same elements, same places. */
bool assay__op_in_place(const assay_op_info *info);

/* The problem itself, then number, dtype, rank, extents, storage, alignment to elements and place
 * in the buffer of each operand, then overlaps of outputs. */
assay_status assay__operands_check(const assay_problem *p, const assay_tensor *operands,
                                   size_t count);

/* Bytes [*from, *to) that the elements of a view take, counted from its element (0, ..., 0).
 * false: beyond 63 bits. */
bool assay__tensor_span(const assay_tensor *t, int64_t *from, int64_t *to);

#endif
