/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_abs.c -- y = x without its sign bit, whatever the others say. */
#include <math.h>

#include "backends/cpu/cpu_map.h"

CPU_UNARY_SPAN(abs, f64, double, fabs(x[i]))
CPU_UNARY_SPAN(abs, f32, float, fabsf(x[i]))
CPU_UNARY_SPAN(abs, f16, uint16_t, (uint16_t)(x[i] & 0x7fffu))
CPU_UNARY_SPAN(abs, bf16, uint16_t, (uint16_t)(x[i] & 0x7fffu))
