/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_compute_faults.c -- typed calls of which a part fails, or that there is no kernel
 * for: what was written, what the record says, what is left behind. */
#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/engine_case.h"

static assay_context *context;
static assay_engine *engine;

static void teardown(void)
{
    assay_engine_destroy(&engine);
    assay_close(&context);
}

/* Backends of our own alone: threads of libraries live on when these are unloaded, which is more
 * than LeakSanitizer can look at. */
static assay_context *own_context(void)
{
    const char *build = getenv("ASSAY_BUILD");
    char path[1024];
    const assay_open_options options = {
        .struct_size = sizeof options, .plugin_path = path, .backends = "ref,cpu,fake"};
    assay_context *out = NULL;

    (void)snprintf(path, sizeof path, "%s/lib/assay", build != NULL ? build : "build");
    ck_assert_msg(assay_open(NULL, &options, &out) == ASSAY_OK, "%s", assay_last_error());
    return out;
}

static void open_engine(const char *script, const char *backend, bool allow)
{
    const assay_engine_options options = {.struct_size = sizeof options,
                                          .allow_host_fallback = allow};

    setenv("ASSAY_FAKE", script, 1);
    if (context == NULL)
        context = own_context();
    ck_assert_int_eq(assay_engine_create(context, backend, &options, &engine), ASSAY_OK);
    ck_assert_int_eq(assay_engine_init(engine, 0), ASSAY_OK);
}

static assay_place uploaded(const void *bytes, uint64_t size)
{
    assay_place p = {.buffer = engine_alloc(engine, size)};

    ck_assert_int_eq(assay_engine_upload(engine, p.buffer, bytes, size), ASSAY_OK);
    return p;
}

static void plan(assay_fault_kind kind, uint64_t after)
{
    const assay_fault fault = {
        .struct_size = sizeof fault, .kind = kind, .after = after, .times = 1};

    ck_assert_int_eq(assay_engine_inject(engine, &fault), ASSAY_OK);
}

static uint64_t live_buffers(void)
{
    assay_instance_state state;

    ck_assert_int_eq(assay_engine_state(engine, &state), ASSAY_OK);
    return state.live_buffers;
}

static void counted(const char *name, uint64_t wanted)
{
    assay_metric list[128];
    size_t count = 0;

    ck_assert_int_eq(assay_engine_metrics(engine, list, 128, &count), ASSAY_OK);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            ck_assert_msg(list[i].value == wanted, "%s is %d", name, (int)list[i].value);
}

/* ---- batched, one product after the other ---- */

enum { PRODUCTS = 4, STRIDE = 7, ROOM = PRODUCTS * STRIDE };

static float ba[ROOM], bb[ROOM], bc[ROOM], bwant[ROOM];

/* Products of 2 x 2 that share A, which no kernel of the scripted device takes at once; what each
 * must give is in bwant. */
static assay_batched_gemm_args batched(void)
{
    assay_batched_gemm_args g = {.struct_size = sizeof g,
                                 .one = {.struct_size = sizeof g.one,
                                         .dtype = ASSAY_F32,
                                         .order = ASSAY_ROW_MAJOR,
                                         .m = 2,
                                         .n = 2,
                                         .k = 2,
                                         .alpha = 1.0,
                                         .lda = 2,
                                         .ldb = 2,
                                         .ldc = 2},
                                 .stride_b = STRIDE,
                                 .stride_c = STRIDE,
                                 .batch_count = PRODUCTS};

    for (int i = 0; i < ROOM; i++) {
        ba[i] = (float)(i % 5) - 2.0f;
        bb[i] = (float)(i % 3) + 1.0f;
        bc[i] = bwant[i] = -50.0f - (float)i;
    }
    for (int p = 0; p < PRODUCTS; p++)
        for (int row = 0; row < 2; row++)
            for (int column = 0; column < 2; column++)
                bwant[p * STRIDE + row * 2 + column] =
                    ba[row * 2] * bb[p * STRIDE + column] +
                    ba[row * 2 + 1] * bb[p * STRIDE + 2 + column];
    g.one.a = uploaded(ba, sizeof ba);
    g.one.b = uploaded(bb, sizeof bb);
    g.one.c = uploaded(bc, sizeof bc);
    return g;
}

