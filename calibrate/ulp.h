/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/ulp.h -- the error of one element in units in the last place.
 *
 * r = hi + lo is the exact result (|lo| at most an ulp of hi), y the output. e(r) = floor(log2 |r|)
 * held in [emin, emax]; q(r) = 2^(e(r) - p + 1); err_ulp = |y - r| / q(r). dist = representable
 * values between y and RN(r), the correctly rounded result (one rounding of hi + lo), with +0 and
 * -0 one value. The reference sets the scale, never the output. Pure functions; any thread. */
#ifndef ASSAY_CALIBRATE_ULP_H
#define ASSAY_CALIBRATE_ULP_H

#include "assay/dtype.h"
#include "assay/status.h"

#include <stdbool.h>
#include <stdint.h>

/* A float format with all that the inner loops need. Plain data. */
typedef struct assay_ulp_format {
    assay_dtype dtype;
    bool saturates; /* f8 stores clamp instead of overflowing */
    bool has_inf;
    int precision, emin, emax;
    double max_finite;
    double overflow; /* |r| above it rounds past max_finite for certain */
    double min_normal;
    double min_subnormal;
    double unit_roundoff;
    bool is_integer; /* one unit is 1; of the above only dtype and precision apply, the rest is NaN
                      * or 0 */
} assay_ulp_format;

/* ASSAY_INVALID when dtype is no float type. `saturates` matters for the f8 types only. */
assay_status assay__ulp_format(assay_dtype dtype, bool saturates, assay_ulp_format *out);
/* The same for integers too: their results are right or wrong, and by how much. */
assay_status assay__ulp_any_format(assay_dtype dtype, bool saturates, assay_ulp_format *out);

/* q(r); r a number, infinities count as the top binade. */
double assay__ulp_quantum(const assay_ulp_format *format, double hi, double lo);

/* RN(r) as the value of the format: one rounding, overflow by the format's rule. NaN for NaN. */
double assay__ulp_round(const assay_ulp_format *format, double hi, double lo);

/* Representable values between two values of the format, neither NaN. */
uint64_t assay__ulp_distance(const assay_ulp_format *format, double a, double b);

/* Bits of element `index` of an array of the format, or of any dtype; zero extended. */
uint64_t assay__element_bits(assay_dtype dtype, const void *base, size_t index);

typedef enum assay_ulp_class {
    ASSAY_ULP_ORDINARY = 0,
    ASSAY_ULP_NAN_MISMATCH, /* one of y and r is NaN, not the other */
    ASSAY_ULP_INF_MISMATCH, /* one of y and RN(r) overflowed, not the other, or to the other side */
    ASSAY_ULP_FLUSHED,      /* y is zero where RN(r) is subnormal and more than one step away */
    ASSAY_ULP_CLASSES
} assay_ulp_class;

typedef struct assay_ulp_point {
    assay_ulp_class class;
    bool zero_sign_mismatch; /* y and RN(r) are zeros of different sign */
    bool is_uncertain;       /* the reference's own bound does not settle RN(r) */
    double expected;         /* RN(r) */
    double err_ulp;          /* ORDINARY: the error; INF_MISMATCH: with infinity as 2^(emax+1);
                              * FLUSHED: of the zero; NAN_MISMATCH: 0. Never infinite or NaN */
    uint64_t dist;           /* ORDINARY and FLUSHED */
    double abs;              /* ORDINARY and FLUSHED: |y - r| */
    double rel;              /* the same over |r|; 0 when |r| is below the smallest normal */
} assay_ulp_point;

/* Element `index` of an array of integers. */
int64_t assay__integer_element(assay_dtype dtype, const void *base, size_t index);
/* An integer format: all units and errors are whole. hi + lo must be a value of the type, else the
 * reference is at fault and the class is NAN_MISMATCH, which nothing passes. */
assay_ulp_point assay__ulp_measure_integer(const assay_ulp_format *format, int64_t y, double hi,
                                           double lo);

/* y: value of the format (from assay_load_f64). bound >= 0: error bound of hi + lo. */
assay_ulp_point assay__ulp_measure(const assay_ulp_format *format, double y, double hi, double lo,
                                   double bound);

#endif
