/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_report_precision.c -- the precision report of a planted store. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report_precision.h"
#include "support/json.h"
#include "tests/support/report_case.h"

static report_case c;
static int64_t exp_kernel, mm_kernel, exp_problem, mm_problem;

static void setup(void)
{
    const assay_claims claims = {2, -1, -1, -1, ASSAY_STABILITY_MACHINE};

    report_case_setup(&c);
    exp_kernel = report_put_kernel(&c, "fexp", "exp", "f32,f32", 1, &claims, true);
    mm_kernel = report_put_kernel(&c, "gemm", "matmul", "f32,f32,f32", 1, NULL, true);
    exp_problem = report_put_problem(&c, ASSAY_OP_exp, ASSAY_F32, "n=1000000");
    mm_problem = report_put_problem(&c, ASSAY_OP_matmul, ASSAY_F32, "m=64,n=64,k=62");
}

static void teardown(void)
{
    report_case_teardown(&c);
}

static assay__db_accuracy exp_row(const char *stratum)
{
    assay__db_accuracy a = store_accuracy(&c.rows);

    a.revision = exp_kernel;
    a.problem = exp_problem;
    a.stratum = stratum;
    a.elements = 3000000;
    a.max_ulp = 1.0;
    a.max_err_ulp = 0.9;
    a.max_rho = a.rms_rho = (double)NAN;
    a.bound = 12;
    a.histogram_json = "[2999000,1000]";
    a.worst_json = "{\"index\": 17, \"got\": 1.5, \"got_bits\": \"0x3fc00000\", \"expected\": 1.25,"
                   " \"input_bits\": [\"0x3f800000\"]}";
    return a;
}

static assay__db_accuracy mm_row(void)
{
    assay__db_accuracy a = store_accuracy(&c.rows);

    a.revision = mm_kernel;
    a.problem = mm_problem;
    a.max_ulp = 7000;
    a.max_rho = 6.5;
    a.rms_rho = 1.5;
    a.kappa = 321;
    a.bound = 64; /* roundings on a path */
    return a;
}

static const char *csv_of(void)
{
    return report_case_make(&c, "precision", ASSAY__REPORT_CSV);
}

/* ---- evidence ---- */

