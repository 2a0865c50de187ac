/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_traps_handles.c -- traps 9 and 12 of docs/testing.md: handles that are another
 * engine's, freed, of before a recover or in use, by every call that takes one; features, each that
 * is claimed by what it would do, each other by its refusal. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "assay/sequence.h"
#include "runtime/backend_slots.h"
#include "tests/support/engine_case.h"
#include "tests/support/plugin_case.h"

enum { N = 16, BYTES = N * 4, PLACES = 4 };

/* The last one has memory that the host does not reach. */
static const struct {
    const char *backend, *script;
} where[PLACES] = {{"ref", ""}, {"fake", ""}, {"fake", "discrete=1"}, {"cpu", ""}};

static assay_context *context;
static assay_engine *engine;
static assay_problem add;

static void open_engine(int place)
{
    setenv("ASSAY_FAKE", where[place].script, 1);
    context = engine_context();
    engine = engine_open(context, where[place].backend, NULL);
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_add, ASSAY_F32, &add), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&add, "n", N), ASSAY_OK);
}

static void teardown(void)
{
    assay_engine_destroy(&engine);
    assay_close(&context);
}

static assay_buffer filled(assay_engine *e, uint8_t value)
{
    assay_buffer b = engine_alloc(e, BYTES);

    ck_assert_int_eq(assay_engine_fill(e, b, 0, BYTES, value), ASSAY_OK);
    return b;
}

static void holds(assay_engine *e, assay_buffer b, uint8_t value)
{
    uint8_t bytes[BYTES];

    ck_assert_int_eq(assay_engine_download(e, bytes, b, BYTES), ASSAY_OK);
    for (int i = 0; i < BYTES; i++)
        ck_assert_msg(bytes[i] == value, "byte %d is %d", i, bytes[i]);
}

static assay_tensor vector(assay_buffer b)
{
    const int64_t n = N;
    assay_tensor t;

    ck_assert_int_eq(assay_tensor_host(NULL, ASSAY_F32, 1, &n, NULL, &t), ASSAY_OK);
    t.buffer = b;
    return t;
}

static assay_status sum(assay_buffer a, assay_buffer b, assay_buffer y, assay_queue *queue)
{
    assay_call call = {.struct_size = sizeof call, .queue = queue};

    return assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F32, (assay_place){.buffer = a},
                        (assay_place){.buffer = b}, (assay_place){.buffer = y}, N, &call);
}

/* ---- 9: handles ---- */

#define REFUSED(call) engine_refuses((call), wanted, says)

static void refused_by_transfers(assay_buffer bad, assay_buffer good, assay_status wanted,
                                 const char *says)
{
    uint8_t host[BYTES];
    const assay_transfer pieces[2] = {{good, 0, host, BYTES}, {bad, 0, host, 1}};
    const assay_transfer none = {bad, 0, host, 0};

    memset(host, 0x77, sizeof host);
    REFUSED(assay_engine_upload(engine, bad, host, BYTES));
    REFUSED(assay_engine_upload_at(engine, bad, 4, host, 4));
    REFUSED(assay_engine_upload_many(engine, pieces, 2));
    REFUSED(assay_engine_upload_many(engine, &none, 1));
    REFUSED(assay_engine_download(engine, host, bad, BYTES));
    REFUSED(assay_engine_download_at(engine, host, bad, 4, 4));
    REFUSED(assay_engine_download_many(engine, pieces, 2));
    for (int i = 0; i < BYTES; i++)
        ck_assert_int_eq(host[i], 0x77);
    REFUSED(assay_engine_copy(engine, bad, 0, good, 0, 4));
    REFUSED(assay_engine_copy(engine, good, 0, bad, 0, 4));
    REFUSED(assay_engine_fill(engine, bad, 0, 4, 1));
    REFUSED(assay_engine_free(engine, bad));
}

