/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_sense.c -- a stay on a scripted device that has sensors: what is read, which
 * samples a low clock costs and which it does not, and when the warm-up ends. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/noise_words.h"
#include "tests/support/fake_worker.h"

#define SPANS 20

static json_t *request(double device_mhz)
{
    return json_pack("{s:s, s:s, s:[i,i], s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f}", "backend",
                     "fake", "kernel", "fake_a", "tunables", 1, 0, "cache", (int)ASSAY_CACHE_ROTATE,
                     "spans", SPANS, "seed", 0, "span_ns", 30e3, "warm_ns", 2e6, "budget_ns", 1e12,
                     "rotate_bytes", 1e5, "device_mhz", device_mhz);
}

static void begin(const char *sensors)
{
    char script[512];

    (void)snprintf(script, sizeof script, "kernel=* ns=1000; %s", sensors);
    fake_worker_begin(script, "3");
}

/* Twenty spans of 30 calls after a warm-up of 2 ms; the caller frees it. */
static json_t *one_more(double device_mhz)
{
    json_t *what = request(device_mhz), *reply = json_object();

    must(assay__worker_time(&fake_worker, what, reply));
    json_decref(what);
    return reply;
}

static json_t *stay(const char *sensors, double device_mhz)
{
    json_t *reply;

    begin(sensors);
    reply = one_more(device_mhz);
    fake_worker_end();
    return reply;
}

static size_t sample_count(const json_t *reply)
{
    return json_array_size(json_object_get(reply, "samples"));
}

static const json_t *rejected(const json_t *reply)
{
    return json_object_get(json_object_get(reply, "rejected"), "clock");
}

static const json_t *device(const json_t *reply, const char *part)
{
    return json_object_get(json_object_get(reply, "device"), part);
}

static bool is_true(const json_t *reply, const char *name)
{
    return json_is_true(json_object_get(reply, name));
}

static const char *flags(const json_t *reply)
{
    return json_string_value(json_object_get(reply, "device_flags"));
}

static void keeps_all(const json_t *reply)
{
    ck_assert_uint_eq(sample_count(reply), SPANS);
    ck_assert_ptr_null(rejected(reply));
}

/* ---- what is read ---- */

START_TEST(sensors_are_told_by_name)
{
    json_t *reply = stay("sm_clock_mhz=1980; temperature_celsius=40,41; board_milliwatts=90000", 0);

    ck_assert_int_eq(json_integer_value(json_object_get(device(reply, "before"), "sm_clock_mhz")),
                     1980);
    ck_assert_int_eq(
        json_integer_value(json_object_get(device(reply, "before"), "temperature_celsius")), 40);
    ck_assert_int_eq(
        json_integer_value(json_object_get(device(reply, "before"), "board_milliwatts")), 90000);
    ck_assert_uint_eq(json_object_size(device(reply, "before")), 3);
    /* Then what is another. */
    ck_assert_uint_eq(json_object_size(device(reply, "after")), 1);
    ck_assert_int_eq(
        json_integer_value(json_object_get(device(reply, "after"), "temperature_celsius")), 41);
    ck_assert_uint_eq(json_object_size(device(reply, "loaded")), 1);
    ck_assert_ptr_null(device(reply, "spans"));
    ck_assert_str_eq(flags(reply), "");
    ck_assert_double_eq_tol(json_number_value(json_object_get(reply, "device_mhz")), 1980, 1e-9);
    json_decref(reply);
}
END_TEST

/* Nothing is 0 for want of a sensor. */
START_TEST(device_without_sensors_is_absent)
{
    json_t *reply = stay("", 1980);

    ck_assert_uint_eq(sample_count(reply), SPANS);
    ck_assert_ptr_null(json_object_get(reply, "device"));
    ck_assert_ptr_null(json_object_get(reply, "device_flags"));
    ck_assert_ptr_null(json_object_get(reply, "device_mhz"));
    json_decref(reply);
    reply = stay("temperature_celsius=40", 1980);
    ck_assert_uint_eq(sample_count(reply), SPANS);
    ck_assert_ptr_null(json_object_get(device(reply, "before"), "sm_clock_mhz"));
    ck_assert_ptr_null(rejected(reply));
    json_decref(reply);
}
END_TEST

static bool is_null(const json_t *reply, const char *part, const char *name)
{
    return json_is_null(json_object_get(device(reply, part), name));
}

