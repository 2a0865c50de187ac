/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_small.c -- square products of at most 32 a side, one thread, operands in the first
 * cache: the picked route beside libxsmm and OpenBLAS called directly.
 *
 * A sweep of these problems decides the routes.  All three are called through a pointer that was
 * asked for once, as a production caller keeps it; a fourth way asks and checks at every call
 * (assay_pick_at, assay_run).  They take turns in an order that goes round; a ratio is the median
 * of the ratios inside a turn, of all sizes together that of their geometric mean inside a turn. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_print.h"
#include "bench/bench_sweep.h"
#include "gen/config.h"
#include "runtime/host_backend.h"

#if HAVE_LIBXSMM
#include <libxsmm.h>
#endif

enum { TURNS = 151, SPAN_NS = 30000, ROW_MAJOR = 101, NO_TRANS = 111 };

static const int sizes[] = {4, 5, 8, 13, 16, 24, 31, 32};
enum { SIZES = sizeof sizes / sizeof *sizes };
enum { PICKED, LIBXSMM, OPENBLAS, CHECKED, WAYS };

typedef void sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);
typedef void dgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                      const double *a, int lda, const double *b, int ldb, double beta, double *c,
                      int ldc);

typedef struct blas {
    sgemm_fn *sgemm;
    dgemm_fn *dgemm;
} blas;

/* One product and all that calls it. */
typedef struct product {
    int size;
    bool is_f64;
    void *data[3];
    assay_context *context;
    assay_problem problem;
    assay_question question;
    assay_site site;
    assay_route route;
    assay_tensor operands[3];
    assay_launch launch;
    blas openblas;
#if HAVE_LIBXSMM
    libxsmm_smmfunction xsmm_f32;
    libxsmm_dmmfunction xsmm_f64;
#endif
    size_t calls[WAYS];     /* a span */
    double ns[WAYS][TURNS]; /* of a call */
} product;

/* ---- the ways -------------------------------------------------------------------------------- */

static bool call_picked(product *p, size_t calls)
{
    const assay_kernel_fn run = p->route.binding->run;
    assay_status bad = ASSAY_OK;

    for (size_t i = 0; i < calls; i++)
        bad |= run(&p->launch);
    return bad == ASSAY_OK;
}

static bool call_checked(product *p, size_t calls)
{
    assay_route route;
    assay_status bad = ASSAY_OK;

    for (size_t i = 0; i < calls; i++) {
        bad |= assay_pick_at(p->context, &p->site, &p->question, &route);
        bad |= assay_run(p->context, &route, &p->problem, p->operands, 3);
    }
    return bad == ASSAY_OK;
}

static bool call_openblas(product *p, size_t calls)
{
    const int n = p->size;

    if (p->openblas.sgemm == NULL)
        return false;
    for (size_t i = 0; p->is_f64 && i < calls; i++)
        p->openblas.dgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1.0, p->data[0], n, p->data[1], n,
                          0.0, p->data[2], n);
    for (size_t i = 0; !p->is_f64 && i < calls; i++)
        p->openblas.sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1.0f, p->data[0], n, p->data[1],
                          n, 0.0f, p->data[2], n);
    return true;
}

/* Column-major: B before A. */
static bool call_libxsmm(product *p, size_t calls)
{
#if HAVE_LIBXSMM
    if (p->xsmm_f32 == NULL && p->xsmm_f64 == NULL)
        return false;
    for (size_t i = 0; p->is_f64 && i < calls; i++)
        p->xsmm_f64(p->data[1], p->data[0], p->data[2]);
    for (size_t i = 0; !p->is_f64 && i < calls; i++)
        p->xsmm_f32(p->data[1], p->data[0], p->data[2]);
    return true;
#else
    (void)p, (void)calls;
    return false;
#endif
}

static bool (*const ways[WAYS])(product *, size_t) = {
    [PICKED] = call_picked,
    [LIBXSMM] = call_libxsmm,
    [OPENBLAS] = call_openblas,
    [CHECKED] = call_checked,
};

/* ---- products -------------------------------------------------------------------------------- */

