/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_compute_apart.c -- typed calls on a device whose memory the host does not reach,
 * which backend fake scripts: native there, on the host where that is allowed, refused else. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/deployment_host.h"
#include "runtime/revision.h"
#include "tests/support/engine_case.h"
#include "tests/support/store_fixture.h"

static assay_context *context;
static assay_engine *engine;

static void setup(void)
{
    setenv("ASSAY_FAKE", "discrete=1", 1);
    context = engine_context();
}

static void teardown(void)
{
    assay_engine_destroy(&engine);
    assay_close(&context);
}

static void open_engine(bool allow)
{
    const assay_engine_options options = {.struct_size = sizeof options,
                                          .allow_host_fallback = allow};

    ck_assert_int_eq(assay_engine_create(context, "fake", &options, &engine), ASSAY_OK);
    ck_assert_int_eq(assay_engine_init(engine, 0), ASSAY_OK);
}

static assay_place uploaded(const void *bytes, uint64_t size)
{
    assay_place p = {.buffer = engine_alloc(engine, size)};

    ck_assert_int_eq(assay_engine_upload(engine, p.buffer, bytes, size), ASSAY_OK);
    return p;
}

START_TEST(apart_memory_is_not_mapped)
{
    void *host;

    open_engine(false);
    assay_buffer b = engine_alloc(engine, 64);
    ck_assert(!assay_engine_supports(engine, ASSAY_FEATURE_UNIFIED_MEMORY));
    engine_refuses(assay_engine_map(engine, b, &host), ASSAY_UNSUPPORTED, "unified_memory");
}
END_TEST

START_TEST(apart_own_kernels_take_handles)
{
    const float x[4] = {1, 2, 3, 4};
    float y[4];
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .record = &record};

    open_engine(false);
    const assay_place a = uploaded(x, sizeof x), out = uploaded(x, sizeof x);
    ck_assert_msg(assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F32, a, a, out, 4, &call) ==
                      ASSAY_OK,
                  "%s", assay_last_error());
    ck_assert_int_eq(assay_engine_download(engine, y, out.buffer, sizeof y), ASSAY_OK);
    ck_assert(y[0] == 2 && y[3] == 8);
    ck_assert_int_eq(record.ran_on, ASSAY_RAN_NATIVE);
    ck_assert_str_eq(record.backend, "fake");
    ck_assert_uint_eq(record.transfers, 0);
    ck_assert(isnan(record.transfer_ns));
}
END_TEST

/* Checks see handles as they see memory: overlaps, ends, buffers that are gone. */
START_TEST(apart_operands_are_checked)
{
    const float x[8] = {0};
    float host[8] = {0};

    open_engine(true);
    assay_place a = uploaded(x, sizeof x), b = uploaded(x, sizeof x), shifted = a, beyond = b;
    shifted.byte_offset = 4;
    engine_refuses(assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F32, a, b, shifted, 4, NULL),
                   ASSAY_INVALID, "overlaps");
    beyond.byte_offset = 20;
    engine_refuses(assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F32, a, beyond, b, 4, NULL),
                   ASSAY_INVALID, "operand 1");
    const assay_place outside = {.buffer = {.at.host = host, .size_bytes = sizeof host}};
    engine_refuses(assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F32, a, outside, b, 4, NULL),
                   ASSAY_INVALID, "upload it");
    ck_assert_int_eq(assay_engine_free(engine, b.buffer), ASSAY_OK);
    engine_refuses(assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F32, a, b, a, 4, NULL), ASSAY_FREED,
                   "freed");
    engine_refuses(assay_unary(engine, ASSAY_UNARY_EXP, ASSAY_F32, b, a, 4, NULL), ASSAY_FREED,
                   "freed");
}
END_TEST

