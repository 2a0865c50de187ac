/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/op_params.h -- parameters of a problem by name, resolved at compile time.
 *
 * Kernels live in plug-ins without the catalogue's code; an index from op.def costs one load. */
#ifndef ASSAY_RUNTIME_OP_PARAMS_H
#define ASSAY_RUNTIME_OP_PARAMS_H

#include "assay/op.h"

/* Counting restarts behind every op: base is the number of its first parameter. */
enum assay__param_number {
#define ASSAY_OP(name, ...) \
    assay__param_base_##name, assay__param_before_##name = assay__param_base_##name - 1,
#define ASSAY_PARAM(op, name, ...) assay__param_##op##_##name,
#include "assay/op.def"
    assay__param_total
};

#define ASSAY__PARAM_INDEX(op, name) \
    ((size_t)((int)assay__param_##op##_##name - (int)assay__param_base_##op))

#define ASSAY__INT(problem, op, name)  ((problem)->params[ASSAY__PARAM_INDEX(op, name)].i)
#define ASSAY__REAL(problem, op, name) ((problem)->params[ASSAY__PARAM_INDEX(op, name)].r)

#endif