START_TEST(evidence_sampled_is_a_lower_bound)
{
    assay__db_accuracy a = exp_row("all");

    report_put_accuracy(&c, &a);
    const char *csv = csv_of();
    ck_assert_str_eq(report_csv_field(csv, 1, "maximum"), "lower_bound");
    ck_assert_str_eq(report_csv_field(csv, 1, "share_beyond"), "9.9999999999999995e-07"); /* 3/N */
    ck_assert_str_eq(report_csv_field(csv, 1, "max_rho"), "");
    ck_assert_str_eq(report_csv_field(csv, 1, "rho_certain"), "");
    const char *md = report_case_make(&c, "precision", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(
        strstr(md, "| sampled | 3,000,000 | >= 1 | dist &lt;= 12 | &lt; 1.0e-06 |"));
}
END_TEST

START_TEST(evidence_exhaustive_is_exact)
{
    assay__db_accuracy a = exp_row("all");

    a.proof = ASSAY_PROOF_EXHAUSTIVE;
    report_put_accuracy(&c, &a);
    const char *csv = csv_of();
    ck_assert_str_eq(report_csv_field(csv, 1, "maximum"), "exact");
    ck_assert_str_eq(report_csv_field(csv, 1, "share_beyond"), "0");
    const char *md = report_case_make(&c, "precision", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(md, "| exhaustive | 3,000,000 | = 1 |"));
    ck_assert_ptr_nonnull(strstr(md, "none (all inputs)"));
}
END_TEST

START_TEST(evidence_failed_has_no_share)
{
    assay__db_accuracy a = exp_row("all");

    a.passed = 0;
    a.nan_mismatch = 4;
    report_put_accuracy(&c, &a);
    const char *csv = csv_of();
    ck_assert_str_eq(report_csv_field(csv, 1, "share_beyond"), "");
    ck_assert_str_eq(report_csv_field(csv, 1, "nan_mismatch"), "4");
    const char *md = report_case_make(&c, "precision", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(md, "1 variants failed their check"));
    ck_assert_ptr_nonnull(strstr(md, "Results of another class than expected"));
}
END_TEST

START_TEST(evidence_unknown_is_absent)
{
    assay__db_accuracy a = exp_row("all");

    a.max_ulp = a.max_err_ulp = a.mean_err_ulp = a.p50_err_ulp = a.p99_err_ulp = (double)NAN;
    a.max_rel = a.max_abs = a.bound = (double)NAN;
    a.histogram_json = a.worst_json = "";
    a.worst_index = -1;
    report_put_accuracy(&c, &a);
    json_t *root = NULL;
    const char *json = report_case_make(&c, "precision", ASSAY__REPORT_JSON);
    ck_assert_int_eq(assay__json_parse("report", json, strlen(json), &root), ASSAY_OK);
    static const char *const keys[] = {
        "rows[0].max_ulp",   "rows[0].mean_err_ulp", "rows[0].bound", "rows[0].worst",
        "rows[0].histogram", "rows[0].worst_index",  "rows[0].kappa", "rows[0].rho_certain"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ck_assert_msg(!assay__json_has(root, keys[i]), "%s", keys[i]);
    json_decref(root);
    const char *csv = csv_of();
    ck_assert_str_eq(report_csv_field(csv, 1, "max_ulp"), "");
    ck_assert_str_eq(report_csv_field(csv, 1, "worst_index"), "");
    const char *md = report_case_make(&c, "precision", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(md, "| sampled | 3,000,000 | - | - | &lt; 1.0e-06 | - | - | - | - "
                                     "| - | - | 0 | - |"));
}
END_TEST

START_TEST(evidence_strata_beside_their_union)
{
    assay__db_accuracy a = exp_row("normal");

    report_put_accuracy(&c, &a);
    a = exp_row("tiny");
    report_put_accuracy(&c, &a);
    a = exp_row("all");
    report_put_accuracy(&c, &a);
    const char *csv = csv_of();
    ck_assert_uint_eq(report_csv_rows(csv), 3);
    ck_assert_str_eq(report_csv_field(csv, 1, "stratum"), "all");
    ck_assert_str_eq(report_csv_field(csv, 1, "is_union"), "1");
    ck_assert_str_eq(report_csv_field(csv, 2, "stratum"), "normal");
    ck_assert_str_eq(report_csv_field(csv, 2, "is_union"), "0");
    ck_assert_ptr_nonnull(strstr(report_case_make(&c, "precision", ASSAY__REPORT_MD), "## Strata"));
}
END_TEST

/* ---- bounds ---- */

START_TEST(bounds_of_rho)
{
    double probable, certain;

    assay__precision_rho_bounds(ASSAY_F32, 64, &probable, &certain);
    ck_assert_double_eq_tol(certain, 65.0, 1e-3);  /* gamma_64 / u + 1 */
    ck_assert_double_eq_tol(probable, 49.0, 1e-9); /* 6 sqrt(64) + 1 */
    assay__precision_rho_bounds(ASSAY_BF16, 64, &probable, &certain);
    ck_assert_double_eq_tol(certain, 1.0 + 64.0 / 65536, 1e-6); /* summed in f32 */
    assay__precision_rho_bounds(ASSAY_F32, 4, &probable, &certain);
    ck_assert_double_eq_tol(probable, certain, 1e-9); /* never above the certain one */
    assay__precision_rho_bounds(ASSAY_F32, (double)NAN, &probable, &certain);
    ck_assert_double_nan(certain);
    ck_assert_double_nan(probable);
    assay__precision_rho_bounds(ASSAY_I32, 64, &probable, &certain);
    ck_assert_double_nan(certain);
}
END_TEST

START_TEST(bounds_beside_rho)
{
    assay__db_accuracy a = mm_row();

    report_put_accuracy(&c, &a);
    const char *md = report_case_make(&c, "precision", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(
        strstr(md, "| 4,096 | >= 6.500 | 1.500 | 49.00 | 65.00 | 10.0 % | 321 |"));
    const char *csv = csv_of();
    ck_assert_str_eq(report_csv_field(csv, 1, "kappa"), "321");
}
END_TEST

START_TEST(bounds_of_a_kernel_in_one_row)
{
    assay__db_accuracy a = mm_row();

    report_put_accuracy(&c, &a);
    a.problem = report_put_problem(&c, ASSAY_OP_matmul, ASSAY_F32, "m=64,n=64,k=64");
    a.max_ulp = 9000;
    report_put_accuracy(&c, &a);
    a.problem = report_put_problem(&c, ASSAY_OP_matmul, ASSAY_F32, "m=64,n=64,k=66");
    a.max_ulp = 1e9;
    a.passed = 0; /* says nothing of those that may be picked */
    report_put_accuracy(&c, &a);
    const char *md = report_case_make(&c, "precision", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(md, "| cpu/gemm | matmul | f32,f32,f32 | 3 | 12,288 | >= 9000 | "
                                     ">= 2.75 | >= 1e-06 | 10.0 % | 1 | 0 |"));
}
END_TEST

/* ---- claims ---- */

START_TEST(claims_contradicted)
{
    assay__db_accuracy a = exp_row("all");

    a.max_ulp = 3;
    report_put_accuracy(&c, &a);
    const char *csv = csv_of();
    ck_assert_str_eq(report_csv_field(csv, 1, "claim_max_ulp"), "2");
    ck_assert_str_eq(report_csv_field(csv, 1, "contradicted"), "max_ulp");
    const char *md = report_case_make(&c, "precision", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(md, "Claims are contradicted by measurement in 1 rows"));
    ck_assert_ptr_nonnull(strstr(md, "contradicted: dist"));
}
END_TEST

START_TEST(claims_hold_or_are_absent)
{
    assay__db_accuracy a = exp_row("all");

    a.max_ulp = 2; /* as claimed, no more */
    report_put_accuracy(&c, &a);
    a = mm_row(); /* claims nothing */
    report_put_accuracy(&c, &a);
    const char *csv = csv_of();
    ck_assert_str_eq(report_csv_field(csv, 1, "contradicted"), "");
    ck_assert_str_eq(report_csv_field(csv, 2, "kernel"), "gemm");
    ck_assert_str_eq(report_csv_field(csv, 2, "claim_max_ulp"), "");
    ck_assert_str_eq(report_csv_field(csv, 2, "contradicted"), "");
    const char *md = report_case_make(&c, "precision", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(md, "dist &lt;= 2, bit-stable: machine"));
    ck_assert_ptr_nonnull(strstr(md, "| not contradicted |"));
}
END_TEST

START_TEST(claims_wrong_class_contradicts)
{
    assay__db_accuracy a = exp_row("all");

    a.nan_mismatch = 1;
    report_put_accuracy(&c, &a);
    ck_assert_str_eq(report_csv_field(csv_of(), 1, "contradicted"), "max_ulp");
}
END_TEST

START_TEST(claims_of_stability)
{
    assay__db_accuracy a = exp_row("all");

    report_put_accuracy(&c, &a);
    ck_assert_int_eq(assay__db_put_stability(c.db, exp_kernel, c.rows.deployment, exp_problem,
                                             ASSAY_STABILITY_NONE, "{}"),
                     ASSAY_OK);
    const char *csv = csv_of();
    ck_assert_str_eq(report_csv_field(csv, 1, "stability"), "none");
    ck_assert_str_eq(report_csv_field(csv, 1, "claim_stability"), "machine");
    ck_assert_str_eq(report_csv_field(csv, 1, "contradicted"), "stability");
}
END_TEST

/* Stable bits by each number of threads, and others by another: the claim was for any number. What
 * is no JSON says nothing. */
START_TEST(claims_of_stability_by_threads)
{
    static const char *const evidence[] = {
        "{\"digest\": \"00aa\", \"same\": true}", "no JSON, other_digest 00bb",
        "{\"digest\": \"00aa\", \"other_tunables\": \"threads=2\", \"other_digest\": \"00bb\"}"};
    assay__db_accuracy a = exp_row("all");
    const bool differ = _i == 2;

    report_put_accuracy(&c, &a);
    ck_assert_int_eq(assay__db_put_stability(c.db, exp_kernel, c.rows.deployment, exp_problem,
                                             ASSAY_STABILITY_CONFIG, evidence[_i]),
                     ASSAY_OK);
    const char *csv = csv_of();
    ck_assert_str_eq(report_csv_field(csv, 1, "stability"), "config");
    ck_assert_str_eq(report_csv_field(csv, 1, "contradicted"), differ ? "stability" : "");
    ck_assert_str_eq(report_csv_field(csv, 1, "thread_digests"), differ ? "00aa 00bb" : "");
    const char *json = report_case_make(&c, "precision", ASSAY__REPORT_JSON);
    ck_assert_int_eq(strstr(json, "\"00bb\"") != NULL, differ);
    const char *md = report_case_make(&c, "precision", ASSAY__REPORT_MD);
    ck_assert_int_eq(strstr(md, "bits by number of threads: 00aa, 00bb") != NULL, differ);
}
END_TEST

/* Whoever claims the same bits for one number of threads alone may give others with another. */
START_TEST(claims_of_one_configuration_allow_other_threads)
{
    const assay_claims claims = {2, -1, -1, -1, ASSAY_STABILITY_CONFIG};
    assay__db_accuracy a = exp_row("all");

    a.revision = report_put_kernel(&c, "fexp2", "exp", "f32,f32", 2, &claims, true);
    report_put_accuracy(&c, &a);
    ck_assert_int_eq(assay__db_put_stability(c.db, a.revision, c.rows.deployment, exp_problem,
                                             ASSAY_STABILITY_CONFIG,
                                             "{\"digest\": \"00aa\", \"other_tunables\": "
                                             "\"threads=2\", \"other_digest\": \"00bb\"}"),
                     ASSAY_OK);
    const char *csv = csv_of();
    ck_assert_str_eq(report_csv_field(csv, 1, "thread_digests"), "00aa 00bb");
    ck_assert_str_eq(report_csv_field(csv, 1, "contradicted"), "");
}
END_TEST

START_TEST(claims_stability_of_routes)
{
    assay__db_accuracy a = exp_row("all");
    assay__route_candidate one = store_candidate(exp_kernel, 10.0);

    one.stability = ASSAY_STABILITY_CONFIG;
    assay__db_route r = store_route(&c.rows, &one, 1);
    r.problem = exp_problem;
    r.layout = "cc";
    r.winner_revision = exp_kernel;
    report_put_accuracy(&c, &a);
    report_put_route(&c, &r);
    const char *csv = csv_of();
    ck_assert_str_eq(report_csv_field(csv, 1, "stability"), "config");
    ck_assert_str_eq(report_csv_field(csv, 1, "contradicted"), "");
}
END_TEST

/* ---- text ---- */

START_TEST(text_of_worst_element)
{
    assay__str out = {0};

    assay__precision_worst_text("{\"got\": 1.5, \"got_bits\": \"0x3fc0\", \"expected\": 1.25, "
                                "\"input_bits\": [\"0x1\", \"0x2\"]}",
                                &out);
    ck_assert_str_eq(assay__str_text(&out), "input 0x1, 0x2; got 0x3fc0 (1.5), expected 1.25");
    assay__str_reset(&out);
    assay__precision_worst_text("{\"got_bits\": \"0x7fc0\", \"expected\": 1}", &out);
    ck_assert_str_eq(assay__str_text(&out), "got 0x7fc0, expected 1"); /* NaN has no number */
    assay__str_reset(&out);
    assay__precision_worst_text("<script>", &out);
    ck_assert_str_eq(assay__str_text(&out), "<script>");
    assay__str_clear(&out);
}
END_TEST

START_TEST(text_of_bins)
{
    char name[48];

    assay__precision_bin_name(0, name, sizeof name);
    ck_assert_str_eq(name, "<= 0.5");
    assay__precision_bin_name(1, name, sizeof name);
    ck_assert_str_eq(name, "(0.5, 1]");
    assay__precision_bin_name(22, name, sizeof name);
    ck_assert_str_eq(name, "> 1048576");
}
END_TEST

START_TEST(text_hostile_and_stale)
{
    assay__db_accuracy a = exp_row("<script>s");

    a.worst_json = "<script>w";
    a.histogram_json = "<script>h";
    a.reference = "<script>r";
    report_put_accuracy(&c, &a);
    const char *html = report_case_make(&c, "precision", ASSAY__REPORT_HTML);
    for (const char *at = html; (at = strstr(at, "<script>")) != NULL; at += 8)
        ck_assert_msg(strchr("swhr", at[8]) == NULL, "%.40s", at);
    ck_assert_uint_eq(report_count(html, "<canvas"), 0); /* no histogram in that text */
    memset(c.kernel_revision, 'd', 64);
    const char *md = report_case_make(&c, "precision", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(md, "## Stale and foreign rows"));
    ck_assert_ptr_nonnull(strstr(md, "No row holds"));
    ck_assert_str_eq(report_csv_field(csv_of(), 1, "state"), "stale");
}
END_TEST

START_TEST(text_draws_histograms)
{
    assay__db_accuracy a = exp_row("all");

    report_put_accuracy(&c, &a);
    const char *html = report_case_make(&c, "precision", ASSAY__REPORT_HTML);
    ck_assert_uint_eq(report_count(html, "<canvas"), 1);
    ck_assert_ptr_nonnull(strstr(html, "input 0x3f800000; got 0x3fc00000 (1.5), expected 1.25"));
}
END_TEST

START_TEST(text_filters_and_empty)
{
    ck_assert_int_eq(report_case_try(&c, "precision", ASSAY__REPORT_MD), ASSAY_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "nothing measured"));
}
END_TEST

START_TEST(text_filters_by_op)
{
    assay__db_accuracy a = exp_row("all");

    report_put_accuracy(&c, &a);
    a = mm_row();
    report_put_accuracy(&c, &a);
    ck_assert_int_eq(assay__strlist_add(&c.ops, "matmul"), ASSAY_OK);
    const char *csv = csv_of();
    ck_assert_uint_eq(report_csv_rows(csv), 1);
    ck_assert_str_eq(report_csv_field(csv, 1, "kernel"), "gemm");
}
END_TEST

static TCase *tcase(Suite *suite, const char *name)
{
    TCase *t = tcase_create(name);

    tcase_add_checked_fixture(t, setup, teardown);
    suite_add_tcase(suite, t);
    return t;
}

static Suite *make_suite(void)
{
    Suite *suite = suite_create("report_precision");
    TCase *t = tcase(suite, "evidence");

    tcase_add_test(t, evidence_sampled_is_a_lower_bound);
    tcase_add_test(t, evidence_exhaustive_is_exact);
    tcase_add_test(t, evidence_failed_has_no_share);
    tcase_add_test(t, evidence_unknown_is_absent);
    tcase_add_test(t, evidence_strata_beside_their_union);
    t = tcase(suite, "bounds");
    tcase_add_test(t, bounds_of_rho);
    tcase_add_test(t, bounds_beside_rho);
    tcase_add_test(t, bounds_of_a_kernel_in_one_row);
    t = tcase(suite, "claims");
    tcase_add_test(t, claims_contradicted);
    tcase_add_test(t, claims_hold_or_are_absent);
    tcase_add_test(t, claims_wrong_class_contradicts);
    tcase_add_test(t, claims_of_stability);
    tcase_add_loop_test(t, claims_of_stability_by_threads, 0, 3);
    tcase_add_test(t, claims_of_one_configuration_allow_other_threads);
    tcase_add_test(t, claims_stability_of_routes);
    t = tcase(suite, "text");
    tcase_add_test(t, text_of_worst_element);
    tcase_add_test(t, text_of_bins);
    tcase_add_test(t, text_hostile_and_stale);
    tcase_add_test(t, text_draws_histograms);
    tcase_add_test(t, text_filters_and_empty);
    tcase_add_test(t, text_filters_by_op);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(make_suite());

    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return failed;
}
