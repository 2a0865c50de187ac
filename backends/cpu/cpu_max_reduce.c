/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_max_reduce.c -- along the middle extent, f64 inside, without special
 * instructions. */
#include "backends/cpu/cpu_reduce.h"

static inline double next(double y, double x)
{
    if (isnan(x) || isnan(y))
        return x + y;
    return x > y || (x == y && !signbit(x)) ? x : y;
}

CPU_REDUCE(max_reduce, -INFINITY, next, cpu_reduce_done)
