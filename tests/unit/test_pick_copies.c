/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_pick_copies.c -- the picker: inputs that have to be made contiguous first, what
 * that costs, and costs that are only declared. */
#include "tests/support/pick_stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS (64.0 * 64.0)

static assay_route route;

static void pick_route(void)
{
    if (context == NULL)
        open_context();
    ck_assert_msg(assay_pick(context, &question, &route) == ASSAY_OK, "%s", assay_last_error());
}

static void ask_layout(const char *layout)
{
    ask(PROBLEM);
    memcpy(question.layout, layout, 3);
}

static void expect_ns(float value, double expected)
{
    ck_assert_msg(fabs((double)value - expected) <= 1e-4 * expected, "%g, not %g", (double)value,
                  expected);
}

/* ---- prices ---- */

START_TEST(copied_input_is_priced_from_the_measured_rate)
{
    fake.copy_rate = 8;
    ask_layout("lcc");
    ck_assert_str_eq(picked(), "tiled 16");
    pick_route();
    ck_assert_int_eq(route.tier, ASSAY_TIER_PREDICTED);
    ck_assert_uint_eq(assay_route_copies(&route), 1);
    ck_assert_uint_eq(route.measurement, 100 + V_TILED16);
    expect_ns(route.time_ns, 50 + 2 * ELEMENTS * 4 / 8);
    expect_ns(route.lo_ns, 49.5 + 2 * ELEMENTS * 4 / 64);
    expect_ns(route.hi_ns, 50.5 + 4 * 2 * ELEMENTS * 4 / 8 + 1000);
    ck_assert(route.max_ulp >= 1.0f);
}
END_TEST

START_TEST(price_depends_on_how_the_input_lies)
{
    double leading[3], strided[3], negative[3], broadcast[3], both[3];
    assay__copy_costs costs = {.bytes_per_ns = 8};

    ask_layout("lsc");
    ck_assert(assay__copies_price(&question, 1, &costs, leading));
    ck_assert(assay__copies_price(&question, 2, &costs, strided));
    ck_assert(assay__copies_price(&question, 3, &costs, both));
    ask_layout("nbc");
    ck_assert(assay__copies_price(&question, 1, &costs, negative));
    ck_assert(assay__copies_price(&question, 2, &costs, broadcast));
    for (int i = 0; i < 3; i++) {
        ck_assert(both[i] >= leading[i] + strided[i] && both[i] <= leading[i] + strided[i]);
        ck_assert(negative[i] >= strided[i] && negative[i] <= strided[i]);
    }
    ck_assert(strided[2] > leading[2] && strided[0] > leading[0]);
    ck_assert(broadcast[1] < leading[1] && broadcast[0] <= leading[0]);
    ck_assert(leading[1] < leading[0] && leading[0] < leading[2]);
    costs.bytes_per_ns = NAN;
    ck_assert(!assay__copies_price(&question, 1, &costs, leading));
    costs.bytes_per_ns = 0;
    ck_assert(!assay__copies_price(&question, 1, &costs, leading));
}
END_TEST

START_TEST(copied_input_without_a_rate_is_declared_and_ranks_nothing)
{
    const assay_candidate *c;

    ask_layout("lcc");
    ck_assert_str_eq(picked(), "gemm 2 default"); /* though tiled 16 is faster on contiguous ones */
    pick_route();
    ck_assert_int_eq(route.tier, ASSAY_TIER_DECLARED);
    ck_assert_uint_eq(assay_route_copies(&route), 1);
    ck_assert(isnan(route.time_ns) && isnan(route.lo_ns) && isnan(route.hi_ns));
    c = explained("tiled", 16);
    ck_assert_int_eq(c->rejected, 0);
    ck_assert_msg(strstr(c->reason, "not ranked: 50 ns") != NULL, "%s", c->reason);
    ck_assert_msg(strstr(c->reason, "operand 0 must be made contiguous") != NULL, "%s", c->reason);
}
END_TEST

START_TEST(output_is_never_copied)
{
    fake.copy_rate = 8;
    ask_layout("ccl");
    ck_assert_msg(strstr(picked(), "of outputs no copies are made") != NULL, "%s", picked());
    ck_assert_int_eq(explained("tiled", 8)->rejected, 1);
}
END_TEST

