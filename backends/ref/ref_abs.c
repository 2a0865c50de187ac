/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_abs.c -- y = |x|: the sign bit cleared, that of a NaN too. */
#include "backends/ref/ref_sign.h"

assay_status ref_wide_abs(const assay_launch *launch, unsigned threads, const assay_wide *out);
assay_status ref_run_abs(const assay_launch *launch);

static ref_dd magnitude(double x, double *bound)
{
    (void)bound;
    return (ref_dd){fabs(x), 0.0};
}

assay_status ref_wide_abs(const assay_launch *launch, unsigned threads, const assay_wide *out)
{
    return ref_wide_each(launch, threads, out, magnitude);
}

assay_status ref_run_abs(const assay_launch *launch)
{
    return ref_run_sign(launch, 0x7f, 0);
}
