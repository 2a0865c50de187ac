/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_log_softmax_last_dim.c -- y = x - max - ln(sum(e^(x - max))), f64 inside. */
#include <math.h>

#include "backends/cpu/cpu_rows.h"

static void row(double *x, int64_t n, double eps)
{
    double max = -INFINITY, sum = 0.0;

    (void)eps;
    for (int64_t i = 0; i < n; i++) /* NaN comes in with the sum */
        max = x[i] > max ? x[i] : max;
    for (int64_t i = 0; i < n; i++)
        sum += exp(x[i] - max);
    double shift = log(sum > 0.0 ? sum : NAN); /* the largest adds 1, unless it is NaN */
    for (int64_t i = 0; i < n; i++)
        x[i] = x[i] - max - shift;
}

CPU_ROWS(log_softmax_last_dim, 0.0, row)