START_TEST(copied_input_keeps_tolerances_and_quarantine)
{
    fake.copy_rate = 8;
    candidate(&routes[0], V_TILED16)->max_ulp = 9;
    candidate(&routes[0], V_BLAS2)->verdict = ASSAY__VERDICT_WRONG;
    ask_layout("lcc");
    question.tolerance.max_ulp = 4;
    ck_assert_str_eq(picked(), "gemm 1");
    ck_assert_int_eq(explained("tiled", 16)->rejected, 1);
    ck_assert_int_eq(explained("gemm", 2)->rejected, 1);
}
END_TEST

/* ---- prices by size ---- */

/* Copies of 4 KiB take 100 ns +- 10 %, of 64 KiB 1,300; of others in between. */
static void measure_copies(const char *source, const char *target)
{
    const assay__store_transfer sizes[] = {{source, target, 4096, 100, 90, 110},
                                           {source, target, 65536, 1300, 1170, 1430}};

    memcpy(fake.transfers, sizes, sizeof sizes);
    fake.transfer_count = 2;
}

START_TEST(hot_copies_are_priced_by_their_size)
{
    /* On the line through both: what is read and written, by two, is moved. */
    const double moved = ELEMENTS * 4, ns = 100 + (moved - 4096) * 1200 / 61440;

    fake.copy_rate = 8;
    measure_copies("cpu:0", "cpu:0/copy");
    routes[0].policy = "hot/alone/kernel";
    ask_layout("lcc");
    question.policy.cache = ASSAY_CACHE_HOT;
    pick_route();
    ck_assert_uint_eq(assay_route_copies(&route), 1);
    expect_ns(route.time_ns, 50 + ns);
    expect_ns(route.lo_ns, 49.5 + ns * 0.9 / 2);
    expect_ns(route.hi_ns, 50.5 + ns * 1.1 * 4 + 1000);
}
END_TEST

/* Operands that rotate are in no cache, and ways between other memories say nothing of copies. */
START_TEST(copies_that_are_not_hot_are_priced_by_the_rate)
{
    static const char *const ways[][2] = {
        {"cpu:0", "cpu:0/copy"}, {"fake:0", "cpu:0/copy"}, {"cpu:0", "fake:0/copy"}};
    const bool is_hot = _i > 0;

    fake.copy_rate = 8;
    measure_copies(ways[_i][0], ways[_i][1]);
    routes[0].policy = is_hot ? "hot/alone/kernel" : "rotate/alone/kernel";
    ask_layout("lcc");
    question.policy.cache = is_hot ? ASSAY_CACHE_HOT : ASSAY_CACHE_ROTATE;
    pick_route();
    expect_ns(route.time_ns, 50 + 2 * ELEMENTS * 4 / 8);
    assay_close(&context);
    fake.copy_rate = 0;
    pick_route();
    ck_assert(isnan(route.time_ns));
}
END_TEST

START_TEST(how_an_input_lies_counts_by_size_too)
{
    static const assay__transfer_point points[] = {{4096, 100, 90, 110}, {65536, 1300, 1170, 1430}};
    const assay__copy_costs costs = {.bytes_per_ns = NAN, .points = points, .count = 2};
    double leading[3], strided[3], broadcast[3], both[3];

    ask_layout("lsc");
    question.policy.cache = ASSAY_CACHE_HOT;
    ck_assert(assay__copies_price(&question, 1, &costs, leading));
    ck_assert(assay__copies_price(&question, 2, &costs, strided));
    ck_assert(assay__copies_price(&question, 3, &costs, both));
    ask_layout("lbc");
    question.policy.cache = ASSAY_CACHE_HOT;
    ck_assert(assay__copies_price(&question, 2, &costs, broadcast));
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq_tol(both[i], leading[i] + strided[i], 1e-9);
    ck_assert(strided[0] > leading[0] && strided[2] > leading[2]);
    ck_assert(broadcast[1] < leading[1] && broadcast[0] <= leading[0]);
    ck_assert(leading[1] < leading[0] && leading[0] < leading[2]);
}
END_TEST