START_TEST(apart_fallback_only_when_allowed)
{
    const float x[4] = {0, 1, 2, 3};
    float y[4];
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .record = &record};

    open_engine(_i == 1);
    const assay_place a = uploaded(x, sizeof x), out = uploaded(x, sizeof x);
    assay_status status = assay_unary(engine, ASSAY_UNARY_EXP, ASSAY_F32, a, out, 4, &call);
    if (_i == 0) {
        engine_refuses(status, ASSAY_UNSUPPORTED, "no kernel of fake");
        return;
    }
    ck_assert_msg(status == ASSAY_OK, "%s", assay_last_error());
    ck_assert_int_eq(assay_engine_download(engine, y, out.buffer, sizeof y), ASSAY_OK);
    for (int i = 0; i < 4; i++)
        ck_assert(fabs((double)y[i] - exp((double)x[i])) < 1e-5);
    ck_assert_int_eq(record.ran_on, ASSAY_RAN_HOST_FALLBACK);
    ck_assert_str_ne(record.backend, "fake");
    ck_assert_uint_eq(record.transfers, 3); /* both over, the result back */
    ck_assert_uint_eq(record.transfer_bytes, 48);
    ck_assert(isnan(record.transfer_ns)); /* there is no store */
}
END_TEST

/* A store of this machine where each way takes 1,000 or 100 ns and a byte 2 or 1 ns. */
static void put_transfers(const char *path, const char *only)
{
    const assay__db_transfer down[] = {
        {.size_bytes = 16, .samples = 7, .median_ns = 1032, .lo_ns = 1032, .hi_ns = 1032},
        {.size_bytes = 4096, .samples = 7, .median_ns = 9192, .lo_ns = 9192, .hi_ns = 9192}};
    const assay__db_transfer up[] = {
        {.size_bytes = 16, .samples = 7, .median_ns = 116, .lo_ns = 116, .hi_ns = 116},
        {.size_bytes = 4096, .samples = 7, .median_ns = 4196, .lo_ns = 4196, .hi_ns = 4196}};
    assay_deployment here;
    assay__db *db = NULL;
    int64_t row = 0;

    ck_assert_int_eq(assay__deployment_host(&here), ASSAY_OK);
    ck_assert_int_eq(assay__db_open(path, &db), ASSAY_OK);
    ck_assert_int_eq(assay__db_put_deployment(db, &here, NULL, &row), ASSAY_OK);
    ck_assert_int_eq(assay__db_put_transfers(db, row, "fake:0", "host:pageable/staging", down, 2),
                     ASSAY_OK);
    ck_assert_int_eq(assay__db_put_transfers(db, row, "host:pageable", only, up, 2), ASSAY_OK);
    assay__db_close(&db);
}

/* Both operands come over as one operation, the result goes back as one; where only one of the
 * ways was measured, the sum is not known. */
START_TEST(apart_fallback_says_what_transfers_cost)
{
    const float x[16] = {1, 2, 3, 4};
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .record = &record};
    char folder[256];

    assay_close(&context);
    store_folder_make(folder);
    put_transfers(store_path(folder, "s.db"), _i == 0 ? "fake:0/staging" : "fake:01/staging");
    context = engine_context_at(store_path(folder, "s.db"));
    open_engine(true);
    const assay_place a = uploaded(x, sizeof x), out = uploaded(x, sizeof x);
    ck_assert_msg(assay_unary(engine, ASSAY_UNARY_EXP, ASSAY_F32, a, out, 16, &call) == ASSAY_OK,
                  "%s", assay_last_error());
    ck_assert_uint_eq(record.transfer_bytes, 3 * 64);
    if (_i == 0)
        ck_assert_double_eq_tol(record.transfer_ns, 1000 + 2 * 128 + 100 + 64, 1e-9);
    else
        ck_assert(isnan(record.transfer_ns));
    store_folder_remove(folder);
}
END_TEST

/* ---- a kernel here and one there ---- */

