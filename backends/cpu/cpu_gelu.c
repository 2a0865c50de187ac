/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_gelu.c -- y = x/2 (1 + tanh(c (x + 0.044715 x^3))), c = sqrt(2/pi), f32 in f64.
 *
 * As x / (1 + e^-u), u = 2c (x + 0.044715 x^3): the same without cancellation. */
#include <math.h>

#include "backends/cpu/cpu_map.h"

static inline double gelu_double(double x)
{
    double u = x * (0x1.9884533d43651p+0 + 0x1.2444f2a4d8b4bp-4 * x * x);
    double half = exp(-0.5 * fabs(u)), y = x / (1.0 + half * half);

    return x < 0.0 ? y * half * half : y;
}

static inline float gelu_float(float x)
{
    return (float)gelu_double(x);
}

CPU_UNARY(gelu, gelu_double, gelu_float)