/* ---- rank ---- */

/* gemm takes rows apart and was measured so; the others are priced with a copy. */
static void measure_leading(double ns)
{
    fake_route *direct = add_route(PROBLEM, 16);

    direct->layout = "lcc";
    descs[BLAS].caps[0].layouts = ASSAY_CAP_LEADING;
    add_candidate(direct, V_BLAS1, ns);
    direct->candidates[0].ratio = direct->candidates[0].ratio_lo = direct->candidates[0].ratio_hi =
        1;
    fake.copy_rate = 8;
}

START_TEST(prediction_displaces_only_below_the_measured_bound)
{
    const double upper = 50.5 + 4 * 2 * ELEMENTS * 4 / 8 + 1000; /* of tiled 16 */

    measure_leading(upper / 0.99 * 1.001);
    ask_layout("lcc");
    ck_assert_str_eq(picked(), "tiled 16");
    pick_route();
    ck_assert_int_eq(route.tier, ASSAY_TIER_PREDICTED);
    assay_close(&context);
    routes[1].candidates[0] = fake_candidate(V_BLAS1, upper / 0.99 * 0.999);
    ck_assert_str_eq(picked(), "gemm 1");
    pick_route();
    ck_assert_int_eq(route.tier, ASSAY_TIER_MEASURED);
    ck_assert_uint_eq(assay_route_copies(&route), 0);
    ck_assert_msg(strstr(explained("tiled", 16)->reason, "not better for certain: predicted") !=
                      NULL,
                  "%s", explained("tiled", 16)->reason);
}
END_TEST

START_TEST(prediction_does_not_displace_without_a_measured_bound)
{
    measure_leading(1e9);
    routes[1].candidates[0].lo_ns = NAN;
    ask_layout("lcc");
    ck_assert_str_eq(picked(), "gemm 1");
}
END_TEST

