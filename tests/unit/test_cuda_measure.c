/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_cuda_measure.c -- what backend cuda measures and counts, on a scripted driver
 * without a GPU. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/fake_cuda_suite.h"

#if HAVE_CUDA

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

/* An instance, launches that each count in a buffer of their own, and what was measured last. */
typedef struct scene {
    assay_instance *instance;
    assay_tensor operands[3];
    assay_launch launches[3];
    assay_clock_info clock;
    spans seen;
} scene;

static void open_scene(scene *s, const char *script, size_t count)
{
    const int64_t n = 1;
    uint32_t zero = 0;

    memset(s, 0, sizeof *s);
    s->instance = cuda_stage_open(script);
    for (size_t i = 0; i < count; i++) {
        OK(assay_tensor_host(NULL, ASSAY_F32, 1, &n, NULL, &s->operands[i]));
        s->operands[i].buffer = cuda_stage_make(s->instance, sizeof zero);
        cuda_stage_put(s->instance, s->operands[i].buffer, &zero, sizeof zero);
        s->launches[i] = (assay_launch){
            .struct_size = sizeof s->launches[i], .operand_count = 1, .operands = &s->operands[i]};
    }
}

static assay_status measure_as(scene *s, size_t count, size_t inner, bool is_rough)
{
    const assay_measure what = {.struct_size = sizeof what,
                                .run = fake_row_count,
                                .launches = s->launches,
                                .launch_count = count,
                                .inner = inner,
                                .spans = 5,
                                .sink = on_span,
                                .cookie = &s->seen,
                                .is_rough = is_rough};

    memset(&s->seen, 0, sizeof s->seen);
    return B->measure(s->instance, &what, &s->clock);
}

static assay_status measure(scene *s, size_t count, size_t inner)
{
    return measure_as(s, count, inner, false);
}

static uint32_t counted(const scene *s, size_t i)
{
    uint32_t count = 0;

    cuda_stage_get(s->instance, &count, s->operands[i].buffer, sizeof count);
    return count;
}

/* Five spans of `inner` calls, each of which took ns, by a clock of this quality. */
static void check_spans(const scene *s, size_t inner, double ns, assay_timing_quality quality)
{
    ck_assert_uint_eq(s->seen.count, 5);
    ck_assert_uint_eq(s->seen.inner, 5 * inner);
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq_tol(s->seen.ns[i], ns, 1e-3 * ns);
    ck_assert_int_eq(s->clock.quality, quality);
}

START_TEST(measure_by_events_without_records)
{
    scene s;

    open_scene(&s, "ns=20000 gap=500", 1);
    OK(measure(&s, 1, 3));
    check_spans(&s, 3, 3 * 20500.0, ASSAY_TIMING_DEVICE); /* long ones are launched one by one */
    ck_assert_str_eq(s.clock.name, "CUDA events");
    ck_assert_double_eq_tol(s.clock.overhead_ns, 20500.0, 1.0);
    ck_assert(s.clock.resolution_ns > 0.0);
    ck_assert_uint_ge(counted(&s, 0), 15);
    OK(B->free(s.instance, s.operands[0].buffer));
    cuda_stage_close(s.instance);
}
END_TEST

START_TEST(measure_of_short_calls_is_a_graph)
{
    scene s;

    open_scene(&s, "ns=2000 gap=4000", 3);
    OK(measure(&s, 3, 10));
    check_spans(&s, 10, 20000.0, ASSAY_TIMING_DEVICE); /* without what the host takes to launch */
    /* Spans, an estimate, and what went before each: by the estimate, then by the span before. */
    ck_assert_uint_eq(counted(&s, 0) + counted(&s, 1) + counted(&s, 2), 50 + 9 + 50 + 4 * 65);
    OK(measure(&s, 3, 1));
    check_spans(&s, 1, 6000.0, ASSAY_TIMING_DEVICE); /* one call is no row */
    cuda_stage_script("nocapture");
    OK(measure(&s, 3, 10));
    check_spans(&s, 10, 60000.0, ASSAY_TIMING_DEVICE);
    cuda_stage_close(s.instance);
}
END_TEST

