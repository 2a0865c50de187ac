/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas_gemm.c -- matmul through cblas_sgemm and cblas_dgemm, and
 * fused_linear: the bias in every row of y, then beta 1.
 *
 * A change of the thread count costs the next call; timing it is not this file's concern. */
#include "backends/matmul_launch.h"
#include "backends/matmul_scale.h"
#include "backends/openblas/openblas.h"
#include "backends/thread_choice.h"

static assay_status prepare(const assay_launch *launch, matmul_launch *g,
                            const openblas_library **out)
{
    const char *why;
    const openblas_library *library = openblas_open(&why);

    if (library == NULL)
        return assay__host_fail(launch->instance, ASSAY_UNAVAILABLE, "OpenBLAS: %s", why);
    matmul_read(launch, g);
    if (!matmul_leading_are_int(g))
        return assay__host_fail(launch->instance, ASSAY_OVERFLOW,
                                "OpenBLAS: a leading dimension exceeds 32 bits");
    openblas_use_threads(library, launch->tunables != NULL ? (int)launch->tunables[0] : 1);
    *out = library;
    return ASSAY_OK;
}

static int transposed(bool transposes)
{
    return transposes ? OPENBLAS_TRANS : OPENBLAS_NO_TRANS;
}

assay_status openblas_sgemm(const assay_launch *launch)
{
    const openblas_library *library;
    matmul_launch g;

    ASSAY_TRY(prepare(launch, &g, &library));
    const float *a = g.a, *b = g.b;
    float *c = g.c;
    for (int64_t i = 0; i < g.batch && g.m > 0 && g.n > 0; i++)
        library->sgemm(OPENBLAS_ROW_MAJOR, transposed(g.trans_a), transposed(g.trans_b), (int)g.m,
                       (int)g.n, (int)g.k, (float)g.alpha, a + i * g.a_step, (int)g.lda,
                       b + i * g.b_step, (int)g.ldb, (float)g.beta, c + i * g.c_step, (int)g.ldc);
    return ASSAY_OK;
}

assay_status openblas_dgemm(const assay_launch *launch)
{
    const openblas_library *library;
    matmul_launch g;

    ASSAY_TRY(prepare(launch, &g, &library));
    const double *a = g.a, *b = g.b;
    double *c = g.c;
    for (int64_t i = 0; i < g.batch && g.m > 0 && g.n > 0; i++)
        library->dgemm(OPENBLAS_ROW_MAJOR, transposed(g.trans_a), transposed(g.trans_b), (int)g.m,
                       (int)g.n, (int)g.k, g.alpha, a + i * g.a_step, (int)g.lda, b + i * g.b_step,
                       (int)g.ldb, g.beta, c + i * g.c_step, (int)g.ldc);
    return ASSAY_OK;
}

/* Extents of 32 bits; no more threads than this process may use.  Opens nothing. */
bool openblas_linear_usable(const assay_problem *problem, const int64_t *tunables)
{
    return matmul_extents_are_int(problem) && (tunables == NULL || threads_usable(tunables[0]));
}

/* alpha 0: 0.3.21 multiplies small matrices by it, so that a NaN in A stays one. */
bool openblas_usable(const assay_problem *problem, const int64_t *tunables)
{
    return openblas_linear_usable(problem, tunables) &&
           !matmul_factor_is_zero(ASSAY__REAL(problem, matmul, alpha),
                                  (assay_dtype)problem->dtypes[2]);
}
