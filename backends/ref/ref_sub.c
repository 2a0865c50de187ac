/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_sub.c -- y = a - b, exact as a pair of doubles for every dtype. */
#include "backends/ref/ref.h"

/* Dekker's form with the larger operand first cannot overflow where the difference does not. */
static ref_dd exact_difference(double a, double b, double *bound)
{
    ref_dd y = fabs(a) >= fabs(b) ? ref_fast_two_sum(a, -b) : ref_fast_two_sum(-b, a);

    (void)bound;
    if (!isfinite(y.hi))
        y.lo = 0.0;
    return y;
}

REF_OP(sub, 4096)
{
    return ref_wide_binary(launch, threads, out, exact_difference);
}
