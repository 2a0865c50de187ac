/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_unary.h -- references of transcendental functions.
 *
 * Up to 32 bits a double with its bound decides, and MPFR where that leaves the rounding open; f64
 * is MPFR's throughout. */
#ifndef ASSAY_BACKENDS_REF_UNARY_H
#define ASSAY_BACKENDS_REF_UNARY_H

#include <mpfr.h>

#include "backends/ref/ref.h"

#define REF_BLOCK 512

/* Precision of the exact way.  Arguments of exponentials stay below 2^11 where the result is not
 * zero, so that the error of a result is far below 2^-120 of it. */
#define REF_BITS 192

typedef struct ref_unary {
    /* y within bound of f(x), n <= REF_BLOCK. */
    void (*fast)(const double *x, double *y, double *bound, int64_t n);
    /* f(x) with a relative error of 2^-120. */
    void (*exact)(mpfr_t y, const mpfr_t x);
    bool measured_by_x; /* magnitude: |x| */
} ref_unary;

assay_status ref_wide_unary(const assay_launch *launch, unsigned threads, const assay_wide *out,
                            const ref_unary *f);

/* The C library's functions on arrays, through libmvec where this CPU has AVX2: within
 * REF_LIBM_ULP units in the last place of a double (glibc manual: 4 for libmvec, at most 5 for
 * erfc). */
#define REF_LIBM_ULP 5.0
#define REF_LIBM(X)  X(exp) X(log) X(tanh) X(erfc)
#define X(name)                                                 \
    void ref_map_##name(const double *x, double *y, int64_t n); \
    void ref_map_##name##_avx2(const double *x, double *y, int64_t n);
REF_LIBM(X)
#undef X

/* A unit in the last place of a double, for bounds; what is lost where doubles are subnormal. */
#define REF_UNIT      0x1p-52
#define REF_UNDERFLOW 0x1p-1022

#endif
