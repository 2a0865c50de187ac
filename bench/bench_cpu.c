/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_cpu.c -- CPU kernels against a non-temporal copy and OpenBLAS, the oracle's speed.
 *
 * Rivals are interleaved.  Rates are of the least time, what disturbs a run only adds; the other
 * end of lo..hi is the median.  Shares are medians, with quartiles, of the shares inside a turn. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/deployment.h"
#include "assay/plugin.h"
#include "bench/bench_print.h"
#include "runtime/host_backend.h"
#include "runtime/host_team.h"
#include "runtime/machine.h"
#include "runtime/plugin_set.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { REPEATS = 31, ELEMENTS = 16 * 1024 * 1024 };

static const assay_manifest *load(const char *name)
{
    char path[512];
    const char *build = getenv("ASSAY_BUILD");

    snprintf(path, sizeof path, "%s/lib/assay/assay_%s.so", build != NULL ? build : "build", name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const assay_manifest *m = handle != NULL ? dlsym(handle, ASSAY_PLUGIN_SYMBOL) : NULL;
    if (m == NULL)
        fprintf(stderr, "bench_cpu: %s: %s\n", path, dlerror());
    return m;
}

static const assay_kernel_desc *find(const assay_manifest *m, const char *name, assay_dtype t)
{
    for (size_t i = 0; m != NULL && i < m->kernel_count; i++) {
        const assay_kernel_desc *k = assay__manifest_kernel(m, i);
        if (strcmp(k->name, name) == 0 && k->dtypes[0] == t)
            return k;
    }
    return NULL;
}

/* ---- what is timed --------------------------------------------------------------------------- */

typedef struct contest {
    void (*run)(struct contest *c);
    const char *name;
    const assay_kernel_desc *kernel;
    assay_launch launch;
    int64_t tunables[ASSAY_MAX_TUNABLES];
    double ns[REPEATS]; /* in turn */
    double least_ns;
} contest;

static void run_kernel(contest *c)
{
    c->launch.tunables = c->tunables;
    if (c->kernel->run(&c->launch) != ASSAY_OK)
        c->least_ns = NAN;
}

static float *source, *target;
static int copy_threads;

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void copy_part(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i + 32 <= n; i += 32) {
        __m256 a = _mm256_load_ps(x + i), b = _mm256_load_ps(x + i + 8);
        __m256 c = _mm256_load_ps(x + i + 16), d = _mm256_load_ps(x + i + 24);
        _mm256_stream_ps(y + i, a);
        _mm256_stream_ps(y + i + 8, b);
        _mm256_stream_ps(y + i + 16, c);
        _mm256_stream_ps(y + i + 24, d);
    }
    _mm_sfence();
}
#else
static void copy_part(const float *x, float *y, int64_t n)
{
    memcpy(y, x, (size_t)n * sizeof *y);
}
#endif

static void copy_share(void *cookie, int64_t part)
{
    int64_t share = ELEMENTS / copy_threads;

    (void)cookie;
    copy_part(source + part * share, target + part * share, share);
}

static void run_copy(contest *c)
{
    (void)c;
    assay__host_team_run(copy_threads, copy_threads, copy_share, NULL);
}

static void time_all(contest *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        list[i].least_ns = INFINITY;
        list[i].run(&list[i]); /* threads, pages, code */
    }
    for (int repeat = 0; repeat < REPEATS; repeat++)
        for (size_t i = 0; i < count; i++) {
            uint64_t start = assay__host_now_ns();
            list[i].run(&list[i]);
            double ns = (double)(assay__host_now_ns() - start);
            list[i].ns[repeat] = ns;
            list[i].least_ns = ns < list[i].least_ns ? ns : list[i].least_ns;
        }
}

static bench_figure rate_of(const contest *c, double work)
{
    double ns[REPEATS];

    memcpy(ns, c->ns, sizeof ns);
    return bench_rate(bench_least(ns, REPEATS), work);
}

/* Median and quartiles of the shares inside a turn: where the host's memory changes its speed,
 * least times of two rivals come from different hours. */
