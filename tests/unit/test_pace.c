/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_pace.c -- what is left of a sweep, told from what it took so far. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tuner/pace.h"

#define SCREEN_S 0.5
#define VISIT_S  0.2

static assay__pace pace;
static size_t planned[ASSAY__STAY_KINDS];

static void setup(void)
{
    memset(&pace, 0, sizeof pace);
    memset(planned, 0, sizeof planned);
}

/* So many stays ahead, of which the model says nothing. */
static void plan(assay__stay kind, size_t count)
{
    assay__pace_correct(&pace, kind, (assay__load){planned[kind], 0}, (assay__load){count, 0});
    planned[kind] = count;
}

static void took(assay__stay kind, size_t times, double seconds)
{
    for (size_t i = 0; i < times; i++) {
        assay__pace_took(&pace, kind, 0, seconds);
        plan(kind, planned[kind] > 0 ? planned[kind] - 1 : 0);
    }
}

START_TEST(few_stays_give_no_eta)
{
    plan(ASSAY__STAY_SCREEN, 20);
    plan(ASSAY__STAY_VISIT, 80);
    ck_assert_double_nan(assay__pace_eta_s(&pace));
    took(ASSAY__STAY_SCREEN, 7, SCREEN_S);
    ck_assert_double_nan(assay__pace_eta_s(&pace));
    took(ASSAY__STAY_SCREEN, 1, SCREEN_S);
    /* Of visits nothing is known but what the others take. */
    ck_assert_double_eq_tol(assay__pace_eta_s(&pace), 92 * SCREEN_S, 1e-9);
    took(ASSAY__STAY_SCREEN, 12, SCREEN_S);
    took(ASSAY__STAY_VISIT, 8, VISIT_S);
    ck_assert_double_eq_tol(assay__pace_eta_s(&pace), 72 * VISIT_S, 1e-9);
    took(ASSAY__STAY_VISIT, 72, VISIT_S);
    ck_assert_double_eq(assay__pace_eta_s(&pace), 0);
    ck_assert_uint_eq(assay__pace_done(&pace), 100);
    ck_assert_uint_eq(assay__pace_total(&pace), 100);
}
END_TEST

/* A resumed sweep may have all its screening behind it, and one that is over nothing ahead. */
START_TEST(what_is_not_left_is_not_asked_for)
{
    ck_assert_double_eq(assay__pace_eta_s(&pace), 0);
    plan(ASSAY__STAY_VISIT, 20);
    took(ASSAY__STAY_VISIT, 10, VISIT_S);
    ck_assert_double_eq_tol(assay__pace_eta_s(&pace), 10 * VISIT_S, 1e-9);
}
END_TEST

START_TEST(more_stays_than_planned_count_as_done)
{
    plan(ASSAY__STAY_VISIT, 2);
    took(ASSAY__STAY_VISIT, 5, VISIT_S);
    ck_assert_uint_eq(assay__pace_total(&pace), 5);
    plan(ASSAY__STAY_VISIT, 9);
    ck_assert_uint_eq(assay__pace_total(&pace), 14);
}
END_TEST

/* What one of two problems planned stays as it is when the other's turns out otherwise. */
START_TEST(problems_are_planned_apart)
{
    const assay__load none = {0, 0}, ten = {10, 1.0}, four = {4, 0.5};

    assay__pace_correct(&pace, ASSAY__STAY_VISIT, none, ten);
    assay__pace_correct(&pace, ASSAY__STAY_VISIT, none, ten);
    assay__pace_correct(&pace, ASSAY__STAY_VISIT, ten, four);
    ck_assert_uint_eq(assay__pace_total(&pace), 14);
    ck_assert_double_eq_tol(pace.left[ASSAY__STAY_VISIT].model_s, 1.5, 1e-12);
}
END_TEST

/* Starts and the oracle take time and are no stays. */
START_TEST(other_pieces_take_time)
{
    plan(ASSAY__STAY_VISIT, 10);
    took(ASSAY__STAY_VISIT, 10, VISIT_S);
    plan(ASSAY__STAY_START, 4);
    took(ASSAY__STAY_START, 2, 0.5);
    plan(ASSAY__STAY_ORACLE, 3);
    took(ASSAY__STAY_ORACLE, 1, 5);
    ck_assert_double_eq_tol(assay__pace_eta_s(&pace), 2 * 0.5 + 2 * 5, 1e-9);
    ck_assert_uint_eq(assay__pace_total(&pace), 10);
}
END_TEST

