/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_engine_pinned.c -- memory of the host that is fixed for a device: who may free
 * it, what it is after a recover, and that moves from it have a price of their own. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/deployment_host.h"
#include "runtime/engine_internal.h"
#include "runtime/host_pinned.h"
#include "tests/support/engine_case.h"
#include "tests/support/store_fixture.h"

static assay_context *context;
static assay_engine *engine;
static char folder[256];

/* One size each: a way is told by its time. */
static void put_way(assay__db *db, int64_t deployment, const char *source, const char *target,
                    double ns)
{
    const assay__db_transfer point = {
        .size_bytes = 4096, .samples = 7, .median_ns = ns, .lo_ns = ns - 1, .hi_ns = ns + 1};

    ck_assert_int_eq(assay__db_put_transfers(db, deployment, source, target, &point, 1), ASSAY_OK);
}

static void setup(void)
{
    assay_deployment here;
    assay__db *db = NULL;
    int64_t row = 0;

    setenv("ASSAY_FAKE", "discrete=1;devices=2", 1);
    store_folder_make(folder);
    ck_assert_int_eq(assay__deployment_host(&here), ASSAY_OK);
    ck_assert_int_eq(assay__db_open(store_path(folder, "s.db"), &db), ASSAY_OK);
    ck_assert_int_eq(assay__db_put_deployment(db, &here, NULL, &row), ASSAY_OK);
    put_way(db, row, "host:pageable", "fake:0/staging", 400);
    put_way(db, row, "fake:0", "host:pageable/staging", 500);
    put_way(db, row, "host:pinned", "fake:0/copy", 40);
    put_way(db, row, "fake:0", "host:pinned/copy", 50);
    put_way(db, row, "host:pinned", "fake:0/teleport", 1); /* no path that there is */
    put_way(db, row, "fake:0", "fake:0/copy", 20);
    put_way(db, row, "fake:0", "fake:1/peer", 70);
    put_way(db, row, "fake:1", "host:pageable/staging", 600);
    put_way(db, row, "host:pageable", "fake:1/staging", 450);
    assay__db_close(&db);
    context = engine_context_at(store_path(folder, "s.db"));
    ck_assert_int_eq(assay_engine_create(context, "fake", NULL, &engine), ASSAY_OK);
    ck_assert_int_eq(assay_engine_init(engine, 0), ASSAY_OK);
}

static void teardown(void)
{
    assay_engine_destroy(&engine);
    assay_close(&context);
    store_folder_remove(folder);
}

static void *pinned(uint64_t bytes)
{
    void *memory = NULL;

    ck_assert_msg(assay_engine_host_alloc(engine, bytes, &memory) == ASSAY_OK, "%s",
                  assay_last_error());
    ck_assert_ptr_nonnull(memory);
    ck_assert_uint_eq((uintptr_t)memory % 64, 0);
    return memory;
}

/* Two that move bytes both ways, while both engines are recovered, wait for nobody for ever. */
START_TEST(two_engines_are_entered_in_one_order)
{
    assay__engine_call there[2], back[2], alone[2];
    assay_engine *other = NULL;

    ck_assert_int_eq(assay_engine_create(context, "fake", NULL, &other), ASSAY_OK);
    ck_assert_int_eq(assay_engine_init(other, 1), ASSAY_OK);
    ck_assert_int_eq(assay__engines_enter(engine, other, "test", there), ASSAY_OK);
    ck_assert_int_eq(assay__engines_enter(other, engine, "test", back), ASSAY_OK);
    ck_assert_ptr_eq(there[0].engine, back[0].engine);
    ck_assert_ptr_eq(there[1].engine, back[1].engine);
    ck_assert_ptr_ne(there[0].engine, there[1].engine);
    ck_assert_int_eq(assay__engines_leave(there, ASSAY_OK), ASSAY_OK);
    ck_assert_int_eq(assay__engines_leave(back, ASSAY_INVALID), ASSAY_INVALID);
    ck_assert_int_eq(assay__engines_enter(engine, engine, "test", alone), ASSAY_OK);
    ck_assert_ptr_null(alone[1].engine);
    ck_assert_int_eq(assay__engines_leave(alone, ASSAY_OK), ASSAY_OK);
    /* Nobody is inside any more, or these would wait; the other's failure leaves the first. */
    ck_assert_int_eq(assay_engine_shutdown(other), ASSAY_OK);
    ck_assert_int_eq(assay__engines_enter(engine, other, "test", there), ASSAY_NOT_INITIALIZED);
    ck_assert_int_eq(assay_engine_shutdown(engine), ASSAY_OK);
    assay_engine_destroy(&other);
}
END_TEST

