/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_engine.c -- engines: life, buffers, queues, loss, figures.
 *
 * Tests are named after the rows of docs/backends.md; those that loop run on backends ref, cpu and
 * fake. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/engine_case.h"

static const char *const names[] = {"ref", "cpu", "fake"};
enum { NAMES = 3 };

static assay_context *context;

static void setup(void)
{
    context = engine_context();
}

static void teardown(void)
{
    assay_close(&context);
}

/* ---- life ---- */

START_TEST(life_identity)
{
    assay_engine *e = engine_create(context, names[_i], NULL), *none = NULL;
    char text[256];

    ck_assert_str_eq(assay_engine_name(e), names[_i]);
    ck_assert_uint_gt(strlen(assay_engine_version(e)), 0);
    ck_assert_uint_lt(assay_engine_describe(e, text, sizeof text), sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "not initialized"));
    ck_assert_ptr_null(strchr(text, '\n'));
    ck_assert_int_eq(assay_engine_init(e, 0), ASSAY_OK);
    ck_assert_uint_gt(assay_engine_describe(e, text, 8), 8);
    ck_assert_uint_eq(strlen(text), 7);
    assay_engine_destroy(&e);
    ck_assert_ptr_null(e);
    assay_engine_destroy(&e);
    assay_engine_destroy(NULL);
    engine_refuses(assay_engine_create(context, "nobody", NULL, &none), ASSAY_UNAVAILABLE,
                   "nobody");
    ck_assert_ptr_null(none);
}
END_TEST

/* Everything that needs a device, before init and after shutdown. */
static void expect_closed(assay_engine *e)
{
    const assay_buffer b = {.owner = 1, .size_bytes = 1};
    const assay_transfer piece = {.buffer = b};
    const assay_fault fault = {.struct_size = sizeof fault};
    const assay_place p = {.buffer = b};
    assay_device_profile profile;
    assay_instance_state state;
    assay_buffer out;
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    char byte = 0;
    double ns;
    size_t count;
    void *host;
    bool yes;
#define CLOSED(call) engine_refuses((call), ASSAY_NOT_INITIALIZED, "not initialized")
    CLOSED(assay_engine_prepare(e));
    CLOSED(assay_engine_flush(e));
    CLOSED(assay_engine_synchronize(e));
    CLOSED(assay_engine_recover(e));
    CLOSED(assay_engine_state(e, &state));
    CLOSED(assay_engine_profile(e, &profile));
    CLOSED(assay_engine_require(e, ASSAY_FEATURE_RESIDENT));
    CLOSED(assay_engine_grid_fits(e, 1, 1, &yes));
    CLOSED(assay_engine_alloc(e, 1, 0, &out));
    CLOSED(assay_engine_wrap(e, &byte, 1, &out));
    CLOSED(assay_engine_free(e, b));
    CLOSED(assay_engine_upload(e, b, &byte, 1));
    CLOSED(assay_engine_download(e, &byte, b, 1));
    CLOSED(assay_engine_upload_at(e, b, 0, &byte, 1));
    CLOSED(assay_engine_download_at(e, &byte, b, 0, 1));
    CLOSED(assay_engine_upload_many(e, &piece, 1));
    CLOSED(assay_engine_download_many(e, &piece, 1));
    CLOSED(assay_engine_copy(e, b, 0, b, 0, 1));
    CLOSED(assay_engine_fill(e, b, 0, 1, 0));
    CLOSED(assay_engine_map(e, b, &host));
    CLOSED(assay_engine_queue_create(e, &queue));
    CLOSED(assay_engine_queue_destroy(e, &queue));
    CLOSED(assay_engine_queue_wait(e, queue));
    CLOSED(assay_engine_event_create(e, &event));
    CLOSED(assay_engine_event_destroy(e, &event));
    CLOSED(assay_engine_event_record(e, event, queue));
    CLOSED(assay_engine_event_wait(e, event));
    CLOSED(assay_engine_event_ready(e, event, &yes));
    CLOSED(assay_engine_event_elapsed(e, event, event, &ns));
    CLOSED(assay_engine_inject(e, &fault));
    CLOSED(assay_engine_metrics(e, NULL, 0, &count));
    CLOSED(assay_unary(e, ASSAY_UNARY_EXP, ASSAY_F32, p, p, 1, NULL));
#undef CLOSED
    ck_assert(!assay_engine_is_initialized(e) && !assay_engine_is_lost(e));
    ck_assert(!assay_engine_supports(e, ASSAY_FEATURE_RESIDENT));
}

START_TEST(life_nothing_before_init_and_after_shutdown)
{
    assay_engine *e = engine_create(context, names[_i], NULL);

    expect_closed(e);
    ck_assert_int_eq(assay_engine_shutdown(e), ASSAY_OK);
    ck_assert_int_eq(assay_engine_init(e, 0), ASSAY_OK);
    ck_assert(assay_engine_is_initialized(e));
    ck_assert_int_eq(assay_engine_prepare(e), ASSAY_OK);
    ck_assert_int_eq(assay_engine_prepare(e), ASSAY_OK);
    ck_assert_int_eq(assay_engine_shutdown(e), ASSAY_OK);
    ck_assert_int_eq(assay_engine_shutdown(e), ASSAY_OK);
    expect_closed(e);
    assay_engine_destroy(&e);
}
END_TEST

