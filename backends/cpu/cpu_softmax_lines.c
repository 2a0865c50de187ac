/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_softmax_lines.c -- softmax along any axis through the C library, f64 inside. */
#include <math.h>

#include "backends/cpu/cpu_lines.h"

static void softmax_line(double *line, int64_t n)
{
    double max = cpu_line_max(line, n), sum = 0.0;

    for (int64_t i = 0; i < n; i++) {
        line[i] = exp(line[i] - max);
        sum += line[i];
    }
    for (int64_t i = 0; i < n; i++)
        line[i] /= sum;
}

CPU_LINES(softmax_lines, softmax_line)
