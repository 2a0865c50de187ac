/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_store.c -- rates of the store: ingest, a transaction a variant, reading routes,
 * one pass of a report.
 *
 * Ingest is what merge and import do: a measurement and its accuracy, in batches of 1,000.  Storing
 * is what a sweep does: measurement, two visits of 10 samples and accuracy in one transaction.
 * Goals: 30,000 pairs a second; 2,000 variants a second; 100,000 routes with their problems in
 * 100 ms; 10^6 measurements with errors in 5 s (scaled from 100,000; `bench_store
 * 1000000` takes them all). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench_print.h"
#include "db/db_write.h"
#include "db/read_report.h"

#define BATCH      1000
#define REVISIONS  50
#define ROUTES     100000
#define CANDIDATES 8
#define STORED     2000
#define READS      5
#define ROUNDS     20

#define MUST(expr)                                                    \
    do {                                                              \
        if ((expr) != ASSAY_OK) {                                     \
            fprintf(stderr, "bench_store: %s\n", assay_last_error()); \
            exit(EXIT_FAILURE);                                       \
        }                                                             \
    } while (0)

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct fill {
    assay__db *db;
    int64_t deployment, sweep;
    int64_t revisions[REVISIONS];
    char hex[ASSAY_DIGEST_HEX];
} fill;

static void put_revisions(fill *f)
{
    char name[16];
    assay__db_kernel k = {.kernel = name,
                          .backend = "cpu",
                          .op = "matmul",
                          .dtypes = "f32,f32,f32",
                          .entry_point = "run",
                          .default_rank = 10,
                          .claims = ASSAY_NO_CLAIMS,
                          .tunables = "threads=1,tile=8"};

    for (int i = 0; i < REVISIONS; i++) {
        snprintf(name, sizeof name, "kernel_%02d", i);
        k.variant_revision.bytes[0] = (uint8_t)i;
        MUST(assay__db_put_revision(f->db, &k, &f->revisions[i]));
    }
}

static void start(fill *f, const char *path)
{
    const assay__db_sweep s = {"standard", "{}", "[]", 1};
    assay_deployment d;
    assay_digest digest;

    memset(&d, 0, sizeof d);
    strcpy(d.backend, "cpu");
    strcpy(d.device, "bench");
    MUST(assay__db_open(path, &f->db));
    MUST(assay__db_put_deployment(f->db, &d, NULL, &f->deployment));
    MUST(assay__db_begin_sweep(f->db, &s, &f->sweep));
    put_revisions(f);
    assay_deployment_digest(&d, &digest);
    assay_digest_format(&digest, f->hex);
}

static int64_t put_problem(fill *f, int64_t n)
{
    assay_problem p;
    int64_t id = 0;

    MUST(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, &p));
    MUST(assay_problem_set_int(&p, "m", 1 + n % 1024));
    MUST(assay_problem_set_int(&p, "n", 1 + n / 1024));
    MUST(assay_problem_set_int(&p, "k", 512));
    MUST(assay__db_put_problem(f->db, &p, &id));
    return id;
}

static assay__db_measurement measurement(const fill *f, int64_t problem, int64_t revision)
{
    return (assay__db_measurement){.sweep = f->sweep,
                                   .revision = revision,
                                   .deployment = f->deployment,
                                   .problem = problem,
                                   .layout = "ccc",
                                   .policy = "rotate/alone/kernel",
                                   .align = 16,
                                   .verdict = ASSAY__VERDICT_OK,
                                   .reason = "",
                                   .median_ns = 1234.5,
                                   .lo_ns = 1200.25,
                                   .hi_ns = 1300.125,
                                   .min_ns = 1190.0,
                                   .mad_ns = 10.5,
                                   .ratio = 0.9,
                                   .ratio_lo = 0.85,
                                   .ratio_hi = 0.95,
                                   .samples = 50,
                                   .visits = 5,
                                   .stop_reason = "interval",
                                   .flags = "",
                                   .output_digest = 0x123456789abcdefu};
}

