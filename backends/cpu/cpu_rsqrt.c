/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_rsqrt.c -- y = 1 / sqrt x, two roundings. */
#include <math.h>

#include "backends/cpu/cpu_map.h"

static inline double rsqrt_double(double x)
{
    return 1.0 / sqrt(x);
}

static inline float rsqrt_float(float x)
{
    return 1.0f / sqrtf(x);
}

CPU_UNARY(rsqrt, rsqrt_double, rsqrt_float)
