/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_fake.c -- the scripted backend does what its script says; slots of buffers. */
#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/plugin_case.h"

enum { SPANS = 200 };

static char last_text[512];
static double durations[SPANS];
static size_t duration_count;

static assay_status note(assay_status status, const char *text)
{
    snprintf(last_text, sizeof last_text, "%s", text);
    return status;
}

static const assay_host host = {
    .struct_size = sizeof host, .abi_version = ASSAY_PLUGIN_ABI, .fail = note};

static void sink(void *cookie, double ns, size_t inner)
{
    (void)cookie;
    (void)inner;
    if (duration_count < SPANS)
        durations[duration_count++] = ns;
}

static const assay_manifest *open_fake(const char *script, assay_instance **instance)
{
    setenv("ASSAY_FAKE", script, 1);
    const assay_manifest *m = plugin_load("fake");
    ck_assert_msg(m->backend->open(&host, instance) == ASSAY_OK, "%s", last_text);
    return m;
}

/* Spans of kernel `name` on an add of 100 elements. */
static assay_status measure(const assay_manifest *m, assay_instance *instance, const char *name,
                            const int64_t *tunables, size_t spans, size_t inner,
                            assay_clock_info *clock)
{
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_add, ASSAY_F32, "n=100", 0);
    assay_launch launch = {.struct_size = sizeof launch,
                           .operand_count = 3,
                           .problem = &c.problem,
                           .operands = c.operands,
                           .tunables = tunables};
    assay_measure what = {.struct_size = sizeof what,
                          .run = plugin_kernel(m, ASSAY_OP_add, ASSAY_F32, name)->run,
                          .launches = &launch,
                          .launch_count = 1,
                          .inner = inner,
                          .spans = spans,
                          .sink = sink};
    duration_count = 0;
    assay_status status = m->backend->measure(instance, &what, clock);
    plugin_case_clear(&c);
    return status;
}

START_TEST(clock_durations_follow_the_script)
{
    assay_instance *instance;
    assay_clock_info clock;
    const assay_manifest *m =
        open_fake("resolution=0.5 overhead=30; kernel=* ns=500\n"
                  "kernel=fake_b ns=100 per_unit=2 # comment\n"
                  "kernel=fake_b variant=3 ns=50; kernel=fake_b threads=2 slow=2",
                  &instance);

    ck_assert_int_eq(measure(m, instance, "fake_a", (int64_t[]){1, 0}, 3, 4, &clock), ASSAY_OK);
    ck_assert_uint_eq(duration_count, 3);
    ck_assert_double_eq(durations[2], 2000.0);
    ck_assert_str_eq(clock.name, "scripted");
    ck_assert(clock.resolution_ns == 0.5 && clock.overhead_ns == 30.0);
    ck_assert_int_eq(measure(m, instance, "fake_b", (int64_t[]){1, 0}, 1, 1, &clock), ASSAY_OK);
    ck_assert_double_eq(durations[0], 300.0);
    ck_assert_int_eq(measure(m, instance, "fake_b", (int64_t[]){2, 3}, 1, 1, &clock), ASSAY_OK);
    ck_assert_double_eq(durations[0], 500.0);
    m->backend->close(instance);
}
END_TEST

/* A stay is wild as a whole: all of its spans by the same factor, and so many of them. */
START_TEST(wild_stays_are_as_often_as_asked_for)
{
    int wild = 0;

    for (int process = 0; process < 100; process++) {
        char number[16];
        assay_instance *instance;
        assay_clock_info clock;
        snprintf(number, sizeof number, "%d", process);
        setenv("ASSAY_FAKE_VISIT", number, 1);
        const assay_manifest *m =
            open_fake("seed=5 resolution=0; kernel=* ns=1000 wild=0.3", &instance);
        ck_assert_int_eq(measure(m, instance, "fake_a", (int64_t[]){1, 0}, 3, 1, &clock), ASSAY_OK);
        ck_assert(durations[0] >= 1000.0 && durations[0] < 1500.0);
        ck_assert_double_eq(durations[0], durations[2]);
        wild += durations[0] > 1000.0 ? 1 : 0;
        m->backend->close(instance);
    }
    ck_assert_msg(wild >= 20 && wild <= 40, "%d of 100", wild);
}
END_TEST

