/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_attention.c -- attention without the scores in memory against two products of
 * OpenBLAS with a softmax between.
 *
 * Rivals take turns; a ratio is that of the least times, lo..hi are quartiles of the ratios inside
 * a turn. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/plugin.h"
#include "bench/bench_print.h"
#include "runtime/host_backend.h"
#include "runtime/plugin_set.h"

enum { REPEATS = 21 };

static const assay_manifest *load(const char *name)
{
    char path[512];
    const char *build = getenv("ASSAY_BUILD");

    snprintf(path, sizeof path, "%s/lib/assay/assay_%s.so", build != NULL ? build : "build", name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return handle != NULL ? dlsym(handle, ASSAY_PLUGIN_SYMBOL) : NULL;
}

static const assay_kernel_desc *find(const assay_manifest *m, const char *name)
{
    for (size_t i = 0; m != NULL && i < m->kernel_count; i++) {
        const assay_kernel_desc *k = assay__manifest_kernel(m, i);
        if (k->op == ASSAY_OP_attention && k->dtypes[0] == ASSAY_F32 && strcmp(k->name, name) == 0)
            return k;
    }
    return NULL;
}

static bool has_avx512(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
#else
    return false;
#endif
}

typedef struct contest {
    const assay_kernel_desc *kernel;
    assay_problem problem;
    assay_tensor operands[4];
    int64_t tunables[ASSAY_MAX_TUNABLES];
    double ns[REPEATS], least_ns;
} contest;

static float *floats(int64_t n)
{
    float *x = NULL;

    if (posix_memalign((void **)&x, 64, (size_t)n * sizeof *x) != 0)
        abort();
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)((i * 2654435761) % 1000) * 0.002f - 1.0f;
    return x;
}

static void make(contest *c, const assay_kernel_desc *k, const char *params, int threads,
                 float *const data[4])
{
    char text[256];

    snprintf(text, sizeof text, "attention f32,f32,f32,f32 %s", params);
    c->kernel = k;
    if (assay_problem_parse(text, &c->problem) != ASSAY_OK)
        abort();
    for (size_t i = 0; i < 4; i++) {
        uint32_t rank;
        int64_t dims[ASSAY_MAX_RANK];
        if (assay_problem_operand(&c->problem, i, &rank, dims) != ASSAY_OK ||
            assay_tensor_host(data[i], ASSAY_F32, rank, dims, NULL, &c->operands[i]) != ASSAY_OK)
            abort();
    }
    for (size_t i = 0; i < k->tunable_count; i++)
        c->tunables[i] = k->tunables[i].default_value;
    c->tunables[0] = threads;
}

static void time_one(contest *c, int turn)
{
    assay_launch launch = {.struct_size = sizeof launch,
                           .operand_count = 4,
                           .problem = &c->problem,
                           .operands = c->operands,
                           .tunables = c->tunables};
    uint64_t start = assay__host_now_ns();

    if (c->kernel->run(&launch) != ASSAY_OK)
        abort();
    double ns = (double)(assay__host_now_ns() - start);
    if (turn < 0) /* threads, pages, code */
        return;
    c->ns[turn] = ns;
    c->least_ns = turn == 0 || ns < c->least_ns ? ns : c->least_ns;
}

static bench_figure ratio(const contest *own, const contest *peer)
{
    double shares[REPEATS];

    for (int i = 0; i < REPEATS; i++)
        shares[i] = peer->ns[i] / own->ns[i];
    qsort(shares, REPEATS, sizeof *shares, bench_by_value);
    return (bench_figure){peer->least_ns / own->least_ns, shares[REPEATS / 4],
                          shares[3 * REPEATS / 4], REPEATS};
}

/* The peer does not know the mask: that of BERT, full scores, is what both goals are set against.
 */
static void compare(const assay_kernel_desc *own, const assay_kernel_desc *peer, int threads)
{
    static const char shape[] = "b=1,hq=12,hkv=12,sq=1024,sk=1024,d=64";
    static const char causal[] = "b=1,hq=12,hkv=12,sq=1024,sk=1024,d=64,causal=1";
    float *data[4];
    contest c[3];
    char name[96];

    for (int i = 0; i < 4; i++)
        data[i] = floats(12 * 1024 * 64);
    make(&c[0], peer, shape, threads, data);
    make(&c[1], own, shape, threads, data);
    make(&c[2], own, causal, threads, data);
    for (int turn = -1; turn < REPEATS; turn++)
        for (int i = 0; i < 3; i++)
            time_one(&c[i], turn);
    for (int i = 1; i < 3; i++) {
        bench_figure f = ratio(&c[i], &c[0]);
        double goal = i == 1 ? 1.4 : 2.0;
        char wanted[16];
        snprintf(wanted, sizeof wanted, ">=%.1f", goal);
        snprintf(name, sizeof name, "%s f32 12 x 1024 x 1024 x 64%s %d thread%s", own->name,
                 i == 1 ? "" : " causal", threads, threads > 1 ? "s" : "");
        bench_print(name, f, "ratio", "OpenBLAS route ms", c[0].least_ns * 1e-6, wanted,
                    f.value >= goal);
    }
    for (int i = 0; i < 4; i++)
        free(data[i]);
}

int main(void)
{
    setenv("OMP_WAIT_POLICY", "passive", 0);
    static const char *const names[] = {"cpu_attention_avx2", "cpu_attention_avx512"};
    const assay_manifest *cpu = load("cpu"), *openblas = load("openblas");
    const assay_kernel_desc *peer = find(openblas, "openblas_attention");
    assay_instance *instance = NULL;

    if (cpu == NULL || peer == NULL || openblas->backend->open(NULL, &instance) != ASSAY_OK) {
        fprintf(stderr, "bench_attention: no kernel to time\n");
        return 1;
    }
    int cpus = (int)assay__host_usable_cpus();
    for (int threads = 1; threads <= (cpus < 2 ? cpus : 2); threads++)
        for (int i = 0; i < (has_avx512() ? 2 : 1); i++)
            compare(find(cpu, names[i]), peer, threads);
    openblas->backend->close(instance);
    return 0;
}
