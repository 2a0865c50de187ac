/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_gelu.c -- y = x/2 (1 + tanh(c (x + 0.044715 x^3))), c = sqrt(2/pi): x / (1 +
 * e^-u) with u = 2c (x + 0.044715 x^3).
 *
 * An error of u, four roundings here, grows |u|-fold in e^-u, and counts where u is negative;
 * above, u e^-u stays below one. */
#include "backends/ref/ref_unary.h"

static void fast(const double *x, double *y, double *bound, int64_t n)
{
    double e[REF_BLOCK];

    for (int64_t i = 0; i < n; i++)
        bound[i] = -x[i] * (0x1.9884533d43651p+0 + 0x1.2444f2a4d8b4bp-4 * x[i] * x[i]);
    ref_map_exp(bound, e, n);
    for (int64_t i = 0; i < n; i++) {
        double depth = bound[i] > 0.0 ? bound[i] : 0.0;
        y[i] = x[i] / (1.0 + e[i]);
        bound[i] = (REF_LIBM_ULP + 4.0 + 4.0 * depth) * fabs(y[i]) * REF_UNIT + 1e4 * REF_UNDERFLOW;
        if (y[i] == 0.0) /* infinity times zero otherwise */
            bound[i] = 1e4 * REF_UNDERFLOW;
    }
}

static void exact(mpfr_t y, const mpfr_t x)
{
    MPFR_DECL_INIT(c, REF_BITS);
    MPFR_DECL_INIT(u, REF_BITS);

    mpfr_sqr(u, x, MPFR_RNDN);
    mpfr_mul_ui(u, u, 44715, MPFR_RNDN);
    mpfr_div_ui(u, u, 1000000, MPFR_RNDN);
    mpfr_add_ui(u, u, 1, MPFR_RNDN);
    mpfr_mul(u, u, x, MPFR_RNDN);
    mpfr_const_pi(c, MPFR_RNDN);
    mpfr_ui_div(c, 8, c, MPFR_RNDN); /* (2c)^2 */
    mpfr_sqrt(c, c, MPFR_RNDN);
    mpfr_mul(u, u, c, MPFR_RNDN);
    mpfr_neg(u, u, MPFR_RNDN);
    mpfr_exp(u, u, MPFR_RNDN);
    mpfr_add_ui(u, u, 1, MPFR_RNDN);
    mpfr_div(y, x, u, MPFR_RNDN);
}

static const ref_unary gelu_function = {fast, exact, true};

REF_OP(gelu, 8192)
{
    return ref_wide_unary(launch, threads, out, &gelu_function);
}