START_TEST(measure_by_records_leaves_launches_out)
{
    scene s;

    cuda_stage_with("ASSAY_CUDA_CUPTI", true);
    open_scene(&s, "ns=20000 gap=500", 1);
    OK(measure(&s, 1, 3)); /* from the first start on */
    check_spans(&s, 3, 3 * 20000.0 + 2 * 500.0, ASSAY_TIMING_COUNTERS);
    ck_assert_str_eq(s.clock.name, "CUPTI activity");
    ck_assert_double_eq(s.clock.overhead_ns, 20000.0);
    ck_assert_double_eq(s.clock.resolution_ns, 500.0); /* all times here are multiples of it */
    cuda_stage_script("ns=1000 gap=3000");
    OK(measure(&s, 1, 10));
    check_spans(&s, 10, 10000.0, ASSAY_TIMING_COUNTERS); /* a graph is one record */
    cuda_stage_close(s.instance);
}
END_TEST

START_TEST(measure_takes_spans_again_whose_records_are_lost)
{
    scene s;

    cuda_stage_with("ASSAY_CUDA_CUPTI", true);
    open_scene(&s, "ns=20000", 1);
    OK(measure(&s, 1, 3)); /* the clock is known from now on */
    const uint32_t before = counted(&s, 0);
    cuda_stage_script("dropped=1");
    OK(measure(&s, 1, 3));
    check_spans(&s, 3, 60000.0, ASSAY_TIMING_COUNTERS);
    /* 15 of spans, 4 of the estimate, 3 of the span that was taken again, and 16 before each. */
    ck_assert_uint_eq(counted(&s, 0) - before, 22 + 6 * 16);
    cuda_stage_close(s.instance);
}
END_TEST

/* One that comes behind its span, asked for by force or not, is of no other span. */
START_TEST(measure_takes_late_records_for_no_other_span)
{
    static const char *const late[] = {"keep=1",
                                       "keep=2",
                                       "keep=3",
                                       "keep=1 keepafter=1",
                                       "keep=2 keepafter=2",
                                       "keep=3 keepafter=1"};
    scene s;

    cuda_stage_with("ASSAY_CUDA_CUPTI", true);
    open_scene(&s, "ns=20000", 1);
    OK(measure(&s, 1, 3)); /* the clock is known from now on */
    const uint32_t before = counted(&s, 0);
    cuda_stage_script(late[_i]);
    OK(measure(&s, 1, 3));
    check_spans(&s, 3, 60000.0, ASSAY_TIMING_COUNTERS);
    if (strncmp(late[_i], "keep=1", 6) == 0) /* by force it came: nothing was taken again */
        ck_assert_uint_eq(counted(&s, 0) - before, 19 + 5 * 16);
    cuda_stage_close(s.instance);
}
END_TEST

/* A device that was idle is slow at first: spans follow calls of their own kind, which do not
 * count, on the operands that they come to last.  Long ones need none. */
START_TEST(measure_keeps_the_device_busy_before_a_span)
{
    static const struct {
        const char *script;
        uint32_t before; /* calls before a span */
    } cases[] = {{"ns=20000", 16},
                 {"ns=1000", 65},
                 {"ns=10000000", 1},
                 {"ns=40000000", 0},
                 {"ns=2000000", 4}};
    uint32_t before[3], leads = 0;
    scene s;

    cuda_stage_with("ASSAY_CUDA_CUPTI", _i % 2 == 1);
    open_scene(&s, cases[_i / 2].script, 3);
    OK(measure(&s, 3, 1)); /* what a call takes is known from now on */
    for (size_t i = 0; i < 3; i++)
        before[i] = counted(&s, i);
    const size_t waits = cuda_stage_calls("cuStreamWaitEvent");
    OK(measure(&s, 3, 1));
    /* Those of another stream must have ended when the span begins. */
    ck_assert_uint_eq(cuda_stage_calls("cuStreamWaitEvent") - waits,
                      cases[_i / 2].before > 0 ? 5 : 0);
    for (size_t i = 0; i < 3; i++)
        leads += counted(&s, i) - before[i];
    ck_assert_uint_eq(leads, 5 * (1 + cases[_i / 2].before));
    for (int i = 1; i < 5; i++)
        ck_assert_double_eq_tol(s.seen.ns[i], s.seen.ns[0], 1.0);
    if (_i / 2 == 2) /* the one before the first span is the last of the rotation */
        ck_assert_uint_eq(counted(&s, 2) - before[2], 1 + 2);
    cuda_stage_close(s.instance);
}
END_TEST