/* The first `done` products are there, all else is as it was. */
static void expect_products(const assay_batched_gemm_args *g, int done)
{
    float got[ROOM];

    ck_assert_int_eq(assay_engine_download(engine, got, g->one.c.buffer, sizeof got), ASSAY_OK);
    for (int i = 0; i < ROOM; i++) {
        const float want = i < done * STRIDE ? bwant[i] : bc[i];
        ck_assert_msg(got[i] == want, "element %d: %g instead of %g", i, (double)got[i],
                      (double)want);
    }
}

START_TEST(batched_one_by_one_is_emulated)
{
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .record = &record};

    open_engine("discrete=1", "fake", false);
    const assay_batched_gemm_args g = batched();
    ck_assert_msg(assay_batched_gemm(engine, &g, &call) == ASSAY_OK, "%s", assay_last_error());
    expect_products(&g, PRODUCTS);
    ck_assert_int_eq(record.ran_on, ASSAY_RAN_EMULATED);
    ck_assert_uint_eq(record.launches, PRODUCTS);
    ck_assert_uint_eq(record.transfers, 0);
    ck_assert_int_eq(record.failed_item, -1);
    ck_assert_str_eq(record.backend, "fake");
    counted("engine_emulated_calls_total", 1);
    counted("engine_native_calls_total", 0);
}
END_TEST

/* Those before it are written, and the caller is told which it was. */
START_TEST(batched_that_fails_names_its_product)
{
    assay_execution record = {.struct_size = sizeof record, .failed_item = 99};
    assay_call call = {.struct_size = sizeof call, .record = &record};

    open_engine("discrete=1", "fake", false);
    assay_batched_gemm_args g = batched();
    plan(ASSAY_FAULT_LAUNCH, 2);
    engine_refuses(assay_batched_gemm(engine, &g, &call), ASSAY_DEVICE, "product 2");
    ck_assert_int_eq(record.failed_item, 2);
    expect_products(&g, 2);
    /* A record that ends before the field is not written behind its end. */
    record =
        (assay_execution){.struct_size = offsetof(assay_execution, failed_item), .failed_item = 99};
    plan(ASSAY_FAULT_LAUNCH, 0);
    engine_refuses(assay_batched_gemm(engine, &g, &call), ASSAY_DEVICE, "product 0");
    ck_assert_int_eq(record.failed_item, 99);
    /* What is refused as a whole fails in none of them. */
    record.struct_size = sizeof record;
    g.one.ldc = 1;
    engine_refuses(assay_batched_gemm(engine, &g, &call), ASSAY_INVALID, "ldc is 1");
    ck_assert_int_eq(record.failed_item, -1);
}
END_TEST

/* ---- in the middle of a call ---- */

static const float mixed_a[6] = {1, 2, 9, 3, 4, 9}, mixed_b[4] = {1, 0, 0, 1},
                   old[4] = {7, 7, 7, 7};

/* Casts of two inputs, then the product. */
static assay_status mixed(assay_place a, assay_place b, assay_place c, assay_execution *record)
{
    assay_call call = {.struct_size = sizeof call, .record = record};
    const assay_gemm_args g = {.struct_size = sizeof g,
                               .dtype = ASSAY_F32,
                               .m = 2,
                               .n = 2,
                               .k = 2,
                               .alpha = 1.0,
                               .a = a,
                               .b = b,
                               .c = c,
                               .lda = 3,
                               .ldb = 2,
                               .ldc = 2};

    return assay_gemm_mixed_precision(engine, ASSAY_BF16, &g, &call);
}

