/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_fill.c -- see bench_fill.h. */
#include "cli/bench_fill.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static assay_status put_revisions(assay__bench_fill *f)
{
    char name[24];
    assay__db_kernel k = {.kernel = name,
                          .backend = "bench",
                          .op = "matmul",
                          .dtypes = "f32,f32,f32",
                          .entry_point = "run",
                          .default_rank = 10,
                          .claims = ASSAY_NO_CLAIMS,
                          .tunables = "threads=1,tile=8"};

    for (int i = 0; i < ASSAY__BENCH_REVISIONS; i++) {
        (void)snprintf(name, sizeof name, "kernel_%02d", i);
        k.variant_revision.bytes[0] = (uint8_t)i;
        ASSAY_TRY(assay__db_put_revision(f->db, &k, &f->revisions[i]));
    }
    return ASSAY_OK;
}

assay_status assay__bench_fill_open(const char *path, assay__bench_fill *out)
{
    const assay__db_sweep sweep = {"standard", "{}", "[]", 1};
    assay_deployment d;
    assay_digest digest;

    memset(out, 0, sizeof *out);
    memset(&d, 0, sizeof d);
    (void)snprintf(d.backend, sizeof d.backend, "bench");
    (void)snprintf(d.device, sizeof d.device, "bench");
    assay_deployment_digest(&d, &digest);
    assay_digest_format(&digest, out->deployment_hex);
    ASSAY_TRY(assay__db_open(path, &out->db));
    ASSAY_TRY(assay__db_put_deployment(out->db, &d, NULL, &out->deployment));
    ASSAY_TRY(assay__db_begin_sweep(out->db, &sweep, &out->sweep));
    return put_revisions(out);
}

assay_status assay__bench_fill_problem(const assay__bench_fill *f, int64_t nth, int64_t *out)
{
    assay_problem p;

    ASSAY_TRY(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, &p));
    ASSAY_TRY(assay_problem_set_int(&p, "m", 1 + nth % 1024));
    ASSAY_TRY(assay_problem_set_int(&p, "n", 1 + nth / 1024));
    ASSAY_TRY(assay_problem_set_int(&p, "k", 512));
    return assay__db_put_problem(f->db, &p, out);
}

assay_status assay__bench_fill_measurement(const assay__bench_fill *f, int64_t problem,
                                           int64_t revision, int64_t *out)
{
    const assay__db_measurement m = {.sweep = f->sweep,
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
                                     .ratio_level = 0.95,
                                     .samples = 50,
                                     .visits = 5,
                                     .stop_reason = "interval",
                                     .flags = "",
                                     .output_digest = 0x123456789abcdefu};

    return assay__db_put_measurement(f->db, &m, out);
}

assay_status assay__bench_fill_accuracy(const assay__bench_fill *f, int64_t problem,
                                        int64_t revision)
{
    const assay__db_accuracy a = {.sweep = f->sweep,
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
                                  .worst_json = "{\"index\":77,\"expected\":\"3f800000\","
                                                "\"got\":\"3f800007\"}",
                                  .reference = "wide f64+f64",
                                  .passed = 1};
    int64_t id = 0;

    return assay__db_put_accuracy(f->db, &a, &id);
}

void assay__bench_fill_remove(const char *folder, const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[4200];

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        (void)snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        (void)unlink(name);
    }
    (void)rmdir(folder);
}
