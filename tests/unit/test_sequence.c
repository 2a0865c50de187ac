/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_sequence.c -- ops over resident buffers in one go: order, repeats, reads at the
 * end, times with their gaps, and where a failure is found; on a device apart too. */
#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/sequence.h"
#include "tests/support/engine_case.h"

enum { N = 8, BYTES = N * sizeof(float) };

static assay_context *context;
static assay_engine *engine;
static assay_buffer x, y, z; /* x: 1, 2, ...; y: ones */
static assay_problem add;

/* Loop number: backend and script. */
static const struct {
    const char *backend, *script;
} where[] = {{"cpu", ""}, {"fake", ""}, {"fake", "discrete=1"}};
enum { PLACES = sizeof where / sizeof where[0] };

static assay_buffer filled(float first, float step)
{
    assay_buffer b = engine_alloc(engine, BYTES);
    float values[N];

    for (int i = 0; i < N; i++)
        values[i] = first + step * (float)i;
    ck_assert_int_eq(assay_engine_upload(engine, b, values, BYTES), ASSAY_OK);
    return b;
}

static void begin(int place)
{
    setenv("ASSAY_FAKE", where[place].script, 1);
    context = engine_context();
    engine = engine_open(context, where[place].backend, NULL);
    x = filled(1, 1);
    y = filled(1, 0);
    z = filled(-99, 0);
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_add, ASSAY_F32, &add), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&add, "n", N), ASSAY_OK);
}

static void end(void)
{
    assay_engine_destroy(&engine);
    assay_close(&context);
}

static assay_tensor vector(assay_buffer b)
{
    const int64_t n = N;
    assay_tensor t;

    ck_assert_int_eq(assay_tensor_host(NULL, ASSAY_F32, 1, &n, NULL, &t), ASSAY_OK);
    t.buffer = b;
    return t;
}

/* to = a + b */
static assay_step sum(assay_tensor operands[3], assay_buffer a, assay_buffer b, assay_buffer to)
{
    operands[0] = vector(a);
    operands[1] = vector(b);
    operands[2] = vector(to);
    return (assay_step){.problem = &add, .operands = operands, .operand_count = 3};
}

static float first_of(assay_buffer b)
{
    float values[N];

    ck_assert_int_eq(assay_engine_download(engine, values, b, BYTES), ASSAY_OK);
    return values[0];
}

static assay_sequence_end unknown_end(void)
{
    return (assay_sequence_end){.struct_size = sizeof(assay_sequence_end), .step = 12345};
}

/* ---- one op ---- */

START_TEST(op_run_is_any_op_as_a_typed_call)
{
    assay_tensor t[3];
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .record = &record};

    begin(_i);
    const assay_step step = sum(t, x, y, z);
    ck_assert_msg(assay_op_run(engine, &step, &call) == ASSAY_OK, "%s", assay_last_error());
    ck_assert(first_of(z) == 2);
    ck_assert_uint_eq(record.launches, 1);
    ck_assert_str_eq(record.backend, where[_i].backend);
    end();
}
END_TEST

START_TEST(op_run_refuses_what_is_no_step)
{
    assay_tensor t[3];

    begin(0);
    assay_step step = sum(t, x, y, z);
    engine_refuses(assay_op_run(engine, NULL, NULL), ASSAY_INVALID, "no step");
    step.operand_count = 2;
    engine_refuses(assay_op_run(engine, &step, NULL), ASSAY_INVALID, "add takes 3");
    step = (assay_step){.problem = &add};
    engine_refuses(assay_op_run(engine, &step, NULL), ASSAY_INVALID, "no operands");
    step = (assay_step){.operands = t};
    engine_refuses(assay_op_run(engine, &step, NULL), ASSAY_INVALID, "no problem");
    end();
}
END_TEST

/* ---- sequences ---- */

START_TEST(sequence_runs_in_order_and_then_reads)
{
    assay_tensor a[3], b[3];
    float got[2] = {0};

    begin(_i);
    /* z = x + y, then y = z + z: in any other order y would be another. */
    const assay_step steps[2] = {sum(a, x, y, z), sum(b, z, z, y)};
    const assay_transfer reads[2] = {{.buffer = y, .offset = 4, .host = &got[0], .bytes = 4},
                                     {.buffer = z, .offset = 8, .host = &got[1], .bytes = 4}};
    const assay_sequence s = {.struct_size = sizeof s,
                              .prefix = steps,
                              .prefix_count = 2,
                              .reads = reads,
                              .read_count = 2};
    assay_sequence_end at = unknown_end();
    ck_assert_msg(assay_sequence_run(engine, &s, NULL, &at) == ASSAY_OK, "%s", assay_last_error());
    ck_assert(got[0] == 6 && got[1] == 4);
    ck_assert_uint_eq(at.steps_run, 2);
    ck_assert(at.step == ASSAY_STEP_NONE && !at.read_failed);
    end();
}
END_TEST

