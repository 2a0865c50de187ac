/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_cuda_launch.c -- launches, queues and faults of backend cuda, on a scripted
 * driver without a GPU. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/fake_cuda_suite.h"

#if HAVE_CUDA

/* ---- launches ---- */

typedef struct work {
    assay_tensor operands[3];
    assay_launch launch;
} work;

enum { N = 4 };

/* y = a + b of N floats, a = 1 and y = b = 0, b and y being one. */
static void make_work(assay_instance *instance, work *w)
{
    static float values[2][N] = {{1, 1, 1, 1}, {0, 0, 0, 0}};
    const int64_t n = N;

    memset(w, 0, sizeof *w);
    for (int i = 0; i < 3; i++) {
        OK(assay_tensor_host(NULL, ASSAY_F32, 1, &n, NULL, &w->operands[i]));
        w->operands[i].buffer =
            i == 2 ? w->operands[1].buffer : cuda_stage_make(instance, sizeof values[0]);
        if (i < 2)
            cuda_stage_put(instance, w->operands[i].buffer, values[i], sizeof values[0]);
    }
    w->launch = (assay_launch){
        .struct_size = sizeof w->launch, .operand_count = 3, .operands = w->operands};
}

static void check_work(assay_instance *instance, const work *w, float want)
{
    float y[N];

    cuda_stage_get(instance, y, w->operands[2].buffer, sizeof y);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(y[i], want);
}

static assay_status run(assay_instance *instance, work *w, assay_kernel_fn kernel,
                        assay_queue *queue)
{
    w->launch.queue = queue;
    return B->launch(instance, kernel, &w->launch);
}

START_TEST(launches_reach_the_device)
{
    assay_instance *instance = cuda_stage_open("");
    work w;

    make_work(instance, &w);
    OK(run(instance, &w, fake_row_add, NULL));
    OK(run(instance, &w, fake_row_add, NULL));
    OK(B->synchronize(instance));
    check_work(instance, &w, 2.0f);
    ck_assert_uint_eq(cuda_stage_calls("cuModuleLoadData"), 1);
    ck_assert_uint_eq(cuda_stage_calls("cuModuleGetFunction"), 1);
    OK(B->free(instance, w.operands[0].buffer));
    cuda_stage_fails(run(instance, &w, fake_row_add, NULL), ASSAY_FREED, "freed before");
    OK(B->free(instance, w.operands[1].buffer)); /* the refused one pins nothing */
    cuda_stage_close(instance);
}
END_TEST

START_TEST(launches_of_host_memory_are_refused_by_operand)
{
    assay_instance *instance = cuda_stage_open("");
    float host[N] = {0};
    work w;

    make_work(instance, &w);
    w.operands[1].buffer = (assay_buffer){.at.host = host, .size_bytes = sizeof host};
    cuda_stage_fails(run(instance, &w, fake_row_add, NULL), ASSAY_UNSUPPORTED, "operand 1");
    w.operands[1].buffer.at.host = NULL;
    cuda_stage_fails(run(instance, &w, fake_row_add, NULL), ASSAY_INVALID, "operand 1");
    for (int i = 0; i < 3; i++)
        w.operands[i].dims[0] = 0; /* operands of nothing may be anywhere */
    OK(run(instance, &w, fake_row_grid, NULL));
    cuda_stage_close(instance);
}
END_TEST

START_TEST(launches_beyond_a_buffer_are_refused_by_operand)
{
    static _Alignas(8) unsigned char host[32];
    assay_instance *instance = cuda_stage_open("");
    assay_buffer wrapped;
    work w;

    make_work(instance, &w);
    w.operands[0].byte_offset = 4;
    cuda_stage_fails(run(instance, &w, fake_row_add, NULL), ASSAY_INVALID, "operand 0");
    w.operands[0].dims[0] = N - 1; /* now it ends where the buffer does */
    OK(run(instance, &w, fake_row_grid, NULL));
    w.operands[0].dims[0] = 0; /* nothing is anywhere */
    w.operands[0].byte_offset = 400;
    OK(run(instance, &w, fake_row_grid, NULL));
    w.operands[0].byte_offset = 0;
    w.operands[0].dims[0] = 2;
    w.operands[0].strides[0] = N;
    cuda_stage_fails(run(instance, &w, fake_row_add, NULL), ASSAY_INVALID, "beyond");
    OK(B->wrap(instance, host + 1, 24, &wrapped)); /* a kernel would fault there */
    w.operands[0].buffer = wrapped;
    cuda_stage_fails(run(instance, &w, fake_row_add, NULL), ASSAY_UNSUPPORTED, "not aligned");
    w.operands[0].byte_offset = 3;
    OK(run(instance, &w, fake_row_grid, NULL));
    OK(B->free(instance, wrapped)); /* the refused ones pin nothing */
    cuda_stage_close(instance);
}
END_TEST

