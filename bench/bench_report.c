/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_report.c -- seconds and bytes of the cost report over a store of 10^6 measurements.
 *
 * 20,000 problems with 50 variants each and a route of each problem, on one deployment. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench_print.h"
#include "db/db_write.h"
#include "reports/reports.h"

#define PROBLEMS 20000
#define REPEATS  3
#define VARIANTS 50

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(assay_status status)
{
    if (status == ASSAY_OK)
        return;
    fprintf(stderr, "bench_report: %s\n", assay_last_error());
    exit(1);
}

static assay__db *db;
static int64_t deployment, sweep, revisions[VARIANTS];
static char hex[ASSAY_DIGEST_HEX];

static void put_heads(void)
{
    const assay__db_sweep s = {"standard", "{}", "[]", 1};
    assay_deployment d;
    assay_digest digest;

    memset(&d, 0, sizeof d);
    strcpy(d.backend, "cpu");
    strcpy(d.device, "bench");
    d.usable_cpus = 2;
    need(assay__db_put_deployment(db, &d, NULL, &deployment));
    assay_deployment_digest(&d, &digest);
    assay_digest_format(&digest, hex);
    need(assay__db_begin_sweep(db, &s, &sweep));
    need(assay__db_put_peak(db, deployment, "copy_nt_t2", "byte/ns", 20, 19, 20, 5));
    need(assay__db_put_peak(db, deployment, "fma_f32_avx2_t2", "flop/ns", 100, 99, 100, 5));
    for (int v = 0; v < VARIANTS; v++) {
        char tunables[32];
        assay__db_kernel k = {.kernel = "gemm",
                              .backend = "cpu",
                              .op = "matmul",
                              .dtypes = "f32,f32,f32",
                              .entry_point = "gemm",
                              .claims = ASSAY_NO_CLAIMS,
                              .tunables = tunables,
                              .libraries = "",
                              .compiler = "cc"};
        snprintf(tunables, sizeof tunables, "tile=%d", v);
        k.variant_revision.bytes[0] = (uint8_t)(v + 1);
        need(assay__db_put_revision(db, &k, &revisions[v]));
    }
}

static int64_t put_problem(int i)
{
    assay_problem p;
    int64_t id = 0;

    need(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, &p));
    need(assay_problem_set_int(&p, "m", 16 + i % 200));
    need(assay_problem_set_int(&p, "n", 16 + i / 200));
    need(assay_problem_set_int(&p, "k", 64));
    need(assay__db_put_problem(db, &p, &id));
    return id;
}

/* Every tenth variant is wrong; the others have times and ratios. */
static void put_case(int i)
{
    assay__route_candidate all[VARIANTS];
    int64_t problem = put_problem(i);

    memset(all, 0, sizeof all);
    for (int v = 0; v < VARIANTS; v++) {
        double ns = 1000.0 + 37.0 * v + i % 91;
        int wrong = v % 10 == 9;
        assay__db_measurement m = {.sweep = sweep,
                                   .revision = revisions[v],
                                   .deployment = deployment,
                                   .problem = problem,
                                   .layout = "ccc",
                                   .policy = "rotate/alone/kernel",
                                   .align = 16,
                                   .verdict = wrong ? ASSAY__VERDICT_WRONG : ASSAY__VERDICT_OK,
                                   .reason = wrong ? "normal: element 7 is 1, expected 2" : "",
                                   .median_ns = ns,
                                   .lo_ns = 0.98 * ns,
                                   .hi_ns = 1.02 * ns,
                                   .min_ns = 0.97 * ns,
                                   .mad_ns = 5,
                                   .ratio = ns / 1500.0,
                                   .ratio_lo = ns / 1510.0,
                                   .ratio_hi = ns / 1490.0,
                                   .samples = 50,
                                   .visits = 5,
                                   .stop_reason = "count",
                                   .flags = ""};
        int64_t id = 0;
        need(assay__db_put_measurement(db, &m, &id));
        all[v] = (assay__route_candidate){.revision_row = (uint64_t)revisions[v],
                                          .measurement = (uint64_t)id,
                                          .time_ns = ns,
                                          .lo_ns = m.lo_ns,
                                          .hi_ns = m.hi_ns,
                                          .ratio = m.ratio,
                                          .ratio_lo = m.ratio_lo,
                                          .ratio_hi = m.ratio_hi,
                                          .max_ulp = (double)NAN,
                                          .max_rho = (double)NAN,
                                          .max_rel = (double)NAN,
                                          .max_abs = (double)NAN,
                                          .verdict = (uint8_t)m.verdict,
                                          .tied = v < 3};
    }
    const assay__db_use use = {.sweep = sweep,
                               .problem = problem,
                               .shape_set = i % 2 == 0 ? "even" : "odd",
                               .row_name = "row",
                               .run_count = i % 7};
    need(assay__db_put_use(db, &use));
    assay__db_route r = {.sweep = sweep,
                         .deployment = deployment,
                         .problem = problem,
                         .winner_revision = revisions[0],
                         .layout = "ccc",
                         .policy = "rotate/alone/kernel",
                         .align = 16,
                         .candidates = all,
                         .candidate_count = VARIANTS,
                         .searched = VARIANTS,
                         .total = VARIANTS,
                         .stop_reason = "done"};
    need(assay__db_put_route(db, &r));
}

static void put_all(const char *path)
{
    need(assay__db_open(path, &db));
    put_heads();
    for (int i = 0; i < PROBLEMS; i++) {
        if (i % 1000 == 0)
            need(assay__db_begin(db));
        put_case(i);
        if (i % 1000 == 999)
            need(assay__db_commit(db));
    }
    need(assay__db_end_sweep(db, sweep, "done", 0.02));
    assay__db_close(&db);
}

static void time_report(const char *path)
{
    static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
    const assay__report_kernel kernel = {.backend = "cpu",
                                         .op = "matmul",
                                         .dtypes = "f32,f32,f32",
                                         .kernel = "gemm",
                                         .revision = zeros,
                                         .claims = ASSAY_NO_CLAIMS};
    const assay__report_options options = {
        .db_path = path, .here = hex, .current = &kernel, .current_count = 1};
    double seconds[REPEATS];
    size_t size = 0;

    for (int i = 0; i < REPEATS; i++) {
        char *text = NULL;
        const double start = now_s();
        need(assay__report_make("cost", &options, ASSAY__REPORT_HTML, &text, &size));
        seconds[i] = now_s() - start;
        free(text);
    }
    bench_figure time = bench_median(seconds, REPEATS);
    bench_figure bytes = {(double)size * 1e-6, (double)size * 1e-6, (double)size * 1e-6, 1};
    bench_print("report: HTML of 10^6 measurements", time, "s", NULL, 0, "<= 5", time.value <= 5);
    bench_print("report: its size", bytes, "MB", NULL, 0, "<= 5", size <= 5000000);
}

static void remove_store(const char *folder)
{
    static const char *const names[] = {"s.db", "s.db-wal", "s.db-shm"};
    char path[160];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

int main(void)
{
    char folder[] = "/tmp/assay-bench-XXXXXX", path[128];
    double start;

    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/s.db", folder);
    start = now_s();
    put_all(path);
    fprintf(stderr, "store of %d measurements in %.1f s\n", PROBLEMS * VARIANTS, now_s() - start);
    time_report(path);
    remove_store(folder);
    return EXIT_SUCCESS;
}
