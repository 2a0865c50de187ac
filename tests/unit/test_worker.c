/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_worker.c -- requests to a worker, answered within this process: what of a timed
 * run goes back, and which kernel it is. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/error.h"
#include "runtime/keyhash.h"
#include "tuner/cold.h"
#include "tuner/worker.h"
#include "tuner/worker_client.h"

#define N 1000

static assay__worker_state state;
static float *output;

static void must(assay_status status)
{
    ck_assert_msg(status == ASSAY_OK, "%s", assay_last_error());
}

/* A file of `bytes` bytes; what it maps to is *out. */
static int make_file(uint64_t bytes, void **out)
{
    int fd = memfd_create("test", MFD_CLOEXEC);

    ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
    *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(*out, MAP_FAILED);
    return fd;
}

static void setup(void)
{
    const char *build = getenv("ASSAY_BUILD");
    json_t *request = json_pack("{s:s, s:i}", "problem", "add f32,f32,f32 n=1000", "align", 16);
    assay__message m = {.fd_count = 2};
    assay__output_plan out;
    assay__input_plan in;
    assay_problem problem;
    void *inputs, *file;
    char path[512];

    memset(&state, 0, sizeof state);
    (void)snprintf(path, sizeof path, "%s/tests/plugins/assay_villains.so",
                   build != NULL ? build : "build");
    must(assay__plugins_load(path, NULL, &state.plugins));
    must(assay_problem_parse("add f32,f32,f32 n=1000", &problem));
    must(assay__input_plan_make(&problem, 16, &in));
    must(assay__output_plan_make(&problem, 16, &out));
    m.fds[0] = make_file(in.total, &inputs);
    m.fds[1] = make_file(out.total, &file);
    for (size_t i = 0; i < N; i++) {
        ((float *)((char *)inputs + in.offset[0]))[i] = (float)i;
        ((float *)((char *)inputs + in.offset[1]))[i] = 0.5f;
    }
    output = (float *)((char *)file + out.offset);
    must(assay__worker_prepare(&state, request, &m));
    json_decref(request);
    close(m.fds[0]);
    close(m.fds[1]);
}

static void teardown(void)
{
    assay__worker_release(&state);
    assay__plugins_destroy(&state.plugins);
    free(state.revisions);
}

static size_t wrong_elements(void)
{
    size_t wrong = 0;

    for (size_t i = 0; i < N; i++)
        wrong += !(output[i] >= (float)i + 0.5f && output[i] <= (float)i + 0.5f);
    return wrong;
}

/* SPANS timed calls, each on operands of its own, after three to warm up: too many for their times
 * to matter. */
#define SPANS 300
static json_t *time_request(const char *kernel)
{
    return json_pack("{s:s, s:s, s:[], s:i, s:i, s:i, s:f, s:f, s:f}", "backend", "villains",
                     "kernel", kernel, "tunables", "cache", (int)ASSAY_CACHE_ROTATE, "spans", SPANS,
                     "seed", 0, "span_ns", 0.0, "budget_ns", 1e12, "rotate_bytes", 1e7);
}

static void time_it(const char *kernel, const char *expected)
{
    json_t *request = time_request(kernel), *reply = json_object();

    if (expected != NULL)
        json_object_set_new(request, "expected", json_string(expected));
    must(assay__worker_time(&state, request, reply));
    ck_assert_uint_eq(json_array_size(json_object_get(reply, "samples")), SPANS);
    /* One for the untimed span: to make more costs as much as to time them. */
    ck_assert_int_eq(json_integer_value(json_object_get(reply, "sets")), SPANS + 1);
    json_decref(request);
    json_decref(reply);
}

/* Every 16th of 303 calls is wrong, the last is right. */
START_TEST(timed_output_that_is_not_as_expected_goes_back)
{
    char digest[20];
    float right[N];

    for (size_t i = 0; i < N; i++)
        right[i] = (float)i + 0.5f;
    (void)snprintf(digest, sizeof digest, "%016" PRIx64, assay__xxh64(right, sizeof right));
    time_it("v_flaky", digest);
    ck_assert_uint_eq(wrong_elements(), 1);
    time_it("v_honest", digest);
    ck_assert_uint_eq(wrong_elements(), 0);
}
END_TEST

START_TEST(timed_output_is_the_last_when_none_is_expected)
{
    time_it("v_flaky", NULL);
    ck_assert_uint_eq(wrong_elements(), 0);
}
END_TEST

