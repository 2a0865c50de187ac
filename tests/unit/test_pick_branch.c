/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_pick_branch.c -- what one context knows of another deployment: of a device
 * elsewhere by the table, plug-ins and store of the host. */
#include <stdio.h>
#include <string.h>

#include "tests/support/pick_stage.h"
#include "tests/support/store_fixture.h"

/* "d0" is the host, which has no routes here; those of the stage were measured on "d1". */
static assay_status each_route(assay__store *store, const char *hex,
                               assay_status (*row)(void *, const assay__store_route *),
                               void *cookie)
{
    return strcmp(hex, "d1") == 0 ? fake_store_ops()->each_route(store, hex, row, cookie)
                                  : ASSAY_OK;
}

static void open_host(size_t kernels)
{
    static assay__store_ops ops;
    const assay_open_options bare = {.struct_size = sizeof bare, .bare = 1};

    ops = *fake_store_ops();
    ops.each_route = each_route;
    ck_assert_int_eq(assay__context_open("fake", &bare, &ops, "d0", &context), ASSAY_OK);
    ck_assert_int_eq(assay_table_register(assay_context_table(context), rows, kernels), ASSAY_OK);
    ask(PROBLEM);
}

static assay_context *branch_of(const char *hex)
{
    assay_context *branch = NULL;

    ck_assert_msg(assay__context_branch(context, hex, &branch) == ASSAY_OK, "%s",
                  assay_last_error());
    return branch;
}

static const char *picked_by(assay_context *by)
{
    assay_route route;

    return assay_pick(by, &question, &route) == ASSAY_OK ? route_text(&route) : assay_last_error();
}

START_TEST(branch_answers_for_its_own_deployment)
{
    open_host(KERNELS);
    assay_context *there = branch_of("d1");
    ck_assert_str_eq(picked_by(there), "tiled 16");
    ck_assert_str_eq(picked_by(context), "gemm 2 default");
    ck_assert_ptr_eq(assay__context_opening(there), &context->opening);
}
END_TEST

START_TEST(branch_is_one_for_each_deployment)
{
    open_host(KERNELS);
    assay_context *there = branch_of("d1"), *third = branch_of("d2");
    ck_assert(there != context && third != there);
    ck_assert_ptr_eq(branch_of("d1"), there);
    ck_assert_ptr_eq(branch_of("d2"), third);
    ck_assert_ptr_eq(branch_of("d0"), context);
    ck_assert_str_eq(picked_by(third), "gemm 2 default");
}
END_TEST

START_TEST(branch_learns_of_kernels_registered_later)
{
    open_host(BLAS + 1);
    assay_context *there = branch_of("d1");
    ck_assert_str_eq(picked_by(there), "gemm 2");
    ck_assert_int_eq(
        assay_table_register(assay_context_table(context), &rows[TILED], KERNELS - TILED),
        ASSAY_OK);
    ck_assert_str_eq(picked_by(there), "tiled 16");
}
END_TEST

START_TEST(branch_is_reloaded_with_its_root)
{
    open_host(KERNELS);
    assay_context *there = branch_of("d1");
    assay_site at = {.generation = 0};
    assay_route route;

    ck_assert_int_eq(assay_pick_at(there, &at, &question, &route), ASSAY_OK);
    ck_assert_str_eq(route_text(&route), "tiled 16");
    candidate(&routes[0], V_TILED16)->verdict = ASSAY__VERDICT_WRONG;
    ck_assert_int_eq(assay_reload(context), ASSAY_OK);
    ck_assert_int_eq(assay_pick_at(there, &at, &question, &route), ASSAY_OK);
    ck_assert_str_eq(route_text(&route), "gemm 2");
    fake.open_status = ASSAY_DB_DAMAGED;
    ck_assert_int_eq(assay_reload(context), ASSAY_OK); /* its handle is open */
}
END_TEST

/* A store that cannot be read makes no branch, and leaves none behind. */
START_TEST(branch_that_fails_is_none)
{
    assay_context *branch = NULL;

    open_host(KERNELS);
    fake.open_status = ASSAY_DB_DAMAGED;
    ck_assert_int_eq(assay__context_branch(context, "d1", &branch), ASSAY_DB_DAMAGED);
    ck_assert_ptr_null(context->branches);
    fake.open_status = ASSAY_OK;
    ck_assert_str_eq(picked_by(branch_of("d1")), "tiled 16");
}
END_TEST

/* Every store that was opened is closed with the root. */
START_TEST(branch_closes_with_its_root)
{
    open_host(KERNELS);
    (void)branch_of("d1");
    (void)branch_of("d2");
    const int before = fake.closed;
    assay_close(&context);
    ck_assert_int_eq(fake.closed, before + 3);
}
END_TEST

/* What a device has no evidence for is measured as what the host has none for: a problem is one
 * row, whoever was asked. */
START_TEST(branch_misses_are_those_of_its_root)
{
    char folder[256], row[256];
    assay_pick_stats stats;
    size_t rows_found = 0;

    open_host(KERNELS);
    assay_context *there = branch_of("d1"), *third = branch_of("d2");
    (void)picked_by(there); /* it has a route */
    store_folder_make(folder);
    const char *file = store_path(folder, "misses.csv");
    ck_assert_int_eq(assay_pick_misses_write(context, file), ASSAY_NOTFOUND);
    (void)picked_by(third);
    ck_assert_int_eq(assay_pick_misses_write(context, file), ASSAY_OK);
    (void)picked_by(context);
    assay_pick_stats_get(context, &stats);
    ck_assert(stats.hits == 1 && stats.misses == 2 && stats.misses_kept == 2);
    ck_assert_int_eq(assay_pick_misses_write(context, file), ASSAY_OK);
    FILE *f = fopen(file, "re");
    ck_assert_ptr_nonnull(f);
    while (fgets(row, sizeof row, f) != NULL)
        rows_found += strncmp(row, "matmul,", 7) == 0;
    fclose(f);
    ck_assert_uint_eq(rows_found, 1);
    store_folder_remove(folder);
}
END_TEST

static void fill(TCase *subject)
{
    tcase_add_test(subject, branch_misses_are_those_of_its_root);
    tcase_add_test(subject, branch_answers_for_its_own_deployment);
    tcase_add_test(subject, branch_is_one_for_each_deployment);
    tcase_add_test(subject, branch_learns_of_kernels_registered_later);
    tcase_add_test(subject, branch_is_reloaded_with_its_root);
    tcase_add_test(subject, branch_that_fails_is_none);
    tcase_add_test(subject, branch_closes_with_its_root);
}

int main(void)
{
    return stage_run("pick_branch", fill);
}
