/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/product.c -- see product.h. */
#include "calibrate/product.h"

#include <math.h>
#include <string.h>

#include "assay/dtype.h"

static bool is_zero(double x)
{
    return fabs(x) <= 0.0;
}

static void read_matmul(const assay_problem *p, assay__product *g)
{
    g->trans_a = assay_problem_int(p, "trans_a") != 0;
    g->trans_b = assay_problem_int(p, "trans_b") != 0;
    g->alpha = assay_problem_real(p, "alpha");
    g->beta = assay_problem_real(p, "beta");
    if (p->dtypes[2] != ASSAY_F64) {
        g->alpha = assay_round_f64(ASSAY_F32, g->alpha);
        g->beta = assay_round_f64(ASSAY_F32, g->beta);
    }
    g->has_addend = !is_zero(g->beta);
}

bool assay__product_of(const assay_problem *p, assay__product *out)
{
    if (p->op != ASSAY_OP_matmul && p->op != ASSAY_OP_fused_linear)
        return false;
    *out = (assay__product){.problem = *p,
                            .batch = assay_problem_int(p, "batch"),
                            .m = assay_problem_int(p, "m"),
                            .n = assay_problem_int(p, "n"),
                            .k = assay_problem_int(p, "k"),
                            .alpha = 1.0,
                            .beta = 1.0,
                            .has_addend = true,
                            .is_addend_a_row = true};
    if (p->op == ASSAY_OP_matmul) {
        out->is_addend_a_row = false;
        read_matmul(p, out);
    }
    return !is_zero(out->alpha);
}

assay_status assay__product_part(const assay__product *g, int64_t rows, int64_t cols,
                                 assay_problem *out)
{
    assay_status status;

    *out = g->problem;
    status = assay_problem_set_int(out, "batch", 1);
    if (status == ASSAY_OK)
        status = assay_problem_set_int(out, "m", rows);
    if (status == ASSAY_OK)
        status = assay_problem_set_int(out, "n", cols);
    return status;
}

/* Whole rows of a matrix of `width` elements a row. */
static void gather_rows(const char *from, size_t bytes, int64_t width, const int64_t *row,
                        int64_t rows, char *to)
{
    const size_t each = (size_t)width * bytes;

    for (int64_t i = 0; i < rows; i++)
        memcpy(to + (size_t)i * each, from + (size_t)row[i] * each, each);
}

/* Elements of some columns, of each of `height` rows. */
static void gather_columns(const char *from, size_t bytes, int64_t height, int64_t width,
                           const int64_t *col, int64_t cols, char *to)
{
    const bool is_run = cols > 0 && col[cols - 1] - col[0] == cols - 1; /* they ascend */

    for (int64_t i = 0; i < height; i++, from += (size_t)width * bytes) {
        if (is_run) {
            memcpy(to, from + (size_t)col[0] * bytes, (size_t)cols * bytes);
            to += (size_t)cols * bytes;
            continue;
        }
        for (int64_t j = 0; j < cols; j++, to += bytes)
            memcpy(to, from + (size_t)col[j] * bytes, bytes);
    }
}

static void gather_addend(const assay__product *g, int64_t batch, const int64_t *row, int64_t rows,
                          const int64_t *col, int64_t cols, const char *from, char *to)
{
    const size_t bytes = assay_dtype_bytes((assay_dtype)g->problem.dtypes[2]);

    if (g->is_addend_a_row) {
        gather_columns(from, bytes, 1, g->n, col, cols, to);
        return;
    }
    from += (size_t)(batch * g->m * g->n) * bytes;
    for (int64_t i = 0; i < rows; i++, to += (size_t)cols * bytes)
        gather_columns(from + (size_t)(row[i] * g->n) * bytes, bytes, 1, g->n, col, cols, to);
}

void assay__product_gather(const assay__product *g, int64_t batch, const int64_t *row, int64_t rows,
                           const int64_t *col, int64_t cols, const void *const from[3],
                           void *const to[3])
{
    const size_t bytes = assay_dtype_bytes((assay_dtype)g->problem.dtypes[0]);
    const char *a = (const char *)from[0] + (size_t)(batch * g->m * g->k) * bytes;
    const char *b = (const char *)from[1] + (size_t)(batch * g->k * g->n) * bytes;

    if (g->trans_a)
        gather_columns(a, bytes, g->k, g->m, row, rows, to[0]);
    else
        gather_rows(a, bytes, g->k, row, rows, to[0]);
    if (g->trans_b)
        gather_rows(b, bytes, g->k, col, cols, to[1]);
    else
        gather_columns(b, bytes, g->k, g->n, col, cols, to[1]);
    if (g->has_addend)
        gather_addend(g, batch, row, rows, col, cols, from[2], to[2]);
}
