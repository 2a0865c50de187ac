/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_sqrt.c -- y = sqrt x, correctly rounded.
 *
 * The root of a half in f32, rounded again, is the root rounded once: 24 bits are at least 2 * 11 +
 * 2, and no root of a half is subnormal. */
#include <math.h>

#include "backends/cpu/cpu_map.h"

CPU_UNARY(sqrt, sqrt, sqrtf)