static void refused_by_calls(assay_buffer bad, assay_buffer good, assay_status wanted,
                             const char *says)
{
    assay_tensor operands[3];
    uint8_t host[4] = {0};
    void *address = host;

    for (int i = 0; i < 3; i++) {
        const assay_buffer b[3] = {i == 0 ? bad : good, i == 1 ? bad : good, i == 2 ? bad : good};
        for (int o = 0; o < 3; o++)
            operands[o] = vector(b[o]);
        const assay_step step = {.problem = &add, .operands = operands, .operand_count = 3};
        const assay_sequence one = {.struct_size = sizeof one, .prefix = &step, .prefix_count = 1};
        REFUSED(sum(b[0], b[1], b[2], NULL));
        REFUSED(assay_op_run(engine, &step, NULL));
        REFUSED(assay_sequence_run(engine, &one, NULL, NULL));
    }
    if (assay_engine_supports(engine, ASSAY_FEATURE_UNIFIED_MEMORY)) {
        REFUSED(assay_engine_map(engine, bad, &address));
        ck_assert_ptr_eq(address, host);
    }
}

static void refused_everywhere(assay_buffer bad, assay_status wanted, const char *says)
{
    const assay_buffer good = filled(engine, 0x11);

    refused_by_transfers(bad, good, wanted, says);
    refused_by_calls(bad, good, wanted, says);
    holds(engine, good, 0x11);
}

START_TEST(trap9_foreign_owner)
{
    open_engine(_i);
    assay_engine *other = engine_open(context, where[_i].backend, NULL);
    const assay_buffer theirs = filled(other, 0x22);
    refused_everywhere(theirs, ASSAY_FOREIGN, "another instance");
    holds(other, theirs, 0x22);
    assay_engine_destroy(&other);
    refused_everywhere(theirs, ASSAY_FOREIGN, "another instance");
    /* Of this engine, before it was shut down. */
    const assay_buffer before = filled(engine, 0x33);
    ck_assert_int_eq(assay_engine_shutdown(engine), ASSAY_OK);
    ck_assert_int_eq(assay_engine_init(engine, 0), ASSAY_OK);
    refused_everywhere(before, ASSAY_FOREIGN, "another instance");
}
END_TEST

/* Its place is in use again, which nobody may touch by the old handle. */
START_TEST(trap9_freed_and_its_place_taken)
{
    open_engine(_i);
    const assay_buffer gone = filled(engine, 0x22);
    ck_assert_int_eq(assay_engine_free(engine, gone), ASSAY_OK);
    const assay_buffer heir = filled(engine, 0x44);
    refused_everywhere(gone, ASSAY_FREED, "freed before");
    holds(engine, heir, 0x44);
}
END_TEST

START_TEST(trap9_stale_generation_after_recover)
{
    const assay_fault lost = {.struct_size = sizeof lost, .kind = ASSAY_FAULT_LOST, .times = 1};

    open_engine(_i);
    const assay_buffer live = filled(engine, 0x22), gone = filled(engine, 0x33);
    ck_assert_int_eq(assay_engine_free(engine, gone), ASSAY_OK);
    ck_assert_int_eq(assay_engine_inject(engine, &lost), ASSAY_OK);
    engine_refuses(assay_engine_fill(engine, live, 0, 1, 0), ASSAY_DEVICE_LOST, "recover");
    ck_assert_int_eq(assay_engine_recover(engine), ASSAY_OK);
    const assay_buffer heir = filled(engine, 0x44);
    refused_everywhere(live, ASSAY_GENERATION, "recovered since");
    refused_everywhere(gone, ASSAY_GENERATION, "recovered since");
    holds(engine, heir, 0x44);
}
END_TEST