/* A second init changes nothing: buffers stay. */
START_TEST(life_init_twice_is_a_no_op)
{
    assay_engine *e = engine_open(context, names[_i], NULL);
    assay_engine *other = engine_create(context, names[_i], NULL);
    assay_buffer b = engine_alloc(e, 16);

    ck_assert_int_eq(assay_engine_init(e, 0), ASSAY_OK);
    ck_assert_int_eq(assay_engine_fill(e, b, 0, 16, 1), ASSAY_OK);
    engine_refuses(assay_engine_init(e, 1), ASSAY_INVALID, "is initialized on device 0");
    ck_assert_int_eq(assay_engine_fill(e, b, 0, 16, 1), ASSAY_OK);
    engine_refuses(assay_engine_init(other, 7), ASSAY_INVALID, "device 7");
    ck_assert(!assay_engine_is_initialized(other));
    assay_engine_destroy(&other);
    assay_engine_destroy(&e);
}
END_TEST

START_TEST(life_devices_before_init)
{
    assay_engine *e = engine_create(context, names[_i], NULL);
    assay_device_info info;
    size_t count = 0;

    ck_assert_int_eq(assay_engine_devices(e, NULL, 0, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(assay_engine_devices(e, &info, 1, &count), ASSAY_OK);
    ck_assert_uint_gt(strlen(info.name), 0);
    ck_assert(info.is_cpu && info.memory_bytes > 0);
    assay_engine_destroy(&e);
}
END_TEST

static void *init_one(void *cookie)
{
    assay_engine *e = cookie;

    return assay_engine_init(e, 0) == ASSAY_OK ? NULL : cookie;
}

START_TEST(life_concurrent_first_inits)
{
    pthread_t threads[8];
    void *bad;

    for (int round = 0; round < 20; round++) {
        assay_engine *e = engine_create(context, "ref", NULL);
        for (int i = 0; i < 8; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, init_one, e), 0);
        for (int i = 0; i < 8; i++) {
            pthread_join(threads[i], &bad);
            ck_assert_ptr_null(bad);
        }
        ck_assert(assay_engine_is_initialized(e));
        assay_engine_destroy(&e);
    }
}
END_TEST

/* ---- buffers ---- */

START_TEST(resident_round_trip)
{
    assay_engine *e = engine_open(context, names[_i], NULL);
    assay_buffer b = engine_alloc(e, 8), c = engine_alloc(e, 8);
    char back[9] = "";
    void *host = NULL;

    ck_assert_uint_eq(b.size_bytes, 8);
    ck_assert_int_eq(assay_engine_upload(e, b, "abcdefgh", 8), ASSAY_OK);
    ck_assert_int_eq(assay_engine_upload_at(e, b, 3, "XY", 2), ASSAY_OK);
    ck_assert_int_eq(assay_engine_copy(e, c, 0, b, 0, 8), ASSAY_OK);
    ck_assert_int_eq(assay_engine_copy(e, c, 1, c, 0, 4), ASSAY_OK); /* overlapping */
    ck_assert_int_eq(assay_engine_fill(e, c, 7, 1, '!'), ASSAY_OK);
    ck_assert_int_eq(assay_engine_download(e, back, c, 8), ASSAY_OK);
    ck_assert_str_eq(back, "aabcXfg!");
    ck_assert_int_eq(assay_engine_download_at(e, back, b, 6, 2), ASSAY_OK);
    ck_assert_int_eq(memcmp(back, "gh", 2), 0);
    ck_assert_int_eq(assay_engine_upload_at(e, b, 8, NULL, 0), ASSAY_OK);
    ck_assert_int_eq(assay_engine_map(e, b, &host), ASSAY_OK);
    ck_assert_int_eq(memcmp(host, "abcXYfgh", 8), 0);
    ck_assert_uint_eq((uintptr_t)host % 64, 0);
    ck_assert_int_eq(assay_engine_free(e, b), ASSAY_OK);
    ck_assert_int_eq(assay_engine_free(e, c), ASSAY_OK);
    assay_engine_destroy(&e);
}
END_TEST

START_TEST(resident_lengths_are_exact)
{
    assay_engine *e = engine_open(context, names[_i], NULL);
    assay_buffer b = engine_alloc(e, 8), none;
    char bytes[16] = "0123456789abcde";

    engine_refuses(assay_engine_alloc(e, 0, 0, &none), ASSAY_INVALID, "0 bytes");
    engine_refuses(assay_engine_alloc(e, 8, 24, &none), ASSAY_INVALID, "power of two");
    engine_refuses(assay_engine_upload(e, b, bytes, 7), ASSAY_INVALID, "7 bytes for a buffer of 8");
    engine_refuses(assay_engine_upload(e, b, bytes, 9), ASSAY_INVALID, "upload_at");
    engine_refuses(assay_engine_download(e, bytes, b, 9), ASSAY_INVALID, "download_at");
    engine_refuses(assay_engine_upload_at(e, b, 1, bytes, 8), ASSAY_INVALID, "outside a buffer");
    engine_refuses(assay_engine_upload_at(e, b, UINT64_MAX, bytes, 2), ASSAY_INVALID, "outside");
    engine_refuses(assay_engine_download_at(e, bytes, b, 9, 0), ASSAY_INVALID, "outside");
    engine_refuses(assay_engine_upload(e, b, NULL, 8), ASSAY_INVALID, "no host memory");
    engine_refuses(assay_engine_upload_many(e, NULL, 2), ASSAY_INVALID, "no pieces");
    ck_assert_int_eq(assay_engine_upload_many(e, NULL, 0), ASSAY_OK);
    assay_engine_destroy(&e);
}
END_TEST

/* One operation: none of it when a piece is bad, in order where pieces overlap. */
START_TEST(resident_many_is_all_or_nothing)
{
    assay_engine *e = engine_open(context, names[_i], NULL);
    assay_buffer b = engine_alloc(e, 8), gone = engine_alloc(e, 8);
    char up[9] = "abcdefgh", back[9] = "--------";
    assay_metric before[64], after[64];
    size_t count = 0, same = 0;

    ck_assert_int_eq(assay_engine_fill(e, b, 0, 8, '.'), ASSAY_OK);
    ck_assert_int_eq(assay_engine_free(e, gone), ASSAY_OK);
    assay_transfer pieces[3] = {{b, 0, up, 4}, {b, 2, up, 4}, {gone, 0, up, 1}};
    engine_refuses(assay_engine_upload_many(e, pieces, 3), ASSAY_FREED, "freed");
    pieces[2] = (assay_transfer){b, 8, up, 1};
    engine_refuses(assay_engine_upload_many(e, pieces, 3), ASSAY_INVALID, "outside");
    pieces[2] = (assay_transfer){b, 0, up, UINT64_MAX};
    engine_refuses(assay_engine_upload_many(e, pieces, 3), ASSAY_OVERFLOW, "piece 2");
    ck_assert_int_eq(assay_engine_download(e, back, b, 8), ASSAY_OK);
    ck_assert_str_eq(back, "........");
    ck_assert_int_eq(assay_engine_metrics(e, before, 64, &count), ASSAY_OK);
    ck_assert_int_eq(assay_engine_upload_many(e, pieces, 2), ASSAY_OK);
    ck_assert_int_eq(assay_engine_metrics(e, after, 64, &same), ASSAY_OK);
    for (size_t i = 0; i < count; i++)
        if (strcmp(before[i].name, "staging_operations_total") == 0)
            ck_assert_uint_eq(after[i].value - before[i].value, 1);
    ck_assert_int_eq(assay_engine_download(e, back, b, 8), ASSAY_OK);
    ck_assert_str_eq(back, "ababcd..");
    pieces[0].host = back;
    pieces[1].host = back + 4;
    pieces[1].offset = 7;
    engine_refuses(assay_engine_download_many(e, pieces, 2), ASSAY_INVALID, "outside");
    ck_assert_str_eq(back, "ababcd..");
    assay_engine_destroy(&e);
}
END_TEST

/* Each wrong handle has its own error. */
START_TEST(handle_foreign_freed_twice_stale)
{
    assay_engine *e = engine_open(context, names[_i], NULL);
    assay_engine *other = engine_open(context, names[_i], NULL);
    assay_buffer b = engine_alloc(e, 8), of_other = engine_alloc(other, 8), again;
    char bytes[8];

    engine_refuses(assay_engine_upload(e, of_other, bytes, 8), ASSAY_FOREIGN, "another instance");
    engine_refuses(assay_engine_free(e, of_other), ASSAY_FOREIGN, "another instance");
    ck_assert_int_eq(assay_engine_free(e, b), ASSAY_OK);
    engine_refuses(assay_engine_free(e, b), ASSAY_FREED, "freed before");
    again = engine_alloc(e, 8); /* has its place */
    ck_assert_uint_eq(again.at.slot.index, b.at.slot.index);
    engine_refuses(assay_engine_download(e, bytes, b, 8), ASSAY_FREED, "freed before");
    engine_refuses(assay_engine_free(e, (assay_buffer){.size_bytes = 8}), ASSAY_INVALID,
                   "not made by alloc");
    ck_assert_int_eq(assay_engine_shutdown(e), ASSAY_OK);
    ck_assert_int_eq(assay_engine_init(e, 0), ASSAY_OK);
    engine_refuses(assay_engine_free(e, again), ASSAY_FOREIGN, "another instance");
    assay_engine_destroy(&other);
    assay_engine_destroy(&e);
}
END_TEST

START_TEST(memory_new_buffers_are_zero)
{
    assay_engine *e = engine_open(context, _i == 0 ? "ref" : "fake", NULL);
    char bytes[512];

    for (int round = 0; round < 8; round++) {
        assay_buffer b = engine_alloc(e, sizeof bytes);
        ck_assert_int_eq(assay_engine_download(e, bytes, b, sizeof bytes), ASSAY_OK);
        for (size_t i = 0; i < sizeof bytes; i++)
            ck_assert_int_eq(bytes[i], 0);
        ck_assert_int_eq(assay_engine_fill(e, b, 0, sizeof bytes, 0x5a), ASSAY_OK);
        ck_assert_int_eq(assay_engine_free(e, b), ASSAY_OK);
    }
    assay_engine_destroy(&e);
}
END_TEST

START_TEST(memory_live_buffers_are_counted)
{
    assay_engine *e = engine_open(context, names[_i], NULL);
    assay_instance_state state;
    assay_buffer a = engine_alloc(e, 100), b = engine_alloc(e, 28);

    ck_assert_int_eq(assay_engine_state(e, &state), ASSAY_OK);
    ck_assert(state.live_buffers == 2 && state.live_bytes == 128 && state.generation == 1);
    ck_assert_int_eq(assay_engine_free(e, a), ASSAY_OK);
    ck_assert_int_eq(assay_engine_free(e, b), ASSAY_OK);
    ck_assert_int_eq(assay_engine_state(e, &state), ASSAY_OK);
    ck_assert(state.live_buffers == 0 && state.live_bytes == 0);
    assay_engine_destroy(&e);
}
END_TEST

START_TEST(memory_no_memory_says_how_much)
{
    assay_engine *e = engine_open(context, names[_i], NULL);
    assay_error_detail detail;
    assay_buffer b;

    ck_assert_int_eq(assay_engine_alloc(e, UINT64_MAX, 0, &b), ASSAY_NOMEM);
    assay_last_detail(&detail);
    ck_assert_int_eq(detail.status, ASSAY_NOMEM);
    ck_assert_uint_eq(detail.requested_bytes, UINT64_MAX);
    ck_assert_uint_gt(detail.available_bytes, 0);
    ck_assert(assay_status_is_retryable(ASSAY_NOMEM) && assay_status_is_routable(ASSAY_NOMEM));
    ck_assert(!assay_status_is_retryable(ASSAY_INVALID) && !assay_status_is_routable(ASSAY_FREED));
    assay_engine_destroy(&e);
}
END_TEST

/* ---- queues ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* Adds n floats of buffers a and b in a queue. */
static assay_status add_in(assay_engine *e, assay_queue *queue, assay_buffer a, assay_buffer b,
                           assay_buffer y, int64_t n)
{
    assay_call call = {.struct_size = sizeof call, .queue = queue};

    return assay_binary(e, ASSAY_BINARY_ADD, ASSAY_F32, (assay_place){.buffer = a},
                        (assay_place){.buffer = b}, (assay_place){.buffer = y}, n, &call);
}

START_TEST(queue_runs_in_order_beside_the_caller)
{
    assay_engine *e = engine_open(context, names[_i], NULL);
    assay_buffer a = engine_alloc(e, 64), y = engine_alloc(e, 64);
    const float ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    float back[16];
    assay_queue *queue = NULL;

    ck_assert_int_eq(assay_engine_upload(e, a, ones, 64), ASSAY_OK);
    ck_assert_int_eq(assay_engine_upload(e, y, ones, 64), ASSAY_OK);
    ck_assert_int_eq(assay_engine_queue_create(e, &queue), ASSAY_OK);
    for (int i = 0; i < 200; i++) /* more than its ring holds */
        ck_assert_msg(add_in(e, queue, a, y, y, 16) == ASSAY_OK, "%s", assay_last_error());
    ck_assert_int_eq(assay_engine_queue_wait(e, queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_download(e, back, y, 64), ASSAY_OK);
    for (int i = 0; i < 16; i++)
        ck_assert(back[i] == 201.0f);
    ck_assert_int_eq(assay_engine_queue_destroy(e, &queue), ASSAY_OK);
    ck_assert_ptr_null(queue);
    ck_assert_int_eq(assay_engine_queue_destroy(e, &queue), ASSAY_OK);
    assay_engine_destroy(&e);
}
END_TEST

/* The first launch is held up, so that what follows is pending for certain. */
START_TEST(queue_pending_buffers_are_not_freed)
{
    const assay_fault slow = {
        .struct_size = sizeof slow, .kind = ASSAY_FAULT_DELAY, .times = 1, .delay_ns = 200000000};
    assay_engine *e = engine_open(context, _i == 0 ? "ref" : "fake", NULL);
    assay_buffer a = engine_alloc(e, 64), y = engine_alloc(e, 64);
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    bool ready = true;

    ck_assert_int_eq(assay_engine_queue_create(e, &queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_create(e, &event), ASSAY_OK);
    engine_refuses(assay_engine_event_wait(e, event), ASSAY_INVALID, "never recorded");
    ck_assert_int_eq(assay_engine_inject(e, &slow), ASSAY_OK);
    ck_assert_int_eq(add_in(e, queue, a, a, y, 16), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_record(e, event, queue), ASSAY_OK);
    engine_refuses(assay_engine_free(e, a), ASSAY_PENDING, "still use");
    engine_refuses(assay_engine_free(e, y), ASSAY_PENDING, "still use");
    engine_refuses(assay_engine_event_destroy(e, &event), ASSAY_PENDING, "wait for it");
    ck_assert_int_eq(assay_engine_event_ready(e, event, &ready), ASSAY_OK);
    ck_assert(!ready);
    ck_assert_int_eq(assay_engine_event_wait(e, event), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_ready(e, event, &ready), ASSAY_OK);
    ck_assert(ready);
    ck_assert_int_eq(assay_engine_free(e, a), ASSAY_OK);
    ck_assert_int_eq(assay_engine_free(e, y), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_destroy(e, &event), ASSAY_OK);
    ck_assert_ptr_null(event);
    ck_assert_int_eq(assay_engine_queue_destroy(e, &queue), ASSAY_OK);
    assay_engine_destroy(&e);
}
END_TEST

/* A launch that fails in a queue is told once, by who waits; flush tells it too. */
START_TEST(queue_failures_are_told_once)
{
    const assay_fault fails = {
        .struct_size = sizeof fails, .kind = ASSAY_FAULT_LAUNCH, .after = 1, .times = 1};
    assay_engine *e = engine_open(context, _i == 0 ? "ref" : "fake", NULL);
    assay_buffer a = engine_alloc(e, 64), y = engine_alloc(e, 64);
    assay_queue *queue = NULL;

    ck_assert_int_eq(assay_engine_queue_create(e, &queue), ASSAY_OK);
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(assay_engine_inject(e, &fails), ASSAY_OK);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(add_in(e, queue, a, a, y, 16), ASSAY_OK);
        engine_refuses(round == 0 ? assay_engine_queue_wait(e, queue) : assay_engine_flush(e),
                       ASSAY_DEVICE, "as it was asked to");
        ck_assert_int_eq(assay_engine_queue_wait(e, queue), ASSAY_OK);
        ck_assert_int_eq(assay_engine_flush(e), ASSAY_OK);
    }
    assay_engine_destroy(&e); /* with its queue */
}
END_TEST

typedef struct waiter {
    assay_engine *engine;
    assay_queue *queue;
    assay_status status;
} waiter;

static void *wait_in(void *cookie)
{
    waiter *w = cookie;

    w->status = assay_engine_queue_wait(w->engine, w->queue);
    return NULL;
}

/* Who destroys a queue waits for those who are inside, and they come out. */
START_TEST(queue_destroyed_while_others_wait)
{
    const assay_fault slow = {
        .struct_size = sizeof slow, .kind = ASSAY_FAULT_DELAY, .times = 1, .delay_ns = 300000000};
    const struct timespec a_while = {0, 50000000};
    assay_engine *e = engine_open(context, "ref", NULL);
    assay_buffer a = engine_alloc(e, 64);
    assay_queue *queue = NULL;
    waiter waiters[3];
    pthread_t threads[3];

    ck_assert_int_eq(assay_engine_queue_create(e, &queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_inject(e, &slow), ASSAY_OK);
    ck_assert_int_eq(add_in(e, queue, a, a, a, 16), ASSAY_OK);
    for (int i = 0; i < 3; i++) {
        waiters[i] = (waiter){e, queue, ASSAY_INTERNAL};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_in, &waiters[i]), 0);
    }
    nanosleep(&a_while, NULL); /* they are inside, or find no queue any more */
    ck_assert_int_eq(assay_engine_queue_destroy(e, &queue), ASSAY_OK);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        ck_assert(waiters[i].status == ASSAY_OK || waiters[i].status == ASSAY_FOREIGN);
    }
    ck_assert_int_eq(assay_engine_free(e, a), ASSAY_OK);
    assay_engine_destroy(&e);
}
END_TEST