static assay_status mixed_anew(float *y)
{
    const assay_place c = uploaded(old, sizeof old);
    assay_execution record = {.struct_size = sizeof record, .kernel = "untouched"};
    const assay_place a = uploaded(mixed_a, sizeof mixed_a), b = uploaded(mixed_b, sizeof mixed_b);
    const assay_status status = mixed(a, b, c, &record);

    plan(ASSAY_FAULT_NONE, 0);
    if (status == ASSAY_OK)
        ck_assert_int_eq(assay_engine_download(engine, y, c.buffer, sizeof old), ASSAY_OK);
    else
        ck_assert_str_eq(record.kernel, "untouched");
    return status;
}

/* After any of its steps: the call says so, the device is as good as new when it was recovered.
 * Loop: on the device itself, or apart with all steps brought to the host. */
START_TEST(lost_in_the_middle_of_a_call)
{
    float y[4];
    uint64_t step = 0;
    assay_status status;

    open_engine(_i == 0 ? "" : "discrete=1", _i == 0 ? "ref" : "fake", true);
    do {
        /* Three buffers are made and filled before it. */
        plan(ASSAY_FAULT_LOST, 6 + step);
        status = mixed_anew(y);
        if (status == ASSAY_OK)
            break;
        engine_refuses(status, ASSAY_DEVICE_LOST, "recover");
        ck_assert(assay_engine_is_lost(engine));
        ck_assert_int_eq(assay_engine_recover(engine), ASSAY_OK);
        ck_assert_uint_eq(live_buffers(), 0);
        ck_assert_int_eq(mixed_anew(y), ASSAY_OK);
        ck_assert(y[0] == 1 && y[1] == 2 && y[2] == 3 && y[3] == 4);
        step++;
    } while (step < 100);
    ck_assert_uint_ge(step, 3);
    ck_assert_uint_lt(step, 100);
}
END_TEST

/* The second of three launches fails: nothing of the result is written, and the workspace goes. */
START_TEST(launch_that_fails_in_the_middle_of_a_call)
{
    float y[4];
    assay_execution record = {.struct_size = sizeof record};

    open_engine("", "ref", false);
    const assay_place a = uploaded(mixed_a, sizeof mixed_a), b = uploaded(mixed_b, sizeof mixed_b),
                      c = uploaded(old, sizeof old);
    for (uint64_t after = 0; after < 3; after++) {
        plan(ASSAY_FAULT_LAUNCH, after);
        engine_refuses(mixed(a, b, c, &record), ASSAY_DEVICE, "as it was asked to");
        ck_assert_int_eq(assay_engine_download(engine, y, c.buffer, sizeof y), ASSAY_OK);
        ck_assert_mem_eq(y, old, sizeof y);
        ck_assert_uint_eq(live_buffers(), 3);
    }
    ck_assert_int_eq(mixed(a, b, c, &record), ASSAY_OK);
}
END_TEST

/* Memory of the device's own that a call needs besides: workspace, a list of rows. */
START_TEST(no_memory_in_the_middle_of_a_call)
{
    static const int64_t rows[2] = {1, 0};
    assay_execution record = {.struct_size = sizeof record};
    assay_error_detail detail;
    float y[4];

    open_engine("discrete=1", "fake", true);
    const assay_place a = uploaded(mixed_a, sizeof mixed_a), b = uploaded(mixed_b, sizeof mixed_b),
                      c = uploaded(old, sizeof old);
    const assay_rows_args gather = {.struct_size = sizeof gather,
                                    .dtype = ASSAY_F32,
                                    .input = b,
                                    .output = c,
                                    .indices = rows,
                                    .count = 2,
                                    .rows = 2,
                                    .cols = 2};
    for (int i = 0; i < 2; i++) {
        plan(ASSAY_FAULT_OUT_OF_MEMORY, 0);
        engine_refuses(i == 0 ? mixed(a, b, c, &record) : assay_gather(engine, &gather, NULL),
                       ASSAY_NOMEM, "free buffers or choose a smaller problem");
        assay_last_detail(&detail);
        ck_assert_uint_ge(detail.requested_bytes, 16);
        ck_assert_uint_eq(live_buffers(), 3);
        ck_assert_int_eq(assay_engine_download(engine, y, c.buffer, sizeof y), ASSAY_OK);
        ck_assert_mem_eq(y, old, sizeof y);
    }
    ck_assert_int_eq(mixed(a, b, c, &record), ASSAY_OK);
    ck_assert_int_eq(assay_gather(engine, &gather, NULL), ASSAY_OK);
}
END_TEST