START_TEST(pinned_memory_moves_and_is_freed_once)
{
    unsigned char *memory = pinned(100), back[100] = "";
    const assay_buffer b = engine_alloc(engine, 100);
    void *none = NULL;

    memset(memory, 7, 100);
    ck_assert_int_eq(assay_engine_upload(engine, b, memory, 100), ASSAY_OK);
    ck_assert_int_eq(assay_engine_download(engine, back, b, 100), ASSAY_OK);
    ck_assert_mem_eq(memory, back, 100);
    ck_assert_int_eq(assay_engine_host_free(engine, NULL), ASSAY_OK);
    ck_assert_int_eq(assay_engine_host_free(engine, memory), ASSAY_OK);
    engine_refuses(assay_engine_host_free(engine, memory), ASSAY_FREED, "freed before");
    engine_refuses(assay_engine_host_free(engine, back), ASSAY_FOREIGN, "did not give");
    engine_refuses(assay_engine_host_alloc(engine, 0, &none), ASSAY_INVALID, "at least 1");
    engine_refuses(assay_engine_host_alloc(engine, UINT64_MAX, &none), ASSAY_NOMEM, "18446744");
    ck_assert_ptr_null(none);
}
END_TEST

START_TEST(pinned_memory_belongs_to_one_engine)
{
    assay_engine *other = NULL;
    void *memory = pinned(100);

    ck_assert_int_eq(assay_engine_create(context, "fake", NULL, &other), ASSAY_OK);
    engine_refuses(assay_engine_host_free(other, memory), ASSAY_NOT_INITIALIZED, "host_free");
    ck_assert_int_eq(assay_engine_init(other, 1), ASSAY_OK);
    engine_refuses(assay_engine_host_free(other, memory), ASSAY_FOREIGN, "did not give");
    ck_assert_int_eq(assay_engine_host_free(engine, memory), ASSAY_OK);
    assay_engine_destroy(&other);
    ck_assert_int_eq(assay_engine_create(context, "cpu", NULL, &other), ASSAY_OK);
    ck_assert_int_eq(assay_engine_init(other, 0), ASSAY_OK);
    engine_refuses(assay_engine_host_alloc(other, 100, &memory), ASSAY_UNSUPPORTED,
                   "pinned memory");
    assay_engine_destroy(&other);
    pinned(50);
    ck_assert_int_eq(assay_engine_shutdown(engine), ASSAY_OK); /* what is left goes with it */
    engine_refuses(assay_engine_host_alloc(engine, 100, &memory), ASSAY_NOT_INITIALIZED,
                   "host_alloc");
}
END_TEST

static double upload_ns(const void *from, uint64_t bytes)
{
    assay_transfer_cost cost = {.struct_size = sizeof cost};

    ck_assert_msg(assay_engine_upload_cost(engine, from, bytes, &cost) == ASSAY_OK, "%s",
                  assay_last_error());
    ck_assert(cost.lo_ns <= cost.median_ns && cost.median_ns <= cost.hi_ns);
    ck_assert_str_eq(cost.to, "fake:0");
    ck_assert_str_eq(cost.from, cost.median_ns < 100 ? "host:pinned" : "host:pageable");
    ck_assert_int_eq(cost.path, cost.median_ns < 100 ? ASSAY_PATH_COPY : ASSAY_PATH_STAGING);
    return cost.median_ns;
}

