/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_transfers.c -- the probe of transfers over scripted devices: which paths it
 * measures, and how it shares its time out. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "tuner/transfers.h"

static assay__plugins *plugins;
static assay_manifest manifest;
static assay_backend slots;
static json_t *reply;

static assay_status pins_nothing(assay_instance *instance, uint64_t bytes, void **out)
{
    (void)instance;
    (void)bytes;
    (void)out;
    return assay__fail(ASSAY_NOMEM, "no page may be pinned");
}

/* On scripted devices apart, where a call takes 800 ns and a byte 0.25 ns. */
static void measure(const char *script, bool pins, double seconds)
{
    const char *build = getenv("ASSAY_BUILD");
    assay__plugin *plugin;
    char path[512];

    (void)setenv("ASSAY_FAKE", script, 1);
    (void)setenv("ASSAY_FAKE_PEAKS", "", 1);
    (void)setenv("ASSAY_FAKE_TRANSFERS", "800 0.25", 1);
    (void)snprintf(path, sizeof path, "%s/lib/assay/assay_fake.so",
                   build != NULL ? build : "build");
    ck_assert_int_eq(assay__plugins_load(path, NULL, &plugins), ASSAY_OK);
    plugin = assay__plugins_find(plugins, "fake");
    ck_assert_ptr_nonnull(plugin);
    manifest = *plugin->manifest;
    slots = *manifest.backend;
    manifest.backend = &slots;
    if (!pins)
        slots.host_alloc = pins_nothing;
    plugin->manifest = &manifest;
    reply = json_object();
    ck_assert_msg(assay__transfers_measure(plugins, seconds, reply) == ASSAY_OK, "%s",
                  assay_last_error());
}

static void teardown(void)
{
    json_decref(reply);
    assay__plugins_destroy(&plugins);
}

/* Sizes of the path number `i` whose target ends so; 0: there are no more. */
static size_t sizes_of(const char *tail, size_t i)
{
    const json_t *path;
    size_t k, seen = 0;

    json_array_foreach(json_object_get(reply, "transfers"), k, path)
    {
        const char *target = json_string_value(json_object_get(path, "target"));
        const char *at = strrchr(target, '/');
        if (at != NULL && strcmp(at, tail) == 0 && seen++ == i)
            return json_array_size(json_object_get(path, "sizes"));
    }
    return 0;
}

/* The last of them is as well known as the first. */
START_TEST(pairs_share_the_time_evenly)
{
    measure("devices=3;discrete=1", true, 0.1);
    const size_t first = sizes_of("/peer", 0);
    ck_assert_uint_gt(first, 2);
    for (size_t i = 1; i < 6; i++) {
        ck_assert_uint_ge(sizes_of("/peer", i) + 1, first);
        ck_assert_uint_le(sizes_of("/peer", i), first + 1);
    }
    ck_assert_uint_eq(sizes_of("/peer", 6), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(reply, "absent")), 0);
}
END_TEST

/* Where no page may be pinned what goes by pageable memory is measured all the same, and it is
 * told what is not. */
START_TEST(paths_are_measured_without_pinned_memory)
{
    measure("devices=1;discrete=1", false, 0.5);
    ck_assert_uint_eq(json_array_size(json_object_get(reply, "transfers")), 3);
    ck_assert_uint_gt(sizes_of("/staging", 0), 4);
    ck_assert_uint_gt(sizes_of("/staging", 1), 4);
    const json_t *absent = json_object_get(reply, "absent");
    ck_assert_uint_eq(json_array_size(absent), 1);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(absent, 0), "memory")),
                     "host:pinned");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(absent, 0), "reason")),
                     "no page may be pinned");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("transfers");
    TCase *tc = tcase_create("transfers");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, NULL, teardown);
    tcase_add_test(tc, pairs_share_the_time_evenly);
    tcase_add_test(tc, paths_are_measured_without_pinned_memory);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
