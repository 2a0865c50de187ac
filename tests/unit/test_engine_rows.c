/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_engine_rows.c -- engines: what they say of themselves and of the host, calls on
 * one that is closed, ends that wait, kernels that are registered meanwhile.
 *
 * Tests are named after the rows of docs/testing.md, like those of test_engine.c. */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/sequence.h"
#include "tests/support/engine_case.h"
#include "tests/support/plugin_case.h"
#include "tests/support/rows.h"

static const char *const names[] = {"ref", "fake", "cpu"};
enum { NAMES = 3 };

static assay_context *context;

static void setup(void)
{
    setenv("ASSAY_FAKE", "", 1);
    context = engine_context();
}

static void teardown(void)
{
    assay_close(&context);
}

/* ---- identity ---- */

/* Two engines of one backend are one and the same to who asks what they are, and share nothing. */
START_TEST(identity_of_two_engines_is_one)
{
    assay_engine *e = engine_create(context, names[_i], NULL);
    assay_engine *twin = engine_create(context, names[_i], NULL);
    char text[256], other[256];
    assay_instance_state state;

    ck_assert_str_eq(assay_engine_version(e), plugin_load(names[_i])->version);
    ck_assert_str_eq(assay_engine_name(e), assay_engine_name(twin));
    ck_assert_str_eq(assay_engine_version(e), assay_engine_version(twin));
    assay_engine_describe(e, text, sizeof text);
    assay_engine_describe(twin, other, sizeof other);
    ck_assert_str_eq(text, other);
    ck_assert_int_eq(assay_engine_init(e, 0), ASSAY_OK);
    ck_assert(!assay_engine_is_initialized(twin));
    ck_assert_int_eq(assay_engine_init(twin, 0), ASSAY_OK);
    engine_alloc(e, 16);
    assay_engine_describe(e, text, sizeof text);
    ck_assert_msg(strstr(text, ": initialized, device 0, generation 1, 1 live buffers of 16 bytes, "
                               "0 calls") != NULL,
                  "%s", text);
    ck_assert_int_eq(assay_engine_state(twin, &state), ASSAY_OK);
    ck_assert_uint_eq(state.live_buffers, 0);
    assay_engine_destroy(&e);
    engine_alloc(twin, 16); /* goes on */
    assay_engine_destroy(&twin);
}
END_TEST

/* ---- devices and what they are ---- */

static void expect_cpu_name(const char *name)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "model name", 10) == 0) {
            line[strcspn(line, "\n")] = '\0';
            ck_assert_msg(strstr(line, name) != NULL, "'%s' is not in '%s'", name, line);
            break;
        }
    fclose(file);
}

static uint64_t reported(int name)
{
    const long value = sysconf(name);

    return value > 0 ? (uint64_t)value : 0;
}

/* Reported is what the system says; what a CPU has not is 0, and no rate is made up. */
START_TEST(profile_is_that_of_the_host)
{
    assay_engine *e = engine_open(context, _i == 0 ? "ref" : "cpu", NULL);
    const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assay_device_profile p;
    assay_device_info info;
    size_t count = 0;

    memset(&p, 0x5a, sizeof p);
    ck_assert_int_eq(assay_engine_profile(e, &p), ASSAY_OK);
    ck_assert_uint_eq(p.dtypes, (1u << ASSAY_DTYPE_COUNT) - 1);
    ck_assert_uint_eq(p.memory_bytes, memory);
    ck_assert_uint_eq(p.l1_cache_bytes, reported(_SC_LEVEL1_DCACHE_SIZE));
    ck_assert_uint_eq(p.l2_cache_bytes, reported(_SC_LEVEL2_CACHE_SIZE));
    ck_assert_uint_eq(p.cache_line_bytes, reported(_SC_LEVEL1_DCACHE_LINESIZE));
    ck_assert_uint_eq(p.max_int_bits, 64);
    ck_assert(p.granularity_bits == 8 && p.alignment_bytes == 64);
    ck_assert_uint_ge(p.compute_units, 1);
    ck_assert(p.location == ASSAY_LOCATION_CPU && p.memory == ASSAY_MEMORY_HOST);
    ck_assert_uint_eq(p.paths[ASSAY_LOCATION_CUDA], 0);
    ck_assert(p.subgroup_size == 0 && p.max_shared_bytes == 0 && p.registers_per_thread == 0);
    ck_assert(p.compute_capability[0] == 0 && p.shared_banks == 0);
    ck_assert(isnan(p.flops_per_ns) && isnan(p.bytes_per_ns)); /* there is no store */
    ck_assert_int_eq(assay_engine_devices(e, &info, 1, &count), ASSAY_OK);
    ck_assert_uint_eq(info.memory_bytes, memory);
    expect_cpu_name(info.name);
    assay_engine_destroy(&e);
}
END_TEST

