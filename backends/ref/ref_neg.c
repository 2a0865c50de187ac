/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_neg.c -- y = -x: the sign bit flipped, that of a NaN too. */
#include "backends/ref/ref_sign.h"

assay_status ref_wide_neg(const assay_launch *launch, unsigned threads, const assay_wide *out);
assay_status ref_run_neg(const assay_launch *launch);

static ref_dd opposite(double x, double *bound)
{
    (void)bound;
    return (ref_dd){-x, 0.0};
}

assay_status ref_wide_neg(const assay_launch *launch, unsigned threads, const assay_wide *out)
{
    return ref_wide_each(launch, threads, out, opposite);
}

assay_status ref_run_neg(const assay_launch *launch)
{
    return ref_run_sign(launch, 0xff, 0x80);
}