START_TEST(prediction_comes_before_a_kernel_that_was_never_measured)
{
    descs[PLAIN].caps[0].layouts = ASSAY_CAP_LEADING;
    fake.copy_rate = 8;
    ask_layout("lcc");
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

/* The same copies cost all the same: the published winner of the contiguous route stays ahead. */
START_TEST(predictions_with_the_same_copies_rank_as_measured)
{
    fake.copy_rate = 8;
    ask_layout("lcc");
    routes[0].winner = V_BLAS2;
    candidate(&routes[0], V_BLAS2)->tied = candidate(&routes[0], V_TILED16)->tied = 1;
    ck_assert_str_eq(picked(), "gemm 2");
    ck_assert_int_eq(explained("tiled", 16)->tied, 1);
    ck_assert_int_eq(explained("plain", 0)->tied, 0);
    assay_close(&context);
    routes[0].winner = 0;
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

START_TEST(predictions_with_other_copies_rank_by_their_sum)
{
    fake_route *half = add_route(PROBLEM, 16);

    descs[PLAIN].caps[0].layouts = ASSAY_CAP_LEADING; /* needs one copy, the others two */
    half->layout = "lcc";
    add_candidate(half, V_PLAIN, 900);
    fake.copy_rate = 8;
    ask_layout("llc");
    ck_assert_str_eq(picked(), "plain 0"); /* 900 + 4096 against 50 + 8192 */
    pick_route();
    ck_assert_uint_eq(assay_route_copies(&route), 2);
    assay_close(&context);
    fake.copy_rate = 1000;
    ck_assert_str_eq(picked(), "tiled 16"); /* 900 + 33 against 50 + 66 */
    pick_route();
    ck_assert_uint_eq(assay_route_copies(&route), 3);
}
END_TEST

START_TEST(default_prefers_what_takes_inputs_as_they_lie)
{
    fake.route_count = 0;
    descs[PLAIN].caps[1].layouts = ASSAY_CAP_STRIDED;
    ask_layout("csc");
    ck_assert_str_eq(picked(), "plain 0 default");
    pick_route();
    ck_assert_uint_eq(assay_route_copies(&route), 0);
    assay_close(&context);
    descs[PLAIN].caps[1].layouts = 0;
    ck_assert_str_eq(picked(), "gemm 2 default");
    pick_route();
    ck_assert_uint_eq(assay_route_copies(&route), 2);
    ck_assert_int_eq(route.tier, ASSAY_TIER_UNKNOWN);
    ck_assert_msg(strstr(explained("gemm", 2)->reason, "operand 1 must be made") != NULL, "%s",
                  why->candidates[0].reason);
}
END_TEST

START_TEST(inputs_too_little_aligned_are_copied)
{
    for (int i = 0; i < KERNELS; i++)
        descs[i].caps[0].align_bytes = descs[i].caps[1].align_bytes = 16;
    fake.copy_rate = 8;
    ask(PROBLEM);
    question.align = 0;
    ck_assert_str_eq(picked(), "gemm 2 default"); /* the output lies otherwise than was measured */
    pick_route();
    ck_assert_uint_eq(assay_route_copies(&route), 3);
    ck_assert(isnan(route.time_ns));
    question.align = 16;
    pick_route();
    ck_assert_uint_eq(assay_route_copies(&route), 0);
}
END_TEST

/* ---- declared costs ---- */

static assay_cost known_cost(const assay_problem *problem, const assay_tensor *operands,
                             size_t count, const assay_capabilities *caps)
{
    const assay_cost cost = {.tier = count == 3 && operands[2].dims[2] == problem->params[2].i &&
                                             isnan(caps->flops_per_ns)
                                         ? ASSAY_TIER_DECLARED
                                         : ASSAY_TIER_UNKNOWN};

    return cost;
}

/* Knows only what it is told of the device. */
static assay_cost device_cost(const assay_problem *problem, const assay_tensor *operands,
                              size_t count, const assay_capabilities *caps)
{
    const bool is_told = caps->struct_size == sizeof *caps && caps->threads == 1 &&
                         caps->flops_per_ns >= 3 && caps->flops_per_ns <= 3 &&
                         caps->bytes_per_ns >= 8 && caps->bytes_per_ns <= 8;

    (void)problem;
    (void)operands;
    (void)count;
    return (assay_cost){.tier = is_told ? ASSAY_TIER_DECLARED : ASSAY_TIER_UNKNOWN};
}

static assay_cost unknown_cost(const assay_problem *problem, const assay_tensor *operands,
                               size_t count, const assay_capabilities *caps)
{
    (void)problem;
    (void)operands;
    (void)count;
    (void)caps;
    return (assay_cost){.tier = ASSAY_TIER_UNKNOWN};
}

START_TEST(declared_costs_never_rank_rivals)
{
    fake.route_count = 0;
    descs[BLAS].cost_flops = "1000*m*n*k";
    descs[PLAIN].cost_flops = "1";
    descs[PLAIN].cost_bytes = "1";
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "gemm 2 default");
    pick_route();
    ck_assert_int_eq(route.tier, ASSAY_TIER_DECLARED);
    ck_assert(isnan(route.time_ns));
    ck_assert_int_eq(explained("plain", 0)->route.tier, ASSAY_TIER_DECLARED);
    ck_assert_msg(strstr(explained("plain", 0)->reason, "only declared") != NULL, "%s",
                  explained("plain", 0)->reason);
    ck_assert_int_eq(explained("tiled", 8)->route.tier, ASSAY_TIER_UNKNOWN);
}
END_TEST

START_TEST(declared_cost_that_is_unknown_here_is_none)
{
    fake.route_count = 0;
    descs[BLAS].cost_flops = "1/(m-64)";
    descs[TILED].cost_fn = known_cost;
    descs[PLAIN].cost_fn = unknown_cost;
    ask(PROBLEM);
    pick_route();
    ck_assert_int_eq(route.tier, ASSAY_TIER_UNKNOWN);
    ck_assert_int_eq(explained("tiled", 8)->route.tier, ASSAY_TIER_DECLARED);
    ck_assert_int_eq(explained("plain", 0)->route.tier, ASSAY_TIER_UNKNOWN);
}
END_TEST

/* The peaks of the problem's dtype, f32 here, of the CPUs that were measured. */
START_TEST(cost_functions_are_told_the_peaks)
{
    fake.route_count = 0;
    descs[TILED].cost_fn = device_cost;
    fake.copy_rate = 8;
    fake.fma_rates[0] = _i == 0 ? 3 : 0;
    fake.fma_rates[1] = _i == 0 ? 5 : 3;
    ask(PROBLEM);
    pick_route();
    ck_assert_int_eq(explained("tiled", 8)->route.tier,
                     _i == 0 ? ASSAY_TIER_DECLARED : ASSAY_TIER_UNKNOWN);
}
END_TEST

/* ---- running ---- */

static float seen[2][64 * 64];
static const void *seen_at[3];
static assay_status look(const assay_launch *launch)
{
    for (size_t i = 0; i < 3; i++) {
        seen_at[i] = assay_tensor_data(&launch->operands[i]);
        if (assay_tensor_layout(&launch->operands[i]) != 'c')
            return ASSAY_INTERNAL;
        if (i < 2)
            memcpy(seen[i], seen_at[i], sizeof seen[i]);
    }
    return ASSAY_OK;
}

START_TEST(run_makes_inputs_contiguous)
{
    static float a[64 * 100], b[64 * 64], c[64 * 64];
    const int64_t dims[] = {1, 64, 64}, rows_apart[] = {0, 100, 1}, turned[] = {0, 1, 64};
    assay_tensor t[3];

    for (int i = 0; i < 64 * 100; i++)
        a[i] = (float)i;
    for (int i = 0; i < 64 * 64; i++)
        b[i] = (float)-i;
    descs[TILED].run = rows[TILED].run = look;
    fake.copy_rate = 8;
    ask_layout("lsc");
    pick_route();
    ck_assert_uint_eq(assay_route_copies(&route), 3);
    ck_assert_int_eq(assay_tensor_host(a, ASSAY_F32, 3, dims, rows_apart, &t[0]), ASSAY_OK);
    ck_assert_int_eq(assay_tensor_host(b, ASSAY_F32, 3, dims, turned, &t[1]), ASSAY_OK);
    ck_assert_int_eq(assay_tensor_host(c, ASSAY_F32, 3, dims, NULL, &t[2]), ASSAY_OK);
    ck_assert_int_eq(assay_run(context, &route, &question.problem, t, 3), ASSAY_OK);
    for (int i = 0; i < 64; i++)
        for (int k = 0; k < 64; k++) {
            ck_assert_int_eq((int)seen[0][i * 64 + k], i * 100 + k);
            ck_assert_int_eq((int)seen[1][i * 64 + k], -(i + 64 * k));
        }
    ck_assert_uint_eq((uintptr_t)seen_at[0] % 64, 0);
    ck_assert_ptr_eq(seen_at[2], c);
    /* What happens to lie well is passed as it is. */
    ck_assert_int_eq(assay_tensor_host(a, ASSAY_F32, 3, dims, NULL, &t[0]), ASSAY_OK);
    ck_assert_int_eq(assay_run(context, &route, &question.problem, t, 3), ASSAY_OK);
    ck_assert_ptr_eq(seen_at[0], a);
    ck_assert_ptr_ne(seen_at[1], b);
    /* What the route does not name is refused. */
    ask(PROBLEM);
    pick_route();
    ck_assert_int_eq(assay_run(context, &route, &question.problem, t, 3), ASSAY_INVALID);
}
END_TEST

/* ---- copies of tensors ---- */

static int64_t place(const assay_tensor *t, const int64_t *at)
{
    int64_t sum = 0;

    for (uint32_t d = 0; d < t->rank; d++)
        sum += at[d] * t->strides[d];
    return sum;
}

START_TEST(tensor_copy_takes_any_strides)
{
    static const int64_t dims[] = {3, 4, 5};
    static const int64_t strides[][3] = {{20, 5, 1}, {60, 8, 1},   {1, 3, 12}, {0, 5, 1},
                                         {5, 0, 0},  {-20, 5, -1}, {40, 10, 2}};
    static const assay_dtype dtypes[] = {ASSAY_U8, ASSAY_F16, ASSAY_F32, ASSAY_F64};
    static unsigned char from[4096], to[4096];
    const size_t bytes = assay_dtype_bytes(dtypes[_i]);
    assay_tensor a, b;

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 7 + i / 256);
    for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++) {
        ck_assert_int_eq(assay_tensor_host(from + 2048, dtypes[_i], 3, dims, strides[s], &a),
                         ASSAY_OK);
        ck_assert_int_eq(assay_tensor_host(to, dtypes[_i], 3, dims, NULL, &b), ASSAY_OK);
        memset(to, 0xee, sizeof to);
        ck_assert_int_eq(assay_tensor_copy(&a, &b), ASSAY_OK);
        for (int64_t n = 0; n < 60; n++) {
            const int64_t at[] = {n / 20, n / 5 % 4, n % 5};
            ck_assert_int_eq(memcmp(from + 2048 + place(&a, at) * (int64_t)bytes,
                                    to + n * (int64_t)bytes, bytes),
                             0);
        }
        ck_assert_int_eq(to[60 * bytes], 0xee);
    }
}
END_TEST