START_TEST(pinned_memory_has_its_own_price)
{
    static char plain[4096];
    assay_transfer_cost cost = {.struct_size = sizeof cost};
    char *memory = pinned(4096);

    ck_assert_double_eq_tol(upload_ns(memory, 4096), 40, 1e-9);
    ck_assert_double_eq_tol(upload_ns(memory + 96, 4000), 40, 1e-9);
    /* Not whole in one block: pageable. */
    ck_assert_double_eq_tol(upload_ns(memory + 96, 4001), 400, 1e-9);
    ck_assert_double_eq_tol(upload_ns(plain, 4096), 400, 1e-9);
    ck_assert_double_eq_tol(upload_ns(NULL, 4096), 400, 1e-9);
    ck_assert_int_eq(assay_engine_download_cost(engine, memory, 4096, &cost), ASSAY_OK);
    ck_assert_double_eq_tol(cost.median_ns, 50, 1e-9);
    ck_assert_int_eq(assay_engine_download_cost(engine, plain, 4096, &cost), ASSAY_OK);
    ck_assert_double_eq_tol(cost.median_ns, 500, 1e-9);
    cost.struct_size = 0;
    engine_refuses(assay_engine_upload_cost(engine, plain, 1, &cost), ASSAY_INVALID, "struct_size");
    ck_assert_int_eq(assay_engine_host_free(engine, memory), ASSAY_OK);
    ck_assert_double_eq_tol(upload_ns(memory, 4096), 400, 1e-9);
    ck_assert_int_eq(assay_engine_shutdown(engine), ASSAY_OK);
    ck_assert_int_eq(assay_engine_init(engine, 1), ASSAY_OK);
    cost = (assay_transfer_cost){.struct_size = sizeof cost, .median_ns = 3};
    memory = pinned(64);
    engine_refuses(assay_engine_upload_cost(engine, memory, 1, &cost), ASSAY_NOTFOUND,
                   "not measured here");
    ck_assert(cost.median_ns == 3);
}
END_TEST

/* The data stay, the price is that of any memory. */
START_TEST(pinned_memory_outlives_the_device)
{
    const assay_fault lost = {.struct_size = sizeof lost, .kind = ASSAY_FAULT_LOST, .times = 1};
    char *memory = pinned(4096);
    const assay_buffer b = engine_alloc(engine, 8);

    strcpy(memory, "kept");
    ck_assert_int_eq(assay_engine_recover(engine), ASSAY_OK); /* nothing happens */
    ck_assert_double_eq_tol(upload_ns(memory, 4096), 40, 1e-9);
    ck_assert_int_eq(assay_engine_inject(engine, &lost), ASSAY_OK);
    engine_refuses(assay_engine_fill(engine, b, 0, 8, 1), ASSAY_DEVICE_LOST, "lost");
    ck_assert_int_eq(assay_engine_recover(engine), ASSAY_OK);
    ck_assert_str_eq(memory, "kept");
    ck_assert_double_eq_tol(upload_ns(memory, 4096), 400, 1e-9);
    ck_assert_int_eq(assay_engine_host_free(engine, memory), ASSAY_OK);
}
END_TEST

/* The list of a gather is the caller's memory: where it is pinned its way over costs less. */
START_TEST(pinned_lists_are_priced_in_records)
{
    const float table[4] = {0, 1, 2, 3};
    const assay_engine_options options = {.struct_size = sizeof options, .allow_host_fallback = 1};
    int64_t plain[2] = {1, 0}, *list = pinned(sizeof plain);
    double took[4];

    assay_engine_destroy(&engine);
    ck_assert_int_eq(assay_engine_create(context, "fake", &options, &engine), ASSAY_OK);
    ck_assert_int_eq(assay_engine_init(engine, 0), ASSAY_OK);
    list = pinned(sizeof plain);
    memcpy(list, plain, sizeof plain);
    const assay_place in = {.buffer = engine_alloc(engine, sizeof table)},
                      out = {.buffer = engine_alloc(engine, sizeof table)};
    ck_assert_int_eq(assay_engine_upload(engine, in.buffer, table, sizeof table), ASSAY_OK);
    for (int i = 0; i < 4; i++) {
        assay_execution record = {.struct_size = sizeof record};
        assay_call call = {.struct_size = sizeof call,
                           .record = &record,
                           .policy.cache = i < 2 ? ASSAY_CACHE_HOT : ASSAY_CACHE_ROTATE};
        const assay_rows_args a = {.struct_size = sizeof a,
                                   .dtype = ASSAY_F32,
                                   .input = in,
                                   .output = out,
                                   .indices = i % 2 == 0 ? plain : list,
                                   .count = 2,
                                   .rows = 2,
                                   .cols = 2};
        ck_assert_msg(assay_gather(engine, &a, &call) == ASSAY_OK, "%s", assay_last_error());
        took[i] = record.transfer_ns;
    }
    /* The list over, three operands to the host, the result back. */
    ck_assert_double_eq_tol(took[0], 400 + 500 + 400, 1e-9);
    ck_assert_double_eq_tol(took[1], 40 + 500 + 400, 1e-9);
    /* Ways to and from a device have one price, whatever the question says of caches. */
    ck_assert(took[2] == took[0] && took[3] == took[1]);
}
END_TEST

