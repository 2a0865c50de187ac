/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_neg.c -- y = x with the other sign bit, whatever the others say. */
#include "backends/cpu/cpu_map.h"

CPU_UNARY_SPAN(neg, f64, double, -x[i])
CPU_UNARY_SPAN(neg, f32, float, -x[i])
CPU_UNARY_SPAN(neg, f16, uint16_t, (uint16_t)(x[i] ^ 0x8000u))
CPU_UNARY_SPAN(neg, bf16, uint16_t, (uint16_t)(x[i] ^ 0x8000u))