/* Set 1 is as set 0 but for its first element. */
static void prepare_two_sets(void)
{
    json_t *request = json_pack("{s:s, s:i}", "problem", "add f32,f32,f32 n=1000", "align", 16);
    assay__message m = {.fd_count = 3};
    const assay__input_plan in = state.prepared->in;
    const assay__output_plan out = state.prepared->out;
    void *inputs[2], *file;

    for (size_t set = 0; set < 2; set++) {
        m.fds[set] = make_file(in.total, &inputs[set]);
        for (size_t i = 0; i < N; i++) {
            ((float *)((char *)inputs[set] + in.offset[0]))[i] = (float)i;
            ((float *)((char *)inputs[set] + in.offset[1]))[i] = 0.5f;
        }
    }
    *(float *)((char *)inputs[1] + in.offset[0]) = 7.0f;
    m.fds[2] = make_file(out.total, &file);
    output = (float *)((char *)file + out.offset);
    /* Backends may know a problem by its address: the next one is never where the last one was. */
    const uintptr_t last = (uintptr_t)state.prepared;
    must(assay__worker_prepare(&state, request, &m));
    ck_assert_uint_ne((uintptr_t)state.prepared, last);
    json_decref(request);
    for (size_t i = 0; i < m.fd_count; i++)
        close(m.fds[i]);
}

static void digest_of(const float *values, char text[20])
{
    (void)snprintf(text, 20, "%016" PRIx64, assay__xxh64(values, N * sizeof *values));
}

/* What a kernel shows that is timed and then called with set 1 where a timed one lay. */
static json_int_t shown_set(const char *kernel)
{
    json_t *request = time_request(kernel), *reply = json_object();
    char digest[20], other[20];
    float right[N];

    for (size_t i = 0; i < N; i++)
        right[i] = (float)i + 0.5f;
    digest_of(right, digest);
    right[0] = 7.5f;
    digest_of(right, other);
    json_object_set_new(request, "expected", json_string(digest));
    json_object_set_new(request, "other", json_integer(1));
    json_object_set_new(request, "other_expected", json_string(other));
    must(assay__worker_time(&state, request, reply));
    json_int_t set = json_integer_value(json_object_get(reply, "shown_set"));
    json_decref(request);
    json_decref(reply);
    return set;
}

START_TEST(kernel_that_knows_its_operands_by_their_place_is_found_out)
{
    prepare_two_sets();
    ck_assert_int_eq(shown_set("v_honest"), 0);
    ck_assert_uint_eq(wrong_elements(), 0);
    ck_assert_int_eq(shown_set("v_replay"), 1);
    ck_assert(output[0] >= 0.5f && output[0] <= 0.5f); /* what set 0 gives */
    /* The operands are those of set 0 again. */
    ck_assert_int_eq(shown_set("v_honest"), 0);
    ck_assert_uint_eq(wrong_elements(), 0);
}
END_TEST

START_TEST(all_input_sets_lie_at_the_same_place)
{
    json_t *request = time_request("v_honest");
    void *inputs;

    prepare_two_sets();
    inputs = state.prepared->inputs;
    for (int set = 0; set < 2; set++) {
        json_object_set_new(request, "set", json_integer(set));
        must(assay__worker_run(&state, request));
        ck_assert_uint_eq(wrong_elements(), set == 0 ? 0 : 1);
        ck_assert_ptr_eq(state.prepared->inputs, inputs);
    }
    json_object_set_new(request, "kernel", json_string("v_replay"));
    for (int set = 0; set < 2; set++) {
        json_object_set_new(request, "set", json_integer(set));
        must(assay__worker_run(&state, request));
        ck_assert_uint_eq(wrong_elements(), 0); /* what set 0 gives, both times */
    }
    json_object_set_new(request, "set", json_integer(2));
    ck_assert_int_eq(assay__worker_run(&state, request), ASSAY_INTERNAL);
    json_decref(request);
}
END_TEST

/* What earlier stays left in the caches is no part of a time: each stay has all its operands put
 * out, the later ones as the first. */
START_TEST(operands_of_every_stay_are_cold)
{
    double bytes[3];

    for (size_t i = 0; i < 3; i++) {
        json_t *request = time_request("v_honest"), *reply = json_object();
        must(assay__worker_time(&state, request, reply));
        const struct assay__worker_problem *p = state.prepared;
        bytes[i] = json_number_value(json_object_get(reply, "cold_bytes"));
        ck_assert(bytes[i] >= SPANS * (double)(p->in.total + p->out.total) ||
                  strcmp(assay__cold_method(), "none") == 0);
        ck_assert(bytes[i] >= bytes[0] && bytes[i] <= bytes[0]);
        json_decref(request);
        json_decref(reply);
    }
}
END_TEST

START_TEST(operands_of_a_hot_stay_are_not_cooled)
{
    json_t *request = time_request("v_honest"), *reply = json_object();

    json_object_set_new(request, "cache", json_integer(ASSAY_CACHE_HOT));
    must(assay__worker_time(&state, request, reply));
    ck_assert_int_eq(json_integer_value(json_object_get(reply, "sets")), 1);
    ck_assert_ptr_null(json_object_get(reply, "cold_bytes"));
    json_decref(request);
    json_decref(reply);
}
END_TEST

