/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_store_write.c -- what is put comes back, batches, and what the picker reads. */
#include <check.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/write.h"
#include "tests/support/store_fixture.h"

static char folder[256];
static const char *path;
static const assay__store_ops *ops;
static assay__db *db;
static store_rows rows;

static void setup(void)
{
    store_folder_make(folder);
    path = strdup(store_path(folder, "s.db"));
    ops = assay__store_sqlite();
    ck_assert_msg(assay__db_open(path, &db) == ASSAY_OK, "%s", assay_last_error());
    store_rows_put(db, &rows);
}

static void teardown(void)
{
    assay__db_close(&db);
    store_folder_remove(folder);
}

static int64_t put_measurement(const assay__db_measurement *m)
{
    int64_t id = 0;

    ck_assert_msg(assay__db_put_measurement(db, m, &id) == ASSAY_OK, "%s", assay_last_error());
    return id;
}

/* ---- rows ------------------------------------------------------------------------------------ */

START_TEST(upserts_find_the_same_row)
{
    store_rows again;

    store_rows_put(db, &again);
    ck_assert_int_eq(again.deployment, rows.deployment);
    ck_assert_int_eq(again.revision, rows.revision);
    ck_assert_int_eq(again.problem, rows.problem);
    ck_assert_int_ne(again.sweep, rows.sweep);
    ck_assert_int_ne(store_put_revision(db, 1, 2), rows.revision);
    ck_assert_int_ne(store_put_problem(db, 65), rows.problem);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM kernel"), 1);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM claim"), 1);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM claim WHERE max_ulp IS NULL"), 1);
    ck_assert_int_eq(store_sql_int(path, "SELECT seed FROM sweep"), -1);
    ck_assert_int_eq(store_sql_int(path, "SELECT flops = 2.0 * 64 * 64 * 64 FROM problem"), 1);
    ck_assert_int_eq(store_sql_int(path, "SELECT dtypes = 'f32,f32,f32' FROM problem"), 1);
}
END_TEST

START_TEST(use_is_kept_by_set_and_row)
{
    assay__db_use u = {.sweep = rows.sweep,
                       .problem = rows.problem,
                       .shape_set = "bert",
                       .row_name = "qkv",
                       .source = "its configuration",
                       .run_count = 12};

    ck_assert_int_eq(assay__db_put_use(db, &u), ASSAY_OK);
    u.run_count = 24;
    ck_assert_int_eq(assay__db_put_use(db, &u), ASSAY_OK);
    u = (assay__db_use){.sweep = rows.sweep, .problem = rows.problem, .run_count = 1};
    ck_assert_int_eq(assay__db_put_use(db, &u), ASSAY_OK);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM sweep_problem"), 2);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM sweep_problem WHERE run_count = 24"
                                         " AND shape_set = 'bert' AND row_name = 'qkv'"
                                         " AND source = 'its configuration'"),
                     1);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM sweep_problem WHERE shape_set = ''"),
                     1);
    u.run_count = -1;
    ck_assert_int_ne(assay__db_put_use(db, &u), ASSAY_OK);
    u.run_count = (double)NAN;
    ck_assert_int_ne(assay__db_put_use(db, &u), ASSAY_OK);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM sweep_problem"), 2);
}
END_TEST

START_TEST(kernel_change_keeps_its_row)
{
    assay__db_kernel k = {.kernel = "k1",
                          .backend = "cpu",
                          .op = "matmul",
                          .dtypes = "f32,f32,f32",
                          .entry_point = "other",
                          .default_rank = 20,
                          .claims = ASSAY_NO_CLAIMS};
    int64_t id = 0;

    k.claims.max_ulp = 0.0;
    k.claims_digest.bytes[0] = 9;
    store_variant_digest(1, 1, &k.variant_revision);
    ck_assert_int_eq(assay__db_put_revision(db, &k, &id), ASSAY_OK);
    ck_assert_int_eq(id, rows.revision);
    ck_assert_int_eq(store_sql_int(path, "SELECT default_rank FROM kernel"), 20);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM claim"), 2);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM claim WHERE max_ulp = 0.0"), 1);
}
END_TEST

START_TEST(label_is_set_and_kept)
{
    assay_deployment d;
    int64_t id = 0;

    memset(&d, 0, sizeof d);
    strcpy(d.backend, "cuda");
    d.has_fingerprint = 1;
    ck_assert_int_eq(assay__db_put_deployment(db, &d, "rack 7", &id), ASSAY_OK);
    ck_assert_int_ne(id, rows.deployment);
    ck_assert_int_eq(assay__db_put_deployment(db, &d, NULL, &id), ASSAY_OK);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM deployment WHERE label = 'rack 7'"
                                         " AND fingerprint IS NOT NULL"),
                     1);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM deployment WHERE label IS NULL"
                                         " AND fingerprint IS NULL"),
                     1);
}
END_TEST

