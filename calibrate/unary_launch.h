/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/unary_launch.h -- a plug-in's unary kernel and its oracle as what the exhaustive run
 * takes.
 *
 * Which ops qualify follows from the catalogue: one input, elementwise, its extent `n` the only
 * shape parameter, an input type of at most 32 bits.  All other parameters stay as the problem
 * gives them. */
#ifndef ASSAY_CALIBRATE_UNARY_LAUNCH_H
#define ASSAY_CALIBRATE_UNARY_LAUNCH_H

#include "calibrate/exhaustive.h"
#include "runtime/backend_slots.h"

/* The problem that stands for every shape: `from` with n = 2^(bits of its input type).
 * ASSAY_UNSUPPORTED says why there is none. */
assay_status assay__unary_problem(const assay_problem *from, assay_problem *out);

typedef struct assay_unary_launch {
    assay_problem problem;         /* of assay__unary_problem */
    const assay__backend *backend; /* borrowed, open */
    const assay_kernel_desc *kernel;
    const assay_oracle_desc *oracle;
    int64_t tunables[ASSAY_MAX_TUNABLES];
    bool is_apart;       /* set by assay__unary_bring; then one thread launches at a time */
    assay_buffer far[2]; /* input and output of a batch there */
} assay_unary_launch;

/* Takes memory for a batch where the backend's kernels take handles alone; does nothing elsewhere.
 * Let go by assay__unary_leave. */
assay_status assay__unary_bring(assay_unary_launch *launch);
void assay__unary_leave(assay_unary_launch *launch);

/* `launch` is borrowed by the result.  Launches come from as many threads as the plan has.  Each
 * batch is launched in two pieces of changing length, so that the ends of vector loops and short
 * calls take part; both pieces lie at 64 bytes. In one where the kernel does not admit these
 * lengths; ASSAY_UNSUPPORTED when it admits neither. */
assay_unary assay__unary_of(const assay_unary_launch *launch);

#endif