static void dispatch(product *p)
{
#if HAVE_LIBXSMM
    const libxsmm_blasint n = p->size;
    const int flags = LIBXSMM_GEMM_FLAG_NONE;
    const float one_f32 = 1, zero_f32 = 0;
    const double one_f64 = 1, zero_f64 = 0;

    if (p->is_f64)
        p->xsmm_f64 = libxsmm_dmmdispatch(n, n, n, &n, &n, &n, &one_f64, &zero_f64, &flags, NULL);
    else
        p->xsmm_f32 = libxsmm_smmdispatch(n, n, n, &n, &n, &n, &one_f32, &zero_f32, &flags, NULL);
#else
    (void)p;
#endif
}

static void fill(product *p)
{
    const size_t count = (size_t)p->size * (size_t)p->size;

    for (size_t i = 0; i < 3; i++) {
        if (posix_memalign(&p->data[i], 64, count * sizeof(double)) != 0)
            exit(EXIT_FAILURE);
        for (size_t k = 0; k < count; k++) {
            const double value = (double)((k * 2654435761u + i * 40503u) % 1000) * 0.004 - 2.0;
            if (p->is_f64)
                ((double *)p->data[i])[k] = value;
            else
                ((float *)p->data[i])[k] = (float)value;
        }
    }
}

