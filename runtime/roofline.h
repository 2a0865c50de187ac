/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/roofline.h -- what a machine can do at most, from its measured peaks by name.
 *
 * "fma_f32_avx2_t2" is flop/ns of that dtype on two threads, "copy_nt_t1" and "copy_plain_t1" are
 * byte/ns.  The ceiling of all CPUs is the best of the runs, runs on fewer threads scaled up: a
 * peak that a busy neighbour made too low would call good kernels impossible. */
#ifndef ASSAY_RUNTIME_ROOFLINE_H
#define ASSAY_RUNTIME_ROOFLINE_H

#include <stdbool.h>

#include "assay/dtype.h"

typedef struct assay__roofline {
    double cpus;                   /* usable ones; 0: not known, nothing is scaled */
    double bytes_per_ns;           /* NaN: not measured */
    double f32_per_ns, f64_per_ns; /* flop/ns; NaN: not measured */
} assay__roofline;

void assay__roofline_init(assay__roofline *roof, double cpus);
/* Raises a ceiling; other names and values that are not above zero do nothing. */
void assay__roofline_add(assay__roofline *roof, const char *name, double value);
/* flop/ns of a dtype; NaN: not known.  Halves are computed in f32 on CPUs without their own units.
 */
double assay__roofline_flops(const assay__roofline *roof, assay_dtype dtype);

typedef struct assay__roofline_bound {
    bool is_compute;  /* flops bound the time, else bytes do */
    double floor_ns;  /* the least time there can be; NaN: not known */
    double intensity; /* flop per byte; NaN: not known */
} assay__roofline_bound;
/* flops, bytes NaN: unknown. */
assay__roofline_bound assay__roofline_bound_of(const assay__roofline *roof, assay_dtype dtype,
                                               double flops, double bytes);

#endif
