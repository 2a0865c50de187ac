/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/log_interval.h -- an interval of the centre of log ratios, one value a visit.
 *
 * Of few visits that scatter alike Student's interval of the mean says the most.  On machines that
 * others use, too, one visit in twenty is off by many times what the rest scatter, and one of seven
 * then widens Student's interval so far that nothing is found in it.  There the interval of the
 * trimmed mean by Tukey and McLaughlin (Sankhya A 25, 1963) says more: the outermost values count
 * as their inner neighbours.  Nobody knows beforehand which of the two it is, so both are made and
 * the narrower is taken; each has its part of the error that is allowed for, so that their union
 * keeps it. */
#ifndef ASSAY_TUNER_LOG_INTERVAL_H
#define ASSAY_TUNER_LOG_INTERVAL_H

#include "assay/status.h"

#include <stddef.h>

typedef struct assay__log_interval {
    double mean, half; /* half 0: one value */
} assay__log_interval;

/* What rivals that were timed alongside say of the noise.  Without any: {0, 1}. */
typedef struct assay__shared_noise {
    double variance; /* of one value; none is believed to be smaller */
    double sharing;  /* this many times as many values stand behind a variance, >= 1 */
} assay__shared_noise;

/* n >= 1 finite values, 0 < alpha < 1: the centre is outside with a probability of `alpha`. */
assay_status assay__log_interval_find(const double *logs, size_t n, double alpha,
                                      assay__shared_noise noise, assay__log_interval *out);

/* How many values at either end the trimmed mean leaves out; 0: too few for it. */
size_t assay__log_trim(size_t n);

/* Mean of n sorted values without `cut` at either end, 2 cut < n, and the variance of one value
 * that its error speaks for; 0 with one value left. */
void assay__log_trimmed(const double *sorted, size_t n, size_t cut, double *mean, double *variance);

#endif
