/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_fused_linear.c -- y = a b + bias: the reference and every kernel against values
 * made by hand and the definition; costs; bad problems.
 *
 * Integers so small that all sums are exact: results are the same bit for bit, whatever the order.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/status.h"
#include "calibrate/inputs.h"
#include "tests/support/no_leak_scan.h"
#include "tests/support/plugin_all.h"
#include "tests/support/plugin_case.h"

static bool same(double got, double want)
{
    return isnan(want) ? isnan(got) : got >= want && got <= want;
}

static int check_kernel(plugin_case *c, const assay_kernel_desc *k, const double *want,
                        const char *what)
{
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    assay_dtype t = (assay_dtype)k->dtypes[3];

    for (size_t i = 0; i < k->tunable_count; i++)
        tunables[i] = k->tunables[i].default_value;
    if (k->can_run_fn != NULL && !k->can_run_fn(&c->problem, tunables))
        return 0;
    plugin_case_poison(c);
    ck_assert_int_eq(plugin_case_run(c, k, tunables), ASSAY_OK);
    for (int64_t j = 0; j < c->elements; j++) {
        double w = assay_round_f64(t, want[j]), got = plugin_case_get(c, 3, j);
        ck_assert_msg(same(got, w), "%s %s %s element %ld: %g, not %g", k->name,
                      assay_dtype_name(t), what, (long)j, got, w);
    }
    return 1;
}

/* One element by the definition. */
static double element(const plugin_case *c, int64_t index)
{
    const int64_t *a = c->operands[0].dims, *y = c->operands[3].dims;
    int64_t j = index % y[2], i = index / y[2] % y[1], batch = index / (y[1] * y[2]);
    double sum = plugin_case_get(c, 2, j);

    for (int64_t p = 0; p < a[2]; p++)
        sum += plugin_case_get(c, 0, (batch * a[1] + i) * a[2] + p) *
               plugin_case_get(c, 1, (batch * a[2] + p) * y[2] + j);
    return sum;
}

static const char *const shapes[] = {
    "m=2,n=3,k=0",          "m=1,n=1,k=1",      "m=5,n=9,k=4",          "m=7,n=33,k=70",
    "m=65,n=40,k=3",        "m=30,n=700,k=520", "batch=3,m=4,n=17,k=6", "batch=2,m=13,n=16,k=257",
    "batch=0,m=4,n=17,k=6", "m=0,n=4,k=2"};
#define SHAPES ((int)(sizeof shapes / sizeof *shapes))

/* Two values of the bias and one of a are no numbers: they reach their column, their row, no more.
 */
static void fill(plugin_case *c, bool special)
{
    for (uint32_t o = 0; o < 3; o++)
        ck_assert_msg(assay__inputs_fill(&c->problem, ASSAY_STRATUM_INTEGERS, 5, o, 0,
                                         (uint64_t)assay_problem_operand_elements(&c->problem, o),
                                         assay_tensor_data(&c->operands[o])) == ASSAY_OK,
                      "%s", assay_last_error());
    if (!special || c->elements == 0)
        return;
    plugin_case_set(c, 2, 0, INFINITY);
    plugin_case_set(c, 2, c->operands[2].dims[0] / 2, NAN);
    if (c->operands[0].dims[2] > 0)
        plugin_case_set(c, 0, 0, NAN);
}

static void check_shape(const assay_manifest *m, assay_instance *instance, const char *params,
                        bool special, int *ran)
{
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        plugin_case c;
        if (k->op != ASSAY_OP_fused_linear ||
            (instance != NULL && !plugin_all_runs(m, instance, k)))
            continue;
        plugin_case_of(&c, k, params, 8);
        fill(&c, special);
        double *want = malloc((size_t)(c.elements + 1) * sizeof *want);
        ck_assert_ptr_nonnull(want);
        for (int64_t j = 0; j < c.elements; j++)
            want[j] = element(&c, j);
        *ran += check_kernel(&c, k, want, params);
        free(want);
        plugin_case_clear(&c);
    }
}

START_TEST(kernels_follow_the_definition)
{
    const assay_manifest *m = plugin_all_at(_i / (2 * SHAPES));
    assay_instance *instance = NULL;
    int ran = 0;

    if (!plugin_all_open(m, &instance))
        return;
    check_shape(m, instance, shapes[_i / 2 % SHAPES], _i % 2 != 0, &ran);
    ck_assert_int_ge(ran, strcmp(m->name, "cpu") == 0 ? 8 : 0);
    plugin_all_close(m, &instance);
}
END_TEST

START_TEST(reference_follows_the_definition)
{
    int ran = 0;

    check_shape(plugin_load("ref"), NULL, shapes[_i / 2], _i % 2 != 0, &ran);
    ck_assert_int_eq(ran, 4);
}
END_TEST

