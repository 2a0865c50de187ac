/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_timers.c -- counters that go round, and the guard that waits for the core's
 * clock.  Chains of known length: assay bench --only clock. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "tuner/core_clock.h"
#include "tuner/ticks.h"

/* ---- ticks ---- */

static uint64_t between(uint64_t begin, uint64_t end, unsigned bits)
{
    uint64_t ticks = 12345;

    ck_assert(assay__ticks_between(begin, end, bits, &ticks));
    return ticks;
}

/* At 36, 48 and 64 bits: within, across the turn, all the way but one, and with anything at all in
 * the bits that are not valid. */
START_TEST(ticks_go_round)
{
    static const unsigned all_bits[] = {36, 48, 64};
    const unsigned bits = all_bits[_i];
    const uint64_t last = UINT64_MAX >> (64 - bits), junk = ~last;

    ck_assert_uint_eq(between(100, 350, bits), 250);
    ck_assert_uint_eq(between(7, 7, bits), 0);
    ck_assert_uint_eq(between(0, last, bits), last);
    ck_assert_uint_eq(between(last, 0, bits), 1);
    ck_assert_uint_eq(between(last - 9, 20, bits), 30);
    ck_assert_uint_eq(between(1, 0, bits), last);
    ck_assert_uint_eq(between((last - 9) | junk, 20, bits), 30);
    ck_assert_uint_eq(between(last - 9, 20 | junk, bits), 30);
    ck_assert_uint_eq(between(100 | junk, 350, bits), 250);
}
END_TEST

START_TEST(ticks_have_a_length)
{
    const uint64_t last = UINT64_MAX >> 28;
    uint64_t ticks = 7;
    double ns = 7;

    ck_assert(assay__ticks_ns(last - 9, 20, 36, 52.0833, &ns));
    ck_assert_double_eq_tol(ns, 30 * 52.0833, 1e-9);
    ck_assert(assay__ticks_ns(5, 5, 64, 1, &ns) && ns <= 0 && ns >= 0);
    ns = 7;
    ck_assert(!assay__ticks_between(1, 2, 0, &ticks) && !assay__ticks_between(1, 2, 65, &ticks));
    ck_assert(!assay__ticks_ns(1, 2, 0, 1, &ns));
    static const double bad[] = {0, -1, 1e300};
    for (size_t i = 0; i < 3; i++)
        ck_assert(!assay__ticks_ns(1, 2, 36, bad[i], &ns));
    ck_assert(!assay__ticks_ns(1, 2, 36, NAN, &ns) && !assay__ticks_ns(1, 2, 36, INFINITY, &ns));
    ck_assert_uint_eq(ticks, 7);
    ck_assert(ns >= 7 && ns <= 7);
}
END_TEST

/* ---- scripts ---- */

START_TEST(clock_of_a_script)
{
    static const double expected[] = {3, 3, 1, 2.5, 2.5, 2.5};
    assay__core_clock clock;

    (void)setenv("ASSAY_FAKE_CLOCK", " 3*2 1  2.5*1", 1);
    ck_assert_int_eq(assay__core_clock_get(&clock), ASSAY_OK);
    ck_assert(clock.is_scripted);
    clock.pause(clock.cookie, 1e18); /* waits for nothing */
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        ck_assert_double_eq_tol(clock.speed(clock.cookie), expected[i], 1e-12);
}
END_TEST

START_TEST(clock_of_a_bad_script_is_refused)
{
    static const char *const bad[] = {"",   "  ",   "fast", "3*",  "3*0",
                                      "-1", "3*2x", "nan",  "inf", "3 4 x 5"};
    assay__core_clock clock;

    (void)setenv("ASSAY_FAKE_CLOCK", bad[_i], 1);
    ck_assert_int_eq(assay__core_clock_get(&clock), ASSAY_PARSE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "scripted clock"));
}
END_TEST

START_TEST(clock_of_this_machine)
{
    assay__core_clock clock;

    (void)unsetenv("ASSAY_FAKE_CLOCK");
    ck_assert_int_eq(assay__core_clock_get(&clock), ASSAY_OK);
    ck_assert(!clock.is_scripted);
    const double speed = clock.speed(clock.cookie);
    ck_assert(speed >= 0 && speed < 20 && isfinite(speed));
    clock.pause(clock.cookie, 1000);
}
END_TEST

/* ---- the guard ---- */

START_TEST(guard_leaves_out_below_three_quarters)
{
    assay__clock_guard g;

    assay__clock_guard_init(&g, 0);
    ck_assert(!assay__clock_guard_is_slow(&g, 0.1)); /* nothing to compare with */
    assay__clock_guard_saw(&g, 1.0);
    ck_assert(!assay__clock_guard_is_slow(&g, 0.75) && assay__clock_guard_is_slow(&g, 0.7499));
    assay__clock_guard_saw(&g, 0.2); /* the fastest counts */
    assay__clock_guard_saw(&g, 0);
    assay__clock_guard_saw(&g, NAN);
    ck_assert(assay__clock_guard_is_slow(&g, 0.7499) && !assay__clock_guard_is_slow(&g, 0.75));
    ck_assert(!assay__clock_guard_is_slow(&g, 0) && !assay__clock_guard_is_slow(&g, NAN));
    assay__clock_guard_init(&g, 2.0); /* of earlier visits */
    ck_assert(assay__clock_guard_is_slow(&g, 1.4));
    assay__clock_guard_init(&g, NAN);
    ck_assert(!assay__clock_guard_is_slow(&g, 1e-3));
}
END_TEST

/* 50 ms, 50 ms, then half as long again each time up to half a second, and 5 s in all. */
START_TEST(guard_waits_longer_and_gives_up)
{
    static const double first[] = {50e6,     50e6,      75e6,       112.5e6,
                                   168.75e6, 253.125e6, 379.6875e6, 500e6};
    double pause = 0, sum = 0;
    assay__clock_guard g;
    size_t waits = 0;

    assay__clock_guard_init(&g, 1);
    while (assay__clock_guard_wait(&g, 1e6, &pause)) {
        if (waits < sizeof first / sizeof first[0])
            ck_assert_double_eq_tol(pause, first[waits], 1);
        ck_assert(pause <= 500e6);
        sum += pause + 1e6;
        ck_assert_uint_lt(++waits, 100);
    }
    ck_assert(sum >= 4.5e9 && sum <= 5.5e9);
    ck_assert(!assay__clock_guard_wait(&g, 0, &pause));
    /* Long samples count as well as waiting. */
    assay__clock_guard_init(&g, 1);
    ck_assert(assay__clock_guard_wait(&g, 3e9, &pause));
    ck_assert(!assay__clock_guard_wait(&g, 3e9, &pause));
    assay__clock_guard_init(&g, 1);
    ck_assert(!assay__clock_guard_wait(&g, NAN, &pause));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timers");
    TCase *tc = tcase_create("timers");

    tcase_add_loop_test(tc, ticks_go_round, 0, 3);
    tcase_add_test(tc, ticks_have_a_length);
    tcase_add_test(tc, clock_of_a_script);
    tcase_add_loop_test(tc, clock_of_a_bad_script_is_refused, 0, 10);
    tcase_add_test(tc, clock_of_this_machine);
    tcase_add_test(tc, guard_leaves_out_below_three_quarters);
    tcase_add_test(tc, guard_waits_longer_and_gives_up);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
