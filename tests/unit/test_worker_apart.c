/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_worker_apart.c -- runs and stays on a scripted device whose memory the host does
 * not reach: what is brought over comes back, whole, and nothing of it stays there. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/keyhash.h"
#include "tests/support/fake_worker.h"
#include "tuner/worker_apart.h"

#define CACHE_BYTES (UINT64_C(1) << 20) /* of the scripted device */

static json_t *request(void)
{
    return json_pack("{s:s, s:s, s:[i,i], s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f}", "backend",
                     "fake", "kernel", "fake_a", "tunables", 1, 0, "cache", (int)ASSAY_CACHE_ROTATE,
                     "spans", 100, "seed", 0, "set", 0, "span_ns", 30e3, "warm_ns", 2e6,
                     "budget_ns", 1e12, "rotate_bytes", 1.0);
}

static const assay__backend *device(void)
{
    return &assay__plugins_find(fake_worker.plugins, "fake")->backend;
}

static void plan_fault(uint64_t after, uint64_t times)
{
    const assay_fault fault = {.struct_size = sizeof fault,
                               .kind = ASSAY_FAULT_OUT_OF_MEMORY,
                               .after = after,
                               .times = times};
    assay__plugin *plugin = assay__plugins_find(fake_worker.plugins, "fake");

    must(assay__plugin_open(plugin));
    must(assay__backend_inject(&plugin->backend, &fault));
}

static uint64_t live_buffers(void)
{
    assay_instance_state state = {.struct_size = sizeof state};

    must(assay__backend_state(device(), &state));
    return state.live_buffers;
}

/* Poison with canaries, as the parent leaves them; zeros are the right sums of the inputs. */
static void poison(void)
{
    assay__worker_problem *w = fake_worker.prepared;

    assay__output_poison(w->output, &w->out, ASSAY_F32);
}

static void is_right(void)
{
    const assay__worker_problem *w = fake_worker.prepared;
    const char *y = (const char *)w->output + w->out.offset;
    uint64_t first = 0;

    for (size_t i = 0; i < w->out.bytes; i++)
        ck_assert_msg(y[i] == 0, "byte %zu is %d", i, y[i]);
    ck_assert_uint_eq(assay__output_overrun(w->output, &w->out, &first), 0);
}

static assay_status run_once(void)
{
    json_t *what = request();
    assay_status status = assay__worker_run(&fake_worker, what);

    json_decref(what);
    return status;
}

static assay_status stay(json_t **reply)
{
    json_t *what = request();
    assay_status status;

    *reply = json_object();
    status = assay__worker_time(&fake_worker, what, *reply);
    json_decref(what);
    return status;
}

static json_int_t sets_of(json_t *reply)
{
    json_int_t sets = json_integer_value(json_object_get(reply, "sets"));

    json_decref(reply);
    return sets;
}

START_TEST(apart_run_brings_the_output_back)
{
    fake_worker_begin("discrete=1", "3");
    poison();
    must(run_once());
    is_right();
    ck_assert_uint_eq(live_buffers(), 0);
    fake_worker_end();
}
END_TEST