START_TEST(sequence_repeats_its_body_alone)
{
    static const uint64_t repeats[] = {0, 1, 5};
    assay_tensor a[3], b[3];
    float got = -1;

    for (size_t i = 0; i < sizeof repeats / sizeof repeats[0]; i++) {
        begin(_i);
        /* Once: z = x + x = 2; then each pass: z = z + y, one more. */
        const assay_step prefix = sum(a, x, x, z), body = sum(b, z, y, z);
        const assay_transfer read = {.buffer = z, .host = &got, .bytes = 4};
        const assay_sequence s = {.struct_size = sizeof s,
                                  .prefix = &prefix,
                                  .prefix_count = 1,
                                  .body = &body,
                                  .body_count = 1,
                                  .repeats = repeats[i],
                                  .reads = &read,
                                  .read_count = 1};
        assay_sequence_end at = unknown_end();
        ck_assert_msg(assay_sequence_run(engine, &s, NULL, &at) == ASSAY_OK, "%s",
                      assay_last_error());
        ck_assert_msg(got == 2 + (float)repeats[i], "%g after %u passes", (double)got,
                      (unsigned)repeats[i]);
        ck_assert_uint_eq(at.steps_run, 1 + repeats[i]);
        end();
    }
}
END_TEST

START_TEST(sequence_that_fails_says_where_and_reads_nothing)
{
    assay_tensor a[3], b[3];
    float got = -1;

    /* Its second launch fails by script. */
    setenv("ASSAY_FAKE", "kernel=* fail_at=2", 1);
    context = engine_context();
    engine = engine_open(context, "fake", NULL);
    x = filled(1, 1);
    y = filled(1, 0);
    z = filled(-99, 0);
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_add, ASSAY_F32, &add), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&add, "n", N), ASSAY_OK);
    const assay_step prefix = sum(a, x, y, z), body = sum(b, z, z, y);
    const assay_transfer read = {.buffer = z, .host = &got, .bytes = 4};
    const assay_sequence s = {.struct_size = sizeof s,
                              .prefix = &prefix,
                              .prefix_count = 1,
                              .body = &body,
                              .body_count = 1,
                              .repeats = 3,
                              .reads = &read,
                              .read_count = 1};
    assay_sequence_end at = unknown_end();
    engine_refuses(assay_sequence_run(engine, &s, NULL, &at), ASSAY_DEVICE, "step 1, pass 0");
    ck_assert(at.step == 1 && at.pass == 0 && at.steps_run == 1 && !at.read_failed);
    ck_assert(got == -1);
    ck_assert(first_of(z) == 2); /* what ran before has run */
    ck_assert(first_of(y) == 1); /* and nothing behind it */
    end();
}
END_TEST

/* One that is wrong is found before the first step runs. */
START_TEST(sequence_checks_all_before_it_runs)
{
    assay_tensor a[3], b[3];
    float got = -1;

    begin(_i);
    assay_step steps[2] = {sum(a, x, y, z), sum(b, z, z, y)};
    assay_transfer read = {.buffer = y, .offset = BYTES - 2, .host = &got, .bytes = 4};
    assay_sequence s = {.struct_size = sizeof s,
                        .prefix = steps,
                        .prefix_count = 2,
                        .reads = &read,
                        .read_count = 1};
    assay_sequence_end at = unknown_end();
    engine_refuses(assay_sequence_run(engine, &s, NULL, &at), ASSAY_INVALID, "read 0");
    ck_assert(at.read_failed && at.step == ASSAY_STEP_NONE && at.steps_run == 0);
    read.offset = UINT64_MAX - 1;
    engine_refuses(assay_sequence_run(engine, &s, NULL, NULL), ASSAY_OVERFLOW, "read 0");
    read.offset = 0;
    read.host = NULL;
    engine_refuses(assay_sequence_run(engine, &s, NULL, NULL), ASSAY_INVALID, "no memory");
    read.host = &got;
    b[1].dims[0] = N + 1;
    at = unknown_end();
    engine_refuses(assay_sequence_run(engine, &s, NULL, &at), ASSAY_INVALID, "step 1");
    ck_assert(at.step == 1 && at.steps_run == 0 && !at.read_failed);
    ck_assert(first_of(z) == -99 && got == -1);
    b[1].dims[0] = N;
    s.prefix = NULL;
    engine_refuses(assay_sequence_run(engine, &s, NULL, NULL), ASSAY_INVALID, "not given");
    s.struct_size = 0;
    engine_refuses(assay_sequence_run(engine, &s, NULL, NULL), ASSAY_INVALID, "struct_size");
    end();
}
END_TEST

