/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_report_cost.c -- the cost report of a planted store. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/cost_rows.h"
#include "support/json.h"
#include "tests/support/report_case.h"

#define EXP "exp f32,f32 n=1000000"

static report_case c;
static int64_t fast, slow, wrong, problem;

/* Default 1 ms, winner 0.8 ms, one wrong result; 8 MB moved. */
static void plant(void)
{
    fast = report_put_kernel(&c, "fast", "exp", "f32,f32", 1, NULL, true);
    slow = report_put_kernel(&c, "slow", "exp", "f32,f32", 1, NULL, true);
    wrong = report_put_kernel(&c, "wrong", "exp", "f32,f32", 1, NULL, true);
    problem = report_put_problem(&c, ASSAY_OP_exp, ASSAY_F32, "n=1000000");
}

static assay__db_measurement measurement(int64_t revision, double ns)
{
    assay__db_measurement m = store_measurement(&c.rows);

    m.revision = revision;
    m.problem = problem;
    m.layout = "cc";
    m.median_ns = ns;
    m.lo_ns = 0.95 * ns;
    m.hi_ns = 1.05 * ns;
    return m;
}

static void put_visits(int64_t id, const char *kind, size_t count)
{
    const double samples[] = {1.0, 2.0, 3.0};

    for (size_t i = 0; i < count; i++) {
        assay__db_visit v = store_visit(id, samples, 3);
        int64_t visit = 0;
        v.kind = kind;
        v.ordinal = (int64_t)i;
        ck_assert_msg(assay__db_put_visit(c.db, &v, &visit) == ASSAY_OK, "%s", assay_last_error());
    }
}

static void put_rows(void)
{
    assay__db_measurement m = measurement(fast, 800000.0);
    int64_t id = report_put_measurement(&c, &m);
    put_visits(id, "measure", 5);
    put_visits(id, "confirm", 3);
    m = measurement(slow, 1000000.0);
    report_put_measurement(&c, &m);
    m = measurement(wrong, (double)NAN);
    m.lo_ns = m.hi_ns = m.min_ns = m.mad_ns = (double)NAN;
    m.verdict = ASSAY__VERDICT_WRONG;
    m.reason = "normal: element 7 is <script>alert(1)</script>, expected 2";
    report_put_measurement(&c, &m);
    assay__db_accuracy a = store_accuracy(&c.rows);
    a.revision = fast;
    a.problem = problem;
    a.max_ulp = 2.0;
    a.max_rho = a.rms_rho = (double)NAN;
    report_put_accuracy(&c, &a);
}

static assay__db_route route(const assay__route_candidate *candidates, size_t count)
{
    assay__db_route r = store_route(&c.rows, candidates, count);

    r.problem = problem;
    r.layout = "cc";
    r.winner_revision = fast;
    return r;
}

static void put_route(void)
{
    assay__route_candidate all[2] = {store_candidate(fast, 800000.0),
                                     store_candidate(slow, 1000000.0)};

    all[0].lo_ns = 790000.0;
    all[0].hi_ns = 810000.0;
    all[0].ratio = 0.8;
    all[0].ratio_lo = 0.75;
    all[0].ratio_hi = 0.85;
    all[0].ratio_level = 90;
    all[0].tied = 1;
    all[1].ratio = all[1].ratio_lo = all[1].ratio_hi = 1.0;
    assay__db_route r = route(all, 2);
    report_put_route(&c, &r);
}

static void put_peaks(void)
{
    ck_assert_int_eq(
        assay__db_put_peak(c.db, c.rows.deployment, "copy_nt_t1", "byte/ns", 10, 9, 10, 5),
        ASSAY_OK);
    ck_assert_int_eq(
        assay__db_put_peak(c.db, c.rows.deployment, "copy_plain_t2", "byte/ns", 20, 19, 20, 5),
        ASSAY_OK);
    ck_assert_int_eq(
        assay__db_put_peak(c.db, c.rows.deployment, "fma_f32_avx2_t1", "flop/ns", 50, 49, 50, 5),
        ASSAY_OK);
}

