/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas_gemm.c -- matmul through cblas_sgemm and cblas_dgemm.
 *
 * A change of the thread count costs the next call; timing it is not this file's concern. */
#include <limits.h>

#include "backends/openblas/openblas.h"
#include "runtime/host_backend.h"
#include "runtime/op_params.h"

typedef struct gemm {
    int m, n, k, trans_a, trans_b, lda, ldb, ldc;
    int64_t batch, a_step, b_step, c_step; /* elements between products */
    void *a, *b, *c;
} gemm;

/* Row distance of a matrix; what a single row has there means nothing to BLAS. */
static int leading(const assay_tensor *t)
{
    int64_t least = t->dims[2] > 1 ? t->dims[2] : 1;
    int64_t ld = t->dims[1] > 1 ? t->strides[1] : least;

    return (int)(ld > least ? ld : least);
}

static bool fits(const assay_launch *launch)
{
    for (int i = 0; i < 3; i++)
        if (launch->operands[i].dims[1] > 1 && launch->operands[i].strides[1] > INT_MAX)
            return false;
    return true;
}

static void read_launch(const assay_launch *launch, gemm *g)
{
    const assay_problem *p = launch->problem;
    const assay_tensor *t = launch->operands;

    g->batch = ASSAY__INT(p, matmul, batch);
    g->m = (int)ASSAY__INT(p, matmul, m);
    g->n = (int)ASSAY__INT(p, matmul, n);
    g->k = (int)ASSAY__INT(p, matmul, k);
    /* Conjugation is the identity on real numbers. */
    g->trans_a = ASSAY__INT(p, matmul, trans_a) != 0 ? OPENBLAS_TRANS : OPENBLAS_NO_TRANS;
    g->trans_b = ASSAY__INT(p, matmul, trans_b) != 0 ? OPENBLAS_TRANS : OPENBLAS_NO_TRANS;
    g->lda = leading(&t[0]);
    g->ldb = leading(&t[1]);
    g->ldc = leading(&t[2]);
    g->a_step = t[0].strides[0];
    g->b_step = t[1].strides[0];
    g->c_step = t[2].strides[0];
    g->a = assay_tensor_data(&t[0]);
    g->b = assay_tensor_data(&t[1]);
    g->c = assay_tensor_data(&t[2]);
}

static assay_status prepare(const assay_launch *launch, const openblas_library **out)
{
    const char *why;
    const openblas_library *library = openblas_open(&why);

    if (library == NULL)
        return assay__host_fail(launch->instance, ASSAY_UNAVAILABLE, "OpenBLAS: %s", why);
    if (!fits(launch))
        return assay__host_fail(launch->instance, ASSAY_OVERFLOW,
                                "OpenBLAS: a leading dimension exceeds 32 bits");
    int threads = launch->tunables != NULL ? (int)launch->tunables[0] : 1;
    if (library->get_threads() != threads && library->get_parallel() != 0)
        library->set_threads(threads);
    *out = library;
    return ASSAY_OK;
}

assay_status openblas_sgemm(const assay_launch *launch)
{
    const openblas_library *library;
    gemm g;

    ASSAY_TRY(prepare(launch, &library));
    read_launch(launch, &g);
    float alpha = (float)ASSAY__REAL(launch->problem, matmul, alpha);
    float beta = (float)ASSAY__REAL(launch->problem, matmul, beta);
    const float *a = g.a, *b = g.b;
    float *c = g.c;
    for (int64_t i = 0; i < g.batch && g.m > 0 && g.n > 0; i++)
        library->sgemm(OPENBLAS_ROW_MAJOR, g.trans_a, g.trans_b, g.m, g.n, g.k, alpha,
                       a + i * g.a_step, g.lda, b + i * g.b_step, g.ldb, beta, c + i * g.c_step,
                       g.ldc);
    return ASSAY_OK;
}

assay_status openblas_dgemm(const assay_launch *launch)
{
    const openblas_library *library;
    gemm g;

    ASSAY_TRY(prepare(launch, &library));
    read_launch(launch, &g);
    double alpha = ASSAY__REAL(launch->problem, matmul, alpha);
    double beta = ASSAY__REAL(launch->problem, matmul, beta);
    const double *a = g.a, *b = g.b;
    double *c = g.c;
    for (int64_t i = 0; i < g.batch && g.m > 0 && g.n > 0; i++)
        library->dgemm(OPENBLAS_ROW_MAJOR, g.trans_a, g.trans_b, g.m, g.n, g.k, alpha,
                       a + i * g.a_step, g.lda, b + i * g.b_step, g.ldb, beta, c + i * g.c_step,
                       g.ldc);
    return ASSAY_OK;
}

/* Extents of 32 bits; no more threads than this process may use.  Opens nothing. */
bool openblas_usable(const assay_problem *problem, const int64_t *tunables)
{
    static unsigned usable;
    unsigned cpus = __atomic_load_n(&usable, __ATOMIC_RELAXED);

    if (ASSAY__INT(problem, matmul, m) > INT_MAX || ASSAY__INT(problem, matmul, n) > INT_MAX ||
        ASSAY__INT(problem, matmul, k) > INT_MAX)
        return false;
    if (cpus == 0) {
        cpus = assay__host_usable_cpus();
        __atomic_store_n(&usable, cpus, __ATOMIC_RELAXED);
    }
    return tunables == NULL || tunables[0] == 1 || tunables[0] <= (int64_t)cpus;
}