START_TEST(apart_stay_brings_the_output_back)
{
    json_t *reply;

    fake_worker_begin("discrete=1; kernel=* ns=1000", "3");
    poison();
    must(stay(&reply));
    is_right();
    ck_assert_uint_eq(json_array_size(json_object_get(reply, "samples")), 100);
    ck_assert(live_buffers() > 0);
    assay__worker_release(&fake_worker);
    ck_assert_uint_eq(live_buffers(), 0);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* Four times the device's last cache, whatever the host's is, and all of it cold before the spans.
 */
START_TEST(apart_rotates_beyond_the_device_caches)
{
    json_t *reply;

    fake_worker_begin("discrete=1; kernel=* ns=1000", "3");
    must(stay(&reply));
    const assay__worker_problem *w = fake_worker.prepared;
    const uint64_t each = w->in.total + w->out.total;
    const double cold = json_number_value(json_object_get(reply, "cold_bytes"));
    const json_int_t sets = sets_of(reply);
    ck_assert_int_eq(sets, (json_int_t)(4 * CACHE_BYTES / each + 1));
    ck_assert(cold >= 4.0 * (double)CACHE_BYTES && cold <= (double)sets * (double)each);
    fake_worker_end();
}
END_TEST

/* So that one graph of the rotation serves all spans; not where that would take too long, or more
 * than the budget. */
START_TEST(apart_spans_go_round_all_sets)
{
    static const struct {
        const char *script;
        double budget_ns;
        bool goes_round;
    } cases[] = {{"discrete=1; kernel=* ns=1000", 1e12, true},
                 {"discrete=1; kernel=* ns=40000", 1e12, false},
                 {"discrete=1; kernel=* ns=1000", 1e6, false},
                 {"kernel=* ns=1000", 1e12, false}};
    json_t *what = request(), *reply = json_object();

    fake_worker_begin(cases[_i].script, "3");
    json_object_set_new(what, "budget_ns", json_real(cases[_i].budget_ns));
    json_object_set_new(what, "rotate_bytes", json_real(4.0 * (double)CACHE_BYTES));
    must(assay__worker_time(&fake_worker, what, reply));
    const json_int_t inner = json_integer_value(json_object_get(reply, "inner"));
    const json_int_t sets = json_integer_value(json_object_get(reply, "sets"));
    ck_assert_int_gt(sets, 1);
    if (cases[_i].goes_round)
        ck_assert_int_eq(inner % sets, 0);
    else
        ck_assert_int_lt(inner, sets);
    json_decref(reply);
    json_decref(what);
    fake_worker_end();
}
END_TEST

/* A first call that is held up for longer than the warm-up, by code that is compiled or a device
 * that was idle, is no warm-up, whatever the clock is: that comes behind it, whole. */
START_TEST(apart_first_call_warms_nothing)
{
    static const char *const held_up[] = {"", " stall=3e6 stalled=1"};
    double called_ns[2];

    for (int i = 0; i < 2; i++) {
        char script[128];
        json_t *reply;
        (void)snprintf(script, sizeof script, "discrete=1 counters=%d; kernel=* ns=10000%s", _i,
                       held_up[i]);
        fake_worker_begin(script, "3");
        must(stay(&reply));
        called_ns[i] = json_number_value(json_object_get(reply, "called_ns"));
        json_decref(reply);
        fake_worker_end();
    }
    ck_assert_double_ge(called_ns[1] - called_ns[0], 2.9e6);
}
END_TEST

/* Where the device's memory ends the rotation is shorter; where not even one set fits nothing is
 * timed, and nothing stays. */
START_TEST(apart_memory_that_ends_is_one_problem)
{
    json_t *reply;

    fake_worker_begin("discrete=1; kernel=* ns=1000", "3");
    const uint64_t each = fake_worker.prepared->in.total + fake_worker.prepared->out.total;
    plan_fault(1, 1);
    must(stay(&reply));
    ck_assert_int_eq(sets_of(reply), (json_int_t)((4 * CACHE_BYTES / each + 1) / 2));
    fake_worker_end();

    fake_worker_begin("discrete=1; kernel=* ns=1000", "3");
    plan_fault(0, 0);
    ck_assert_int_eq(stay(&reply), ASSAY_NOMEM);
    ck_assert_uint_eq(live_buffers(), 0);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* A device that is small keeps room for kernels: sets and the poison take three quarters of it. */
START_TEST(apart_rotation_leaves_room_for_kernels)
{
    json_t *reply;

    fake_worker_begin("discrete=1; memory=2000000; kernel=* ns=1000", "3");
    const double in = (double)fake_worker.prepared->in.total,
                 out = (double)fake_worker.prepared->out.total;
    must(stay(&reply));
    ck_assert_int_eq(sets_of(reply), (json_int_t)((1500000 - out) / (in + out)));
    fake_worker_end();
    fake_worker_begin("discrete=1; memory=1; kernel=* ns=1000", "3");
    must(stay(&reply));
    ck_assert_int_eq(sets_of(reply), 1);
    fake_worker_end();
}
END_TEST

static int waits;

static assay_status second_wait_is_short(assay_instance *instance)
{
    (void)instance;
    return ++waits < 2 ? ASSAY_OK : assay__fail(ASSAY_NOMEM, "none left");
}

/* Also where it shows when what was brought over is freed. */
START_TEST(apart_run_that_ends_without_memory_blames_nobody)
{
    assay__plugin *plugin;

    fake_worker_begin("discrete=1", "3");
    plugin = assay__plugins_find(fake_worker.plugins, "fake");
    must(assay__plugin_open(plugin));
    plugin->backend.slots.synchronize = second_wait_is_short;
    waits = 0;
    poison();
    ck_assert_int_eq(run_once(), ASSAY_NOMEM);
    ck_assert_int_eq(waits, 2);
    fake_worker_end();
}
END_TEST

/* What a stay leaves is compared with the inputs that it had, whatever was run before it. */
START_TEST(apart_stay_behind_a_run_of_other_inputs)
{
    json_t *what = request(), *reply;

    fake_worker_begin("discrete=1; kernel=* ns=1000", "3");
    fake_worker_add_set();
    must(stay(&reply));
    json_decref(reply);
    json_object_set_new(what, "set", json_integer(1));
    poison();
    must(assay__worker_run(&fake_worker, what));
    json_decref(what);
    must(stay(&reply));
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* Nothing keeps a kernel from writing there, so it is looked at afterwards. */
START_TEST(apart_inputs_that_were_written_to_are_found)
{
    json_t *reply;

    fake_worker_begin(_i == 1 ? "discrete=1; digest=1; kernel=* ns=1000 write_at=1"
                              : "discrete=1; kernel=* ns=1000 write_at=1",
                      "3");
    poison();
    ck_assert_int_eq(run_once(), ASSAY_DEVICE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "wrote to its inputs"));
    ck_assert_int_eq(stay(&reply), ASSAY_DEVICE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "wrote to its inputs"));
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* Asks for the output that a run gives; far: NULL for none. */
static json_t *stay_of(const char *far)
{
    const assay__worker_problem *w = fake_worker.prepared;
    json_t *what = request(), *reply = json_object();
    char expected[20];

    poison();
    must(run_once());
    (void)snprintf(expected, sizeof expected, "%016" PRIx64,
                   assay__xxh64((char *)w->output + w->out.offset, (size_t)w->out.bytes));
    json_object_set_new(what, "expected", json_string(expected));
    if (far != NULL)
        json_object_set_new(what, "expected_far", json_string(far));
    poison();
    must(assay__worker_time(&fake_worker, what, reply));
    json_decref(what);
    return reply;
}

static const char *far_of(const json_t *reply)
{
    return json_string_value(json_object_get(reply, "far"));
}

static bool is_poison(void)
{
    const assay__worker_problem *w = fake_worker.prepared;

    return ((const char *)w->output + w->out.offset)[3] != 0;
}

/* The device says what the host does of an output that was brought here; of one that is known to it
 * no byte is brought, and one that is not the known one is. */
START_TEST(apart_outputs_are_told_by_digest)
{
    fake_worker_begin("discrete=1; digest=1; kernel=* ns=1000", "3");
    json_t *first = stay_of(NULL);
    ck_assert_ptr_nonnull(far_of(first));
    ck_assert(!json_is_true(json_object_get(first, "by_digest")));
    is_right();
    json_t *second = stay_of(far_of(first));
    ck_assert_str_eq(far_of(second), far_of(first));
    ck_assert(json_is_true(json_object_get(second, "by_digest")));
    ck_assert(is_poison());
    json_t *third = stay_of("0123456789abcdef");
    ck_assert_str_eq(far_of(third), far_of(first));
    ck_assert(!json_is_true(json_object_get(third, "by_digest")));
    is_right();
    json_decref(third);
    json_decref(second);
    json_decref(first);
    fake_worker_end();
}
END_TEST

/* Who digests otherwise than the host is not believed, and costs time alone; nor is there anything
 * to be told by who has none. */
START_TEST(apart_wrong_digests_are_not_believed)
{
    fake_worker_begin(
        _i == 1 ? "discrete=1; digest=2; kernel=* ns=1000" : "discrete=1; kernel=* ns=1000", "3");
    json_t *first = stay_of(NULL), *second = stay_of("0123456789abcdef");
    ck_assert_ptr_null(far_of(first));
    ck_assert_ptr_null(far_of(second));
    is_right();
    json_decref(second);
    json_decref(first);
    fake_worker_end();
}
END_TEST

/* Of all sets that were used, not of the last alone: what lies in another is found by its digest.
 */
START_TEST(apart_every_output_and_input_is_looked_at)
{
    const uint8_t bad = 1;
    assay__worker_shown shown;

    fake_worker_begin("discrete=1; digest=1; kernel=* ns=1000", "3");
    json_t *first = stay_of(NULL);
    assay__worker_problem *w = fake_worker.prepared;
    char expected[20];
    (void)snprintf(expected, sizeof expected, "%016" PRIx64,
                   assay__xxh64((char *)w->output + w->out.offset, (size_t)w->out.bytes));
    const size_t sets = w->pool->filled;
    ck_assert_uint_gt(sets, 100);
    shown = (assay__worker_shown){.expected = expected, .has_far = true};
    ck_assert_int_eq(sscanf(far_of(first), "%" SCNx64, &shown.far), 1);
    assay__worker_shown again = shown;
    must(assay__worker_pool_show(w, sets, 2 * sets, &again));
    ck_assert(again.as_expected && !again.is_there);

    assay_transfer piece = {.buffer = w->pool->far_outputs,
                            .offset = 7 * w->out.total + w->out.offset + 5,
                            .host = (void *)(uintptr_t)&bad,
                            .bytes = 1};
    must(assay__backend_upload(device(), &piece, 1));
    again = shown;
    must(assay__worker_pool_show(w, sets, 2 * sets, &again));
    ck_assert(!again.as_expected && again.is_there && !again.has_far);
    ck_assert_int_eq(((char *)w->output)[w->out.offset + 5], 1);

    piece.buffer = w->pool->far_inputs;
    piece.offset = 9 * w->in.total + w->in.offset[0];
    must(assay__backend_upload(device(), &piece, 1));
    again = shown;
    ck_assert_int_eq(assay__worker_pool_show(w, sets, 2 * sets, &again), ASSAY_DEVICE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "wrote to its inputs"));
    json_decref(first);
    fake_worker_end();
}
END_TEST

/* Kernels of both may stay in one worker: each finds operands where it can reach them. */
START_TEST(apart_pool_is_not_the_hosts)
{
    const char *build = getenv("ASSAY_BUILD");
    assay__plugins *host_plugins = NULL;
    assay__plugin *host;
    char path[512];

    fake_worker_begin("discrete=1; kernel=* ns=1000", "3");
    assay__worker_problem *w = fake_worker.prepared;
    (void)snprintf(path, sizeof path, "%s/lib/assay/assay_ref.so", build != NULL ? build : "build");
    must(assay__plugins_load(path, NULL, &host_plugins));
    host = assay__plugins_find(host_plugins, "ref");
    must(assay__plugin_open(host));
    must(assay__plugin_open(assay__plugins_find(fake_worker.plugins, "fake")));

    must(assay__worker_pool_use(w, device(), 1));
    const assay__worker_pool *far_pool = w->pool;
    ck_assert_ptr_eq(far_pool->apart, device());
    must(assay__worker_pool_use(w, &host->backend, 1));
    ck_assert_ptr_ne(w->pool, far_pool);
    ck_assert_ptr_null(w->pool->apart);
    must(assay__worker_pool_use(w, device(), 1));
    ck_assert_ptr_eq(w->pool, far_pool);
    fake_worker_end();
    assay__plugins_destroy(&host_plugins);
}
END_TEST

/* It might take addresses or handles: nobody is launched with either, and no kernel is to blame. */
START_TEST(apart_is_not_guessed)
{
    json_t *reply = NULL;

    fake_worker_begin("discrete=1; mute=1; kernel=* ns=1000", "3");
    must(assay__plugin_open(assay__plugins_find(fake_worker.plugins, "fake")));
    ck_assert_int_eq(run_once(), ASSAY_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "does not say what it is"));
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "the script gives no profile"));
    ck_assert_int_eq(stay(&reply), ASSAY_UNAVAILABLE);
    json_decref(reply);
    ck_assert_int_eq(assay__worker_blame(device(), ASSAY_NOMEM), ASSAY_NOMEM);
    fake_worker_end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker_apart");
    TCase *tcase = tcase_create("worker_apart");
    int failed;

    tcase_add_test(tcase, apart_run_brings_the_output_back);
    tcase_add_test(tcase, apart_stay_brings_the_output_back);
    tcase_add_test(tcase, apart_rotates_beyond_the_device_caches);
    tcase_add_loop_test(tcase, apart_first_call_warms_nothing, 0, 2);
    tcase_add_loop_test(tcase, apart_spans_go_round_all_sets, 0, 4);
    tcase_add_test(tcase, apart_memory_that_ends_is_one_problem);
    tcase_add_test(tcase, apart_rotation_leaves_room_for_kernels);
    tcase_add_test(tcase, apart_run_that_ends_without_memory_blames_nobody);
    tcase_add_test(tcase, apart_stay_behind_a_run_of_other_inputs);
    tcase_add_loop_test(tcase, apart_inputs_that_were_written_to_are_found, 0, 2);
    tcase_add_test(tcase, apart_outputs_are_told_by_digest);
    tcase_add_loop_test(tcase, apart_wrong_digests_are_not_believed, 0, 2);
    tcase_add_test(tcase, apart_every_output_and_input_is_looked_at);
    tcase_add_test(tcase, apart_pool_is_not_the_hosts);
    tcase_add_test(tcase, apart_is_not_guessed);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
