/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_number.c -- whole-text numbers with bounds. */

#include "support/number.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(int_takes_whole_decimals_only)
{
    static const char *const bad[] = {"",   "-",    "+",   "3abc", " 3",
                                      "3 ", "0x10", "1e3", "1.0",  "--1"};
    int64_t value = 7;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(assay__parse_int(bad[i], INT64_MIN, INT64_MAX, &value) == ASSAY_INVALID,
                      "'%s' accepted", bad[i]);
    ck_assert_int_eq(value, 7);
    ck_assert_int_eq(assay__parse_int("-9223372036854775808", INT64_MIN, INT64_MAX, &value),
                     ASSAY_OK);
    ck_assert(value == INT64_MIN);
    ck_assert_int_eq(assay__parse_int("+42", 0, 42, &value), ASSAY_OK);
    ck_assert_int_eq(value, 42);
}
END_TEST

START_TEST(int_bounds_bind)
{
    int64_t value = 7;

    ck_assert_int_eq(assay__parse_int("9223372036854775808", INT64_MIN, INT64_MAX, &value),
                     ASSAY_OVERFLOW);
    ck_assert_int_eq(assay__parse_int("43", 0, 42, &value), ASSAY_OVERFLOW);
    ck_assert_int_eq(assay__parse_int("-1", 0, 42, &value), ASSAY_OVERFLOW);
    ck_assert_str_eq(assay_last_error(), "-1 is outside 0..42");
    ck_assert_int_eq(value, 7);
}
END_TEST

START_TEST(real_takes_finite_numbers_only)
{
    static const char *const bad[] = {"",       "nan", "inf", "-inf", "1e999", "1,5",
                                      "1.5abc", " 1",  "1 ",  ".",    "e5"};
    double value = 7.0;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(assay__parse_real(bad[i], (double)NAN, (double)NAN, &value) == ASSAY_INVALID,
                      "'%s' accepted", bad[i]);
    ck_assert(value == 7.0);
    ck_assert_int_eq(assay__parse_real("-0x1.8p-3", (double)NAN, (double)NAN, &value), ASSAY_OK);
    ck_assert(value == -0.1875);
    ck_assert_int_eq(assay__parse_real("1e-3", 0.0, 1.0, &value), ASSAY_OK);
    ck_assert(value == 1e-3);
    ck_assert_int_eq(assay__parse_real("1.1", 0.0, 1.0, &value), ASSAY_OVERFLOW);
    ck_assert_int_eq(assay__parse_real("-0.1", 0.0, 1.0, &value), ASSAY_OVERFLOW);
}
END_TEST

START_TEST(duration_knows_units)
{
    double seconds = 7.0;

    ck_assert_int_eq(assay__parse_duration("90", &seconds), ASSAY_OK);
    ck_assert(seconds == 90.0);
    ck_assert_int_eq(assay__parse_duration("1.5m", &seconds), ASSAY_OK);
    ck_assert(seconds == 90.0);
    ck_assert_int_eq(assay__parse_duration("2h", &seconds), ASSAY_OK);
    ck_assert(seconds == 7200.0);
    ck_assert_int_eq(assay__parse_duration("250ms", &seconds), ASSAY_OK);
    ck_assert_double_eq_tol(seconds, 0.25, 1e-15);
    ck_assert_int_eq(assay__parse_duration("-1s", &seconds), ASSAY_INVALID);
    ck_assert_int_eq(assay__parse_duration("5 s", &seconds), ASSAY_INVALID);
    ck_assert_int_eq(assay__parse_duration("5d", &seconds), ASSAY_INVALID);
    ck_assert_int_eq(assay__parse_duration("", &seconds), ASSAY_INVALID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("number");
    TCase *int_case = tcase_create("int");
    TCase *real_case = tcase_create("real");
    TCase *duration_case = tcase_create("duration");

    tcase_add_test(int_case, int_takes_whole_decimals_only);
    tcase_add_test(int_case, int_bounds_bind);
    tcase_add_test(real_case, real_takes_finite_numbers_only);
    tcase_add_test(duration_case, duration_knows_units);
    suite_add_tcase(suite, int_case);
    suite_add_tcase(suite, real_case);
    suite_add_tcase(suite, duration_case);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
