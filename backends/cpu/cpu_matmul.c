/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul.c -- C = alpha op(A) op(B) + beta C, and y = a b + bias, without
 * special instructions.
 *
 * A stretch of one row of C is summed in a local array in order of k: f64 in f64, others in f32. */
#include "backends/cpu/cpu_matmul.h"
#include "assay/dtype_inline.h"
#include "runtime/host_team.h"

enum { STRETCH = 256 };

/* row_<name>: columns [from, to) of row i; `result` is the type of C. */
#define ROWS(name, type, real, widen, result, widen_result, narrow)                           \
    static void stretch_##name(const cpu_matmul *g, const type *a, const type *b,             \
                               const result *old, result *c, int64_t cols)                    \
    {                                                                                         \
        real sums[STRETCH] = {0}, alpha = (real)g->alpha, beta = (real)g->beta;               \
        for (int64_t p = 0; p < g->k; p++) {                                                  \
            real x = widen(a[p * g->a_k]);                                                    \
            const type *row = b + p * g->b_k;                                                 \
            if (g->b_col == 1)                                                                \
                for (int64_t j = 0; j < cols; j++)                                            \
                    sums[j] += x * widen(row[j]);                                             \
            else                                                                              \
                for (int64_t j = 0; j < cols; j++)                                            \
                    sums[j] += x * widen(row[j * g->b_col]);                                  \
        }                                                                                     \
        for (int64_t j = 0; j < cols; j++) {                                                  \
            real product = g->k > 0 ? alpha * sums[j] : 0;                                    \
            c[j] = narrow(beta == 0 ? product : product + beta * widen_result(old[j]));       \
        }                                                                                     \
    }                                                                                         \
    static void row_##name(const cpu_matmul *g, int64_t index)                                \
    {                                                                                         \
        int64_t batch = index / g->m, i = index % g->m;                                       \
        const type *a = (const type *)(const void *)g->a + batch * g->a_batch + i * g->a_row; \
        const type *b = (const type *)(const void *)g->b + batch * g->b_batch;                \
        result *c = (result *)(void *)g->c + batch * g->c_batch + i * g->c_row;               \
        const result *old =                                                                   \
            (const result *)(const void *)g->old + batch * g->old_batch + i * g->old_row;     \
        for (int64_t j = 0; j < g->n; j += STRETCH)                                           \
            stretch_##name(g, a, b + j * g->b_col, old + j, c + j,                            \
                           g->n - j < STRETCH ? g->n - j : STRETCH);                          \
    }                                                                                         \
    CPU_ENTRY(matmul_##name)                                                                  \
    {                                                                                         \
        return run(launch, row_##name);                                                       \
    }

#define PRODUCT(name, type, real, widen, narrow)       \
    ROWS(name, type, real, widen, type, widen, narrow) \
    CPU_ENTRY(fused_linear_##name)                     \
    {                                                  \
        return run(launch, row_##name);                \
    }

typedef struct portable {
    cpu_matmul g;
    void (*row)(const cpu_matmul *g, int64_t index);
    int64_t rows, parts;
} portable;

static void rows_part(void *cookie, int64_t part)
{
    const portable *p = cookie;
    int64_t from, to;

    cpu_part(p->rows, 1, p->parts, part, &from, &to);
    for (int64_t index = from; index < to; index++)
        p->row(&p->g, index);
}

static assay_status run(const assay_launch *launch, void (*row)(const cpu_matmul *g, int64_t index))
{
    int threads = cpu_threads(launch);
    portable p = {.row = row};

    cpu_matmul_read(launch, &p.g);
    if (p.g.n == 0)
        return ASSAY_OK;
    p.rows = p.g.batch * p.g.m;
    p.parts = threads > 1 ? (int64_t)threads * 4 : 1;
    p.parts = p.parts < p.rows ? p.parts : p.rows;
    assay__host_team_run(threads, p.parts, rows_part, &p);
    return ASSAY_OK;
}

#define SAME(x) (x)

PRODUCT(f64, double, double, SAME, SAME)
PRODUCT(f32, float, float, SAME, SAME)
PRODUCT(f16, uint16_t, float, assay_f16_to_f32, assay_f32_to_f16)
PRODUCT(bf16, uint16_t, float, assay_bf16_to_f32, assay_f32_to_bf16)
ROWS(f16_f32, uint16_t, float, assay_f16_to_f32, float, SAME, SAME)
ROWS(bf16_f32, uint16_t, float, assay_bf16_to_f32, float, SAME, SAME)
