/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_maximum.c -- the larger of two numbers; a NaN wins, and -0 < +0 (IEEE 754-2019).
 */
#include <math.h>

#include "backends/cpu/cpu_map.h"

static inline double maximum_double(double a, double b)
{
    if (isnan(a) || isnan(b))
        return a + b;
    if (a == b)
        return !signbit(a) ? a : b;
    return a > b ? a : b;
}

static inline float maximum_float(float a, float b)
{
    if (isnan(a) || isnan(b))
        return a + b;
    if (a == b)
        return !signbit(a) ? a : b;
    return a > b ? a : b;
}

CPU_BINARY(maximum, maximum_double, maximum_float)
