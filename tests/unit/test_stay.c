/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_stay.c -- a stay on a scripted device whose core has a scripted clock: how long
 * spans are, when the warm-up ends, which samples are left out, and when it gives up. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "tests/support/fake_worker.h"
#include "tuner/pace.h"

/* Twenty spans of 30 us after a warm-up of 2 ms, unless told; the caller frees it. */
static json_t *request(void)
{
    return json_pack("{s:s, s:s, s:[i,i], s:i, s:i, s:i, s:f, s:f, s:f, s:f}", "backend", "fake",
                     "kernel", "fake_a", "tunables", 1, 0, "cache", (int)ASSAY_CACHE_ROTATE,
                     "spans", 20, "seed", 0, "span_ns", 30e3, "warm_ns", 2e6, "budget_ns", 1e12,
                     "rotate_bytes", 1e5);
}

static json_t *stay(json_t *what)
{
    json_t *reply = json_object();

    must(assay__worker_time(&fake_worker, what, reply));
    json_decref(what);
    return reply;
}

static json_int_t integer(const json_t *reply, const char *name)
{
    const json_t *v = json_object_get(reply, name);

    ck_assert_msg(json_is_integer(v), "%s", name);
    return json_integer_value(v);
}

static bool truth(const json_t *reply, const char *name)
{
    const json_t *v = json_object_get(reply, name);

    ck_assert_msg(json_is_boolean(v), "%s", name);
    return json_is_true(v);
}

static size_t sample_count(const json_t *reply)
{
    return json_array_size(json_object_get(reply, "samples"));
}

static const json_t *rejected(const json_t *reply)
{
    return json_object_get(json_object_get(reply, "rejected"), "clock");
}

/* ---- spans ---- */

/* A call takes 1 us: as many as 30 us take, or a thousand steps of the clock, or a hundred times
 * its overhead; at most 5 ms, unless more was asked for. */
START_TEST(spans_are_long_beside_the_clock)
{
    static const struct {
        const char *script;
        double span_ns;
        json_int_t inner;
    } cases[] = {{"kernel=* ns=1000", 30e3, 31},
                 {"resolution=29; kernel=* ns=1000", 30e3, 31},
                 {"resolution=100; kernel=* ns=1000", 30e3, 101},
                 {"overhead=500; kernel=* ns=1000", 30e3, 51},
                 {"resolution=1e6; kernel=* ns=1e6", 30e3, 6},
                 {"resolution=1e4; kernel=* ns=1e4", 8e6, 801},
                 {"resolution=100; kernel=* ns=1000", 0, 1},
                 {"resolution=100; kernel=* ns=40", 30e3, 2502}};
    json_t *what = request(), *reply;

    fake_worker_begin(cases[_i].script, "3");
    json_object_set_new(what, "span_ns", json_real(cases[_i].span_ns));
    reply = stay(what);
    ck_assert_int_eq(integer(reply, "inner"), cases[_i].inner);
    ck_assert_uint_eq(sample_count(reply), 20);
    ck_assert(!truth(reply, "shortened"));
    json_decref(reply);
    fake_worker_end();
}
END_TEST

START_TEST(budget_shortens_a_stay)
{
    json_t *what = request(), *reply;

    fake_worker_begin("kernel=* ns=1000", "3");
    json_object_set_new(what, "budget_ns", json_real(5 * 31e3 + 1000));
    reply = stay(what);
    ck_assert_uint_eq(sample_count(reply), 5);
    ck_assert(truth(reply, "shortened"));
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* A timer that says nothing passed is no timer: no infinite speed comes of it. */
START_TEST(span_without_time_is_an_error)
{
    json_t *what = request(), *reply = json_object();

    fake_worker_begin("kernel=* ns=0", "3");
    ck_assert_int_eq(assay__worker_time(&fake_worker, what, reply), ASSAY_NUMERIC);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "its timer says"));
    json_decref(what);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* ---- warm-up ---- */

