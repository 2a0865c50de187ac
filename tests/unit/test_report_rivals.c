/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_report_rivals.c -- who wins where and what picking gains, in the cost report. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/json.h"
#include "tests/support/report_case.h"

/* The default is openblas/gemm; cpu/fast wins `large`, openblas `small`. */
static report_case c;
static int64_t fast, gemm, other, large, small;

static void setup(void)
{
    report_case_setup(&c);
    fast = report_put_rival(&c, "cpu", "fast", "matmul", "f32,f32,f32", 1);
    gemm = report_put_rival(&c, "openblas", "gemm", "matmul", "f32,f32,f32", 1);
    other = report_put_rival(&c, "blis", "other", "matmul", "f32,f32,f32", 1);
    large = report_put_problem(&c, ASSAY_OP_matmul, ASSAY_F32, "m=64,n=64,k=64");
    small = report_put_problem(&c, ASSAY_OP_matmul, ASSAY_F32, "m=4,n=4,k=4");
    c.options.by_rival = true;
}

static void teardown(void)
{
    report_case_teardown(&c);
}

static int64_t put_measurement(int64_t problem, int64_t revision, double ns)
{
    assay__db_measurement m = store_measurement(&c.rows);

    m.problem = problem;
    m.revision = revision;
    m.layout = "ccc";
    m.median_ns = ns;
    m.lo_ns = 0.9 * ns;
    m.hi_ns = 1.1 * ns;
    return report_put_measurement(&c, &m);
}

/* Visits of one kind in order, the first as `first`; 0: the candidate missed it. */
static void put_visits(int64_t measurement, const char *kind, int64_t first, const double *ns,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double samples[] = {ns[i], 2 * ns[i], 0.5 * ns[i]}; /* median: ns[i] */
        assay__db_visit v = store_visit(measurement, samples, 3);
        int64_t id;
        v.kind = kind;
        v.ordinal = first + (int64_t)i;
        ck_assert_msg(assay__db_put_visit(c.db, &v, &id) == ASSAY_OK, "%s", assay_last_error());
    }
}

static void put_twin(int64_t measurement, int64_t ordinal, double ns)
{
    assay__db_visit v = store_visit(measurement, &ns, 1);
    int64_t id;

    v.ordinal = ordinal;
    v.is_twin = true;
    ck_assert_int_eq(assay__db_put_visit(c.db, &v, &id), ASSAY_OK);
}

static assay__route_candidate candidate(int64_t revision, double ns, double ratio)
{
    assay__route_candidate one = store_candidate(revision, ns);

    one.lo_ns = 0.9 * ns;
    one.hi_ns = 1.1 * ns;
    one.ratio = ratio;
    one.ratio_lo = ratio >= 1.0 ? ratio : ratio - 0.1;
    one.ratio_hi = ratio >= 1.0 ? ratio : ratio + 0.1;
    one.ratio_level = ratio >= 1.0 ? 0 : 95;
    return one;
}

static void put_route(int64_t problem, const assay__route_candidate *all, size_t count)
{
    assay__db_route r = store_route(&c.rows, all, count);

    r.problem = problem;
    r.layout = "ccc";
    r.winner_revision = (int64_t)all[0].revision_row;
    report_put_route(&c, &r);
}

static void put_use(int64_t problem, const char *name, double count)
{
    const assay__db_use u = {.sweep = c.rows.sweep,
                             .problem = problem,
                             .shape_set = "set",
                             .row_name = name,
                             .run_count = count};

    ck_assert_int_eq(assay__db_put_use(c.db, &u), ASSAY_OK);
}

/* large: fast 100 in visits where gemm takes 200 and other took 400 when screened; small: gemm is
 * picked, cpu/fast takes `fast_small` of its time in each of three visits. */
static void plant(double fast_small)
{
    static const double fast_ns[] = {100, 200, 400}, gemm_ns[] = {200, 400, 800};
    const double small_ns[] = {10, 20, 40};
    double ns[3];
    const assay__route_candidate of_large[] = {candidate(fast, 100, 0.5), candidate(gemm, 200, 1)};
    const assay__route_candidate of_small[] = {candidate(gemm, 10, 1)};
    int64_t m = put_measurement(large, fast, 100);

    put_visits(m, "screen", 0, &fast_ns[0], 1);
    put_visits(m, "measure", 1, fast_ns, 3);
    m = put_measurement(large, gemm, 200);
    put_visits(m, "measure", 1, gemm_ns, 3);
    m = put_measurement(large, other, 400);
    put_visits(m, "screen", 0, (double[]){400}, 1);
    m = put_measurement(small, gemm, 10);
    put_visits(m, "measure", 1, small_ns, 3);
    for (size_t i = 0; i < 3; i++)
        ns[i] = fast_small * small_ns[i];
    m = put_measurement(small, fast, fast_small * 10);
    put_visits(m, "measure", 1, ns, 3);
    put_route(large, of_large, 2);
    put_route(small, of_small, 1);
}

