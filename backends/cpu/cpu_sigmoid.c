/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_sigmoid.c -- y = 1 / (1 + e^-x) through the C library, f32 in f64. */
#include <math.h>

#include "backends/cpu/cpu_map.h"

static inline double sigmoid_double(double x)
{
    double e = exp(-fabs(x)), y = 1.0 / (1.0 + e);

    return x < 0.0 ? y * e : y;
}

static inline float sigmoid_float(float x)
{
    return (float)sigmoid_double(x);
}

CPU_UNARY(sigmoid, sigmoid_double, sigmoid_float)
