/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_cuda_measure.c -- what backend cuda measures and counts, on a scripted driver
 * without a GPU. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "gen/config.h"

#if HAVE_CUDA

#include "tests/fake_cuda/fake_cuda_stage.h"

/* ---- measuring ---- */

typedef struct spans {
    size_t count, inner;
    double ns[16];
} spans;

static void on_span(void *cookie, double ns, size_t inner)
{
    spans *s = cookie;

    s->ns[s->count++ % 16] = ns;
    s->inner += inner;
}

static assay_status measure(assay_instance *instance, const assay_launch *launches, size_t count,
                            size_t inner, spans *seen, assay_clock_info *clock)
{
    const assay_measure what = {.struct_size = sizeof what,
                                .run = fake_row_count,
                                .launches = launches,
                                .launch_count = count,
                                .inner = inner,
                                .spans = 5,
                                .sink = on_span,
                                .cookie = seen};

    memset(seen, 0, sizeof *seen);
    return B->measure(instance, &what, clock);
}

/* Launches that each count in a buffer of their own. */
static void make_counters(assay_instance *instance, assay_tensor *operands, assay_launch *launches,
                          size_t count)
{
    const int64_t n = 1;
    uint32_t zero = 0;

    for (size_t i = 0; i < count; i++) {
        OK(assay_tensor_host(NULL, ASSAY_F32, 1, &n, NULL, &operands[i]));
        operands[i].buffer = cuda_stage_make(instance, sizeof zero);
        cuda_stage_put(instance, operands[i].buffer, &zero, sizeof zero);
        launches[i] = (assay_launch){
            .struct_size = sizeof launches[i], .operand_count = 1, .operands = &operands[i]};
    }
}

static uint32_t counted(assay_instance *instance, const assay_tensor *operand)
{
    uint32_t count = 0;

    cuda_stage_get(instance, &count, operand->buffer, sizeof count);
    return count;
}

static void check_spans(const spans *seen, size_t inner, double ns)
{
    ck_assert_uint_eq(seen->count, 5);
    ck_assert_uint_eq(seen->inner, 5 * inner);
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq_tol(seen->ns[i], ns, 1e-3 * ns);
}

START_TEST(measure_by_events_without_records)
{
    assay_instance *instance = cuda_stage_open("ns=20000 gap=500");
    assay_tensor operands[1];
    assay_launch launches[1];
    assay_clock_info clock;
    spans seen;

    make_counters(instance, operands, launches, 1);
    OK(measure(instance, launches, 1, 3, &seen, &clock));
    check_spans(&seen, 3, 3 * 20500.0); /* long ones are launched one by one */
    ck_assert_str_eq(clock.name, "CUDA events");
    ck_assert_int_eq(clock.quality, ASSAY_TIMING_DEVICE);
    ck_assert_double_eq_tol(clock.overhead_ns, 20500.0, 1.0);
    ck_assert(clock.resolution_ns > 0.0);
    ck_assert_uint_ge(counted(instance, operands), 15);
    OK(B->free(instance, operands[0].buffer));
    cuda_stage_close(instance);
}
END_TEST