static assay_engine *second(size_t device)
{
    assay_engine *other = NULL;

    ck_assert_int_eq(assay_engine_create(context, "fake", NULL, &other), ASSAY_OK);
    ck_assert_int_eq(assay_engine_init(other, device), ASSAY_OK);
    return other;
}

static void costs(assay_engine *from, assay_engine *to, double ns, assay_path path)
{
    assay_transfer_cost cost = {.struct_size = sizeof cost};

    ck_assert_msg(assay_engine_pair_cost(from, to, 4096, &cost) == ASSAY_OK, "%s",
                  assay_last_error());
    ck_assert_double_eq_tol(cost.median_ns, ns, 1e-9);
    ck_assert_int_eq(cost.path, path);
    ck_assert(cost.lo_ns < cost.median_ns && cost.median_ns < cost.hi_ns);
}

/* Both devices have their ways to the host; the straight one was measured in one direction. */
START_TEST(pairs_are_priced_by_peer_or_by_way_of_the_host)
{
    assay_engine *zero = second(0), *one = second(1), *also_zero = second(0), *closed = NULL;
    assay_transfer_cost cost = {.struct_size = sizeof cost};

    costs(zero, one, 70, ASSAY_PATH_PEER);
    costs(one, zero, 600 + 400, ASSAY_PATH_STAGING);
    ck_assert_int_eq(assay_engine_pair_cost(one, zero, 4096, &cost), ASSAY_OK);
    ck_assert_str_eq(cost.from, "fake:1");
    ck_assert_str_eq(cost.to, "fake:0");
    costs(zero, zero, 20, ASSAY_PATH_COPY);
    /* Another instance on one device: what is a copy within an engine is none between two. */
    costs(zero, also_zero, 500 + 400, ASSAY_PATH_STAGING);
    engine_refuses(assay_engine_pair_cost(one, one, 1, &cost), ASSAY_NOTFOUND, "not measured");
    ck_assert_int_eq(assay_engine_create(context, "fake", NULL, &closed), ASSAY_OK);
    engine_refuses(assay_engine_pair_cost(zero, closed, 1, &cost), ASSAY_NOT_INITIALIZED,
                   "pair_cost");
    engine_refuses(assay_engine_pair_cost(closed, zero, 1, &cost), ASSAY_NOT_INITIALIZED,
                   "pair_cost");
    assay_engine_destroy(&closed);
    assay_engine_destroy(&also_zero);
    assay_engine_destroy(&one);
    assay_engine_destroy(&zero); /* nobody is left inside any of them */
}
END_TEST