START_TEST(queue_events_measure_time)
{
    const assay_fault slow = {
        .struct_size = sizeof slow, .kind = ASSAY_FAULT_DELAY, .times = 1, .delay_ns = 30000000};
    assay_engine *e = engine_open(context, "ref", NULL), *other = engine_open(context, "ref", NULL);
    assay_buffer a = engine_alloc(e, 64), y = engine_alloc(e, 64);
    assay_queue *queue = NULL;
    assay_event *from = NULL, *to = NULL;
    double ns = 0;

    ck_assert_int_eq(assay_engine_queue_create(e, &queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_create(e, &from), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_create(e, &to), ASSAY_OK);
    ck_assert_int_eq(assay_engine_inject(e, &slow), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_record(e, from, queue), ASSAY_OK);
    ck_assert_int_eq(add_in(e, queue, a, a, y, 16), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_record(e, to, queue), ASSAY_OK);
    engine_refuses(assay_engine_event_elapsed(e, from, to, &ns), ASSAY_PENDING, "not passed");
    ck_assert_int_eq(assay_engine_event_wait(e, to), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_elapsed(e, from, to, &ns), ASSAY_OK);
    ck_assert(ns >= 30e6);
    engine_refuses(assay_engine_event_wait(other, to), ASSAY_FOREIGN, "no event");
    engine_refuses(assay_engine_queue_wait(other, queue), ASSAY_FOREIGN, "no queue");
    ck_assert_int_eq(assay_engine_queue_destroy(e, &queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_wait(e, to),
                     ASSAY_OK); /* passed, though its queue is gone */
    ck_assert_int_eq(assay_engine_event_record(e, to, NULL), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_elapsed(e, from, to, &ns), ASSAY_OK);
    assay_engine_destroy(&other);
    assay_engine_destroy(&e);
}
END_TEST

/* ---- loss ---- */

START_TEST(lost_device_until_recovered)
{
    const assay_fault lost = {.struct_size = sizeof lost, .kind = ASSAY_FAULT_LOST, .after = 1};
    assay_engine *e = engine_open(context, _i == 0 ? "ref" : "fake", NULL);
    assay_buffer b = engine_alloc(e, 8), after;
    assay_error_detail detail;
    assay_instance_state state;
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    char bytes[8] = "";

    ck_assert_int_eq(assay_engine_queue_create(e, &queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_create(e, &event), ASSAY_OK);
    ck_assert_int_eq(assay_engine_recover(e), ASSAY_OK); /* not lost: nothing happens */
    ck_assert_int_eq(assay_engine_inject(e, &lost), ASSAY_OK);
    ck_assert(!assay_engine_is_lost(e));
    ck_assert_int_eq(assay_engine_upload(e, b, bytes, 8), ASSAY_OK);
    engine_refuses(assay_engine_upload(e, b, bytes, 8), ASSAY_DEVICE_LOST, "generation 1");
    assay_last_detail(&detail);
    ck_assert(detail.status == ASSAY_DEVICE_LOST && detail.generation == 1);
    ck_assert(assay_engine_is_lost(e));
    engine_refuses(assay_engine_alloc(e, 8, 0, &after), ASSAY_DEVICE_LOST, "alloc");
    engine_refuses(add_in(e, NULL, b, b, b, 2), ASSAY_DEVICE_LOST, "lost");
    ck_assert_int_eq(assay_engine_recover(e), ASSAY_OK);
    ck_assert(!assay_engine_is_lost(e));
    ck_assert_int_eq(assay_engine_state(e, &state), ASSAY_OK);
    ck_assert(state.generation == 2 && state.live_buffers == 0);
    engine_refuses(assay_engine_upload(e, b, bytes, 8), ASSAY_GENERATION, "recovered since");
    engine_refuses(assay_engine_free(e, b), ASSAY_GENERATION, "generation 1");
    engine_refuses(assay_engine_queue_wait(e, queue), ASSAY_GENERATION, "make it anew");
    engine_refuses(assay_engine_event_record(e, event, NULL), ASSAY_GENERATION, "make it anew");
    after = engine_alloc(e, 8);
    ck_assert_int_eq(assay_engine_upload(e, after, bytes, 8), ASSAY_OK);
    assay_engine_destroy(&e);
}
END_TEST

/* What waits in a queue when the device goes fails there, and recover waits for it. */
START_TEST(lost_device_with_work_under_way)
{
    const assay_fault lost = {.struct_size = sizeof lost, .kind = ASSAY_FAULT_LOST};
    const assay_fault slow = {
        .struct_size = sizeof slow, .kind = ASSAY_FAULT_DELAY, .times = 1, .delay_ns = 50000000};
    assay_engine *e = engine_open(context, "ref", NULL);
    assay_buffer a = engine_alloc(e, 64);
    assay_queue *queue = NULL;

    ck_assert_int_eq(assay_engine_queue_create(e, &queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_inject(e, &slow), ASSAY_OK);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(add_in(e, queue, a, a, a, 16), ASSAY_OK);
    ck_assert_int_eq(assay_engine_inject(e, &lost), ASSAY_OK);
    engine_refuses(assay_engine_fill(e, a, 0, 1, 0), ASSAY_DEVICE_LOST, "fill");
    ck_assert_int_eq(assay_engine_recover(e), ASSAY_OK);
    engine_refuses(add_in(e, queue, a, a, a, 16), ASSAY_GENERATION, "");
    ck_assert_int_eq(assay_engine_queue_destroy(e, &queue), ASSAY_OK);
    assay_engine_destroy(&e);
}
END_TEST

/* A queued launch is one operation, when it runs: two succeed, the third finds the device gone. */
START_TEST(faults_of_queued_launches_come_once)
{
    const assay_fault lost = {.struct_size = sizeof lost, .kind = ASSAY_FAULT_LOST, .after = 2};
    assay_engine *e = engine_open(context, _i == 0 ? "ref" : "fake", NULL);
    assay_buffer a = engine_alloc(e, 64);
    assay_queue *queue = NULL;

    ck_assert_int_eq(assay_engine_queue_create(e, &queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_inject(e, &lost), ASSAY_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(add_in(e, queue, a, a, a, 16), ASSAY_OK);
        ck_assert_int_eq(assay_engine_queue_wait(e, queue), ASSAY_OK);
    }
    ck_assert(!assay_engine_is_lost(e));
    engine_refuses(assay_engine_fill(e, a, 0, 1, 0), ASSAY_DEVICE_LOST, "fill");
    assay_engine_destroy(&e);
}
END_TEST

START_TEST(faults_out_of_memory_and_failing_launch)
{
    assay_fault fault = {
        .struct_size = sizeof fault, .kind = ASSAY_FAULT_OUT_OF_MEMORY, .after = 1, .times = 1};
    assay_engine *e = engine_open(context, _i == 0 ? "ref" : "fake", NULL);
    assay_buffer a, b = engine_alloc(e, 64);
    assay_error_detail detail;
    float before[16], back[16];

    ck_assert_int_eq(assay_engine_inject(e, &fault), ASSAY_OK);
    a = engine_alloc(e, 64);
    engine_refuses(assay_engine_alloc(e, 64, 0, &b), ASSAY_NOMEM, "64 bytes");
    assay_last_detail(&detail);
    ck_assert_uint_eq(detail.requested_bytes, 64);
    b = engine_alloc(e, 64);
    ck_assert_int_eq(assay_engine_fill(e, b, 0, 64, 0x40), ASSAY_OK);
    ck_assert_int_eq(assay_engine_download(e, before, b, 64), ASSAY_OK);
    fault.kind = ASSAY_FAULT_LAUNCH;
    fault.after = 0;
    ck_assert_int_eq(assay_engine_inject(e, &fault), ASSAY_OK);
    engine_refuses(add_in(e, NULL, a, a, b, 16), ASSAY_DEVICE, "as it was asked to");
    ck_assert_int_eq(assay_engine_download(e, back, b, 64), ASSAY_OK);
    ck_assert_int_eq(memcmp(before, back, 64), 0); /* nothing was written */
    ck_assert_int_eq(add_in(e, NULL, a, a, b, 16), ASSAY_OK);
    fault.times = 0;
    ck_assert_int_eq(assay_engine_inject(e, &fault), ASSAY_OK);
    for (int i = 0; i < 3; i++)
        engine_refuses(add_in(e, NULL, a, a, b, 16), ASSAY_DEVICE, "as it was asked to");
    fault.kind = ASSAY_FAULT_NONE;
    ck_assert_int_eq(assay_engine_inject(e, &fault), ASSAY_OK);
    ck_assert_int_eq(add_in(e, NULL, a, a, b, 16), ASSAY_OK);
    fault.kind = (assay_fault_kind)77;
    engine_refuses(assay_engine_inject(e, &fault), ASSAY_INVALID, "77");
    assay_engine_destroy(&e);
}
END_TEST

/* ---- features ---- */

/* Every false one is refused by name, by what it would do where that exists. */
START_TEST(features_are_honest)
{
    assay_engine *e = engine_open(context, names[_i], NULL);
    const assay_fault fault = {.struct_size = sizeof fault};
    assay_device_profile profile;
    bool fits;

    ck_assert_int_eq(assay_engine_profile(e, &profile), ASSAY_OK);
    for (int f = 0; f < (int)ASSAY_FEATURE_COUNT; f++) {
        const assay_feature feature = (assay_feature)f;
        const bool has = (profile.features >> f & 1) != 0;
        ck_assert_int_eq(assay_engine_supports(e, feature), has);
        if (has)
            ck_assert_int_eq(assay_engine_require(e, feature), ASSAY_OK);
        else
            engine_refuses(assay_engine_require(e, feature), ASSAY_UNSUPPORTED,
                           assay_feature_name(feature));
    }
    ck_assert(!assay_engine_supports(e, (assay_feature)ASSAY_FEATURE_COUNT));
    engine_refuses(assay_engine_grid_fits(e, 1, 1, &fits), ASSAY_UNSUPPORTED, "grid_sync");
    if (strcmp(names[_i], "cpu") == 0) {
        engine_refuses(assay_engine_recover(e), ASSAY_UNSUPPORTED, "recovery");
        engine_refuses(assay_engine_inject(e, &fault), ASSAY_UNSUPPORTED, "fault_injection");
    }
    ck_assert(assay_engine_supports(e, ASSAY_FEATURE_RESIDENT));
    ck_assert(assay_engine_supports(e, ASSAY_FEATURE_UNIFIED_MEMORY));
    ck_assert_uint_gt(profile.max_buffer_bytes, UINT64_C(1) << 40);
    ck_assert_uint_eq(profile.memory, ASSAY_MEMORY_HOST);
    ck_assert_uint_ge(profile.alignment_bytes, 64);
    assay_engine_destroy(&e);
}
END_TEST

START_TEST(features_ops_are_those_of_the_table)
{
    const uint8_t f32[3] = {ASSAY_F32, ASSAY_F32, ASSAY_F32},
                  i8[3] = {ASSAY_I8, ASSAY_I8, ASSAY_I8};
    assay_engine *e = engine_open(context, "fake", NULL);

    ck_assert(assay_engine_supports_op(e, ASSAY_OP_add, f32, 3));
    ck_assert(!assay_engine_supports_op(e, ASSAY_OP_add, i8, 3));
    ck_assert(!assay_engine_supports_op(e, ASSAY_OP_mul, f32, 3)); /* others have it */
    assay_engine_destroy(&e);
}
END_TEST

/* ---- figures ---- */

static uint64_t value_of(assay_engine *e, const char *name)
{
    assay_metric list[128];
    size_t count = 0;

    ck_assert_int_eq(assay_engine_metrics(e, list, 128, &count), ASSAY_OK);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].value;
    ck_abort_msg("no metric %s", name);
}

/* A sensor that fails keeps its place, and is no line of the text. */
START_TEST(metrics_that_are_not_known_are_no_numbers)
{
    char text[8192];

    setenv("ASSAY_FAKE", "sm_clock_mhz=-; temperature_celsius=40", 1);
    assay_engine *e = engine_open(context, "fake", NULL);
    ck_assert_uint_eq(value_of(e, "sm_clock_mhz"), ASSAY_METRIC_UNKNOWN);
    ck_assert_uint_lt(assay_engine_metrics_text(e, text, sizeof text), sizeof text);
    ck_assert_ptr_null(strstr(text, "sm_clock_mhz"));
    ck_assert_ptr_nonnull(strstr(text, "temperature_celsius{backend=\"fake\"} 40"));
    assay_engine_destroy(&e);
    unsetenv("ASSAY_FAKE");
}
END_TEST

START_TEST(metrics_names_are_sorted_and_count)
{
    assay_engine *e = engine_open(context, names[_i], NULL);
    assay_buffer a = engine_alloc(e, 64), y = engine_alloc(e, 64);
    assay_metric list[128];
    size_t count = 0;
    char text[8192];

    ck_assert_int_eq(assay_engine_fill(e, a, 0, 64, 0), ASSAY_OK);
    ck_assert_int_eq(add_in(e, NULL, a, a, y, 16), ASSAY_OK);
    ck_assert_int_eq(add_in(e, NULL, a, a, y, -1), ASSAY_INVALID);
    ck_assert_int_eq(assay_engine_metrics(e, list, 128, &count), ASSAY_OK);
    for (size_t i = 1; i < count; i++)
        ck_assert_int_lt(strcmp(list[i - 1].name, list[i].name), 0);
    ck_assert_uint_eq(value_of(e, "engine_calls_total"), 2);
    ck_assert_uint_eq(value_of(e, "engine_failed_calls_total"), 1);
    ck_assert_uint_eq(value_of(e, "engine_native_calls_total"), 1);
    ck_assert_uint_eq(value_of(e, "allocs_total"), 2);
    ck_assert_uint_eq(value_of(e, "live_bytes"), 128);
    ck_assert_uint_eq(value_of(e, "fill_bytes_total"), 64);
    size_t length = assay_engine_metrics_text(e, text, sizeof text);
    ck_assert_uint_eq(strlen(text), length);
    ck_assert_str_eq(text + length - 6, "# EOF\n");
    ck_assert_ptr_nonnull(strstr(text, "# TYPE assay_allocs counter\nassay_allocs_total{backend="));
    ck_assert_ptr_nonnull(strstr(text, "# TYPE assay_live_bytes gauge\nassay_live_bytes{backend="));
    ck_assert_uint_eq(assay_engine_metrics_text(e, NULL, 0), length);
    ck_assert_uint_eq(assay_engine_metrics_text(e, text, 10), length);
    ck_assert_uint_eq(strlen(text), 9);
    assay_engine_destroy(&e);
}
END_TEST

START_TEST(trace_keeps_the_last_calls)
{
    assay_engine *e = engine_open(context, "ref", NULL);
    assay_buffer b = engine_alloc(e, 64);
    static assay_trace_event events[ASSAY_TRACE_EVENTS];

    ck_assert_uint_eq(assay_engine_trace_read(e, events, ASSAY_TRACE_EVENTS), 0);
    assay_engine_trace(e, true);
    for (int i = 0; i < 300; i++)
        ck_assert_int_eq(assay_engine_fill(e, b, 0, 64, 0), ASSAY_OK);
    ck_assert_int_eq(add_in(e, NULL, b, b, b, 16), ASSAY_OK);
    ck_assert_int_eq(assay_engine_free(e, (assay_buffer){.owner = 1u << 20}), ASSAY_FOREIGN);
    assay_engine_trace(e, false);
    ck_assert_int_eq(assay_engine_fill(e, b, 0, 64, 0), ASSAY_OK);
    ck_assert_uint_eq(assay_engine_trace_read(e, events, ASSAY_TRACE_EVENTS), ASSAY_TRACE_EVENTS);
    for (size_t i = 0; i < ASSAY_TRACE_EVENTS; i++)
        ck_assert_uint_eq(events[i].number, 302 - ASSAY_TRACE_EVENTS + i + 1);
    ck_assert_str_eq(events[0].what, "fill");
    ck_assert_str_eq(events[0].detail, "64 bytes");
    ck_assert_str_eq(events[254].what, "binary");
    ck_assert_str_eq(events[254].detail, "ref_add_f32");
    ck_assert_str_eq(events[255].what, "free");
    ck_assert_int_eq(events[255].status, ASSAY_FOREIGN);
    ck_assert_uint_ge(events[255].begin_ns, events[0].begin_ns);
    assay_engine_destroy(&e);
}
END_TEST

/* ---- many threads ---- */

typedef struct worker {
    assay_engine *engine;
    unsigned number;
    int failures;
} worker;

/* Its own buffers, by shared counters, queues and typed calls, until the engine is shut down. */
static void *work(void *cookie)
{
    worker *w = cookie;
    assay_status status = ASSAY_OK;
    float back[16];

    for (int round = 0; round < 200 && status == ASSAY_OK; round++) {
        assay_buffer a, y;
        status = assay_engine_alloc(w->engine, 64, 0, &a);
        if (status == ASSAY_OK)
            status = assay_engine_alloc(w->engine, 64, 0, &y);
        if (status == ASSAY_OK)
            status = assay_engine_fill(w->engine, a, 0, 64, 0);
        if (status == ASSAY_OK)
            status = add_in(w->engine, NULL, a, a, y, 16);
        if (status == ASSAY_OK)
            status = assay_engine_download(w->engine, back, y, 64);
        if (status == ASSAY_OK && back[w->number % 16] != 0.0f)
            w->failures++;
        if (status == ASSAY_OK)
            status = assay_engine_free(w->engine, a);
        if (status == ASSAY_OK)
            status = assay_engine_free(w->engine, y);
    }
    if (status != ASSAY_OK && status != ASSAY_NOT_INITIALIZED)
        w->failures++;
    return NULL;
}

START_TEST(threads_share_an_engine_until_shutdown)
{
    assay_engine *e = engine_open(context, names[_i], NULL);
    worker workers[6];
    pthread_t threads[6];

    for (unsigned i = 0; i < 6; i++) {
        workers[i] = (worker){e, i, 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    pthread_mutex_lock(&gate); /* somebody else takes and leaves other engines meanwhile */
    for (int i = 0; i < 5; i++) {
        assay_engine *other = engine_open(context, "ref", NULL);
        assay_engine_destroy(&other);
    }
    pthread_mutex_unlock(&gate);
    ck_assert_int_eq(assay_engine_shutdown(e), ASSAY_OK);
    for (unsigned i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(workers[i].failures, 0);
    }
    assay_engine_destroy(&e);
}
END_TEST

static TCase *add_case(Suite *s, const char *name)
{
    TCase *c = tcase_create(name);

    tcase_add_checked_fixture(c, setup, teardown);
    suite_add_tcase(s, c);
    return c;
}

int main(void)
{
    Suite *s = suite_create("engine");
    TCase *life = add_case(s, "life"), *memory = add_case(s, "memory");
    TCase *queues = add_case(s, "queues"), *loss = add_case(s, "loss");
    TCase *says = add_case(s, "says");

    tcase_add_loop_test(life, life_identity, 0, NAMES);
    tcase_add_loop_test(life, life_nothing_before_init_and_after_shutdown, 0, NAMES);
    tcase_add_loop_test(life, life_init_twice_is_a_no_op, 0, NAMES);
    tcase_add_loop_test(life, life_devices_before_init, 0, NAMES);
    tcase_add_test(life, life_concurrent_first_inits);
    tcase_add_loop_test(life, threads_share_an_engine_until_shutdown, 0, NAMES);
    tcase_add_loop_test(memory, resident_round_trip, 0, NAMES);
    tcase_add_loop_test(memory, resident_lengths_are_exact, 0, NAMES);
    tcase_add_loop_test(memory, resident_many_is_all_or_nothing, 0, NAMES);
    tcase_add_loop_test(memory, handle_foreign_freed_twice_stale, 0, NAMES);
    tcase_add_loop_test(memory, memory_new_buffers_are_zero, 0, 2);
    tcase_add_loop_test(memory, memory_live_buffers_are_counted, 0, NAMES);
    tcase_add_loop_test(memory, memory_no_memory_says_how_much, 0, NAMES);
    tcase_add_loop_test(queues, queue_runs_in_order_beside_the_caller, 0, NAMES);
    tcase_add_loop_test(queues, queue_pending_buffers_are_not_freed, 0, 2);
    tcase_add_loop_test(queues, queue_failures_are_told_once, 0, 2);
    tcase_add_test(queues, queue_events_measure_time);
    tcase_add_test(queues, queue_destroyed_while_others_wait);
    tcase_add_loop_test(loss, lost_device_until_recovered, 0, 2);
    tcase_add_test(loss, lost_device_with_work_under_way);
    tcase_add_loop_test(loss, faults_of_queued_launches_come_once, 0, 2);
    tcase_add_loop_test(loss, faults_out_of_memory_and_failing_launch, 0, 2);
    tcase_add_loop_test(says, features_are_honest, 0, NAMES);
    tcase_add_test(says, features_ops_are_those_of_the_table);
    tcase_add_loop_test(says, metrics_names_are_sorted_and_count, 0, NAMES);
    tcase_add_test(says, metrics_that_are_not_known_are_no_numbers);
    tcase_add_test(says, trace_keeps_the_last_calls);
    SRunner *runner = srunner_create(s);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
