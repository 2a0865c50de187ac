/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_tunables.c -- the values at which a kernel serves as the default. */
#include <check.h>

#include "runtime/tunables.h"

static const int64_t threads[] = {8, 2, 1, 4}, blocks[] = {16, 32}, many[] = {6, 12};

static const assay_tunable two[] = {
    {.name = "block", .values = blocks, .value_count = 2, .default_value = 32},
    {.name = "threads", .values = threads, .value_count = 4, .default_value = 4},
};
static const assay_tunable wide[] = {
    {.name = "threads", .values = many, .value_count = 2, .default_value = 12},
};

static int64_t threads_under(unsigned limit)
{
    const assay_kernel_desc desc = {.tunables = two, .tunable_count = 2};
    int64_t values[2] = {-1, -1};

    assay__tunables_default(&desc, limit, values);
    ck_assert_int_eq(values[0], 32); /* not threads, whatever the limit */
    return values[1];
}

START_TEST(threads_fit_the_limit)
{
    ck_assert_int_eq(threads_under(0), 4);
    ck_assert_int_eq(threads_under(16), 4);
    ck_assert_int_eq(threads_under(4), 4);
    ck_assert_int_eq(threads_under(3), 2);
    ck_assert_int_eq(threads_under(2), 2);
    ck_assert_int_eq(threads_under(1), 1);
}
END_TEST

/* Nothing fits: the default stays, and whoever asks refuses it. */
START_TEST(threads_that_no_value_fits_stay)
{
    const assay_kernel_desc desc = {.tunables = wide, .tunable_count = 1};
    int64_t value = -1;

    assay__tunables_default(&desc, 4, &value);
    ck_assert_int_eq(value, 12);
    assay__tunables_default(&desc, 7, &value);
    ck_assert_int_eq(value, 6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tunables");
    TCase *all = tcase_create("all");

    tcase_add_test(all, threads_fit_the_limit);
    tcase_add_test(all, threads_that_no_value_fits_stay);
    suite_add_tcase(suite, all);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
