/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_exhaustive.c -- all 2^32 inputs of exp f32: the kernels of the CPU plug-in against
 * the reference, on two cores.
 *
 * bench_exhaustive [SHIFT [OP]]: only 2^(32-SHIFT) inputs, evenly spread, for a look while working;
 * another op, and then kernels of 512 bits too, most of which give the bits of narrower ones. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/deployment.h"
#include "bench/bench_print.h"
#include "calibrate/unary_launch.h"
#include "runtime/host_backend.h"
#include "runtime/machine.h"
#include "runtime/plugin_set.h"

#define GOAL_S 25.0
#define TURNS  3

static const assay_manifest *load(const char *name)
{
    char path[512];
    const char *build = getenv("ASSAY_BUILD");

    snprintf(path, sizeof path, "%s/lib/assay/assay_%s.so", build != NULL ? build : "build", name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const assay_manifest *m = handle != NULL ? dlsym(handle, ASSAY_PLUGIN_SYMBOL) : NULL;
    if (m == NULL)
        fprintf(stderr, "bench_exhaustive: %s: %s\n", path, dlerror());
    return m;
}

static const assay_oracle_desc *oracle_of(const assay_manifest *ref, assay_op_id op)
{
    for (size_t i = 0; i < ref->oracle_count; i++)
        if (ref->oracles[i].op == op)
            return &ref->oracles[i];
    return NULL;
}

/* Parts of the space, one after another: 2^shift pieces of which each 2^shift-th batch is run. */
static assay_status run_parts(const assay__unary *unary, unsigned threads, unsigned shift,
                              bool digest_only, assay_error_stats *stats)
{
    uint64_t all = assay__exhaustive_batches(unary->input), parts = shift > 0 ? 64 : 1;

    for (uint64_t part = 0; part < parts; part++) {
        assay_exhaustive_plan plan = {.threads = threads,
                                      .first_batch = part * (all / parts),
                                      .batch_count = (all / parts) >> shift,
                                      .digest_only = digest_only};
        assay_exhaustive_result r;
        ASSAY_TRY(assay__exhaustive_run(unary, &plan, &r));
        assay_status status = assay__error_stats_merge(stats, &r.stats);
        assay__exhaustive_clear(&r);
        ASSAY_TRY(status);
    }
    return ASSAY_OK;
}

static void print_row(const char *name, bool digest_only, bench_figure seconds)
{
    char what[128];

    snprintf(what, sizeof what, "%s f32 all inputs %s", name, digest_only ? "digest" : "judged");
    bench_print(what, seconds, "s", NULL, 0, digest_only ? "" : "<=25", seconds.value <= GOAL_S);
}

static void print_errors(const char *name, const assay_error_stats *s)
{
    fprintf(stderr,
            "%s: max dist %llu, err_ulp %.6f at %a (0x%08llx), %llu misrounded, "
            "%llu >= 1 ulp, %llu of a forbidden class, %llu uncertain\n",
            name, (unsigned long long)s->max_dist, s->max_err_ulp, s->worst.hi,
            (unsigned long long)s->worst.input_bits[0], (unsigned long long)s->misrounded,
            (unsigned long long)s->over_one,
            (unsigned long long)(s->elements - s->classes[ASSAY_ULP_ORDINARY]),
            (unsigned long long)s->uncertain);
}

/* Seconds of the whole space; what was found is told in the first turn. */
static bool one_turn(const assay__unary *unary, const char *name, unsigned threads, unsigned shift,
                     bool digest_only, bool first, double *seconds)
{
    assay_error_stats stats;

    if (assay__error_stats_init(&stats, ASSAY_F32, false) != ASSAY_OK)
        return false;
    uint64_t begin = assay__host_now_ns();
    assay_status status = run_parts(unary, threads, shift, digest_only, &stats);
    *seconds = (double)(assay__host_now_ns() - begin) * 1e-9 * (double)(1u << shift);
    if (status == ASSAY_OK && first && stats.elements > 0)
        print_errors(name, &stats);
    assay__error_stats_clear(&stats);
    return status == ASSAY_OK;
}

static bool bench_kernel(const assay_kernel_desc *k, const assay__backend *backend,
                         const assay_oracle_desc *oracle, unsigned threads, unsigned shift)
{
    assay_unary_launch launch = {.backend = backend, .kernel = k, .oracle = oracle};
    assay_problem p;

    if (assay_problem_init(k->op, (assay_dtype)k->dtypes[0], &p) != ASSAY_OK ||
        assay__unary_problem(&p, &launch.problem) != ASSAY_OK)
        return false;
    for (size_t i = 0; i < k->tunable_count; i++)
        launch.tunables[i] =
            strcmp(k->tunables[i].name, "threads") == 0 ? 1 : k->tunables[i].default_value;
    assay__unary unary = assay__unary_of(&launch);
    for (int digest_only = 0; digest_only < 2; digest_only++) {
        double seconds[TURNS];
        for (int i = 0; i < TURNS; i++)
            if (!one_turn(&unary, k->name, threads, shift, digest_only != 0, i == 0, &seconds[i]))
                return false;
        print_row(k->name, digest_only != 0, bench_median(seconds, TURNS));
    }
    return true;
}

static bool is_asked_for(const assay_kernel_desc *k, assay_op_id op, bool with_wide)
{
    const assay__machine here = ASSAY__MACHINE_HERE;
    char usable[512], missing[64];

    return k->op == op && k->dtypes[0] == ASSAY_F32 &&
           (with_wide || strstr(k->name, "avx512") == NULL) &&
           assay__machine_isa(&here, usable, sizeof usable) &&
           assay_isa_covers(usable, k->requires_isa, missing, sizeof missing);
}

int main(int argc, char **argv)
{
    const assay_manifest *cpu = load("cpu"), *ref = load("ref");
    unsigned cpus = assay__host_usable_cpus(), shift = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    assay_op_id op = ASSAY_OP_exp;
    assay__backend backend;

    if (cpu == NULL || ref == NULL || shift > 12 ||
        (argc > 2 && assay_op_find(argv[2], &op) != ASSAY_OK) ||
        assay__backend_init(cpu->backend, &backend) != ASSAY_OK ||
        assay__backend_open(&backend) != ASSAY_OK)
        return 1;
    const assay_oracle_desc *oracle = oracle_of(ref, op);
    bool ok = oracle != NULL;
    for (size_t i = 0; ok && i < cpu->kernel_count; i++) {
        const assay_kernel_desc *k = assay__manifest_kernel(cpu, i);
        if (is_asked_for(k, op, argc > 2))
            ok = bench_kernel(k, &backend, oracle, cpus < 2 ? cpus : 2, shift);
    }
    assay__backend_close(&backend);
    return ok ? 0 : 1;
}
