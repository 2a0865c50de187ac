/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_null.c -- the backend that does nothing: what it refuses, and that it is chosen
 * only when named. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/select.h"
#include "runtime/backend_slots.h"
#include "tests/support/engine_case.h"
#include "tests/support/plugin_case.h"

static assay__backend null;

static void setup(void)
{
    ck_assert_int_eq(assay__backend_init(plugin_load("null")->backend, &null), ASSAY_OK);
    ck_assert_int_eq(assay__backend_open(&null), ASSAY_OK);
}

static void teardown(void)
{
    assay__backend_close(&null);
}

static void refused(assay_status status, const char *operation)
{
    char begin[64];

    snprintf(begin, sizeof begin, "%s: ", operation);
    ck_assert_msg(status == ASSAY_UNSUPPORTED, "%s: %d", operation, (int)status);
    ck_assert_msg(strncmp(assay_last_error(), begin, strlen(begin)) == 0, "%s: '%s'", operation,
                  assay_last_error());
    ck_assert_msg(strstr(assay_last_error(), "assay devices") != NULL, "%s: no remedy: '%s'",
                  operation, assay_last_error());
}
#define REFUSED(slot, ...) refused(assay__backend_##slot(&null, __VA_ARGS__), #slot)

START_TEST(null_refuses_memory)
{
    assay_buffer b = {.owner = 1};
    const assay_transfer piece = {.buffer = b};
    char memory[8];
    void *host = memory;
    uint64_t bytes = 8;

    REFUSED(alloc, 8, 64, &b);
    REFUSED(free, b);
    REFUSED(copy, b, 0, b, 0, 1);
    REFUSED(fill, b, 0, 1, 7);
    REFUSED(wrap, memory, 8, &b);
    REFUSED(upload, &piece, 1);
    REFUSED(download, &piece, 1);
    REFUSED(map, b, &host, &bytes);
    ck_assert_uint_eq(b.owner, 1);
    ck_assert(host == memory && bytes == 8);
}
END_TEST

static assay_status never(const assay_launch *launch)
{
    (void)launch;
    ck_abort_msg("a kernel ran");
    return ASSAY_INTERNAL;
}

START_TEST(null_refuses_work)
{
    const assay_launch launch = {.struct_size = sizeof launch};
    const assay_fault fault = {.struct_size = sizeof fault};
    assay_probe probe = {.struct_size = sizeof probe};
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    void *host = NULL;
    assay_clock_info clock;
    double ns = 0;
    bool yes = false;
    char text[64];
    uint64_t sum;

    REFUSED(launch, never, &launch);
    REFUSED(measure, &(const assay_measure){.run = never}, &clock);
    REFUSED(library_identity, "libm.so.6", text, sizeof text);
    refused(assay__backend_recover(&null), "recover");
    REFUSED(queue_create, &queue);
    REFUSED(queue_destroy, queue);
    REFUSED(queue_wait, queue);
    REFUSED(event_create, &event);
    REFUSED(event_destroy, event);
    REFUSED(event_record, event, queue);
    REFUSED(event_wait, event);
    REFUSED(event_ready, event, &yes);
    REFUSED(event_elapsed, event, event, &ns);
    REFUSED(inject, &fault);
    REFUSED(grid_fits, 1, 1, &yes);
    REFUSED(host_alloc, 1, &host);
    REFUSED(host_free, &yes);
    REFUSED(peer_copy, (assay_buffer){.owner = 1}, 0, NULL, (assay_buffer){.owner = 1}, 0, 0);
    REFUSED(probe, &probe);
    REFUSED(digest, (assay_buffer){.owner = 1}, 0, 8, 8, 1, &sum);
    ck_assert(queue == NULL && event == NULL && !yes);
}
END_TEST

