/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_fused_linear.c -- y = a b + bias: the reference matmul with beta 1 over a C
 * whose rows all are the bias. */
#include "backends/ref/ref_matmul.h"

enum { CHUNK = 1 << 17 };

/* Whole rows of y at a time. */
static int64_t chunk_of(const assay_launch *launch)
{
    int64_t n = launch->operands[1].dims[2];

    return n > 0 ? (n < CHUNK ? CHUNK / n : 1) * n : 1;
}

REF_OP(fused_linear, chunk_of(launch))
{
    const assay_tensor *a = &launch->operands[0], *b = &launch->operands[1];
    assay_tensor rows = launch->operands[2];
    ref_matmul g = {.a = a, .b = b, .c = &rows, .alpha = 1.0, .beta = 1.0};

    g.m = a->dims[1];
    g.k = a->dims[2];
    g.n = b->dims[2];
    rows.rank = 3;
    rows.strides[2] = rows.strides[0];
    rows.strides[0] = rows.strides[1] = 0;
    return ref_matmul_wide(&g, threads, out);
}