static assay_status launch_grid(assay_instance *instance, fake_shape shape)
{
    const assay_launch launch = {.struct_size = sizeof launch};

    fake_row_shape = shape;
    return B->launch(instance, fake_row_grid, &launch);
}

START_TEST(grids_over_the_limits_are_refused)
{
    assay_instance *instance = cuda_stage_open("");

    OK(launch_grid(instance, (fake_shape){{0x7fffffff, 65535, 1}, {1024, 1, 1}, 0}));
    cuda_stage_fails(launch_grid(instance, (fake_shape){{0x80000000, 1, 1}, {1, 1, 1}, 0}),
                     ASSAY_UNSUPPORTED, "dimension 0");
    cuda_stage_fails(launch_grid(instance, (fake_shape){{1, 1, 65536}, {1, 1, 1}, 0}),
                     ASSAY_UNSUPPORTED, "dimension 2");
    cuda_stage_fails(launch_grid(instance, (fake_shape){{1, 1, 1}, {1, 1, 65}, 0}),
                     ASSAY_UNSUPPORTED, "65 invocations");
    cuda_stage_fails(launch_grid(instance, (fake_shape){{1, 1, 1}, {64, 32, 1}, 0}),
                     ASSAY_UNSUPPORTED, "2048 invocations");
    cuda_stage_fails(launch_grid(instance, (fake_shape){{1, 1, 1}, {0, 1, 1}, 0}),
                     ASSAY_UNSUPPORTED, "0 invocations");
    const size_t before = cuda_stage_calls("cuLaunchKernel");
    OK(launch_grid(instance, (fake_shape){{5, 0, 1}, {1, 1, 1}, 0}));
    ck_assert_uint_eq(cuda_stage_calls("cuLaunchKernel"), before); /* nothing to launch */
    cuda_stage_close(instance);
}
END_TEST

START_TEST(grids_opt_in_to_shared_memory)
{
    assay_instance *instance = cuda_stage_open("");
    fake_shape shape = {{1, 1, 1}, {1, 1, 1}, 48 * 1024 - 1024};

    OK(launch_grid(instance, shape)); /* with the 1,024 bytes of its own no opting in yet */
    ck_assert_uint_eq(cuda_stage_calls("cuFuncSetAttribute"), 0);
    shape.shared_bytes = 232448 - 1024;
    OK(launch_grid(instance, shape));
    ck_assert_uint_eq(cuda_stage_calls("cuFuncSetAttribute"), 1);
    shape.shared_bytes++;
    cuda_stage_fails(launch_grid(instance, shape), ASSAY_UNSUPPORTED, "shared memory");
    shape.shared_bytes = 0;
    cuda_stage_script("fail=cuLaunchKernel:1:701");
    cuda_stage_fails(launch_grid(instance, shape), ASSAY_UNSUPPORTED, "registers");
    cuda_stage_close(instance);
}
END_TEST

START_TEST(code_that_is_not_for_this_device_is_told)
{
    assay_instance *instance = cuda_stage_open("sm=75");
    const assay_launch launch = {.struct_size = sizeof launch};

    cuda_stage_fails(B->launch(instance, fake_row_foreign_code, &launch), ASSAY_UNSUPPORTED,
                     "sm_75");
    cuda_stage_fails(B->launch(instance, fake_row_lost_name, &launch), ASSAY_INVALID,
                     "no_such_function");
    cuda_stage_close(instance);
}
END_TEST

