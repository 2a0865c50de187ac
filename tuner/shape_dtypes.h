/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/shape_dtypes.h -- pieces that the CSV and the flag reader of shape sets share. */
#ifndef ASSAY_TUNER_SHAPE_DTYPES_H
#define ASSAY_TUNER_SHAPE_DTYPES_H

#include "tuner/shape_set.h"

/* "f32" by the op's rule, or a full tuple "f32,f32,f32". */
assay_status assay__shape_dtypes(assay_op_id op, const char *text, assay_problem *out);
/* Adds a use of a problem, and the problem when it is not there; `use->shape` is set here.  The
 * same row name of the same set adds to its count. */
assay_status assay__shapes_push(assay__shape_set *set, const assay_problem *problem,
                                const assay__shape_use *use);
assay_status assay__shapes_skip(assay__shape_set *set, size_t line, const char *reason);

#endif