START_TEST(measure_of_short_calls_is_a_graph)
{
    assay_instance *instance = cuda_stage_open("ns=2000 gap=4000");
    assay_tensor operands[3];
    assay_launch launches[3];
    assay_clock_info clock;
    spans seen;

    make_counters(instance, operands, launches, 3);
    OK(measure(instance, launches, 3, 10, &seen, &clock));
    check_spans(&seen, 10, 20000.0); /* without what the host takes to launch */
    const uint32_t all = counted(instance, &operands[0]) + counted(instance, &operands[1]) +
                         counted(instance, &operands[2]);
    ck_assert_uint_eq(all, 50 + 9);                             /* and those of the estimate */
    ck_assert_uint_eq(counted(instance, &operands[2]), 16 + 2); /* rotation goes on over spans */
    OK(measure(instance, launches, 3, 1, &seen, &clock));
    check_spans(&seen, 1, 6000.0); /* one call is no row */
    cuda_stage_script("nocapture");
    OK(measure(instance, launches, 3, 10, &seen, &clock));
    check_spans(&seen, 10, 60000.0);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(measure_by_records_leaves_launches_out)
{
    cuda_stage_with("ASSAY_CUDA_CUPTI", true);
    assay_instance *instance = cuda_stage_open("ns=20000 gap=500");
    assay_tensor operands[1];
    assay_launch launches[1];
    assay_clock_info clock;
    spans seen;

    make_counters(instance, operands, launches, 1);
    OK(measure(instance, launches, 1, 3, &seen, &clock));
    check_spans(&seen, 3, 3 * 20000.0 + 2 * 500.0); /* from the first start on */
    ck_assert_str_eq(clock.name, "CUPTI activity");
    ck_assert_int_eq(clock.quality, ASSAY_TIMING_COUNTERS);
    ck_assert_double_eq(clock.overhead_ns, 20000.0);
    ck_assert_double_eq(clock.resolution_ns, 500.0); /* all times here are multiples of it */
    cuda_stage_script("ns=1000 gap=3000");
    OK(measure(instance, launches, 1, 10, &seen, &clock));
    check_spans(&seen, 10, 10000.0); /* a graph is one record */
    ck_assert_int_eq(clock.quality, ASSAY_TIMING_COUNTERS);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(measure_takes_spans_again_whose_records_are_lost)
{
    cuda_stage_with("ASSAY_CUDA_CUPTI", true);
    assay_instance *instance = cuda_stage_open("ns=20000");
    assay_tensor operands[1];
    assay_launch launches[1];
    assay_clock_info clock;
    spans seen;

    make_counters(instance, operands, launches, 1);
    OK(measure(instance, launches, 1, 3, &seen, &clock)); /* the clock is known from now on */
    const uint32_t before = counted(instance, operands);
    cuda_stage_script("dropped=1");
    OK(measure(instance, launches, 1, 3, &seen, &clock));
    check_spans(&seen, 3, 60000.0);
    /* 15 of spans, 4 of the estimate, 3 of the span that was taken again. */
    ck_assert_uint_eq(counted(instance, operands) - before, 22);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(measure_falls_back_where_records_are_refused)
{
    cuda_stage_with("ASSAY_CUDA_CUPTI", true);
    assay_instance *instance = cuda_stage_open("ns=20000 cupti=35");
    assay_tensor operands[1];
    assay_launch launches[1];
    assay_clock_info clock;
    spans seen;

    make_counters(instance, operands, launches, 1);
    OK(measure(instance, launches, 1, 3, &seen, &clock));
    check_spans(&seen, 3, 60000.0);
    ck_assert_int_eq(clock.quality, ASSAY_TIMING_DEVICE);
    cuda_stage_script("cupti=0");
    OK(measure(instance, launches, 1, 3, &seen, &clock));
    ck_assert_int_eq(clock.quality, ASSAY_TIMING_COUNTERS);
    cuda_stage_script("lose=1000000");
    OK(measure(instance, launches, 1, 1, &seen, &clock)); /* one record a span, and it is lost */
    check_spans(&seen, 1, 20000.0);
    ck_assert_int_eq(clock.quality, ASSAY_TIMING_DEVICE);
    cuda_stage_close(instance);
}
END_TEST

/* The driver's compiler may be missing: then no empty kernel can be loaded. */
START_TEST(measure_needs_no_compiler_of_the_driver)
{
    assay_instance *instance = cuda_stage_open("ns=20000 fail=cuModuleLoadData:2:221:1000");
    assay_tensor operands[1];
    assay_launch launches[1];
    assay_clock_info clock;
    spans seen;

    make_counters(instance, operands, launches, 1);
    OK(measure(instance, launches, 1, 3, &seen, &clock));
    check_spans(&seen, 3, 60000.0);
    ck_assert_double_eq(clock.overhead_ns, 0.0); /* a fill takes no time there */
    cuda_stage_close(instance);
}
END_TEST

START_TEST(measure_refuses_what_makes_no_sense)
{
    assay_instance *instance = cuda_stage_open("");
    assay_tensor operands[2];
    assay_launch launches[2];
    assay_clock_info clock;
    spans seen;

    make_counters(instance, operands, launches, 2);
    cuda_stage_fails(measure(instance, launches, 0, 1, &seen, &clock), ASSAY_INVALID, "needs");
    cuda_stage_fails(measure(instance, launches, 1, 0, &seen, &clock), ASSAY_INVALID, "needs");
    const assay_measure hot = {.struct_size = sizeof hot,
                               .run = fake_row_count,
                               .launches = launches,
                               .launch_count = 2,
                               .inner = 1,
                               .spans = 1,
                               .cache = ASSAY_CACHE_HOT,
                               .sink = on_span,
                               .cookie = &seen};
    cuda_stage_fails(B->measure(instance, &hot, &clock), ASSAY_INVALID, "hot");
    OK(B->free(instance, operands[1].buffer));
    cuda_stage_fails(measure(instance, launches, 2, 1, &seen, &clock), ASSAY_FREED, "freed");
    OK(B->free(instance, operands[0].buffer)); /* the refused one pins nothing */
    cuda_stage_close(instance);
}
END_TEST

/* ---- metrics ---- */

static uint64_t metric(assay_instance *instance, const char *name, bool *there)
{
    assay_metric list[64];
    size_t count = 0;

    *there = false;
    OK(B->metrics(instance, list, 64, &count));
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) {
            *there = true;
            return list[i].value;
        }
    return 0;
}

START_TEST(metrics_count_and_have_no_readings_without_nvml)
{
    assay_instance *instance = cuda_stage_open("");
    bool there = false;
    char bytes[8] = "";

    cuda_stage_put(instance, cuda_stage_make(instance, 8), bytes, 8);
    ck_assert_uint_eq(metric(instance, "upload_bytes_total", &there), 8);
    ck_assert_uint_eq(metric(instance, "allocs_total", &there), 1);
    ck_assert_uint_eq(metric(instance, "live_bytes", &there), 8);
    (void)metric(instance, "sm_clock_mhz", &there);
    ck_assert(!there);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(metrics_hold_the_readings_that_there_are)
{
    cuda_stage_with("ASSAY_CUDA_NVML", true);
    assay_instance *instance = cuda_stage_open("");
    assay_metric few[2];
    size_t count = 0, same = 0;
    bool there = false;

    ck_assert_uint_eq(metric(instance, "sm_clock_mhz", &there), 1980);
    ck_assert_uint_eq(metric(instance, "temperature_celsius", &there), 41);
    ck_assert_uint_eq(metric(instance, "throttle_reasons", &there), 4);
    (void)metric(instance, "power_milliwatts", &there); /* this device does not tell */
    ck_assert(!there);
    OK(B->metrics(instance, NULL, 0, &count));
    OK(B->metrics(instance, few, 2, &same));
    ck_assert_uint_eq(count, same);
    cuda_stage_close(instance);
}
END_TEST

/* ---- sensors, as the worker reads them ---- */

typedef struct sensed {
    assay_instance *instance;
    size_t count;
    uint64_t clock[8], reasons[8];
} sensed;

/* The device gets hot behind the second span. */
static void on_sensed_span(void *cookie, double ns, size_t inner)
{
    sensed *s = cookie;
    bool there = false;

    (void)ns;
    (void)inner;
    if (s->count == 2)
        cuda_stage_script("clock=1200 reasons=32");
    s->clock[s->count % 8] = metric(s->instance, "sm_clock_mhz", &there);
    ck_assert(there);
    s->reasons[s->count++ % 8] = metric(s->instance, "throttle_reasons", &there);
    ck_assert(there);
}

/* Nothing that a measurement holds is in their way, by events or by records. */
START_TEST(sensors_answer_between_spans)
{
    cuda_stage_with("ASSAY_CUDA_NVML", true);
    cuda_stage_with("ASSAY_CUDA_CUPTI", _i == 1);
    assay_instance *instance = cuda_stage_open("reasons=0");
    sensed seen = {.instance = instance};
    assay_clock_info clock = {.overhead_ns = 0};
    assay_tensor operands[2];
    assay_launch launches[2];

    make_counters(instance, operands, launches, 2);
    const assay_measure what = {.struct_size = sizeof what,
                                .run = fake_row_count,
                                .launches = launches,
                                .launch_count = 2,
                                .inner = 4,
                                .spans = 5,
                                .sink = on_sensed_span,
                                .cookie = &seen};
    OK(B->measure(instance, &what, &clock));
    ck_assert_uint_eq(seen.count, 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(seen.clock[i], i < 2 ? 1980 : 1200);
        ck_assert_uint_eq(seen.reasons[i], i < 2 ? 0 : 32);
    }
    cuda_stage_close(instance);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_loop_test(t, sensors_answer_between_spans, 0, 2);
    tcase_add_test(t, measure_by_events_without_records);
    tcase_add_test(t, measure_of_short_calls_is_a_graph);
    tcase_add_test(t, measure_by_records_leaves_launches_out);
    tcase_add_test(t, measure_takes_spans_again_whose_records_are_lost);
    tcase_add_test(t, measure_falls_back_where_records_are_refused);
    tcase_add_test(t, measure_needs_no_compiler_of_the_driver);
    tcase_add_test(t, measure_refuses_what_makes_no_sense);
    tcase_add_test(t, metrics_count_and_have_no_readings_without_nvml);
    tcase_add_test(t, metrics_hold_the_readings_that_there_are);
}

#else

START_TEST(build_without_cuda_says_why)
{
    ck_assert_str_ne(ASSAY_WHY_CUDA, "");
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, build_without_cuda_says_why);
}

#endif

int main(void)
{
    Suite *suite = suite_create("cuda_measure");
    TCase *t = tcase_create("scripted");

    tcase_set_timeout(t, 60);
    add_tests(t);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