START_TEST(measurement_comes_back_whole)
{
    assay__db_measurement m = store_measurement(&rows), got;
    int64_t id = 0, found_id = 0;
    int found = 0;

    m.workspace_bytes = 4096;
    m.flags = "bimodal drift";
    m.verdict = ASSAY__VERDICT_NOISY;
    m.reason = "wide";
    m.ratio = 0.75;
    id = put_measurement(&m);
    ck_assert_int_eq(assay__db_find_measurement(db, rows.revision, rows.deployment, rows.problem,
                                                "ccc", 16, "rotate/alone/kernel", &found, &got,
                                                &found_id),
                     ASSAY_OK);
    ck_assert_int_eq(found, 1);
    ck_assert_int_eq(found_id, id);
    ck_assert_int_eq(got.verdict, ASSAY__VERDICT_NOISY);
    ck_assert_str_eq(got.reason, "wide");
    ck_assert_str_eq(got.flags, "bimodal drift");
    ck_assert_str_eq(got.stop_reason, "interval");
    ck_assert_double_eq(got.median_ns, 100.5);
    ck_assert_double_eq(got.lo_ns, 99.0);
    ck_assert_double_eq(got.hi_ns, 102.0);
    ck_assert_double_eq(got.min_ns, 98.0);
    ck_assert_double_eq(got.mad_ns, 0.5);
    ck_assert_double_eq(got.ratio, 0.75);
    ck_assert_double_nan(got.ratio_lo);
    ck_assert_double_nan(got.ratio_hi);
    ck_assert_double_nan(got.ratio_level);
    ck_assert_int_eq(got.samples, 50);
    ck_assert_int_eq(got.visits, 5);
    ck_assert_uint_eq(got.workspace_bytes, 4096);
    ck_assert_uint_eq(got.output_digest, 0xfedcba9876543210u);
    ck_assert_int_eq(got.sweep, rows.sweep);
}
END_TEST

START_TEST(measurement_key_tells_questions_apart)
{
    assay__db_measurement m = store_measurement(&rows);
    int64_t first = put_measurement(&m);
    int found = 1;

    m.median_ns = 90.0;
    ck_assert_int_eq(put_measurement(&m), first);
    m.align = 64;
    ck_assert_int_ne(put_measurement(&m), first);
    m.align = 16;
    m.layout = "csc";
    ck_assert_int_ne(put_measurement(&m), first);
    m.layout = "ccc";
    m.policy = "hot/alone/kernel";
    ck_assert_int_ne(put_measurement(&m), first);
    m = store_measurement(&rows);
    m.median_ns = 90.0;
    ck_assert_int_eq(put_measurement(&m), first);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM measurement"), 4);
    ck_assert_int_eq(store_sql_int(path, "SELECT median_ns = 90.0 FROM measurement WHERE id = 1"),
                     1);
    ck_assert_int_eq(assay__db_find_measurement(db, rows.revision, rows.deployment, rows.problem,
                                                "ccc", 0, "rotate/alone/kernel", &found, NULL,
                                                NULL),
                     ASSAY_OK);
    ck_assert_int_eq(found, 0);
}
END_TEST

START_TEST(unknown_is_null_and_never_zero)
{
    assay__db_measurement m = store_measurement(&rows);

    m.median_ns = m.lo_ns = m.hi_ns = m.min_ns = m.mad_ns = (double)NAN;
    m.verdict = ASSAY__VERDICT_CRASHED;
    m.reason = "SIGSEGV";
    m.output_digest = 0;
    put_measurement(&m);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM measurement WHERE median_ns IS NULL"
                                         " AND mad_ns IS NULL AND ratio IS NULL AND"
                                         " output_digest IS NULL AND verdict = 'crashed'"),
                     1);
}
END_TEST

START_TEST(broken_values_are_refused)
{
    assay__db_measurement m = store_measurement(&rows);
    int64_t id = 77;

    m.align = 17;
    ck_assert_int_eq(assay__db_put_measurement(db, &m, &id), ASSAY_INVALID);
    m = store_measurement(&rows);
    m.verdict = (assay__verdict)99;
    ck_assert_int_eq(assay__db_put_measurement(db, &m, &id), ASSAY_INVALID);
    m = store_measurement(&rows);
    m.revision = 12345;
    ck_assert_int_eq(assay__db_put_measurement(db, &m, &id), ASSAY_INVALID);
    m = store_measurement(&rows);
    m.median_ns = -1.0;
    ck_assert_int_eq(assay__db_put_measurement(db, &m, &id), ASSAY_INVALID);
    ck_assert_int_eq(id, 77);
    ck_assert_int_eq(assay__db_end_sweep(db, 4711, "x", (double)NAN), ASSAY_NOTFOUND);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM measurement"), 0);
}
END_TEST