static bench_figure share_of(const contest *own, const contest *copy, double bytes_share)
{
    double shares[REPEATS];

    for (int i = 0; i < REPEATS; i++)
        shares[i] = bytes_share * copy->ns[i] / own->ns[i];
    qsort(shares, REPEATS, sizeof *shares, bench_by_value);
    return (bench_figure){shares[REPEATS / 2], shares[REPEATS / 4], shares[3 * REPEATS / 4],
                          REPEATS};
}

/* ---- problems -------------------------------------------------------------------------------- */

static void wrap(assay_tensor *t, void *data, assay_dtype dtype, const assay_problem *p, size_t i)
{
    uint32_t rank;
    int64_t dims[ASSAY_MAX_RANK];

    if (assay_problem_operand(p, i, &rank, dims) != ASSAY_OK ||
        assay_tensor_host(data, dtype, rank, dims, NULL, t) != ASSAY_OK)
        abort();
}

static void set(assay_problem *p, const char *name, int64_t value)
{
    if (assay_problem_set_int(p, name, value) != ASSAY_OK)
        abort();
}

static float *floats(int64_t n)
{
    float *x = NULL;

    if (posix_memalign((void **)&x, 4096, (size_t)n * sizeof *x) != 0)
        abort();
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)((i * 2654435761) % 1000) * 0.004f - 2.0f;
    return x;
}

/* goal 0: for information. */
static void print_share(const char *what, int threads, bench_figure share, double copy_gbps,
                        double goal)
{
    char wanted[16] = "", name[96];

    if (goal > 0.0)
        snprintf(wanted, sizeof wanted, ">=%.2f", goal);
    snprintf(name, sizeof name, "%s f32 %d thread%s share of copy", what, threads,
             threads > 1 ? "s" : "");
    bench_print(name, share, "ratio", "nt copy GB/s", copy_gbps, wanted, share.value >= goal);
}

typedef struct stream_row {
    const char *kernel;
    assay_op_id op;
    int operands;
    double bytes; /* an element */
    double goal_1, goal_2;
    int64_t nontemporal;
} stream_row;

static const stream_row streams[] = {
    {"cpu_add_avx2", ASSAY_OP_add, 3, 12, 0.9, 0.9, 1},
    {"cpu_mul_avx2", ASSAY_OP_mul, 3, 12, 0.9, 0.9, 1},
    {"cpu_relu_avx2", ASSAY_OP_relu, 2, 8, 0.9, 0.9, 1},
    {"cpu_tanh_fast_avx2", ASSAY_OP_tanh, 2, 8, 0.6, 0.75, 1},
    {"cpu_gelu_fast_avx2", ASSAY_OP_gelu, 2, 8, 0.6, 0.75, 1},
    {"cpu_gelu_erf_fast_avx2", ASSAY_OP_gelu_erf, 2, 8, 0.0, 0.0, 1},
    {"cpu_silu_fast_avx2", ASSAY_OP_silu, 2, 8, 0.0, 0.0, 1},
    {"cpu_log_fast_avx2", ASSAY_OP_log, 2, 8, 0.0, 0.0, 1},
    {"cpu_rsqrt_avx2", ASSAY_OP_rsqrt, 2, 8, 0.0, 0.0, 1},
    {"cpu_exp_avx2", ASSAY_OP_exp, 2, 8, 0.0, 0.0, 1}, /* through f64: exactness, not speed */
    {"cpu_exp_fast_avx2", ASSAY_OP_exp, 2, 8, 0.6, 0.75, 1},
    {"cpu_softmax_avx2", ASSAY_OP_softmax_last_dim, 2, 8, 0.6, 0.75, 1},
    {"cpu_tanh_fast_avx512", ASSAY_OP_tanh, 2, 8, 0.6, 0.75, 1},
    {"cpu_gelu_fast_avx512", ASSAY_OP_gelu, 2, 8, 0.6, 0.75, 1},
    {"cpu_gelu_erf_fast_avx512", ASSAY_OP_gelu_erf, 2, 8, 0.0, 0.0, 1},
    {"cpu_silu_fast_avx512", ASSAY_OP_silu, 2, 8, 0.0, 0.0, 1},
    {"cpu_log_fast_avx512", ASSAY_OP_log, 2, 8, 0.0, 0.0, 1},
    {"cpu_rsqrt_avx512", ASSAY_OP_rsqrt, 2, 8, 0.0, 0.0, 1},
    {"cpu_exp_fast_avx512", ASSAY_OP_exp, 2, 8, 0.6, 0.75, 1},
    {"cpu_softmax_avx512", ASSAY_OP_softmax_last_dim, 2, 8, 0.6, 0.75, 1},
    {"cpu_rms_norm_last_dim_avx2", ASSAY_OP_rms_norm_last_dim, 2, 8, 0.9, 0.9, 1},
    {"cpu_layer_norm_last_dim_avx2", ASSAY_OP_layer_norm_last_dim, 2, 8, 0.9, 0.9, 1},
};

