/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_rsqrt.c -- y = 1 / sqrt x as a pair of doubles: y0 and y0/2 (1 - x y0^2).
 *
 * y0 is within 2^-52 of y, so that what Newton's step leaves is below 2^-103 of it. */
#include "backends/ref/ref.h"

static ref_dd rsqrt(double x, double *bound)
{
    if (!(x > 0.0) || isinf(x)) {
        *bound = 0.0;
        return (ref_dd){1.0 / sqrt(x), 0.0};
    }
    int up = -(ilogb(x) & ~1); /* an even power, so that nothing here leaves the range */
    double m = scalbn(x, up), y = 1.0 / sqrt(m);
    ref_dd square = ref_two_prod(y, y), product = ref_two_prod(m, square.hi);
    double rest = ((1.0 - product.hi) - product.lo) - m * square.lo;
    ref_dd result = {scalbn(y, up / 2), scalbn(0.5 * y * rest, up / 2)};

    *bound = result.hi * 0x1p-100;
    return result;
}

REF_OP(rsqrt, 8192)
{
    return ref_wide_each(launch, threads, out, rsqrt);
}
