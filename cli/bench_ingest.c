/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_ingest.c -- `assay bench`: what merge and import do, into a store that is thrown away.
 *
 * A pair is a measurement and its accuracy. A round is ROUND pairs in transactions of BATCH, into
 * a store that grows from round to round; a sample is the rate of a round. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench_rows.h"
#include "db/db_write.h"
#include "runtime/error.h"

#define ROUNDS    12
#define ROUND     2000
#define BATCH     1000
#define REVISIONS 50

typedef struct ingest {
    assay__db *db;
    int64_t deployment, sweep, problem;
    int64_t revisions[REVISIONS];
    int64_t pairs; /* so far */
} ingest;

static assay_status put_revisions(ingest *f)
{
    char name[16];
    assay__db_kernel k = {.kernel = name,
                          .backend = "bench",
                          .op = "matmul",
                          .dtypes = "f32,f32,f32",
                          .entry_point = "run",
                          .default_rank = 10,
                          .claims = ASSAY_NO_CLAIMS,
                          .tunables = "threads=1,tile=8"};

    for (int i = 0; i < REVISIONS; i++) {
        (void)snprintf(name, sizeof name, "kernel_%02d", i);
        k.variant_revision.bytes[0] = (uint8_t)i;
        ASSAY_TRY(assay__db_put_revision(f->db, &k, &f->revisions[i]));
    }
    return ASSAY_OK;
}

static assay_status begin(ingest *f, const char *path)
{
    const assay__db_sweep sweep = {"standard", "{}", "[]", 1};
    assay_deployment d;

    memset(&d, 0, sizeof d);
    (void)snprintf(d.backend, sizeof d.backend, "bench");
    (void)snprintf(d.device, sizeof d.device, "bench");
    ASSAY_TRY(assay__db_open(path, &f->db));
    ASSAY_TRY(assay__db_put_deployment(f->db, &d, NULL, &f->deployment));
    ASSAY_TRY(assay__db_begin_sweep(f->db, &sweep, &f->sweep));
    return put_revisions(f);
}

static assay_status put_problem(ingest *f)
{
    const int64_t nth = f->pairs / REVISIONS;
    assay_problem p;

    ASSAY_TRY(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, &p));
    ASSAY_TRY(assay_problem_set_int(&p, "m", 1 + nth % 1024));
    ASSAY_TRY(assay_problem_set_int(&p, "n", 1 + nth / 1024));
    ASSAY_TRY(assay_problem_set_int(&p, "k", 512));
    return assay__db_put_problem(f->db, &p, &f->problem);
}

/* Figures of no kernel: only their number and width matter. */
static assay_status put_pair(ingest *f)
{
    const int64_t revision = f->revisions[f->pairs % REVISIONS];
    const assay__db_measurement m = {.sweep = f->sweep,
                                     .revision = revision,
                                     .deployment = f->deployment,
                                     .problem = f->problem,
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
    const assay__db_accuracy a = {.sweep = f->sweep,
                                  .revision = revision,
                                  .deployment = f->deployment,
                                  .problem = f->problem,
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
                                  .worst_json = "{\"index\":77,\"got\":\"3f800007\"}",
                                  .reference = "wide f64+f64",
                                  .passed = 1};
    int64_t id = 0;

    ASSAY_TRY(assay__db_put_measurement(f->db, &m, &id));
    return assay__db_put_accuracy(f->db, &a, &id);
}

static assay_status put_round(ingest *f)
{
    for (int i = 0; i < ROUND; i++, f->pairs++) {
        if (i % BATCH == 0)
            ASSAY_TRY(assay__db_begin(f->db));
        if (f->pairs % REVISIONS == 0)
            ASSAY_TRY(put_problem(f));
        ASSAY_TRY(put_pair(f));
        if (i % BATCH == BATCH - 1)
            ASSAY_TRY(assay__db_commit(f->db));
    }
    return ASSAY_OK;
}

static assay_status take_rounds(const char *path, double *rates)
{
    ingest f = {0};
    assay_status status = begin(&f, path);

    for (int i = 0; status == ASSAY_OK && i < ROUNDS; i++) {
        const double start = assay__bench_now_ns();
        status = put_round(&f);
        rates[i] = ROUND * 1e9 / (assay__bench_now_ns() - start);
    }
    assay__db_close(&f.db);
    return status;
}

static void remove_store(const char *folder, const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[4200];

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        (void)snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        (void)unlink(name);
    }
    (void)rmdir(folder);
}

assay_status assay__bench_ingest(const assay__bench_options *o, assay__bench_rows *r)
{
    const char *root = getenv("TMPDIR");
    char folder[4000], path[4100];
    double rates[ROUNDS];
    assay__bench_row *row = NULL;
    assay_status status;

    (void)o;
    (void)snprintf(folder, sizeof folder, "%s/assay-bench-XXXXXX",
                   root == NULL || root[0] == '\0' ? "/tmp" : root);
    if (mkdtemp(folder) == NULL)
        return assay__fail(ASSAY_IO, "cannot make the folder %s: %s; set TMPDIR", folder,
                           strerror(errno));
    (void)snprintf(path, sizeof path, "%s/bench.db", folder);
    status = take_rounds(path, rates);
    remove_store(folder, path);
    if (status != ASSAY_OK)
        return status;
    ASSAY_TRY(assay__bench_add_median(r, "ingest, measurement + accuracy", "pairs/s", rates, ROUNDS,
                                      &row));
    row->floor = 30000.0;
    return ASSAY_OK;
}