/* Of the first group with this set. */
static size_t row_of(const char *set, const char *rival)
{
    for (size_t i = 1; i <= report_csv_rows(c.text); i++) {
        char is_set = strcmp(report_csv_field(c.text, i, "shape_set"), set) == 0;
        if (is_set && strcmp(report_csv_field(c.text, i, "rival"), rival) == 0)
            return i;
    }
    ck_abort_msg("no row of '%s' and %s in\n%s", set, rival, c.text);
    return 0;
}

static void is(size_t row, const char *column, const char *wanted)
{
    const char *got = report_csv_field(c.text, row, column);

    ck_assert_msg(strcmp(got, wanted) == 0, "row %zu, %s: %s, not %s", row, column, got, wanted);
}

static void is_near(size_t row, const char *column, double wanted)
{
    const char *got = report_csv_field(c.text, row, column);

    ck_assert_msg(fabs(atof(got) - wanted) <= 1e-9 * wanted, "row %zu, %s: %s, not %.17g", row,
                  column, got, wanted);
}

START_TEST(gains_are_paired_inside_visits)
{
    size_t row;

    plant(3.0);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    row = row_of("", "openblas"); /* 2 at large in every visit, itself at small */
    is(row, "op", "matmul");
    is(row, "covered", "2");
    is(row, "measured", "2");
    is(row, "judged", "2");
    is(row, "wins", "1");
    is_near(row, "gain", sqrt(2.0));
    is_near(row, "gain_lo", sqrt(2.0)); /* visits that agree whole: no width */
    is_near(row, "wins_flops_lo", 2 * 4 * 4 * 4);
    is_near(row, "wins_flops_hi", 2 * 4 * 4 * 4);
    is(row, "is_best", "1");
    is(row, "slower", "0");
    row = row_of("", "cpu"); /* itself at large, 3 at small */
    is_near(row, "gain", sqrt(3.0));
    is(row, "is_best", "0");
    is_near(row, "wins_flops_hi", 2 * 64 * 64 * 64);
}
END_TEST

START_TEST(gains_are_weighted_in_sets)
{
    size_t row;

    plant(4.0);
    put_use(large, "a", 3);
    put_use(small, "b", 1);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    row = row_of("set", "openblas");
    is(row, "op", "");
    is_near(row, "gain", pow(2.0, 0.75));
    is(row, "is_best", "0");
    row = row_of("set", "cpu");
    is_near(row, "gain", pow(4.0, 0.25));
    is(row, "is_best", "1"); /* 1.41 is less than 1.68 */
    row = row_of("set", "(default)");
    is_near(row, "gain", pow(2.0, 0.75));
    is_near(row, "gain_lo", pow(1 / 0.6, 0.75));
    is_near(row, "gain_hi", pow(1 / 0.4, 0.75));
    is(row, "wins", "1");
}
END_TEST

START_TEST(screening_gives_a_ratio_without_interval)
{
    size_t row;

    plant(2.0);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    row = row_of("", "blis");
    is(row, "measured", "1");
    is(row, "paired", "1");
    is(row, "judged", "0");
    is_near(row, "gain", 4.0);
    is(row, "gain_lo", ""); /* absent, not zero */
    is(row, "slower", "");
    is(row, "wins", "0");
    is(row, "wins_flops_lo", "");
    is(row, "is_best", "0"); /* it has no ratio at small */
}
END_TEST

START_TEST(no_common_visit_gives_no_ratio)
{
    int64_t m;

    plant(2.0);
    m = put_measurement(small, other, 15);
    put_visits(m, "measure", 7, (double[]){15, 15}, 2); /* nobody else was in these */
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    is(row_of("", "blis"), "measured", "2");
    is(row_of("", "blis"), "paired", "1");
    is_near(row_of("", "blis"), "gain", 4.0);
}
END_TEST

/* Visits that only some rivals took are left out, wherever they lie in the row. */
START_TEST(visits_are_paired_by_number)
{
    int64_t m;

    plant(2.0);
    m = put_measurement(small, other, 1);
    put_visits(m, "measure", 2, (double[]){60, 120}, 2); /* beside 20 and 40 */
    put_twin(m, 1, 1e6);                                 /* no time of a rival */
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    is_near(row_of("", "blis"), "gain", sqrt(4.0 * 3.0));
    is(row_of("", "blis"), "judged", "1");
    is(row_of("", "blis"), "gain_lo", "");
}
END_TEST

/* Confirming visits have other numbers for whoever had more measuring ones. */
START_TEST(confirming_visits_are_paired_in_order)
{
    int64_t m;

    plant(2.0);
    m = put_measurement(small, gemm, 10);
    put_visits(m, "confirm", 4, (double[]){10, 100}, 2);
    m = put_measurement(small, other, 50);
    put_visits(m, "confirm", 6, (double[]){50, 500}, 2);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    is_near(row_of("", "blis"), "gain", sqrt(4.0 * 5.0));
}
END_TEST

