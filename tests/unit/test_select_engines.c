/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_select_engines.c -- routing by class of op, scores of devices, acquiring. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/select_internal.h"
#include "tests/support/engine_case.h"
#include "tests/support/select_stage.h"

#define TENSOR ASSAY_FEATURE_BIT(TENSOR_CORES)

/* ---- classes ---- */

START_TEST(select_ops_have_the_class_of_their_family)
{
    static const struct {
        assay_op_id op;
        assay_op_class op_class;
    } rows[] = {{ASSAY_OP_matmul, ASSAY_OP_CLASS_MATMUL},
                {ASSAY_OP_fused_linear, ASSAY_OP_CLASS_MATMUL},
                {ASSAY_OP_conv2d, ASSAY_OP_CLASS_CONVOLUTION},
                {ASSAY_OP_conv2d_backward_data, ASSAY_OP_CLASS_CONVOLUTION},
                {ASSAY_OP_conv2d_backward_filter, ASSAY_OP_CLASS_CONVOLUTION},
                {ASSAY_OP_attention, ASSAY_OP_CLASS_ATTENTION},
                {ASSAY_OP_softmax_last_dim, ASSAY_OP_CLASS_REDUCTION},
                {ASSAY_OP_layer_norm_last_dim, ASSAY_OP_CLASS_REDUCTION},
                {ASSAY_OP_sum_reduce, ASSAY_OP_CLASS_REDUCTION},
                {ASSAY_OP_add, ASSAY_OP_CLASS_ELEMENTWISE},
                {ASSAY_OP_relu, ASSAY_OP_CLASS_ELEMENTWISE},
                {ASSAY_OP_cast, ASSAY_OP_CLASS_ELEMENTWISE},
                {ASSAY_OP_gather, ASSAY_OP_CLASS_MEMORY},
                {ASSAY_OP_scatter, ASSAY_OP_CLASS_MEMORY}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_int_eq(assay_op_class_of(rows[i].op), rows[i].op_class);
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        ck_assert_int_lt(assay_op_class_of((assay_op_id)op), ASSAY_OP_CLASS_COUNT);
    ck_assert_int_eq(assay_op_class_of(ASSAY_OP_COUNT), ASSAY_OP_CLASS_COUNT);
    ck_assert_str_eq(assay_op_class_name(ASSAY_OP_CLASS_CONVOLUTION), "convolution");
    ck_assert_str_eq(assay_op_class_name(ASSAY_OP_CLASS_COUNT), "?");
}
END_TEST

/* ---- routing ---- */

static assay_question ask(const char *problem)
{
    assay_problem p;
    assay_question q;

    ck_assert_msg(assay_problem_parse(problem, &p) == ASSAY_OK, "%s", assay_last_error());
    assay_question_init(&p, &q);
    return q;
}
#define PRODUCT ask("matmul f32,f32,f32 m=64,n=64,k=64")

/* Of hosts, which have one priority, libraries that have a kernel or two come behind who has all.
 */
START_TEST(select_of_hosts_takes_who_answers_most)
{
    const assay_select_request request = {.struct_size = sizeof request,
                                          .kind = ASSAY_BACKEND_KIND_CPU};
    assay_context *context = engine_context();
    assay_registry *registry;
    assay_selection found;

    ck_assert_int_eq(assay_registry_create(context, &registry), ASSAY_OK);
    ck_assert_msg(assay_select(registry, &request, &found) == ASSAY_OK, "%s", assay_last_error());
    ck_assert_str_eq(found.name, "cpu");
    ck_assert_ptr_nonnull(strstr(found.why, "kernels for fewer ops"));
    assay_registry_destroy(&registry);
    assay_close(&context);
}
END_TEST

START_TEST(select_route_prefers_tensor_cores_for_products)
{
    static const assay_op_class products[] = {ASSAY_OP_CLASS_MATMUL, ASSAY_OP_CLASS_CONVOLUTION,
                                              ASSAY_OP_CLASS_ATTENTION};
    static const assay_op_class others[] = {ASSAY_OP_CLASS_REDUCTION, ASSAY_OP_CLASS_ELEMENTWISE,
                                            ASSAY_OP_CLASS_MEMORY};

    select_features("vk", TENSOR);
    select_open("card_a,host_a,vk");
    for (size_t i = 0; i < 3; i++) {
        ck_assert_str_eq(select_routed(products[i], NULL), "vk");
        ck_assert_says(selected.why, "with tensor cores");
        ck_assert_says(selected.why, "card_a: has no tensor_cores");
        ck_assert_int_eq(selected.tier, ASSAY_TIER_UNKNOWN);
        ck_assert_str_eq(select_routed(others[i], NULL), "card_a");
        ck_assert_says(selected.why, "static rule");
        ck_assert_never_says(selected.why, "tensor");
    }
}
END_TEST

START_TEST(select_route_goes_on_without_tensor_cores)
{
    select_open("card_a,host_a,vk");
    ck_assert_str_eq(select_routed(ASSAY_OP_CLASS_MATMUL, NULL), "card_a");
    ck_assert_says(selected.why, "no question to ask the store");
    ck_assert_says(selected.why, "none has tensor cores");
    ck_assert_int_eq(assay_backend_set_available(select_registry, "card_a", false), ASSAY_OK);
    ck_assert_int_eq(assay_backend_set_available(select_registry, "vk", false), ASSAY_OK);
    ck_assert_int_eq(assay_backend_set_available(select_registry, "host_a", false), ASSAY_OK);
    ck_assert_says(select_routed(ASSAY_OP_CLASS_MATMUL, NULL), "host_a: is switched off");
}
END_TEST

START_TEST(select_route_asks_the_store_first)
{
    static const char *const measured[] = {"host_b", "host_a"};
    const assay_question q = PRODUCT;

    select_features("card_b", TENSOR);
    select_open_measured("card_b,host_a,host_b", measured, 2);
    ck_assert_str_eq(select_routed(ASSAY_OP_CLASS_MATMUL, NULL), "card_b");
    ck_assert_str_eq(select_routed(ASSAY_OP_CLASS_MATMUL, &q), "host_b");
    ck_assert_int_eq(selected.tier, ASSAY_TIER_MEASURED);
    ck_assert_int_eq(selected.kind, ASSAY_BACKEND_KIND_CPU);
    ck_assert_str_eq(selected.why, "measured: kernel host_b_matmul, 100 ns [99, 101]");
    /* Who cannot be selected does not answer, however fast. */
    ck_assert_int_eq(assay_backend_set_available(select_registry, "host_b", false), ASSAY_OK);
    ck_assert_str_eq(select_routed(ASSAY_OP_CLASS_MATMUL, &q), "host_a");
    ck_assert_says(selected.why, "measured: kernel host_a_matmul, 200 ns");
    ck_assert_int_eq(assay_backend_set_available(select_registry, "host_a", false), ASSAY_OK);
    ck_assert_str_eq(select_routed(ASSAY_OP_CLASS_MATMUL, &q), "card_b");
    ck_assert_int_eq(selected.tier, ASSAY_TIER_UNKNOWN);
    ck_assert_says(selected.why, "not measured");
}
END_TEST

START_TEST(select_route_of_what_was_never_measured_is_static)
{
    static const char *const measured[] = {"host_b"};
    const assay_question q = ask("matmul f32,f32,f32 m=64,n=64,k=65");

    select_open_measured("card_a,host_b", measured, 1);
    ck_assert_str_eq(select_routed(ASSAY_OP_CLASS_MATMUL, &q), "card_a");
    ck_assert_says(selected.why, "not measured: the route is the default kernel's");
    ck_assert_says(selected.why, "static rule for matmul");
}
END_TEST

START_TEST(select_route_leaves_explicit_only_ones_alone)
{
    static const char *const measured[] = {"hidden", "host_a"};
    assay_question q = PRODUCT;

    select_open_measured("hidden,host_a,oracle", measured, 2);
    ck_assert_str_eq(select_routed(ASSAY_OP_CLASS_MATMUL, &q), "host_a");
    q.backends = "hidden,oracle";
    ck_assert_str_eq(select_routed(ASSAY_OP_CLASS_MATMUL, &q), "hidden");
    ck_assert_int_eq(selected.tier, ASSAY_TIER_MEASURED);
    q.backends = "oracle";
    ck_assert_str_eq(select_routed(ASSAY_OP_CLASS_MATMUL, &q), "oracle");
    ck_assert_says(selected.why, "hidden: is not asked for");
}
END_TEST

START_TEST(select_route_needs_a_kernel_for_the_question)
{
    const assay_question q = PRODUCT, exponential = ask("exp f32,f32 n=64");

    select_open("bare,host_a");
    ck_assert_str_eq(select_routed(ASSAY_OP_CLASS_MATMUL, NULL), "bare");
    ck_assert_str_eq(select_routed(ASSAY_OP_CLASS_MATMUL, &q), "host_a");
    ck_assert_says(selected.why, "bare: has no kernel for matmul");
    ck_assert_says(select_routed(ASSAY_OP_CLASS_ELEMENTWISE, &exponential),
                   "has no kernel for exp");
}
END_TEST

START_TEST(select_route_refuses_another_class)
{
    assay_question q = PRODUCT;

    select_open("host_a");
    ck_assert_int_eq(assay_route_class(select_registry, ASSAY_OP_CLASS_MEMORY, &q, &selected),
                     ASSAY_INVALID);
    ck_assert_says(assay_last_error(), "op matmul is of class matmul, asked for memory");
    ck_assert_int_eq(assay_route_class(select_registry, ASSAY_OP_CLASS_COUNT, NULL, &selected),
                     ASSAY_INVALID);
    q.problem.op = ASSAY_OP_COUNT;
    ck_assert_int_eq(assay_route_class(select_registry, ASSAY_OP_CLASS_MATMUL, &q, &selected),
                     ASSAY_INVALID);
}
END_TEST

/* ---- scores ---- */

START_TEST(select_score_row_by_row)
{
    static const struct {
        assay_device_profile profile;
        uint32_t points;
    } rows[] = {{{.max_buffer_bytes = 1}, 16},
                {{.max_workgroup_invocations = 63}, 0},
                {{.max_workgroup_invocations = 64}, 8},
                {{.max_workgroup_invocations = 255}, 8},
                {{.max_workgroup_invocations = 256}, 12},
                {{.subgroup_size = 1}, 8},
                {{.features = ASSAY_FEATURE_BIT(SUBGROUP_OPS)}, 8},
                {{.features = ASSAY_FEATURE_BIT(SUBGROUP_SHUFFLE)}, 4},
                {{.features = ASSAY_FEATURE_BIT(SHARED_MEMORY)}, 4},
                {{.features = ASSAY_FEATURE_BIT(TENSOR_CORES)}, 4},
                {{.features = ASSAY_FEATURE_BIT(F16)}, 2},
                {{.features = ASSAY_FEATURE_BIT(BF16)}, 2},
                {{.features = ASSAY_FEATURE_BIT(INDIRECT_DISPATCH)}, 2},
                {{.features = ASSAY_FEATURE_BIT(DEVICE_TIMESTAMPS)}, 2},
                {{.features = ASSAY_FEATURE_BIT(HARDWARE_COUNTERS)}, 2}};
    assay_device_profile all = {.max_buffer_bytes = 1,
                                .max_workgroup_invocations = 1024,
                                .subgroup_size = 32,
                                .features = (UINT64_C(1) << ASSAY_FEATURE_COUNT) - 1};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_uint_eq(assay_capability_score(&rows[i].profile), rows[i].points);
    ck_assert_uint_eq(assay_capability_score(&all), 16 + 12 + 8 + 8 + 4 + 4 + 4 + 5 * 2);
    all.features = ASSAY_FEATURE_BIT(RESIDENT) | ASSAY_FEATURE_BIT(FP8);
    all.max_buffer_bytes = all.max_workgroup_invocations = all.subgroup_size = 0;
    ck_assert_uint_eq(assay_capability_score(&all), 0);
    ck_assert_uint_eq(assay_capability_score(NULL), 0);
}
END_TEST

/* Each criterion decides where those before it are equal and those after it say the opposite. */
START_TEST(select_ranks_by_one_criterion_after_another)
{
    const assay__engine_rank worst = {0, ASSAY_TIMING_HOST, NAN, -5, ASSAY_BACKEND_KIND_CPU, "zz"};
    const assay__engine_rank best = {9, ASSAY_TIMING_COUNTERS,   4.5,
                                     7, ASSAY_BACKEND_KIND_CUDA, "aa"};

    for (int decides = 0; decides < 6; decides++) {
        assay__engine_rank a = worst, b = best; /* a is better in the criterion, b in all later */
        a.score = decides > 0 ? best.score : best.score + 1;
        if (decides >= 1) {
            a.timing = best.timing;
            b.timing = decides > 1 ? best.timing : ASSAY_TIMING_DEVICE;
        }
        if (decides >= 2) {
            a.bytes_per_ns = best.bytes_per_ns;
            b.bytes_per_ns = decides > 2 ? best.bytes_per_ns : (double)NAN;
        }
        if (decides >= 3) {
            a.priority = best.priority;
            b.priority = decides > 3 ? best.priority : 6;
        }
        if (decides >= 4) {
            a.kind = best.kind;
            b.kind = decides > 4 ? best.kind : ASSAY_BACKEND_KIND_ROCM;
        }
        if (decides >= 5) {
            a.name = "aa";
            b.name = "ab";
        }
        ck_assert_msg(assay__engine_rank_order(&a, &b) < 0, "criterion %d", decides);
        ck_assert_msg(assay__engine_rank_order(&b, &a) > 0, "criterion %d", decides);
    }
    ck_assert_int_eq(assay__engine_rank_order(&best, &best), 0);
    assay__engine_rank none = best, nan = best;
    none.bytes_per_ns = 0;
    nan.bytes_per_ns = (double)NAN;
    ck_assert_int_eq(assay__engine_rank_order(&none, &nan), 0);
}
END_TEST

/* ---- acquiring ---- */

static assay_engine *engine;

static assay_status acquire(const char *name)
{
    assay_engine_destroy(&engine);
    return assay_acquire(select_registry, name, NULL, &engine);
}

static const char *preferred(const assay_select_request *request)
{
    assay_engine_destroy(&engine);
    assay_status status =
        assay_acquire_preferred(select_registry, request, NULL, &engine, &selected);
    if (status == ASSAY_OK) {
        ck_assert_str_eq(assay_engine_name(engine), selected.name);
        ck_assert(assay_engine_is_initialized(engine));
        return selected.name;
    }
    ck_assert_int_eq(status, ASSAY_UNAVAILABLE);
    ck_assert_ptr_null(engine);
    return assay_last_error();
}

START_TEST(select_acquires_by_name)
{
    select_open("card_a,hidden,host_a");
    ck_assert_int_eq(acquire("host_a"), ASSAY_OK);
    ck_assert_str_eq(assay_engine_name(engine), "host_a");
    ck_assert(assay_engine_is_initialized(engine));
    ck_assert_int_eq(acquire("hidden"), ASSAY_OK);
    ck_assert_int_eq(acquire(NULL), ASSAY_INVALID);
    ck_assert_int_eq(acquire("host"), ASSAY_UNAVAILABLE);
    ck_assert_says(assay_last_error(), "'host'");
    ck_assert_ptr_null(engine);
    ck_assert_int_eq(assay_backend_set_available(select_registry, "host_a", false), ASSAY_OK);
    ck_assert_int_eq(acquire("host_a"), ASSAY_UNAVAILABLE);
    ck_assert_says(assay_last_error(), "switched off");
    select_script("card_a", "fail");
    ck_assert_int_eq(acquire("card_a"), ASSAY_UNAVAILABLE);
    ck_assert_says(assay_last_error(), "no driver of card_a here");
    select_script("card_a", "stuck");
    ck_assert_int_eq(acquire("card_a"), ASSAY_DEVICE);
    ck_assert_says(assay_last_error(), "the device of card_a is stuck");
    ck_assert_ptr_null(engine);
}
END_TEST

START_TEST(select_prefers_no_cpu_unasked)
{
    assay_select_request r = {.struct_size = sizeof r};

    select_open("hidden,host_a,host_b,oracle");
    const char *text = preferred(NULL);
    ck_assert_says(text, "host_a: is of kind cpu");
    ck_assert_says(text, "host_b: is of kind cpu");
    ck_assert_says(text, "hidden: is chosen only when named");
    ck_assert_says(text, "oracle: is an oracle");
    r.kind = ASSAY_BACKEND_KIND_CPU;
    ck_assert_says(preferred(&r), "allow_cpu");
    r.kind = ASSAY_BACKEND_KIND_ANY;
    r.allow_cpu = 1;
    ck_assert_str_eq(preferred(&r), "host_a");
    ck_assert_int_eq(selected.kind, ASSAY_BACKEND_KIND_CPU);
    r.allow_cpu = 0;
    r.pin = "host_b";
    ck_assert_str_eq(preferred(&r), "host_b");
    assay_engine_destroy(&engine);
}
END_TEST

START_TEST(select_prefers_the_higher_score_and_then_timing)
{
    assay_select_request r = {.struct_size = sizeof r, .allow_cpu = 1};

    select_script("card_a", "buffer=1");
    select_script("vk", "buffer=1 subgroup=32");
    select_script("host_a", "buffer=1 timing=3");
    select_open("bare,card_a,host_a,vk");
    ck_assert_str_eq(preferred(&r), "vk");
    ck_assert_says(selected.why, "vk: score 24");
    ck_assert_says(selected.why, "best of 3");
    ck_assert_says(selected.why, "bare: has no kernels");
    r.exclude = "vk";
    ck_assert_str_eq(preferred(&r), "host_a"); /* the same score as card_a */
    r.allow_cpu = 0;
    ck_assert_str_eq(preferred(&r), "card_a");
    assay_engine_destroy(&engine); /* before its context */
    select_open("card_a,card_b,host_a");
    select_script("card_b", "buffer=1");
    ck_assert_str_eq(preferred(NULL), "card_a");
    ck_assert_int_eq(assay_backend_set_priority(select_registry, "card_b", 101), ASSAY_OK);
    ck_assert_str_eq(preferred(NULL), "card_b");
    assay_engine_destroy(&engine);
}
END_TEST

START_TEST(select_prefers_among_those_that_can_be_initialised)
{
    select_script("card_a", "buffer=1 subgroup=32");
    select_open("card_a,card_b,vk");
    ck_assert_str_eq(preferred(NULL), "card_a");
    select_script("card_a", "buffer=1 subgroup=32 stuck");
    ck_assert_str_eq(preferred(NULL), "card_b");
    ck_assert_says(selected.why, "card_a: the device of card_a is stuck");
    ck_assert_says(selected.why, "best of 2");
    select_script("card_b", "fail");
    select_script("vk", "stuck");
    const char *text = preferred(NULL);
    ck_assert_says(text, "card_a: the device of card_a is stuck");
    ck_assert_says(text, "card_b: no driver of card_b here");
    ck_assert_says(text, "vk: the device of vk is stuck");
}
END_TEST

/* ---- tiles ---- */

/* The rows of the heuristic for matrix instructions, and who falls out of them. */
START_TEST(tile_heuristic_with_tensor_cores)
{
    static const struct {
        int64_t m, n, k, tile[3];
    } rows[] = {{512, 512, 512, {128, 128, 32}},  {4096, 1024, 512, {128, 128, 32}},
                {496, 4096, 4096, {64, 64, 16}},  {16, 16, 16, {64, 64, 16}},
                {4096, 4096, 32, {64, 64, 16}},   {520, 1024, 1024, {128, 128, 8}},
                {1024, 520, 1024, {128, 128, 8}}, {1024, 1024, 520, {128, 128, 8}},
                {1024, 1024, 500, {64, 64, 16}},  {1024, 1024, 60, {16, 16, 16}}};
    assay_tile tile;

    select_features("vk", TENSOR);
    select_open("host_a,vk");
    ck_assert_int_eq(acquire("vk"), ASSAY_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_int_eq(assay_recommended_tile(engine, rows[i].m, rows[i].n, rows[i].k, &tile),
                         ASSAY_OK);
        ck_assert_msg(tile.m == rows[i].tile[0] && tile.n == rows[i].tile[1] &&
                          tile.k == rows[i].tile[2] && !tile.is_measured,
                      "row %zu: %d x %d x %d", i, (int)tile.m, (int)tile.n, (int)tile.k);
    }
    ck_assert_int_eq(acquire("host_a"), ASSAY_OK); /* which has none */
    ck_assert_int_eq(assay_recommended_tile(engine, 1024, 1024, 1024, &tile), ASSAY_OK);
    ck_assert(tile.m == 128 && tile.n == 128 && tile.k == 8);
    assay_engine_destroy(&engine);
}
END_TEST

static void fill(TCase *subject)
{
    tcase_add_test(subject, tile_heuristic_with_tensor_cores);
    tcase_add_test(subject, select_ops_have_the_class_of_their_family);
    tcase_add_test(subject, select_of_hosts_takes_who_answers_most);
    tcase_add_test(subject, select_route_prefers_tensor_cores_for_products);
    tcase_add_test(subject, select_route_goes_on_without_tensor_cores);
    tcase_add_test(subject, select_route_asks_the_store_first);
    tcase_add_test(subject, select_route_of_what_was_never_measured_is_static);
    tcase_add_test(subject, select_route_leaves_explicit_only_ones_alone);
    tcase_add_test(subject, select_route_needs_a_kernel_for_the_question);
    tcase_add_test(subject, select_route_refuses_another_class);
    tcase_add_test(subject, select_score_row_by_row);
    tcase_add_test(subject, select_ranks_by_one_criterion_after_another);
    tcase_add_test(subject, select_acquires_by_name);
    tcase_add_test(subject, select_prefers_no_cpu_unasked);
    tcase_add_test(subject, select_prefers_the_higher_score_and_then_timing);
    tcase_add_test(subject, select_prefers_among_those_that_can_be_initialised);
}

int main(void)
{
    return select_run("select_engines", fill);
}
