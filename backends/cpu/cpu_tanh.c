/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_tanh.c -- y = tanh x through the C library. */
#include <math.h>

#include "backends/cpu/cpu_map.h"

static inline double tanh_double(double x)
{
    return tanh(x);
}

static inline float tanh_float(float x)
{
    return tanhf(x);
}

CPU_UNARY(tanh, tanh_double, tanh_float)