START_TEST(visits_keep_samples_and_history)
{
    const double samples[] = {1.5, 2.25, 1e9};
    assay__db_measurement m = store_measurement(&rows);
    int64_t measurement = put_measurement(&m), first = 0, second = 0;
    assay__db_visit v = store_visit(measurement, samples, 3);

    ck_assert_int_eq(assay__db_put_visit(db, &v, &first), ASSAY_OK);
    v.ordinal = 1;
    v.kind = "confirm";
    v.baseline_visit = first;
    v.ratio = 0.5;
    v.sample_count = 0;
    ck_assert_int_eq(assay__db_put_visit(db, &v, &second), ASSAY_OK);
    ck_assert_int_ne(first, second);
    /* Little-endian binary64 of 1.5, then 2.25. */
    ck_assert_int_eq(store_sql_int(path,
                                   "SELECT hex(substr(samples, 1, 16)) ="
                                   " '000000000000F83F0000000000000240' FROM visit WHERE id = 1"),
                     1);
    put_measurement(&m);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM visit WHERE measurement = 1"), 2);
    ck_assert_int_eq(store_sql_int(path, "SELECT baseline_visit FROM visit WHERE id = 2"), first);
    ck_assert_int_eq(store_sql_int(path, "SELECT sweep FROM visit WHERE id = 2"), rows.sweep);
    v.kind = "other";
    ck_assert_int_eq(assay__db_put_visit(db, &v, &second), ASSAY_INVALID);
}
END_TEST

START_TEST(accuracy_comes_back_whole)
{
    assay__db_accuracy a = store_accuracy(&rows), got;
    int64_t id = 0, found_id = 0;
    int found = 0;

    a.misrounded = 1;
    a.nan_mismatch = 2;
    a.inf_mismatch = 3;
    a.zero_sign_mismatch = 4;
    a.flushed = 5;
    a.seed = UINT64_MAX - 1;
    a.output_digest = 0x10;
    ck_assert_int_eq(assay__db_put_accuracy(db, &a, &id), ASSAY_OK);
    ck_assert_int_eq(assay__db_find_accuracy(db, rows.revision, rows.deployment, rows.problem,
                                             &found, &got, &found_id),
                     ASSAY_OK);
    ck_assert_int_eq(found, 1);
    ck_assert_int_eq(found_id, id);
    ck_assert_uint_eq(got.seed, UINT64_MAX - 1);
    ck_assert_int_eq(got.proof, ASSAY_PROOF_SAMPLED);
    ck_assert_int_eq(got.elements, 4096);
    ck_assert_double_eq(got.max_ulp, 3.0);
    ck_assert_double_eq(got.max_err_ulp, 2.75);
    ck_assert_double_eq(got.mean_err_ulp, 0.25);
    ck_assert_double_eq(got.p50_err_ulp, 0.125);
    ck_assert_double_eq(got.p99_err_ulp, 1.5);
    ck_assert_double_eq(got.max_rel, 1e-6);
    ck_assert_double_eq(got.max_abs, 1e-5);
    ck_assert_double_eq(got.max_rho, 0.5);
    ck_assert_double_eq(got.rms_rho, 0.0625);
    ck_assert_double_nan(got.kappa);
    ck_assert_double_eq(got.bound, 66.0);
    ck_assert_int_eq(got.misrounded, 1);
    ck_assert_int_eq(got.nan_mismatch, 2);
    ck_assert_int_eq(got.inf_mismatch, 3);
    ck_assert_int_eq(got.zero_sign_mismatch, 4);
    ck_assert_int_eq(got.flushed, 5);
    ck_assert_str_eq(got.histogram_json, "[4000,96]");
    ck_assert_int_eq(got.worst_index, 17);
    ck_assert_str_eq(got.worst_json, "{\"got\":\"3f800000\"}");
    ck_assert_str_eq(got.reference, "wide f64+f64");
    ck_assert_uint_eq(got.output_digest, 0x10);
    ck_assert_int_eq(got.passed, 1);
}
END_TEST

static int64_t id_of(const assay__db_accuracy *a)
{
    int64_t id = 0;

    ck_assert_int_eq(assay__db_put_accuracy(db, a, &id), ASSAY_OK);
    return id;
}

START_TEST(accuracy_failure_outweighs_what_passed)
{
    assay__db_accuracy a = store_accuracy(&rows), got;
    int64_t id = 0;
    int found = 0;

    a.stratum = "normal";
    a.passed = 0;
    a.worst_index = -1;
    ck_assert_int_eq(assay__db_put_accuracy(db, &a, &id), ASSAY_OK);
    a = store_accuracy(&rows);
    ck_assert_int_eq(assay__db_put_accuracy(db, &a, &id), ASSAY_OK);
    ck_assert_int_eq(assay__db_find_accuracy(db, rows.revision, rows.deployment, rows.problem,
                                             &found, &got, &id),
                     ASSAY_OK);
    ck_assert_str_eq(got.stratum, "normal");
    ck_assert_int_eq(got.worst_index, -1);
    /* The same input set again replaces its row; then the union leads. */
    a.stratum = "normal";
    ck_assert_int_eq(assay__db_put_accuracy(db, &a, &id), ASSAY_OK);
    ck_assert_int_eq(assay__db_find_accuracy(db, rows.revision, rows.deployment, rows.problem,
                                             &found, &got, &id),
                     ASSAY_OK);
    ck_assert_str_eq(got.stratum, "all");
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM accuracy"), 2);
    ck_assert_int_eq(store_sql_int(path, "SELECT id FROM accuracy WHERE stratum = 'normal'"),
                     id_of(&a));
}
END_TEST

