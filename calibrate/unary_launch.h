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
    /* Set by assay__unary_bring. */
    bool is_apart;
    size_t piece;        /* elements that go there and back at once */
    assay_buffer far[2]; /* input and output of a piece there */
    void *patterns; /* owned, of the host: the inputs on their way, and outputs of two pieces */
    void *rooms[2];
    bool is_pinned; /* those are memory of the slot host_alloc */
} assay_unary_launch;

/* Where the backend's kernels take handles alone, takes memory for pieces of at most so many
 * elements, a power of two, on both sides, fewer if there is not as much; does nothing elsewhere.
 * Let go by assay__unary_leave. */
#define ASSAY_UNARY_PIECE ((size_t)1 << 22) /* long enough for the way not to count */
assay_status assay__unary_bring(assay_unary_launch *launch, size_t piece);
void assay__unary_leave(assay_unary_launch *launch);

/* `launch` is borrowed by the result.  Launches come from as many threads as the plan has, of a
 * device apart from one at a time.  Each batch, there each piece, is launched in two of changing
 * length, so that the ends of vector loops and short calls take part; both lie at 64 bytes.  In one
 * where the kernel does not admit these lengths; ASSAY_UNSUPPORTED when it admits neither. */
assay__unary assay__unary_of(const assay_unary_launch *launch);

/* ---- for the files of this header ---- */

/* A launch over n elements; x and y as the tensors of a caller would be. */
assay_status assay__unary_prepare(const assay_unary_launch *launch, const void *x, void *y,
                                  size_t n, assay_problem *problem, assay_tensor operands[2],
                                  assay_launch *out);
/* Length of the second of the two: 0 where all n go at once. */
assay_status assay__unary_tail(const assay_unary_launch *launch, uint64_t first_pattern, size_t n,
                               size_t *out);
/* assay__unary's fetch, from a device apart. */
assay_status assay__unary_fetch(void *launch, uint64_t first, size_t n, void *y);

#endif