static assay__db_accuracy accuracy(const fill *f, int64_t problem, int64_t revision)
{
    return (assay__db_accuracy){.sweep = f->sweep,
                                .revision = revision,
                                .deployment = f->deployment,
                                .problem = problem,
                                .stratum = "all",
                                .seed = 1,
                                .proof = ASSAY_PROOF_SAMPLED,
                                .elements = 1000000,
                                .max_ulp = 7.0,
                                .max_err_ulp = 6.5,
                                .mean_err_ulp = 0.3,
                                .p50_err_ulp = 0.25,
                                .p99_err_ulp = 2.0,
                                .max_rel = 1e-6,
                                .max_abs = 1e-4,
                                .max_rho = 3.0,
                                .rms_rho = 0.5,
                                .kappa = 12.0,
                                .bound = 514.0,
                                .misrounded = 1000,
                                .histogram_json = "[900000,90000,9000,900,90,9,1]",
                                .worst_index = 77,
                                .worst_json =
                                    "{\"index\":77,\"expected\":\"3f800000\",\"got\":\"3f800007\"}",
                                .reference = "wide f64+f64",
                                .passed = 1};
}

static void put_pair(fill *f, int64_t problem, int64_t revision)
{
    const assay__db_measurement m = measurement(f, problem, revision);
    const assay__db_accuracy a = accuracy(f, problem, revision);
    int64_t id = 0;

    MUST(assay__db_put_measurement(f->db, &m, &id));
    MUST(assay__db_put_accuracy(f->db, &a, &id));
}

static void put_batch(fill *f, int64_t *done, int64_t pairs)
{
    static int64_t problem;

    MUST(assay__db_begin(f->db));
    for (int i = 0; i < BATCH && *done < pairs; i++, ++*done) {
        if (*done % REVISIONS == 0)
            problem = put_problem(f, *done / REVISIONS);
        put_pair(f, problem, f->revisions[*done % REVISIONS]);
    }
    MUST(assay__db_commit(f->db));
}

/* The rate of all, with the quartile range of ROUNDS equal parts: the store grows from part to
 * part, so their scatter is no interval of a constant. */
static void bench_ingest(fill *f, int64_t pairs)
{
    double rates[ROUNDS], begin = now_s();
    int64_t done = 0;

    for (int i = 0; i < ROUNDS; i++) {
        const int64_t first = done, target = pairs * (i + 1) / ROUNDS;
        const double start = now_s();
        while (done < target)
            put_batch(f, &done, target);
        rates[i] = (double)(done - first) / (now_s() - start);
    }
    const double rate = (double)pairs / (now_s() - begin);
    bench_figure all = bench_median(rates, ROUNDS);
    all.value = rate;
    all.lo = rates[ROUNDS / 4];
    all.hi = rates[3 * ROUNDS / 4];
    bench_print("store: ingest of measurement + accuracy", all, "pairs/s", NULL, 0, ">= 30000",
                rate >= 30000);
}

static void put_variant(fill *f, int64_t nth, assay__db_visit *v)
{
    int64_t problem = put_problem(f, 1000000 + nth), id = 0;
    const assay__db_measurement m = measurement(f, problem, f->revisions[0]);
    const assay__db_accuracy a = accuracy(f, problem, f->revisions[0]);

    MUST(assay__db_begin(f->db));
    MUST(assay__db_put_measurement(f->db, &m, &v->measurement));
    for (v->ordinal = 0; v->ordinal < 2; v->ordinal++)
        MUST(assay__db_put_visit(f->db, v, &id));
    MUST(assay__db_put_accuracy(f->db, &a, &id));
    MUST(assay__db_commit(f->db));
}

static void bench_variants(fill *f)
{
    double samples[10], rates[ROUNDS];
    assay__db_visit v = {.kind = "measure",
                         .samples = samples,
                         .sample_count = 10,
                         .inner = 4,
                         .ratio = 0.9,
                         .context_json = "{\"load\":0.1}"};

    strcpy(v.clock.name, "CLOCK_MONOTONIC_RAW");
    for (int i = 0; i < 10; i++)
        samples[i] = 1200.0 + i;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = now_s();
        for (int i = 0; i < STORED / ROUNDS; i++)
            put_variant(f, round * (STORED / ROUNDS) + i, &v);
        rates[round] = STORED / ROUNDS / (now_s() - begin);
    }
    bench_figure rate = bench_median(rates, ROUNDS);
    bench_print("store: one transaction a variant", rate, "variants/s", NULL, 0, ">= 2000",
                rate.value >= 2000);
}