START_TEST(stability_and_quarantine_are_found)
{
    int found = 1;
    assay_stability level = ASSAY_STABILITY_ABSENT;
    char reason[64] = "";

    ck_assert_int_eq(
        assay__db_find_stability(db, rows.revision, rows.deployment, rows.problem, &found, &level),
        ASSAY_OK);
    ck_assert_int_eq(found, 0);
    ck_assert_int_eq(assay__db_put_stability(db, rows.revision, rows.deployment, rows.problem,
                                             ASSAY_STABILITY_MACHINE, "{}"),
                     ASSAY_OK);
    ck_assert_int_eq(
        assay__db_find_stability(db, rows.revision, rows.deployment, rows.problem, &found, &level),
        ASSAY_OK);
    ck_assert_int_eq(level, ASSAY_STABILITY_MACHINE);

    ck_assert_int_eq(
        assay__db_put_quarantine(db, rows.revision, rows.deployment, rows.problem, "SIGSEGV"),
        ASSAY_OK);
    int64_t other = store_put_problem(db, 99);
    ck_assert_int_eq(assay__db_find_quarantine(db, rows.revision, rows.deployment, other, &found,
                                               reason, sizeof reason),
                     ASSAY_OK);
    ck_assert_int_eq(found, 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(
            assay__db_put_quarantine(db, rows.revision, rows.deployment, 0, "wrong on all"),
            ASSAY_OK);
    ck_assert_int_eq(assay__db_find_quarantine(db, rows.revision, rows.deployment, other, &found,
                                               reason, sizeof reason),
                     ASSAY_OK);
    ck_assert_int_eq(found, 1);
    ck_assert_str_eq(reason, "wrong on all");
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM quarantine"), 2);
    ck_assert_int_eq(assay__db_lift_quarantine(db, rows.revision, rows.deployment, 0), ASSAY_OK);
    ck_assert_int_eq(store_sql_int(path, "SELECT problem FROM quarantine"), rows.problem);
}
END_TEST

static void put_fate(int64_t problem, assay__verdict verdict)
{
    assay__db_measurement m = store_measurement(&rows);

    m.problem = problem;
    m.verdict = verdict;
    put_measurement(&m);
    if (verdict != ASSAY__VERDICT_OK)
        ck_assert_int_eq(
            assay__db_put_quarantine(db, rows.revision, rows.deployment, problem, "by hand"),
            ASSAY_OK);
}

static void check_failures(int64_t failed, int succeeded)
{
    int64_t seen_failed = -1;
    int seen_succeeded = -1;

    ck_assert_int_eq(
        assay__db_count_failures(db, rows.revision, rows.deployment, &seen_failed, &seen_succeeded),
        ASSAY_OK);
    ck_assert_int_eq(seen_failed, failed);
    ck_assert_int_eq(seen_succeeded, succeeded);
}

/* Of problems where it crashed or hung; where it was wrong it ran. */
START_TEST(failures_of_a_variant_are_counted)
{
    check_failures(0, 0);
    put_fate(store_put_problem(db, 91), ASSAY__VERDICT_CRASHED);
    put_fate(store_put_problem(db, 92), ASSAY__VERDICT_TIMEOUT);
    put_fate(store_put_problem(db, 93), ASSAY__VERDICT_WRONG);
    check_failures(2, 0);
    put_fate(rows.problem, ASSAY__VERDICT_OK);
    check_failures(2, 1);
}
END_TEST

/* ---- batches --------------------------------------------------------------------------------- */

START_TEST(batch_is_all_or_nothing)
{
    assay__db_measurement m = store_measurement(&rows);

    ck_assert_int_eq(assay__db_begin(db), ASSAY_OK);
    ck_assert_int_eq(assay__db_begin(db), ASSAY_INTERNAL);
    put_measurement(&m);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM measurement"), 0);
    assay__db_rollback(db);
    ck_assert_int_eq(assay__db_commit(db), ASSAY_INTERNAL);
    ck_assert_int_eq(assay__db_begin(db), ASSAY_OK);
    put_measurement(&m);
    m.align = 64;
    put_measurement(&m);
    ck_assert_int_eq(assay__db_commit(db), ASSAY_OK);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM measurement"), 2);
}
END_TEST

/* After a full disk SQLite may roll back by itself; what follows must not be stored piecemeal. */
START_TEST(batch_that_sqlite_rolled_back_takes_nothing_more)
{
    const assay__db_measurement m = store_measurement(&rows);
    int64_t id = 0;

    ck_assert_int_eq(assay__db_begin(db), ASSAY_OK);
    (void)put_measurement(&m);
    ck_assert_int_eq(sqlite3_exec(db->handle.sql, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(assay__db_put_measurement(db, &m, &id), ASSAY_DB);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "rolled back by an earlier failure"));
    ck_assert_int_eq(assay__db_commit(db), ASSAY_DB);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "rolled back by an earlier failure"));
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM measurement"), 0);
    ck_assert_int_eq(assay__db_put_measurement(db, &m, &id), ASSAY_OK);
}
END_TEST

