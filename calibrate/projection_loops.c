/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/projection_loops.c -- the loops for any machine, and the choice. */
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#include "calibrate/projection_body.h"

const assay__projection_loops assay__projection_portable = {dot, add, multiply};

const assay__projection_loops *assay__projection_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &assay__projection_avx2;
#endif
    return &assay__projection_portable;
}
