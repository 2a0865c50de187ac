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
#include "cli/bench_fill.h"
#include "db/read_report.h"

#define BATCH      1000
#define REVISIONS  ASSAY__BENCH_REVISIONS
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

static void put_batch(const assay__bench_fill *f, int64_t *done, int64_t pairs)
{
    static int64_t problem;
    int64_t id = 0;

    MUST(assay__db_begin(f->db));
    for (int i = 0; i < BATCH && *done < pairs; i++, ++*done) {
        const int64_t revision = f->revisions[*done % REVISIONS];
        if (*done % REVISIONS == 0)
            MUST(assay__bench_fill_problem(f, *done / REVISIONS, &problem));
        MUST(assay__bench_fill_measurement(f, problem, revision, &id));
        MUST(assay__bench_fill_accuracy(f, problem, revision));
    }
    MUST(assay__db_commit(f->db));
}

/* The rate of all, with the quartile range of ROUNDS equal parts: the store grows from part to
 * part, so their scatter is no interval of a constant. */
static void bench_ingest(const assay__bench_fill *f, int64_t pairs)
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

static void put_variant(const assay__bench_fill *f, int64_t nth, assay__db_visit *v)
{
    int64_t problem = 0, id = 0;

    MUST(assay__bench_fill_problem(f, 1000000 + nth, &problem));
    MUST(assay__db_begin(f->db));
    MUST(assay__bench_fill_measurement(f, problem, f->revisions[0], &v->measurement));
    for (v->ordinal = 0; v->ordinal < 2; v->ordinal++)
        MUST(assay__db_put_visit(f->db, v, &id));
    MUST(assay__bench_fill_accuracy(f, problem, f->revisions[0]));
    MUST(assay__db_commit(f->db));
}

static void bench_variants(const assay__bench_fill *f)
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

static void put_routes(const assay__bench_fill *f)
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
        MUST(assay__bench_fill_problem(f, i, &r.problem));
        MUST(assay__db_put_route(f->db, &r));
    }
    MUST(assay__db_commit(f->db));
}

static assay_status sum_route(void *cookie, const assay__store_route *r)
{
    *(size_t *)cookie += r->candidate_count + (size_t)(unsigned char)r->problem[0];
    return ASSAY_OK;
}

static void bench_routes(const assay__bench_fill *f, const char *path)
{
    const assay__store_ops *ops = assay__store_sqlite();
    assay__store *store = NULL;
    double took[READS];
    size_t sum = 0;

    for (int i = 0; i < READS; i++) {
        double begin = now_s();
        MUST(ops->open_read(path, &store));
        MUST(ops->each_route(store, f->deployment_hex, sum_route, &sum));
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

int main(int argc, char **argv)
{
    const char *root = getenv("TMPDIR");
    char folder[256], path[300];
    assay__bench_fill f;
    int64_t pairs = argc > 1 ? atoll(argv[1]) : 100000;

    snprintf(folder, sizeof folder, "%s/assay-bench-XXXXXX", root == NULL ? "/tmp" : root);
    if (pairs < 1 || mkdtemp(folder) == NULL) {
        fprintf(stderr, "bench_store [PAIRS]: needs a number and a folder to write in\n");
        return EXIT_FAILURE;
    }
    snprintf(path, sizeof path, "%s/bench.db", folder);
    MUST(assay__bench_fill_open(path, &f));
    bench_ingest(&f, pairs);
    bench_variants(&f);
    put_routes(&f);
    assay__db_close(&f.db);
    bench_routes(&f, path);
    bench_report(path);
    assay__bench_fill_remove(folder, path);
    return EXIT_SUCCESS;
}