static void make(product *p, assay_context *context, blas openblas, int size, bool is_f64)
{
    const assay_dtype t = is_f64 ? ASSAY_F64 : ASSAY_F32;
    static const char *const names[] = {"m", "n", "k"};

    *p = (product){.size = size, .is_f64 = is_f64, .context = context, .openblas = openblas};
    fill(p);
    BENCH_MUST(assay_problem_init(ASSAY_OP_matmul, t, &p->problem));
    for (size_t i = 0; i < 3; i++)
        BENCH_MUST(assay_problem_set_int(&p->problem, names[i], size));
    for (size_t i = 0; i < 3; i++) {
        int64_t dims[ASSAY_MAX_RANK];
        uint32_t rank;
        BENCH_MUST(assay_problem_operand(&p->problem, i, &rank, dims));
        BENCH_MUST(assay_tensor_host(p->data[i], t, rank, dims, NULL, &p->operands[i]));
    }
    assay_question_init(&p->problem, &p->question);
    p->question.policy.cache = 1;
    p->question.max_threads = 1;
    bench_pick(context, &p->question, &p->route);
    BENCH_MUST(assay_run(context, &p->route, &p->problem, p->operands, 3)); /* opens its backend */
    p->launch = (assay_launch){.struct_size = sizeof p->launch,
                               .operand_count = 3,
                               .problem = &p->problem,
                               .operands = p->operands,
                               .tunables = p->route.tunables};
    dispatch(p);
    fprintf(stderr, "bench_small: %s %d: %s\n", is_f64 ? "f64" : "f32", size,
            p->route.binding->desc->name);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static double span(product *p, int way, size_t calls)
{
    const uint64_t start = assay__host_now_ns();

    if (!ways[way](p, calls))
        return (double)NAN;
    return (double)(assay__host_now_ns() - start) / (double)calls;
}

static void warm(product *p)
{
    for (int way = 0; way < WAYS; way++) {
        (void)span(p, way, 200);
        const double ns = span(p, way, 200);
        p->calls[way] = isnan(ns) ? 1 : (size_t)(SPAN_NS / ns) + 1;
    }
}

static void take_turns(product *all)
{
    for (size_t i = 0; i < SIZES; i++)
        warm(&all[i]);
    for (int turn = 0; turn < TURNS; turn++)
        for (size_t i = 0; i < SIZES; i++)
            for (int k = 0; k < WAYS; k++) {
                const int way = (turn + k) % WAYS;
                (void)span(&all[i], way, 16); /* its code and data, after what the others left */
                all[i].ns[way][turn] = span(&all[i], way, all[i].calls[way]);
            }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bench_figure ratio(const product *first, size_t count, int peer, int own)
{
    double ratios[TURNS];

    for (int turn = 0; turn < TURNS; turn++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += log(first[i].ns[peer][turn] / first[i].ns[own][turn]);
        ratios[turn] = exp(sum / (double)count);
    }
    return bench_median(ratios, TURNS);
}

static double median_ns(const product *p, int way)
{
    double ns[TURNS];

    memcpy(ns, p->ns[way], sizeof ns);
    return bench_median(ns, TURNS).value;
}

/* goal 0: for information. */
static void print_ratio(const char *what, bench_figure f, const char *peer, double peer_value,
                        double goal)
{
    char wanted[16] = "";

    if (isnan(f.value))
        return; /* that library is not here */
    if (goal > 0)
        snprintf(wanted, sizeof wanted, ">=%.2f", goal);
    bench_print(what, f, "ratio", peer, peer_value, wanted, f.value >= goal);
}

static void print_rows(const product *all, const char *type)
{
    char name[96];

    for (size_t i = 0; i < SIZES; i++) {
        const int n = all[i].size;
        snprintf(name, sizeof name, "matmul %s %d 1 thread hot picked over libxsmm", type, n);
        print_ratio(name, ratio(&all[i], 1, LIBXSMM, PICKED), "libxsmm ns",
                    median_ns(&all[i], LIBXSMM), 0.95);
        snprintf(name, sizeof name, "matmul %s %d 1 thread hot picked over OpenBLAS", type, n);
        print_ratio(name, ratio(&all[i], 1, OPENBLAS, PICKED), "OpenBLAS ns",
                    median_ns(&all[i], OPENBLAS), 0);
        snprintf(name, sizeof name, "matmul %s %d 1 thread hot asked and checked every call", type,
                 n);
        print_ratio(name, ratio(&all[i], 1, OPENBLAS, CHECKED), "OpenBLAS ns",
                    median_ns(&all[i], OPENBLAS), 0);
    }
    snprintf(name, sizeof name, "matmul %s 4 to 32 1 thread hot picked over libxsmm", type);
    print_ratio(name, ratio(all, SIZES, LIBXSMM, PICKED), NULL, 0, 0.95);
    snprintf(name, sizeof name, "matmul %s 4 to 32 1 thread hot picked over OpenBLAS", type);
    print_ratio(name, ratio(all, SIZES, OPENBLAS, PICKED), NULL, 0, 5.0);
    snprintf(name, sizeof name, "matmul %s 4 to 32 1 thread hot libxsmm over OpenBLAS", type);
    print_ratio(name, ratio(all, SIZES, OPENBLAS, LIBXSMM), NULL, 0, 0);
}

/* ---- the program ----------------------------------------------------------------------------- */

static blas open_blas(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void (*set_threads)(int) = NULL;
    blas b = {NULL, NULL};

    if (library == NULL)
        return b;
    *(void **)&b.sgemm = dlsym(library, "cblas_sgemm");
    *(void **)&b.dgemm = dlsym(library, "cblas_dgemm");
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    if (set_threads != NULL)
        set_threads(1);
    return b;
}

static void bench(assay_context *context, blas openblas, bool is_f64)
{
    product *all = calloc(SIZES, sizeof *all);

    if (all == NULL)
        exit(EXIT_FAILURE);
    for (size_t i = 0; i < SIZES; i++)
        make(&all[i], context, openblas, sizes[i], is_f64);
    take_turns(all);
    print_rows(all, is_f64 ? "f64" : "f32");
    for (size_t i = 0; i < SIZES; i++)
        for (size_t k = 0; k < 3; k++)
            free(all[i].data[k]);
    free(all);
}

int main(void)
{
    char csv[2048] = "op,dtype,m,n,k\n";
    bench_store store;

    for (size_t i = 0; i < SIZES; i++) {
        const size_t at = strlen(csv);
        snprintf(csv + at, sizeof csv - at, "matmul,f32,%d,%d,%d\nmatmul,f64,%d,%d,%d\n", sizes[i],
                 sizes[i], sizes[i], sizes[i], sizes[i], sizes[i]);
    }
    bench_sweep(csv, "hot/alone/kernel", 1, &store);
#if HAVE_LIBXSMM
    libxsmm_set_verbosity(0);
    libxsmm_init();
#endif
    const blas openblas = open_blas();
    bench(store.context, openblas, false);
    bench(store.context, openblas, true);
    bench_store_close(&store);
    return EXIT_SUCCESS;
}