START_TEST(compiler_that_is_absent_is_told)
{
    assay_instance *instance = cuda_stage_open("");
    const assay_launch launch = {.struct_size = sizeof launch};

    fake_row_source = "extern \"C\" __global__ void made() {}";
    cuda_stage_fails(B->launch(instance, fake_row_compiled, &launch), ASSAY_UNAVAILABLE,
                     "no NVRTC");
    cuda_stage_close(instance);
}
END_TEST

/* Only where NVRTC is installed: it needs no driver. */
START_TEST(compiler_gives_code_or_its_words)
{
    const assay_launch launch = {.struct_size = sizeof launch};

    setenv("ASSAY_CUDA_NVRTC", "", 1); /* wherever it is */
    assay_instance *instance = cuda_stage_open("");
    fake_row_source = "extern \"C\" __global__ void made() { this is no code; }";
    const assay_status status = B->launch(instance, fake_row_compiled, &launch);
    if (status != ASSAY_UNAVAILABLE) {
        cuda_stage_fails(status, ASSAY_INVALID, "error");
        fake_row_source = "#include <cuda_fp16.h>\nextern \"C\" __global__ void made(int *p) "
                          "{ *p = VALUE; }";
        /* Machine code, which the scripted driver has no use for. */
        for (int i = 0; i < 2; i++)
            cuda_stage_fails(B->launch(instance, fake_row_compiled, &launch), ASSAY_UNSUPPORTED,
                             "made.cu");
        assay_metric list[64];
        size_t count = 0;
        OK(B->metrics(instance, list, 64, &count));
        for (size_t i = 0; i < count; i++)
            if (strcmp(list[i].name, "compilations_total") == 0)
                ck_assert_uint_eq(list[i].value, 1);
    }
    cuda_stage_close(instance);
}
END_TEST

START_TEST(workspace_grows_and_is_each_queues_own)
{
    assay_instance *instance = cuda_stage_open("");
    assay_launch launch = {.struct_size = sizeof launch};
    assay_queue *queue = NULL;

    fake_row_bytes = 1000;
    OK(B->launch(instance, fake_row_space, &launch));
    const uint64_t first = fake_row_space_at;
    fake_row_bytes = 10;
    OK(B->launch(instance, fake_row_space, &launch));
    ck_assert_uint_eq(fake_row_space_at, first);
    const size_t before = cuda_stage_calls("cuMemAlloc");
    fake_row_bytes = 1001;
    OK(B->launch(instance, fake_row_space, &launch));
    ck_assert_uint_eq(cuda_stage_calls("cuMemAlloc"), before + 1);
    const uint64_t own = fake_row_space_at;
    OK(B->queue_create(instance, &queue));
    launch.queue = queue;
    OK(B->launch(instance, fake_row_space, &launch));
    OK(B->queue_wait(instance, queue));
    ck_assert_uint_ne(fake_row_space_at, own);
    cuda_stage_close(instance); /* the queue with it */
}
END_TEST

/* ---- queues ---- */

static assay_queue *queue_for_work(assay_instance *instance, work *w)
{
    assay_queue *queue = NULL;

    make_work(instance, w);
    OK(B->queue_create(instance, &queue));
    return queue;
}

START_TEST(queues_run_in_order_and_pin)
{
    assay_instance *instance = cuda_stage_open("");
    work w;
    assay_queue *queue = queue_for_work(instance, &w);

    cuda_stage_script("hold");
    OK(run(instance, &w, fake_row_add, queue));
    cuda_stage_fails(B->free(instance, w.operands[0].buffer), ASSAY_PENDING, "still use");
    OK(B->queue_wait(instance, queue));
    check_work(instance, &w, 1.0f);
    for (int i = 0; i < 200; i++) /* more than a ring holds */
        OK(run(instance, &w, fake_row_add, queue));
    OK(B->flush(instance));
    check_work(instance, &w, 201.0f);
    OK(B->free(instance, w.operands[0].buffer));
    OK(B->free(instance, w.operands[1].buffer));
    OK(B->queue_destroy(instance, queue));
    cuda_stage_close(instance);
}
END_TEST

