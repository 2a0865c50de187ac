/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_silu.c -- y = x / (1 + e^-x); an error of e^-x counts at most in full. */
#include "backends/ref/ref_unary.h"

static void fast(const double *x, double *y, double *bound, int64_t n)
{
    double e[REF_BLOCK];

    for (int64_t i = 0; i < n; i++)
        bound[i] = -x[i];
    ref_map_exp(bound, e, n);
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] / (1.0 + e[i]);
        /* Beyond the range of doubles e is infinite and y zero. */
        bound[i] = (REF_LIBM_ULP + 2.0) * fabs(y[i]) * REF_UNIT + 1e4 * REF_UNDERFLOW;
    }
}

static void exact(mpfr_t y, const mpfr_t x)
{
    mpfr_neg(y, x, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    mpfr_add_ui(y, y, 1, MPFR_RNDN);
    mpfr_div(y, x, y, MPFR_RNDN);
}

static const ref_unary silu_function = {fast, exact, false};

REF_OP(silu, 8192)
{
    return ref_wide_unary(launch, threads, out, &silu_function);
}
