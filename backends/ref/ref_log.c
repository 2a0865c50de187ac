/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_log.c -- y = ln x. */
#include "backends/ref/ref_unary.h"

static void fast(const double *x, double *y, double *bound, int64_t n)
{
    ref_map_log(x, y, n);
    for (int64_t i = 0; i < n; i++)
        bound[i] = REF_LIBM_ULP * (fabs(y[i]) * REF_UNIT + REF_TINY);
}

static void exact(mpfr_t y, const mpfr_t x)
{
    mpfr_log(y, x, MPFR_RNDN);
}

static const ref_unary log_function = {fast, exact, false};

REF_OP(log, 8192)
{
    return ref_wide_unary(launch, threads, out, &log_function);
}
