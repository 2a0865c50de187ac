/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_layer_norm_last_dim.c -- y = (x - mean) / sqrt(var + eps), f64 inside.
 *
 * The variance is that of the differences: E[x^2] - E[x]^2 would cancel. */
#include <math.h>

#include "backends/cpu/cpu_rows.h"

static void row(double *x, int64_t n, double eps)
{
    double sum = 0.0, squares = 0.0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) {
        x[i] -= mean;
        squares += x[i] * x[i];
    }
    double inverse = 1.0 / sqrt(squares / (double)n + eps);
    for (int64_t i = 0; i < n; i++)
        x[i] *= inverse;
}

CPU_ROWS(layer_norm_last_dim, ASSAY__REAL(launch->problem, layer_norm_last_dim, eps), row)
