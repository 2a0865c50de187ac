/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_engine_turned.c -- prices of moves follow the device and not its number: devices
 * of different models that come in another order keep each its own. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/transfer_price.h"
#include "tests/support/engine_case.h"
#include "tests/support/store_fixture.h"

static char folder[256];
static assay_context *context;

static int64_t device_row(assay__db *db, const char *name, char hex[ASSAY_DIGEST_HEX])
{
    assay_deployment there;
    assay_digest digest;
    int64_t row = 0;

    ck_assert_int_eq(assay_deployment_read("far", name, "scripted", "none", &there), ASSAY_OK);
    assay_deployment_digest(&there, &digest);
    assay_digest_format(&digest, hex);
    ck_assert_int_eq(assay__db_put_deployment(db, &there, NULL, &row), ASSAY_OK);
    return row;
}

static void put_way(assay__db *db, int64_t row, const char *source, const char *target, double ns)
{
    const assay__db_transfer point = {
        .size_bytes = 4096, .samples = 7, .median_ns = ns, .lo_ns = ns, .hi_ns = ns};

    ck_assert_int_eq(assay__db_put_transfers(db, row, source, target, &point, 1), ASSAY_OK);
}

/* Two models: uploads take 100 and 900; from the first to the second takes 50. */
static void setup(void)
{
    char hex[2][ASSAY_DIGEST_HEX], seen[ASSAY__MEMORY_MAX];
    assay__db *db = NULL;

    store_folder_make(folder);
    ck_assert_int_eq(assay__db_open(store_path(folder, "s.db"), &db), ASSAY_OK);
    const int64_t first = device_row(db, "Scripted device 0", hex[0]);
    const int64_t second = device_row(db, "Scripted device 1", hex[1]);
    put_way(db, first, "host:pageable", "far:0/staging", 100);
    put_way(db, second, "host:pageable", "far:0/staging", 900);
    /* As stores of before have it: all by number, with the first device. */
    put_way(db, first, "host:pageable", "far:1/staging", 7);
    put_way(db, first, "far:0", "far:1/peer", 8);
    assay__memory_seen_from("far:0", hex[0], hex[1], seen);
    put_way(db, second, seen, "far:0/peer", 50);
    assay__db_close(&db);
}

static void teardown(void)
{
    assay_close(&context);
    store_folder_remove(folder);
}

static void open_script(const char *script)
{
    const char *build = getenv("ASSAY_BUILD");
    char path[1024];

    setenv("ASSAY_FAKE", script, 1);
    snprintf(path, sizeof path, "%s/tests/far", build != NULL ? build : "build");
    const assay_open_options options = {.struct_size = sizeof options, .plugin_path = path};
    ck_assert_msg(assay_open(store_path(folder, "s.db"), &options, &context) == ASSAY_OK, "%s",
                  assay_last_error());
}

static assay_engine *device(size_t number)
{
    assay_engine *engine = engine_create(context, "far", NULL);

    ck_assert_msg(assay_engine_init(engine, number) == ASSAY_OK, "%s", assay_last_error());
    return engine;
}

static double upload_ns(assay_engine *engine, const char *to)
{
    assay_transfer_cost cost = {.struct_size = sizeof cost};

    ck_assert_msg(assay_engine_upload_cost(engine, NULL, 4096, &cost) == ASSAY_OK, "%s",
                  assay_last_error());
    ck_assert_str_eq(cost.from, "host:pageable");
    ck_assert_str_eq(cost.to, to);
    return cost.median_ns;
}

START_TEST(prices_follow_the_device)
{
    static const char *const scripts[] = {"devices=2", "devices=2;turned=1"};
    static const char *const names[] = {"far:0", "far:1"};
    assay_transfer_cost cost = {.struct_size = sizeof cost};

    open_script(scripts[_i]);
    assay_engine *first = device((size_t)_i), *second = device(1 - (size_t)_i);
    ck_assert_double_eq_tol(upload_ns(first, names[_i]), 100, 1e-9);
    ck_assert_double_eq_tol(upload_ns(second, names[1 - _i]), 900, 1e-9);
    ck_assert_msg(assay_engine_pair_cost(first, second, 4096, &cost) == ASSAY_OK, "%s",
                  assay_last_error());
    ck_assert_double_eq_tol(cost.median_ns, 50, 1e-9);
    ck_assert_int_eq(cost.path, ASSAY_PATH_PEER);
    ck_assert_str_eq(cost.from, names[_i]);
    ck_assert_str_eq(cost.to, names[1 - _i]);
    engine_refuses(assay_engine_pair_cost(second, first, 4096, &cost), ASSAY_NOTFOUND,
                   "not measured");
    assay_engine_destroy(&second);
    assay_engine_destroy(&first);
}
END_TEST

/* Of one model their number among themselves tells them apart, whoever stands between. */
START_TEST(prices_of_alike_devices_go_by_their_place)
{
    assay_engine *engines[3];

    open_script("devices=3;alike=2;turned=1"); /* 1, 0, 0 */
    for (size_t i = 0; i < 3; i++)
        engines[i] = device(i);
    ck_assert_double_eq_tol(upload_ns(engines[0], "far:0"), 900, 1e-9);
    ck_assert_double_eq_tol(upload_ns(engines[1], "far:1"), 100, 1e-9);
    ck_assert_double_eq_tol(upload_ns(engines[2], "far:2"), 7, 1e-9);
    for (size_t i = 0; i < 3; i++)
        assay_engine_destroy(&engines[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_turned");
    TCase *prices = tcase_create("prices");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(prices, setup, teardown);
    tcase_add_loop_test(prices, prices_follow_the_device, 0, 2);
    tcase_add_test(prices, prices_of_alike_devices_go_by_their_place);
    suite_add_tcase(suite, prices);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
