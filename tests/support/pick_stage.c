/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/pick_stage.c -- three kernels of matmul f32, a store in memory, one question. */
#include "tests/support/pick_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/revision.h"

const char *const shapes[SHAPES] = {
    "matmul f32,f32,f32 m=64,n=64,k=64",         "matmul f32,f32,f32 m=64,n=64,k=65",
    "matmul f32,f32,f32 m=63,n=64,k=64",         "matmul f32,f32,f32 m=64,n=64,k=64,trans_a=t",
    "matmul f32,f32,f32 batch=2,m=64,n=64,k=64", "matmul f64,f64,f64 m=64,n=64,k=64"};

static const int64_t threads_values[] = {1, 2}, tile_values[] = {8, 16};
static const assay_tunable threads_tunable[] = {{"threads", threads_values, 2, 2, ""}};
static const assay_tunable tile_tunable[] = {{"tile", tile_values, 2, 8, ""}};

assay_manifest blas, cpu, ref;
assay_kernel_desc descs[KERNELS];
assay_binding rows[KERNELS];
fake_route routes[FAKE_ROWS];
assay_context *context;
assay_question question;
assay_explanation *why;
assay_site site;

static void add_revision(uint64_t row, int kernel, const char *tunables, int64_t value)
{
    const assay_kernel_desc *d = &descs[kernel];
    assay__store_revision *r = &fake.revisions[fake.revision_count++];

    *r = (assay__store_revision){.row = row,
                                 .kernel = d->name,
                                 .backend = rows[kernel].manifest->name,
                                 .op = "matmul",
                                 .dtypes = "f32,f32,f32",
                                 .tunables = tunables,
                                 .kernel_revision = rows[kernel].revision};
    ck_assert_int_eq(assay__variant_revision(&rows[kernel].revision, d->tunables, &value,
                                             d->tunable_count, &r->variant_revision),
                     ASSAY_OK);
}

fake_route *add_route(const char *problem, uint32_t align)
{
    fake_route *r = &routes[fake.route_count++];

    memset(r, 0, sizeof *r);
    r->problem = problem;
    r->layout = "ccc";
    r->policy = "rotate/alone/kernel";
    r->align = align;
    return r;
}

void add_candidate(fake_route *r, uint64_t variant, double ns)
{
    r->candidates[r->count++] = fake_candidate(variant, ns);
}

assay__route_candidate *candidate(fake_route *r, uint64_t variant)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->candidates[i].revision_row == variant)
            return &r->candidates[i];
    ck_abort_msg("no candidate %d", (int)variant);
    return NULL;
}

void stage_setup(void)
{
    memset(&fake, 0, sizeof fake);
    fake.routes = routes;
    blas = rows_manifest("blas");
    cpu = rows_manifest("cpu");
    ref = rows_manifest("ref");
    ref.explicit_only = 1;
    descs[BLAS] = rows_desc("gemm", ASSAY_OP_matmul, ASSAY_F32, 0);
    descs[BLAS].tunables = threads_tunable;
    descs[BLAS].tunable_count = 1;
    descs[TILED] = rows_desc("tiled", ASSAY_OP_matmul, ASSAY_F32, 10);
    descs[TILED].tunables = tile_tunable;
    descs[TILED].tunable_count = 1;
    descs[PLAIN] = rows_desc("plain", ASSAY_OP_matmul, ASSAY_F32, 20);
    rows[BLAS] = rows_binding(&blas, &descs[BLAS], 1);
    rows[TILED] = rows_binding(&cpu, &descs[TILED], 2);
    rows[PLAIN] = rows_binding(&cpu, &descs[PLAIN], 3);
    add_revision(V_BLAS1, BLAS, "threads=1", 1);
    add_revision(V_BLAS2, BLAS, "threads=2", 2);
    add_revision(V_TILED8, TILED, "tile=8", 8);
    add_revision(V_TILED16, TILED, "tile=16", 16);
    add_revision(V_PLAIN, PLAIN, "", 0);
    add_route(PROBLEM, 16);
    add_candidate(&routes[0], V_BLAS1, 100);
    add_candidate(&routes[0], V_BLAS2, 60);
    add_candidate(&routes[0], V_TILED16, 50);
    add_candidate(&routes[0], V_PLAIN, 900);
    routes[0].winner = V_TILED16;
    context = NULL;
    why = NULL;
}

void stage_teardown(void)
{
    assay_explanation_destroy(&why);
    assay_close(&context);
    ck_assert_ptr_null(context);
}

void open_context(void)
{
    const assay_open_options bare = {.struct_size = sizeof bare, .bare = 1};

    ck_assert_msg(assay__context_open("fake", &bare, fake_store_ops(), "d0", &context) == ASSAY_OK,
                  "%s", assay_last_error());
    ck_assert_msg(assay_table_register(assay_context_table(context), rows, KERNELS) == ASSAY_OK,
                  "%s", assay_last_error());
}

void ask(const char *problem)
{
    assay_problem p;

    ck_assert_msg(assay_problem_parse(problem, &p) == ASSAY_OK, "%s", assay_last_error());
    assay_question_init(&p, &question);
}

const char *route_text(const assay_route *route)
{
    static char text[96];

    snprintf(text, sizeof text, "%s %d%s", route->binding->desc->name,
             route->binding->desc->tunable_count > 0 ? (int)route->tunables[0] : 0,
             (route->flags & 1) != 0 ? " default" : "");
    return text;
}

const char *picked(void)
{
    assay_route route;

    if (context == NULL)
        open_context();
    return assay_pick(context, &question, &route) == ASSAY_OK ? route_text(&route)
                                                              : assay_last_error();
}

/* In a buffer of its own, so that it can be compared with picked(). */
const char *picked_at(void)
{
    static char text[1024];
    assay_route route;
    bool ok = assay_pick_at(context, &site, &question, &route) == ASSAY_OK;

    snprintf(text, sizeof text, "%s", ok ? route_text(&route) : assay_last_error());
    return text;
}

const assay_candidate *explained(const char *kernel, int64_t tunable)
{
    if (context == NULL)
        open_context();
    assay_explanation_destroy(&why);
    ck_assert_msg(assay_explain(context, &question, &why) == ASSAY_OK, "%s", assay_last_error());
    for (size_t i = 0; i < why->candidate_count; i++)
        if (strcmp(why->candidates[i].kernel, kernel) == 0 &&
            (why->candidates[i].tunable_count == 0 || why->candidates[i].tunables[0] == tunable))
            return &why->candidates[i];
    ck_abort_msg("%s %d is not explained", kernel, (int)tunable);
    return NULL;
}

void all_answers(char out[SHAPES][96])
{
    for (size_t i = 0; i < SHAPES; i++) {
        ask(shapes[i]);
        snprintf(out[i], 96, "%.95s", picked());
    }
}

int stage_run(const char *name, void (*fill)(TCase *subject))
{
    Suite *suite = suite_create(name);
    TCase *subject = tcase_create(name);
    SRunner *runner;
    int bad;

    tcase_add_checked_fixture(subject, stage_setup, stage_teardown);
    fill(subject);
    suite_add_tcase(suite, subject);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