/* ---- what there is no kernel for ---- */

static float rx[64], rz[64], ry[64];
static const int64_t shape[2] = {4, 4}, index_list[2] = {1, 0};

typedef struct operands {
    assay_place x, z, y;
} operands;

static operands wrapped(void)
{
    operands o = {.x = {.byte_offset = 0}};

    for (int i = 0; i < 64; i++) {
        rx[i] = (float)(i % 9) / 4.0f;
        rz[i] = (float)(i % 7) / 2.0f;
        ry[i] = -3.0f;
    }
    ck_assert_int_eq(assay_engine_wrap(engine, rx, sizeof rx, &o.x.buffer), ASSAY_OK);
    ck_assert_int_eq(assay_engine_wrap(engine, rz, sizeof rz, &o.z.buffer), ASSAY_OK);
    ck_assert_int_eq(assay_engine_wrap(engine, ry, sizeof ry, &o.y.buffer), ASSAY_OK);
    return o;
}

static assay_gemm_args product_args(const operands *o, assay_dtype dtype)
{
    return (assay_gemm_args){.struct_size = sizeof(assay_gemm_args),
                             .dtype = dtype,
                             .m = 2,
                             .n = 2,
                             .k = 2,
                             .alpha = 1.0,
                             .a = o->x,
                             .b = o->z,
                             .c = o->y,
                             .lda = 2,
                             .ldb = 2,
                             .ldc = 2};
}

enum { CALLS = 13 };

/* Every typed call, by its number, of f32; products of `dtype`. */
static assay_status call_number(int i, const operands *o, assay_dtype dtype, assay_call *call)
{
    const assay_gemm_args g = product_args(o, dtype);
    const assay_batched_gemm_args batch = {.struct_size = sizeof batch,
                                           .one = g,
                                           .stride_a = 4,
                                           .stride_b = 4,
                                           .stride_c = 4,
                                           .batch_count = 2};
    const assay_conv2d_args conv = {.struct_size = sizeof conv,
                                    .dtype = ASSAY_F32,
                                    .x = i == 4 ? o->y : o->x,
                                    .filter = i == 5 ? o->y : o->z,
                                    .y = i == 3   ? o->y
                                         : i == 4 ? o->x
                                                  : o->z,
                                    .x_shape = {1, 1, 3, 3},
                                    .filter_shape = {1, 1, 2, 2},
                                    .y_shape = {1, 1, 2, 2},
                                    .stride = {1, 1}};
    const assay_attention_args attention = {.struct_size = sizeof attention,
                                            .dtype = ASSAY_F32,
                                            .q = o->x,
                                            .k = o->z,
                                            .v = o->z,
                                            .o = o->y,
                                            .batch = 1,
                                            .heads = 1,
                                            .seq_q = 2,
                                            .seq_kv = 2,
                                            .head_dim = 2};
    const assay_axis_args axis = {.struct_size = sizeof axis,
                                  .dtype = ASSAY_F32,
                                  .input = o->x,
                                  .output = o->y,
                                  .rank = 2,
                                  .shape = shape,
                                  .axis = i == 9 ? 1 : 0};
    const assay_rows_args rows = {.struct_size = sizeof rows,
                                  .dtype = ASSAY_F32,
                                  .input = o->x,
                                  .output = o->y,
                                  .indices = index_list,
                                  .count = 2,
                                  .rows = 4,
                                  .cols = 2};

    switch (i) {
    case 0:
        return assay_gemm(engine, &g, call);
    case 1:
        return assay_batched_gemm(engine, &batch, call);
    case 2:
        return assay_unary(engine, ASSAY_UNARY_EXP, ASSAY_F32, o->x, o->y, 16, call);
    case 3:
        return assay_conv2d_forward(engine, &conv, call);
    case 4:
        return assay_conv2d_backward_data(engine, &conv, call);
    case 5:
        return assay_conv2d_backward_filter(engine, &conv, call);
    case 6:
        return assay_attention(engine, &attention, call);
    case 7:
        return assay_reduce(engine, ASSAY_REDUCE_SUM, &axis, call);
    case 8:
    case 9:
        return assay_softmax(engine, &axis, call);
    case 10:
        return assay_binary(engine, ASSAY_BINARY_SUB, ASSAY_F32, o->x, o->z, o->y, 16, call);
    case 11:
        return assay_gather(engine, &rows, call);
    default:
        return assay_scatter(engine, &rows, call);
    }
}