/* Buffers are let go behind a failure, so that what had been launched must have ended: the second
 * of a row, and the second before a span. */
START_TEST(measure_that_fails_waits_for_what_it_launched)
{
    const bool is_led = _i == 1;
    scene s;

    open_scene(&s, "ns=20000", 1);
    if (is_led)
        OK(measure(&s, 1, 1));
    cuda_stage_script(is_led ? "fail=cuLaunchKernel:2:304" : "fail=cuLaunchKernel:3:304");
    const size_t before = cuda_stage_calls("cuStreamSynchronize");
    cuda_stage_fails(measure(&s, 1, is_led ? 1 : 3), ASSAY_DEVICE, "304");
    /* Before it, behind the first call or what goes before a span, at the end. */
    ck_assert_uint_eq(cuda_stage_calls("cuStreamSynchronize") - before, 3);
    OK(B->free(s.instance, s.operands[0].buffer));
    cuda_stage_close(s.instance);
}
END_TEST

START_TEST(measure_falls_back_where_records_are_refused)
{
    scene s;

    cuda_stage_with("ASSAY_CUDA_CUPTI", true);
    open_scene(&s, "ns=20000 cupti=35", 1);
    OK(measure(&s, 1, 3));
    check_spans(&s, 3, 60000.0, ASSAY_TIMING_DEVICE);
    cuda_stage_script("cupti=0");
    OK(measure(&s, 1, 3));
    check_spans(&s, 3, 60000.0, ASSAY_TIMING_COUNTERS);
    cuda_stage_script("lose=1000000");
    OK(measure(&s, 1, 1)); /* one record a span, and it is lost */
    check_spans(&s, 1, 20000.0, ASSAY_TIMING_DEVICE);
    cuda_stage_close(s.instance);
}
END_TEST

/* The driver's compiler may be missing: then no empty kernel can be loaded. */
START_TEST(measure_needs_no_compiler_of_the_driver)
{
    scene s;

    open_scene(&s, "ns=20000 fail=cuModuleLoadData:2:221:1000", 1);
    OK(measure(&s, 1, 3));
    check_spans(&s, 3, 60000.0, ASSAY_TIMING_DEVICE);
    ck_assert_double_eq(s.clock.overhead_ns, 0.0); /* a fill takes no time there */
    cuda_stage_close(s.instance);
}
END_TEST