/* A variant at its defaults of this build, measured at the problem. */
static assay__route_candidate measured(assay__db *db, const assay_table *table, store_rows *at,
                                       const assay_problem *p, const char *backend,
                                       const char *kernel, double ns)
{
    const assay_snapshot *snapshot;
    const assay_binding *rows = NULL;
    char tunables[200] = "";
    int64_t values[ASSAY_MAX_TUNABLES] = {0};

    ck_assert_int_eq(assay_table_hold((assay_table *)(uintptr_t)table, &snapshot), ASSAY_OK);
    size_t count = assay_snapshot_alternatives(snapshot, (assay_op_id)p->op, p->dtypes,
                                               p->dtype_count, backend, &rows);
    while (count > 0 && strcmp(rows->desc->name, kernel) != 0) {
        rows++;
        count--;
    }
    ck_assert_msg(count > 0, "no %s/%s", backend, kernel);
    const assay_kernel_desc *desc = rows->desc;
    assay__db_kernel row = {.kernel = desc->name,
                            .backend = backend,
                            .op = assay_op_get((assay_op_id)p->op)->name,
                            .dtypes = "f32,f32,f32",
                            .entry_point = desc->entry_point,
                            .default_rank = desc->default_rank,
                            .claims = desc->claims,
                            .kernel_revision = rows->revision,
                            .tunables = tunables,
                            .libraries = "",
                            .compiler = "test"};
    for (size_t i = 0; i < desc->tunable_count; i++) {
        values[i] = desc->tunables[i].default_value;
        snprintf(tunables + strlen(tunables), sizeof tunables - strlen(tunables), "%s%s=%lld",
                 i > 0 ? "," : "", desc->tunables[i].name, (long long)values[i]);
    }
    assay__variant_revision(&rows->revision, desc->tunables, values, desc->tunable_count,
                            &row.variant_revision);
    assay__claims_digest(&desc->claims, &row.claims_digest);
    ck_assert_int_eq(assay__db_put_revision(db, &row, &at->revision), ASSAY_OK);
    assay_snapshot_release(&snapshot);
    assay__route_candidate c = store_candidate(at->revision, ns);
    c.lo_ns = 0.99 * ns;
    c.hi_ns = 1.01 * ns;
    return c;
}

/* A store with a route of these candidates for a problem: kernels and what they take. */
typedef struct taken {
    const char *backend, *kernel;
    double ns;
} taken;

static void put_route(const char *path, const assay_problem *p, const taken *of, size_t count)
{
    assay__route_candidate candidates[2];
    assay_table *table = assay_context_table(context);
    assay_deployment here;
    store_rows at;
    assay__db *db = NULL;
    int64_t id;

    ck_assert_uint_le(count, 2);
    ck_assert_int_eq(assay__db_open(path, &db), ASSAY_OK);
    store_rows_put(db, &at);
    ck_assert_int_eq(assay__deployment_host(&here), ASSAY_OK);
    ck_assert_int_eq(assay__db_put_deployment(db, &here, NULL, &at.deployment), ASSAY_OK);
    ck_assert_int_eq(assay__db_put_problem(db, p, &at.problem), ASSAY_OK);
    for (size_t i = 0; i < count; i++) {
        candidates[i] = measured(db, table, &at, p, of[i].backend, of[i].kernel, of[i].ns);
        at.revision = (int64_t)candidates[i].revision_row;
        const assay__db_measurement m = store_measurement(&at);
        ck_assert_int_eq(assay__db_put_measurement(db, &m, &id), ASSAY_OK);
        candidates[i].measurement = (uint64_t)id;
    }
    const assay__db_route route = store_route(&at, candidates, count);
    ck_assert_int_eq(assay__db_put_route(db, &route), ASSAY_OK);
    assay__db_close(&db);
}

/* The device's kernel takes `there`, the host's 100 ns; transfers as above. */
static void put_kernels(const char *path, const assay_problem *p, double there)
{
    const taken both[] = {{"cpu", "cpu_add_portable", 100}, {"fake", "fake_a", there}};

    put_route(path, p, both, 2);
}

/* 64 bytes an operand: three over and one back take 1,000 + 2 * 192 + 100 + 64 ns, its kernel 100.
 * Loop: the device's kernel takes longer than that, or not. */
START_TEST(apart_faster_on_the_host_runs_there)
{
    static const double there[] = {1e6, 1500, 1e6};
    const float x[16] = {1, 2, 3, 4};
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .record = &record};
    assay_problem p;
    char folder[256];

    store_folder_make(folder);
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_add, ASSAY_F32, &p), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "n", 16), ASSAY_OK);
    put_kernels(store_path(folder, "s.db"), &p, there[_i]);
    put_transfers(store_path(folder, "s.db"), "fake:0/staging");
    assay_close(&context);
    context = engine_context_at(store_path(folder, "s.db"));
    open_engine(_i != 2);
    const assay_place a = uploaded(x, sizeof x), b = uploaded(x, sizeof x),
                      out = uploaded(x, sizeof x);
    ck_assert_msg(assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F32, a, b, out, 16, &call) ==
                      ASSAY_OK,
                  "%s", assay_last_error());
    ck_assert_int_eq(record.tier, ASSAY_TIER_MEASURED);
    ck_assert_int_eq(record.ran_on, _i == 0 ? ASSAY_RAN_HOST_FALLBACK : ASSAY_RAN_NATIVE);
    ck_assert_str_eq(record.backend, _i == 0 ? "cpu" : "fake");
    ck_assert_double_eq_tol(record.time_ns, _i == 0 ? 100 : there[_i], 1e-3 * there[_i]);
    ck_assert(_i == 0 || (record.tunable_count == 2 && record.tunables[0] == 1));
    ck_assert(!assay_digest_equal(&record.revision, &(assay_digest){{0}}));
    /* To compare the two is to ask nobody: one call is one answer. */
    assay_pick_stats stats;
    assay_pick_stats_get(context, &stats);
    ck_assert_uint_eq(stats.hits + stats.misses, 1);
    store_folder_remove(folder);
}
END_TEST

