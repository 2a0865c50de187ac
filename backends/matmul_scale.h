/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/matmul_scale.h -- when alpha and beta of a matmul are zero.
 *
 * They are taken in the type that products are summed in: f64 for f64, else f32.  There 2^-150 and
 * less round to zero, and what a zero would multiply is not read. */
#ifndef ASSAY_BACKENDS_MATMUL_SCALE_H
#define ASSAY_BACKENDS_MATMUL_SCALE_H

#include <math.h>
#include <stdbool.h>

#include "assay/dtype.h"

static inline bool matmul_factor_is_zero(double factor, assay_dtype t)
{
    return fabs(factor) <= (t == ASSAY_F64 ? 0.0 : 0x1p-150);
}

#endif