/* Whether this CPU has the instructions of a kernel. */
static bool runs_here(const assay_kernel_desc *k)
{
    const assay__machine here = ASSAY__MACHINE_HERE;
    char usable[512], missing[64];

    return assay__machine_isa(&here, usable, sizeof usable) &&
           assay_isa_covers(usable, k->requires_isa, missing, sizeof missing);
}

static void bench_streams(const assay_manifest *cpu, int threads)
{
    enum { ROWS = sizeof streams / sizeof *streams };
    contest list[ROWS + 1] = {{.run = run_copy, .name = "copy"}};
    const stream_row *rows[ROWS];
    size_t count = 0;
    assay_problem problems[ROWS];
    assay_tensor operands[ROWS][3];
    float *second = floats(ELEMENTS);

    copy_threads = threads;
    for (size_t row = 0; row < ROWS; row++) {
        const stream_row *s = rows[count] = &streams[row];
        const size_t i = count;
        contest *c = &list[i + 1];
        *c = (contest){.run = run_kernel, .kernel = find(cpu, s->kernel, ASSAY_F32)};
        if (c->kernel != NULL && !runs_here(c->kernel))
            continue;
        count++;
        if (c->kernel == NULL || assay_problem_init(s->op, ASSAY_F32, &problems[i]) != ASSAY_OK)
            abort();
        if (assay_op_param_index(s->op, "cols") >= 0) {
            set(&problems[i], "rows", ELEMENTS / 4096);
            set(&problems[i], "cols", 4096);
        } else {
            set(&problems[i], "n", ELEMENTS);
        }
        wrap(&operands[i][0], source, ASSAY_F32, &problems[i], 0);
        wrap(&operands[i][1], s->operands == 3 ? second : target, ASSAY_F32, &problems[i], 1);
        if (s->operands == 3)
            wrap(&operands[i][2], target, ASSAY_F32, &problems[i], 2);
        c->launch = (assay_launch){.struct_size = sizeof c->launch,
                                   .operand_count = (uint32_t)s->operands,
                                   .problem = &problems[i],
                                   .operands = operands[i]};
        c->tunables[0] = threads;
        c->tunables[1] = s->nontemporal;
    }
    time_all(list, count + 1);
    double copy = 8.0 * ELEMENTS / list[0].least_ns;
    for (size_t i = 0; i < count; i++)
        print_share(rows[i]->kernel, threads,
                    share_of(&list[i + 1], &list[0], rows[i]->bytes / 8.0), copy,
                    threads == 1 ? rows[i]->goal_1 : rows[i]->goal_2);
    free(second);
}

static void make_matmul(assay_problem *p, assay_tensor *operands, assay_dtype t, int64_t size,
                        void *a, void *b, void *c)
{
    if (assay_problem_init(ASSAY_OP_matmul, t, p) != ASSAY_OK)
        abort();
    set(p, "m", size);
    set(p, "n", size);
    set(p, "k", size);
    wrap(&operands[0], a, t, p, 0);
    wrap(&operands[1], b, t, p, 1);
    wrap(&operands[2], c, t, p, 2);
}

