/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/blis/blis_gemm.c -- matmul through bli_sgemm and bli_dgemm. */
#include "backends/blis/blis_calls.h"
#include "backends/matmul_launch.h"
#include "backends/matmul_scale.h"
#include "backends/thread_choice.h"

static assay_status prepare(const assay_launch *launch, matmul_launch *g, const blis_library **out)
{
    const char *why;
    const blis_library *library = blis_open(&why);

    if (library == NULL)
        return assay__host_fail(launch->instance, ASSAY_UNAVAILABLE, "BLIS: %s", why);
    matmul_read(launch, g);
    int64_t threads = launch->tunables != NULL ? launch->tunables[0] : 1;
    if (library->openmp() != 0)
        threads = assay__openmp_team(&library->team, threads);
    if (library->get_threads() != threads)
        library->set_threads(threads);
    *out = library;
    return ASSAY_OK;
}

static int transposed(bool transposes)
{
    return transposes ? BLIS_CALLS_TRANS : BLIS_CALLS_NO_TRANS;
}

assay_status blis_sgemm(const assay_launch *launch)
{
    const blis_library *library;
    matmul_launch g;

    ASSAY_TRY(prepare(launch, &g, &library));
    const float *a = g.a, *b = g.b, alpha = (float)g.alpha, beta = (float)g.beta;
    float *c = g.c;
    for (int64_t i = 0; i < g.batch && g.m > 0 && g.n > 0; i++)
        library->sgemm(transposed(g.trans_a), transposed(g.trans_b), g.m, g.n, g.k, &alpha,
                       a + i * g.a_step, g.lda, 1, b + i * g.b_step, g.ldb, 1, &beta,
                       c + i * g.c_step, g.ldc, 1);
    return ASSAY_OK;
}

assay_status blis_dgemm(const assay_launch *launch)
{
    const blis_library *library;
    matmul_launch g;

    ASSAY_TRY(prepare(launch, &g, &library));
    const double *a = g.a, *b = g.b;
    double *c = g.c;
    for (int64_t i = 0; i < g.batch && g.m > 0 && g.n > 0; i++)
        library->dgemm(transposed(g.trans_a), transposed(g.trans_b), g.m, g.n, g.k, &g.alpha,
                       a + i * g.a_step, g.lda, 1, b + i * g.b_step, g.ldb, 1, &g.beta,
                       c + i * g.c_step, g.ldc, 1);
    return ASSAY_OK;
}

/* BLIS 0.9 reads beyond what it was given: past the end of C when beta is not 0, past vectors in
 * products of a matrix and a vector.  Where a page ends there, the process does. */
bool blis_usable(const assay_problem *problem, const int64_t *tunables)
{
    return matmul_factor_is_zero(ASSAY__REAL(problem, matmul, beta),
                                 (assay_dtype)problem->dtypes[2]) &&
           ASSAY__INT(problem, matmul, m) != 1 && ASSAY__INT(problem, matmul, n) != 1 &&
           (tunables == NULL || threads_usable(tunables[0]));
}