START_TEST(close_drops_an_open_batch)
{
    assay__db_measurement m = store_measurement(&rows);

    ck_assert_int_eq(assay__db_begin(db), ASSAY_OK);
    put_measurement(&m);
    assay__db_close(&db);
    ck_assert_ptr_null(db);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM measurement"), 0);
}
END_TEST

/* ---- what the picker reads ------------------------------------------------------------------- */

typedef struct seen {
    size_t count;
    assay__store_revision revision;
    assay__store_route route;
    assay__route_candidate candidate;
    char text[256];
} seen;

static assay_status see_revision(void *cookie, const assay__store_revision *r)
{
    seen *s = cookie;

    s->count++;
    s->revision = *r;
    snprintf(s->text, sizeof s->text, "%s|%s|%s|%s|%s", r->kernel, r->backend, r->op, r->dtypes,
             r->tunables);
    return ASSAY_OK;
}

static assay_status see_route(void *cookie, const assay__store_route *r)
{
    seen *s = cookie;

    s->count++;
    s->route = *r;
    ck_assert_uint_eq((uintptr_t)r->candidates % 8, 0);
    if (r->candidate_count > 0)
        memcpy(&s->candidate, r->candidates, sizeof s->candidate);
    snprintf(s->text, sizeof s->text, "%s|%s|%s|%s", r->problem, r->layout, r->policy,
             r->stop_reason);
    return ASSAY_OK;
}

static assay_status see_quarantine(void *cookie, const assay__store_quarantine *q)
{
    seen *s = cookie;

    s->count++;
    snprintf(s->text, sizeof s->text, "%d|%s|%s|%d", q->variant.bytes[31], q->problem, q->reason,
             (int)q->verdict);
    return ASSAY_OK;
}

static assay_status refuse_route(void *cookie, const assay__store_route *r)
{
    seen *s = cookie;

    (void)r;
    s->count++;
    return ASSAY_NOMEM;
}

static assay__store *open_reader(void)
{
    assay__store *store = NULL;

    ck_assert_msg(ops->open_read(path, &store) == ASSAY_OK, "%s", assay_last_error());
    return store;
}

START_TEST(route_is_read_and_the_old_one_kept)
{
    assay__route_candidate c[2] = {store_candidate(rows.revision, 10.0),
                                   store_candidate(rows.revision, 20.0)};
    assay__db_route r = store_route(&rows, c, 2);
    assay__db_known_route known;
    size_t here = 9, elsewhere = 9;
    seen s = {0};

    ck_assert_int_eq(assay__db_put_route(db, &r), ASSAY_OK);
    c[0].time_ns = 5.0;
    r.winner_revision = 0;
    ck_assert_int_eq(assay__db_put_route(db, &r), ASSAY_OK);
    ck_assert_int_eq(assay__db_find_route(db, &r, &known), ASSAY_OK);
    ck_assert_int_eq(known.found, 1);
    ck_assert_int_eq(known.winner_revision, 0);
    ck_assert_str_eq(known.profile, "quick");
    ck_assert(isnan(known.problem_s)); /* its sweep does not say */
    assay__store *store = open_reader();
    ck_assert_int_eq(ops->each_route(store, rows.deployment_hex, see_route, &s), ASSAY_OK);
    ck_assert_uint_eq(s.count, 1);
    ck_assert_ptr_nonnull(strstr(s.text, "matmul f32,f32,f32 m=64"));
    ck_assert_ptr_nonnull(strstr(s.text, "k=64|ccc|rotate/alone/kernel|full"));
    ck_assert_uint_eq(s.route.candidate_count, 2);
    ck_assert_uint_eq(s.route.align, 16);
    ck_assert_uint_eq(s.route.winner_revision_row, 0);
    ck_assert_int_eq(s.route.searched, 2);
    ck_assert_int_eq(s.route.total, 12);
    ck_assert_double_eq(s.candidate.time_ns, 5.0);
    ck_assert_int_eq(ops->count_routes(store, rows.deployment_hex, &here, &elsewhere), ASSAY_OK);
    ck_assert_uint_eq(here, 1);
    ck_assert_uint_eq(elsewhere, 0);
    ck_assert_int_eq(ops->count_routes(store, "unknown", &here, &elsewhere), ASSAY_OK);
    ck_assert_uint_eq(here, 0);
    ck_assert_uint_eq(elsewhere, 1);
    s.count = 0;
    ck_assert_int_eq(ops->each_route(store, "unknown", see_route, &s), ASSAY_OK);
    ck_assert_uint_eq(s.count, 0);
    ck_assert_int_eq(ops->each_route(store, rows.deployment_hex, refuse_route, &s), ASSAY_NOMEM);
    ck_assert_uint_eq(s.count, 1);
    ops->close(store);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM route"), 2);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM routes"), 1);
}
END_TEST

