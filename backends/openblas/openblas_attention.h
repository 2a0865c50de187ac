/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas_attention.h -- attention as two products with a softmax between. */
#ifndef ASSAY_BACKENDS_OPENBLAS_ATTENTION_H
#define ASSAY_BACKENDS_OPENBLAS_ATTENTION_H

#include "backends/openblas/openblas.h"

assay_status openblas_attention(const assay_launch *launch);
/* Extents of 32 bits; no more threads than this process may use.  Opens nothing. */
bool openblas_attention_usable(const assay_problem *problem, const int64_t *tunables);

/* The first `seen` of n scores to weights that sum to one, the others to 0. */
void openblas_softmax_row(float *s, int64_t seen, int64_t n);

#endif
