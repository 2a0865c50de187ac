/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/select_stage.c -- see select_stage.h. */
#include "tests/support/select_stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/pick_internal.h"
#include "runtime/revision.h"
#include "tests/support/fake_store.h"

assay_context *select_context;
assay_registry *select_registry;
assay_selection selected;

static const char *const names[] = {"absent", "bare",   "card_a", "card_b", "hidden",
                                    "host_a", "host_b", "oracle", "vk"};
static char folder[512];
static fake_route route;

void select_setup(void)
{
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 16);

    ck_assert_int_gt(n, 0);
    folder[n] = '\0';
    strcpy(strrchr(folder, '/'), "/select");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        select_script(names[i], "");
    select_context = NULL;
    select_registry = NULL;
    memset(&selected, 0, sizeof selected);
    memset(&fake, 0, sizeof fake);
}

void select_teardown(void)
{
    assay_registry_destroy(&select_registry);
    assay_close(&select_context);
    ck_assert_ptr_null(select_registry);
}

void select_script(const char *name, const char *script)
{
    char variable[64];

    snprintf(variable, sizeof variable, "SELECT_%s", name);
    ck_assert_int_eq(setenv(variable, script, 1), 0);
}

void select_features(const char *name, uint64_t features)
{
    char script[64];

    snprintf(script, sizeof script, "features=%#" PRIx64, features);
    select_script(name, script);
}

static void open_stage(const char *backends, const assay__store_ops *ops)
{
    const assay_open_options options = {
        .struct_size = sizeof options, .plugin_path = folder, .backends = backends};

    assay_registry_destroy(&select_registry);
    assay_close(&select_context);
    ck_assert_msg(assay__context_open(ops != NULL ? "fake" : NULL, &options,
                                      ops != NULL ? ops : fake_store_ops(), "d0",
                                      &select_context) == ASSAY_OK,
                  "%s", assay_last_error());
    ck_assert_int_eq(assay_registry_create(select_context, &select_registry), ASSAY_OK);
}

void select_open(const char *backends)
{
    open_stage(backends, NULL);
}

/* Variant number `row` is the backend's matmul, as this process's table has it. */
static void add_revision(uint64_t row, const char *backend)
{
    assay__store_revision *r = &fake.revisions[fake.revision_count++];
    const assay_snapshot *snapshot;
    const assay_binding *rows = NULL;
    const uint8_t dtypes[] = {ASSAY_F32, ASSAY_F32, ASSAY_F32};

    ck_assert_int_eq(assay_table_hold(assay_context_table(select_context), &snapshot), ASSAY_OK);
    ck_assert_uint_eq(
        assay_snapshot_alternatives(snapshot, ASSAY_OP_matmul, dtypes, 3, backend, &rows), 1);
    *r = (assay__store_revision){.row = row,
                                 .kernel = rows->desc->name, /* the plug-in's, like its name */
                                 .backend = rows->manifest->name,
                                 .op = "matmul",
                                 .dtypes = "f32,f32,f32",
                                 .tunables = "",
                                 .kernel_revision = rows->revision};
    ck_assert_int_eq(assay__variant_revision(&rows->revision, NULL, NULL, 0, &r->variant_revision),
                     ASSAY_OK);
    assay_snapshot_release(&snapshot);
}

void select_open_measured(const char *backends, const char *const *measured, size_t count)
{
    open_stage(backends, NULL); /* revisions are known only now */
    memset(&route, 0, sizeof route);
    route.problem = "matmul f32,f32,f32 m=64,n=64,k=64";
    route.layout = "ccc";
    route.policy = "rotate/alone/kernel";
    route.align = 16;
    route.winner = 1;
    for (size_t i = 0; i < count; i++) {
        add_revision(i + 1, measured[i]);
        route.candidates[route.count++] = fake_candidate(i + 1, 100.0 * (double)(i + 1));
    }
    fake.routes = &route;
    fake.route_count = 1;
    open_stage(backends, fake_store_ops());
}

const char *select_name(const assay_select_request *request)
{
    assay_status status = assay_select(select_registry, request, &selected);

    if (status == ASSAY_OK)
        return selected.name;
    ck_assert_int_eq(status, ASSAY_UNSUPPORTED);
    return assay_last_error();
}

const char *select_routed(assay_op_class op_class, const assay_question *question)
{
    assay_status status = assay_route_class(select_registry, op_class, question, &selected);

    if (status == ASSAY_OK)
        return selected.name;
    ck_assert_int_eq(status, ASSAY_UNSUPPORTED);
    return assay_last_error();
}

int select_run(const char *name, void (*fill)(TCase *subject))
{
    Suite *suite = suite_create(name);
    TCase *subject = tcase_create(name);

    tcase_set_timeout(subject, 60);
    tcase_add_checked_fixture(subject, select_setup, select_teardown);
    fill(subject);
    suite_add_tcase(suite, subject);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