START_TEST(null_tells_and_waits)
{
    assay_device_info info;
    assay_device_profile profile;
    assay_instance_state state;
    assay_metric metric;
    size_t count = 7;

    ck_assert_int_eq(assay__backend_device_count(&null, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(assay__backend_device_info(&null, 0, &info), ASSAY_OK);
    ck_assert_str_eq(info.name, "null");
    ck_assert_int_eq(assay__backend_device_info(&null, 1, &info), ASSAY_INVALID);
    memset(&profile, 0x5a, sizeof profile);
    ck_assert_int_eq(assay__backend_device_profile(&null, 0, &profile), ASSAY_OK);
    ck_assert(profile.features == 0 && profile.max_buffer_bytes == 0 && profile.dtypes == 0);
    ck_assert(profile.bytes_per_ns != profile.bytes_per_ns);
    ck_assert_uint_eq(assay_capability_score(&profile), 0);
    ck_assert_int_eq(assay__backend_device_profile(&null, 1, &profile), ASSAY_INVALID);
    ck_assert_int_eq(assay__backend_select_device(&null, 0), ASSAY_OK);
    ck_assert_int_eq(assay__backend_select_device(&null, 1), ASSAY_UNSUPPORTED);
    ck_assert_int_eq(assay__backend_state(&null, &state), ASSAY_OK);
    ck_assert(state.generation == 1 && state.is_lost == 0 && state.live_buffers == 0);
    ck_assert_int_eq(assay__backend_prepare(&null), ASSAY_OK);
    ck_assert_int_eq(assay__backend_flush(&null), ASSAY_OK);
    ck_assert_int_eq(assay__backend_synchronize(&null), ASSAY_OK);
    ck_assert_int_eq(assay__backend_metrics(&null, &metric, 1, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 0);
}
END_TEST

/* A plug-in may be opened by who gives it no host: then the status is all it tells. */
START_TEST(null_opens_without_a_host)
{
    const assay_backend *backend = plugin_load("null")->backend;
    assay_instance *instance = NULL;
    assay_buffer b;

    ck_assert_int_eq(backend->open(NULL, &instance), ASSAY_OK);
    ck_assert_int_eq(backend->alloc(instance, 8, 64, &b), ASSAY_UNSUPPORTED);
    backend->close(instance);
}
END_TEST

/* Its engine is initialised from the start and for ever, so that no call is told to init it. */
START_TEST(null_is_initialized_always)
{
    assay_context *context = engine_context();
    assay_engine *engine = engine_create(context, "null", NULL);
    const assay_place p = {.buffer = {.owner = 1, .size_bytes = 4}};
    assay_buffer b;

    for (int round = 0; round < 2; round++) {
        ck_assert(assay_engine_is_initialized(engine) && !assay_engine_is_lost(engine));
        ck_assert_int_eq(assay_engine_init(engine, 0), ASSAY_OK);
        ck_assert_int_eq(assay_engine_synchronize(engine), ASSAY_OK);
        ck_assert_int_eq(assay_engine_alloc(engine, 8, 0, &b), ASSAY_UNSUPPORTED);
        ck_assert_int_ne(assay_unary(engine, ASSAY_UNARY_EXP, ASSAY_F32, p, p, 1, NULL),
                         ASSAY_NOT_INITIALIZED);
        for (int f = 0; f < (int)ASSAY_FEATURE_COUNT; f++)
            ck_assert(!assay_engine_supports(engine, (assay_feature)f));
        ck_assert_int_eq(assay_engine_shutdown(engine), ASSAY_OK);
    }
    assay_engine_destroy(&engine);
    assay_close(&context);
}
END_TEST

START_TEST(null_is_chosen_only_when_named)
{
    const char *build = getenv("ASSAY_BUILD");
    const assay_select_request named = {.struct_size = sizeof named, .pin = "null"};
    char file[512];
    const assay_open_options options = {.struct_size = sizeof options, .plugin_path = file};
    assay_context *context = NULL;
    assay_registry *registry = NULL;
    assay_engine *engine = NULL;
    assay_selection selection;
    assay_buffer b;

    snprintf(file, sizeof file, "%s/lib/assay/assay_null.so", build != NULL ? build : "build");
    ck_assert_msg(assay_open(NULL, &options, &context) == ASSAY_OK, "%s", assay_last_error());
    ck_assert_int_eq(assay_registry_create(context, &registry), ASSAY_OK);
    ck_assert_int_eq(assay_select(registry, NULL, &selection), ASSAY_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "null: is chosen only when named"));
    ck_assert_int_eq(assay_select(registry, &named, &selection), ASSAY_OK);
    ck_assert_str_eq(selection.name, "null");
    ck_assert_int_eq(assay_acquire_preferred(registry, &named, NULL, &engine, NULL),
                     ASSAY_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "null: has no kernels"));
    ck_assert_int_eq(assay_acquire(registry, "null", NULL, &engine), ASSAY_OK);
    ck_assert_int_eq(assay_engine_synchronize(engine), ASSAY_OK);
    ck_assert_int_eq(assay_engine_alloc(engine, 8, 0, &b), ASSAY_UNSUPPORTED);
    assay_engine_destroy(&engine);
    assay_registry_destroy(&registry);
    assay_close(&context);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("null");
    TCase *slots = tcase_create("slots"), *chosen = tcase_create("chosen");

    tcase_add_checked_fixture(slots, setup, teardown);
    tcase_add_test(slots, null_refuses_memory);
    tcase_add_test(slots, null_refuses_work);
    tcase_add_test(slots, null_tells_and_waits);
    tcase_add_test(chosen, null_opens_without_a_host);
    tcase_add_test(chosen, null_is_initialized_always);
    tcase_add_test(chosen, null_is_chosen_only_when_named);
    suite_add_tcase(suite, slots);
    suite_add_tcase(suite, chosen);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