/* The scripted backend adds and multiplies matrices of f32: all else is refused, by the name of the
 * call, and nothing is written. */
START_TEST(calls_without_a_kernel_are_refused_by_name)
{
    static const char *const names[CALLS] = {"gemm",
                                             "batched_gemm",
                                             "unary",
                                             "conv2d_forward",
                                             "conv2d_backward_data",
                                             "conv2d_backward_filter",
                                             "attention",
                                             "reduce",
                                             "softmax",
                                             "softmax",
                                             "binary",
                                             "gather",
                                             "scatter"};
    char says[64];

    open_engine("", "fake", false);
    const operands o = wrapped();
    for (int i = 0; i < CALLS; i++) {
        snprintf(says, sizeof says, "%s: no kernel of fake", names[i]);
        engine_refuses(call_number(i, &o, ASSAY_F64, NULL), ASSAY_UNSUPPORTED, says);
        for (int k = 0; k < 64; k++)
            ck_assert(ry[k] == -3.0f && rx[k] == (float)(k % 9) / 4.0f);
    }
    assay_gemm_args g = product_args(&o, ASSAY_F32);
    engine_refuses(assay_gemm_mixed_precision(engine, ASSAY_F16, &g, NULL), ASSAY_UNSUPPORTED,
                   "gemm_mixed_precision: no kernel of fake");
    ck_assert(ry[0] == -3.0f);
}
END_TEST

/* ---- at a call site ---- */

/* Calls that keep no list of the caller's are remembered, and give the same bits the short way. */
START_TEST(site_remembers_every_call)
{
    float want[64];

    open_engine("", _i == 0 ? "ref" : "cpu", false);
    const operands o = wrapped();
    for (int i = 0; i < 11; i++) {
        assay_call_site site = {0};
        assay_call call = {.struct_size = sizeof call, .site = &site};
        ck_assert_msg(call_number(i, &o, ASSAY_F32, &call) == ASSAY_OK, "%d: %s", i,
                      assay_last_error());
        ck_assert_msg(site.again != NULL, "call %d is not remembered", i);
        for (int k = 0; k < 64; k++)
            rx[k] += 0.25f;
        ck_assert_int_eq(call_number(i, &o, ASSAY_F32, NULL), ASSAY_OK);
        memcpy(want, ry, sizeof want);
        memset(ry, 0x55, 16);
        ck_assert_int_eq(call_number(i, &o, ASSAY_F32, &call), ASSAY_OK);
        ck_assert_mem_eq(ry, want, 16);
        assay_call_site_clear(&site);
    }
}
END_TEST