static void put_transfers(void)
{
    const assay__db_transfer sizes[] = {
        {.size_bytes = 4096, .samples = 11, .median_ns = 512, .lo_ns = 500, .hi_ns = 520},
        {.size_bytes = 16384,
         .samples = 7,
         .median_ns = 1024,
         .lo_ns = 1000,
         .hi_ns = (double)NAN}};

    ck_assert_int_eq(assay__db_put_transfers(c.db, c.rows.deployment, "host:pageable",
                                             "fake:0/staging", sizes, 2),
                     ASSAY_OK);
}

static void setup(void)
{
    report_case_setup(&c);
    plant();
}

static void teardown(void)
{
    report_case_teardown(&c);
}

static void plant_all(void)
{
    put_rows();
    put_route();
    put_peaks();
}

/* ---- figures ---- */

START_TEST(figures_of_winner)
{
    plant_all();
    const char *csv = report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_uint_eq(report_csv_rows(csv), 3);
    ck_assert_str_eq(report_csv_field(csv, 1, "kernel"), "fast");
    ck_assert_str_eq(report_csv_field(csv, 1, "problem"), EXP);
    ck_assert_str_eq(report_csv_field(csv, 1, "is_winner"), "1");
    ck_assert_str_eq(report_csv_field(csv, 1, "state"), "current");
    ck_assert_str_eq(report_csv_field(csv, 1, "lo_ns"), "790000"); /* published, not the summary */
    ck_assert_str_eq(report_csv_field(csv, 1, "rate"), "10");      /* 8 MB in 0.8 ms */
    ck_assert_str_eq(report_csv_field(csv, 1, "rate_unit"), "byte/ns");
    ck_assert_str_eq(report_csv_field(csv, 1, "peak_share"), "0.5"); /* the best copy is 20 */
    ck_assert_str_eq(report_csv_field(csv, 1, "max_ulp"), "2");
    ck_assert_str_eq(report_csv_field(csv, 1, "searched"), "2");
    ck_assert_str_eq(report_csv_field(csv, 1, "total"), "12");
    ck_assert_str_eq(report_csv_field(csv, 2, "is_default"), "1");
    ck_assert_str_eq(report_csv_field(csv, 2, "rate"), "");
}
END_TEST

START_TEST(figures_unknown_are_empty)
{
    plant_all();
    const char *csv = report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_str_eq(report_csv_field(csv, 3, "kernel"), "wrong");
    ck_assert_str_eq(report_csv_field(csv, 3, "median_ns"), "");
    ck_assert_str_eq(report_csv_field(csv, 3, "ratio"), "");
    ck_assert_str_eq(report_csv_field(csv, 3, "max_ulp"), "");
    ck_assert_str_eq(report_csv_field(csv, 3, "proof"), "");
    ck_assert_str_eq(report_csv_field(csv, 1, "max_rho"), "");
}
END_TEST

