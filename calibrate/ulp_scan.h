/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/ulp_scan.h -- the inner loop of the error statistics.
 *
 * Sorts elements into plain ones (error below 0.4999 ulp, so correctly rounded, of no class) and
 * those that assay__ulp_measure must look at. Almost all elements of a good kernel are plain. */
#ifndef ASSAY_CALIBRATE_ULP_SCAN_H
#define ASSAY_CALIBRATE_ULP_SCAN_H

#include "calibrate/ulp.h"

#include <stddef.h>

#define ASSAY_SCAN_MAX 256

/* 2^-32 in an integer: sums of plain errors are exact and do not depend on their order. */
#define ASSAY_SCAN_ONE 4294967296.0

typedef struct assay_scan_in {
    const assay_ulp_format *format;
    const double *y, *hi;
    const double *lo;    /* NULL: zeros */
    const double *bound; /* NULL: zeros */
    size_t count;        /* <= ASSAY_SCAN_MAX */
    double max_rel;      /* so far; see plain_rel */
} assay_scan_in;

typedef struct assay_scan_out {
    double err[ASSAY_SCAN_MAX];           /* err_ulp of plain elements, anything elsewhere */
    uint64_t marked[ASSAY_SCAN_MAX / 64]; /* bit i: element i must be measured */
    uint64_t plain_sum;                   /* of unmarked errors, in units of 2^-32 */
    double plain_abs;                     /* largest |y - r| of unmarked elements */
    double plain_err;                     /* largest err of unmarked elements */
    double plain_rel; /* largest |y - r| / |r| of unmarked elements of normal size; 0 where it is
                       * not above max_rel, as a division a block is too dear */
    uint64_t zeros, integers; /* references of that kind, all elements */
} assay_scan_out;

/* The portable loop and the AVX2 one; the same results bit for bit. */
void assay__ulp_scan_portable(const assay_scan_in *in, assay_scan_out *out);
void assay__ulp_scan_avx2(const assay_scan_in *in, assay_scan_out *out);

/* Whichever this machine can run. */
typedef void (*assay_scan_fn)(const assay_scan_in *in, assay_scan_out *out);
assay_scan_fn assay__ulp_scan_best(void);

/* From element `first` on; used for the tail of the vector loop. */
void assay__ulp_scan_from(const assay_scan_in *in, size_t first, assay_scan_out *out);

#endif
