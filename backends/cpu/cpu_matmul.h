/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul.h -- a matmul launch as strides, and scratch memory. */
#ifndef ASSAY_BACKENDS_CPU_MATMUL_H
#define ASSAY_BACKENDS_CPU_MATMUL_H

#include <stddef.h>

#include "backends/cpu/cpu.h"
#include "backends/matmul_scale.h"

/* op(A)[i][p] is a[i * a_row + p * a_k], op(B)[p][j] is b[p * b_k + j * b_col], C[i][j] is
 * c[i * c_row + j], and what beta scales old[i * old_row + j]: C itself, or one bias for all rows;
 * all in elements. */
typedef struct cpu_matmul {
    const char *a, *b, *old;
    char *c;
    int64_t batch, m, n, k;
    int64_t a_batch, a_row, a_k, b_batch, b_k, b_col, c_batch, c_row, old_batch, old_row;
    double alpha, beta;
} cpu_matmul;

/* Operands as they lie; ta, tb: op(A), op(B) are transposed. */
static inline void cpu_matmul_operands(const assay_launch *launch, bool ta, bool tb, cpu_matmul *g)
{
    const assay_tensor *a = &launch->operands[0], *b = &launch->operands[1];
    const assay_tensor *c = &launch->operands[launch->operand_count - 1];

    g->a = assay_tensor_data(a);
    g->b = assay_tensor_data(b);
    g->c = assay_tensor_data(c);
    g->batch = c->dims[0];
    g->m = c->dims[1];
    g->n = c->dims[2];
    g->k = a->dims[ta ? 1 : 2];
    g->a_batch = a->strides[0];
    g->a_row = a->strides[ta ? 2 : 1];
    g->a_k = a->strides[ta ? 1 : 2];
    g->b_batch = b->strides[0];
    g->b_k = b->strides[tb ? 2 : 1];
    g->b_col = b->strides[tb ? 1 : 2];
    g->c_batch = g->old_batch = c->strides[0];
    g->c_row = g->old_row = c->strides[1];
    g->old = g->c;
    g->alpha = g->beta = 1.0;
}

/* A matmul, or a fused_linear: its bias is the old C, added to the first sums that are written. */
static inline void cpu_matmul_read(const assay_launch *launch, cpu_matmul *g)
{
    const assay_problem *p = launch->problem;
    assay_dtype t = launch->operands[0].dtype;

    if (p->op == ASSAY_OP_fused_linear) {
        cpu_matmul_operands(launch, false, false, g);
        g->old = assay_tensor_data(&launch->operands[2]);
        g->old_batch = g->old_row = 0;
        return;
    }
    cpu_matmul_operands(launch, ASSAY__INT(p, matmul, trans_a) != 0,
                        ASSAY__INT(p, matmul, trans_b) != 0, g);
    g->alpha = ASSAY__REAL(p, matmul, alpha);
    g->beta = ASSAY__REAL(p, matmul, beta);
    /* Neither op(A) nor op(B) is read: sums of nothing.  Nor is C. */
    if (matmul_factor_is_zero(g->alpha, t))
        g->k = 0;
    if (matmul_factor_is_zero(g->beta, t))
        g->beta = 0.0;
}

/* At least `bytes` bytes at a multiple of 64, kept by the calling thread for its next call and
 * freed when it ends; NULL: no memory.  Slot 0: op(B), slot 1: op(A) and sums. */
void *cpu_workspace(int slot, size_t bytes);

#endif
