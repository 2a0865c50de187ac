/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_sweep_stop.c -- a sweep that is stopped counts the stays that it has stored, and
 * no other. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/sweep_place.h"

static volatile int stop;
static size_t stop_after, counted;

static void on_progress(void *cookie, const assay__progress *p)
{
    (void)cookie;
    counted = p->steps_done;
    if (p->steps_done >= stop_after)
        stop = 2;
}

static void sweep_until(size_t stays, assay__sweep_summary *out)
{
    sweep_place p;

    sweep_place_open(&p, "copy_nt_t9999=1e6 cache_bytes=1e9");
    p.options.stop = &stop;
    p.options.progress = on_progress;
    sweep_place_add(&p, "add", "n=64|65");
    stop = 0;
    stop_after = stays;
    sweep_place_run(&p, ASSAY_INTERRUPTED, out);
}

/* In the screening visit, between the two screening visits, and in a measuring one. */
START_TEST(stays_that_were_cut_short_are_not_counted)
{
    static const size_t at[] = {1, 3, 12, 13, 24, 26, 31};
    assay__sweep_summary summary;

    sweep_until(at[_i], &summary);
    ck_assert_uint_eq(counted, at[_i]);
    ck_assert_uint_eq(summary.measured, at[_i]);
    ck_assert_str_eq(summary.stop_reason, "interrupted");
}
END_TEST

/* One problem that fits into memory, and others that do not and want no visits. */
static double sweep_within(double budget_s, bool counters, assay__sweep_summary *out)
{
    sweep_place p;

    (void)setenv("ASSAY_FAKE", "seed=1; kernel=* ns=10000 sd=0.001; kernel=fake_b ns=8000", 1);
    (void)setenv("ASSAY_FAKE_COUNTERS", "cycles=39600", 1);
    sweep_place_open(&p, "copy_nt_t9999=1e6 cache_bytes=1e9");
    p.options.scripted_clock = true;
    p.options.budget_s = budget_s;
    p.options.memory_bytes = 4e9;
    p.options.counters = counters;
    sweep_place_add(&p, "add", "n=64");
    sweep_place_add(&p, "add",
                    "n=1000000001|1000000002|1000000003|1000000004|1000000005|1000000006|"
                    "1000000007|1000000008");
    sweep_place_run(&p, ASSAY_OK, out);
    return out->elapsed_s;
}

/* The budget ends within the last stay, and with it nothing that was measured, whether the winner
 * is still to be counted or not. */
START_TEST(what_is_measured_when_the_budget_ends_is_decided)
{
    const bool counters = _i == 1;
    assay__sweep_summary summary;
    const double all_s = sweep_within(1e6, counters, &summary);

    ck_assert_uint_eq(summary.routes, 1);
    ck_assert_uint_eq(summary.skipped_problems, 8);
    const size_t stays = summary.measured;
    (void)sweep_within((1 - 1e-6) * all_s, counters, &summary);
    ck_assert_uint_eq(summary.measured, stays);
    ck_assert_uint_eq(summary.routes, 1);
    ck_assert_uint_eq(summary.undecided, 0);
    ck_assert_str_eq(summary.stop_reason, "done");
    (void)sweep_within(0.9 * all_s, counters, &summary);
    ck_assert_uint_eq(summary.routes, 0);
    ck_assert_str_eq(summary.stop_reason, "budget");
}
END_TEST

static void add_tests(TCase *tcase)
{
    tcase_add_loop_test(tcase, what_is_measured_when_the_budget_ends_is_decided, 0, 2);
    tcase_add_loop_test(tcase, stays_that_were_cut_short_are_not_counted, 0, 7);
}

int main(int argc, char **argv)
{
    return sweep_place_main(argc, argv, "sweep_stop", "seed=1; kernel=* ns=10000 sd=0.01", 120,
                            add_tests);
}