START_TEST(revisions_of_this_deployment_are_read)
{
    assay__db_measurement m = store_measurement(&rows);
    seen s = {0};

    put_measurement(&m);
    m.problem = store_put_problem(db, 77);
    put_measurement(&m);
    m.revision = store_put_revision(db, 2, 5);
    put_measurement(&m);
    ck_assert_int_eq(
        assay__db_put_quarantine(db, store_put_revision(db, 3, 1), rows.deployment, 0, "hang"),
        ASSAY_OK);
    store_put_revision(db, 4, 1); /* known, but nothing measured */
    assay__store *store = open_reader();
    ck_assert_int_eq(ops->each_revision(store, rows.deployment_hex, see_revision, &s), ASSAY_OK);
    ck_assert_uint_eq(s.count, 3);
    ck_assert_ptr_nonnull(strstr(s.text, "|cpu|matmul|f32,f32,f32|tile="));
    ck_assert_uint_eq(s.revision.variant_revision.bytes[31], 7);
    s.count = 0;
    ck_assert_int_eq(ops->each_revision(store, "unknown", see_revision, &s), ASSAY_OK);
    ck_assert_uint_eq(s.count, 0);
    ops->close(store);
}
END_TEST

START_TEST(quarantine_and_peaks_are_read)
{
    double value = 0.0;
    seen s = {0};

    ck_assert_int_eq(
        assay__db_put_quarantine(db, rows.revision, rows.deployment, rows.problem, "timeout"),
        ASSAY_OK);
    ck_assert_int_eq(assay__db_put_peak(db, rows.deployment, "copy_nt_t2", "byte/ns", 20.0, 19.0,
                                        (double)NAN, 9),
                     ASSAY_OK);
    ck_assert_int_eq(assay__db_put_peak(db, rows.deployment, "copy_nt_t2", "byte/ns", 21.5, 19.0,
                                        (double)NAN, 9),
                     ASSAY_OK);
    assay__store *store = open_reader();
    ck_assert_int_eq(ops->each_quarantine(store, rows.deployment_hex, see_quarantine, &s),
                     ASSAY_OK);
    ck_assert_uint_eq(s.count, 1);
    ck_assert_ptr_nonnull(strstr(s.text, "7|matmul f32,f32,f32 m=64"));
    ck_assert_ptr_nonnull(strstr(s.text, "k=64|timeout|0"));
    ck_assert_int_eq(ops->peak(store, rows.deployment_hex, "copy_nt_t2", &value), ASSAY_OK);
    ck_assert_double_eq(value, 21.5);
    ck_assert_int_eq(ops->peak(store, rows.deployment_hex, "copy_nt_t9", &value), ASSAY_NOTFOUND);
    ops->close(store);
}
END_TEST

static assay_status see_transfer(void *cookie, const assay__store_transfer *t)
{
    seen *s = cookie;
    const size_t used = strlen(s->text);

    s->count++;
    (void)snprintf(s->text + used, sizeof s->text - used, "%s>%s %g %g %g %g;", t->source,
                   t->target, t->bytes, t->median_ns, t->lo_ns, t->hi_ns);
    return ASSAY_OK;
}

static assay_status see_db_transfer(void *cookie, const assay__db_transfer *t)
{
    size_t *count = cookie;

    ck_assert_str_eq(t->source, "cpu:0");
    ck_assert_int_eq(t->samples, 7);
    ck_assert(t->age_s >= -1 && t->age_s < 600);
    ck_assert_str_eq(t->affinity, ""); /* the sweep does not say */
    ++*count;
    return ASSAY_OK;
}