START_TEST(queues_let_go_of_what_has_ended_unasked)
{
    assay_instance *instance = cuda_stage_open("");
    work w;
    assay_queue *queue = queue_for_work(instance, &w);

    OK(run(instance, &w, fake_row_add, queue));
    OK(B->free(instance, w.operands[0].buffer)); /* it has ended, though nobody waited */
    cuda_stage_close(instance);
}
END_TEST

START_TEST(queues_tell_the_first_failure_once)
{
    assay_instance *instance = cuda_stage_open("");
    work w;
    assay_queue *queue = queue_for_work(instance, &w), *other = NULL;

    OK(B->queue_create(instance, &other));
    OK(run(instance, &w, fake_row_refuses, queue)); /* the queue's failure, not the call's */
    OK(run(instance, &w, fake_row_lost_name, queue));
    OK(run(instance, &w, fake_row_add, queue));
    cuda_stage_fails(B->queue_wait(instance, queue), ASSAY_NUMERIC, "the kernel says no");
    OK(B->queue_wait(instance, queue));
    check_work(instance, &w, 1.0f); /* later ones still ran */
    OK(run(instance, &w, fake_row_refuses, queue));
    OK(run(instance, &w, fake_row_refuses, other));
    cuda_stage_fails(B->flush(instance), ASSAY_NUMERIC, "no");
    cuda_stage_fails(B->synchronize(instance), ASSAY_NUMERIC, "no"); /* the other's */
    OK(B->flush(instance));
    cuda_stage_close(instance);
}
END_TEST

