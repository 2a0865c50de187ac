/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_phases.c -- where the time of a stay goes beside its calls: each phase has its
 * own, calls are in none, and what a backend tells of leaves the phase that it was in. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "tests/support/fake_worker.h"
#include "tuner/worker_phases.h"

START_TEST(phases_share_the_time)
{
    assay__phases p;

    assay__phases_begin(&p, NULL);
    ck_assert_int_eq(p.now, ASSAY__PHASE_other);
    const double begin_ns = p.since_ns;
    ck_assert_int_eq(assay__phases_go(&p, ASSAY__PHASE_sets), ASSAY__PHASE_other);
    p.since_ns -= 1e9; /* as if it had taken a second */
    ck_assert_int_eq(assay__phases_go(&p, ASSAY__PHASE_cool), ASSAY__PHASE_sets);
    ck_assert(p.ns[ASSAY__PHASE_sets] >= 1e9 && !(p.ns[ASSAY__PHASE_cool] > 0));
    ck_assert_int_eq(assay__phases_go(&p, ASSAY__PHASE_other), ASSAY__PHASE_cool);
    double sum = 0;
    for (int i = 0; i < ASSAY__PHASES; i++)
        sum += p.ns[i];
    const double all_ns = p.since_ns - begin_ns + 1e9;
    ck_assert(sum >= all_ns - 1 && sum <= all_ns + 1);
}
END_TEST

START_TEST(phases_of_nobody_stay_empty)
{
    assay__phases p = {.since_ns = 0};

    (void)assay__phases_go(&p, ASSAY__PHASE_sets);
    (void)assay__phases_go(&p, ASSAY__PHASE_other);
    for (int i = 0; i < ASSAY__PHASES; i++)
        ck_assert(!(p.ns[i] > 0) && !(p.ns[i] < 0));
}
END_TEST

/* A reply holds what is above nothing; what is no time adds nothing. */
START_TEST(phases_are_told_and_added)
{
    double seconds[ASSAY__PHASES] = {0};
    assay__phases p = {.since_ns = 0};
    json_t *reply = json_object();

    p.ns[ASSAY__PHASE_fetch] = 3e9;
    p.ns[ASSAY__PHASE_hash] = 1e9;
    p.now = ASSAY__PHASE_hash;
    assay__phases_called(&p, 2e9);
    must(assay__phases_reply(&p, reply));
    json_object_set_new(json_object_get(reply, "phases"), "sets", json_real(-1));
    ck_assert(fabs(assay__phases_add(reply, seconds) - 3) < 1e-9);
    ck_assert(fabs(seconds[ASSAY__PHASE_fetch] - 3) < 1e-9);
    ck_assert(!(seconds[ASSAY__PHASE_hash] > 0) && !(seconds[ASSAY__PHASE_sets] < 0));
    json_decref(reply);
}
END_TEST

START_TEST(phases_have_names)
{
    for (int i = 0; i < ASSAY__PHASES; i++) {
        ck_assert_ptr_nonnull(assay__phase_name((assay__phase)i));
        ck_assert_ptr_nonnull(assay__phase_text((assay__phase)i));
    }
    ck_assert(assay__phases_knows("measure_record_ns_total"));
    ck_assert(!assay__phases_knows("launches_total"));
}
END_TEST

/* What measuring costs is told by the first metrics of a backend, sensors behind them unread. */
START_TEST(phases_of_a_stay_are_told)
{
    json_t *request = json_pack("{s:s, s:s, s:[i,i], s:i, s:i, s:i, s:f, s:f, s:f, s:f}", "backend",
                                "fake", "kernel", "fake_a", "tunables", 1, 0, "cache",
                                (int)ASSAY_CACHE_ROTATE, "spans", 5, "seed", 0, "span_ns", 30e3,
                                "warm_ns", 2e5, "budget_ns", 1e12, "rotate_bytes", 1e6);
    double seconds[ASSAY__PHASES] = {0};
    json_t *reply = json_object();

    fake_worker_begin("kernel=* ns=1000", _i == 1 ? "3" : NULL);
    must(assay__worker_time(&fake_worker, request, reply));
    const double sum = assay__phases_add(reply, seconds);
    if (_i == 1) { /* time passes in calls alone */
        ck_assert_ptr_null(json_object_get(reply, "phases"));
        ck_assert(!(sum > 0));
    } else {
        ck_assert(seconds[ASSAY__PHASE_sets] > 0 && seconds[ASSAY__PHASE_hash] > 0);
        ck_assert(seconds[ASSAY__PHASE_poison] > 0 && seconds[ASSAY__PHASE_cool] > 0);
        ck_assert(!(seconds[ASSAY__PHASE_storing] > 0));
    }
    json_decref(reply);
    json_decref(request);
    fake_worker_end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("phases");
    TCase *tc = tcase_create("phases");

    tcase_add_test(tc, phases_share_the_time);
    tcase_add_test(tc, phases_of_nobody_stay_empty);
    tcase_add_test(tc, phases_are_told_and_added);
    tcase_add_test(tc, phases_have_names);
    tcase_add_loop_test(tc, phases_of_a_stay_are_told, 0, 2);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