START_TEST(tensor_copy_of_one_none_and_unlike_ones)
{
    const int64_t none[] = {4, 0}, two[] = {2};
    float from = 3, to = 0;
    assay_tensor a, b;

    ck_assert_int_eq(assay_tensor_host(&from, ASSAY_F32, 0, NULL, NULL, &a), ASSAY_OK);
    ck_assert_int_eq(assay_tensor_host(&to, ASSAY_F32, 0, NULL, NULL, &b), ASSAY_OK);
    ck_assert_int_eq(assay_tensor_copy(&a, &b), ASSAY_OK);
    ck_assert_int_eq((int)to, 3);
    b.buffer.at.host = NULL;
    ck_assert_int_eq(assay_tensor_copy(&a, &b), ASSAY_INVALID);
    b.dtype = ASSAY_F64;
    ck_assert_int_eq(assay_tensor_copy(&a, &b), ASSAY_INVALID);
    ck_assert_int_eq(assay_tensor_host(&to, ASSAY_F32, 1, two, NULL, &b), ASSAY_OK);
    ck_assert_int_eq(assay_tensor_copy(&a, &b), ASSAY_INVALID);
    ck_assert_int_eq(assay_tensor_host(NULL, ASSAY_F32, 2, none, NULL, &a), ASSAY_OK);
    ck_assert_int_eq(assay_tensor_copy(&a, &a), ASSAY_OK);
}
END_TEST

