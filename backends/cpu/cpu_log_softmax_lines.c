/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_log_softmax_lines.c -- log_softmax along any axis through the C library, f64
 * inside. */
#include <math.h>

#include "backends/cpu/cpu_lines.h"

static void log_softmax_line(double *line, int64_t n)
{
    double max = cpu_line_max(line, n), sum = 0.0;

    for (int64_t i = 0; i < n; i++)
        sum += exp(line[i] - max);
    /* cppcheck-suppress invalidFunctionArg ; a line has an element */
    double rest = log(sum);
    for (int64_t i = 0; i < n; i++)
        line[i] = line[i] - max - rest;
}

CPU_LINES(log_softmax_lines, log_softmax_line)
