/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_mean_reduce.c -- along the middle extent, f64 inside, without special
 * instructions. */
#include "backends/cpu/cpu_reduce.h"

static inline double next(double y, double x)
{
    return y + x;
}

CPU_REDUCE(mean_reduce, 0.0, next, cpu_reduce_mean)
