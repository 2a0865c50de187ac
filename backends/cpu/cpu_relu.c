/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_relu.c -- y = x below which zero stands; NaN stays, -0 becomes +0. */
#include <math.h>

#include "backends/cpu/cpu_map.h"

static inline double relu_double(double x)
{
    return x > 0 || isnan(x) ? x : 0.0;
}

static inline float relu_float(float x)
{
    return x > 0 || isnan(x) ? x : 0.0f;
}

CPU_UNARY(relu, relu_double, relu_float)