START_TEST(queues_keep_the_numbers_of_a_failure)
{
    assay_instance *instance = cuda_stage_open("");
    work w;
    assay_queue *queue = queue_for_work(instance, &w);

    cuda_stage_script("fail=cuLaunchKernel:1:304");
    OK(run(instance, &w, fake_row_add, queue));
    cuda_stage_fails(B->alloc(instance, 0, 0, &w.operands[0].buffer), ASSAY_INVALID, "0 bytes");
    cuda_stage_fails(B->queue_wait(instance, queue), ASSAY_DEVICE, "304");
    ck_assert_int_eq(cuda_stage_detail()->driver_code, 304);
    OK(run(instance, &w, fake_row_refuses, queue)); /* numbers of before are no numbers of it */
    cuda_stage_fails(B->queue_wait(instance, queue), ASSAY_NUMERIC, "no");
    ck_assert_int_eq(cuda_stage_detail()->driver_code, 0);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(queues_and_events_have_an_owner)
{
    assay_instance *one = cuda_stage_open(""), *two = cuda_stage_open("");
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    bool ready = false;
    work w;

    OK(B->queue_create(one, &queue));
    OK(B->event_create(one, &event));
    make_work(two, &w);
    cuda_stage_fails(B->queue_wait(two, queue), ASSAY_FOREIGN, "no queue");
    cuda_stage_fails(B->queue_destroy(two, queue), ASSAY_FOREIGN, "no queue");
    cuda_stage_fails(run(two, &w, fake_row_add, queue), ASSAY_FOREIGN, "no queue");
    cuda_stage_fails(B->event_wait(two, event), ASSAY_FOREIGN, "no event");
    cuda_stage_fails(B->event_ready(two, event, &ready), ASSAY_FOREIGN, "no event");
    cuda_stage_fails(B->event_destroy(two, event), ASSAY_FOREIGN, "no event");
    B->close(two);
    cuda_stage_close(one);
}
END_TEST

START_TEST(events_are_places_in_a_queue)
{
    assay_instance *instance = cuda_stage_open("ns=5000000");
    assay_queue *queue = NULL;
    assay_event *from = NULL, *to = NULL;
    bool ready = true;
    double ns = -1.0;
    work w;

    make_work(instance, &w);
    OK(B->queue_create(instance, &queue));
    OK(B->event_create(instance, &from));
    OK(B->event_create(instance, &to));
    cuda_stage_fails(B->event_wait(instance, from), ASSAY_INVALID, "never recorded");
    OK(B->event_record(instance, from, queue));
    OK(run(instance, &w, fake_row_add, queue));
    cuda_stage_script("hold");
    OK(B->event_record(instance, to, queue));
    OK(B->event_ready(instance, to, &ready));
    ck_assert(!ready);
    cuda_stage_fails(B->event_elapsed(instance, from, to, &ns), ASSAY_PENDING, "wait for it");
    cuda_stage_fails(B->event_record(instance, to, queue), ASSAY_PENDING, "wait for it");
    cuda_stage_fails(B->event_destroy(instance, to), ASSAY_PENDING, "wait for it");
    OK(B->event_wait(instance, to));
    OK(B->event_elapsed(instance, from, to, &ns));
    ck_assert_double_eq_tol(ns, 5e6, 1e3);
    OK(B->event_record(instance, to, NULL));
    OK(B->event_ready(instance, to, &ready));
    ck_assert(ready);
    OK(B->event_destroy(instance, to));
    cuda_stage_close(instance); /* the other and the queue with it */
}
END_TEST

/* Rounds of a thread that has a queue and buffers of its own; NULL: all went well. */
static void *work_alone(void *cookie)
{
    assay_instance *instance = cookie;
    assay_queue *queue = NULL;
    uint32_t count = 0;

    if (B->queue_create(instance, &queue) != ASSAY_OK)
        return cookie;
    for (uint32_t round = 0; round < 50; round++) {
        assay_buffer b;
        if (B->alloc(instance, sizeof count, 0, &b) != ASSAY_OK)
            return cookie;
        const assay_transfer piece = {b, 0, &count, sizeof count};
        const assay_tensor operand = {.buffer = b, .dtype = ASSAY_F32, .rank = 1, .dims = {1}};
        const assay_launch launch = {.struct_size = sizeof launch,
                                     .operand_count = 1,
                                     .operands = &operand,
                                     .queue = round % 2 == 0 ? queue : NULL};
        count = round;
        if (B->upload(instance, &piece, 1) != ASSAY_OK ||
            B->launch(instance, fake_row_count, &launch) != ASSAY_OK ||
            B->queue_wait(instance, queue) != ASSAY_OK ||
            B->download(instance, &piece, 1) != ASSAY_OK || count != round + 1 ||
            B->free(instance, b) != ASSAY_OK)
            return cookie;
    }
    return B->queue_destroy(instance, queue) == ASSAY_OK ? NULL : cookie;
}

START_TEST(threads_share_an_instance)
{
    enum { THREADS = 4 };
    assay_instance *instance = cuda_stage_open("");
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work_alone, instance), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        ck_assert_msg(failed == NULL, "%s", cuda_stage_text());
    }
    ck_assert_uint_eq(cuda_stage_calls("cuCtxCreate"), 1); /* whoever came first made it */
    cuda_stage_close(instance);
}
END_TEST

/* ---- faults ---- */

static void poison(assay_instance *instance, assay_queue *queue)
{
    const assay_launch launch = {.struct_size = sizeof launch, .queue = queue};

    OK(B->launch(instance, fake_row_bad, &launch));
}

