/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_profile.c -- what the profiles promise, of the numbers in their table. */
#include <check.h>

#include "tuner/profile.h"
#include "tuner/stats.h"

static const char *const names[] = {"quick", "standard", "thorough"};

enum { PROFILES = sizeof names / sizeof names[0], MOST = 64 };

static const assay__profile *profile(size_t i)
{
    const assay__profile *out = NULL;

    ck_assert_int_eq(assay__profile_find(names[i], &out), ASSAY_OK);
    return out;
}

static double covers(size_t visits, double confidence)
{
    double sorted[MOST];

    ck_assert_uint_le(visits, MOST);
    for (size_t i = 0; i < visits; i++)
        sorted[i] = (double)i;
    return assay__stats_median_interval(sorted, visits, confidence).confidence;
}

/* Published times are of the confirming visits, and stored as intervals at 95 %: of five visits
 * even the range covers their median at 93.75 % only. */
START_TEST(confirming_visits_suffice_for_the_interval_that_is_stored)
{
    const assay__profile *p = profile((size_t)_i);

    ck_assert_double_ge(covers(p->confirms, 0.95), 0.95);
    ck_assert_double_ge(covers(p->visits, 0.95), 0.95);
    ck_assert_double_ge(covers(p->confirms, p->confirm_confidence), p->confirm_confidence);
}
END_TEST

START_TEST(more_effort_spends_no_less_of_anything)
{
    const assay__profile *less = profile((size_t)_i), *more = profile((size_t)_i + 1);

    ck_assert_uint_ge(more->visits, less->visits);
    ck_assert_uint_ge(more->confirms, less->confirms);
    ck_assert_uint_ge(more->spans, less->spans);
    ck_assert_uint_ge(more->strata, less->strata);
    ck_assert_double_ge(more->budget_ns, less->budget_ns);
    ck_assert_double_ge(more->warm_ns, less->warm_ns);
    ck_assert_double_ge(more->problem_s, less->problem_s);
    ck_assert_double_ge(more->confirm_confidence, less->confirm_confidence);
    ck_assert_double_le(more->precise, less->precise);
}
END_TEST

START_TEST(unknown_profile_is_told_the_known_ones)
{
    const assay__profile *out = NULL;

    ck_assert_int_eq(assay__profile_find("fast", &out), ASSAY_INVALID);
    ck_assert_ptr_null(out);
    ck_assert_str_eq(assay__profile_names(), "quick, standard, thorough");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("profile");
    TCase *all = tcase_create("all");

    tcase_add_loop_test(all, confirming_visits_suffice_for_the_interval_that_is_stored, 0,
                        PROFILES);
    tcase_add_loop_test(all, more_effort_spends_no_less_of_anything, 0, PROFILES - 1);
    tcase_add_test(all, unknown_profile_is_told_the_known_ones);
    suite_add_tcase(suite, all);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
