/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_sweep_stop.c -- a sweep that is stopped counts the stays that it has stored, and
 * no other.  This program is its own worker. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "sweep/exhaust_worker.h"
#include "sweep/sweep.h"
#include "tests/support/sweep_place.h"
#include "tuner/worker.h"

static volatile int stop;
static size_t stop_after, counted;

static void on_progress(void *cookie, const assay__progress *p)
{
    (void)cookie;
    counted = p->steps_done;
    if (p->steps_done >= stop_after)
        stop = 2;
}

static void on_outcome(void *cookie, const assay__outcome *o)
{
    (void)cookie;
    (void)o;
}

static void sweep_until(size_t stays, assay__sweep_summary *out)
{
    char folder[64], store[128];
    assay__shape_set set = {0};
    assay__sweep_options o = {.shapes = &set,
                              .plugin_path = folder,
                              .backends = "fake",
                              .align = 16,
                              .max_threads = 1,
                              .db_path = store,
                              .argv_json = "[]",
                              .stop = &stop,
                              .progress = on_progress,
                              .outcome = on_outcome};

    sweep_place_make(folder, sizeof folder, "copy_nt_t9999=1e6 cache_bytes=1e9");
    (void)snprintf(store, sizeof store, "%s/s.db", folder);
    stop = 0;
    stop_after = stays;
    ck_assert_int_eq(assay__profile_find("quick", &o.profile), ASSAY_OK);
    ck_assert_int_eq(assay__shapes_add_flags(&set, "add", "f32", "n=64|65"), ASSAY_OK);
    assay_status status = assay__sweep_run(&o, out);
    ck_assert_msg(status == ASSAY_INTERRUPTED, "%d: %s", (int)status, assay_last_error());
    assay__shapes_clear(&set);
    sweep_place_remove(folder);
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

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "__worker") == 0)
        return assay__worker_main(3, assay__exhaust_commands);

    Suite *suite = suite_create("sweep_stop");
    TCase *tcase = tcase_create("stop");

    (void)setenv("ASSAY_FAKE", "seed=1; kernel=* ns=10000 sd=0.01", 1);
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, stays_that_were_cut_short_are_not_counted, 0, 7);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
