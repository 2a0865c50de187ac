/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_judge_shape.h -- what the judge's kernels and their launches share. */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_JUDGE_SHAPE_H
#define BACKENDS_CUDA_KERNELS_CUDA_JUDGE_SHAPE_H

#define CUDA_JUDGE_BLOCK  256 /* threads, which have a batch of outputs at a time */
#define CUDA_JUDGE_BATCH  8192
#define CUDA_JUDGE_GROUPS 4 /* workgroups a multiprocessor */

/* An assay_judged in words of 8 bytes; its elements follow, two words each: the output's bits, then
 * the place of the element and, in the upper half, why it is listed. */
enum {
    JUDGED_ELEMENTS,
    JUDGED_ZERO_SIGN,
    JUDGED_MISROUNDED,
    JUDGED_OVER_ONE,
    JUDGED_MAX_DIST,
    JUDGED_ZEROS,
    JUDGED_INTEGERS,
    JUDGED_SUM_PART, /* 2^-32 */
    JUDGED_SUM_LOW,  /* the lower halves of whole parts */
    JUDGED_SUM_HIGH, /* their upper halves */
    JUDGED_DIGEST,
    JUDGED_LISTED,
    JUDGED_BINS,
    JUDGED_WORDS = JUDGED_BINS + 23
};

#endif