/* A reading that fails is null where it is told, and neither what it was before nor 0: no clock
 * that is low, no reason that there is none.  It costs no sample. */
START_TEST(readings_that_fail_are_not_known)
{
    json_t *reply =
        stay("sm_clock_mhz=1980*9,-; throttle_reasons=4*9,-; temperature_celsius=-,40", 0);
    const json_t *spans = device(reply, "spans");

    keeps_all(reply);
    ck_assert(is_null(reply, "after", "sm_clock_mhz"));
    ck_assert(is_null(reply, "after", "throttle_reasons"));
    ck_assert(is_null(reply, "before", "temperature_celsius"));
    ck_assert_int_eq(
        json_integer_value(json_object_get(device(reply, "loaded"), "temperature_celsius")), 40);
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(spans, "sm_clock_mhz"), 0)),
                     1980);
    ck_assert(json_is_null(json_array_get(json_object_get(spans, "sm_clock_mhz"), SPANS - 1)));
    ck_assert(json_is_null(json_array_get(json_object_get(spans, "throttle_reasons"), SPANS - 1)));
    json_decref(reply);
}
END_TEST

START_TEST(sensors_have_names)
{
    static const char *const yes[] = {"sm_clock_mhz", "hotspot_celsius", "board_milliwatts",
                                      "throttle_reasons"};
    static const char *const no[] = {"live_bytes", "_mhz",        "mhz_total",
                                     "generation", "a_mhz_total", "celsius"};

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        ck_assert_msg(assay__sense_is_sensor(yes[i]), "%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ck_assert_msg(!assay__sense_is_sensor(no[i]), "%s", no[i]);
}
END_TEST

START_TEST(reasons_have_words)
{
    static const struct {
        uint64_t reasons;
        unsigned noise;
    } cases[] = {{0, 0},
                 {0x1 | 0x2 | 0x10 | 0x100, 0},
                 {0x4, ASSAY__NOISE_POWER},
                 {0x80, ASSAY__NOISE_POWER},
                 {0x20, ASSAY__NOISE_HEAT},
                 {0x40, ASSAY__NOISE_HEAT},
                 {0x8, ASSAY__NOISE_POWER},
                 {0x48, ASSAY__NOISE_HEAT},
                 {0x88, ASSAY__NOISE_POWER},
                 {0x24, ASSAY__NOISE_HEAT | ASSAY__NOISE_POWER}};

    ck_assert_uint_eq(assay__sense_noise(cases[_i].reasons), cases[_i].noise);
}
END_TEST

/* ---- the guard ---- */

/* Readings: one when the stay begins, three of loads, one behind each span.  After a pause there is
 * one of a load again. */
#define TO_SPANS 4

/* Spans 10 to 14 are those of a device that slowed down, for each reason that counts: they are left
 * out, and others taken. */
START_TEST(samples_of_a_slowed_device_are_taken_again)
{
    static const unsigned reasons[] = {0x8, 0x20, 0x40, 0x80, 0x24};
    char script[160];
    json_t *reply;

    (void)snprintf(script, sizeof script,
                   "sm_clock_mhz=1980*%d,1400*5,1980; throttle_reasons=0*%d,%u*5,0", TO_SPANS + 10,
                   TO_SPANS + 10, reasons[_i]);
    reply = stay(script, 0);
    ck_assert_uint_eq(sample_count(reply), SPANS + 5);
    ck_assert_uint_eq(json_array_size(rejected(reply)), 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(json_integer_value(json_array_get(rejected(reply), i)),
                         10 + (json_int_t)i);
    ck_assert(!is_true(reply, "gave_up"));
    ck_assert_str_ne(flags(reply), "");
    /* Each span is told where they differ. */
    const json_t *clocks = json_object_get(device(reply, "spans"), "sm_clock_mhz");
    ck_assert_uint_eq(json_array_size(clocks), SPANS + 5);
    ck_assert_int_eq(json_integer_value(json_array_get(clocks, 9)), 1980);
    ck_assert_int_eq(json_integer_value(json_array_get(clocks, 10)), 1400);
    ck_assert_int_eq(json_integer_value(json_array_get(
                         json_object_get(device(reply, "spans"), "throttle_reasons"), 14)),
                     reasons[_i]);
    json_decref(reply);
}
END_TEST

/* A clock of three quarters and more is not low, and a reading that the device calls idle under
 * load, too, says nothing. */
START_TEST(clocks_that_are_not_low_cost_nothing)
{
    static const struct {
        const char *script;
        double fastest;
    } stays[] = {{"sm_clock_mhz=2000*14,1500; throttle_reasons=0*14,8", 0},
                 {"sm_clock_mhz=345; throttle_reasons=1", 1980}};
    json_t *reply = stay(stays[_i].script, stays[_i].fastest);

    keeps_all(reply);
    json_decref(reply);
}
END_TEST

/* What a kernel's own work leaves of the clock is its clock: kept, and told.  So it is under load
 * before and behind spans alone. */
START_TEST(samples_at_the_power_limit_are_kept)
{
    static const char *const scripts[] = {
        "sm_clock_mhz=1980*2,1245,1500*3,1300,1400; throttle_reasons=0*2,4",
        "sm_clock_mhz=1980*14,1245; throttle_reasons=0*14,4",
        "sm_clock_mhz=1980*1,1245; throttle_reasons=0*1,4*1,0",
        "sm_clock_mhz=1245; throttle_reasons=0*4,4"};
    json_t *reply = stay(scripts[_i], 1980);

    keeps_all(reply);
    ck_assert(!is_true(reply, "gave_up"));
    ck_assert_str_eq(flags(reply), "power");
    json_decref(reply);
}
END_TEST

/* A device that drops its clock as soon as it is idle, and one whose reading says so late. */
START_TEST(idle_clock_behind_spans_costs_nothing)
{
    static const char *const scripts[] = {"sm_clock_mhz=1980; idle_mhz=345; throttle_reasons=0",
                                          "sm_clock_mhz=1980; idle_mhz=345",
                                          "sm_clock_mhz=1980*4,345*6,1980"};
    json_t *reply = stay(scripts[_i], 1980);

    keeps_all(reply);
    ck_assert_str_eq(flags(reply), "");
    ck_assert(is_true(reply, "steady"));
    json_decref(reply);
}
END_TEST

/* The fastest is what it runs at under load, where it is idle behind every span. */
START_TEST(fastest_clock_is_that_of_loads_too)
{
    json_t *reply = stay("sm_clock_mhz=1980; idle_mhz=345", 0);

    ck_assert_double_eq_tol(json_number_value(json_object_get(reply, "device_mhz")), 1980, 1e-9);
    json_decref(reply);
}
END_TEST

/* Low under load and behind the spans, and no reason told: by what earlier visits saw it is low,
 * and stays so. */
START_TEST(clock_that_stays_low_is_given_up)
{
    static const char *const scripts[] = {"sm_clock_mhz=1000", "sm_clock_mhz=1000; idle_mhz=345",
                                          "sm_clock_mhz=1000; throttle_reasons=2",
                                          "sm_clock_mhz=1000; throttle_reasons=64",
                                          "sm_clock_mhz=1000; throttle_reasons=0*1,36*3,0"};
    json_t *reply = stay(scripts[_i], 1980);

    ck_assert(is_true(reply, "gave_up"));
    ck_assert_str_eq(json_string_value(json_object_get(reply, "low_clock")), "device");
    ck_assert_uint_gt(sample_count(reply), SPANS);
    ck_assert_uint_eq(sample_count(reply), json_array_size(rejected(reply)));
    json_decref(reply);
    /* Nobody saw it faster. */
    reply = stay(scripts[_i], 0);
    ck_assert(!is_true(reply, "gave_up"));
    ck_assert_uint_eq(sample_count(reply), SPANS);
    ck_assert_ptr_null(json_object_get(reply, "low_clock"));
    json_decref(reply);
}
END_TEST

/* It rises again while the worker waits: the load after a pause says so. */
START_TEST(clock_that_rises_again_ends_the_wait)
{
    json_t *reply = stay("sm_clock_mhz=1000*60,1980", 1980);

    ck_assert(!is_true(reply, "gave_up"));
    ck_assert_uint_gt(json_array_size(rejected(reply)), SPANS);
    ck_assert_uint_eq(sample_count(reply) - json_array_size(rejected(reply)), SPANS);
    json_decref(reply);
}
END_TEST

/* What was read under load before a pause says nothing of what comes after it. */
START_TEST(load_is_read_again_after_a_pause)
{
    json_t *reply = stay("sm_clock_mhz=1980*4,1000; throttle_reasons=0*4,32*20,0", 0);

    ck_assert(is_true(reply, "gave_up"));
    ck_assert_uint_gt(sample_count(reply), SPANS);
    ck_assert_uint_eq(sample_count(reply), json_array_size(rejected(reply)));
    json_decref(reply);
}
END_TEST

/* ---- warm-up ---- */

static double called_ns(const char *sensors)
{
    json_t *reply = stay(sensors, 0);
    const double ns = json_number_value(json_object_get(reply, "called_ns"));

    ck_assert(is_true(reply, "steady"));
    json_decref(reply);
    return ns;
}

/* Until three readings under load agree within 1 %; the fourth to sixth, here.  So many calls more
 * than where the first to third do. */
START_TEST(warm_up_goes_on_until_clocks_agree)
{
    const double at_once = called_ns("sm_clock_mhz=1980");

    ck_assert_double_eq_tol(called_ns("sm_clock_mhz=345,345,800,1500,1980"), at_once + 3 * 1024e3,
                            1);
    ck_assert_double_eq_tol(called_ns("sm_clock_mhz=345,1960,1980,1970,1980"), at_once + 1024e3, 1);
    ck_assert_double_eq_tol(called_ns("sm_clock_mhz=345,1965,1980,1970"), at_once, 1);
}
END_TEST

/* At a limit it goes up and down for as long as there is load. */
START_TEST(warm_up_does_not_wait_at_a_limit)
{
    ck_assert_double_lt(called_ns("sm_clock_mhz=345,1400,1500,1400,1500; throttle_reasons=1,4"),
                        called_ns("sm_clock_mhz=1980"));
}
END_TEST

/* Two seconds of calls, then it is told; but of a device that says nothing of its clock nothing is
 * waited for. */
START_TEST(warm_up_that_never_agrees_ends)
{
    json_t *reply = stay("sm_clock_mhz=1900,1980,...", 0);
    const double ns = json_number_value(json_object_get(reply, "called_ns"));

    ck_assert(!is_true(reply, "steady"));
    ck_assert_double_gt(ns, ASSAY__SENSE_SETTLE_NS);
    ck_assert_double_lt(ns, 1.1 * ASSAY__SENSE_SETTLE_NS);
    ck_assert_uint_eq(sample_count(reply), SPANS);
    json_decref(reply);
    ck_assert_double_lt(called_ns("temperature_celsius=40,41,..."), 0.01 * ASSAY__SENSE_SETTLE_NS);
}
END_TEST

/* Calls that are endless have warmed it up, and there is one load: none. */
START_TEST(endless_calls_are_their_own_load)
{
    json_t *reply = stay("sm_clock_mhz=345,1900,1980,...; kernel=* ns=400e6", 0);

    ck_assert(is_true(reply, "steady"));
    ck_assert_uint_eq(sample_count(reply), 1);
    ck_assert_double_eq_tol(json_number_value(json_object_get(reply, "called_ns")), 2 * 400e6, 1);
    ck_assert_int_eq(json_integer_value(json_object_get(device(reply, "loaded"), "sm_clock_mhz")),
                     1900);
    json_decref(reply);
}
END_TEST

/* What a worker knows of the stay before counts: one load suffices. */
START_TEST(later_stays_of_a_worker_warm_up_less)
{
    assay__sense_history history = {.count = 0};
    assay__sense s = {.loaded = {.clock_mhz = 1980}};
    const assay__backend other = {.instance = NULL};

    ck_assert(!assay__sense_is_settled(&s, &history));
    ck_assert(!assay__sense_is_settled(&s, &history));
    ck_assert(assay__sense_is_settled(&s, &history));
    s.loaded.clock_mhz = 1970;
    ck_assert(assay__sense_is_settled(&s, &history));
    s.loaded.clock_mhz = 1900;
    ck_assert(!assay__sense_is_settled(&s, &history));
    /* One that idled says its idle clock as often as is asked, until it is awake. */
    s.loaded.clock_mhz = 735;
    for (int i = 0; i < 5; i++)
        ck_assert(!assay__sense_is_settled(&s, &history));
    s.loaded.reasons = ASSAY__REASON_POWER_CAP; /* no faster than that */
    ck_assert(assay__sense_is_settled(&s, &history));
    s.loaded.reasons = 0;
    s.loaded.clock_mhz = 1900;
    /* Another device has another clock. */
    for (int i = 0; i < 3; i++)
        (void)assay__sense_is_settled(&s, &history);
    ck_assert(assay__sense_is_settled(&s, &history));
    s.backend = &other;
    ck_assert(!assay__sense_is_settled(&s, &history));
    /* What is not known is waited for by nobody. */
    s.loaded.clock_mhz = 0;
    ck_assert(assay__sense_is_settled(&s, &history));
}
END_TEST

static double next_called_ns(void)
{
    json_t *reply = one_more(0);
    const double ns = json_number_value(json_object_get(reply, "called_ns"));

    json_decref(reply);
    return ns;
}

/* Of a device whose clock is known three loads are one, and of one that never settles two seconds
 * are a few loads. */
START_TEST(later_stays_do_not_wait_again)
{
    double first;

    begin("sm_clock_mhz=1980");
    first = next_called_ns();
    ck_assert_double_eq_tol(next_called_ns(), first - 2 * 1024e3, 1);
    fake_worker_end();
    begin("sm_clock_mhz=1900,1980,...");
    ck_assert_double_gt(next_called_ns(), 2e9);
    ck_assert_double_lt(next_called_ns(), 0.1e9);
    fake_worker_end();
}
END_TEST

static assay_status short_status;

static assay_status falls_short(const assay_launch *launch)
{
    (void)launch;
    return short_status;
}

static assay_status waits_short(assay_instance *instance)
{
    (void)instance;
    return assay__fail(ASSAY_NOMEM, "none left");
}

static assay_status load_of(assay_kernel_fn run, const char *script)
{
    assay__plugin *plugin;
    assay__sense s;

    begin(script);
    plugin = assay__plugins_find(fake_worker.plugins, "fake");
    must(assay__plugin_open(plugin));
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .instance = plugin->backend.instance};
    if (short_status == ASSAY_OK)
        plugin->backend.slots.synchronize = waits_short;
    assay__sense_begin(&s, &plugin->backend, 0);
    const assay_status status = assay__sense_load(&s, run, &launch, 1);
    assay__sense_clear(&s);
    fake_worker_end();
    return status;
}

/* A device apart that has no memory left under load is nobody's fault yet, as in timed calls; a
 * kernel of the host that takes too much is to blame. */
START_TEST(load_without_memory_blames_as_timed_calls_do)
{
    short_status = _i == 0 ? ASSAY_NOMEM : ASSAY_OK;
    ck_assert_int_eq(load_of(falls_short, "discrete=1; sm_clock_mhz=1980"), ASSAY_NOMEM);
    ck_assert_int_eq(load_of(falls_short, "sm_clock_mhz=1980"), ASSAY_DEVICE);
}
END_TEST

static void add_guard(TCase *tc)
{
    tcase_add_loop_test(tc, samples_of_a_slowed_device_are_taken_again, 0, 5);
    tcase_add_loop_test(tc, clocks_that_are_not_low_cost_nothing, 0, 2);
    tcase_add_loop_test(tc, samples_at_the_power_limit_are_kept, 0, 4);
    tcase_add_loop_test(tc, idle_clock_behind_spans_costs_nothing, 0, 3);
    tcase_add_test(tc, fastest_clock_is_that_of_loads_too);
    tcase_add_loop_test(tc, clock_that_stays_low_is_given_up, 0, 5);
    tcase_add_test(tc, load_is_read_again_after_a_pause);
    tcase_add_test(tc, clock_that_rises_again_ends_the_wait);
}

int main(void)
{
    Suite *suite = suite_create("sense");
    TCase *tc = tcase_create("sense");

    tcase_add_test(tc, sensors_are_told_by_name);
    tcase_add_test(tc, device_without_sensors_is_absent);
    tcase_add_test(tc, readings_that_fail_are_not_known);
    tcase_add_test(tc, sensors_have_names);
    tcase_add_loop_test(tc, reasons_have_words, 0, 10);
    add_guard(tc);
    tcase_add_loop_test(tc, load_without_memory_blames_as_timed_calls_do, 0, 2);
    tcase_add_test(tc, warm_up_goes_on_until_clocks_agree);
    tcase_add_test(tc, warm_up_does_not_wait_at_a_limit);
    tcase_add_test(tc, warm_up_that_never_agrees_ends);
    tcase_add_test(tc, endless_calls_are_their_own_load);
    tcase_add_test(tc, later_stays_do_not_wait_again);
    tcase_add_test(tc, later_stays_of_a_worker_warm_up_less);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
