/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_mul.c -- y = a b, exact as a pair of doubles unless its tail underflows. */
#include "backends/ref/ref.h"

static ref_dd product(double a, double b, double *bound)
{
    ref_dd y = ref_two_prod(a, b);

    if (!isfinite(y.hi))
        y.lo = 0.0;
    /* Products of types of up to 32 bits stay far above: their tails are zero. */
    else if (fabs(y.hi) < 0x1p-960 && a != 0.0 && b != 0.0)
        *bound = REF_TINY;
    return y;
}

REF_OP(mul, 4096)
{
    return ref_wide_binary(launch, threads, out, product);
}