START_TEST(pairs_move_by_peer_or_by_way_of_the_host)
{
    assay_engine *to = second(1), *plain = NULL;
    unsigned char bytes[64], back[64] = "";
    const assay_buffer a = engine_alloc(engine, 64), b = engine_alloc(to, 64);
    assay_path path = ASSAY_PATH_SAME;

    for (int i = 0; i < 64; i++)
        bytes[i] = (unsigned char)i;
    ck_assert_int_eq(assay_engine_upload(engine, a, bytes, 64), ASSAY_OK);
    ck_assert_msg(assay_engine_copy_from(to, b, 4, engine, a, 10, 20, &path) == ASSAY_OK, "%s",
                  assay_last_error());
    ck_assert_int_eq(path, ASSAY_PATH_PEER);
    ck_assert_int_eq(assay_engine_download(to, back, b, 64), ASSAY_OK);
    ck_assert_mem_eq(back + 4, bytes + 10, 20);
    ck_assert(back[3] == 0 && back[24] == 0);
    engine_refuses(assay_engine_copy_from(to, b, 0, engine, a, 50, 20, NULL), ASSAY_INVALID,
                   "outside");
    engine_refuses(assay_engine_copy_from(to, b, 50, engine, a, 0, 20, NULL), ASSAY_INVALID,
                   "outside");
    engine_refuses(assay_engine_copy_from(to, a, 0, engine, a, 0, 1, NULL), ASSAY_FOREIGN, "other");
    engine_refuses(assay_engine_copy_from(to, b, 0, engine, b, 0, 1, NULL), ASSAY_FOREIGN, "other");
    engine_refuses(assay_engine_copy_from(to, b, 0, to, b, 8, 4, NULL), ASSAY_INVALID, "use copy");
    /* Another backend: by way of the host, and as well checked. */
    ck_assert_int_eq(assay_engine_create(context, "cpu", NULL, &plain), ASSAY_OK);
    engine_refuses(assay_engine_copy_from(plain, b, 0, engine, a, 0, 1, NULL),
                   ASSAY_NOT_INITIALIZED, "copy_from");
    ck_assert_int_eq(assay_engine_init(plain, 0), ASSAY_OK);
    const assay_buffer c = engine_alloc(plain, 64);
    ck_assert_int_eq(assay_engine_fill(plain, c, 0, 64, 9), ASSAY_OK);
    ck_assert_int_eq(assay_engine_copy_from(plain, c, 8, engine, a, 32, 32, &path), ASSAY_OK);
    ck_assert_int_eq(path, ASSAY_PATH_STAGING);
    ck_assert_int_eq(assay_engine_download(plain, back, c, 64), ASSAY_OK);
    ck_assert_mem_eq(back + 8, bytes + 32, 32);
    ck_assert(back[7] == 9 && back[40] == 9);
    engine_refuses(assay_engine_copy_from(plain, c, 40, engine, a, 0, 32, NULL), ASSAY_INVALID,
                   "leave one of them");
    engine_refuses(assay_engine_copy_from(plain, c, 0, engine, a, 40, 32, NULL), ASSAY_INVALID,
                   "leave one of them");
    engine_refuses(assay_engine_copy_from(plain, a, 0, engine, a, 0, 1, NULL), ASSAY_FOREIGN,
                   "other");
    engine_refuses(assay_engine_copy_from(plain, c, 0, engine, c, 0, 1, NULL), ASSAY_FOREIGN,
                   "other");
    assay_engine_destroy(&plain);
    assay_engine_destroy(&to);
}
END_TEST

START_TEST(pinned_places_are_taken_again)
{
    static char bytes[200];
    assay__pinned list;
    assay__pinned_block was;

    assay__pinned_init(&list);
    for (int i = 0; i < 200; i++) {
        ck_assert(assay__pinned_add(&list, bytes + i, 1));
        ck_assert_int_eq(assay__pinned_take(&list, bytes + i, &was), ASSAY_OK);
        ck_assert_int_eq(assay__pinned_take(&list, bytes + i, &was), ASSAY_FREED);
    }
    ck_assert_uint_le(list.count, 64);
    ck_assert_int_eq(assay__pinned_take(&list, bytes + 100, &was), ASSAY_FOREIGN); /* long ago */
    ck_assert(!assay__pinned_holds(&list, bytes + 199, 1));
    assay__pinned_clear(&list);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("engine_pinned");
    TCase *all = tcase_create("pinned");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, pinned_memory_moves_and_is_freed_once);
    tcase_add_test(all, two_engines_are_entered_in_one_order);
    tcase_add_test(all, pinned_memory_belongs_to_one_engine);
    tcase_add_test(all, pinned_memory_has_its_own_price);
    tcase_add_test(all, pinned_memory_outlives_the_device);
    tcase_add_test(all, pinned_lists_are_priced_in_records);
    tcase_add_test(all, pairs_are_priced_by_peer_or_by_way_of_the_host);
    tcase_add_test(all, pairs_move_by_peer_or_by_way_of_the_host);
    tcase_add_test(all, pinned_places_are_taken_again);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