START_TEST(faults_of_a_kernel_are_found_by_the_wait)
{
    assay_instance *instance = cuda_stage_open(""), *other = cuda_stage_open("");
    assay_instance_state state;
    assay_buffer b = cuda_stage_make(instance, 8), more;
    char bytes[8] = "";
    const assay_transfer piece = {b, 0, bytes, 8};

    cuda_stage_make(other, 8);
    poison(instance, NULL);
    cuda_stage_fails(B->synchronize(instance), ASSAY_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS");
    ck_assert_int_eq(cuda_stage_detail()->driver_code, 700);
    ck_assert_uint_eq(cuda_stage_detail()->generation, 1);
    OK(B->state(instance, &state));
    ck_assert_uint_eq(state.is_lost, 1);
    cuda_stage_fails(B->upload(instance, &piece, 1), ASSAY_DEVICE_LOST, "upload");
    cuda_stage_fails(B->download(instance, &piece, 1), ASSAY_DEVICE_LOST, "download");
    cuda_stage_fails(B->alloc(instance, 8, 0, &more), ASSAY_DEVICE_LOST, "alloc");
    cuda_stage_fails(B->fill(instance, b, 0, 8, 0), ASSAY_DEVICE_LOST, "fill");
    OK(B->free(instance, b)); /* who cleans up need not recover first */
    OK(B->state(other, &state));
    ck_assert_uint_eq(state.is_lost, 0);
    cuda_stage_make(other, 8);
    B->close(other);
    cuda_stage_close(instance);
}
END_TEST

/* All of which the driver's header says that any further work returns the same error. */
START_TEST(faults_that_poison_are_losses)
{
    static const int codes[] = {214, 220, 226, 700, 702, 709, 710, 714,
                                715, 716, 717, 718, 719, 721, 810, 911};
    assay_instance *instance = cuda_stage_open("");
    assay_instance_state state;
    char script[64];

    ck_assert_uint_eq(sizeof codes / sizeof *codes, 16);
    cuda_stage_make(instance, 8);
    snprintf(script, sizeof script, "fail=cuStreamSynchronize:1:%d", codes[_i]);
    cuda_stage_script(script);
    cuda_stage_fails(B->synchronize(instance), ASSAY_DEVICE_LOST, "is lost");
    OK(B->recover(instance));
    OK(B->state(instance, &state));
    ck_assert(state.is_lost == 0 && state.generation == 2);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(faults_in_a_queue_are_told_by_it)
{
    assay_instance *instance = cuda_stage_open("");
    assay_queue *queue = NULL;
    assay_event *event = NULL;

    OK(B->queue_create(instance, &queue));
    OK(B->event_create(instance, &event));
    poison(instance, queue);
    cuda_stage_fails(B->queue_wait(instance, queue), ASSAY_DEVICE_LOST, "is lost");
    cuda_stage_fails(B->event_record(instance, event, queue), ASSAY_DEVICE_LOST, "event_record");
    OK(B->queue_destroy(instance, queue));
    OK(B->event_destroy(instance, event));
    cuda_stage_close(instance);
}
END_TEST

START_TEST(recover_takes_the_device_anew)
{
    assay_instance *instance = cuda_stage_open("");
    assay_instance_state state;
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    assay_buffer old = cuda_stage_make(instance, 8), now;
    work w;

    OK(B->recover(instance)); /* it is not lost */
    OK(B->state(instance, &state));
    ck_assert_uint_eq(state.generation, 1);
    OK(B->queue_create(instance, &queue));
    OK(B->event_create(instance, &event));
    poison(instance, NULL);
    cuda_stage_fails(B->synchronize(instance), ASSAY_DEVICE_LOST, "lost");
    OK(B->recover(instance));
    OK(B->state(instance, &state));
    ck_assert(state.is_lost == 0 && state.generation == 2 && state.live_buffers == 0);
    now = cuda_stage_make(instance, 8);
    cuda_stage_fails(B->fill(instance, old, 0, 8, 1), ASSAY_GENERATION, "generation 2");
    cuda_stage_fails(B->copy(instance, now, 0, old, 0, 8), ASSAY_GENERATION, "recovered");
    cuda_stage_fails(B->free(instance, old), ASSAY_GENERATION, "recovered");
    cuda_stage_fails(B->queue_wait(instance, queue), ASSAY_GENERATION, "queue");
    cuda_stage_fails(B->event_record(instance, event, NULL), ASSAY_GENERATION, "event");
    OK(B->flush(instance)); /* passes over what is void */
    OK(B->queue_destroy(instance, queue));
    OK(B->event_destroy(instance, event));
    make_work(instance, &w);
    OK(run(instance, &w, fake_row_add, NULL)); /* its code is loaded again */
    check_work(instance, &w, 1.0f);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(recover_that_fails_can_be_tried_again)
{
    assay_instance *instance = cuda_stage_open("");
    assay_instance_state state;

    cuda_stage_make(instance, 8);
    poison(instance, NULL);
    cuda_stage_fails(B->flush(instance), ASSAY_DEVICE_LOST, "lost");
    cuda_stage_script("fail=cuCtxCreate:1:46");
    cuda_stage_fails(B->recover(instance), ASSAY_DEVICE, "new process");
    OK(B->state(instance, &state));
    ck_assert_uint_eq(state.is_lost, 1);
    OK(B->recover(instance));
    cuda_stage_make(instance, 8);
    cuda_stage_close(instance);
}
END_TEST

/* Every call that the way of a launch makes, failing once: told, and nothing is left behind. */
START_TEST(failures_of_any_call_leave_nothing_behind)
{
    static const char *const calls[] = {
        "cuCtxCreate",         "cuStreamCreate",    "cuMemAlloc",          "cuMemHostAlloc",
        "cuEventCreate",       "cuMemcpyHtoDAsync", "cuStreamSynchronize", "cuModuleLoadData",
        "cuModuleGetFunction", "cuLaunchKernel",    "cuMemcpyDtoHAsync",   "cuEventRecord"};
    char script[96] = "fail=";
    assay_instance *instance = cuda_stage_open("");
    assay_buffer b = {0};
    float values[N] = {0};
    assay_status status;

    strcat(strcat(script, calls[_i]), ":1:304"); /* an error of the operating system's */
    cuda_stage_script(script);
    status = B->alloc(instance, sizeof values, 0, &b);
    const assay_transfer piece = {b, 0, values, sizeof values};
    const assay_tensor operand = {.buffer = b, .dtype = ASSAY_F32, .rank = 1, .dims = {N}};
    const assay_launch launch = {
        .struct_size = sizeof launch, .operand_count = 1, .operands = &operand};
    if (status == ASSAY_OK)
        status = B->upload(instance, &piece, 1);
    if (status == ASSAY_OK)
        status = B->launch(instance, fake_row_count, &launch);
    if (status == ASSAY_OK)
        status = B->download(instance, &piece, 1);
    if (status == ASSAY_OK) { /* only what takes turns records while staging */
        assay_event *event = NULL;
        OK(B->event_create(instance, &event));
        status = B->event_record(instance, event, NULL);
    }
    cuda_stage_fails(status, ASSAY_DEVICE, "304");
    ck_assert_int_eq(cuda_stage_detail()->driver_code, 304);
    OK(B->alloc(instance, sizeof values, 0, &b)); /* one failure is no loss */
    cuda_stage_put(instance, b, values, sizeof values);
    cuda_stage_close(instance);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, launches_reach_the_device);
    tcase_add_test(t, launches_of_host_memory_are_refused_by_operand);
    tcase_add_test(t, launches_beyond_a_buffer_are_refused_by_operand);
    tcase_add_test(t, grids_over_the_limits_are_refused);
    tcase_add_test(t, grids_opt_in_to_shared_memory);
    tcase_add_test(t, code_that_is_not_for_this_device_is_told);
    tcase_add_test(t, compiler_that_is_absent_is_told);
    tcase_add_test(t, compiler_gives_code_or_its_words);
    tcase_add_test(t, workspace_grows_and_is_each_queues_own);
    tcase_add_test(t, queues_run_in_order_and_pin);
    tcase_add_test(t, queues_let_go_of_what_has_ended_unasked);
    tcase_add_test(t, queues_tell_the_first_failure_once);
    tcase_add_test(t, queues_keep_the_numbers_of_a_failure);
    tcase_add_test(t, queues_and_events_have_an_owner);
    tcase_add_test(t, events_are_places_in_a_queue);
    tcase_add_test(t, threads_share_an_instance);
    tcase_add_test(t, faults_of_a_kernel_are_found_by_the_wait);
    tcase_add_loop_test(t, faults_that_poison_are_losses, 0, 16);
    tcase_add_test(t, faults_in_a_queue_are_told_by_it);
    tcase_add_test(t, recover_takes_the_device_anew);
    tcase_add_test(t, recover_that_fails_can_be_tried_again);
    tcase_add_loop_test(t, failures_of_any_call_leave_nothing_behind, 0, 12);
}

#endif

int main(void)
{
    return cuda_suite_run("cuda_launch", add_tests);
}