/* One route, of a kernel that cuts a product into tiles. */
static void put_product(const char *path, const assay_problem *p)
{
    const taken one = {"cpu", "cpu_matmul_avx2", 100};

    put_route(path, p, &one, 1);
}

/* What won here comes before the rule, which a product that was not measured gets. */
START_TEST(tile_that_was_measured_comes_first)
{
    assay_problem p;
    assay_tile tile;
    assay_deployment here;
    char folder[256];

    ck_assert_int_eq(assay__deployment_host(&here), ASSAY_OK);
    if (!assay_isa_covers(here.isa, "avx2,fma", NULL, 0))
        return; /* no such kernel runs here */
    store_folder_make(folder);
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, &p), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "m", 40), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "n", 50), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "k", 60), ASSAY_OK);
    put_product(store_path(folder, "s.db"), &p);
    assay_close(&context);
    context = engine_context_at(store_path(folder, "s.db"));
    engine = engine_open(context, "cpu", NULL);
    ck_assert_int_eq(assay_recommended_tile(engine, 40, 50, 60, &tile), ASSAY_OK);
    ck_assert(tile.is_measured && tile.m == 144 && tile.k == 256 && tile.n == 16);
    ck_assert_int_eq(assay_recommended_tile(engine, 41, 50, 60, &tile), ASSAY_OK);
    ck_assert(!tile.is_measured && tile.m == 16 && tile.k == 16 && tile.n == 16);
    store_folder_remove(folder);
}
END_TEST

/* What lies between the lines of a result stays, and the old C is read. */
START_TEST(apart_fallback_keeps_what_lies_between)
{
    const double x[6] = {1, 2, 3, 4, 5, 6}, old[8] = {1, 1, 7, 7, 1, 1, 7, 7};
    const double want[8] = {8, 11, 7, 7, 16, 23, 7, 7}; /* [1 3; 2 4] [1 3; 2 4] + 1 */
    double y[8];

    open_engine(true);
    const assay_gemm_args g = {.struct_size = sizeof g,
                               .dtype = ASSAY_F64,
                               .m = 2,
                               .n = 2,
                               .k = 2,
                               .alpha = 1.0,
                               .beta = 1.0,
                               .a = uploaded(x, sizeof x),
                               .b = uploaded(x, sizeof x),
                               .c = uploaded(old, sizeof old),
                               .lda = 2,
                               .ldb = 2,
                               .ldc = 4};
    ck_assert_msg(assay_gemm(engine, &g, NULL) == ASSAY_OK, "%s", assay_last_error());
    ck_assert_int_eq(assay_engine_download(engine, y, g.c.buffer, sizeof y), ASSAY_OK);
    for (int i = 0; i < 8; i++)
        ck_assert_msg(y[i] == want[i], "element %d: %g", i, y[i]);
}
END_TEST

