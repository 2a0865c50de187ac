/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_rms_norm_last_dim.c -- y = x / sqrt(mean(x^2) + eps), f64 inside. */
#include <math.h>

#include "backends/cpu/cpu_rows.h"

static void row(double *x, int64_t n, double eps)
{
    double sum = 0.0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    double inverse = 1.0 / sqrt(sum / (double)n + eps);
    for (int64_t i = 0; i < n; i++)
        x[i] *= inverse;
}

CPU_ROWS(rms_norm_last_dim, ASSAY__REAL(launch->problem, rms_norm_last_dim, eps), row)
