/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_div.c -- y = a / b, without special instructions.
 *
 * f16 and bf16 through f32 and rounded again, which is one rounding: 24 bits are at least 2 * 11
 * + 2 (Figueroa, 1995). */
#include "backends/cpu/cpu_map.h"

static inline double div_double(double a, double b)
{
    return a / b;
}

static inline float div_float(float a, float b)
{
    return a / b;
}

CPU_BINARY(div, div_double, div_float)