static void bench_matmul(const assay_manifest *cpu, const assay_manifest *openblas, int64_t size,
                         int threads)
{
    float *a = floats(size * size), *b = floats(size * size), *c = floats(size * size);
    contest list[3] = {{.kernel = find(cpu, "cpu_matmul_avx2", ASSAY_F32)},
                       {.kernel = find(openblas, "openblas_gemm", ASSAY_F32)},
                       {.kernel = find(cpu, "cpu_matmul_small_avx2", ASSAY_F32)}};
    assay_problem p;
    assay_tensor operands[3];
    size_t count = size <= 256 ? 3 : 2;

    make_matmul(&p, operands, ASSAY_F32, size, a, b, c);
    for (size_t i = 0; i < count; i++) {
        list[i].run = run_kernel;
        list[i].launch = (assay_launch){.struct_size = sizeof(assay_launch),
                                        .operand_count = 3,
                                        .problem = &p,
                                        .operands = operands};
        list[i].tunables[0] = threads;
        list[i].tunables[1] = 144; /* cpu_matmul_avx2: mc, kc */
        list[i].tunables[2] = 256;
    }
    if (list[1].kernel == NULL) {
        list[1] = list[0];
        openblas = NULL;
    }
    time_all(list, count);
    double flops = 2.0 * (double)size * (double)size * (double)size;
    for (size_t i = 0; i < count; i++)
        if (i != 1) {
            char name[96];
            snprintf(name, sizeof name, "%s f32 %ld %d thread%s", list[i].kernel->name, (long)size,
                     threads, threads > 1 ? "s" : "");
            bench_print(name, rate_of(&list[i], flops), "GFLOP/s",
                        openblas != NULL ? "OpenBLAS" : NULL, flops / list[1].least_ns, "", 0);
        }
    free(a);
    free(b);
    free(c);
}

/* ---- the oracle ------------------------------------------------------------------------------ */

static void bench_oracle(const assay_manifest *ref)
{
    enum { SIZE = 512, TURNS = 5 };
    float *a = floats(SIZE * SIZE), *b = floats(SIZE * SIZE), *c = floats(SIZE * SIZE);
    double *wide = calloc(4 * SIZE * SIZE, sizeof *wide), ns[TURNS];
    size_t turns = 0;
    assay_problem p;
    assay_tensor operands[3];

    if (wide == NULL)
        abort();
    make_matmul(&p, operands, ASSAY_F32, SIZE, a, b, c);
    assay_launch launch = {
        .struct_size = sizeof launch, .operand_count = 3, .problem = &p, .operands = operands};
    assay_wide out = {wide, wide + SIZE * SIZE, wide + 2 * SIZE * SIZE, wide + 3 * SIZE * SIZE,
                      0,    SIZE * SIZE};
    for (size_t i = 0; i < ref->oracle_count; i++)
        for (int k = 0; k < TURNS && turns < TURNS && ref->oracles[i].op == ASSAY_OP_matmul; k++) {
            uint64_t start = assay__host_now_ns();
            if (ref->oracles[i].wide(&launch, 1, &out) != ASSAY_OK)
                abort();
            ns[turns++] = (double)(assay__host_now_ns() - start);
        }
    if (turns == 0)
        abort();
    bench_figure rate = bench_rate(bench_least(ns, turns), 2.0 * SIZE * SIZE * SIZE);
    bench_print("oracle matmul f32 512 1 thread", rate, "GFLOP/s", NULL, 0, ">=8",
                rate.value >= 8.0);
    free(wide);
    free(a);
    free(b);
    free(c);
}

int main(void)
{
    setenv("OMP_WAIT_POLICY", "passive", 0); /* a team that spins slows the next rival */
    const assay_manifest *cpu = load("cpu"), *ref = load("ref"), *openblas = load("openblas");
    assay_instance *instance = NULL;

    if (cpu == NULL || ref == NULL)
        return 1;
    if (openblas != NULL && openblas->backend->open(NULL, &instance) != ASSAY_OK)
        openblas = NULL;
    source = floats(ELEMENTS);
    target = floats(ELEMENTS);
    int cpus = (int)assay__host_usable_cpus();
    for (int threads = 1; threads <= (cpus < 2 ? cpus : 2); threads++) {
        bench_streams(cpu, threads);
        for (int64_t size = 64; size <= 1024; size *= 2)
            bench_matmul(cpu, openblas, size, threads);
    }
    bench_oracle(ref);
    return 0;
}
