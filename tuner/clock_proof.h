/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/clock_proof.h -- what times of known work say of the clock that took them.  Figures alone:
 * whoever asks says which are good enough. */
#ifndef ASSAY_TUNER_CLOCK_PROOF_H
#define ASSAY_TUNER_CLOCK_PROOF_H

#include <stddef.h>

#include "assay/status.h"

/* The least squares line of n >= 2 points that do not all lie above one another. */
typedef struct assay__line {
    double at_zero, slope;
    double off; /* 1 - R^2 */
} assay__line;
assay__line assay__line_fit(const double *x, const double *y, size_t n);

/* A median with its 95 % interval. */
typedef struct assay__proof {
    double value, lo, hi;
    size_t n;
} assay__proof;

/* Of reported[i] - true[i] - less. */
assay_status assay__proof_difference(const double *reported, const double *true_ns, size_t n,
                                     double less, assay__proof *out);
/* Of a[i] / b[i]. */
assay_status assay__proof_ratio(const double *a, const double *b, size_t n, assay__proof *out);
/* How far the slope of times over work is from that of true times over the same work, as a share;
 * one of each round, whose `lengths` points follow one another. */
assay_status assay__proof_slope(const double *times, const double *true_ns, const double *work,
                                size_t rounds, size_t lengths, assay__proof *out);
/* How far the worst point of a round is from the line through all of it, as a share of its time. */
assay_status assay__proof_line(const double *times, const double *work, size_t rounds,
                               size_t lengths, assay__proof *out);

#endif
