/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_backend_slots.c -- every slot reaches the backend, also by way of a backend that
 * stands before it; what stands in for those that are left out. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "assay/status.h"
#include "runtime/backend_slots.h"

static const char *called;
static const assay_instance *called_on;
static int instance_object;

static assay_instance *own_instance(void)
{
    union {
        int *object;
        assay_instance *instance;
    } at = {&instance_object};

    return at.instance;
}

static assay_status note(const char *slot, const assay_instance *i)
{
    called = slot;
    called_on = i;
    return ASSAY_NOISY;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define X(slot, parameters, arguments)                          \
    static assay_status on_##slot(assay_instance *i parameters) \
    {                                                           \
        return note(#slot, i);                                  \
    }
ASSAY__BACKEND_SLOTS(X)
ASSAY__BACKEND_MADE_SLOTS(X)
#undef X
#pragma GCC diagnostic pop

enum {
    SLOTS = 0
#define X(slot, parameters, arguments) +1
    ASSAY__BACKEND_SLOTS(X) ASSAY__BACKEND_MADE_SLOTS(X)
#undef X
};

static assay__backend noting(void)
{
    assay_backend slots = {.struct_size = sizeof slots, .abi_version = ASSAY_PLUGIN_ABI};
    assay__backend b;

#define X(slot, parameters, arguments) slots.slot = on_##slot;
    ASSAY__BACKEND_SLOTS(X)
    ASSAY__BACKEND_MADE_SLOTS(X)
#undef X
    ck_assert_int_eq(assay__backend_init(&slots, &b), ASSAY_OK);
    ck_assert_int_eq(assay__backend_open(&b), ASSAY_OK);
    b.instance = own_instance();
    return b;
}

static int calls;

static void expect(assay_status status, const char *slot)
{
    ck_assert_int_eq(status, ASSAY_NOISY);
    ck_assert_str_eq(called, slot);
    ck_assert_ptr_eq(called_on, own_instance());
    called = "";
    calls++;
}

static void call_devices(const assay__backend *b)
{
    assay_device_info info;
    assay_device_profile profile;
    assay_instance_state state;
    char text[8];
    size_t count;
    bool fits;

    expect(assay__backend_device_count(b, &count), "device_count");
    expect(assay__backend_device_info(b, 0, &info), "device_info");
    expect(assay__backend_device_profile(b, 0, &profile), "device_profile");
    expect(assay__backend_select_device(b, 0), "select_device");
    expect(assay__backend_library_identity(b, "x", text, sizeof text), "library_identity");
    expect(assay__backend_prepare(b), "prepare");
    expect(assay__backend_flush(b), "flush");
    expect(assay__backend_synchronize(b), "synchronize");
    expect(assay__backend_state(b, &state), "state");
    expect(assay__backend_recover(b), "recover");
    expect(assay__backend_metrics(b, NULL, 0, &count), "metrics");
    expect(assay__backend_inject(b, &(assay_fault){.struct_size = sizeof(assay_fault)}), "inject");
    expect(assay__backend_grid_fits(b, 1, 1, &fits), "grid_fits");
    expect(assay__backend_probe(b, &(assay_probe){.struct_size = sizeof(assay_probe)}), "probe");
    expect(assay__backend_judge(b, &(assay_judge){.struct_size = sizeof(assay_judge)}), "judge");
}

static void call_memory(const assay__backend *b)
{
    const assay_buffer a = {.owner = 1};
    const assay_transfer piece = {.buffer = a};
    assay_buffer out;
    void *host;
    uint64_t bytes;

    expect(assay__backend_alloc(b, 1, 64, &out), "alloc");
    expect(assay__backend_free(b, a), "free");
    expect(assay__backend_copy(b, a, 0, a, 0, 0), "copy");
    expect(assay__backend_fill(b, a, 0, 0, 0), "fill");
    expect(assay__backend_wrap(b, &out, 1, &out), "wrap");
    expect(assay__backend_upload(b, &piece, 1), "upload");
    expect(assay__backend_download(b, &piece, 1), "download");
    expect(assay__backend_map(b, a, &host, &bytes), "map");
    expect(assay__backend_host_alloc(b, 1, &host), "host_alloc");
    expect(assay__backend_host_free(b, &out), "host_free");
    expect(assay__backend_peer_copy(b, a, 0, NULL, a, 0, 0), "peer_copy");
    expect(assay__backend_digest(b, a, 0, 8, 8, 1, &bytes), "digest");
}

static void call_work(const assay__backend *b)
{
    assay_launch launch = {.struct_size = sizeof launch};
    assay_measure measure = {.struct_size = sizeof measure};
    assay_clock_info clock;
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    double ns;
    bool is_ready;

    expect(assay__backend_launch(b, NULL, &launch), "launch");
    expect(assay__backend_measure(b, &measure, &clock), "measure");
    expect(assay__backend_queue_create(b, &queue), "queue_create");
    expect(assay__backend_queue_destroy(b, queue), "queue_destroy");
    expect(assay__backend_queue_wait(b, queue), "queue_wait");
    expect(assay__backend_event_create(b, &event), "event_create");
    expect(assay__backend_event_destroy(b, event), "event_destroy");
    expect(assay__backend_event_record(b, event, queue), "event_record");
    expect(assay__backend_event_wait(b, event), "event_wait");
    expect(assay__backend_event_ready(b, event, &is_ready), "event_ready");
    expect(assay__backend_event_elapsed(b, event, event, &ns), "event_elapsed");
}

/* 0: called directly; 1: by way of a backend before it; 2: of two. */
START_TEST(forward_reaches_every_slot)
{
    assay__backend behind[3];

    behind[0] = noting();
    assay__backend_forward(&behind[0], &behind[1]);
    assay__backend_forward(&behind[1], &behind[2]);
    calls = 0;
    call_devices(&behind[_i]);
    call_memory(&behind[_i]);
    call_work(&behind[_i]);
    ck_assert_int_eq(calls, SLOTS);
}
END_TEST

/* Arguments of one type could change places unseen, and twice of them would look right. */
static uint64_t numbers[5];
static const void *pointers[2];

static assay_status keep_copy(assay_instance *i, assay_buffer dst, uint64_t dst_offset,
                              assay_buffer src, uint64_t src_offset, uint64_t bytes)
{
    (void)i;
    memcpy(numbers, (uint64_t[]){dst.owner, dst_offset, src.owner, src_offset, bytes},
           sizeof numbers);
    return ASSAY_OK;
}

static assay_status keep_elapsed(assay_instance *i, assay_event *from, assay_event *to,
                                 double *out_ns)
{
    (void)i;
    pointers[0] = from;
    pointers[1] = to;
    *out_ns = 7.0;
    return ASSAY_OK;
}

static assay_status keep_alloc(assay_instance *i, uint64_t bytes, uint64_t align, assay_buffer *out)
{
    (void)i;
    numbers[0] = bytes;
    numbers[1] = align;
    out->owner = 9;
    return ASSAY_OK;
}

static assay_status keep_peer_copy(assay_instance *i, assay_buffer dst, uint64_t dst_offset,
                                   assay_instance *source, assay_buffer src, uint64_t src_offset,
                                   uint64_t bytes)
{
    pointers[0] = source;
    return keep_copy(i, dst, dst_offset, src, src_offset, bytes);
}

static assay_status keep_fill(assay_instance *i, assay_buffer dst, uint64_t offset, uint64_t bytes,
                              uint8_t value)
{
    (void)i;
    memcpy(numbers, (uint64_t[]){dst.owner, offset, bytes, value, 5}, sizeof numbers);
    return ASSAY_OK;
}

static void expect_one_to_five(void)
{
    for (uint64_t i = 0; i < 5; i++)
        ck_assert_uint_eq(numbers[i], i + 1);
    memset(numbers, 0, sizeof numbers);
}

/* 0: called directly; 1: by way of a backend before it. */
START_TEST(forward_keeps_the_order_of_arguments)
{
    assay__backend inner = noting(), before;
    const assay__backend *outer = _i == 0 ? &inner : &before;
    int first, second;
    union {
        int *object;
        assay_event *event;
    } from = {&first}, to = {&second};
    assay_buffer out;
    double ns = 0;

    inner.slots.copy = keep_copy;
    inner.slots.event_elapsed = keep_elapsed;
    inner.slots.alloc = keep_alloc;
    inner.slots.peer_copy = keep_peer_copy;
    inner.slots.fill = keep_fill;
    assay__backend_forward(&inner, &before);
    ck_assert_int_eq(
        assay__backend_copy(outer, (assay_buffer){.owner = 1}, 2, (assay_buffer){.owner = 3}, 4, 5),
        ASSAY_OK);
    expect_one_to_five();
    ck_assert_int_eq(assay__backend_peer_copy(outer, (assay_buffer){.owner = 1}, 2, own_instance(),
                                              (assay_buffer){.owner = 3}, 4, 5),
                     ASSAY_OK);
    expect_one_to_five();
    ck_assert_ptr_eq(pointers[0], &instance_object);
    ck_assert_int_eq(assay__backend_fill(outer, (assay_buffer){.owner = 1}, 2, 3, 4), ASSAY_OK);
    expect_one_to_five();
    ck_assert_int_eq(assay__backend_event_elapsed(outer, from.event, to.event, &ns), ASSAY_OK);
    ck_assert(pointers[0] == &first && pointers[1] == &second && ns == 7.0);
    ck_assert_int_eq(assay__backend_alloc(outer, 10, 64, &out), ASSAY_OK);
    ck_assert(numbers[0] == 10 && numbers[1] == 64 && out.owner == 9);
}
END_TEST

static void lacks(assay_status status, const char *says)
{
    ck_assert_int_eq(status, ASSAY_UNSUPPORTED);
    ck_assert_msg(strstr(assay_last_error(), says) != NULL, "'%s' lacks '%s'", assay_last_error(),
                  says);
}

START_TEST(default_slots_refuse_what_they_cannot)
{
    const assay_fault fault = {.struct_size = sizeof fault, .kind = ASSAY_FAULT_LOST};
    assay_probe probe = {.struct_size = sizeof probe, .kind = ASSAY_PROBE_EMPTY};
    assay__backend b;
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    void *host;
    uint64_t bytes;
    bool yes;

    ck_assert_int_eq(assay__backend_init(NULL, &b), ASSAY_OK);
    lacks(assay__backend_select_device(&b, 1), "device 1");
    lacks(assay__backend_recover(&b), "device recovery");
    lacks(assay__backend_queue_create(&b, &queue), "async compute");
    lacks(assay__backend_event_create(&b, &event), "async compute");
    lacks(assay__backend_event_ready(&b, event, &yes), "async compute");
    lacks(assay__backend_inject(&b, &fault), "fault injection");
    lacks(assay__backend_grid_fits(&b, 1, 1, &yes), "grid sync");
    lacks(assay__backend_host_alloc(&b, 1, &host), "pinned memory");
    lacks(assay__backend_host_free(&b, &bytes), "pinned memory");
    lacks(assay__backend_peer_copy(&b, (assay_buffer){.owner = 1}, 0, NULL,
                                   (assay_buffer){.owner = 2}, 0, 0),
          "device to device");
    lacks(assay__backend_probe(&b, &probe), "probes");
    lacks(assay__backend_digest(&b, (assay_buffer){.owner = 1}, 0, 8, 8, 1, &bytes), "digests");
    lacks(assay__backend_judge(&b, &(assay_judge){.struct_size = sizeof(assay_judge)}), "judge");
    lacks(assay__backend_map(&b, (assay_buffer){.owner = 5}, &host, &bytes), "map");
}
END_TEST

START_TEST(default_slots_say_what_is_known)
{
    assay_device_profile profile;
    assay_instance_state state;
    assay__backend b;
    size_t count = 9;

    ck_assert_int_eq(assay__backend_init(NULL, &b), ASSAY_OK);
    ck_assert_int_eq(assay__backend_prepare(&b), ASSAY_OK);
    ck_assert_int_eq(assay__backend_flush(&b), ASSAY_OK);
    ck_assert_int_eq(assay__backend_select_device(&b, 0), ASSAY_OK);
    ck_assert_int_eq(assay__backend_metrics(&b, NULL, 0, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(assay__backend_state(&b, &state), ASSAY_OK);
    ck_assert(state.generation == 1 && !state.is_lost && state.live_buffers == 0);
    ck_assert_int_eq(assay__backend_device_profile(&b, 0, &profile), ASSAY_OK);
    ck_assert_uint_eq(profile.features, 0);
    ck_assert(profile.max_workgroup_size[0] == 1 && profile.max_workgroup_size[2] == 1);
    ck_assert(profile.max_workgroup_invocations == 1 && profile.max_workgroups == 1);
    ck_assert(profile.max_buffer_bytes == 0 && profile.subgroup_size == 0);
    ck_assert(profile.bytes_per_ns != profile.bytes_per_ns);
}
END_TEST

/* Pieces go by the slot copy, all checked before the first moves. */
START_TEST(default_transfers_move_all_or_nothing)
{
    char host[8] = "abcdefg", back[8] = "-------";
    assay_buffer a;
    assay__backend b;

    ck_assert_int_eq(assay__backend_init(NULL, &b), ASSAY_OK);
    ck_assert_int_eq(assay__backend_alloc(&b, 8, 64, &a), ASSAY_OK);
    ck_assert_int_eq(assay__backend_fill(&b, a, 0, 8, 'x'), ASSAY_OK);
    assay_transfer pieces[2] = {{a, 0, host, 4}, {a, 6, host, 3}};
    ck_assert_int_eq(assay__backend_upload(&b, pieces, 2), ASSAY_INVALID);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "piece 1"));
    ck_assert_int_eq(memcmp(a.at.host, "xxxxxxxx", 8), 0);
    pieces[1].offset = 2;
    ck_assert_int_eq(assay__backend_upload(&b, pieces, 2), ASSAY_OK);
    ck_assert_int_eq(memcmp(a.at.host, "ababcxxx", 8), 0);
    pieces[0].host = back;
    pieces[1].host = NULL;
    ck_assert_int_eq(assay__backend_download(&b, pieces, 2), ASSAY_INVALID);
    ck_assert_str_eq(back, "-------");
    pieces[1].host = back + 4;
    ck_assert_int_eq(assay__backend_download(&b, pieces, 2), ASSAY_OK);
    ck_assert_str_eq(back, "abababc");
    /* A handle that only the backend can judge, behind a good piece. */
    pieces[0].host = host;
    pieces[1] = (assay_transfer){{.owner = 9, .size_bytes = 8}, 0, host, 1};
    strcpy(host, "zzzzzzz");
    ck_assert_int_eq(assay__backend_upload(&b, pieces, 2), ASSAY_UNSUPPORTED);
    ck_assert_int_eq(memcmp(a.at.host, "ababcxxx", 8), 0);
    ck_assert_int_eq(assay__backend_free(&b, a), ASSAY_OK);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("backend_slots");
    TCase *all = tcase_create("slots");

    tcase_add_loop_test(all, forward_reaches_every_slot, 0, 3);
    tcase_add_loop_test(all, forward_keeps_the_order_of_arguments, 0, 2);
    tcase_add_test(all, default_slots_refuse_what_they_cannot);
    tcase_add_test(all, default_slots_say_what_is_known);
    tcase_add_test(all, default_transfers_move_all_or_nothing);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
