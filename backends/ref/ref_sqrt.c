/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_sqrt.c -- y = sqrt x as a pair of doubles: y0 and (x - y0^2) / 2 y0.
 *
 * y0 is correctly rounded, so that x - y0^2 is a double: for x in [1, 4) a multiple of 2^-104 below
 * 2^-51. Its quotient by 2 y0 in place of y0 + y is off by 2^-54 of itself, and rounded by 2^-53.
 */
#include "backends/ref/ref.h"

static ref_dd root(double x, double *bound)
{
    if (!(x > 0.0) || isinf(x))
        return (ref_dd){sqrt(x), 0.0};
    int up = -(ilogb(x) & ~1); /* an even power, so that nothing here leaves the range */
    double m = scalbn(x, up), y = sqrt(m), rest = fma(-y, y, m) / (2.0 * y);
    ref_dd result = {scalbn(y, -up / 2), scalbn(rest, -up / 2)};

    *bound = fabs(result.lo) * 0x1p-51;
    return result;
}

REF_OP(sqrt, 8192)
{
    return ref_wide_each(launch, threads, out, root);
}