START_TEST(figures_in_markdown)
{
    plant_all();
    const char *md = report_case_make(&c, "cost", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(
        strstr(md, "| cpu/fast{threads=1} | 800 us \\[790, 810\\] n=3 | "
                   "10.0 GB/s | 50.0 % | 1.25x \\[1.18, 1.33\\] at 90 % | >= 2 ulp | sampled "
                   "| 1 | 2 of 12 | full | quick |"));
    ck_assert_ptr_nonnull(strstr(md, "1 candidates were rejected. That is expected"));
    ck_assert_ptr_nonnull(strstr(md, "1 of 1 results come from a quick profile"));
}
END_TEST

START_TEST(figures_without_peaks_have_no_share)
{
    put_rows();
    put_route();
    const char *csv = report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_str_eq(report_csv_field(csv, 1, "peak_share"), "");
}
END_TEST

START_TEST(figures_in_json)
{
    json_t *root = NULL;
    const char *text;
    double real;

    plant_all();
    const char *json = report_case_make(&c, "cost", ASSAY__REPORT_JSON);
    ck_assert_msg(assay__json_parse("report", json, strlen(json), &root) == ASSAY_OK, "%s",
                  assay_last_error());
    ck_assert_int_eq(assay__json_get_string(root, "schema", &text), ASSAY_OK);
    ck_assert_str_eq(text, "assay.report.cost/1");
    ck_assert_int_eq(assay__json_get_real(root, "problems[0].winner.speedup", &real), ASSAY_OK);
    ck_assert_double_eq_tol(real, 1.25, 1e-12);
    ck_assert_int_eq(assay__json_get_real(root, "problems[0].winner.interval_visits", &real),
                     ASSAY_OK);
    ck_assert_double_eq_tol(real, 3, 1e-12);
    ck_assert(assay__json_has(root, "problems[0].candidates[2].reason"));
    ck_assert(!assay__json_has(root, "problems[0].candidates[2].time_ns"));
    ck_assert(!assay__json_has(root, "problems[0].candidates[0].max_rho"));
    ck_assert_int_eq(assay__json_get_real(root, "deployments[1].peaks[0].value", &real),
                     ASSAY_PARSE);
    json_decref(root);
}
END_TEST

START_TEST(figures_show_transfers)
{
    json_t *root = NULL;
    const char *text;
    double real;

    plant_all();
    put_transfers();
    const char *json = report_case_make(&c, "cost", ASSAY__REPORT_JSON);
    ck_assert_int_eq(assay__json_parse("report", json, strlen(json), &root), ASSAY_OK);
    ck_assert_int_eq(assay__json_get_string(root, "deployments[0].transfers[1].target", &text),
                     ASSAY_OK);
    ck_assert_str_eq(text, "fake:0/staging");
    ck_assert_int_eq(assay__json_get_real(root, "deployments[0].transfers[1].size_bytes", &real),
                     ASSAY_OK);
    ck_assert_double_eq_tol(real, 16384, 1e-9);
    ck_assert_int_eq(assay__json_get_real(root, "deployments[0].transfers[0].hi_ns", &real),
                     ASSAY_OK);
    ck_assert_double_eq_tol(real, 520, 1e-12);
    ck_assert(!assay__json_has(root, "deployments[0].transfers[1].hi_ns"));
    ck_assert(!assay__json_has(root, "deployments[0].transfers[2]"));
    json_decref(root);
}
END_TEST

START_TEST(figures_show_transfers_on_the_page)
{
    plant_all();
    put_transfers();
    const char *html = report_case_make(&c, "cost", ASSAY__REPORT_HTML);
    ck_assert_ptr_nonnull(strstr(html, "Measured transfers"));
    ck_assert_ptr_nonnull(strstr(html, "fake:0/staging"));
}
END_TEST

/* ---- what must not mix ---- */

START_TEST(apart_wrong_winner_is_none)
{
    put_rows();
    assay__route_candidate one = store_candidate(wrong, 5.0);
    assay__db_route r = route(&one, 1);
    r.winner_revision = wrong;
    report_put_route(&c, &r);
    const char *csv = report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    for (size_t i = 1; i <= 3; i++)
        ck_assert_str_eq(report_csv_field(csv, i, "is_winner"), "0");
    const char *md = report_case_make(&c, "cost", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(md, "nothing admissible"));
}
END_TEST

START_TEST(apart_stale_rows)
{
    plant_all();
    memset(c.kernel_revision, 'd', 64); /* what `current` points at: all kernels have changed */
    const char *md = report_case_make(&c, "cost", ASSAY__REPORT_MD);
    ck_assert_ptr_null(strstr(md, "## Results"));
    ck_assert_ptr_nonnull(strstr(md, "## Stale rows"));
    ck_assert_ptr_nonnull(strstr(md, "3 measured rows are stale"));
    const char *csv = report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_str_eq(report_csv_field(csv, 1, "state"), "stale");
}
END_TEST

START_TEST(apart_gone_kernel)
{
    plant_all();
    c.current[1].kernel = "other";
    const char *csv = report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_str_eq(report_csv_field(csv, 2, "kernel"), "slow");
    ck_assert_str_eq(report_csv_field(csv, 2, "state"), "gone");
    ck_assert_str_eq(report_csv_field(csv, 1, "state"), "current");
}
END_TEST

START_TEST(apart_other_deployment)
{
    plant_all();
    assay__db_measurement m = measurement(fast, 1.0);
    m.deployment = c.elsewhere;
    report_put_measurement(&c, &m);
    const char *md = report_case_make(&c, "cost", ASSAY__REPORT_MD);
    const char *here = strstr(md, "## Results: Test CPU"),
               *far = strstr(md, "## Measured elsewhere: Far CPU");
    ck_assert_ptr_nonnull(here);
    ck_assert_ptr_nonnull(far);
    ck_assert(here < far);
    ck_assert_ptr_nonnull(strstr(md, "1 results were measured on other deployments"));
    const char *csv = report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_uint_eq(report_csv_rows(csv), 4);
    ck_assert_str_eq(report_csv_field(csv, 4, "state"), "elsewhere");
    ck_assert_str_eq(report_csv_field(csv, 4, "is_winner"), "0");
}
END_TEST

START_TEST(apart_unjudged_says_so)
{
    plant_all();
    c.options.current = NULL;
    c.options.here = NULL;
    const char *md = report_case_make(&c, "cost", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(md, "Which rows are stale was not judged"));
    ck_assert_ptr_nonnull(strstr(md, "## Results"));
    const char *csv = report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_str_eq(report_csv_field(csv, 1, "state"), "unjudged");
}
END_TEST

/* ---- filters and text ---- */

START_TEST(filters_by_dtype_and_kernel)
{
    plant_all();
    c.options.dtype = "f32";
    ck_assert_uint_eq(report_csv_rows(report_case_make(&c, "cost", ASSAY__REPORT_CSV)), 3);
    c.options.dtype = "f32,f32";
    ck_assert_uint_eq(report_csv_rows(report_case_make(&c, "cost", ASSAY__REPORT_CSV)), 3);
    ck_assert_int_eq(assay__strlist_add(&c.kernels, "sl*"), ASSAY_OK);
    const char *csv = report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_uint_eq(report_csv_rows(csv), 2); /* the winner stays */
    ck_assert_str_eq(report_csv_field(csv, 2, "kernel"), "slow");
    c.options.dtype = "f64";
    ck_assert_int_eq(report_case_try(&c, "cost", ASSAY__REPORT_CSV), ASSAY_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "--dtype"));
}
END_TEST