START_TEST(picked_slower_is_named)
{
    size_t row;

    plant(0.9); /* the picked default takes 1.11 times as long as cpu */
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    row = row_of("", "cpu");
    is(row, "slower", "1");
    ck_assert_ptr_nonnull(strstr(report_csv_field(c.text, row, "slower_problems"), "m=4,n=4,k=4"));
    is(row_of("", "openblas"), "slower", "0");
}
END_TEST

START_TEST(picked_slower_within_the_slack_is_not)
{
    plant(0.985);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    is(row_of("", "cpu"), "slower", "0");
    is(row_of("", "cpu"), "slower_problems", "");
}
END_TEST

START_TEST(one_common_visit_gives_no_interval)
{
    int64_t m;

    plant(2.0);
    m = put_measurement(small, other, 15);
    put_visits(m, "measure", 1, (double[]){15}, 1);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    is(row_of("", "blis"), "paired", "2");
    is(row_of("", "blis"), "judged", "0");
    is_near(row_of("", "blis"), "gain", sqrt(4.0 * 1.5));
}
END_TEST

START_TEST(best_alone_has_a_ratio_everywhere)
{
    int64_t m;

    plant(2.0);
    m = put_measurement(large, other, 50);
    put_visits(m, "measure", 1, (double[]){50, 100, 200}, 3);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    is_near(row_of("", "blis"), "gain", 0.5);
    is(row_of("", "blis"), "is_best", "0");
}
END_TEST

static void check_no_blis(void)
{
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_uint_gt(report_csv_rows(c.text), 0);
    for (size_t i = 1; i <= report_csv_rows(c.text); i++)
        ck_assert_str_ne(report_csv_field(c.text, i, "rival"), "blis");
}

static void put_other(int64_t problem, assay__verdict verdict)
{
    assay__db_measurement m = store_measurement(&c.rows);

    m.problem = problem;
    m.revision = other;
    m.layout = "ccc";
    m.median_ns = 1;
    m.verdict = verdict;
    report_put_measurement(&c, &m);
}

START_TEST(rejected_are_no_rivals)
{
    plant(2.0);
    put_other(small, ASSAY__VERDICT_WRONG);
    put_other(large, ASSAY__VERDICT_WRONG);
    check_no_blis();
}
END_TEST

START_TEST(stale_are_no_rivals)
{
    plant(2.0);
    c.current[2].revision = "0000000000000000000000000000000000000000000000000000000000000001";
    check_no_blis();
}
END_TEST

START_TEST(forms_say_the_same)
{
    json_t *root = NULL;
    const char *text;
    double real;

    plant(0.9);
    put_use(large, "a", 3);
    report_case_make(&c, "cost", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(c.text, "## Rivals"));
    ck_assert_ptr_nonnull(strstr(c.text, "| all measured | f32 | matmul | (default) | 1 of 2 |"));
    ck_assert_ptr_nonnull(strstr(c.text, "| 1 of 2: matmul "));
    report_case_make(&c, "cost", ASSAY__REPORT_HTML);
    ck_assert_ptr_nonnull(strstr(c.text, "the best alone"));
    report_case_make(&c, "cost", ASSAY__REPORT_JSON);
    ck_assert_msg(assay__json_parse("report", c.text, c.size, &root) == ASSAY_OK, "%s",
                  assay_last_error());
    ck_assert(!assay__json_has(root, "rivals[0].rival")); /* the default */
    ck_assert(!assay__json_has(root, "rivals[0].set"));
    ck_assert_int_eq(assay__json_get_string(root, "rivals[1].rival", &text), ASSAY_OK);
    ck_assert_str_eq(text, "cpu");
    ck_assert_int_eq(assay__json_get_string(root, "rivals[1].slower_problems[0]", &text), ASSAY_OK);
    ck_assert_ptr_nonnull(strstr(text, "m=4,n=4,k=4"));
    ck_assert_int_eq(assay__json_get_real(root, "rivals[3].gain", &real), ASSAY_OK);
    ck_assert_double_eq_tol(real, 4.0, 1e-9);
    ck_assert(!assay__json_has(root, "rivals[3].gain_lo"));
    ck_assert(!assay__json_has(root, "rivals[3].slower"));
    ck_assert_int_eq(assay__json_get_string(root, "rivals[4].set", &text), ASSAY_OK);
    ck_assert_str_eq(text, "set");
    json_decref(root);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("report_rivals");
    TCase *all = tcase_create("rivals");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, gains_are_paired_inside_visits);
    tcase_add_test(all, gains_are_weighted_in_sets);
    tcase_add_test(all, screening_gives_a_ratio_without_interval);
    tcase_add_test(all, no_common_visit_gives_no_ratio);
    tcase_add_test(all, visits_are_paired_by_number);
    tcase_add_test(all, confirming_visits_are_paired_in_order);
    tcase_add_test(all, picked_slower_is_named);
    tcase_add_test(all, picked_slower_within_the_slack_is_not);
    tcase_add_test(all, one_common_visit_gives_no_interval);
    tcase_add_test(all, best_alone_has_a_ratio_everywhere);
    tcase_add_test(all, rejected_are_no_rivals);
    tcase_add_test(all, stale_are_no_rivals);
    tcase_add_test(all, forms_say_the_same);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
