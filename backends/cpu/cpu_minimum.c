/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_minimum.c -- the smaller of two numbers; a NaN wins, and -0 < +0 (IEEE
 * 754-2019). */
#include <math.h>

#include "backends/cpu/cpu_map.h"

static inline double minimum_double(double a, double b)
{
    if (isnan(a) || isnan(b))
        return a + b;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

static inline float minimum_float(float a, float b)
{
    if (isnan(a) || isnan(b))
        return a + b;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

CPU_BINARY(minimum, minimum_double, minimum_float)
