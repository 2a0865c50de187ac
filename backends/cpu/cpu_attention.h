/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_attention.h -- an attention launch as numbers, all operands contiguous.
 *
 * The heads of q that share a head of k and v lie one behind another, so that their queries are the
 * rows of one matrix. */
#ifndef ASSAY_BACKENDS_CPU_ATTENTION_H
#define ASSAY_BACKENDS_CPU_ATTENTION_H

#include <math.h>

#include "backends/cpu/cpu.h"

/* Tunables behind "threads". */
enum { CPU_KEYS = 1, CPU_STRIPS = 2 };

typedef struct cpu_attention {
    const char *q, *k, *v;
    char *o;
    int64_t groups; /* heads of k of all sequences */
    int64_t rows;   /* of a group: queries of all heads that share it */
    int64_t sq, sk, d;
    int causal;
    double scale;
} cpu_attention;

static inline void cpu_attention_read(const assay_launch *launch, cpu_attention *g)
{
    const assay_problem *p = launch->problem;
    int64_t hkv = ASSAY__INT(p, attention, hkv);

    g->q = assay_tensor_data(&launch->operands[0]);
    g->k = assay_tensor_data(&launch->operands[1]);
    g->v = assay_tensor_data(&launch->operands[2]);
    g->o = assay_tensor_data(&launch->operands[3]);
    g->sq = ASSAY__INT(p, attention, sq);
    g->sk = ASSAY__INT(p, attention, sk);
    g->d = ASSAY__INT(p, attention, d);
    g->groups = ASSAY__INT(p, attention, b) * hkv;
    g->rows = ASSAY__INT(p, attention, hq) / hkv * g->sq;
    g->causal = (int)ASSAY__INT(p, attention, causal);
    g->scale = ASSAY__REAL(p, attention, scale);
    if (g->scale == 0.0)
        g->scale = g->d > 0 ? 1.0 / sqrt((double)g->d) : 1.0;
}

static inline bool cpu_attention_empty(const cpu_attention *g)
{
    return g->groups == 0 || g->rows == 0 || g->d == 0;
}

/* Keys that a row of a group sees: the first so many. */
static inline int64_t cpu_attention_seen(const cpu_attention *g, int64_t row)
{
    int64_t i = row % g->sq + 1, n = g->causal == 0   ? g->sk
                                     : g->causal == 1 ? i + g->sk - g->sq
                                                      : i;

    return n < 0 ? 0 : n < g->sk ? n : g->sk;
}

#endif
