/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_report_sets.c -- weighted times of shape sets in the cost report. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/json.h"
#include "tests/support/report_case.h"

static report_case c;
static int64_t fast, slow, adder, large, small, sum, half;

static void setup(void)
{
    report_case_setup(&c);
    fast = report_put_kernel(&c, "fast", "exp", "f32,f32", 1, NULL, true);
    slow = report_put_kernel(&c, "slow", "exp", "f32,f32", 1, NULL, true);
    adder = report_put_kernel(&c, "adder", "add", "f32,f32,f32", 1, NULL, true);
    large = report_put_problem(&c, ASSAY_OP_exp, ASSAY_F32, "n=1000000");
    small = report_put_problem(&c, ASSAY_OP_exp, ASSAY_F32, "n=2000");
    half = report_put_problem(&c, ASSAY_OP_exp, ASSAY_F16, "n=2000");
    sum = report_put_problem(&c, ASSAY_OP_add, ASSAY_F32, "n=5");
    c.options.by_set = true;
}

static void teardown(void)
{
    report_case_teardown(&c);
}

static void put_use(int64_t problem, const char *set, const char *name, double count)
{
    const assay__db_use u = {.sweep = c.rows.sweep,
                             .problem = problem,
                             .shape_set = set,
                             .row_name = name,
                             .run_count = count};

    ck_assert_msg(assay__db_put_use(c.db, &u) == ASSAY_OK, "%s", assay_last_error());
}

