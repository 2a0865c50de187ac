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

#include <immintrin.h>
#include <libxsmm.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool started;
static atomic_bool usable; /* started, and it makes code for this CPU */

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

/* What libxsmm makes one kernel for: extents, leading dimensions, and whether A is transposed and
 * beta is 1. */
typedef struct shape {
    uint64_t words[4];
} shape;

/* libxsmm finds a kernel by a hash of its description, which takes longer than the smallest
 * products do: a thread keeps those that it called last.  Kernels live as long as the process. */
enum { KNOWN = 32 };

typedef struct known_f32 {
    shape shape;
    libxsmm_smmfunction run; /* NULL: free */
} known_f32;

typedef struct known_f64 {
    shape shape;
    libxsmm_dmmfunction run; /* NULL: free */
} known_f64;

static _Thread_local known_f32 kernels_f32[KNOWN];
static _Thread_local known_f64 kernels_f64[KNOWN];

/* Extents and leading dimensions fit an int. */
static inline shape shape_of(const matmul_launch *g)
{
    return (shape){{(uint64_t)g->m << 32 | (uint64_t)g->n,
                    (uint64_t)g->lda << 32 | (uint64_t)g->ldb,
                    (uint64_t)g->ldc << 2 | (g->trans_a ? 2u : 0u) | (g->beta != 0.0 ? 1u : 0u),
                    (uint64_t)g->k}};
}

static inline size_t place_of(const matmul_launch *g)
{
    return ((size_t)g->m + 5u * (size_t)g->n + 9u * (size_t)g->k) % KNOWN;
}

static inline bool same_shape(const shape *a, const shape *b)
{
    return ((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1]) |
            (a->words[2] ^ b->words[2]) | (a->words[3] ^ b->words[3])) == 0;
}

static assay_status begin(const assay_launch *launch)
{
    const char *why;

    pthread_once(&once, start);
    why = xsmm_why_not();
    if (why != NULL)
        return assay__host_fail(launch->instance, ASSAY_UNAVAILABLE, "%s", why);
    atomic_store_explicit(&usable, true, memory_order_release);
    return ASSAY_OK;
}

static inline __attribute__((always_inline)) assay_status prepare(const assay_launch *launch,
                                                                  matmul_launch *g)
{
    if (!atomic_load_explicit(&usable, memory_order_acquire))
        ASSAY_TRY(begin(launch));
    matmul_read(launch, g);
    if (!matmul_leading_are_int(g))
        return assay__host_fail(launch->instance, ASSAY_OVERFLOW,
                                "libxsmm: a leading dimension exceeds 32 bits");
    return ASSAY_OK;
}

/* The arguments of a dispatch that are no matter of type. */
typedef struct description {
    libxsmm_blasint m, n, k, lda, ldb, ldc;
    int flags;
} description;

static description describe(const matmul_launch *g)
{
    return (description){
        .m = (libxsmm_blasint)g->m,
        .n = (libxsmm_blasint)g->n,
        .k = (libxsmm_blasint)g->k,
        .lda = (libxsmm_blasint)g->lda,
        .ldb = (libxsmm_blasint)g->ldb,
        .ldc = (libxsmm_blasint)g->ldc,
        .flags = g->trans_a ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE,
    };
}

static __attribute__((noinline)) void make_f32(const matmul_launch *g, known_f32 *out)
{
    const description d = describe(g);
    const float alpha = (float)g->alpha, beta = (float)g->beta;

    out->shape = shape_of(g);
    out->run =
        libxsmm_smmdispatch(d.n, d.m, d.k, &d.ldb, &d.lda, &d.ldc, &alpha, &beta, &d.flags, NULL);
}

static __attribute__((noinline)) void make_f64(const matmul_launch *g, known_f64 *out)
{
    const description d = describe(g);

    out->shape = shape_of(g);
    out->run = libxsmm_dmmdispatch(d.n, d.m, d.k, &d.ldb, &d.lda, &d.ldc, &g->alpha, &g->beta,
                                   &d.flags, NULL);
}

static assay_status no_kernel(const assay_launch *launch)
{
    return assay__host_fail(launch->instance, ASSAY_UNSUPPORTED,
                            "libxsmm makes no code for this product");
}

/* Its kernels leave the upper halves of vector registers as they are.  The first instruction of SSE
 * behind that, ours or the caller's, then waits: 170 ns a call on a Xeon with AVX-512. */
__attribute__((target("avx"))) static inline void leave(void)
{
    _mm256_zeroupper();
}

assay_status xsmm_gemm_f32(const assay_launch *launch)
{
    matmul_launch g;

    ASSAY_TRY(prepare(launch, &g));
    if (g.m == 0 || g.n == 0)
        return ASSAY_OK;
    known_f32 *known = &kernels_f32[place_of(&g)];
    const shape wanted = shape_of(&g);
    if (!same_shape(&known->shape, &wanted) || known->run == NULL)
        make_f32(&g, known);
    if (known->run == NULL)
        return no_kernel(launch);
    const float *a = g.a, *b = g.b;
    float *c = g.c;
    for (int64_t i = 0; i < g.batch; i++)
        known->run(b + i * g.b_step, a + i * g.a_step, c + i * g.c_step);
    leave();
    return ASSAY_OK;
}

assay_status xsmm_gemm_f64(const assay_launch *launch)
{
    matmul_launch g;

    ASSAY_TRY(prepare(launch, &g));
    if (g.m == 0 || g.n == 0)
        return ASSAY_OK;
    known_f64 *known = &kernels_f64[place_of(&g)];
    const shape wanted = shape_of(&g);
    if (!same_shape(&known->shape, &wanted) || known->run == NULL)
        make_f64(&g, known);
    if (known->run == NULL)
        return no_kernel(launch);
    const double *a = g.a, *b = g.b;
    double *c = g.c;
    for (int64_t i = 0; i < g.batch; i++)
        known->run(b + i * g.b_step, a + i * g.a_step, c + i * g.c_step);
    leave();
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