/* Spread and visits as asked for, the same again from the same script. */
START_TEST(clock_noise_is_seeded)
{
    assay_instance *instance;
    assay_clock_info clock;
    double sum = 0.0, squares = 0.0;
    const assay_manifest *m = open_fake(
        "seed=5 resolution=0; kernel=* ns=1000 sd=0.1; kernel=fake_c sd=0 visit_sd=0.3", &instance);

    ck_assert_int_eq(measure(m, instance, "fake_a", (int64_t[]){1, 0}, SPANS, 1, &clock), ASSAY_OK);
    for (int i = 0; i < SPANS; i++) {
        sum += log(durations[i] / 1000.0);
        squares += log(durations[i] / 1000.0) * log(durations[i] / 1000.0);
    }
    double sd = sqrt(squares / SPANS - sum * sum / SPANS / SPANS);
    ck_assert_msg(fabs(sum / SPANS) < 0.03 && sd > 0.08 && sd < 0.12, "mean %g sd %g", sum / SPANS,
                  sd);
    /* One span is no stay, and so has the noise of its process alone. */
    ck_assert_int_eq(measure(m, instance, "fake_c", (int64_t[]){1, 0}, 1, 1, &clock), ASSAY_OK);
    double here = durations[0];
    m->backend->close(instance);
    for (int process = 0; process < 2; process++) {
        setenv("ASSAY_FAKE_VISIT", process == 0 ? "0" : "1", 1);
        m = open_fake("seed=5 resolution=0; kernel=fake_c ns=1000 visit_sd=0.3", &instance);
        ck_assert_int_eq(measure(m, instance, "fake_c", (int64_t[]){1, 0}, 1, 1, &clock), ASSAY_OK);
        ck_assert_msg((process == 0) == (fabs(durations[0] - here) < 1e-9), "process %d: %g, %g",
                      process, durations[0], here);
        m->backend->close(instance);
    }
}
END_TEST