START_TEST(measure_refuses_what_makes_no_sense)
{
    scene s;

    open_scene(&s, "", 2);
    cuda_stage_fails(measure(&s, 0, 1), ASSAY_INVALID, "needs");
    cuda_stage_fails(measure(&s, 1, 0), ASSAY_INVALID, "needs");
    const assay_measure hot = {.struct_size = sizeof hot,
                               .run = fake_row_count,
                               .launches = s.launches,
                               .launch_count = 2,
                               .inner = 1,
                               .spans = 1,
                               .cache = ASSAY_CACHE_HOT,
                               .sink = on_span,
                               .cookie = &s.seen};
    cuda_stage_fails(B->measure(s.instance, &hot, &s.clock), ASSAY_INVALID, "hot");
    OK(B->free(s.instance, s.operands[1].buffer));
    cuda_stage_fails(measure(&s, 2, 1), ASSAY_FREED, "freed");
    OK(B->free(s.instance, s.operands[0].buffer)); /* the refused one pins nothing */
    cuda_stage_close(s.instance);
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
    cuda_stage_with("ASSAY_NVML", true);
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

/* The list stays as it is, and what was read before is not told again. */
START_TEST(metrics_of_failed_readings_are_not_known)
{
    cuda_stage_with("ASSAY_NVML", true);
    assay_instance *instance = cuda_stage_open("");
    size_t count = 0, same = 0;
    bool there = false;

    ck_assert_uint_eq(metric(instance, "sm_clock_mhz", &there), 1980);
    OK(B->metrics(instance, NULL, 0, &count));
    cuda_stage_script("clock=0");
    ck_assert_uint_eq(metric(instance, "sm_clock_mhz", &there), ASSAY_METRIC_UNKNOWN);
    ck_assert(there);
    OK(B->metrics(instance, NULL, 0, &same));
    ck_assert_uint_eq(count, same);
    cuda_stage_script("clock=1500");
    ck_assert_uint_eq(metric(instance, "sm_clock_mhz", &there), 1500);
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
    scene s;
    sensed seen = {0};

    cuda_stage_with("ASSAY_NVML", true);
    cuda_stage_with("ASSAY_CUDA_CUPTI", _i == 1);
    open_scene(&s, "reasons=0", 2);
    seen.instance = s.instance;
    const assay_measure what = {.struct_size = sizeof what,
                                .run = fake_row_count,
                                .launches = s.launches,
                                .launch_count = 2,
                                .inner = 4,
                                .spans = 5,
                                .sink = on_sensed_span,
                                .cookie = &seen};
    OK(B->measure(s.instance, &what, &s.clock));
    ck_assert_uint_eq(seen.count, 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(seen.clock[i], i < 2 ? 1980 : 1200);
        ck_assert_uint_eq(seen.reasons[i], i < 2 ? 0 : 32);
    }
    cuda_stage_close(s.instance);
}
END_TEST

/* Also where somebody asked before the device was selected. */
START_TEST(metrics_are_of_the_selected_device)
{
    cuda_stage_with("ASSAY_NVML", true);
    assay_instance *instance = cuda_stage_open("devices=2");
    bool there = false;

    ck_assert_uint_eq(metric(instance, "temperature_celsius", &there), 41);
    OK(B->select_device(instance, 1));
    ck_assert_uint_eq(metric(instance, "temperature_celsius", &there), 42);
    cuda_stage_close(instance);
}
END_TEST

static uint64_t rows_asked(const scene *s)
{
    bool there = false;

    return metric(s->instance, "measure_record_ns_total", &there);
}

/* Nobody is asked for records of times that are not kept, and yet their clock is the one told of;
 * of a context where nothing was kept yet they are kept. */
START_TEST(measure_roughly_asks_for_no_records)
{
    scene s;

    cuda_stage_with("ASSAY_CUDA_CUPTI", true);
    open_scene(&s, "ns=20000 gap=500", 1);
    OK(measure_as(&s, 1, 3, true));
    check_spans(&s, 3, 3 * 20000.0 + 2 * 500.0, ASSAY_TIMING_COUNTERS);
    const uint64_t asked = rows_asked(&s);
    ck_assert_uint_gt(asked, 0);
    OK(measure_as(&s, 1, 3, true));
    ck_assert_uint_eq(rows_asked(&s), asked);
    check_spans(&s, 3, 3 * 20500.0, ASSAY_TIMING_COUNTERS);
    ck_assert_str_eq(s.clock.name, "CUPTI activity");
    ck_assert_double_eq(s.clock.overhead_ns, 20000.0);
    OK(measure(&s, 1, 3));
    check_spans(&s, 3, 3 * 20000.0 + 2 * 500.0, ASSAY_TIMING_COUNTERS);
    ck_assert_uint_gt(rows_asked(&s), asked);
    cuda_stage_close(s.instance);
}
END_TEST

/* A row of one launch is a small graph, run as often as it takes, and what is left; every call is
 * made, and the next measurement of the same needs no estimate. */
START_TEST(measure_roughly_tells_the_next_what_to_expect)
{
    scene s;

    open_scene(&s, "ns=2000 gap=4000", 3);
    OK(measure(&s, 1, 1));
    uint32_t before = counted(&s, 0);
    OK(measure_as(&s, 1, 150, true));
    check_spans(&s, 150, 128 * 2000.0 + 22 * 6000.0, ASSAY_TIMING_DEVICE);
    /* An estimate of nine calls; the row is long enough to lead itself in. */
    ck_assert_uint_eq(counted(&s, 0) - before, 5 * 150 + 9);
    OK(measure_as(&s, 3, 10, true)); /* of several all are in the graph */
    check_spans(&s, 10, 20000.0, ASSAY_TIMING_DEVICE);
    before = counted(&s, 0) + counted(&s, 1) + counted(&s, 2);
    OK(measure(&s, 3, 10));
    check_spans(&s, 10, 20000.0, ASSAY_TIMING_DEVICE);
    ck_assert_uint_eq(counted(&s, 0) + counted(&s, 1) + counted(&s, 2) - before, 50 + 5 * 65);
    before = counted(&s, 0) + counted(&s, 1) + counted(&s, 2);
    OK(measure(&s, 3, 10)); /* once */
    ck_assert_uint_eq(counted(&s, 0) + counted(&s, 1) + counted(&s, 2) - before, 50 + 5 * 65 + 9);
    cuda_stage_close(s.instance);
}
END_TEST

/* Of another variant nothing is known: its calls may be short where the other's were long. */
START_TEST(measure_roughly_tells_nothing_of_other_variants)
{
    int64_t one = 1, two = 2;
    scene s;

    open_scene(&s, "ns=20000", 1);
    s.launches[0].tunables = &one;
    s.launches[0].tunable_count = 1;
    OK(measure(&s, 1, 10));
    OK(measure_as(&s, 1, 10, true));
    s.launches[0].tunables = &two;
    cuda_stage_script("ns=2000 gap=4000");
    OK(measure(&s, 1, 10));
    check_spans(&s, 10, 20000.0, ASSAY_TIMING_DEVICE);
    cuda_stage_close(s.instance);
}
END_TEST

/* An older caller's struct ends before the word. */
START_TEST(measure_of_an_older_caller_is_kept)
{
    scene s;

    cuda_stage_with("ASSAY_CUDA_CUPTI", true);
    open_scene(&s, "ns=20000", 1);
    OK(measure(&s, 1, 3));
    const uint64_t asked = rows_asked(&s);
    const assay_measure what = {.struct_size = offsetof(assay_measure, is_rough),
                                .run = fake_row_count,
                                .launches = s.launches,
                                .launch_count = 1,
                                .inner = 3,
                                .spans = 1,
                                .sink = on_span,
                                .cookie = &s.seen,
                                .is_rough = true};
    OK(B->measure(s.instance, &what, &s.clock));
    ck_assert_uint_gt(rows_asked(&s), asked);
    cuda_stage_close(s.instance);
}
END_TEST

/* Leads and trials are calls that no span has in it; graphs and records take time of the host. */
START_TEST(measure_counts_what_it_costs)
{
    bool there = false;
    scene s;

    cuda_stage_with("ASSAY_CUDA_CUPTI", true);
    open_scene(&s, "ns=2000", 2);
    OK(measure(&s, 2, 4)); /* and what the clock is worth */
    const uint64_t before = metric(s.instance, "measure_untimed_ns_total", &there);
    OK(measure(&s, 2, 4));
    /* One trial, four more, and before each of five spans 65 calls. */
    const uint64_t untimed = metric(s.instance, "measure_untimed_ns_total", &there) - before;
    ck_assert_msg(there && untimed == (5 * 65 + 5) * 2000, "%llu ns", (unsigned long long)untimed);
    ck_assert_uint_gt(metric(s.instance, "measure_graph_ns_total", &there), 0);
    ck_assert_uint_gt(metric(s.instance, "measure_record_ns_total", &there), 0);
    cuda_stage_close(s.instance);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, measure_counts_what_it_costs);
    tcase_add_test(t, measure_roughly_asks_for_no_records);
    tcase_add_test(t, measure_roughly_tells_the_next_what_to_expect);
    tcase_add_test(t, measure_roughly_tells_nothing_of_other_variants);
    tcase_add_test(t, measure_of_an_older_caller_is_kept);
    tcase_add_loop_test(t, sensors_answer_between_spans, 0, 2);
    tcase_add_test(t, measure_by_events_without_records);
    tcase_add_test(t, measure_of_short_calls_is_a_graph);
    tcase_add_test(t, measure_by_records_leaves_launches_out);
    tcase_add_test(t, measure_takes_spans_again_whose_records_are_lost);
    tcase_add_loop_test(t, measure_takes_late_records_for_no_other_span, 0, 6);
    tcase_add_loop_test(t, measure_keeps_the_device_busy_before_a_span, 0, 10);
    tcase_add_loop_test(t, measure_that_fails_waits_for_what_it_launched, 0, 2);
    tcase_add_test(t, measure_falls_back_where_records_are_refused);
    tcase_add_test(t, measure_needs_no_compiler_of_the_driver);
    tcase_add_test(t, measure_refuses_what_makes_no_sense);
    tcase_add_test(t, metrics_count_and_have_no_readings_without_nvml);
    tcase_add_test(t, metrics_hold_the_readings_that_there_are);
    tcase_add_test(t, metrics_of_failed_readings_are_not_known);
    tcase_add_test(t, metrics_are_of_the_selected_device);
}

#endif

int main(void)
{
    return cuda_suite_run("cuda_measure", add_tests);
}
