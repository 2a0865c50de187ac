/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_gelu_erf.c -- y = x/2 (1 + erf(x / sqrt 2)) through the C library, f32 in f64.
 */
#include <math.h>

#include "backends/cpu/cpu_map.h"

static inline double gelu_erf_double(double x)
{
    return 0.5 * x * erfc(x * -0.70710678118654752);
}

static inline float gelu_erf_float(float x)
{
    return (float)gelu_erf_double(x);
}

CPU_UNARY(gelu_erf, gelu_erf_double, gelu_erf_float)