START_TEST(filters_empty_store)
{
    ck_assert_int_eq(report_case_try(&c, "cost", ASSAY__REPORT_HTML), ASSAY_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "nothing measured"));
    c.options.db_path = "/nowhere/at/all.db";
    ck_assert_int_eq(report_case_try(&c, "cost", ASSAY__REPORT_HTML), ASSAY_DB_MISSING);
    ck_assert_int_eq(report_case_try(&c, "cots", ASSAY__REPORT_HTML), ASSAY_INVALID);
}
END_TEST

START_TEST(text_hostile_names)
{
    int64_t evil = report_put_kernel(&c, "<script>x|\"`", "exp", "f32,f32", 1, NULL, true);
    plant_all();
    assay__db_measurement m = measurement(evil, 900000.0);
    report_put_measurement(&c, &m);
    const char *html = report_case_make(&c, "cost", ASSAY__REPORT_HTML);
    ck_assert_ptr_null(strstr(html, "<script>x"));
    ck_assert_ptr_null(strstr(html, "<script>alert"));
    ck_assert_ptr_nonnull(strstr(html, "&lt;script&gt;x|"));
    const char *md = report_case_make(&c, "cost", ASSAY__REPORT_MD);
    ck_assert_ptr_null(strstr(md, "<script>"));
    ck_assert_ptr_nonnull(strstr(md, "&lt;script>x\\|\"\\`"));
    const char *csv = report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_str_eq(report_csv_field(csv, 2, "kernel"), "<script>x|\"`");
}
END_TEST

START_TEST(text_store_is_only_read)
{
    plant_all();
    assay__db_close(&c.db);
    uint64_t before = store_file_digest(c.path);
    report_case_make(&c, "cost", ASSAY__REPORT_HTML);
    ck_assert(before != 0 && store_file_digest(c.path) == before);
}
END_TEST