START_TEST(clock_visits_are_counted_in_a_file)
{
    char path[] = "/tmp/assay_visits_XXXXXX", script[128];
    assay_instance *instance;
    assay_clock_info clock;
    double seen[3];
    int file = mkstemp(path);

    ck_assert_int_ge(file, 0);
    close(file);
    snprintf(script, sizeof script, "visits=%s; kernel=* ns=1000 visit_sd=0.2", path);
    for (int i = 0; i < 3; i++) {
        const assay_manifest *m = open_fake(script, &instance);
        ck_assert_int_eq(measure(m, instance, "fake_a", (int64_t[]){1, 0}, 2, 1, &clock), ASSAY_OK);
        ck_assert_double_eq(durations[0], durations[1]);
        seen[i] = durations[0];
        m->backend->close(instance);
    }
    unlink(path);
    ck_assert(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
}
END_TEST

START_TEST(faults_happen_at_the_scripted_call)
{
    assay_instance *instance;
    assay_clock_info clock;
    plugin_case c;
    int64_t tunables[] = {1, 0};
    const assay_manifest *m =
        open_fake("kernel=fake_a fail_at=3; kernel=fake_b wrong_at=2 wrong=7", &instance);
    const assay_kernel_desc *b = plugin_kernel(m, ASSAY_OP_add, ASSAY_F32, "fake_b");

    ck_assert_int_eq(measure(m, instance, "fake_a", tunables, 2, 1, &clock), ASSAY_OK);
    ck_assert_int_eq(measure(m, instance, "fake_a", tunables, 1, 1, &clock), ASSAY_DEVICE);
    ck_assert_str_eq(last_text, "fake_a: call 3 fails by script");
    plugin_case_init(&c, ASSAY_OP_add, ASSAY_F32, "n=10", 0);
    plugin_case_fill(&c, 0, 1, 1.0);
    plugin_case_fill(&c, 1, 2, 1.0);
    for (int call = 1; call <= 2; call++) {
        ck_assert_int_eq(plugin_case_run(&c, b, tunables), ASSAY_OK);
        for (int64_t i = 0; i < 10; i++) {
            double sum =
                (double)((float)plugin_case_get(&c, 0, i) + (float)plugin_case_get(&c, 1, i));
            bool right = plugin_case_get(&c, 2, i) == sum;
            ck_assert_int_eq(right, !(call == 2 && i == 7));
        }
    }
    plugin_case_clear(&c);
    m->backend->close(instance);
}
END_TEST

START_TEST(faults_crash_the_process)
{
    assay_instance *instance;
    assay_clock_info clock;
    const assay_manifest *m = open_fake("kernel=fake_c crash_at=1", &instance);

    measure(m, instance, "fake_c", (int64_t[]){1, 0}, 1, 1, &clock);
}
END_TEST

START_TEST(script_errors_are_named)
{
    static const char *const scripts[] = {"kernel=fake_x ns=1",
                                          "kernel=fake_a ns=fast",
                                          "kernel=fake_a colour=3",
                                          "seed=-1",
                                          "ns=5",
                                          "devices"};
    static const char *const words[] = {"fake_x", "fast", "colour", "-1", "ns", "devices"};
    assay_instance *instance;

    setenv("ASSAY_FAKE", scripts[_i], 1);
    const assay_manifest *m = plugin_load("fake");
    ck_assert_int_eq(m->backend->open(&host, &instance), ASSAY_PARSE);
    ck_assert_msg(strstr(last_text, words[_i]) != NULL, "%s", last_text);
}
END_TEST

START_TEST(script_makes_devices)
{
    assay_instance *instance;
    assay_device_info info;
    size_t count;
    const assay_manifest *m = open_fake("devices=3", &instance);

    ck_assert_int_eq(m->backend->device_count(instance, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 3);
    ck_assert_int_eq(m->backend->device_info(instance, 2, &info), ASSAY_OK);
    ck_assert_str_eq(info.name, "Scripted device 2");
    ck_assert_int_eq(m->backend->device_info(instance, 3, &info), ASSAY_INVALID);
    m->backend->close(instance);
}
END_TEST

/* ---- buffers of host plug-ins ---------------------------------------------------------------- */

START_TEST(buffer_stale_handles_are_refused)
{
    assay_instance *instance;
    assay_buffer a, b;
    char bytes[16] = "0123456789abcde", back[16];
    assay_buffer out;
    const assay_manifest *m = open_fake("", &instance);
    const assay_backend *k = m->backend;

    ck_assert_int_eq(k->alloc(instance, 16, 64, &a), ASSAY_OK);
    ck_assert_int_eq(k->wrap(instance, bytes, 16, &b), ASSAY_OK);
    ck_assert_int_eq(k->wrap(instance, back, 16, &out), ASSAY_OK);
    ck_assert_int_eq(k->copy(instance, a, 0, b, 0, 16), ASSAY_OK);
    ck_assert_int_eq(k->fill(instance, a, 3, 2, '!'), ASSAY_OK);
    ck_assert_int_eq(k->copy(instance, out, 0, a, 0, 16), ASSAY_OK);
    ck_assert_str_eq(back, "012!!56789abcde");
    ck_assert_int_eq(k->copy(instance, a, 1, b, 0, 16), ASSAY_INVALID);
    ck_assert_int_eq(k->copy(instance, a, 0, b, 17, 0), ASSAY_INVALID);
    ck_assert_int_eq(k->fill(instance, a, 0, UINT64_MAX, 0), ASSAY_INVALID);
    ck_assert_int_eq(k->fill(instance, a, 8, UINT64_MAX - 4, 0), ASSAY_INVALID); /* sum is 3 */
    ck_assert_int_eq(k->alloc(instance, UINT64_MAX, 0, &out), ASSAY_OVERFLOW);
    ck_assert_int_eq(k->alloc(instance, 8, 48, &out), ASSAY_INVALID);
    ck_assert_int_eq(k->free(instance, a), ASSAY_OK);
    ck_assert_int_eq(k->free(instance, a), ASSAY_FREED);
    ck_assert_int_eq(k->alloc(instance, 16, 0, &out), ASSAY_OK); /* the same slot */
    ck_assert_uint_eq(out.at.slot.index, a.at.slot.index);
    ck_assert_int_eq(k->fill(instance, a, 0, 1, 0), ASSAY_FREED);
    m->backend->close(instance);
}
END_TEST

START_TEST(buffer_launch_resolves_slots)
{
    assay_instance *instance;
    plugin_case c;
    const assay_manifest *m = open_fake("", &instance);
    const assay_kernel_desc *k = plugin_kernel(m, ASSAY_OP_add, ASSAY_F32, "fake_a");

    plugin_case_init(&c, ASSAY_OP_add, ASSAY_F32, "n=4", 0);
    plugin_case_fill(&c, 0, 1, 1.0);
    plugin_case_fill(&c, 1, 2, 1.0);
    assay_tensor operands[3];
    memcpy(operands, c.operands, sizeof operands);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(
            m->backend->wrap(instance, c.operands[i].buffer.at.host, 64, &operands[i].buffer),
            ASSAY_OK);
    assay_launch launch = {.struct_size = sizeof launch,
                           .operand_count = 3,
                           .problem = &c.problem,
                           .operands = operands,
                           .tunables = (int64_t[]){1, 0}};
    ck_assert_int_eq(m->backend->launch(instance, k->run, &launch), ASSAY_OK);
    ck_assert(fabs(plugin_case_get(&c, 2, 3) - plugin_case_get(&c, 0, 3) -
                   plugin_case_get(&c, 1, 3)) < 1e-6);
    ck_assert_int_eq(m->backend->free(instance, operands[1].buffer), ASSAY_OK);
    ck_assert_int_eq(m->backend->launch(instance, k->run, &launch), ASSAY_FREED);
    plugin_case_clear(&c);
    m->backend->close(instance);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fake");
    TCase *clock = tcase_create("clock"), *faults = tcase_create("faults");
    TCase *script = tcase_create("script"), *buffer = tcase_create("buffer");

    tcase_add_test(clock, clock_durations_follow_the_script);
    tcase_add_test(clock, clock_noise_is_seeded);
    tcase_add_test(clock, wild_stays_are_as_often_as_asked_for);
    tcase_add_test(clock, clock_visits_are_counted_in_a_file);
    tcase_add_test(faults, faults_happen_at_the_scripted_call);
    tcase_add_test_raise_signal(faults, faults_crash_the_process, SIGSEGV);
    tcase_add_loop_test(script, script_errors_are_named, 0, 6);
    tcase_add_test(script, script_makes_devices);
    tcase_add_test(buffer, buffer_stale_handles_are_refused);
    tcase_add_test(buffer, buffer_launch_resolves_slots);
    suite_add_tcase(suite, clock);
    suite_add_tcase(suite, faults);
    suite_add_tcase(suite, script);
    suite_add_tcase(suite, buffer);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
