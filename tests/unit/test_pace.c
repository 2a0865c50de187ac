/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_pace.c -- what is left of a sweep, told from what it took so far. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tuner/pace.h"

#define PROBLEMS   20
#define CANDIDATES 10
#define VISITS     7
#define CONFIRMS   5
#define SCREEN_S   0.5
#define VISIT_S    0.2

static assay__pace pace;

static void setup(void)
{
    memset(&pace, 0, sizeof pace);
}

static void took(assay__stay kind, size_t times, double seconds)
{
    for (size_t i = 0; i < times; i++)
        assay__pace_took(&pace, kind, seconds);
}

START_TEST(unseen_kind_of_stay_gives_no_eta)
{
    assay__pace_correct(&pace, ASSAY__STAY_SCREEN, 0, 20);
    assay__pace_correct(&pace, ASSAY__STAY_VISIT, 0, 80);
    ck_assert_double_nan(assay__pace_eta_s(&pace));
    took(ASSAY__STAY_SCREEN, 20, SCREEN_S);
    ck_assert_double_nan(assay__pace_eta_s(&pace)); /* nothing is known of visits */
    took(ASSAY__STAY_VISIT, 7, VISIT_S);
    ck_assert_double_nan(assay__pace_eta_s(&pace));
    took(ASSAY__STAY_VISIT, 1, VISIT_S);
    ck_assert_double_eq_tol(assay__pace_eta_s(&pace), 72 * VISIT_S, 1e-9);
    took(ASSAY__STAY_VISIT, 72, VISIT_S);
    ck_assert_double_eq(assay__pace_eta_s(&pace), 0);
    ck_assert_uint_eq(assay__pace_done(&pace), 100);
    ck_assert_uint_eq(assay__pace_total(&pace), 100);
}
END_TEST

/* A resumed sweep may have all its screening behind it. */
START_TEST(kind_of_which_none_is_left_is_not_asked_for)
{
    assay__pace_correct(&pace, ASSAY__STAY_VISIT, 0, 20);
    took(ASSAY__STAY_VISIT, 10, VISIT_S);
    ck_assert_double_eq_tol(assay__pace_eta_s(&pace), 10 * VISIT_S, 1e-9);
}
END_TEST

START_TEST(more_stays_than_planned_count_as_done)
{
    assay__pace_correct(&pace, ASSAY__STAY_VISIT, 0, 2);
    took(ASSAY__STAY_VISIT, 5, VISIT_S);
    ck_assert_uint_eq(assay__pace_total(&pace), 5);
    assay__pace_correct(&pace, ASSAY__STAY_VISIT, 3, 9);
    ck_assert_uint_eq(assay__pace_total(&pace), 14);
}
END_TEST

/* Groups of five problems, of whose candidates three in ten outlive the screening where half were
 * expected; every problem is planned anew once it is screened and once it is decided. */
START_TEST(eta_after_a_tenth_is_right_within_a_factor_of_1_5)
{
    const size_t planned = assay__pace_visits(CANDIDATES, VISITS, CONFIRMS), in = 3;
    const double all_s =
        PROBLEMS * (CANDIDATES * SCREEN_S + (double)(in * VISITS + 2 * CONFIRMS) * VISIT_S);
    double now = 0, share;
    size_t judged = 0;

    for (size_t i = 0; i < PROBLEMS; i++) {
        assay__pace_correct(&pace, ASSAY__STAY_SCREEN, 0, CANDIDATES);
        assay__pace_correct(&pace, ASSAY__STAY_VISIT, 0, planned);
    }
    for (size_t group = 0; group < PROBLEMS / 5; group++) {
        for (size_t i = 0; i < 5; i++) {
            took(ASSAY__STAY_SCREEN, CANDIDATES, SCREEN_S);
            now += CANDIDATES * SCREEN_S;
            assay__pace_correct(&pace, ASSAY__STAY_VISIT, planned, in * VISITS + 2 * CONFIRMS);
        }
        for (size_t i = 0; i < 5 * (in * VISITS + 2 * CONFIRMS); i++) {
            took(ASSAY__STAY_VISIT, 1, VISIT_S);
            now += VISIT_S;
            share = now / all_s;
            if (share < 0.1 || share > 0.95 || isnan(assay__pace_eta_s(&pace)))
                continue;
            judged++;
            ck_assert_double_lt(assay__pace_eta_s(&pace), 1.5 * (all_s - now));
            ck_assert_double_gt(assay__pace_eta_s(&pace), (all_s - now) / 1.5);
        }
    }
    ck_assert_uint_ge(judged, 500);
    ck_assert_double_eq_tol(assay__pace_eta_s(&pace), 0, 1e-9);
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
    tcase_add_test(all, unseen_kind_of_stay_gives_no_eta);
    tcase_add_test(all, kind_of_which_none_is_left_is_not_asked_for);
    tcase_add_test(all, more_stays_than_planned_count_as_done);
    tcase_add_test(all, eta_after_a_tenth_is_right_within_a_factor_of_1_5);
    tcase_add_test(all, one_candidate_is_confirmed_alone);
    suite_add_tcase(suite, all);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
