/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_gelu_erf.c -- y = x/2 (1 + erf(x / sqrt 2)) = x/2 erfc(z), z = -x / sqrt 2.
 *
 * An error of z, two roundings, grows at most 2 z^2 + 2 times in erfc z where z is positive. */
#include "backends/ref/ref_unary.h"

static void fast(const double *x, double *y, double *bound, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        bound[i] = x[i] * -0.70710678118654752;
    ref_map_erfc(bound, y, n);
    for (int64_t i = 0; i < n; i++) {
        double z = bound[i] > 0.0 ? bound[i] : 0.0;
        y[i] *= 0.5 * x[i];
        bound[i] = (REF_LIBM_ULP + 4.0 + 4.0 * z * z) * fabs(y[i]) * REF_UNIT + 1e4 * REF_UNDERFLOW;
        if (y[i] == 0.0)
            bound[i] = 1e4 * REF_UNDERFLOW;
    }
}

static void exact(mpfr_t y, const mpfr_t x)
{
    MPFR_DECL_INIT(z, REF_BITS);

    mpfr_sqrt_ui(z, 2, MPFR_RNDN);
    mpfr_div(z, x, z, MPFR_RNDN);
    mpfr_neg(z, z, MPFR_RNDN);
    mpfr_erfc(z, z, MPFR_RNDN);
    mpfr_mul(y, x, z, MPFR_RNDN);
    mpfr_div_2ui(y, y, 1, MPFR_RNDN);
}

static const ref_unary gelu_erf_function = {fast, exact, true};

REF_OP(gelu_erf, 8192)
{
    return ref_wide_unary(launch, threads, out, &gelu_erf_function);
}
