/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/roofline.c -- ceilings of a machine from its measured peaks. */
#include "runtime/roofline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void assay__roofline_init(assay__roofline *roof, double cpus)
{
    *roof = (assay__roofline){cpus, (double)NAN, (double)NAN, (double)NAN};
}

static bool starts_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* 2 of "fma_f32_avx2_t2"; 0 without such an end. */
static double threads_of(const char *name)
{
    const char *at = strrchr(name, '_');

    return at != NULL && at[1] == 't' ? strtod(at + 2, NULL) : 0;
}

static void raise_to(double *ceiling, double value)
{
    if (value > 0 && !(*ceiling >= value))
        *ceiling = value;
}

void assay__roofline_add(assay__roofline *roof, const char *name, double value)
{
    double threads = threads_of(name), scaled = value;

    if (!(threads > 0))
        return;
    if (roof->cpus > threads)
        scaled = value * roof->cpus / threads;
    if (starts_with(name, "copy_nt_") || starts_with(name, "copy_plain_"))
        raise_to(&roof->bytes_per_ns, value);
    else if (starts_with(name, "fma_f64_"))
        raise_to(&roof->f64_per_ns, scaled);
    else if (starts_with(name, "fma_f32_"))
        raise_to(&roof->f32_per_ns, scaled);
}

double assay__roofline_flops(const assay__roofline *roof, assay_dtype dtype)
{
    if (dtype == ASSAY_F64)
        return roof->f64_per_ns;
    if (dtype == ASSAY_F32 || dtype == ASSAY_F16 || dtype == ASSAY_BF16)
        return roof->f32_per_ns;
    return (double)NAN;
}

assay__roofline_bound assay__roofline_bound_of(const assay__roofline *roof, assay_dtype dtype,
                                               double flops, double bytes)
{
    double by_flops = flops / assay__roofline_flops(roof, dtype);
    double by_bytes = bytes / roof->bytes_per_ns;
    assay__roofline_bound bound = {.floor_ns = (double)NAN,
                                   .intensity = bytes > 0 ? flops / bytes : (double)NAN};

    if (isnan(by_flops) && isnan(by_bytes))
        bound.is_compute = bound.intensity > 8;
    else
        bound.is_compute = isnan(by_bytes) || by_flops > by_bytes;
    bound.floor_ns = bound.is_compute ? by_flops : by_bytes;
    return bound;
}