/* As revision: what the plug-in says itself, and what another would. */
START_TEST(kernel_of_another_revision_is_refused)
{
    json_t *list = json_object(), *request = time_request("v_honest"), *row;
    const char *revision = NULL;
    char other[65];
    size_t i;

    must(assay__worker_bindings(&state, list));
    json_array_foreach(
        json_object_get(list, "bindings"), i,
        row) if (strcmp(json_string_value(json_object_get(row, "kernel")), "v_honest") == 0 &&
                 json_integer_value(json_object_get(row, "op")) == ASSAY_OP_add) revision =
        json_string_value(json_object_get(row, "revision"));
    ck_assert_ptr_nonnull(revision);
    json_object_set_new(request, "set", json_integer(0));
    json_object_set_new(request, "revision", json_string(revision));
    must(assay__worker_run(&state, request));
    (void)snprintf(other, sizeof other, "%s", revision);
    other[63] = other[63] == '0' ? '1' : '0';
    json_object_set_new(request, "revision", json_string(other));
    ck_assert_int_eq(assay__worker_run(&state, request), ASSAY_STALE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "villains/v_honest is another than"));
    json_decref(request);
    json_decref(list);
}
END_TEST

/* ---- questions ---- */

static assay_status ask(const char *kernel, const char *values, const char **signs)
{
    json_t *request, *reply = json_object();

    request =
        json_pack("{s:s, s:[{s:s, s:s, s:o}]}", "problem", "add f32,f32,f32 n=31337", "questions",
                  "backend", "villains", "kernel", kernel, "tunables", json_loads(values, 0, NULL));
    assay_status status = assay__worker_can_run(&state, request, reply);
    const char *text = json_string_value(json_array_get(json_object_get(reply, "answers"), 0));
    *signs = text != NULL ? strdup(text) : NULL;
    json_decref(request);
    json_decref(reply);
    return status;
}

/* Its second variant would end this process. */
START_TEST(kernels_answer_for_each_variant)
{
    const char *signs;

    must(ask("v_can_run_segv", "[1, 0, 1]", &signs));
    ck_assert_str_eq(signs, "101");
    free((void *)(uintptr_t)signs);
    must(ask("v_can_run_segv", "[]", &signs));
    ck_assert_str_eq(signs, "");
    free((void *)(uintptr_t)signs);
    ck_assert_int_eq(ask("v_can_run_hang", "[1]", &signs), ASSAY_INTERNAL);
    ck_assert_int_eq(ask("v_honest", "[]", &signs), ASSAY_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "no kernel 'v_honest'"));
}
END_TEST

static assay_status start(const char *plugin, const assay__plugin_refusal *refused, int load_ms,
                          assay__doing *fate)
{
    char path[512];
    assay__worker *w = NULL;
    const char *build = getenv("ASSAY_BUILD");
    const assay__worker_options options = {.plugin_path = path,
                                           .refused = refused,
                                           .refused_count = refused != NULL,
                                           .load_ms = load_ms,
                                           .fate = fate};

    (void)snprintf(path, sizeof path, "%s/tests/loader/assay_%s.so",
                   build != NULL ? build : "build", plugin);
    assay_status status = assay__worker_start(&options, &w);
    assay__worker_stop(&w);
    return status;
}

/* Who started it learns which file, and can leave it out. */
START_TEST(worker_that_dies_of_a_plugin_says_of_which)
{
    assay__plugin_refusal refused = {.reason = "it did before"};
    assay__doing fate;

    ck_assert_int_eq(start("hangs", NULL, 500, &fate), ASSAY_TIMEOUT);
    ck_assert_uint_eq(fate.what, ASSAY__DOING_LOAD);
    ck_assert_ptr_nonnull(strstr(fate.path, "/assay_hangs.so"));
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "/assay_hangs.so was loaded"));
    refused.path = fate.path;
    must(start("hangs", &refused, 0, NULL));
    ck_assert_int_eq(start("ctor", &refused, 0, &fate), ASSAY_CRASH);
    ck_assert_ptr_nonnull(strstr(fate.path, "/assay_ctor.so"));
    must(start("alpha", NULL, 0, &fate));
    ck_assert_uint_eq(fate.what, ASSAY__DOING_NOTHING);
}
END_TEST

/* What stands in the memory of a process that died is no text to be trusted. */
START_TEST(notes_of_the_dead_are_printable_and_end)
{
    assay__doing doing;
    char text[2000];

    memset(&doing, 0x1b, sizeof doing);
    doing.what = ASSAY__DOING_IDENTIFY;
    assay__doing_text(&doing, text, sizeof text);
    ck_assert_ptr_null(strchr(text, 0x1b));
    ck_assert_uint_lt(strlen(text), sizeof doing.path + sizeof doing.subject + 64);
    doing.what = 77;
    assay__doing_text(&doing, text, sizeof text);
    ck_assert_str_eq(text, "");
}
END_TEST