START_TEST(text_same_twice)
{
    plant_all();
    char *first = strdup(report_case_make(&c, "cost", ASSAY__REPORT_HTML));
    ck_assert_str_eq(first, report_case_make(&c, "cost", ASSAY__REPORT_HTML));
    ck_assert_uint_eq(report_count(first, "<canvas"), 3); /* speed-ups, roofline, candidates */
    free(first);
}
END_TEST

/* ---- roofline ---- */

START_TEST(roofline_scales_and_bounds)
{
    assay__roofline roof;

    assay__roofline_init(&roof, 4, "avx2");
    ck_assert_double_nan(assay__roofline_bound_of(&roof, ASSAY_F32, 1, 1).floor_ns);
    assay__roofline_add(&roof, "fma_f32_avx2_t1", 50);
    assay__roofline_add(&roof, "fma_f32_avx2_t4", 120);
    assay__roofline_add(&roof, "copy_nt_t2", 10);
    assay__roofline_add(&roof, "copy_nt_t4", 8);
    assay__roofline_add(&roof, "copy_nt", 1000);     /* no thread count: no peak */
    assay__roofline_add(&roof, "other_f32_t1", 999); /* nor this */
    ck_assert_double_eq_tol(assay__roofline_flops(&roof, ASSAY_F32), 200, 1e-12); /* 4 x 50 */
    ck_assert_double_eq_tol(assay__roofline_flops(&roof, ASSAY_BF16), 200, 1e-12);
    ck_assert_double_nan(assay__roofline_flops(&roof, ASSAY_F64));
    ck_assert_double_eq_tol(roof.bytes_per_ns, 10, 1e-12); /* never scaled */
    assay__roofline_bound b = assay__roofline_bound_of(&roof, ASSAY_F32, 4000, 100);
    ck_assert(b.is_compute);
    ck_assert_double_eq_tol(b.floor_ns, 20, 1e-12);
    b = assay__roofline_bound_of(&roof, ASSAY_F32, 1000, 100);
    ck_assert(!b.is_compute);
    ck_assert_double_eq_tol(b.floor_ns, 10, 1e-12);
    b = assay__roofline_bound_of(&roof, ASSAY_F64, 1e9, 100);
    ck_assert(!b.is_compute); /* the ceiling that is known */
    ck_assert_double_nan(
        assay__roofline_bound_of(&roof, ASSAY_F32, (double)NAN, (double)NAN).floor_ns);
}
END_TEST

START_TEST(format_by_name_or_path)
{
    ck_assert_int_eq(assay__report_format_of("csv", "a.html"), ASSAY__REPORT_CSV);
    ck_assert_int_eq(assay__report_format_of(NULL, "a.b/x.html"), ASSAY__REPORT_HTML);
    ck_assert_int_eq(assay__report_format_of(NULL, "x.txt"), ASSAY__REPORT_MD);
    ck_assert_int_eq(assay__report_format_of(NULL, NULL), ASSAY__REPORT_MD);
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
    Suite *suite = suite_create("report_cost");
    TCase *t = tcase(suite, "figures");

    tcase_add_test(t, figures_of_winner);
    tcase_add_test(t, figures_unknown_are_empty);
    tcase_add_test(t, figures_in_markdown);
    tcase_add_test(t, figures_without_peaks_have_no_share);
    tcase_add_test(t, figures_in_json);
    tcase_add_test(t, figures_show_transfers);
    tcase_add_test(t, figures_show_transfers_on_the_page);
    t = tcase(suite, "apart");
    tcase_add_test(t, apart_wrong_winner_is_none);
    tcase_add_test(t, apart_stale_rows);
    tcase_add_test(t, apart_gone_kernel);
    tcase_add_test(t, apart_other_deployment);
    tcase_add_test(t, apart_unjudged_says_so);
    t = tcase(suite, "filters");
    tcase_add_test(t, filters_by_dtype_and_kernel);
    tcase_add_test(t, filters_empty_store);
    t = tcase(suite, "text");
    tcase_add_test(t, text_hostile_names);
    tcase_add_test(t, text_store_is_only_read);
    tcase_add_test(t, text_same_twice);
    tcase_add_test(t, format_by_name_or_path);
    tcase_add_test(t, roofline_scales_and_bounds);
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
