/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/libxsmm/libxsmm_gemm.c -- matmul through the generated kernels of libxsmm, one thread.
 *
 * libxsmm is column-major: it is given B before A, and n before m.  Its generator knows alpha 1,
 * beta 0 and 1, and no transposed first operand, which is our B. */
#include "backends/libxsmm/libxsmm_calls.h"
#include "backends/matmul_launch.h"
#include "gen/config.h"
#include "runtime/host_backend.h"

/* Beyond this, one thread without blocking for caches is the wrong tool. */
enum { MOST_PRODUCTS = 256 * 256 * 256 };

static bool in_reach(const assay_problem *p)
{
    int64_t m = ASSAY__INT(p, matmul, m), n = ASSAY__INT(p, matmul, n);
    int64_t k = ASSAY__INT(p, matmul, k);

    return matmul_extents_are_int(p) && k > 0 && (m == 0 || n <= MOST_PRODUCTS / m) &&
           (m == 0 || n == 0 || k <= MOST_PRODUCTS / (m * n));
}

bool xsmm_usable(const assay_problem *problem, const int64_t *tunables)
{
    double beta = ASSAY__REAL(problem, matmul, beta);

    (void)tunables;
    return ASSAY__INT(problem, matmul, trans_b) == 0 &&
           ASSAY__REAL(problem, matmul, alpha) == 1.0 && (beta == 0.0 || beta == 1.0) &&
           in_reach(problem);
}

#if HAVE_LIBXSMM

#include <libxsmm.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool started;

static void start(void)
{
    libxsmm_set_verbosity(0); /* it would print when the process ends */
    libxsmm_init();
    atomic_store(&started, true);
}

/* Starting takes 15 ms and a file in /tmp, which a process that only asks what is here shall not
 * pay for: the CPU decides the target unless the environment does. */
static int target(void)
{
    const char *forced = getenv("LIBXSMM_TARGET");

    if (forced != NULL && forced[0] != '\0')
        pthread_once(&once, start);
    return atomic_load(&started) ? libxsmm_get_target_archid() : libxsmm_cpuid();
}

const char *xsmm_why_not(void)
{
    return target() >= LIBXSMM_X86_AVX ? NULL : "libxsmm makes code for AVX and later only";
}

void xsmm_describe(char *buf, size_t cap)
{
    snprintf(buf, cap, "soname=libxsmm.a\nversion=%d.%d\nbuild_id=%s\ntarget=%s\n",
             LIBXSMM_VERSION_MAJOR, LIBXSMM_VERSION_MINOR, ASSAY_LIBXSMM_ID,
             libxsmm_cpuid_name(target()));
}

typedef struct plan {
    matmul_launch g;
    libxsmm_blasint m, n, k, lda, ldb, ldc;
    int flags;
} plan;

static assay_status prepare(const assay_launch *launch, plan *p)
{
    const char *why = xsmm_why_not();

    pthread_once(&once, start);
    if (why != NULL)
        return assay__host_fail(launch->instance, ASSAY_UNAVAILABLE, "%s", why);
    matmul_read(launch, &p->g);
    if (!matmul_leading_are_int(&p->g))
        return assay__host_fail(launch->instance, ASSAY_OVERFLOW,
                                "libxsmm: a leading dimension exceeds 32 bits");
    p->m = (libxsmm_blasint)p->g.m;
    p->n = (libxsmm_blasint)p->g.n;
    p->k = (libxsmm_blasint)p->g.k;
    p->lda = (libxsmm_blasint)p->g.lda;
    p->ldb = (libxsmm_blasint)p->g.ldb;
    p->ldc = (libxsmm_blasint)p->g.ldc;
    p->flags = p->g.trans_a ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
    return ASSAY_OK;
}

static assay_status no_kernel(const assay_launch *launch)
{
    return assay__host_fail(launch->instance, ASSAY_UNSUPPORTED,
                            "libxsmm makes no code for this product");
}

assay_status xsmm_gemm_f32(const assay_launch *launch)
{
    plan p;

    ASSAY_TRY(prepare(launch, &p));
    if (p.m == 0 || p.n == 0)
        return ASSAY_OK;
    float alpha = (float)p.g.alpha, beta = (float)p.g.beta;
    libxsmm_smmfunction run =
        libxsmm_smmdispatch(p.n, p.m, p.k, &p.ldb, &p.lda, &p.ldc, &alpha, &beta, &p.flags, NULL);
    if (run == NULL)
        return no_kernel(launch);
    const float *a = p.g.a, *b = p.g.b;
    float *c = p.g.c;
    for (int64_t i = 0; i < p.g.batch; i++)
        run(b + i * p.g.b_step, a + i * p.g.a_step, c + i * p.g.c_step);
    return ASSAY_OK;
}

assay_status xsmm_gemm_f64(const assay_launch *launch)
{
    plan p;

    ASSAY_TRY(prepare(launch, &p));
    if (p.m == 0 || p.n == 0)
        return ASSAY_OK;
    libxsmm_dmmfunction run = libxsmm_dmmdispatch(p.n, p.m, p.k, &p.ldb, &p.lda, &p.ldc, &p.g.alpha,
                                                  &p.g.beta, &p.flags, NULL);
    if (run == NULL)
        return no_kernel(launch);
    const double *a = p.g.a, *b = p.g.b;
    double *c = p.g.c;
    for (int64_t i = 0; i < p.g.batch; i++)
        run(b + i * p.g.b_step, a + i * p.g.a_step, c + i * p.g.c_step);
    return ASSAY_OK;
}

#else

const char *xsmm_why_not(void)
{
    return "built without libxsmm: " ASSAY_WHY_LIBXSMM "; install and build again";
}

void xsmm_describe(char *buf, size_t cap)
{
    if (cap > 0)
        buf[0] = '\0';
}

assay_status xsmm_gemm_f32(const assay_launch *launch)
{
    return assay__host_fail(launch->instance, ASSAY_UNAVAILABLE, "%s", xsmm_why_not());
}

assay_status xsmm_gemm_f64(const assay_launch *launch)
{
    return xsmm_gemm_f32(launch);
}

#endif