static void put_routes(fill *f)
{
    assay__route_candidate c[CANDIDATES];
    assay__db_route r = {.sweep = f->sweep,
                         .deployment = f->deployment,
                         .winner_revision = f->revisions[0],
                         .layout = "ccc",
                         .policy = "rotate/alone/kernel",
                         .align = 16,
                         .candidates = c,
                         .candidate_count = CANDIDATES,
                         .searched = 50,
                         .total = 50,
                         .stop_reason = "full"};

    memset(c, 0, sizeof c);
    for (int i = 0; i < CANDIDATES; i++)
        c[i].revision_row = (uint64_t)f->revisions[i];
    MUST(assay__db_begin(f->db));
    for (int i = 0; i < ROUTES; i++) {
        r.problem = put_problem(f, i);
        MUST(assay__db_put_route(f->db, &r));
    }
    MUST(assay__db_commit(f->db));
}

static assay_status sum_route(void *cookie, const assay__store_route *r)
{
    *(size_t *)cookie += r->candidate_count + (size_t)(unsigned char)r->problem[0];
    return ASSAY_OK;
}

static void bench_routes(const fill *f, const char *path)
{
    const assay__store_ops *ops = assay__store_sqlite();
    assay__store *store = NULL;
    double took[READS];
    size_t sum = 0;

    for (int i = 0; i < READS; i++) {
        double begin = now_s();
        MUST(ops->open_read(path, &store));
        MUST(ops->each_route(store, f->hex, sum_route, &sum));
        ops->close(store);
        took[i] = sum == 0 ? NAN : (now_s() - begin) * 1e3;
    }
    bench_figure least = bench_least(took, READS);
    bench_print("store: open and read 100000 routes of 8 candidates", least, "ms", NULL, 0,
                "<= 100", least.value <= 100);
}

typedef struct totals {
    int64_t rows, wrong;
    double log_ratio, max_ulp;
} totals;

static assay_status sum_measurement(void *cookie, const assay__report_measurement *m)
{
    totals *t = cookie;

    t->rows++;
    t->log_ratio += log(m->ratio);
    if (m->error != NULL && m->error->max_ulp > t->max_ulp)
        t->max_ulp = m->error->max_ulp;
    t->wrong += m->verdict == ASSAY__VERDICT_WRONG;
    return ASSAY_OK;
}

static double report_pass(const char *path)
{
    const assay__store_ops *ops = assay__store_sqlite();
    assay__store *store = NULL;
    assay__report *report = NULL;
    totals t = {0};
    double begin = now_s();

    MUST(ops->open_read(path, &store));
    MUST(assay__report_open(store, NULL, &report));
    MUST(assay__report_each_measurement(report, sum_measurement, &t));
    assay__report_close(&report);
    ops->close(store);
    return (now_s() - begin) * 1e6 / (double)t.rows;
}

static void bench_report(const char *path)
{
    double seconds[READS];

    for (int i = 0; i < READS; i++)
        seconds[i] = report_pass(path);
    bench_figure f = bench_median(seconds, READS);
    bench_print("store: report pass over 10^6 measurements with errors", f, "s", NULL, 0, "<= 5",
                f.value <= 5);
}

static void remove_store(const char *folder, const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[512];

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        (void)unlink(name);
    }
    (void)rmdir(folder);
}

int main(int argc, char **argv)
{
    const char *root = getenv("TMPDIR");
    char folder[256], path[300];
    fill f = {0};
    int64_t pairs = argc > 1 ? atoll(argv[1]) : 100000;

    snprintf(folder, sizeof folder, "%s/assay-bench-XXXXXX", root == NULL ? "/tmp" : root);
    if (pairs < 1 || mkdtemp(folder) == NULL) {
        fprintf(stderr, "bench_store [PAIRS]: needs a number and a folder to write in\n");
        return EXIT_FAILURE;
    }
    snprintf(path, sizeof path, "%s/bench.db", folder);
    start(&f, path);
    bench_ingest(&f, pairs);
    bench_variants(&f);
    put_routes(&f);
    assay__db_close(&f.db);
    bench_routes(&f, path);
    bench_report(path);
    remove_store(folder, path);
    return EXIT_SUCCESS;
}
