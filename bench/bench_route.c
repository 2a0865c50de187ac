/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_route.c -- a matmul through pick and run against OpenBLAS called directly.
 *
 * No store: the route is the default one. Both use the same library in the same process, as many
 * threads as there are CPUs and the same matrices, in turns; the ratio is the median over turns. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/pick.h"
#include "runtime/host_backend.h"

enum { TURNS = 11, ROW_MAJOR = 101, NO_TRANS = 111 };

#define MUST(expr)                                                    \
    do {                                                              \
        if ((expr) != ASSAY_OK) {                                     \
            fprintf(stderr, "bench_route: %s\n", assay_last_error()); \
            exit(EXIT_FAILURE);                                       \
        }                                                             \
    } while (0)

typedef void sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);

static sgemm_fn *open_blas(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    sgemm_fn *sgemm = NULL;
    void (*set_threads)(int) = NULL;

    if (library == NULL)
        return NULL;
    *(void **)&sgemm = dlsym(library, "cblas_sgemm");
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    if (set_threads != NULL)
        set_threads((int)assay__host_usable_cpus());
    return sgemm;
}

static float *floats(int64_t n)
{
    float *x = NULL;

    if (posix_memalign((void **)&x, 4096, (size_t)n * sizeof *x) != 0)
        exit(EXIT_FAILURE);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)((i * 2654435761) % 1000) * 0.004f - 2.0f;
    return x;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, TURNS, sizeof *values, by_value);
    return values[TURNS / 2];
}

static void make_problem(int size, float *const data[3], assay_problem *p, assay_tensor *operands)
{
    MUST(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, p));
    MUST(assay_problem_set_int(p, "m", size));
    MUST(assay_problem_set_int(p, "n", size));
    MUST(assay_problem_set_int(p, "k", size));
    for (size_t i = 0; i < 3; i++) {
        int64_t dims[ASSAY_MAX_RANK];
        uint32_t rank;
        MUST(assay_problem_operand(p, i, &rank, dims));
        MUST(assay_tensor_host(data[i], ASSAY_F32, rank, dims, NULL, &operands[i]));
    }
}

static void bench(assay_context *context, sgemm_fn *sgemm, int size)
{
    float *const data[3] = {floats((int64_t)size * size), floats((int64_t)size * size),
                            floats((int64_t)size * size)};
    double ours[TURNS], direct[TURNS], shares[TURNS];
    const double flops = 2.0 * size * size * size;
    assay_problem p;
    assay_question q;
    assay_route route;
    assay_tensor operands[3];

    make_problem(size, data, &p, operands);
    assay_question_init(&p, &q);
    for (int i = -2; i < TURNS; i++) { /* two turns warm threads and pages */
        uint64_t start = assay__host_now_ns();
        MUST(assay_pick(context, &q, &route));
        MUST(assay_run(context, &route, &p, operands, 3));
        uint64_t middle = assay__host_now_ns();
        sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, size, size, size, 1.0f, data[0], size, data[1], size,
              0.0f, data[2], size);
        uint64_t end = assay__host_now_ns();
        if (i < 0)
            continue;
        ours[i] = flops / (double)(middle - start);
        direct[i] = flops / (double)(end - middle);
        shares[i] = ours[i] / direct[i];
    }
    const double share = median(shares), rate = median(ours), peer = median(direct);

    printf("matmul f32 %d picked route,%.1f,GFLOP/s,OpenBLAS called directly,%.1f,,info,%.1f,%.1f,"
           "%d\n",
           size, rate, peer, ours[0], ours[TURNS - 1], TURNS);
    printf("matmul f32 %d picked route share of OpenBLAS,%.3f,ratio,,,>= 0.98,%s,%.3f,%.3f,%d\n",
           size, share, share >= 0.98 ? "yes" : "no", shares[0], shares[TURNS - 1], TURNS);
    for (size_t i = 0; i < 3; i++)
        free(data[i]);
}

int main(void)
{
    const char *build = getenv("ASSAY_BUILD");
    char path[512];
    const assay_open_options options = {.struct_size = sizeof options, .plugin_path = path};
    assay_context *context = NULL;

    snprintf(path, sizeof path, "%s/lib/assay", build != NULL ? build : "build");
    MUST(assay_open(NULL, &options, &context));
    sgemm_fn *sgemm = open_blas();
    if (sgemm == NULL) {
        fprintf(stderr, "bench_route: no OpenBLAS here, nothing to compare with\n");
        assay_close(&context);
        return EXIT_SUCCESS;
    }
    bench(context, sgemm, 1024);
    bench(context, sgemm, 2048);
    assay_close(&context);
    return EXIT_SUCCESS;
}
