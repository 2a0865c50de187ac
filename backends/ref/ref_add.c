/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_add.c -- y = a + b, exact as a pair of doubles for every dtype. */
#include "backends/ref/ref.h"

/* Dekker's form with the larger operand first cannot overflow where the sum does not. */
static ref_dd exact_sum(double a, double b)
{
    ref_dd sum = fabs(a) >= fabs(b) ? ref_fast_two_sum(a, b) : ref_fast_two_sum(b, a);

    if (!isfinite(sum.hi))
        sum.lo = 0.0;
    return sum;
}

assay_status ref_wide_add(const assay_launch *launch, unsigned threads, const assay_wide *out)
{
    const assay_tensor *a = &launch->operands[0];
    const assay_tensor *b = &launch->operands[1];
    int64_t count = out->count;

#pragma omp parallel for num_threads(threads) schedule(static) if (count > 65536)
    for (int64_t i = 0; i < count; i++)
        ref_put(out, i, exact_sum(ref_load(a, out->first + i), ref_load(b, out->first + i)), 0.0);
    return ASSAY_OK;
}

assay_status ref_run_add(const assay_launch *launch)
{
    return ref_run(launch, ref_wide_add, 4096);
}
