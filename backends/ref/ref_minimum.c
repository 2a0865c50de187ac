/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_minimum.c -- the smaller of a and b; a NaN wins, and -0 < +0. */
#include "backends/ref/ref.h"

static ref_dd smaller(double a, double b, double *bound)
{
    (void)bound;
    if (isnan(a) || isnan(b))
        return (ref_dd){NAN, 0.0};
    if (a == 0.0 && b == 0.0)
        return (ref_dd){signbit(a) ? a : b, 0.0};
    return (ref_dd){a < b ? a : b, 0.0};
}

REF_OP(minimum, 4096)
{
    return ref_wide_binary(launch, threads, out, smaller);
}