/* ---- what villains do to their worker ---- */

/* One launch of a villain in a worker of its own, with the limits of a problem. */
static assay_status run_villain(const char *kernel, int timeout_ms, json_t **reply)
{
    char path[512];
    const char *build = getenv("ASSAY_BUILD");
    const assay__worker_options options = {.plugin_path = path};
    json_t *prepare = json_pack("{s:s, s:s, s:i, s:f}", "cmd", "prepare", "problem",
                                "add f32,f32,f32 n=1000", "align", 16, "memory_bytes", 256e6);
    assay__worker *w = NULL;
    assay__output_plan out;
    assay__input_plan in;
    assay_problem problem;
    void *map;

    (void)snprintf(path, sizeof path, "%s/tests/plugins/assay_villains.so",
                   build != NULL ? build : "build");
    must(assay_problem_parse("add f32,f32,f32 n=1000", &problem));
    must(assay__input_plan_make(&problem, 16, &in));
    must(assay__output_plan_make(&problem, 16, &out));
    const int fds[] = {make_file(in.total, &map), make_file(out.total, &map)};
    must(assay__worker_start(&options, &w));
    must(assay__worker_call(w, prepare, fds, 2, 10000, reply));
    json_decref(*reply);
    assay_status status =
        assay__worker_call(w,
                           json_pack("{s:s, s:s, s:s, s:[], s:i}", "cmd", "run", "backend",
                                     "villains", "kernel", kernel, "tunables", "set", 0),
                           NULL, 0, timeout_ms, reply);
    assay__worker_stop(&w);
    close(fds[0]);
    close(fds[1]);
    return status;
}

static const struct fate {
    const char *kernel;
    assay_status status;
    const char *text;
} fates[] = {
    {"v_honest", ASSAY_OK, ""},
    {"v_flood", ASSAY_CRASH,
     "it wrote more than 16 MiB to standard output and error: killed; it wr"},
    {"v_mute", ASSAY_CRASH, "the worker ended: it closed its connection and went on, killed"},
    {"v_exit", ASSAY_CRASH, "the worker ended: exit 0 without a reply"},
    {"v_rounds", ASSAY_DEVICE, "another floating-point environment behind"},
    {"v_lost", ASSAY_DEVICE, "v_lost: the device is lost"},
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    {"v_segv", ASSAY_CRASH, "signal 11 (Segmentation fault) at address 0x8"},
    {"v_overflow", ASSAY_CRASH, "signal 11 (Segmentation fault) as its stack overflowed"},
    {"v_bomb", ASSAY_DEVICE, "status 2 (NOMEM)"},
#endif
};

START_TEST(villain_in_a_worker_has_its_fate)
{
    const struct fate *f = &fates[_i];
    json_t *reply = NULL;
    const assay_status status = run_villain(f->kernel, 60000, &reply);

    ck_assert_msg(status == f->status, "%s: %s", f->kernel, assay_last_error());
    ck_assert_msg(status == ASSAY_OK || strstr(assay_last_error(), f->text) != NULL, "%s: %s",
                  f->kernel, assay_last_error());
    json_decref(reply);
}
END_TEST

START_TEST(worker_that_hangs_is_given_up)
{
    json_t *reply = NULL;

    ck_assert_int_eq(run_villain("v_hang", 200, &reply), ASSAY_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "no reply within 200 ms"));
}
END_TEST

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "__worker") == 0) /* what a test has started */
        return assay__worker_main(3, NULL);

    Suite *s = suite_create("worker");
    TCase *tcase = tcase_create("requests");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, timed_output_that_is_not_as_expected_goes_back);
    tcase_add_test(tcase, timed_output_is_the_last_when_none_is_expected);
    tcase_add_test(tcase, kernel_that_knows_its_operands_by_their_place_is_found_out);
    tcase_add_test(tcase, all_input_sets_lie_at_the_same_place);
    tcase_add_test(tcase, operands_of_every_stay_are_cold);
    tcase_add_test(tcase, operands_of_a_hot_stay_are_not_cooled);
    tcase_add_test(tcase, kernel_of_another_revision_is_refused);
    tcase_add_test(tcase, kernels_answer_for_each_variant);
    tcase_add_test(tcase, worker_that_dies_of_a_plugin_says_of_which);
    tcase_add_test(tcase, notes_of_the_dead_are_printable_and_end);
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, villain_in_a_worker_has_its_fate, 0,
                        (int)(sizeof fates / sizeof *fates));
    tcase_add_test(tcase, worker_that_hangs_is_given_up);
    suite_add_tcase(s, tcase);

    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
