/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_log.c -- y = ln x through the C library. */
#include <math.h>

#include "backends/cpu/cpu_map.h"

static inline double log_double(double x)
{
    return log(x);
}

static inline float log_float(float x)
{
    return logf(x);
}

CPU_UNARY(log, log_double, log_float)