static void put_measurement(int64_t deployment, int64_t problem, int64_t revision,
                            const char *layout, double ns)
{
    assay__db_measurement m = store_measurement(&c.rows);

    m.deployment = deployment;
    m.problem = problem;
    m.revision = revision;
    m.layout = layout;
    m.median_ns = ns;
    m.lo_ns = 0.9 * ns;
    m.hi_ns = 1.1 * ns;
    report_put_measurement(&c, &m);
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

static void put_route(int64_t problem, const char *layout, const assay__route_candidate *all,
                      size_t count)
{
    assay__db_route r = store_route(&c.rows, all, count);

    r.problem = problem;
    r.layout = layout;
    r.winner_revision = (int64_t)all[0].revision_row;
    report_put_route(&c, &r);
}

/* large: 0.75 of the default's 1000 us; small: the default itself, 10 us. */
static void plant_routes(void)
{
    const assay__route_candidate of_large[] = {candidate(fast, 800000, 0.75),
                                               candidate(slow, 1000000, 1)};
    const assay__route_candidate of_small[] = {candidate(slow, 10000, 1)};

    put_measurement(c.rows.deployment, large, fast, "cc", 800000);
    put_measurement(c.rows.deployment, large, slow, "cc", 1000000);
    put_measurement(c.rows.deployment, small, slow, "cc", 10000);
    put_route(large, "cc", of_large, 2);
    put_route(small, "cc", of_small, 1);
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

/* ---- sums ---- */

START_TEST(sums_are_weighted_by_count)
{
    plant_routes();
    put_use(large, "bert", "scores", 3);
    put_use(small, "bert", "gate", 2);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_uint_eq(report_csv_rows(c.text), 2); /* the set, and its only op */
    is(1, "shape_set", "bert");
    is(1, "dtype", "f32");
    is(1, "op", "");
    is(2, "op", "exp");
    is(1, "layout", "c");
    is(1, "rows", "2");
    is(1, "covered", "2");
    is(1, "runs", "5");
    is_near(1, "default_ns", 3 * 1000000 + 2 * 10000);
    is_near(1, "picked_ns", 3 * 800000 + 2 * 10000);
    is_near(1, "picked_lo_ns", 0.9 * (3 * 800000 + 2 * 10000));
    is_near(1, "default_hi_ns", 1.1 * (3 * 1000000 + 2 * 10000));
    /* Of the paired ratio 0.75 [0.65, 0.85], not of 800 / 1000. */
    is_near(1, "gain", 3020000.0 / (3000000 * 0.75 + 20000));
    is_near(1, "gain_lo", 3020000.0 / (3000000 * 0.85 + 20000));
    is_near(1, "gain_hi", 3020000.0 / (3000000 * 0.65 + 20000));
    is_near(1, "gain_level", 0.95);
    is(1, "wins", "cpu/fast 1, cpu/slow 1");
    is(1, "not_measured", "0");
}
END_TEST

START_TEST(sums_keep_sets_and_ops_apart)
{
    const assay__route_candidate of_sum[] = {candidate(adder, 100, 1)};

    plant_routes();
    put_measurement(c.rows.deployment, sum, adder, "ccc", 100);
    put_route(sum, "ccc", of_sum, 1);
    put_use(large, "t=16", "a", 1);
    put_use(small, "t=2", "a", 10);
    put_use(sum, "t=2", "b", 7);
    put_use(small, "", "of no set", 1000);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_uint_eq(report_csv_rows(c.text), 5);
    is(1, "shape_set", "t=2"); /* all of it: operands of both ops lie contiguous */
    is(1, "op", "");
    is(1, "rows", "2");
    is_near(1, "picked_ns", 10 * 10000 + 7 * 100);
    is(2, "op", "add");
    is_near(2, "picked_ns", 700);
    is(3, "op", "exp");
    is_near(3, "picked_ns", 100000);
    is(4, "shape_set", "t=16");
    is_near(4, "picked_ns", 800000);
    is_near(2, "gain", 1);
}
END_TEST

/* ---- what is not covered ---- */

START_TEST(uncovered_is_counted_and_in_no_sum)
{
    int64_t lost = report_put_problem(&c, ASSAY_OP_exp, ASSAY_F32, "n=7");
    int64_t alone = report_put_problem(&c, ASSAY_OP_exp, ASSAY_F32, "n=8");
    const assay__route_candidate of_alone[] = {candidate(fast, 50, 0.5)};

    plant_routes();
    put_measurement(c.rows.deployment, lost, slow, "cc", 70); /* no route: not decided */
    put_measurement(c.rows.deployment, alone, fast, "cc", 50);
    put_route(alone, "cc", of_alone, 1); /* no default beside it */
    put_use(small, "bert", "measured", 2);
    put_use(lost, "bert", "undecided", 1);
    put_use(alone, "bert", "without default", 1);
    put_use(sum, "bert", "never measured", 9);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    is(1, "rows", "4");
    is(1, "covered", "1");
    is(1, "not_measured", "1");
    is(1, "no_pick", "1");
    is(1, "no_default", "1");
    is(1, "stale_rows", "0");
    is(1, "runs", "13");
    is_near(1, "picked_ns", 20000);
    is(2, "op", "add"); /* of it nothing is known: absent, not zero */
    is(2, "covered", "0");
    is(2, "not_measured", "1");
    is(2, "picked_ns", "");
    is(2, "default_ns", "");
    is(2, "gain", "");
    is(2, "wins", "");
}
END_TEST

START_TEST(uncovered_when_stale)
{
    plant_routes();
    put_use(large, "bert", "scores", 3);
    put_use(small, "bert", "gate", 2);
    c.current[0].revision = "0000000000000000000000000000000000000000000000000000000000000001";
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    is(1, "covered", "1");
    is(1, "stale_rows", "1");
    is_near(1, "picked_ns", 20000);
}
END_TEST

START_TEST(uncovered_everywhere_has_no_place)
{
    plant_routes();
    put_use(half, "half", "gate", 2);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    is(1, "dtype", "f16");
    is(1, "deployment", "");
    is(1, "policy", "");
    is(1, "align_bytes", "");
    is(1, "not_measured", "1");
    is(1, "picked_ns", "");
    report_case_make(&c, "cost", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(c.text, "## Shape sets that were not measured"));
    ck_assert_ptr_nonnull(
        strstr(c.text, "| half | f16 | all | 0 of 1 | 1 not measured | 2 | - | - "));
}
END_TEST

START_TEST(places_are_apart)
{
    plant_routes();
    put_measurement(c.elsewhere, large, fast, "cc", 5);
    put_use(large, "bert", "scores", 3);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_uint_eq(report_csv_rows(c.text), 4);
    is(1, "deployment", c.rows.deployment_hex);
    is(1, "covered", "1");
    ck_assert_str_ne(report_csv_field(c.text, 3, "deployment"), c.rows.deployment_hex);
    is(3, "covered", "0");
    is(3, "no_pick", "1");
}
END_TEST

/* ---- forms ---- */

START_TEST(interval_is_unknown_when_a_part_is)
{
    assay__route_candidate of_small[] = {candidate(slow, 10000, 1)};

    plant_routes();
    of_small[0].lo_ns = (double)NAN;
    put_route(small, "cc", of_small, 1);
    put_use(large, "bert", "scores", 3);
    put_use(small, "bert", "gate", 2);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    is(1, "picked_lo_ns", "");
    is_near(1, "picked_ns", 2420000);
}
END_TEST

START_TEST(forms_say_the_same)
{
    json_t *root = NULL;
    const char *text;
    double real;

    plant_routes();
    put_use(large, "bert", "scores", 3);
    put_use(small, "bert", "gate", 2);
    put_use(half, "half", "gate", 1);
    report_case_make(&c, "cost", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(c.text, "## Shape sets"));
    ck_assert_ptr_nonnull(strstr(c.text, "| bert | f32 | all | 2 of 2 | none | 5 | 3.02 ms "));
    ck_assert_ptr_nonnull(
        strstr(c.text, "| 1.33x \\[1.18, 1.53\\] at 95 % | cpu/fast 1, cpu/slow 1 |"));
    report_case_make(&c, "cost", ASSAY__REPORT_HTML);
    ck_assert_ptr_nonnull(strstr(c.text, "2 of 2"));
    report_case_make(&c, "cost", ASSAY__REPORT_JSON);
    ck_assert_msg(assay__json_parse("report", c.text, c.size, &root) == ASSAY_OK, "%s",
                  assay_last_error());
    ck_assert_int_eq(assay__json_get_string(root, "sets[0].set", &text), ASSAY_OK);
    ck_assert_str_eq(text, "bert");
    ck_assert(!assay__json_has(root, "sets[0].op"));
    ck_assert_int_eq(assay__json_get_real(root, "sets[0].picked.time_ns", &real), ASSAY_OK);
    ck_assert_double_eq_tol(real, 2420000, 1e-3);
    ck_assert_int_eq(assay__json_get_real(root, "sets[0].default.lo_ns", &real), ASSAY_OK);
    ck_assert_double_eq_tol(real, 0.9 * 3020000, 1e-3);
    ck_assert_int_eq(assay__json_get_real(root, "sets[0].wins[1].rows", &real), ASSAY_OK);
    ck_assert(assay__json_has(root, "sets[2].not_measured"));
    ck_assert(!assay__json_has(root, "sets[2].picked"));
    ck_assert(!assay__json_has(root, "sets[2].gain"));
    ck_assert(!assay__json_has(root, "sets[2].deployment"));
    json_decref(root);
}
END_TEST

START_TEST(filters_choose_problems_not_picks)
{
    plant_routes();
    put_use(large, "bert", "scores", 3);
    put_use(half, "bert", "gate", 1);
    c.options.dtype = "f32";
    ck_assert_int_eq(assay__strlist_add(&c.kernels, "sl*"), ASSAY_OK);
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_uint_eq(report_csv_rows(c.text), 2);
    is_near(1, "picked_ns", 2400000);
    is_near(1, "default_ns", 3000000);
}
END_TEST

START_TEST(store_without_sets_has_no_sums)
{
    plant_routes();
    report_case_make(&c, "cost", ASSAY__REPORT_CSV);
    ck_assert_uint_eq(report_csv_rows(c.text), 0);
    report_case_make(&c, "cost", ASSAY__REPORT_MD);
    ck_assert_ptr_null(strstr(c.text, "Shape sets"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("report_sets");
    TCase *all = tcase_create("sets");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, sums_are_weighted_by_count);
    tcase_add_test(all, sums_keep_sets_and_ops_apart);
    tcase_add_test(all, uncovered_is_counted_and_in_no_sum);
    tcase_add_test(all, uncovered_when_stale);
    tcase_add_test(all, uncovered_everywhere_has_no_place);
    tcase_add_test(all, places_are_apart);
    tcase_add_test(all, interval_is_unknown_when_a_part_is);
    tcase_add_test(all, forms_say_the_same);
    tcase_add_test(all, filters_choose_problems_not_picks);
    tcase_add_test(all, store_without_sets_has_no_sums);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