/* A path's sizes are those of its last measurement; other paths and deployments stay. */
START_TEST(transfers_are_put_by_path_and_read)
{
    const assay__db_transfer old[] = {
        {.size_bytes = 4096, .samples = 7, .median_ns = 900, .lo_ns = 800, .hi_ns = 1000},
        {.size_bytes = 99, .samples = 7, .median_ns = 5, .lo_ns = 4, .hi_ns = 6}};
    const assay__db_transfer sizes[] = {
        {.size_bytes = 65536, .samples = 7, .median_ns = 90, .lo_ns = 80, .hi_ns = 100},
        {.size_bytes = 4096, .samples = 7, .median_ns = 9, .lo_ns = (double)NAN, .hi_ns = 10}};
    seen s = {0}, elsewhere = {0};
    size_t count = 0;

    ck_assert_int_eq(assay__db_put_transfers(db, rows.deployment, "cpu:0", "cpu:0/copy", old, 2),
                     ASSAY_OK);
    ck_assert_int_eq(
        assay__db_put_transfers(db, rows.deployment, "cpu:0", "host:pageable/copy", old, 1),
        ASSAY_OK);
    ck_assert_int_eq(assay__db_put_transfers(db, rows.deployment, "cpu:0", "cpu:0/copy", sizes, 2),
                     ASSAY_OK);
    assay__store *store = open_reader();
    ck_assert_int_eq(ops->each_transfer(store, rows.deployment_hex, see_transfer, &s), ASSAY_OK);
    ck_assert_str_eq(s.text, "cpu:0>cpu:0/copy 4096 9 nan 10;cpu:0>cpu:0/copy 65536 90 80 100;"
                             "cpu:0>host:pageable/copy 4096 900 800 1000;");
    ck_assert_int_eq(ops->each_transfer(store, "elsewhere", see_transfer, &elsewhere), ASSAY_OK);
    ck_assert_uint_eq(elsewhere.count, 0);
    ops->close(store);
    ck_assert_int_eq(assay__db_each_transfer(db, rows.deployment, see_db_transfer, &count),
                     ASSAY_OK);
    ck_assert_uint_eq(count, 3);
}
END_TEST

/* The worst at that problem, whatever the question. */
START_TEST(quarantine_knows_what_was_wrong_or_crashed)
{
    static const struct {
        assay__verdict verdict;
        uint32_t align;
        const char *seen;
    } steps[] = {{ASSAY__VERDICT_TIMEOUT, 16, "|slow|0"},
                 {ASSAY__VERDICT_CRASHED, 64, "|slow|6"},
                 {ASSAY__VERDICT_WRONG, 0, "|slow|2"}};
    assay__db_measurement m = store_measurement(&rows);
    assay__store *store = open_reader();

    ck_assert_int_eq(
        assay__db_put_quarantine(db, rows.revision, rows.deployment, rows.problem, "slow"),
        ASSAY_OK);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        seen s = {0};
        m.verdict = steps[i].verdict;
        m.align = steps[i].align;
        (void)put_measurement(&m);
        ck_assert_int_eq(ops->each_quarantine(store, rows.deployment_hex, see_quarantine, &s),
                         ASSAY_OK);
        ck_assert_ptr_nonnull(strstr(s.text, steps[i].seen));
    }
    ops->close(store);
}
END_TEST

static assay_status see_proof(void *cookie, const assay__store_proof *p)
{
    seen *s = cookie;

    s->count++;
    (void)snprintf(s->text, sizeof s->text, "%s %g %d %d", p->problem, p->max_ulp, p->passed,
                   p->is_contradicted);
    return ASSAY_OK;
}

START_TEST(proofs_are_read_of_one_deployment)
{
    seen s = {0};
    assay__db_accuracy sampled = store_accuracy(&rows), all = sampled, set = sampled;

    set.stratum = "exhaustive"; /* a set of one problem, which holds for that one alone */
    set.proof = ASSAY_PROOF_ABSENT;
    all.stratum = "all";
    all.proof = ASSAY_PROOF_EXHAUSTIVE;
    sampled.passed = set.passed = all.passed = 1;
    ck_assert_int_eq(assay__db_put_accuracy(db, &sampled, NULL), ASSAY_OK);
    ck_assert_int_eq(assay__db_put_accuracy(db, &set, NULL), ASSAY_OK);
    ck_assert_int_eq(assay__db_put_accuracy(db, &all, NULL), ASSAY_OK);
    assay__store *store = open_reader();
    ck_assert_int_eq(ops->each_proof(store, rows.deployment_hex, see_proof, &s), ASSAY_OK);
    ck_assert_uint_eq(s.count, 0);
    set.proof = ASSAY_PROOF_EXHAUSTIVE;
    set.max_ulp = 3.0;
    ck_assert_int_eq(assay__db_put_accuracy(db, &set, NULL), ASSAY_OK);
    ck_assert_int_eq(ops->each_proof(store, "unknown", see_proof, &s), ASSAY_OK);
    ck_assert_uint_eq(s.count, 0);
    ck_assert_int_eq(ops->each_proof(store, rows.deployment_hex, see_proof, &s), ASSAY_OK);
    ck_assert_uint_eq(s.count, 1);
    ck_assert_ptr_nonnull(strstr(s.text, "k=64 3 1 0"));
    sampled.problem = store_put_problem(db, 128); /* wrong at another shape */
    sampled.passed = 0;
    ck_assert_int_eq(assay__db_put_accuracy(db, &sampled, NULL), ASSAY_OK);
    ck_assert_int_eq(ops->each_proof(store, rows.deployment_hex, see_proof, &s), ASSAY_OK);
    ck_assert_ptr_nonnull(strstr(s.text, "k=64 3 1 1"));
    ops->close(store);
}
END_TEST

