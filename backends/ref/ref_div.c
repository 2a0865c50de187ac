/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_div.c -- y = a / b: the quotient and its remainder over b.
 *
 * a - q b is a double unless it underflows (Boldo and Daumas, 2003); its quotient by b is rounded
 * once, hence the bound. */
#include "backends/ref/ref.h"

static ref_dd quotient(double a, double b, double *bound)
{
    double q = a / b;

    if (!isfinite(q) || q == 0.0 || isinf(b)) {
        /* A quotient that underflowed to zero is no zero. */
        *bound = q == 0.0 && a != 0.0 && !isinf(b) ? REF_TINY : 0.0;
        return (ref_dd){q, 0.0};
    }
    /* Powers of two that keep the remainder of any quotient in range. */
    int up = 600 - ilogb(a), side = -ilogb(b);
    double scaled_a = scalbn(a, up), scaled_b = scalbn(b, side), scaled_q = scalbn(q, up - side);
    if (!isfinite(scaled_q)) {
        *bound = fabs(q) * REF_U + REF_TINY;
        return (ref_dd){q, 0.0};
    }
    double rest = fma(-scaled_q, scaled_b, scaled_a);
    double low = scalbn(rest / scaled_b, side - up);
    *bound = fabs(low) * 0x1p-52 + (rest != 0.0 && fabs(low) < 0x1p-1000 ? REF_TINY : 0.0);
    return (ref_dd){q, low};
}

REF_OP(div, 4096)
{
    return ref_wide_binary(launch, threads, out, quotient);
}
