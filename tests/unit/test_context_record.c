/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_context_record.c -- state of recorded machines; the unknown stays out. */
#include "runtime/context_record.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MACHINES "tests/fake/machines/"

static assay__context_record read_machine(const char *proc, const char *sys)
{
    const assay__machine machine = {proc, sys, 1, NULL};
    assay__context_record record;

    assay__context_read(&machine, &record);
    return record;
}

START_TEST(context_of_a_machine_with_everything)
{
    assay__context_record r =
        read_machine(MACHINES "container_v2/proc", MACHINES "container_v2/sys");

    ck_assert_str_eq(r.governor, "performance");
    ck_assert_double_eq_tol(r.frequency_mhz, 3801.25, 1e-9);
    ck_assert_double_eq_tol(r.temperature_c, 61.5, 1e-9);
    ck_assert(r.turbo == 0);
    ck_assert(r.throttle_count == 12);
    ck_assert(r.load_1 == 0);
    ck_assert_double_eq_tol(r.load_15, 12.5, 1e-9);
    ck_assert(isnan(r.steal_ticks));
}
END_TEST

START_TEST(context_of_a_virtual_machine)
{
    assay__context_record r = read_machine(MACHINES "epyc_vm/proc", MACHINES "epyc_vm/sys");

    ck_assert_str_eq(r.governor, "");
    ck_assert(isnan(r.temperature_c) && isnan(r.turbo) && isnan(r.throttle_count));
    ck_assert(r.steal_ticks == 520);
    ck_assert_double_eq_tol(r.load_5, 3.25, 1e-9);
    ck_assert_double_ge(r.frequency_mhz, 1000);
}
END_TEST

START_TEST(context_text_leaves_out_the_unknown)
{
    assay__context_record r = read_machine(MACHINES "bare/proc", MACHINES "bare/sys");
    char text[512];

    r.nice = -5;
    strcpy(r.policy, "other");
    size_t length = assay__context_format(&r, text, sizeof text);
    ck_assert_str_eq(text, "{\"policy\":\"other\",\"nice\":-5}");
    ck_assert_uint_eq(length, strlen(text));
    r.policy[0] = '\0';
    r.nice = NAN;
    (void)assay__context_format(&r, text, sizeof text);
    ck_assert_str_eq(text, "{}");
}
END_TEST

START_TEST(context_text_is_json)
{
    assay__context_record r =
        read_machine(MACHINES "container_v2/proc", MACHINES "container_v2/sys");
    char text[512], part[10];

    r.nice = 0;
    strcpy(r.policy, "fifo");
    size_t length = assay__context_format(&r, text, sizeof text);
    ck_assert_str_eq(text, "{\"governor\":\"performance\",\"policy\":\"fifo\",\"nice\":0,"
                           "\"turbo\":0,\"frequency_mhz\":3801.250,\"temperature_c\":61.500,"
                           "\"load_1\":0,\"load_5\":0.010,\"load_15\":12.500,"
                           "\"throttle_count\":12}");
    ck_assert_uint_eq(assay__context_format(&r, part, sizeof part), length);
    ck_assert_uint_eq(strlen(part), sizeof part - 1);
}
END_TEST

START_TEST(context_of_this_machine_is_read)
{
    const assay__machine here = ASSAY__MACHINE_HERE;
    assay__context_record record;

    assay__context_read(&here, &record);
    ck_assert_str_ne(record.policy, "");
    ck_assert(record.nice >= -20 && record.nice <= 19);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("context_record");
    TCase *tc = tcase_create("context");

    tcase_add_test(tc, context_of_a_machine_with_everything);
    tcase_add_test(tc, context_of_a_virtual_machine);
    tcase_add_test(tc, context_text_leaves_out_the_unknown);
    tcase_add_test(tc, context_text_is_json);
    tcase_add_test(tc, context_of_this_machine_is_read);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
