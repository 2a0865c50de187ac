/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/store_fixture.c -- a folder of its own and a small filled store for tests. */
#include "tests/support/store_fixture.h"

#include <check.h>
#include <ftw.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

void store_folder_make(char out[256])
{
    const char *root = getenv("TMPDIR");

    snprintf(out, 256, "%s/assay-store-XXXXXX", root == NULL ? "/tmp" : root);
    ck_assert_ptr_nonnull(mkdtemp(out));
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

void store_folder_remove(const char *folder)
{
    ck_assert_int_eq(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

const char *store_path(const char *folder, const char *name)
{
    static char paths[4][1024];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static assay_deployment make_deployment(void)
{
    assay_deployment d;

    memset(&d, 0, sizeof d);
    strcpy(d.backend, "cpu");
    strcpy(d.device, "Test CPU");
    strcpy(d.architecture, "x86_64");
    strcpy(d.cpu_model, "Test CPU");
    strcpy(d.isa, "avx2 f16c fma");
    strcpy(d.os_class, "linux 6");
    d.usable_cpus = 2;
    d.numa_nodes = 1;
    return d;
}

void store_variant_digest(int kernel, int v, assay_digest *out)
{
    memset(out, 0, sizeof *out);
    out->bytes[0] = (uint8_t)kernel;
    out->bytes[1] = (uint8_t)(v >> 8);
    out->bytes[2] = (uint8_t)v;
    out->bytes[31] = 7;
}

int64_t store_put_revision(assay__db *db, int kernel, int v)
{
    char name[16], tunables[32];
    int64_t id = 0;
    assay__db_kernel k = {.kernel = name,
                          .backend = "cpu",
                          .op = "matmul",
                          .dtypes = "f32,f32,f32",
                          .entry_point = "kernel_run",
                          .default_rank = 10,
                          .claims = ASSAY_NO_CLAIMS,
                          .tunables = tunables,
                          .libraries = "",
                          .compiler = "gcc"};

    snprintf(name, sizeof name, "k%d", kernel);
    snprintf(tunables, sizeof tunables, "tile=%d", v);
    store_variant_digest(kernel, v, &k.variant_revision);
    store_variant_digest(kernel, 999, &k.kernel_revision);
    ck_assert_int_eq(assay__db_put_revision(db, &k, &id), ASSAY_OK);
    return id;
}

int64_t store_put_problem(assay__db *db, int64_t size)
{
    assay_problem p;
    int64_t id = 0;

    ck_assert_int_eq(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, &p), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "m", size), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "n", size), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "k", size), ASSAY_OK);
    ck_assert_int_eq(assay__db_put_problem(db, &p, &id), ASSAY_OK);
    return id;
}

void store_rows_put(assay__db *db, store_rows *out)
{
    const assay_deployment d = make_deployment();
    const assay__db_sweep s = {"quick", "{}", "[\"sweep\"]", UINT64_MAX};
    assay_digest digest;

    ck_assert_int_eq(assay__db_put_deployment(db, &d, NULL, &out->deployment), ASSAY_OK);
    ck_assert_int_eq(assay__db_begin_sweep(db, &s, &out->sweep), ASSAY_OK);
    out->revision = store_put_revision(db, 1, 1);
    out->problem = store_put_problem(db, 64);
    assay_deployment_digest(&d, &digest);
    assay_digest_format(&digest, out->deployment_hex);
}

assay__db_measurement store_measurement(const store_rows *rows)
{
    return (assay__db_measurement){.sweep = rows->sweep,
                                   .revision = rows->revision,
                                   .deployment = rows->deployment,
                                   .problem = rows->problem,
                                   .layout = "ccc",
                                   .policy = "rotate/alone/kernel",
                                   .align = 16,
                                   .verdict = ASSAY__VERDICT_OK,
                                   .reason = "",
                                   .median_ns = 100.5,
                                   .lo_ns = 99.0,
                                   .hi_ns = 102.0,
                                   .min_ns = 98.0,
                                   .mad_ns = 0.5,
                                   .ratio = (double)NAN,
                                   .ratio_lo = (double)NAN,
                                   .ratio_hi = (double)NAN,
                                   .samples = 50,
                                   .visits = 5,
                                   .stop_reason = "interval",
                                   .flags = "",
                                   .output_digest = 0xfedcba9876543210u};
}

assay__db_accuracy store_accuracy(const store_rows *rows)
{
    return (assay__db_accuracy){.sweep = rows->sweep,
                                .revision = rows->revision,
                                .deployment = rows->deployment,
                                .problem = rows->problem,
                                .stratum = "all",
                                .seed = 42,
                                .proof = ASSAY_PROOF_SAMPLED,
                                .elements = 4096,
                                .max_ulp = 3.0,
                                .max_err_ulp = 2.75,
                                .mean_err_ulp = 0.25,
                                .p50_err_ulp = 0.125,
                                .p99_err_ulp = 1.5,
                                .max_rel = 1e-6,
                                .max_abs = 1e-5,
                                .max_rho = 0.5,
                                .rms_rho = 0.0625,
                                .kappa = (double)NAN,
                                .bound = 66.0,
                                .histogram_json = "[4000,96]",
                                .worst_index = 17,
                                .worst_json = "{\"got\":\"3f800000\"}",
                                .reference = "wide f64+f64",
                                .passed = 1};
}

assay__db_visit store_visit(int64_t measurement, const double *samples, size_t count)
{
    assay__db_visit v = {.measurement = measurement,
                         .kind = "measure",
                         .samples = samples,
                         .sample_count = count,
                         .inner = 8,
                         .ratio = (double)NAN,
                         .context_json = "{}"};

    strcpy(v.clock.name, "CLOCK_MONOTONIC_RAW");
    v.clock.resolution_ns = 1.0;
    v.clock.overhead_ns = 20.0;
    v.clock.quality = ASSAY_TIMING_ENQUEUE_WAIT;
    return v;
}

assay__db_route store_route(const store_rows *rows, const assay__route_candidate *candidates,
                            size_t count)
{
    return (assay__db_route){.sweep = rows->sweep,
                             .deployment = rows->deployment,
                             .problem = rows->problem,
                             .winner_revision = rows->revision,
                             .layout = "ccc",
                             .policy = "rotate/alone/kernel",
                             .align = 16,
                             .candidates = candidates,
                             .candidate_count = count,
                             .searched = (int64_t)count,
                             .total = 12,
                             .stop_reason = "full"};
}

assay__route_candidate store_candidate(int64_t revision, double time_ns)
{
    assay__route_candidate c;

    memset(&c, 0, sizeof c);
    c.revision_row = (uint64_t)revision;
    c.time_ns = time_ns;
    c.ratio = c.ratio_lo = c.ratio_hi = (double)NAN;
    c.verdict = ASSAY__VERDICT_OK;
    return c;
}

uint64_t store_file_digest(const char *path)
{
    FILE *file = fopen(path, "rb");
    char block[4096];
    size_t got;

    if (file == NULL)
        return 0;
    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        XXH3_64bits_update(state, block, got);
    fclose(file);
    uint64_t digest = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return digest;
}

int64_t store_sql_int(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(db));
    ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return value;
}

void store_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(db));
    sqlite3_close(db);
}
