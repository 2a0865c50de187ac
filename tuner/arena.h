/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/arena.h -- where operands lie: offsets in the shared files, guard pages, alignment. */
#ifndef ASSAY_TUNER_ARENA_H
#define ASSAY_TUNER_ARENA_H

#include "assay/op.h"

/* Inputs of a problem one after another in a file, each at a page start plus 16 (align 16: 16 but
 * not 64), plus 64 (align 64), or plus the element size (align 0). */
typedef struct assay__input_plan {
    size_t count;
    uint64_t offset[ASSAY_MAX_OPERANDS];
    uint64_t bytes[ASSAY_MAX_OPERANDS];
    uint64_t total; /* whole pages */
} assay__input_plan;
/* Inputs, and last the old contents of the output when the op reads it (matmul, beta != 0). */
assay_status assay__input_plan_make(const assay_problem *p, unsigned align, assay__input_plan *out);
bool assay__reads_output(const assay_problem *p);

/* The output in its own file: `bytes` at `offset` so that its end lies 64 to 128 bytes before that
 * of the last page; the slack before and after holds ASSAY__CANARY. */
#define ASSAY__CANARY 0xa5
typedef struct assay__output_plan {
    uint64_t bytes, offset, total;
} assay__output_plan;
assay_status assay__output_plan_make(const assay_problem *p, unsigned align,
                                     assay__output_plan *out);
/* Fills the whole file: canary outside, a quiet NaN with a tag (floats) or 0xa5 (integers) inside;
 * no cache holds it then. */
void assay__output_poison(void *base, const assay__output_plan *plan, assay_dtype dtype);
/* Bytes outside the output that no longer hold the canary; first: offset of the first one. */
size_t assay__output_overrun(const void *base, const assay__output_plan *plan, uint64_t *first);

/* Makes the pages of a mapping that may be written ready all at once; where the system cannot, each
 * comes when it is touched, at 1.3 us a page on a virtual machine.  Pages of a shared file are
 * there once anybody has written them: to read them maps many at a time, writable, in 0.2 us a page
 * (0.35 to write them).  `at` may lie anywhere in a page. */
void assay__populate(void *at, size_t bytes, bool is_shared);

/* Maps a file of `total` bytes between two inaccessible pages; NULL on failure. */
void *assay__map_guarded(int fd, uint64_t total, bool writable);
void assay__unmap_guarded(void *base, uint64_t total);

/* Contiguous host tensors of a problem over the given addresses (inputs then output). */
assay_status assay__tensors_make(const assay_problem *p, void *const *addresses,
                                 assay_tensor out[ASSAY_MAX_OPERANDS]);

#endif