/* The launch is held up, so that its buffers are in use for certain. */
START_TEST(trap9_free_while_pending)
{
    const assay_fault slow = {
        .struct_size = sizeof slow, .kind = ASSAY_FAULT_DELAY, .times = 1, .delay_ns = 100000000};
    assay_queue *queue = NULL;

    open_engine(_i);
    const assay_buffer a = filled(engine, 0), b = filled(engine, 0), y = filled(engine, 0x55);
    ck_assert_int_eq(assay_engine_queue_create(engine, &queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_inject(engine, &slow), ASSAY_OK);
    ck_assert_int_eq(sum(a, b, y, queue), ASSAY_OK);
    engine_refuses(assay_engine_free(engine, a), ASSAY_PENDING, "wait for them");
    engine_refuses(assay_engine_free(engine, b), ASSAY_PENDING, "wait for them");
    engine_refuses(assay_engine_free(engine, y), ASSAY_PENDING, "wait for them");
    ck_assert_int_eq(assay_engine_queue_wait(engine, queue), ASSAY_OK);
    holds(engine, y, 0);
    ck_assert_int_eq(assay_engine_free(engine, a), ASSAY_OK);
    ck_assert_int_eq(assay_engine_free(engine, b), ASSAY_OK);
    ck_assert_int_eq(assay_engine_free(engine, y), ASSAY_OK);
    engine_refuses(assay_engine_free(engine, y), ASSAY_FREED, "freed before");
    ck_assert_int_eq(assay_engine_queue_destroy(engine, &queue), ASSAY_OK);
}
END_TEST

START_TEST(trap9_wrong_count_of_operands)
{
    assay_tensor operands[ASSAY_MAX_OPERANDS];

    open_engine(_i);
    const assay_buffer b = filled(engine, 0x11);
    for (int i = 0; i < ASSAY_MAX_OPERANDS; i++)
        operands[i] = vector(b);
    assay_step step = {.problem = &add, .operands = operands};
    const assay_sequence one = {.struct_size = sizeof one, .prefix = &step, .prefix_count = 1};
    for (step.operand_count = 0; step.operand_count <= ASSAY_MAX_OPERANDS; step.operand_count++) {
        if (step.operand_count == 3)
            continue;
        engine_refuses(assay_op_run(engine, &step, NULL), ASSAY_INVALID, "takes 3");
        engine_refuses(assay_sequence_run(engine, &one, NULL, NULL), ASSAY_INVALID, "step 0");
    }
    holds(engine, b, 0x11);
}
END_TEST

/* ---- 12: features ---- */

static void try_resident(void)
{
    const assay_buffer b = filled(engine, 0x11), c = filled(engine, 0x22);

    ck_assert_int_eq(assay_engine_copy(engine, b, 0, c, 0, BYTES), ASSAY_OK);
    holds(engine, b, 0x22);
}

static void try_async_compute(void)
{
    const assay_buffer a = filled(engine, 0), y = filled(engine, 0x55);
    assay_queue *queue = NULL;
    assay_event *event = NULL;

    ck_assert_int_eq(assay_engine_queue_create(engine, &queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_create(engine, &event), ASSAY_OK);
    ck_assert_int_eq(sum(a, a, y, queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_record(engine, event, queue), ASSAY_OK);
    ck_assert_int_eq(assay_engine_event_wait(engine, event), ASSAY_OK);
    holds(engine, y, 0);
    ck_assert_int_eq(assay_engine_event_destroy(engine, &event), ASSAY_OK);
    ck_assert_int_eq(assay_engine_queue_destroy(engine, &queue), ASSAY_OK);
}

static void try_unified_memory(void)
{
    const assay_buffer b = filled(engine, 0x11);
    uint8_t memory[BYTES];
    assay_buffer mine;
    void *host = NULL;

    ck_assert_int_eq(assay_engine_map(engine, b, &host), ASSAY_OK);
    ck_assert_int_eq(*(const uint8_t *)host, 0x11);
    memset(host, 0x66, BYTES);
    holds(engine, b, 0x66);
    ck_assert_int_eq(assay_engine_wrap(engine, memory, BYTES, &mine), ASSAY_OK);
    ck_assert_int_eq(assay_engine_copy(engine, mine, 0, b, 0, BYTES), ASSAY_OK);
    ck_assert_int_eq(memory[BYTES - 1], 0x66);
}

static void try_fault_injection(void)
{
    const assay_fault fails = {.struct_size = sizeof fails, .kind = ASSAY_FAULT_LAUNCH, .times = 1};
    const assay_buffer a = filled(engine, 0), y = filled(engine, 0x55);

    ck_assert_int_eq(assay_engine_inject(engine, &fails), ASSAY_OK);
    engine_refuses(sum(a, a, y, NULL), ASSAY_DEVICE, "as it was asked to");
    holds(engine, y, 0x55);
    ck_assert_int_eq(sum(a, a, y, NULL), ASSAY_OK);
}

static void try_recovery(void)
{
    const assay_fault lost = {.struct_size = sizeof lost, .kind = ASSAY_FAULT_LOST, .times = 1};
    const assay_buffer a = filled(engine, 0);
    assay_instance_state before, after;

    ck_assert_int_eq(assay_engine_state(engine, &before), ASSAY_OK);
    ck_assert_int_eq(assay_engine_inject(engine, &lost), ASSAY_OK);
    engine_refuses(sum(a, a, a, NULL), ASSAY_DEVICE_LOST, "recover");
    ck_assert_int_eq(assay_engine_recover(engine), ASSAY_OK);
    ck_assert_int_eq(assay_engine_state(engine, &after), ASSAY_OK);
    ck_assert(after.generation == before.generation + 1 && !after.is_lost);
    try_resident();
}

/* Two launches are a barrier between them: the second sees all that the first wrote. */
static void try_host_grid_split(void)
{
    const float ones[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const assay_buffer x = engine_alloc(engine, BYTES), y = filled(engine, 0);
    float got[N];
    const assay_transfer read = {.buffer = y, .host = got, .bytes = BYTES};

    ck_assert_int_eq(assay_engine_upload(engine, x, ones, BYTES), ASSAY_OK);
    const assay_tensor operands[3] = {vector(x), vector(y), vector(y)};
    const assay_step step = {.problem = &add, .operands = operands, .operand_count = 3};
    const assay_sequence parts = {.struct_size = sizeof parts,
                                  .body = &step,
                                  .body_count = 1,
                                  .repeats = 5,
                                  .reads = &read,
                                  .read_count = 1};
    ck_assert_int_eq(assay_sequence_run(engine, &parts, NULL, NULL), ASSAY_OK);
    for (int i = 0; i < N; i++)
        ck_assert(got[i] == 5.0f);
}

static void count_span(void *cookie, double ns, size_t inner)
{
    (void)inner;
    *(int *)cookie += ns > 0.0;
}

/* By the slot, which no engine hands out. */
static void try_device_timestamps(void)
{
    const assay_manifest *m = plugin_load(assay_engine_name(engine));
    const int64_t tunables[ASSAY_MAX_TUNABLES] = {1};
    assay_clock_info clock;
    assay__backend b;
    plugin_case c;
    int spans = 0;

    ck_assert_int_eq(assay__backend_init(m->backend, &b), ASSAY_OK);
    ck_assert_int_eq(assay__backend_open(&b), ASSAY_OK);
    plugin_case_init(&c, ASSAY_OP_add, ASSAY_F32, "n=100", 0);
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = 3,
                                 .problem = &c.problem,
                                 .operands = c.operands,
                                 .tunables = tunables};
    const assay_measure what = {.struct_size = sizeof what,
                                .run = m->kernels[0].run,
                                .launches = &launch,
                                .launch_count = 1,
                                .inner = 2,
                                .spans = 3,
                                .sink = count_span,
                                .cookie = &spans};
    ck_assert_int_eq(m->kernels[0].op, ASSAY_OP_add);
    ck_assert_int_eq(assay__backend_measure(&b, &what, &clock), ASSAY_OK);
    ck_assert_int_eq(spans, 3);
    ck_assert_int_ge(clock.quality, ASSAY_TIMING_DEVICE);
    plugin_case_clear(&c);
    assay__backend_close(&b);
}

static void (*const tries[ASSAY_FEATURE_COUNT])(void) = {
    [ASSAY_FEATURE_RESIDENT] = try_resident,
    [ASSAY_FEATURE_ASYNC_COMPUTE] = try_async_compute,
    [ASSAY_FEATURE_UNIFIED_MEMORY] = try_unified_memory,
    [ASSAY_FEATURE_RECOVERY] = try_recovery,
    [ASSAY_FEATURE_FAULT_INJECTION] = try_fault_injection,
    [ASSAY_FEATURE_HOST_GRID_SPLIT] = try_host_grid_split,
    [ASSAY_FEATURE_DEVICE_TIMESTAMPS] = try_device_timestamps};

/* A claim that nobody tries is a failure, too. */
START_TEST(trap12_true_features_do_what_they_say)
{
    open_engine(_i);
    for (int f = 0; f < (int)ASSAY_FEATURE_COUNT; f++) {
        if (!assay_engine_supports(engine, (assay_feature)f))
            continue;
        ck_assert_msg(tries[f] != NULL, "%s says that it has %s, which nothing here tries",
                      where[_i].backend, assay_feature_name((assay_feature)f));
        tries[f]();
    }
}
END_TEST

/* By the call that it is for, where there is one, and by whoever asks for it. */
START_TEST(trap12_false_features_are_refused)
{
    const assay_fault fault = {.struct_size = sizeof fault};
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    void *host = NULL;
    bool fits = false;

    open_engine(_i);
    const assay_buffer b = filled(engine, 0x11);
    for (int f = 0; f < (int)ASSAY_FEATURE_COUNT; f++) {
        const assay_feature feature = (assay_feature)f;
        const char *const name = assay_feature_name(feature);
        if (assay_engine_supports(engine, feature))
            continue;
        engine_refuses(assay_engine_require(engine, feature), ASSAY_UNSUPPORTED, name);
        if (feature == ASSAY_FEATURE_UNIFIED_MEMORY)
            engine_refuses(assay_engine_map(engine, b, &host), ASSAY_UNSUPPORTED, name);
        if (feature == ASSAY_FEATURE_RECOVERY)
            engine_refuses(assay_engine_recover(engine), ASSAY_UNSUPPORTED, name);
        if (feature == ASSAY_FEATURE_FAULT_INJECTION)
            engine_refuses(assay_engine_inject(engine, &fault), ASSAY_UNSUPPORTED, name);
        if (feature == ASSAY_FEATURE_GRID_SYNC)
            engine_refuses(assay_engine_grid_fits(engine, 1, 1, &fits), ASSAY_UNSUPPORTED, name);
        if (feature == ASSAY_FEATURE_ASYNC_COMPUTE) {
            engine_refuses(assay_engine_queue_create(engine, &queue), ASSAY_UNSUPPORTED, name);
            engine_refuses(assay_engine_event_create(engine, &event), ASSAY_UNSUPPORTED, name);
        }
    }
    ck_assert(host == NULL && queue == NULL && event == NULL && !fits);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("traps_handles");
    TCase *handles = tcase_create("handles"), *features = tcase_create("features");

    tcase_add_checked_fixture(handles, NULL, teardown);
    tcase_add_checked_fixture(features, NULL, teardown);
    tcase_add_loop_test(handles, trap9_foreign_owner, 0, PLACES);
    tcase_add_loop_test(handles, trap9_freed_and_its_place_taken, 0, PLACES);
    tcase_add_loop_test(handles, trap9_stale_generation_after_recover, 0, PLACES - 1);
    tcase_add_loop_test(handles, trap9_free_while_pending, 0, PLACES - 1);
    tcase_add_loop_test(handles, trap9_wrong_count_of_operands, 0, PLACES);
    tcase_add_loop_test(features, trap12_true_features_do_what_they_say, 0, PLACES);
    tcase_add_loop_test(features, trap12_false_features_are_refused, 0, PLACES);
    suite_add_tcase(suite, handles);
    suite_add_tcase(suite, features);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
