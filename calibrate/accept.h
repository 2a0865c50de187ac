/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/accept.h -- is one element within the bound of its op.
 *
 * The tolerance is a pure function of (element, spec), both const: nothing learnt from one
 * element may loosen the check of the next. Every comparison is written so that NaN fails. */
#ifndef ASSAY_CALIBRATE_ACCEPT_H
#define ASSAY_CALIBRATE_ACCEPT_H

#include "calibrate/error_stats.h"

typedef enum assay_accept_rule {
    ASSAY_ACCEPT_ELEMENTWISE, /* dist <= max_dist */
    ASSAY_ACCEPT_CONTRACTION, /* sums of products: certain bound fails, probabilistic warns */
    ASSAY_ACCEPT_SOFTMAX      /* relative error that grows with the distance from the maximum */
} assay_accept_rule;

typedef struct assay_accept_spec {
    assay_accept_rule rule;
    assay_ulp_format format;
    double u_acc;        /* unit roundoff of the arithmetic inside: 2^-24 for f32 */
    double u_operand;    /* unit roundoff the kernel first rounds its operands to; 0: not at all */
    uint64_t max_dist;   /* ELEMENTWISE */
    double terms;        /* CONTRACTION: roundings on a path, k + 2; SOFTMAX: elements of a row */
    double fixed;        /* CONTRACTION: roundings of the result beside those of the sum */
    double exp_ulps;     /* SOFTMAX: bound of the exp inside, in ulps of the arithmetic */
    bool allows_flush;   /* zero for a subnormal result is no failure */
    bool is_strict_zero; /* the sign of a zero counts */
} assay_accept_spec;

/* dtype: of the output; elementwise of integers too. accumulator: of the arithmetic inside. */
assay_status assay__accept_elementwise(assay_dtype dtype, uint64_t max_dist,
                                       assay_accept_spec *out);
/* k >= 0 products a sum; two more roundings for alpha and beta * C. */
assay_status assay__accept_contraction(assay_dtype dtype, assay_dtype accumulator, int64_t k,
                                       assay_accept_spec *out);
/* terms >= 0 roundings on a path, each of the magnitude; `fixed` more of the result itself. */
assay_status assay__accept_sum(assay_dtype dtype, assay_dtype accumulator, double terms,
                               double fixed, assay_accept_spec *out);
/* cols >= 0 elements a row, exp_ulps >= 0. */
assay_status assay__accept_softmax(assay_dtype dtype, assay_dtype accumulator, int64_t cols,
                                   double exp_ulps, assay_accept_spec *out);

typedef struct assay_accept_element {
    double y, hi, lo; /* output, exact result */
    double bound;     /* of hi + lo, >= 0 */
    double magnitude; /* CONTRACTION: sum of absolute products, |alpha| and |beta C| included */
    double depth;     /* SOFTMAX: |x - max of the row| */
    int64_t y_whole;  /* the output where the format is an integer's, instead of y */
} assay_accept_element;

typedef enum assay_accept_verdict {
    ASSAY_ACCEPT_FAIL = 0, /* outside the certain bound, or of a forbidden class */
    ASSAY_ACCEPT_WARN,     /* inside the certain, outside the probabilistic bound */
    ASSAY_ACCEPT_PASS
} assay_accept_verdict;

assay_accept_verdict assay__accept(const assay_accept_element *element,
                                   const assay_accept_spec *spec);

/* The |y - r| that is certain to hold (fail beyond) and that holds with probability near one
 * (warn beyond); not for ELEMENTWISE, where both are NaN. */
void assay__accept_bounds(const assay_accept_element *element, const assay_accept_spec *spec,
                          double *certain, double *probable);

typedef struct assay_accept_counts {
    uint64_t failed, warned;
    uint64_t first_failed; /* index, ASSAY_ERROR_NONE when none */
    double worst_share;    /* largest |y - r| over its certain bound; ELEMENTWISE: dist over
                            * max(1, max_dist) */
} assay_accept_counts;

void assay__accept_counts_init(assay_accept_counts *counts);

/* All elements of a batch; depth: per element, NULL but for SOFTMAX. ASSAY_INVALID when an array
 * that the rule needs is missing. */
assay_status assay__accept_batch(const assay_error_batch *batch, const double *depth,
                                 const assay_accept_spec *spec, assay_accept_counts *counts);

void assay__accept_counts_merge(assay_accept_counts *counts, const assay_accept_counts *other);

#endif
