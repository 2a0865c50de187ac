/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/sequence.h -- any op of the catalogue over resident buffers, one or many in one go: in
 * order, a part of them repeated, timed, and what is to be read at the end.
 *
 * Everything is checked before the first step runs: problems, operands, ranges to read.  A step
 * that fails ends the sequence: those before it have run, those behind it have not, and nothing is
 * read.  Statuses are those of assay/compute.h. */
#ifndef ASSAY_SEQUENCE_H
#define ASSAY_SEQUENCE_H

#include "assay/compute.h"

#ifdef __cplusplus
extern "C" {
#endif

/* operands: inputs then outputs, anywhere in buffers of the engine, or in host memory (owner 0) of
 * engines that reach it. */
typedef struct assay_step {
    const assay_problem *problem;
    const assay_tensor *operands;
    size_t operand_count;
} assay_step;

/* One op as a typed call. */
assay_status assay_op_run(assay_engine *engine, const assay_step *step, assay_call *call);

typedef struct assay_sequence {
    uint32_t struct_size;
    const assay_step *prefix; /* once, first */
    size_t prefix_count;
    const assay_step *body;
    size_t body_count;
    uint64_t repeats;            /* of the body; 0: the prefix and the reads alone */
    const assay_transfer *reads; /* at the end, as one operation */
    size_t read_count;
    uint32_t max_threads;             /* 0: no limit */
    const assay_tolerance *tolerance; /* NULL: none */
    assay_policy policy;              /* 0: rotate/alone/kernel */
} assay_sequence;

#define ASSAY_STEP_NONE SIZE_MAX /* none failed, or the reads did */

/* Where it ended; filled also on failure.  On devices that run beside the host a kernel that fails
 * is found when its pass is waited for: `step` is then the last one that was launched. */
typedef struct assay_sequence_end {
    uint32_t struct_size;
    size_t step;        /* that failed: of the prefix, then those of the body */
    uint64_t pass;      /* of the body, from 0 */
    uint64_t steps_run; /* that were launched */
    bool read_failed;
} assay_sequence_end;

/* Times are nanoseconds, NaN where one is not known: a sum is not known where a part is not.  By
 * the device's clock where it has one and runs beside the host, else by the host's around each
 * step. */
typedef struct assay_sequence_timing {
    uint32_t struct_size;
    char clock[48];
    double resolution_ns;
    assay_timing_quality quality;
    double wall_ns;  /* the whole call, by CLOCK_MONOTONIC_RAW */
    double steps_ns; /* prefix and all passes */
    double read_ns;  /* by CLOCK_MONOTONIC_RAW; 0: nothing was to be read */
    /* The caller's arrays, or NULL.  Steps: of the prefix, then those of the body in its first
     * pass.  Passes: the first pass_cap of them.  Counts say how many were filled. */
    double *step_ns;
    size_t step_cap, step_count;
    double *pass_ns;
    size_t pass_cap, pass_count;
} assay_sequence_timing;

/* end, timing: NULL where not wanted; with a timing each step is waited for, or marked by an event.
 */
assay_status assay_sequence_run(assay_engine *engine, const assay_sequence *sequence,
                                assay_sequence_timing *timing, assay_sequence_end *end);

#ifdef __cplusplus
}
#endif
#endif
