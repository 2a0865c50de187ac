/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/unary_judge.h -- a unary kernel over its inputs, judged on the device that it runs on.
 *
 * The device counts what a plain rounding gave; the host judges what it lists: every output that
 * its reference leaves open, those that are no ordinary numbers, those that may have the largest
 * error, and the sample.  Both together are the figures of the host's run (calibrate/exhaustive.h),
 * counts, maxima, worst element, quantiles and digest alike.  Where the reference is no exact
 * number the sum of errors, and how many references are whole, may differ by its last bits. */
#ifndef ASSAY_CALIBRATE_UNARY_JUDGE_H
#define ASSAY_CALIBRATE_UNARY_JUDGE_H

#include "calibrate/unary_launch.h"

/* As assay__exhaustive_run, all of it on the calling thread.  A batch of the plan is judged by the
 * host too, and the two compared.  `launch` need not be brought.  The host has to judge all where
 * this gives
 * ASSAY_UNSUPPORTED: the backend has no such judge; ASSAY_NOMEM: or no memory for it;
 * ASSAY_NUMERIC: its figures are not to be believed, or too few to be sure. */
assay_status assay__unary_judged(const assay_unary_launch *launch,
                                 const assay_exhaustive_plan *plan, assay_exhaustive_result *out);

/* The same without comparing, for who does that himself.  `sizes` NULL, or how long each run on the
 * device is, and how many outputs can be listed. */
typedef struct assay__judge_sizes {
    size_t run; /* a multiple of ASSAY_JUDGE_BATCH */
    uint32_t places;
} assay__judge_sizes;
assay_status assay__unary_judged_alone(const assay_unary_launch *launch,
                                       const assay_exhaustive_plan *plan,
                                       const assay__judge_sizes *sizes,
                                       assay_exhaustive_result *out);

/* Are these the same figures?  `why` says what is not; both lose nothing but the order of their
 * samples. */
bool assay__unary_agree(assay_exhaustive_result *device, assay_exhaustive_result *host,
                        const assay_problem *problem, char *why, size_t cap);

#endif