/* The list of rows goes over, too. */
START_TEST(apart_gather_on_the_host)
{
    const int64_t rows[2] = {2, 0};
    const float table[6] = {0, 1, 10, 11, 20, 21}, none[4] = {0};
    float y[4];
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .record = &record};

    open_engine(_i == 1);
    const assay_rows_args a = {.struct_size = sizeof a,
                               .dtype = ASSAY_F32,
                               .input = uploaded(table, sizeof table),
                               .output = uploaded(none, sizeof none),
                               .indices = rows,
                               .count = 2,
                               .rows = 3,
                               .cols = 2};
    assay_instance_state before, after;
    ck_assert_int_eq(assay_engine_state(engine, &before), ASSAY_OK);
    assay_status status = assay_gather(engine, &a, &call);
    ck_assert_int_eq(assay_engine_state(engine, &after), ASSAY_OK);
    ck_assert_uint_eq(before.live_buffers, after.live_buffers);
    if (_i == 0) {
        engine_refuses(status, ASSAY_UNSUPPORTED, "no kernel of fake");
        return;
    }
    ck_assert_msg(status == ASSAY_OK, "%s", assay_last_error());
    ck_assert_int_eq(assay_engine_download(engine, y, a.output.buffer, sizeof y), ASSAY_OK);
    ck_assert(y[0] == 20 && y[1] == 21 && y[2] == 0 && y[3] == 1);
    ck_assert_uint_eq(record.transfers, 5); /* the list, three over, the result back */
}
END_TEST

/* Rounded copies are buffers of the device, gone when the call has ended, also one that fails.
 * Backend fake has no kernels for it: the host runs all three steps, or nothing is written. */
START_TEST(apart_mixed_precision_has_workspace_there)
{
    const float a[6] = {1.0001f, 2, 9, 3, 4, 9}, b[4] = {1, 0, 0, 1}, old[4] = {7, 7, 7, 7};
    const float want[2][4] = {{7, 7, 7, 7}, {1, 2, 3, 4}}; /* 1.0001 is 1 in bf16 */
    float y[4];
    assay_instance_state before, after;
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .record = &record};

    open_engine(_i == 1);
    assay_gemm_args g = {.struct_size = sizeof g,
                         .dtype = ASSAY_F32,
                         .m = 2,
                         .n = 2,
                         .k = 2,
                         .alpha = 1.0,
                         .a = uploaded(a, sizeof a),
                         .b = uploaded(b, sizeof b),
                         .c = uploaded(old, sizeof old),
                         .lda = 3,
                         .ldb = 2,
                         .ldc = 2};
    ck_assert_int_eq(assay_engine_state(engine, &before), ASSAY_OK);
    assay_status status = assay_gemm_mixed_precision(engine, ASSAY_BF16, &g, &call);
    if (_i == 0)
        engine_refuses(status, ASSAY_UNSUPPORTED, "no kernel of fake");
    else
        ck_assert_msg(status == ASSAY_OK, "%s", assay_last_error());
    ck_assert_int_eq(assay_engine_state(engine, &after), ASSAY_OK);
    ck_assert_uint_eq(before.live_buffers, after.live_buffers);
    ck_assert_int_eq(assay_engine_download(engine, y, g.c.buffer, sizeof y), ASSAY_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(y[i] == want[_i][i], "element %d: %g", i, (double)y[i]);
    if (_i == 1) {
        ck_assert_int_eq(record.ran_on, ASSAY_RAN_HOST_FALLBACK);
        ck_assert_uint_eq(record.copied_bytes, 2 * 8);
        /* Two lines of A and B whole: two over and one back each; the product: three and one. */
        ck_assert_uint_eq(record.transfers, 3 * 3 + 4);
    }
    g.m = g.lda = g.ldc = INT64_C(1) << 40; /* beyond their buffers: nothing is made for them */
    engine_refuses(assay_gemm_mixed_precision(engine, ASSAY_BF16, &g, NULL), ASSAY_INVALID,
                   "operand");
    ck_assert_int_eq(assay_engine_state(engine, &after), ASSAY_OK);
    ck_assert_uint_eq(before.live_buffers, after.live_buffers);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("compute_apart");
    TCase *all = tcase_create("apart");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, apart_memory_is_not_mapped);
    tcase_add_test(all, apart_own_kernels_take_handles);
    tcase_add_test(all, apart_operands_are_checked);
    tcase_add_loop_test(all, apart_fallback_only_when_allowed, 0, 2);
    tcase_add_loop_test(all, apart_gather_on_the_host, 0, 2);
    tcase_add_loop_test(all, apart_mixed_precision_has_workspace_there, 0, 2);
    tcase_add_loop_test(all, apart_fallback_says_what_transfers_cost, 0, 2);
    tcase_add_test(all, apart_fallback_keeps_what_lies_between);
    tcase_add_test(all, tile_that_was_measured_comes_first);
    tcase_add_loop_test(all, apart_faster_on_the_host_runs_there, 0, 3);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
