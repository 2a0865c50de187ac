/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_clock_proof.c -- figures of clocks whose faults are known. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "assay/status.h"
#include "tuner/clock_proof.h"

enum { ROUNDS = 9, LENGTHS = 4 };

static void good(assay_status status)
{
    ck_assert_msg(status == ASSAY_OK, "%s", assay_last_error());
}

START_TEST(difference_is_the_median_less_what_is_known)
{
    const double told[5] = {1010, 1012, 1011, 1500, 1009}, spun[5] = {1000, 1000, 1000, 1000, 1000};
    assay__proof p;

    good(assay__proof_difference(told, spun, 5, 0, &p));
    ck_assert(p.value == 11 && p.lo == 9 && p.hi == 500 && p.n == 5);
    good(assay__proof_difference(told, spun, 5, 10, &p));
    ck_assert_double_eq(p.value, 1);
    good(assay__proof_difference(spun, told, 5, 0, &p)); /* a clock that tells too little */
    ck_assert(p.value == -11 && p.hi < 0);
    ck_assert_int_eq(assay__proof_difference(told, spun, 0, 0, &p), ASSAY_INVALID);
}
END_TEST

START_TEST(ratio_is_of_pairs)
{
    const double once[3] = {100, 200, 400}, twice[3] = {200, 402, 796};
    assay__proof p;

    good(assay__proof_ratio(twice, once, 3, &p));
    ck_assert_double_eq(p.value, 2.0);
    ck_assert(p.lo == 1.99 && p.hi == 2.01);
}
END_TEST

/* Work of 1, 2, 3 and 4 units; the device needs `each` ns for one, which changes from round to
 * round as clocks do; told: at_zero + stretch * that. */
static void spin(double stretch, double at_zero, double bend, double *told, double *real,
                 double *work)
{
    for (size_t r = 0; r < ROUNDS; r++)
        for (size_t i = 0; i < LENGTHS; i++) {
            const size_t at = r * LENGTHS + i;
            const double each = 1000.0 * (1.0 + 0.05 * (double)r);
            work[at] = (double)(i + 1);
            real[at] = each * work[at];
            told[at] = at_zero + stretch * real[at] * (1.0 + bend * work[at]);
        }
}

START_TEST(slope_is_that_of_the_clock_whatever_the_device_runs_at)
{
    double told[ROUNDS * LENGTHS], real[ROUNDS * LENGTHS], work[ROUNDS * LENGTHS];
    assay__proof p;

    spin(1.0, 700.0, 0.0, told, real, work); /* what each takes besides is no slope */
    good(assay__proof_slope(told, real, work, ROUNDS, LENGTHS, &p));
    ck_assert_double_le(p.hi, 1e-12);
    spin(1.02, 0.0, 0.0, told, real, work);
    good(assay__proof_slope(told, real, work, ROUNDS, LENGTHS, &p));
    ck_assert_double_eq_tol(p.value, 0.02, 1e-12);
    spin(0.98, 0.0, 0.0, told, real, work);
    good(assay__proof_slope(told, real, work, ROUNDS, LENGTHS, &p));
    ck_assert_double_eq_tol(p.value, 0.02, 1e-12);
    ck_assert_uint_eq(p.n, ROUNDS);
}
END_TEST

START_TEST(line_is_bent_where_times_are)
{
    double told[ROUNDS * LENGTHS], real[ROUNDS * LENGTHS], work[ROUNDS * LENGTHS];
    assay__proof p;

    spin(3.0, 500.0, 0.0, told, real, work);
    good(assay__proof_line(told, work, ROUNDS, LENGTHS, &p));
    ck_assert_double_le(p.hi, 1e-12);
    spin(1.0, 0.0, 0.1, told, real, work);
    good(assay__proof_line(told, work, ROUNDS, LENGTHS, &p));
    ck_assert_double_ge(p.lo, 0.05);
    /* A clock that does not wait for the device tells the same of any work, but once. */
    for (size_t i = 0; i < ROUNDS * LENGTHS; i++)
        told[i] = i % LENGTHS == 0 ? 30.0 : 10.0;
    good(assay__proof_line(told, work, ROUNDS, LENGTHS, &p));
    ck_assert_double_ge(p.lo, 0.2);
}
END_TEST

START_TEST(times_that_are_none_are_refused)
{
    double told[ROUNDS * LENGTHS], real[ROUNDS * LENGTHS], work[ROUNDS * LENGTHS];
    assay__proof p;

    spin(1.0, 0.0, 0.0, told, real, work);
    told[5] = (double)NAN;
    ck_assert_int_eq(assay__proof_line(told, work, ROUNDS, LENGTHS, &p), ASSAY_INVALID);
    ck_assert_int_eq(assay__proof_slope(told, real, work, ROUNDS, LENGTHS, &p), ASSAY_INVALID);
    ck_assert_int_eq(assay__proof_difference(told, real, LENGTHS * 2, 0, &p), ASSAY_INVALID);
    ck_assert_int_eq(assay__proof_line(told, work, 0, LENGTHS, &p), ASSAY_INVALID);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("clock_proof");
    TCase *all = tcase_create("figures");

    tcase_add_test(all, difference_is_the_median_less_what_is_known);
    tcase_add_test(all, ratio_is_of_pairs);
    tcase_add_test(all, slope_is_that_of_the_clock_whatever_the_device_runs_at);
    tcase_add_test(all, line_is_bent_where_times_are);
    tcase_add_test(all, times_that_are_none_are_refused);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