static void fill(TCase *subject)
{
    tcase_add_test(subject, copied_input_is_priced_from_the_measured_rate);
    tcase_add_test(subject, price_depends_on_how_the_input_lies);
    tcase_add_test(subject, hot_copies_are_priced_by_their_size);
    tcase_add_loop_test(subject, copies_that_are_not_hot_are_priced_by_the_rate, 0, 3);
    tcase_add_test(subject, how_an_input_lies_counts_by_size_too);
    tcase_add_test(subject, copied_input_without_a_rate_is_declared_and_ranks_nothing);
    tcase_add_test(subject, output_is_never_copied);
    tcase_add_test(subject, copied_input_keeps_tolerances_and_quarantine);
    tcase_add_test(subject, prediction_displaces_only_below_the_measured_bound);
    tcase_add_test(subject, prediction_does_not_displace_without_a_measured_bound);
    tcase_add_test(subject, prediction_comes_before_a_kernel_that_was_never_measured);
    tcase_add_test(subject, predictions_with_the_same_copies_rank_as_measured);
    tcase_add_test(subject, predictions_with_other_copies_rank_by_their_sum);
    tcase_add_test(subject, default_prefers_what_takes_inputs_as_they_lie);
    tcase_add_test(subject, inputs_too_little_aligned_are_copied);
    tcase_add_test(subject, declared_costs_never_rank_rivals);
    tcase_add_test(subject, declared_cost_that_is_unknown_here_is_none);
    tcase_add_loop_test(subject, cost_functions_are_told_the_peaks, 0, 2);
    tcase_add_test(subject, run_makes_inputs_contiguous);
    tcase_add_loop_test(subject, tensor_copy_takes_any_strides, 0, 4);
    tcase_add_test(subject, tensor_copy_of_one_none_and_unlike_ones);
}

int main(void)
{
    return stage_run("pick_copies", fill);
}
