/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_relu.c -- y = x where x > 0, else +0; NaN stays. */
#include "backends/ref/ref.h"

static ref_dd relu(double x, double *bound)
{
    (void)bound;
    return (ref_dd){x > 0.0 || isnan(x) ? x : 0.0, 0.0};
}

REF_OP(relu, 8192)
{
    return ref_wide_each(launch, threads, out, relu);
}
