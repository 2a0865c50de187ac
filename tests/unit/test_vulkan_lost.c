/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_vulkan_lost.c -- the Vulkan backend where calls of its driver fail: each fails
 * once, says so, and nothing is left behind that a later call stumbles over; and what it records.
 *
 * Without the plug-in or a driver every test passes and says so. */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/plugin_case.h"

enum { HOST_MEMORY = -1, DEVICE_MEMORY = -2, LOST = -4, BYTES = 64 }; /* of VkResult */

static char last_text[2048], between_path[512];
static assay_error_detail last_detail;
static const assay_backend *slots;
static const assay_manifest *manifest;
static assay_instance *instance; /* NULL: no device here */
static void (*fail_call)(const char *name, int after, int result);
static const char *(*recorded)(void);
static void (*hide)(const char *name);
static void (*lacks)(const char *what);
static int (*instances)(void);

static assay_status note_detail(const assay_error_detail *detail, const char *text)
{
    (void)snprintf(last_text, sizeof last_text, "%s", text);
    last_detail = *detail;
    return detail->status;
}

static assay_status note(assay_status status, const char *text)
{
    return note_detail(&(assay_error_detail){.status = status}, text);
}

static const assay_host host = {.struct_size = sizeof host,
                                .abi_version = ASSAY_PLUGIN_ABI,
                                .fail = note,
                                .fail_detail = note_detail};