/* Light stays came first: twice the model, and 0.1 s more each. */
START_TEST(heavy_stays_take_what_the_model_says_of_them)
{
    for (size_t i = 0; i < 10; i++) {
        const double model_s = 0.01 * (double)(i + 1);
        assay__pace_took(&pace, ASSAY__STAY_VISIT, model_s, 2 * model_s + 0.1);
    }
    ck_assert_double_eq_tol(assay__pace_expect_s(&pace, ASSAY__STAY_VISIT, (assay__load){5, 20}),
                            40.5, 1e-6);
    /* One whose model is not known says nothing. */
    assay__pace_took(&pace, ASSAY__STAY_VISIT, NAN, 1000);
    ck_assert_double_eq_tol(assay__pace_expect_s(&pace, ASSAY__STAY_VISIT, (assay__load){5, 20}),
                            40.5, 1e-6);
}
END_TEST

/* Of stays that are all alike nothing follows but what one takes more. */
START_TEST(equal_stays_tell_no_factor)
{
    for (size_t i = 0; i < 10; i++)
        assay__pace_took(&pace, ASSAY__STAY_VISIT, 0.1 * (1 + 1e-3 * (double)i), i % 2 ? 0.2 : 0.4);
    ck_assert_double_eq_tol(assay__pace_expect_s(&pace, ASSAY__STAY_VISIT, (assay__load){2, 1.0}),
                            1.4, 2e-3);
    /* Faster than the model says: in proportion, never less than nothing. */
    setup();
    assay__pace_took(&pace, ASSAY__STAY_VISIT, 1.0, 0.25);
    ck_assert_double_eq_tol(assay__pace_expect_s(&pace, ASSAY__STAY_VISIT, (assay__load){2, 4.0}),
                            1.0, 1e-9);
}
END_TEST

START_TEST(stay_takes_its_calls)
{
    const assay__profile *f;

    ck_assert_int_eq(assay__profile_find("quick", &f), ASSAY_OK);
    /* 2 ms to warm up, a span, 7 spans of 33 us. */
    ck_assert_double_eq_tol(assay__pace_stay_s(f, false, 10), 2e-3 + 30e-6 + 7 * 33e-6, 1e-9);
    ck_assert_double_eq_tol(assay__pace_stay_s(f, true, 10), 1e-3 + 30e-6 + 3 * 33e-6, 1e-9);
    /* 5 ms: two calls, one, and one that fits the 8 ms. */
    ck_assert_double_eq_tol(assay__pace_stay_s(f, false, 5e6), 20e-3, 1e-9);
    ck_assert_double_eq_tol(assay__pace_stay_s(f, false, 1e6), (2 + 1 + 7) * 1e-3, 1e-9);
    ck_assert_double_eq_tol(assay__pace_stay_s(f, false, 1e9), 2.0, 1e-9);
}
END_TEST

START_TEST(one_candidate_is_confirmed_alone)
{
    ck_assert_uint_eq(assay__pace_visits(0, 6, 4), 0);
    ck_assert_uint_eq(assay__pace_visits(1, 6, 4), 16);
    ck_assert_uint_eq(assay__pace_visits(2, 6, 4), 20);
    ck_assert_uint_eq(assay__pace_visits(13, 6, 4), 56);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pace");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, few_stays_give_no_eta);
    tcase_add_test(all, what_is_not_left_is_not_asked_for);
    tcase_add_test(all, more_stays_than_planned_count_as_done);
    tcase_add_test(all, problems_are_planned_apart);
    tcase_add_test(all, other_pieces_take_time);
    tcase_add_test(all, heavy_stays_take_what_the_model_says_of_them);
    tcase_add_test(all, equal_stays_tell_no_factor);
    tcase_add_test(all, stay_takes_its_calls);
    tcase_add_test(all, one_candidate_is_confirmed_alone);
    suite_add_tcase(suite, all);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
