/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/roofline.h -- what a machine can do at most, from its measured peaks by name.
 *
 * "fma_f32_avx512_t2" is flop/ns of that arithmetic on two threads, "copy_nt_t1" byte/ns;
 * "matrix_bf16_d1" and "copy_d1" are those of one device apart from the host.  A roof is of one or
 * of the other, and takes no peaks of the other's.  The
 * ceiling of all CPUs is the best of the runs, runs on fewer threads scaled up: a peak that a busy
 * neighbour made too low would call good kernels impossible.
 *
 * Two different questions are answered here.  A ceiling is what a kernel in the dtype's own units
 * reaches, for shares of the peak.  A floor is the time that no right kernel can beat: there every
 * way to get the result counts, also products split into narrower ones on a faster unit, and bytes
 * that a cache may have kept.  Where the machine has a unit whose peak was not measured, neither
 * is known: unknown is absent, never low. */
#ifndef ASSAY_RUNTIME_ROOFLINE_H
#define ASSAY_RUNTIME_ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/dtype.h"

/* Kinds of arithmetic that units do. */
typedef enum assay__arith {
    ASSAY__ARITH_F64,
    ASSAY__ARITH_F32,
    ASSAY__ARITH_F16,
    ASSAY__ARITH_BF16,
    ASSAY__ARITH_I8,
    ASSAY__ARITH_TF32,  /* of devices: f32 cut to ten bits */
    ASSAY__ARITH_CACHE, /* loads and copies in the first cache */
    ASSAY__ARITHS
} assay__arith;

typedef struct assay__roofline {
    double cpus;                        /* usable ones; 0: not known, nothing is scaled */
    double bytes_per_ns;                /* copies through memory; NaN: not measured */
    double memory_per_ns;               /* the best of copies, loads and stores there */
    double cache_bytes;                 /* that all caches hold; NaN: not known */
    double arith_per_ns[ASSAY__ARITHS]; /* flop/ns, of the cache byte/ns; NaN: not measured */
    uint32_t missing;  /* bit i: unit i of the table is here and its peak was not measured */
    bool is_isa_known; /* else there is no floor */
    bool is_device;    /* of a device apart from the host */
} assay__roofline;

/* isa: usable instruction sets as in a deployment; NULL or "": not known. */
void assay__roofline_init(assay__roofline *roof, double cpus, const char *isa);
/* Of a device apart from the host: every unit that a device may have counts as missing until its
 * peak is added, since nobody says which it has. */
void assay__roofline_init_device(assay__roofline *roof);
/* Raises a ceiling; other names and values that are not above zero do nothing. */
void assay__roofline_add(assay__roofline *roof, const char *name, double value);
/* flop/ns of kernels in a dtype; NaN: not known.  Halves may be computed in f32 too. */
double assay__roofline_flops(const assay__roofline *roof, assay_dtype dtype);

typedef struct assay__roofline_bound {
    bool is_compute;  /* flops bound the time, else bytes do */
    double floor_ns;  /* at the ceilings; NaN: not known */
    double intensity; /* flop per byte; NaN: not known */
} assay__roofline_bound;
/* flops, bytes NaN: unknown. */
assay__roofline_bound assay__roofline_bound_of(const assay__roofline *roof, assay_dtype dtype,
                                               double flops, double bytes);

/* The least time that `flops` multiplications and additions of a contraction in `dtype` can take,
 * and that touching `bytes` can take when `rotation_bytes` are touched before the same byte comes
 * again (0: hot).  NaN: there is no floor. */
double assay__roofline_flops_floor(const assay__roofline *roof, assay_dtype dtype, double flops);
double assay__roofline_bytes_floor(const assay__roofline *roof, double bytes,
                                   double rotation_bytes);

#endif