/* Its variant is known to the picker although nothing was timed. */
START_TEST(variants_with_a_proof_alone_are_read)
{
    seen s = {0};
    assay__db_accuracy all = store_accuracy(&rows);

    all.stratum = "exhaustive";
    all.proof = ASSAY_PROOF_SAMPLED;
    assay__store *store = open_reader();
    ck_assert_int_eq(assay__db_put_accuracy(db, &all, NULL), ASSAY_OK);
    ck_assert_int_eq(ops->each_revision(store, rows.deployment_hex, see_revision, &s), ASSAY_OK);
    ck_assert_uint_eq(s.count, 0);
    all.proof = ASSAY_PROOF_EXHAUSTIVE;
    ck_assert_int_eq(assay__db_put_accuracy(db, &all, NULL), ASSAY_OK);
    ck_assert_int_eq(ops->each_revision(store, rows.deployment_hex, see_revision, &s), ASSAY_OK);
    ck_assert_uint_eq(s.count, 1);
    ops->close(store);
}
END_TEST

START_TEST(commits_show_in_the_data_version)
{
    int64_t before = 0, same = 0, after = 0;
    assay__store *store = open_reader();

    ck_assert_int_eq(ops->data_version(store, &before), ASSAY_OK);
    ck_assert_int_eq(ops->data_version(store, &same), ASSAY_OK);
    ck_assert_int_eq(before, same);
    store_put_problem(db, 1000);
    ck_assert_int_eq(ops->data_version(store, &after), ASSAY_OK);
    ck_assert_int_ne(before, after);
    ops->close(store);
}
END_TEST

START_TEST(snapshot_sees_one_state)
{
    size_t here = 0, elsewhere = 0;
    assay__db_route r = store_route(&rows, NULL, 0);
    assay__store *store = open_reader();

    ck_assert_int_eq(ops->begin_snapshot(store), ASSAY_OK);
    ck_assert_int_eq(ops->count_routes(store, rows.deployment_hex, &here, &elsewhere), ASSAY_OK);
    ck_assert_int_eq(assay__db_put_route(db, &r), ASSAY_OK);
    ck_assert_int_eq(ops->count_routes(store, rows.deployment_hex, &here, &elsewhere), ASSAY_OK);
    ck_assert_uint_eq(here, 0);
    ops->end_snapshot(store);
    ck_assert_int_eq(ops->count_routes(store, rows.deployment_hex, &here, &elsewhere), ASSAY_OK);
    ck_assert_uint_eq(here, 1);
    ops->close(store);
}
END_TEST

static TCase *make_case(Suite *suite, const char *name)
{
    TCase *made = tcase_create(name);

    tcase_add_checked_fixture(made, setup, teardown);
    tcase_set_timeout(made, 60);
    suite_add_tcase(suite, made);
    return made;
}

int main(void)
{
    Suite *suite = suite_create("store_write");
    TCase *row = make_case(suite, "row");
    TCase *batch = make_case(suite, "batch");
    TCase *pick = make_case(suite, "pick");

    tcase_add_test(row, upserts_find_the_same_row);
    tcase_add_test(row, use_is_kept_by_set_and_row);
    tcase_add_test(row, kernel_change_keeps_its_row);
    tcase_add_test(row, label_is_set_and_kept);
    tcase_add_test(row, measurement_comes_back_whole);
    tcase_add_test(row, measurement_key_tells_questions_apart);
    tcase_add_test(row, unknown_is_null_and_never_zero);
    tcase_add_test(row, broken_values_are_refused);
    tcase_add_test(row, visits_keep_samples_and_history);
    tcase_add_test(row, accuracy_comes_back_whole);
    tcase_add_test(row, accuracy_failure_outweighs_what_passed);
    tcase_add_test(row, stability_and_quarantine_are_found);
    tcase_add_test(row, failures_of_a_variant_are_counted);
    tcase_add_test(batch, batch_is_all_or_nothing);
    tcase_add_test(batch, batch_that_sqlite_rolled_back_takes_nothing_more);
    tcase_add_test(batch, close_drops_an_open_batch);
    tcase_add_test(pick, route_is_read_and_the_old_one_kept);
    tcase_add_test(pick, revisions_of_this_deployment_are_read);
    tcase_add_test(pick, quarantine_and_peaks_are_read);
    tcase_add_test(pick, transfers_are_put_by_path_and_read);
    tcase_add_test(pick, quarantine_knows_what_was_wrong_or_crashed);
    tcase_add_test(pick, proofs_are_read_of_one_deployment);
    tcase_add_test(pick, variants_with_a_proof_alone_are_read);
    tcase_add_test(pick, commits_show_in_the_data_version);
    tcase_add_test(pick, snapshot_sees_one_state);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