START_TEST(devices_are_told_in_two_calls)
{
    assay_device_info info[3];
    size_t count = 0;

    setenv("ASSAY_FAKE", "devices=2", 1);
    assay_engine *e = engine_create(context, "fake", NULL);
    ck_assert_int_eq(assay_engine_devices(e, NULL, 0, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 2);
    memset(info, 0x5a, sizeof info);
    ck_assert_int_eq(assay_engine_devices(e, info, 1, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 2); /* as many as there are, whatever there is room for */
    ck_assert_uint_eq(info[1].struct_size, 0x5a5a5a5a);
    ck_assert_int_eq(assay_engine_devices(e, info, 3, &count), ASSAY_OK);
    ck_assert_uint_ne(info[1].struct_size, 0x5a5a5a5a);
    ck_assert_uint_eq(info[2].struct_size, 0x5a5a5a5a);
    engine_refuses(assay_engine_init(e, 2), ASSAY_INVALID, "it has 2");
    ck_assert_int_eq(assay_engine_init(e, 1), ASSAY_OK);
    assay_engine_destroy(&e);
}
END_TEST

/* ---- memory ---- */

START_TEST(alloc_beyond_the_largest_buffer_says_the_largest)
{
    assay_engine *e = engine_open(context, names[_i], NULL);
    assay_device_profile p;
    assay_error_detail detail;
    assay_buffer b;

    ck_assert_int_eq(assay_engine_profile(e, &p), ASSAY_OK);
    engine_refuses(assay_engine_alloc(e, p.max_buffer_bytes + 1, 0, &b), ASSAY_NOMEM,
                   "use several");
    assay_last_detail(&detail);
    ck_assert_uint_eq(detail.requested_bytes, p.max_buffer_bytes + 1);
    ck_assert_uint_eq(detail.available_bytes, p.max_buffer_bytes);
    assay_engine_destroy(&e);
}
END_TEST

/* ---- closed ---- */

#define CLOSED(call) engine_refuses((call), ASSAY_NOT_INITIALIZED, "not initialized")

static void closed_to_calls(assay_engine *e)
{
    static const int64_t one = 1;
    const assay_place p = {.buffer = {.owner = 1, .size_bytes = 4}};
    const assay_gemm_args gemm = {.struct_size = sizeof gemm, .dtype = ASSAY_F32};
    const assay_batched_gemm_args batch = {.struct_size = sizeof batch, .one = gemm};
    const assay_conv2d_args conv = {.struct_size = sizeof conv, .dtype = ASSAY_F32};
    const assay_attention_args attention = {.struct_size = sizeof attention, .dtype = ASSAY_F32};
    const assay_axis_args axis = {
        .struct_size = sizeof axis, .dtype = ASSAY_F32, .rank = 1, .shape = &one};
    const assay_rows_args rows = {.struct_size = sizeof rows, .dtype = ASSAY_F32};
    const assay_step step = {.problem = NULL};
    const assay_sequence sequence = {.struct_size = sizeof sequence};
    assay_tile tile;

    CLOSED(assay_gemm(e, &gemm, NULL));
    CLOSED(assay_batched_gemm(e, &batch, NULL));
    CLOSED(assay_gemm_mixed_precision(e, ASSAY_F16, &gemm, NULL));
    CLOSED(assay_conv2d_forward(e, &conv, NULL));
    CLOSED(assay_conv2d_backward_data(e, &conv, NULL));
    CLOSED(assay_conv2d_backward_filter(e, &conv, NULL));
    CLOSED(assay_attention(e, &attention, NULL));
    CLOSED(assay_unary(e, ASSAY_UNARY_EXP, ASSAY_F32, p, p, 1, NULL));
    CLOSED(assay_binary(e, ASSAY_BINARY_ADD, ASSAY_F32, p, p, p, 1, NULL));
    CLOSED(assay_reduce(e, ASSAY_REDUCE_SUM, &axis, NULL));
    CLOSED(assay_softmax(e, &axis, NULL));
    CLOSED(assay_gather(e, &rows, NULL));
    CLOSED(assay_scatter(e, &rows, NULL));
    CLOSED(assay_recommended_tile(e, 1, 1, 1, &tile));
    CLOSED(assay_op_run(e, &step, NULL));
    CLOSED(assay_sequence_run(e, &sequence, NULL, NULL));
}

static void closed_to_moves(assay_engine *e, assay_engine *open)
{
    const assay_buffer b = {.owner = 1, .size_bytes = 4};
    assay_transfer_cost cost = {.struct_size = sizeof cost};
    void *host = NULL;

    CLOSED(assay_engine_host_alloc(e, 1, &host));
    CLOSED(assay_engine_host_free(e, &cost));
    CLOSED(assay_engine_copy_from(e, b, 0, open, b, 0, 1, NULL));
    CLOSED(assay_engine_copy_from(open, b, 0, e, b, 0, 1, NULL));
    CLOSED(assay_engine_upload_cost(e, NULL, 1, &cost));
    CLOSED(assay_engine_download_cost(e, NULL, 1, &cost));
    CLOSED(assay_engine_pair_cost(e, open, 1, &cost));
    CLOSED(assay_engine_pair_cost(open, e, 1, &cost));
    ck_assert_ptr_null(host);
}

/* Those that test_engine.c does not try. */
START_TEST(closed_engines_take_no_call)
{
    assay_engine *e = engine_create(context, names[_i], NULL);
    assay_engine *open = engine_open(context, names[_i], NULL);

    closed_to_calls(e);
    closed_to_moves(e, open);
    ck_assert_int_eq(assay_engine_init(e, 0), ASSAY_OK);
    ck_assert_int_eq(assay_engine_shutdown(e), ASSAY_OK);
    closed_to_calls(e);
    closed_to_moves(e, open);
    assay_engine_destroy(&open);
    assay_engine_destroy(&e);
}
END_TEST

/* ---- nothing given ---- */

static void no_arguments(assay_engine *e)
{
    engine_refuses(assay_batched_gemm(e, NULL, NULL), ASSAY_INVALID, "no arguments");
    engine_refuses(assay_gemm_mixed_precision(e, ASSAY_F16, NULL, NULL), ASSAY_INVALID,
                   "no arguments");
    engine_refuses(assay_conv2d_forward(e, NULL, NULL), ASSAY_INVALID, "no arguments");
    engine_refuses(assay_conv2d_backward_data(e, NULL, NULL), ASSAY_INVALID, "no arguments");
    engine_refuses(assay_conv2d_backward_filter(e, NULL, NULL), ASSAY_INVALID, "no arguments");
    engine_refuses(assay_attention(e, NULL, NULL), ASSAY_INVALID, "no arguments");
    engine_refuses(assay_reduce(e, ASSAY_REDUCE_SUM, NULL, NULL), ASSAY_INVALID, "no arguments");
    engine_refuses(assay_softmax(e, NULL, NULL), ASSAY_INVALID, "no arguments");
    engine_refuses(assay_gather(e, NULL, NULL), ASSAY_INVALID, "no arguments");
    engine_refuses(assay_scatter(e, NULL, NULL), ASSAY_INVALID, "no arguments");
    engine_refuses(assay_sequence_run(e, NULL, NULL, NULL), ASSAY_INVALID, "no arguments");
    engine_refuses(assay_op_run(e, NULL, NULL), ASSAY_INVALID, "no step");
    engine_refuses(assay_engine_inject(e, NULL), ASSAY_INVALID, "no fault");
}

/* NULL in the place of what must be there is bad input like any other. */
START_TEST(null_handles_and_names_are_refused)
{
    assay_engine *e = engine_open(context, "ref", NULL), *none = NULL;
    const assay_buffer nothing = {.owner = 0}, b = engine_alloc(e, 16);
    const assay_place p = {.buffer = b}, q = {.buffer = nothing};
    assay_buffer out;
    char host[16] = "";
    double ns;
    bool yes;

    engine_refuses(assay_engine_create(context, NULL, NULL, &none), ASSAY_INVALID, "no backend");
    engine_refuses(assay_engine_create(NULL, "ref", NULL, &none), ASSAY_INVALID, "no context");
    ck_assert_ptr_null(none);
    no_arguments(e);
    engine_refuses(assay_engine_free(e, nothing), ASSAY_INVALID, "not made by alloc");
    engine_refuses(assay_engine_upload_at(e, nothing, 0, host, 4), ASSAY_INVALID, "outside");
    engine_refuses(assay_engine_copy(e, nothing, 0, b, 0, 4), ASSAY_INVALID, "destination");
    engine_refuses(assay_engine_copy(e, b, 0, nothing, 0, 4), ASSAY_INVALID, "source");
    engine_refuses(assay_engine_fill(e, nothing, 0, 4, 1), ASSAY_INVALID, "outside");
    engine_refuses(assay_engine_wrap(e, NULL, 4, &out), ASSAY_INVALID, "NULL");
    engine_refuses(assay_binary(e, ASSAY_BINARY_ADD, ASSAY_F32, p, q, p, 4, NULL), ASSAY_INVALID,
                   "operand 1 has no memory");
    engine_refuses(assay_engine_queue_wait(e, NULL), ASSAY_FOREIGN, "no queue");
    engine_refuses(assay_engine_event_record(e, NULL, NULL), ASSAY_FOREIGN, "no event");
    engine_refuses(assay_engine_event_wait(e, NULL), ASSAY_FOREIGN, "no event");
    engine_refuses(assay_engine_event_ready(e, NULL, &yes), ASSAY_FOREIGN, "no event");
    engine_refuses(assay_engine_event_elapsed(e, NULL, NULL, &ns), ASSAY_FOREIGN, "no event");
    assay_engine_destroy(&e);
}
END_TEST

/* ---- ends that wait ---- */

static assay_status add_to(assay_engine *e, assay_queue *queue, assay_place a, assay_place y)
{
    assay_call call = {.struct_size = sizeof call, .queue = queue};

    return assay_binary(e, ASSAY_BINARY_ADD, ASSAY_F32, a, a, y, 4, &call);
}

typedef struct queued {
    assay_engine *engine;
    assay_queue *queue;
    float x[4], y[4];
    assay_place in, out;
} queued;

static void open_queued(queued *q, int name)
{
    *q = (queued){.engine = engine_open(context, names[name], NULL), .x = {1, 2, 3, 4}};
    ck_assert_int_eq(assay_engine_queue_create(q->engine, &q->queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_wrap(q->engine, q->x, sizeof q->x, &q->in.buffer), ASSAY_OK);
    ck_assert_int_eq(assay_engine_wrap(q->engine, q->y, sizeof q->y, &q->out.buffer), ASSAY_OK);
}

static void plan(assay_engine *e, assay_fault_kind kind)
{
    const assay_fault fault = {
        .struct_size = sizeof fault, .kind = kind, .times = 1, .delay_ns = 50000000};

    ck_assert_int_eq(assay_engine_inject(e, &fault), ASSAY_OK);
}

/* What was queued has run when shutdown returns, and the memory is the caller's again. */
START_TEST(shutdown_waits_for_what_is_queued)
{
    queued q;

    open_queued(&q, _i);
    plan(q.engine, ASSAY_FAULT_DELAY);
    ck_assert_int_eq(add_to(q.engine, q.queue, q.in, q.out), ASSAY_OK);
    ck_assert_int_eq(assay_engine_shutdown(q.engine), ASSAY_OK);
    ck_assert(q.y[0] == 2 && q.y[3] == 8);
    assay_engine_destroy(&q.engine);
}
END_TEST

/* Each of them is the last that could tell. */
START_TEST(ends_tell_what_failed_in_a_queue)
{
    queued q;

    open_queued(&q, _i);
    plan(q.engine, ASSAY_FAULT_LAUNCH);
    ck_assert_int_eq(add_to(q.engine, q.queue, q.in, q.out), ASSAY_OK);
    engine_refuses(assay_engine_synchronize(q.engine), ASSAY_DEVICE, "as it was asked to");
    ck_assert_int_eq(assay_engine_synchronize(q.engine), ASSAY_OK);
    plan(q.engine, ASSAY_FAULT_LAUNCH);
    ck_assert_int_eq(add_to(q.engine, q.queue, q.in, q.out), ASSAY_OK);
    engine_refuses(assay_engine_shutdown(q.engine), ASSAY_DEVICE, "as it was asked to");
    ck_assert(!assay_engine_is_initialized(q.engine));
    ck_assert(q.y[0] == 0);
    ck_assert_int_eq(assay_engine_shutdown(q.engine), ASSAY_OK);
    assay_engine_destroy(&q.engine);
}
END_TEST

/* ---- a device that is not lost, a trace from the start ---- */

/* Buffers, queues and events from before go on. */
START_TEST(recover_of_a_device_that_is_there_changes_nothing)
{
    assay_instance_state state;
    assay_event *event = NULL;
    queued q;

    open_queued(&q, _i);
    ck_assert_int_eq(assay_engine_event_create(q.engine, &event), ASSAY_OK);
    ck_assert_int_eq(assay_engine_recover(q.engine), ASSAY_OK);
    ck_assert_int_eq(assay_engine_state(q.engine, &state), ASSAY_OK);
    ck_assert(state.generation == 1 && state.live_buffers == 2);
    ck_assert_int_eq(add_to(q.engine, q.queue, q.in, q.out), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_record(q.engine, event, q.queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_wait(q.engine, event), ASSAY_OK);
    ck_assert(q.y[0] == 2 && q.y[3] == 8);
    assay_engine_destroy(&q.engine);
}
END_TEST

START_TEST(trace_is_on_from_the_start_where_asked_for)
{
    static const char *const asked[] = {"1", "0", ""};
    assay_trace_event event;

    for (int i = 0; i < 3; i++) {
        setenv("ASSAY_TRACE", asked[i], 1);
        assay_engine *e = engine_open(context, "ref", NULL);
        engine_alloc(e, 16);
        ck_assert_uint_eq(assay_engine_trace_read(e, &event, 1), i == 0 ? 1 : 0);
        if (i == 0)
            ck_assert_str_eq(event.what, "alloc");
        assay_engine_destroy(&e);
    }
    unsetenv("ASSAY_TRACE");
}
END_TEST

/* ---- kernels registered meanwhile ---- */

static atomic_bool is_over;
static atomic_int wrong, rounds;

static void *add_all_the_time(void *cookie)
{
    assay_engine *e = cookie;
    assay_call_site site = {0};

    while (!atomic_load(&is_over)) {
        float x[4] = {1, 2, 3, 4}, y[4] = {0};
        const assay_place in = {.buffer = {.at.host = x, .size_bytes = sizeof x}};
        const assay_place out = {.buffer = {.at.host = y, .size_bytes = sizeof y}};
        assay_execution record = {.struct_size = sizeof record};
        assay_call call = {.struct_size = sizeof call, .record = &record, .site = &site};
        if (assay_binary(e, ASSAY_BINARY_ADD, ASSAY_F32, in, in, out, 4, &call) != ASSAY_OK ||
            y[0] != 2 || y[3] != 8 || strcmp(record.backend, assay_engine_name(e)) != 0)
            atomic_fetch_add(&wrong, 1);
        atomic_fetch_add(&rounds, 1);
    }
    assay_call_site_clear(&site);
    return NULL;
}

START_TEST(threads_call_while_kernels_are_registered)
{
    static assay_kernel_desc extra[24];
    static char titles[24][16];
    static assay_manifest more;
    assay_engine *e = engine_open(context, names[_i], NULL);
    pthread_t threads[3];

    more = rows_manifest("more");
    atomic_store(&is_over, false);
    atomic_store(&wrong, 0);
    atomic_store(&rounds, 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add_all_the_time, e), 0);
    for (int i = 0; i < 24; i++) {
        const int before = atomic_load(&rounds);
        snprintf(titles[i], sizeof titles[i], "k%d", i);
        extra[i] = rows_desc(titles[i], ASSAY_OP_add, ASSAY_F32, 0); /* better than all others */
        const assay_binding row = rows_binding(&more, &extra[i], 9);
        ck_assert_int_eq(assay_table_register(assay_context_table(context), &row, 1), ASSAY_OK);
        while (atomic_load(&rounds) < before + 3)
            (void)sched_yield();
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(atomic_load(&wrong), 0);
    assay_engine_destroy(&e);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("engine_rows");
    TCase *all = tcase_create("rows");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_loop_test(all, identity_of_two_engines_is_one, 0, NAMES);
    tcase_add_loop_test(all, profile_is_that_of_the_host, 0, 2);
    tcase_add_test(all, devices_are_told_in_two_calls);
    tcase_add_loop_test(all, alloc_beyond_the_largest_buffer_says_the_largest, 0, NAMES);
    tcase_add_loop_test(all, closed_engines_take_no_call, 0, NAMES);
    tcase_add_test(all, null_handles_and_names_are_refused);
    tcase_add_loop_test(all, shutdown_waits_for_what_is_queued, 0, NAMES - 1);
    tcase_add_loop_test(all, ends_tell_what_failed_in_a_queue, 0, NAMES - 1);
    tcase_add_loop_test(all, recover_of_a_device_that_is_there_changes_nothing, 0, NAMES - 1);
    tcase_add_test(all, trace_is_on_from_the_start_where_asked_for);
    tcase_add_loop_test(all, threads_call_while_kernels_are_registered, 0, NAMES);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