START_TEST(values_made_by_hand)
{
    static const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8, 9, 10}, bias[] = {0.5, -100, 0};
    static const double y[] = {21.5, -76, 27, 47.5, -46, 61};
    const assay_manifest *m = plugin_all_at(_i);
    assay_instance *instance = NULL;
    bool is_ref = strcmp(m->name, "ref") == 0;

    if (!is_ref && !plugin_all_open(m, &instance))
        return;
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        plugin_case c;
        if (k->op != ASSAY_OP_fused_linear || (!is_ref && !plugin_all_runs(m, instance, k)))
            continue;
        plugin_case_of(&c, k, "m=2,n=3,k=2", 0);
        for (int64_t j = 0; j < 4; j++)
            plugin_case_set(&c, 0, j, a[j]);
        for (int64_t j = 0; j < 6; j++)
            plugin_case_set(&c, 1, j, b[j]);
        for (int64_t j = 0; j < 3; j++)
            plugin_case_set(&c, 2, j, bias[j]);
        ck_assert_int_eq(check_kernel(&c, k, y, "by hand"), 1);
        plugin_case_clear(&c);
    }
    plugin_all_close(m, &instance);
}
END_TEST

/* The bias is a term of the sum: 2^-30 beside 1 - 1 is not lost, and its size is measured by. */
START_TEST(reference_adds_the_bias_before_it_rounds)
{
    const assay_manifest *ref = plugin_load("ref");
    plugin_case c;
    assay_wide w;

    plugin_case_init(&c, ASSAY_OP_fused_linear, ASSAY_F32, "m=1,n=1,k=2", 0);
    plugin_case_set(&c, 0, 0, 1.0);
    plugin_case_set(&c, 0, 1, 1.0);
    plugin_case_set(&c, 1, 0, 1.0);
    plugin_case_set(&c, 1, 1, 0x1p-40);
    plugin_case_set(&c, 2, 0, -1.0);
    plugin_case_wide(&c, plugin_oracle(ref, ASSAY_OP_fused_linear), 1, &w);
    ck_assert(w.hi[0] + w.lo[0] == 0x1p-40 && w.magnitude[0] == 2.0 + 0x1p-40);
    plugin_wide_clear(&w);
    plugin_case_clear(&c);
}
END_TEST

/* ---- costs and bad input --------------------------------------------------------------------- */

START_TEST(layer_1_counts)
{
    static const struct {
        const char *text;
        double flops, bytes;
    } rows[] = {
        {"fused_linear f32,f32,f32,f32 batch=2,m=64,n=128,k=256", 8404992, 459264},
        {"fused_linear bf16,bf16,bf16,bf16 m=3,n=5,k=7", 225, 2.0 * (21 + 35 + 15 + 5)},
        {"fused_linear f64,f64,f64,f64 m=3,n=5,k=0", 15, 8.0 * (15 + 5)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assay_problem p;
        double flops, bytes;
        ck_assert_int_eq(assay_problem_parse(rows[i].text, &p), ASSAY_OK);
        ck_assert(assay_problem_flops(&p, &flops) && assay_problem_bytes(&p, &bytes));
        ck_assert_double_eq(flops, rows[i].flops);
        ck_assert_double_eq(bytes, rows[i].bytes);
    }
}
END_TEST

static const struct bad {
    const char *text, *says;
    assay_status status;
} bad[] = {
    {"fused_linear f32,f32,f32,f32 m=2,n=3", "'k'", ASSAY_INVALID},
    {"fused_linear f32,f32,f32,f32 m=-2,n=3,k=1", "m=-2", ASSAY_INVALID},
    {"fused_linear f32,f32,f32 m=2,n=3,k=1", "3", ASSAY_INVALID},
    {"fused_linear f32,f32,f64,f32 m=2,n=3,k=1", "f64", ASSAY_UNSUPPORTED},
    {"fused_linear i8,i8,i8,i8 m=2,n=3,k=1", "i8", ASSAY_UNSUPPORTED},
    {"fused_linear f32,f32,f32,f32 m=2,n=3,k=1,trans_a=t", "trans_a", ASSAY_INVALID},
    {"fused_linear f32,f32,f32,f32 m=1099511627776,n=1099511627776,k=1", "2^62", ASSAY_OVERFLOW},
};

START_TEST(bad_problems_say_why)
{
    assay_problem p;

    ck_assert_msg(assay_problem_parse(bad[_i].text, &p) == bad[_i].status, "%s: %s", bad[_i].text,
                  assay_last_error());
    ck_assert_msg(strstr(assay_last_error(), bad[_i].says) != NULL, "%s: %s", bad[_i].text,
                  assay_last_error());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fused_linear");
    TCase *tcase = tcase_create("fused_linear");
    int count = plugin_all_find();

    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, kernels_follow_the_definition, 0, count * 2 * SHAPES);
    tcase_add_loop_test(tcase, reference_follows_the_definition, 0, 2 * SHAPES);
    tcase_add_loop_test(tcase, values_made_by_hand, 0, count);
    tcase_add_test(tcase, reference_adds_the_bias_before_it_rounds);
    tcase_add_test(tcase, layer_1_counts);
    tcase_add_loop_test(tcase, bad_problems_say_why, 0, (int)(sizeof bad / sizeof *bad));
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
