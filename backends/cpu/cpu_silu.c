/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_silu.c -- y = x / (1 + e^-x) through the C library, f32 in f64.
 *
 * e^-|x| in two equal factors, so that a subnormal one costs no accuracy. */
#include <math.h>

#include "backends/cpu/cpu_map.h"

static inline double silu_double(double x)
{
    double half = exp(-0.5 * fabs(x)), y = x / (1.0 + half * half);

    return x < 0.0 ? y * half * half : y;
}

static inline float silu_float(float x)
{
    return (float)silu_double(x);
}

CPU_UNARY(silu, silu_double, silu_float)