START_TEST(sequence_refuses_buffers_that_are_gone)
{
    assay_tensor a[3];

    begin(_i);
    const assay_step step = sum(a, x, y, z);
    const assay_sequence s = {.struct_size = sizeof s, .prefix = &step, .prefix_count = 1};
    ck_assert_int_eq(assay_engine_free(engine, y), ASSAY_OK);
    ck_assert_int_eq(assay_sequence_run(engine, &s, NULL, NULL), ASSAY_FREED);
    ck_assert_int_eq(assay_engine_shutdown(engine), ASSAY_OK);
    ck_assert_int_eq(assay_sequence_run(engine, &s, NULL, NULL), ASSAY_NOT_INITIALIZED);
    end();
}
END_TEST

/* ---- times ---- */

START_TEST(sequence_times_steps_and_passes)
{
    assay_tensor a[3], b[3], c[3];
    double step_ns[4] = {-1, -1, -1, -1}, pass_ns[4] = {-1, -1, -1, -1};
    float got;

    begin(_i);
    const assay_step prefix = sum(a, x, y, z), body[2] = {sum(b, z, y, z), sum(c, z, y, z)};
    const assay_transfer read = {.buffer = z, .host = &got, .bytes = 4};
    const assay_sequence s = {.struct_size = sizeof s,
                              .prefix = &prefix,
                              .prefix_count = 1,
                              .body = body,
                              .body_count = 2,
                              .repeats = 6,
                              .reads = &read,
                              .read_count = 1};
    assay_sequence_timing t = {.struct_size = sizeof t,
                               .step_ns = step_ns,
                               .step_cap = 4,
                               .pass_ns = pass_ns,
                               .pass_cap = 3};
    ck_assert_msg(assay_sequence_run(engine, &s, &t, NULL) == ASSAY_OK, "%s", assay_last_error());
    ck_assert(got == 2 + 12);
    ck_assert_uint_eq(t.step_count, 3);
    ck_assert_uint_eq(t.pass_count, 3);
    double known = step_ns[0];
    for (size_t i = 0; i < 3; i++) {
        ck_assert_msg(step_ns[i] >= 0 && pass_ns[i] >= 0, "%zu: %g and %g", i, step_ns[i],
                      pass_ns[i]);
        known += pass_ns[i];
    }
    ck_assert(step_ns[3] == -1 &&
              pass_ns[3] == -1); /* beyond what there is, or the caller's room */
    ck_assert_msg(pass_ns[0] >= step_ns[1] + step_ns[2] - 1e-3, "a pass of %g for %g and %g",
                  pass_ns[0], step_ns[1], step_ns[2]);
    ck_assert_msg(t.steps_ns >= known - 1e-3, "%g in all, of which %g", t.steps_ns, known);
    ck_assert(t.wall_ns > 0 && t.read_ns > 0 && t.clock[0] != '\0');
    end();
}
END_TEST

START_TEST(sequence_without_body_or_reads_is_timed)
{
    assay_tensor a[3];
    double step_ns[2] = {-1, -1}, pass_ns[2] = {-1, -1};

    begin(_i);
    const assay_step step = sum(a, x, y, z);
    assay_sequence s = {.struct_size = sizeof s, .prefix = &step, .prefix_count = 1, .repeats = 9};
    assay_sequence_timing t = {.struct_size = sizeof t,
                               .step_ns = step_ns,
                               .step_cap = 2,
                               .pass_ns = pass_ns,
                               .pass_cap = 2};
    ck_assert_int_eq(assay_sequence_run(engine, &s, &t, NULL), ASSAY_OK);
    ck_assert_uint_eq(t.step_count, 1);
    ck_assert_uint_eq(t.pass_count, 0);
    ck_assert(step_ns[0] >= 0 && t.read_ns == 0 && pass_ns[0] == -1);
    s.prefix_count = 0;
    ck_assert_int_eq(assay_sequence_run(engine, &s, &t, NULL), ASSAY_OK);
    ck_assert_uint_eq(t.step_count, 0);
    t.struct_size = 8;
    engine_refuses(assay_sequence_run(engine, &s, &t, NULL), ASSAY_INVALID, "struct_size");
    end();
}
END_TEST