/* ---- where operands lie, and queues ---- */

/* Memory of the caller's and buffers of the engine's in one call, each in each place. */
START_TEST(operands_of_host_and_buffers_mix)
{
    float x[4] = {1, 2, 3, 4}, z[4] = {10, 20, 30, 40}, y[4], got[4];
    const float zeros[4] = {0};

    open_engine("", _i == 0 ? "ref" : "cpu", false);
    for (int mix = 0; mix < 8; mix++) {
        const assay_place host[3] = {{.buffer = {.at.host = x, .size_bytes = sizeof x}},
                                     {.buffer = {.at.host = z, .size_bytes = sizeof z}},
                                     {.buffer = {.at.host = y, .size_bytes = sizeof y}}};
        const assay_place a = (mix & 1) != 0 ? uploaded(x, sizeof x) : host[0];
        const assay_place b = (mix & 2) != 0 ? uploaded(z, sizeof z) : host[1];
        const assay_place out = (mix & 4) != 0 ? uploaded(zeros, sizeof zeros) : host[2];
        memset(y, 0, sizeof y);
        ck_assert_msg(assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F32, a, b, out, 4, NULL) ==
                          ASSAY_OK,
                      "%s", assay_last_error());
        memcpy(got, y, sizeof got);
        if ((mix & 4) != 0)
            ck_assert_int_eq(assay_engine_download(engine, got, out.buffer, sizeof got), ASSAY_OK);
        ck_assert(got[0] == 11 && got[1] == 22 && got[2] == 33 && got[3] == 44);
    }
}
END_TEST

/* What would outlive its memory in a queue is refused there, and so is a queue of another engine.
 */
START_TEST(calls_that_cannot_wait_are_not_queued)
{
    assay_engine *other = NULL;
    assay_queue *queue = NULL;
    assay_call call = {.struct_size = sizeof call};

    open_engine("", "ref", false);
    const operands o = wrapped();
    const assay_gemm_args g = product_args(&o, ASSAY_F32);
    ck_assert_int_eq(assay_engine_queue_create(engine, &call.queue), ASSAY_OK);
    engine_refuses(call_number(11, &o, ASSAY_F32, &call), ASSAY_UNSUPPORTED, "not in a queue");
    engine_refuses(call_number(12, &o, ASSAY_F32, &call), ASSAY_UNSUPPORTED, "not in a queue");
    engine_refuses(assay_gemm_mixed_precision(engine, ASSAY_F16, &g, &call), ASSAY_UNSUPPORTED,
                   "not in a queue");
    other = engine_open(context, "ref", NULL);
    queue = call.queue;
    ck_assert_int_eq(assay_engine_queue_create(other, &call.queue), ASSAY_OK);
    engine_refuses(call_number(10, &o, ASSAY_F32, &call), ASSAY_FOREIGN, "no queue");
    ck_assert(ry[0] == -3.0f);
    ck_assert_int_eq(assay_engine_queue_destroy(engine, &queue), ASSAY_OK);
    assay_engine_destroy(&other);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("compute_faults");
    TCase *all = tcase_create("faults");

    tcase_add_checked_fixture(all, NULL, teardown);
    tcase_add_test(all, batched_one_by_one_is_emulated);
    tcase_add_test(all, batched_that_fails_names_its_product);
    tcase_add_loop_test(all, lost_in_the_middle_of_a_call, 0, 2);
    tcase_add_test(all, launch_that_fails_in_the_middle_of_a_call);
    tcase_add_test(all, no_memory_in_the_middle_of_a_call);
    tcase_add_test(all, calls_without_a_kernel_are_refused_by_name);
    tcase_add_loop_test(all, site_remembers_every_call, 0, 2);
    tcase_add_loop_test(all, operands_of_host_and_buffers_mix, 0, 2);
    tcase_add_test(all, calls_that_cannot_wait_are_not_queued);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
