/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_sweep_lean.c -- a problem that has no room for all its input sets is measured,
 * and checked on one. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/sweep_place.h"

#define N 65536

static char warned[1024];
static size_t outcomes;
static uint64_t elements;

static void on_outcome(void *cookie, const assay__outcome *o)
{
    (void)cookie;
    outcomes += o->winner != NULL;
    elements = o->elements;
}

static void on_warn(void *cookie, const char *text)
{
    (void)cookie;
    (void)snprintf(warned, sizeof warned, "%s", text);
}

/* As sweep_setup.c has it: what a worker rotates over at least. */
static double rotate_bytes(void)
{
    long llc = sysconf(_SC_LEVEL3_CACHE_SIZE);

    if (llc <= 0)
        llc = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return 2.0 * (double)(llc > 0 ? llc : 32 << 20);
}

/* Two operands of 4 bytes an element, 32 of expected results, both for each set; 8 of the output.
 */
static double bytes_of(double sets)
{
    return N * (sets * (4 + 4 + 32) + 8) + rotate_bytes();
}

static void sweep(double memory_bytes, assay__sweep_summary *summary)
{
    sweep_place p;

    sweep_place_open(&p, "copy_nt_t9999=1e6 cache_bytes=1e9");
    p.options.memory_bytes = memory_bytes;
    p.options.outcome = on_outcome;
    p.options.warn = on_warn;
    sweep_place_add(&p, "add", "n=65536");
    warned[0] = '\0';
    outcomes = 0;
    sweep_place_run(&p, ASSAY_OK, summary);
}

/* Three quarters of the memory may be used. */
START_TEST(what_has_room_for_one_input_set_is_checked_on_one)
{
    assay__sweep_summary summary;

    sweep((bytes_of(1) + bytes_of(2)) / 2 / 0.75, &summary);
    ck_assert_uint_eq(outcomes, 1);
    ck_assert_uint_eq(elements, N);
    ck_assert_uint_eq(summary.skipped_problems, 0);
    ck_assert_msg(strstr(warned, "checked on one input set, as more do not fit") != NULL, "%s",
                  warned);
}
END_TEST

START_TEST(what_has_room_is_checked_on_all)
{
    assay__sweep_summary summary;

    sweep(bytes_of(2) * 1.01 / 0.75, &summary);
    ck_assert_uint_eq(outcomes, 1);
    ck_assert_uint_eq(elements, 2 * N);
    ck_assert_str_eq(warned, "");
}
END_TEST

START_TEST(what_has_no_room_is_skipped)
{
    assay__sweep_summary summary;

    sweep(bytes_of(1) * 0.99 / 0.75, &summary);
    ck_assert_uint_eq(outcomes, 0);
    ck_assert_uint_eq(summary.skipped_problems, 1);
    ck_assert_msg(strstr(warned, "skipped: add f32,f32,f32 n=65536: checking it takes") != NULL,
                  "%s", warned);
}
END_TEST

static void add_tests(TCase *tcase)
{
    tcase_add_test(tcase, what_has_room_for_one_input_set_is_checked_on_one);
    tcase_add_test(tcase, what_has_room_is_checked_on_all);
    tcase_add_test(tcase, what_has_no_room_is_skipped);
}

int main(int argc, char **argv)
{
    return sweep_place_main(argc, argv, "sweep_lean",
                            "seed=1; kernel=* ns=10000 sd=0.01; kernel=* variant=1 slow=5; "
                            "kernel=* variant=2 slow=5; kernel=* variant=3 slow=5",
                            120, add_tests);
}
