/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_load.c -- a load runs while it is on, and not a copy longer. */
#include <check.h>
#include <stdlib.h>
#include <time.h>

#include "tuner/load.h"

static void doze(void)
{
    const struct timespec t = {0, 2000000};

    (void)nanosleep(&t, NULL);
}

/* However busy the machine is, threads that copy get there in the end. */
static void wait_for_more(const assay__load *load)
{
    const uint64_t before = assay__load_bytes(load);

    for (int i = 0; i < 20000 && assay__load_bytes(load) == before; i++)
        doze();
    ck_assert_uint_gt(assay__load_bytes(load), before);
}

START_TEST(a_load_copies_while_it_is_on_and_at_no_other_time)
{
    assay__load *load;

    ck_assert_int_eq(assay__load_start(3, &load), ASSAY_OK);
    doze();
    ck_assert_uint_eq(assay__load_bytes(load), 0);
    for (int round = 0; round < 3; round++) {
        assay__load_switch(load, true);
        assay__load_switch(load, true); /* on already */
        wait_for_more(load);
        assay__load_switch(load, false);
        const uint64_t bytes = assay__load_bytes(load);
        ck_assert_uint_eq(bytes % ASSAY__LOAD_BYTES, 0);
        doze();
        ck_assert_uint_eq(assay__load_bytes(load), bytes);
    }
    assay__load_stop(&load);
    ck_assert_ptr_null(load);
    assay__load_stop(&load);
}
END_TEST

START_TEST(a_load_ends_also_while_it_is_on)
{
    assay__load *load;

    ck_assert_int_eq(assay__load_start(0, &load), ASSAY_OK); /* one thread at least */
    assay__load_switch(load, true);
    wait_for_more(load);
    assay__load_stop(&load);
    ck_assert_ptr_null(load);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("load");
    TCase *tcase = tcase_create("load");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_load_copies_while_it_is_on_and_at_no_other_time);
    tcase_add_test(tcase, a_load_ends_also_while_it_is_on);
    suite_add_tcase(s, tcase);

    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