/* Calls that all take as long: no more than was asked for, and a bit. */
START_TEST(warm_up_ends_when_calls_are_steady)
{
    json_t *reply;

    fake_worker_begin("kernel=* ns=1000", "3");
    reply = stay(request());
    ck_assert(truth(reply, "steady"));
    ck_assert_double_le(json_number_value(json_object_get(reply, "called_ns")), 2.6e6 + 21 * 31e3);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* Calls that never do: twice as much, and it is told. */
START_TEST(warm_up_that_never_is_steady_is_told)
{
    json_t *what = request(), *reply;

    fake_worker_begin("kernel=* ns=1000 sd=0.4", "3");
    json_object_set_new(what, "spans", json_integer(2)); /* too few to be a burst and taken again */
    reply = stay(what);
    ck_assert(!truth(reply, "steady"));
    ck_assert_double_ge(json_number_value(json_object_get(reply, "called_ns")), 4e6);
    ck_assert_uint_eq(sample_count(reply), 2);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* One call takes longer than the warm-up: there is nothing to wait for. */
START_TEST(warm_up_of_long_calls_is_two)
{
    json_t *reply;

    fake_worker_begin("kernel=* ns=3e6 sd=0.4", "3");
    reply = stay(request());
    ck_assert(truth(reply, "steady"));
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* Of calls that take long two are untimed, and the third is the lead-in; of those that are endless
 * there is no lead-in, and where one takes that long at once, one untimed call.  However large the
 * budget, one of these is timed, as the pace says. */
START_TEST(endless_calls_are_few)
{
    static const struct {
        double ns, calls, budget_ns;
    } cases[] = {{0.9 * ASSAY__ENDLESS_NS, 4, 8e6},
                 {1.1 * ASSAY__ENDLESS_NS, 3, 8e6},
                 {1.1 * ASSAY__ENDLESS_AT_ONCE_NS, 2, 8e6},
                 {1.1 * ASSAY__ENDLESS_NS, 3, 300e6},
                 {1.1 * ASSAY__ENDLESS_AT_ONCE_NS, 2, 1e9}};
    const double ns = cases[_i].ns;
    json_t *what = request(), *reply;
    char script[64];

    (void)snprintf(script, sizeof script, "kernel=* ns=%.0f", ns);
    fake_worker_begin(script, "3");
    json_object_set_new(what, "budget_ns", json_real(cases[_i].budget_ns));
    reply = stay(what);
    ck_assert_uint_eq(sample_count(reply), 1);
    ck_assert(truth(reply, "shortened"));
    ck_assert_double_eq_tol(json_number_value(json_object_get(reply, "called_ns")),
                            cases[_i].calls * ns, 10);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

static const json_t *disturbed(const json_t *reply)
{
    return json_object_get(json_object_get(reply, "rejected"), "disturbed");
}

/* A first call that compiles for 0.4 s, and the first one after it as well; two that are held up,
 * or the second of them alone: calls that take 1 us are timed as such.  The cold one that was timed
 * on its own is told, and left out. */
START_TEST(held_up_calls_are_not_endless)
{
    static const struct {
        const char *script;
        size_t cold;
        double untimed_ns;
    } cases[] = {{"kernel=* ns=1000 stall=400e6 stalled=1", 1, 400e6 + 2e6},
                 {"kernel=* ns=1000 stall=400e6 stalled=5", 1, 800e6},
                 {"kernel=* ns=1000 stall=60e6 stalled=3", 1, 120e6 + 2e6},
                 {"kernel=* ns=1000 stall=60e6 stalled=2", 0, 60e6 + 2e6}};
    json_t *reply;

    fake_worker_begin(cases[_i].script, "3");
    reply = stay(request());
    ck_assert_uint_eq(sample_count(reply), 20 + cases[_i].cold);
    ck_assert_uint_eq(json_array_size(disturbed(reply)), cases[_i].cold);
    ck_assert_ptr_null(rejected(reply));
    ck_assert_int_eq(integer(reply, "inner"), 31);
    ck_assert(truth(reply, "steady"));
    ck_assert(!truth(reply, "shortened"));
    /* And warm by then. */
    ck_assert_double_ge(json_number_value(json_object_get(reply, "called_ns")),
                        cases[_i].untimed_ns + 20 * 31e3);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* ---- the clock ---- */

START_TEST(samples_at_a_good_clock_are_all_kept)
{
    json_t *reply;

    fake_worker_begin("kernel=* ns=1000", "3*5 2.3*9 3");
    reply = stay(request());
    ck_assert_uint_eq(sample_count(reply), 20);
    ck_assert_ptr_null(json_object_get(reply, "rejected"));
    ck_assert(!truth(reply, "gave_up"));
    ck_assert_double_eq_tol(json_number_value(json_object_get(reply, "speed")), 3, 1e-12);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* Samples 10 to 14 are left out, with the reason, and as many others taken. */
START_TEST(samples_at_a_low_clock_are_taken_again)
{
    json_t *reply;

    fake_worker_begin("kernel=* ns=1000", "3*10 2.2*5 3");
    reply = stay(request());
    ck_assert_uint_eq(sample_count(reply), 25);
    ck_assert_uint_eq(json_array_size(rejected(reply)), 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(json_integer_value(json_array_get(rejected(reply), i)),
                         10 + (json_int_t)i);
    ck_assert(!truth(reply, "gave_up"));
    json_decref(reply);
    fake_worker_end();
}
END_TEST

static size_t wild_samples(const json_t *reply, size_t begin, size_t end)
{
    size_t wild = 0;

    for (size_t i = begin; i < end; i++)
        wild += json_number_value(json_array_get(json_object_get(reply, "samples"), i)) > 5000;
    return wild;
}

/* Spans that a low clock lengthened are the clock's, not a burst's. */
START_TEST(low_clock_is_no_burst)
{
    json_t *reply;

    fake_worker_begin("seed=17; kernel=* ns=1000 outlier=0.45", "3 1*19 3");
    reply = stay(request());
    fake_worker_end();
    /* By this seed most of those were long, and few of those that are taken for them. */
    ck_assert_uint_eq(wild_samples(reply, 0, 1), 0);
    ck_assert_uint_ge(wild_samples(reply, 1, 20), 12);
    ck_assert_uint_le(wild_samples(reply, 20, 39), 8);
    ck_assert_uint_eq(json_array_size(rejected(reply)), 19);
    ck_assert_int_eq(json_integer_value(json_array_get(rejected(reply), 0)), 1);
    ck_assert_ptr_null(disturbed(reply));
    ck_assert_uint_eq(sample_count(reply), 39);
    json_decref(reply);
}
END_TEST

/* Only what comes later shows that the first were slow. */
START_TEST(samples_before_the_clock_rose_are_left_out)
{
    json_t *reply;

    fake_worker_begin("kernel=* ns=1000", "1*4 3");
    reply = stay(request());
    ck_assert_uint_eq(sample_count(reply), 24);
    ck_assert_uint_eq(json_array_size(rejected(reply)), 4);
    ck_assert_int_eq(json_integer_value(json_array_get(rejected(reply), 0)), 0);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* It ends, says so, and tells every sample. */
START_TEST(clock_that_stays_low_is_given_up)
{
    json_t *reply;

    fake_worker_begin("kernel=* ns=1000", "3*10 1");
    reply = stay(request());
    ck_assert(truth(reply, "gave_up"));
    ck_assert_uint_gt(sample_count(reply), 20);
    ck_assert_uint_eq(sample_count(reply) - json_array_size(rejected(reply)), 10);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* What earlier visits saw counts; without them this is as fast as it ever was. */
START_TEST(clock_is_compared_with_earlier_visits)
{
    json_t *what = request(), *reply;

    fake_worker_begin("kernel=* ns=1000", "1");
    reply = stay(request());
    ck_assert(!truth(reply, "gave_up"));
    ck_assert_uint_eq(sample_count(reply), 20);
    json_decref(reply);
    json_object_set_new(what, "speed", json_real(3));
    reply = stay(what);
    ck_assert(truth(reply, "gave_up"));
    ck_assert_uint_eq(sample_count(reply), json_array_size(rejected(reply)));
    json_decref(reply);
    fake_worker_end();
}
END_TEST

START_TEST(clock_that_is_not_known_rejects_nothing)
{
    json_t *what = request(), *reply;

    fake_worker_begin("kernel=* ns=1000", "0");
    json_object_set_new(what, "speed", json_real(3));
    reply = stay(what);
    ck_assert_uint_eq(sample_count(reply), 20);
    ck_assert_ptr_null(json_object_get(reply, "rejected"));
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* ---- bursts ---- */

/* Spans that take ten times as long, with chance P: the first seed whose first try is as wanted.
 * Before it come so many cold samples. */
static json_t *stay_with(double chance, bool first_is_disturbed, const char *stall, size_t cold)
{
    json_t *reply = NULL;

    for (int seed = 1; seed < 200 && reply == NULL; seed++) {
        char script[128];
        (void)snprintf(script, sizeof script, "seed=%d; kernel=* ns=1000 outlier=%g%s", seed,
                       chance, stall);
        fake_worker_begin(script, "3");
        reply = stay(request());
        fake_worker_end();
        size_t wild = 0;
        for (size_t i = cold; i < cold + 20; i++)
            wild += json_number_value(json_array_get(json_object_get(reply, "samples"), i)) > 5000;
        if ((wild > 10) == first_is_disturbed && wild < 20)
            return reply;
        json_decref(reply);
        reply = NULL;
    }
    ck_abort_msg("no such seed");
    return NULL;
}

/* Most spans of the first try were ten times as long: they are told, left out, and others taken. */
START_TEST(spans_of_a_burst_are_taken_again)
{
    json_t *reply = stay_with(0.45, true, "", 0);
    const size_t tries = sample_count(reply) / 20;
    size_t wild = 0;

    ck_assert_uint_ge(tries, 2);
    ck_assert_uint_eq(sample_count(reply), 20 * tries);
    ck_assert_uint_eq(json_array_size(disturbed(reply)), 20 * (tries - 1));
    for (size_t i = 0; i < 20 * (tries - 1); i++)
        ck_assert_int_eq(json_integer_value(json_array_get(disturbed(reply), i)), (json_int_t)i);
    for (size_t i = 20 * (tries - 1); i < 20 * tries; i++)
        wild += json_number_value(json_array_get(json_object_get(reply, "samples"), i)) > 5000;
    ck_assert_uint_le(wild, 10);
    ck_assert_ptr_null(rejected(reply));
    json_decref(reply);
}
END_TEST

/* A median bears some. */
START_TEST(few_long_spans_are_no_burst)
{
    json_t *reply = stay_with(0.25, false, "", 0);

    ck_assert_uint_eq(sample_count(reply), 20);
    ck_assert_ptr_null(disturbed(reply));
    json_decref(reply);
}
END_TEST

/* What is so at every try is how long calls take. */
START_TEST(spans_that_are_never_calm_all_count)
{
    json_t *reply = stay_with(0.9, true, "", 0);

    ck_assert_uint_eq(sample_count(reply), 80);
    ck_assert_ptr_null(json_object_get(reply, "rejected"));
    ck_assert(!truth(reply, "gave_up"));
    json_decref(reply);
}
END_TEST

/* But for the cold one. */
START_TEST(cold_sample_never_counts)
{
    json_t *reply = stay_with(0.9, true, " stall=400e6 stalled=1", 1);

    ck_assert_uint_eq(sample_count(reply), 81);
    ck_assert_uint_eq(json_array_size(disturbed(reply)), 1);
    ck_assert_int_eq(json_integer_value(json_array_get(disturbed(reply), 0)), 0);
    json_decref(reply);
}
END_TEST

/* ---- switches ---- */

static json_t *strict_stay(const char *script, const char *switches, bool is_strict)
{
    json_t *what = request(), *reply;

    (void)setenv("ASSAY_FAKE_SWITCHES", switches, 1);
    fake_worker_begin(script, "3");
    json_object_set_new(what, "strict", json_boolean(is_strict));
    reply = stay(what);
    fake_worker_end();
    return reply;
}

static const json_t *switched(const json_t *reply)
{
    return json_object_get(json_object_get(reply, "rejected"), "switched");
}

/* The third sample and the one that is taken for it. */
START_TEST(samples_without_the_cpu_are_taken_again_when_asked)
{
    json_t *reply = strict_stay("kernel=* ns=1000",
                                "00100000000000000000"
                                "20",
                                true);

    ck_assert_uint_eq(sample_count(reply), 22);
    ck_assert_uint_eq(json_array_size(switched(reply)), 2);
    ck_assert_int_eq(json_integer_value(json_array_get(switched(reply), 0)), 2);
    ck_assert_int_eq(json_integer_value(json_array_get(switched(reply), 1)), 20);
    ck_assert(!truth(reply, "gave_up"));
    json_decref(reply);
    reply = strict_stay("kernel=* ns=1000", "1", false);
    ck_assert_uint_eq(sample_count(reply), 20);
    ck_assert_ptr_null(json_object_get(reply, "rejected"));
    json_decref(reply);
}
END_TEST

/* Of a machine that always takes it, of calls that are endless and of spans longer than a slice all
 * samples count. */
START_TEST(switches_that_never_end_are_borne)
{
    static const struct {
        const char *script;
        size_t samples;
    } cases[] = {{"kernel=* ns=1000", 80}, {"kernel=* ns=50e6", 1}, {"kernel=* ns=4e6", 20}};
    json_t *reply = strict_stay(cases[_i].script, "1", true);

    ck_assert_uint_eq(sample_count(reply), cases[_i].samples);
    ck_assert_ptr_null(json_object_get(reply, "rejected"));
    ck_assert(!truth(reply, "gave_up"));
    json_decref(reply);
}
END_TEST

/* A sample at a low clock is that: it waits for the clock, and no other. */
START_TEST(low_clock_comes_before_switches)
{
    json_t *what = request(), *reply;

    (void)setenv("ASSAY_FAKE_SWITCHES",
                 "00011"
                 "0",
                 1);
    fake_worker_begin("kernel=* ns=1000", "3*4 2.2 3");
    json_object_set_new(what, "strict", json_true());
    reply = stay(what);
    ck_assert_uint_eq(sample_count(reply), 22);
    ck_assert_uint_eq(json_array_size(rejected(reply)), 1);
    ck_assert_uint_eq(json_array_size(switched(reply)), 1);
    ck_assert_int_eq(json_integer_value(json_array_get(switched(reply), 0)), 3);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

START_TEST(script_of_switches_is_digits)
{
    json_t *what = request(), *reply = json_object();

    (void)setenv("ASSAY_FAKE_SWITCHES", "01x", 1);
    fake_worker_begin("kernel=* ns=1000", "3");
    ck_assert_int_eq(assay__worker_time(&fake_worker, what, reply), ASSAY_PARSE);
    json_decref(what);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stay");
    TCase *tc = tcase_create("stay");

    tcase_add_loop_test(tc, spans_are_long_beside_the_clock, 0, 8);
    tcase_add_test(tc, budget_shortens_a_stay);
    tcase_add_test(tc, span_without_time_is_an_error);
    tcase_add_test(tc, warm_up_ends_when_calls_are_steady);
    tcase_add_test(tc, warm_up_that_never_is_steady_is_told);
    tcase_add_test(tc, warm_up_of_long_calls_is_two);
    tcase_add_loop_test(tc, endless_calls_are_few, 0, 5);
    tcase_add_loop_test(tc, held_up_calls_are_not_endless, 0, 4);
    tcase_add_test(tc, samples_at_a_good_clock_are_all_kept);
    tcase_add_test(tc, samples_at_a_low_clock_are_taken_again);
    tcase_add_test(tc, low_clock_is_no_burst);
    tcase_add_test(tc, samples_before_the_clock_rose_are_left_out);
    tcase_add_test(tc, clock_that_stays_low_is_given_up);
    tcase_add_test(tc, clock_is_compared_with_earlier_visits);
    tcase_add_test(tc, clock_that_is_not_known_rejects_nothing);
    tcase_add_test(tc, spans_of_a_burst_are_taken_again);
    tcase_add_test(tc, few_long_spans_are_no_burst);
    tcase_add_test(tc, spans_that_are_never_calm_all_count);
    tcase_add_test(tc, cold_sample_never_counts);
    tcase_add_test(tc, samples_without_the_cpu_are_taken_again_when_asked);
    tcase_add_loop_test(tc, switches_that_never_end_are_borne, 0, 3);
    tcase_add_test(tc, low_clock_comes_before_switches);
    tcase_add_test(tc, script_of_switches_is_digits);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
