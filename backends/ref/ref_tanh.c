/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_tanh.c -- y = tanh x. */
#include "backends/ref/ref_unary.h"

static void fast(const double *x, double *y, double *bound, int64_t n)
{
    ref_map_tanh(x, y, n);
    for (int64_t i = 0; i < n; i++)
        bound[i] = REF_LIBM_ULP * (fabs(y[i]) * REF_UNIT + REF_TINY);
}

static void exact(mpfr_t y, const mpfr_t x)
{
    mpfr_tanh(y, x, MPFR_RNDN);
}

static const ref_unary tanh_function = {fast, exact, false};

REF_OP(tanh, 8192)
{
    return ref_wide_unary(launch, threads, out, &tanh_function);
}