#define GIVES(call, wanted)                                                               \
    do {                                                                                  \
        const assay_status status_ = (call);                                              \
        ck_assert_msg(status_ == (wanted), "%s: %d: %s", #call, (int)status_, last_text); \
    } while (0)
#define OK(call) GIVES(call, ASSAY_OK)

static bool is_here(const char *path)
{
    return access(path, R_OK) == 0;
}

static void load(void)
{
    if (!is_here(between_path))
        return;
    void *between = dlopen(between_path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(between != NULL, "%s", dlerror());
    void *symbol = dlsym(between, "between_fail");
    memcpy(&fail_call, &symbol, sizeof symbol);
    symbol = dlsym(between, "between_recorded");
    memcpy(&recorded, &symbol, sizeof symbol);
    symbol = dlsym(between, "between_hide");
    memcpy(&hide, &symbol, sizeof symbol);
    symbol = dlsym(between, "between_lacks");
    memcpy(&lacks, &symbol, sizeof symbol);
    symbol = dlsym(between, "between_instances");
    memcpy(&instances, &symbol, sizeof symbol);
    setenv("ASSAY_VULKAN", between_path, 1);
    manifest = plugin_load("vulkan");
    slots = manifest->backend;
}

static void setup(void)
{
    load();
    if (slots == NULL)
        return;
    const assay_status status = slots->open(&host, &instance);
    ck_assert_msg(status == ASSAY_OK || status == ASSAY_UNAVAILABLE, "%s", last_text);
    if (status != ASSAY_OK)
        instance = NULL;
    if (status == ASSAY_OK)
        OK(slots->prepare(instance));
}

/* The validation layer, where it is, has seen nothing wrong, at the end of the device neither. */
static void teardown(void)
{
    assay_metric list[128];
    size_t count;

    if (instance == NULL)
        return;
    slots->close(instance);
    OK(slots->open(&host, &instance));
    OK(slots->metrics(instance, list, 128, &count));
    ck_assert_str_eq(list[count - 1].name, "validation_messages_total");
    ck_assert_uint_eq(list[count - 1].value, 0);
    slots->close(instance);
    instance = NULL;
}

static assay_buffer make(void)
{
    assay_buffer b;

    OK(slots->alloc(instance, BYTES, 0, &b));
    return b;
}

static assay_status fill(assay_buffer b, int value)
{
    return slots->fill(instance, b, 0, BYTES, (uint8_t)value);
}

static void holds(assay_buffer b, int value)
{
    unsigned char bytes[BYTES];
    const assay_transfer piece = {.buffer = b, .host = bytes, .bytes = BYTES};

    OK(slots->download(instance, &piece, 1));
    for (int i = 0; i < BYTES; i++)
        ck_assert_int_eq(bytes[i], value);
}

/* y = relu(x) over all of both, by the slot launch or in timed spans. */
typedef struct call {
    assay_kernel_fn run;
    assay_problem problem;
    assay_tensor operands[2];
    int64_t tunables[ASSAY_MAX_TUNABLES];
    assay_launch launch;
} call;

static void make_relu(call *c, assay_buffer x, assay_buffer y)
{
    const assay_kernel_desc *k = plugin_kernel(manifest, ASSAY_OP_relu, ASSAY_F32, NULL);
    const int64_t n = BYTES / 4;

    *c = (call){.run = k->run, .problem = plugin_problem_of(k)};
    ck_assert_int_eq(assay_problem_set_int(&c->problem, "n", n), ASSAY_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(assay_tensor_host(NULL, ASSAY_F32, 1, &n, NULL, &c->operands[i]),
                         ASSAY_OK);
        c->operands[i].buffer = i == 0 ? x : y;
    }
    for (size_t i = 0; i < k->tunable_count; i++)
        c->tunables[i] = k->tunables[i].default_value;
    c->launch = (assay_launch){.struct_size = sizeof c->launch,
                               .operand_count = 2,
                               .problem = &c->problem,
                               .operands = c->operands,
                               .tunables = c->tunables,
                               .tunable_count = (uint32_t)k->tunable_count};
}

static assay_status relu(assay_buffer x, assay_buffer y)
{
    call c;

    make_relu(&c, x, y);
    return slots->launch(instance, c.run, &c.launch);
}

static void is_lost_until_recovered(assay_buffer old, int code)
{
    assay_instance_state state = {.struct_size = sizeof state};

    ck_assert_int_eq(last_detail.driver_code, code);
    ck_assert_uint_eq(last_detail.generation, 1);
    OK(slots->state(instance, &state));
    ck_assert(state.is_lost);
    GIVES(fill(old, 9), ASSAY_DEVICE_LOST);
    GIVES(relu(old, old), ASSAY_DEVICE_LOST);
    OK(slots->recover(instance));
    GIVES(fill(old, 9), ASSAY_GENERATION);
    const assay_buffer anew = make();
    OK(fill(anew, 5));
    OK(relu(anew, anew));
    holds(anew, 5);
}

/* Whatever a wait or a submission gave: lost where nobody knows what the device is at. */
static const struct row {
    const char *call;
    int result;
    assay_status status;
} rows[] = {{"WaitForFences", LOST, ASSAY_DEVICE_LOST},
            {"WaitForFences", DEVICE_MEMORY, ASSAY_DEVICE_LOST},
            {"WaitForFences", HOST_MEMORY, ASSAY_DEVICE_LOST},
            {"QueueSubmit", LOST, ASSAY_DEVICE_LOST},
            {"QueueSubmit", HOST_MEMORY, ASSAY_NOMEM},
            {"QueueSubmit", DEVICE_MEMORY, ASSAY_NOMEM}};

START_TEST(transfers_outlive_a_failed_call)
{
    const struct row *r = &rows[_i];

    if (instance == NULL)
        return;
    const assay_buffer b = make();
    OK(fill(b, 1));
    fail_call(r->call, 0, r->result);
    GIVES(fill(b, 2), r->status);
    if (r->status == ASSAY_DEVICE_LOST) {
        is_lost_until_recovered(b, r->result);
        return;
    }
    holds(b, 1);
    OK(fill(b, 3));
    holds(b, 3);
}
END_TEST

START_TEST(launches_outlive_a_failed_call)
{
    const struct row *r = &rows[_i];

    if (instance == NULL)
        return;
    const assay_buffer x = make(), y = make();
    OK(fill(x, 1));
    OK(fill(y, 2));
    fail_call(r->call, 0, r->result);
    GIVES(relu(x, y), r->status);
    if (r->status == ASSAY_DEVICE_LOST) {
        is_lost_until_recovered(x, r->result);
        return;
    }
    holds(y, 2);
    OK(relu(x, y));
    holds(y, 1);
}
END_TEST

START_TEST(pipelines_and_memory_outlive_a_failed_call)
{
    assay_buffer big;

    if (instance == NULL)
        return;
    const assay_buffer x = make();
    OK(fill(x, 1));
    fail_call("CreateComputePipelines", 0, HOST_MEMORY);
    GIVES(relu(x, x), ASSAY_NOMEM);
    OK(relu(x, x));
    fail_call("AllocateMemory", 0, DEVICE_MEMORY);
    GIVES(slots->alloc(instance, UINT64_C(40) << 20, 0, &big), ASSAY_NOMEM);
    ck_assert_uint_eq(last_detail.requested_bytes, UINT64_C(40) << 20);
    OK(slots->alloc(instance, UINT64_C(40) << 20, 0, &big));
    OK(slots->free(instance, big));
    holds(x, 1);
}
END_TEST

/* An open that fails behind vkCreateInstance leaves nothing, however often. */
START_TEST(opens_that_fail_leave_no_instance)
{
    assay_status status = ASSAY_OK;

    load();
    if (slots == NULL)
        return;
    for (int i = 0; i < 3; i++) {
        hide("vkCreateDevice");
        status = slots->open(&host, &instance);
        ck_assert_msg(status == ASSAY_UNAVAILABLE, "%d: %s", (int)status, last_text);
        ck_assert_int_eq(instances(), 0);
    }
    hide("");
    status = slots->open(&host, &instance);
    ck_assert_msg(status == ASSAY_OK || status == ASSAY_UNAVAILABLE, "%s", last_text);
    ck_assert_int_le(instances(), 1);
    if (status == ASSAY_OK)
        slots->close(instance);
}
END_TEST

static void cannot_open(const char *text)
{
    const assay_status status = slots->open(&host, &instance);

    ck_assert_msg(status == ASSAY_UNAVAILABLE, "%d, not: %s", (int)status, text);
    ck_assert_msg(strstr(last_text, text) != NULL, "%s, not: %s", last_text, text);
}

/* A loader or a device that cannot serve says what is missing, and is there again when it can. */
START_TEST(opens_say_what_is_lacking)
{
    static const struct {
        const char *what, *text;
    } lacking[] = {{"queue", ": it has no queue that computes"},
                   {"addresses", ": it lacks the feature bufferDeviceAddress"},
                   {"version", ": its driver is older than Vulkan 1.2"}};

    load();
    if (slots == NULL || slots->open(&host, &instance) != ASSAY_OK) /* no device here */
        return;
    slots->close(instance);
    for (size_t i = 0; i < sizeof lacking / sizeof lacking[0]; i++) {
        lacks(lacking[i].what);
        cannot_open("no usable Vulkan device; ");
        cannot_open(lacking[i].text);
    }
    lacks("");
    OK(slots->open(&host, &instance));
    slots->close(instance);
    ck_assert_int_eq(instances(), 1); /* the loader's own, for as long as the process lives */
}
END_TEST

START_TEST(opens_say_that_a_loader_is_old)
{
    load();
    if (slots == NULL)
        return;
    hide("vkEnumeratePhysicalDevices");
    const assay_status status = slots->open(&host, &instance);
    ck_assert_int_eq(status, ASSAY_UNAVAILABLE);
    ck_assert_msg(strstr(last_text, "lacks vkEnumeratePhysicalDevices; it is older than 1.2") ||
                      strstr(last_text, "no Vulkan driver"),
                  "%s", last_text);
    ck_assert_int_eq(instances(), 0);
}
END_TEST

static void on_span(void *cookie, double ns, size_t inner)
{
    (void)ns;
    *(size_t *)cookie += inner;
}

/* Two launches with a barrier between them; that behind the launches before is no part of it. */
START_TEST(spans_hold_their_launches_alone)
{
    assay_clock_info clock;
    size_t launches = 0;
    call c;

    if (instance == NULL)
        return;
    make_relu(&c, make(), make());
    const assay_measure what = {.struct_size = sizeof what,
                                .run = c.run,
                                .launches = &c.launch,
                                .launch_count = 1,
                                .inner = 2,
                                .spans = 3,
                                .cache = ASSAY_CACHE_HOT,
                                .sink = on_span,
                                .cookie = &launches};
    OK(slots->measure(instance, &what, &clock));
    ck_assert_uint_eq(launches, 6);
    if (clock.quality != ASSAY_TIMING_DEVICE)
        return;
    const char *span = strchr(recorded(), 't');
    ck_assert_ptr_nonnull(span);
    ck_assert_str_eq(span, "tdbdt");
    ck_assert_msg(span - recorded() >= 3 && strncmp(span - 3, "bdb", 3) == 0, "%s", recorded());
}
END_TEST

int main(void)
{
    const char *build = getenv("ASSAY_BUILD"), *layer = "/usr/share/vulkan/explicit_layer.d/"
                                                        "VkLayer_khronos_validation.json";
    const char *driver = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
    Suite *s = suite_create("vulkan_lost");
    TCase *all = tcase_create("driver"), *opening = tcase_create("opening");
    const int count = sizeof rows / sizeof rows[0];

    (void)snprintf(between_path, sizeof between_path, "%s/tests/fake_vulkan/between.so",
                   build != NULL ? build : "build");
    if (is_here(driver))
        setenv("VK_DRIVER_FILES", driver, 0);
    const char *preload = getenv("LD_PRELOAD");
    if (is_here(layer) && (preload == NULL || strstr(preload, "vgpreload") == NULL)) /* too slow */
        setenv("ASSAY_VULKAN_VALIDATE", "1", 0);
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_loop_test(all, transfers_outlive_a_failed_call, 0, count);
    tcase_add_loop_test(all, launches_outlive_a_failed_call, 0, count);
    tcase_add_test(all, pipelines_and_memory_outlive_a_failed_call);
    tcase_add_test(all, spans_hold_their_launches_alone);
    tcase_add_test(opening, opens_that_fail_leave_no_instance);
    tcase_add_test(opening, opens_say_what_is_lacking);
    tcase_add_test(opening, opens_say_that_a_loader_is_old);
    suite_add_tcase(s, all);
    suite_add_tcase(s, opening);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
