/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/vulkan_stage.h -- a device of the Vulkan backend for a test program, operands on
 * it, and what main returns.
 *
 * Without the plug-in or a driver every test passes and says so.  Each test runs in a process of
 * its own, which looks at the layer's messages last, after everything was destroyed. */
#ifndef ASSAY_TESTS_SUPPORT_VULKAN_STAGE_H
#define ASSAY_TESTS_SUPPORT_VULKAN_STAGE_H

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/plugin_case.h"

static char last_text[2048];
static assay_error_detail last_detail;

static inline assay_status note(assay_status status, const char *text)
{
    (void)snprintf(last_text, sizeof last_text, "%s", text);
    last_detail = (assay_error_detail){.status = status};
    return status;
}

static inline assay_status note_detail(const assay_error_detail *detail, const char *text)
{
    (void)note(detail->status, text);
    last_detail = *detail;
    return detail->status;
}

static const assay_host host = {.struct_size = sizeof host,
                                .abi_version = ASSAY_PLUGIN_ABI,
                                .fail = note,
                                .fail_detail = note_detail};
static const assay_manifest *manifest;
static const assay_backend *slots;
static assay_instance *instance; /* NULL: no device here */

#define OK(call)                                                                          \
    do {                                                                                  \
        const assay_status status_ = (call);                                              \
        ck_assert_msg(status_ == ASSAY_OK, "%s: %d: %s", #call, (int)status_, last_text); \
    } while (0)
#define REFUSES(call, wanted, says)                                                             \
    do {                                                                                        \
        const assay_status status_ = (call);                                                    \
        ck_assert_msg(status_ == (wanted), "%s: %d: %s", #call, (int)status_, last_text);       \
        ck_assert_msg(strstr(last_text, says) != NULL, "%s: '%s' lacks '%s'", #call, last_text, \
                      says);                                                                    \
    } while (0)
#define NEEDS_DEVICE          \
    do {                      \
        if (instance == NULL) \
            return;           \
    } while (0)

static inline void setup(void)
{
    manifest = plugin_load("vulkan");
    slots = manifest->backend;
    const assay_status status = slots->open(&host, &instance);
    if (status == ASSAY_OK)
        return;
    ck_assert_msg(status == ASSAY_UNAVAILABLE, "%d: %s", (int)status, last_text);
    printf("no device: %s\n", last_text);
    instance = NULL;
}

static inline uint64_t metric(const char *name)
{
    assay_metric list[128];
    size_t count;

    OK(slots->metrics(instance, list, 128, &count));
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].value;
    ck_abort_msg("no metric %s", name);
    return 0;
}

/* A leak is told when the device is destroyed: by another instance it can be seen. */
static inline void teardown(void)
{
    if (instance == NULL)
        return;
    slots->close(instance);
    OK(slots->open(&host, &instance));
    ck_assert_uint_eq(metric("validation_messages_total"), 0);
    slots->close(instance);
    instance = NULL;
}

/* ---- operands ---- */

static inline assay_buffer buffer_of(const void *bytes, size_t count)
{
    assay_buffer b;
    assay_transfer piece = {.bytes = count};

    OK(slots->alloc(instance, count, 0, &b));
    memcpy(&piece.host, &bytes, sizeof bytes); /* only read */
    piece.buffer = b;
    OK(slots->upload(instance, &piece, 1));
    return b;
}

static inline void read_back(assay_buffer b, void *bytes, size_t count)
{
    const assay_transfer piece = {.buffer = b, .host = bytes, .bytes = count};

    OK(slots->download(instance, &piece, 1));
}

static inline const assay_kernel_desc *kernel_of(assay_op_id op, assay_dtype dtype)
{
    const assay_kernel_desc *k = plugin_kernel(manifest, op, dtype, NULL);

    ck_assert_ptr_nonnull(k);
    return k;
}

static inline void defaults_of(const assay_kernel_desc *k, int64_t *tunables)
{
    for (size_t i = 0; i < k->tunable_count; i++)
        tunables[i] = k->tunables[i].default_value;
}

/* A call of one dimension on f32: the last buffer is the output. */
typedef struct call {
    const assay_kernel_desc *kernel;
    assay_problem problem;
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    int64_t tunables[ASSAY_MAX_TUNABLES];
    assay_launch launch;
} call;

static inline void make_call(call *c, assay_op_id op, int64_t n, const assay_buffer *buffers)
{
    memset(c, 0, sizeof *c);
    c->kernel = kernel_of(op, ASSAY_F32);
    c->problem = plugin_problem_of(c->kernel);
    ck_assert_int_eq(assay_problem_set_int(&c->problem, "n", n), ASSAY_OK);
    for (uint32_t i = 0; i < c->kernel->dtype_count; i++) {
        ck_assert_int_eq(assay_tensor_host(NULL, (assay_dtype)c->kernel->dtypes[i], 1, &n, NULL,
                                           &c->operands[i]),
                         ASSAY_OK);
        c->operands[i].buffer = buffers[i];
    }
    defaults_of(c->kernel, c->tunables);
    c->launch = (assay_launch){.struct_size = sizeof c->launch,
                               .operand_count = c->kernel->dtype_count,
                               .problem = &c->problem,
                               .operands = c->operands,
                               .tunables = c->tunables,
                               .instance = instance,
                               .tunable_count = (uint32_t)c->kernel->tunable_count};
}

/* Under valgrind a device of the CPU's is compiled for as slowly as it runs. */
static inline bool is_slow(void)
{
    const char *preload = getenv("LD_PRELOAD");

    return preload != NULL && strstr(preload, "vgpreload") != NULL;
}

static inline bool same(float a, float b)
{
    uint32_t x, y;

    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    return x == y || (isnan(a) && isnan(b));
}

/* ---- the program ---- */

static inline bool is_here(const char *path)
{
    return access(path, R_OK) == 0;
}

/* One driver is loaded faster than all, and the layer looks on where it is installed. */
static inline void prepare(void)
{
    const char *driver = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";

    if (is_here(driver))
        setenv("VK_DRIVER_FILES", driver, 0);
    if (!is_slow() && is_here("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"))
        setenv("ASSAY_VULKAN_VALIDATE", "1", 0);
}

static inline bool is_built(void)
{
    const char *build = getenv("ASSAY_BUILD");
    char path[512];

    (void)snprintf(path, sizeof path, "%s/lib/assay/assay_vulkan.so",
                   build != NULL ? build : "build");
    return is_here(path);
}

static inline void only_load(void)
{
    manifest = plugin_load("vulkan");
    slots = manifest->backend;
}

START_TEST(plug_in_is_not_built_here)
{
    printf("the plug-in is not built here: scripts/probe says why\n");
}
END_TEST

/* missing: adds tests that need no device; NULL: there are none. */
static inline int vulkan_stage_run(const char *name, void (*add)(TCase *),
                                   void (*add_missing)(TCase *))
{
    prepare();
    Suite *s = suite_create(name);
    TCase *all = tcase_create("device"), *missing = tcase_create("missing");
    tcase_set_timeout(all, 120);
    if (is_built()) {
        tcase_add_checked_fixture(all, setup, teardown);
        tcase_add_checked_fixture(missing, only_load, NULL);
        add(all);
        if (add_missing != NULL)
            add_missing(missing);
    } else {
        tcase_add_test(missing, plug_in_is_not_built_here);
    }
    suite_add_tcase(s, all);
    suite_add_tcase(s, missing);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    const int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