/* Beside the host the device's own clock counts, and the queue is gone afterwards. */
/* Each queue of the scripted device has one. */
static size_t threads_here(void)
{
    DIR *folder = opendir("/proc/self/task");
    size_t n = 0;

    ck_assert_ptr_nonnull(folder);
    while (readdir(folder) != NULL)
        n++;
    closedir(folder);
    return n;
}

START_TEST(sequence_on_a_device_apart_is_timed_by_events)
{
    assay_tensor a[3];
    double step_ns[1];
    assay_instance_state before = {.struct_size = sizeof before}, after = before;

    begin(2);
    const assay_step step = sum(a, x, y, z);
    const assay_sequence s = {.struct_size = sizeof s, .prefix = &step, .prefix_count = 1};
    assay_sequence_timing t = {.struct_size = sizeof t, .step_ns = step_ns, .step_cap = 1};
    ck_assert_int_eq(assay_engine_state(engine, &before), ASSAY_OK);
    const size_t threads = threads_here();
    ck_assert_int_eq(assay_sequence_run(engine, &s, &t, NULL), ASSAY_OK);
    ck_assert_uint_eq(threads_here(), threads); /* its queue went with it */
    ck_assert_int_eq(t.quality, ASSAY_TIMING_DEVICE);
    ck_assert(isnan(t.resolution_ns));
    ck_assert_int_eq(assay_engine_state(engine, &after), ASSAY_OK);
    ck_assert_uint_eq(after.live_buffers, before.live_buffers);
    ck_assert_int_eq(assay_engine_free(engine, z), ASSAY_OK); /* nothing holds it */
    end();
}
END_TEST

/* What was launched before is still under way then: its events are waited for and let go, and the
 * text is of what failed. */
START_TEST(sequence_that_fails_behind_others_lets_go)
{
    assay_tensor a[3], b[3];
    const assay_fault slow = {
        .struct_size = sizeof slow, .kind = ASSAY_FAULT_DELAY, .times = 1, .delay_ns = 200000000};
    assay_problem mul;

    begin(2);
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_mul, ASSAY_F32, &mul), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&mul, "n", N), ASSAY_OK);
    assay_step steps[2] = {sum(a, x, y, z), sum(b, z, z, y)};
    steps[1].problem = &mul; /* no kernel of it there */
    const assay_sequence s = {.struct_size = sizeof s, .prefix = steps, .prefix_count = 2};
    assay_sequence_timing t = {.struct_size = sizeof t};
    assay_sequence_end at = unknown_end();
    ck_assert_int_eq(assay_engine_inject(engine, &slow), ASSAY_OK);
    engine_refuses(assay_sequence_run(engine, &s, &t, &at), ASSAY_UNSUPPORTED, "step 1, pass 0");
    ck_assert(at.step == 1 && at.steps_run == 1);
    ck_assert(first_of(z) == 2);
    ck_assert_int_eq(assay_engine_free(engine, z), ASSAY_OK);
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sequence");
    TCase *tcase = tcase_create("sequence");
    int failed;

    tcase_add_loop_test(tcase, op_run_is_any_op_as_a_typed_call, 0, PLACES);
    tcase_add_test(tcase, op_run_refuses_what_is_no_step);
    tcase_add_loop_test(tcase, sequence_runs_in_order_and_then_reads, 0, PLACES);
    tcase_add_loop_test(tcase, sequence_repeats_its_body_alone, 0, PLACES);
    tcase_add_test(tcase, sequence_that_fails_says_where_and_reads_nothing);
    tcase_add_loop_test(tcase, sequence_checks_all_before_it_runs, 0, PLACES);
    tcase_add_loop_test(tcase, sequence_refuses_buffers_that_are_gone, 0, PLACES);
    tcase_add_loop_test(tcase, sequence_times_steps_and_passes, 0, PLACES);
    tcase_add_loop_test(tcase, sequence_without_body_or_reads_is_timed, 0, PLACES);
    tcase_add_test(tcase, sequence_on_a_device_apart_is_timed_by_events);
    tcase_add_test(tcase, sequence_that_fails_behind_others_lets_go);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
