/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas_attention.c -- attention the plain way: scores by cblas_sgemm, a
 * softmax of each row, values by cblas_sgemm.
 *
 * The scores of a head, or of the heads that share keys, lie in memory, up to OPENBLAS_AREA_BYTES;
 * more are done in runs of rows. */
#include "backends/openblas/openblas_attention.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "backends/openblas/openblas_area.h"
#include "backends/thread_choice.h"
#include "runtime/host_team.h"
#include "runtime/op_params.h"

typedef struct attend {
    const openblas_library *library;
    const float *q, *k, *v;
    float *o, *scores;
    int64_t rows, sq, sk, d; /* rows: of all heads that share keys */
    int64_t row0, count;     /* at hand */
    int causal, threads;
    float scale;
} attend;

/* ---- rows ------------------------------------------------------------------------------------ */

static int64_t seen(const attend *g, int64_t row)
{
    int64_t i = row % g->sq + 1, n = g->causal == 0   ? g->sk
                                     : g->causal == 1 ? i + g->sk - g->sq
                                                      : i;

    return n < 0 ? 0 : n < g->sk ? n : g->sk;
}

static void soften_row(void *cookie, int64_t row)
{
    const attend *g = cookie;

    openblas_softmax_row(g->scores + row * g->sk, seen(g, g->row0 + row), g->sk);
}

static bool values_finite(const attend *g)
{
    float zero = 0.0f;

    for (int64_t i = 0; i < g->sk * g->d; i++)
        zero += g->v[i] * 0.0f;
    return zero == 0.0f;
}

static void mix(const attend *g, int64_t row, int64_t rows, int64_t keys)
{
    g->library->sgemm(OPENBLAS_ROW_MAJOR, OPENBLAS_NO_TRANS, OPENBLAS_NO_TRANS, (int)rows,
                      (int)g->d, (int)keys, 1.0f, g->scores + row * g->sk, (int)g->sk, g->v,
                      (int)g->d, 0.0f, g->o + (g->row0 + row) * g->d, (int)g->d);
}

/* Rows [row0, row0 + count): their scores are in memory at once. */
static void run_rows(attend *g, bool finite)
{
    g->library->sgemm(OPENBLAS_ROW_MAJOR, OPENBLAS_NO_TRANS, OPENBLAS_TRANS, (int)g->count,
                      (int)g->sk, (int)g->d, g->scale, g->q + g->row0 * g->d, (int)g->d, g->k,
                      (int)g->d, 0.0f, g->scores, (int)g->sk);
    assay__host_team_run(g->threads, g->count, soften_row, g);
    if (finite) {
        mix(g, 0, g->count, g->sk);
        return;
    }
    /* 0 times a value that a row does not see would not be 0. */
    for (int64_t row = 0; row < g->count; row++) {
        int64_t n = seen(g, g->row0 + row);
        memset(g->o + (g->row0 + row) * g->d, 0, (size_t)g->d * sizeof *g->o);
        if (n > 0)
            mix(g, row, 1, n);
    }
}

static assay_status open_library(const assay_launch *launch, attend *g)
{
    const char *why;

    g->library = openblas_open(&why);
    if (g->library == NULL)
        return assay__host_fail(launch->instance, ASSAY_UNAVAILABLE, "OpenBLAS: %s", why);
    g->threads = launch->tunables != NULL ? (int)launch->tunables[0] : 1;
    openblas_use_threads(g->library, g->threads);
    return ASSAY_OK;
}

static void run_group(attend *g, int64_t group, int64_t step, const assay_launch *launch)
{
    g->q = (const float *)assay_tensor_data(&launch->operands[0]) + group * g->rows * g->d;
    g->k = (const float *)assay_tensor_data(&launch->operands[1]) + group * g->sk * g->d;
    g->v = (const float *)assay_tensor_data(&launch->operands[2]) + group * g->sk * g->d;
    g->o = (float *)assay_tensor_data(&launch->operands[3]) + group * g->rows * g->d;
    bool finite = g->causal == 0 || values_finite(g);
    for (g->row0 = 0; g->row0 < g->rows; g->row0 += step) {
        g->count = g->rows - g->row0 < step ? g->rows - g->row0 : step;
        run_rows(g, finite);
    }
}

assay_status openblas_attention(const assay_launch *launch)
{
    const assay_problem *p = launch->problem;
    int64_t hkv = ASSAY__INT(p, attention, hkv), groups = ASSAY__INT(p, attention, b) * hkv;
    attend g = {.sq = ASSAY__INT(p, attention, sq),
                .sk = ASSAY__INT(p, attention, sk),
                .d = ASSAY__INT(p, attention, d),
                .causal = (int)ASSAY__INT(p, attention, causal)};
    double scale = ASSAY__REAL(p, attention, scale);

    ASSAY_TRY(open_library(launch, &g));
    g.rows = ASSAY__INT(p, attention, hq) / hkv * g.sq;
    if (groups == 0 || g.rows == 0 || g.d == 0)
        return ASSAY_OK;
    if (g.sk == 0) {
        memset(assay_tensor_data(&launch->operands[3]), 0,
               (size_t)(groups * g.rows * g.d) * sizeof(float));
        return ASSAY_OK;
    }
    g.scale = (float)(scale == 0.0 ? 1.0 / sqrt((double)g.d) : scale);
    int64_t fit = OPENBLAS_AREA_BYTES / (g.sk * (int64_t)sizeof(float));
    int64_t step = fit < 1 ? 1 : fit < g.rows ? fit : g.rows;
    size_t bytes = (size_t)(step * g.sk) * sizeof(float);
    g.scores = openblas_take(bytes);
    if (g.scores == NULL)
        return assay__host_fail(launch->instance, ASSAY_NOMEM, "no memory for %zu bytes of scores",
                                bytes);
    for (int64_t group = 0; group < groups; group++)
        run_group(&g, group, step, launch);
    openblas_give_back(g.scores, bytes);
    return ASSAY_OK;
}

bool openblas_attention_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, attention, sk) <= INT_MAX &&
           ASSAY__INT(problem, attention, d) <= INT_MAX &&
           (tunables == NULL || threads_usable(tunables[0]));
}
