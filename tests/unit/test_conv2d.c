/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_conv2d.c -- convolutions: the reference and our kernels against the definition.
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
#include "tests/support/every_kernel.h"
#include "tests/support/no_leak_scan.h"
#include "tests/support/plugin_case.h"

static const assay_manifest *ref, *cpu;

static void setup(void)
{
    every_kernel_open();
    ref = plugin_load("ref");
    cpu = plugin_load("cpu");
}

static const assay_dtype floats[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16};
#define FLOATS 4

/* Every kernel gives want[], and leaves nothing of what was there. */
static void check_kernels(plugin_case *c, const double *want, const char *what)
{
    plugin_case_poison(c);
    every_kernel_gives(c, want, what);
}

typedef struct window {
    int64_t groups, stride[2], dilation[2], padding[2];
} window;

static window window_of(const assay_problem *p)
{
    return (window){assay_problem_int(p, "groups"),
                    {assay_problem_int(p, "stride_h"), assay_problem_int(p, "stride_w")},
                    {assay_problem_int(p, "dil_h"), assay_problem_int(p, "dil_w")},
                    {assay_problem_int(p, "pad_h"), assay_problem_int(p, "pad_w")}};
}

/* One element by the definition: taps outside x are skipped. */
static double element(const plugin_case *c, const window *w, const int64_t at[4])
{
    const int64_t *x = c->operands[0].dims, *f = c->operands[1].dims;
    int64_t per_group = f[0] / w->groups;
    double sum = 0.0;

    for (int64_t i = 0; i < f[1] * f[2] * f[3]; i++) {
        int64_t ci = i / (f[2] * f[3]), ri = i / f[3] % f[2], si = i % f[3];
        int64_t row = at[2] * w->stride[0] + ri * w->dilation[0] - w->padding[0];
        int64_t col = at[3] * w->stride[1] + si * w->dilation[1] - w->padding[1];
        int64_t channel = at[1] / per_group * f[1] + ci;
        if (row < 0 || row >= x[2] || col < 0 || col >= x[3])
            continue;
        sum += plugin_case_get(c, 0, ((at[0] * x[1] + channel) * x[2] + row) * x[3] + col) *
               plugin_case_get(c, 1, at[1] * f[1] * f[2] * f[3] + i);
    }
    return sum;
}

static double *by_definition(const plugin_case *c)
{
    const int64_t *y = c->operands[2].dims;
    window w = window_of(&c->problem);
    double *out = malloc((size_t)(c->elements + 1) * sizeof *out);

    ck_assert_ptr_nonnull(out);
    for (int64_t i = 0; i < c->elements; i++) {
        int64_t at[4] = {i / (y[1] * y[2] * y[3]), i / (y[2] * y[3]) % y[1], i / y[3] % y[2],
                         i % y[3]};
        out[i] = element(c, &w, at);
    }
    return out;
}

/* ---- values made by hand --------------------------------------------------------------------- */

static const struct hand {
    const char *params;
    double x[16], filter[8], y[16];
} hand[] = {
    {"n=1,c=1,h=3,w=3,k=1,r=2,s=2", {1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 0, 0, -1}, {-4, -4, -4, -4}},
    {"n=1,c=1,h=2,w=2,k=1,r=3,s=3,pad_h=1,pad_w=1",
     {1, 2, 3, 4},
     {0, 0, 0, 0, 1, 0, 0, 10}, /* the ninth stays 0 */
     {31, 42, 3, 4}},
    {"n=1,c=2,h=1,w=2,k=2,r=1,s=1", {1, 2, 10, 20}, {1, 2, 3, 4}, {21, 42, 43, 86}},
    {"n=1,c=2,h=1,w=2,k=2,r=1,s=1,groups=2", {1, 2, 10, 20}, {3, 4}, {3, 6, 40, 80}},
    {"n=1,c=1,h=1,w=7,k=1,r=1,s=3,stride_w=2", {1, 2, 3, 4, 5, 6, 7}, {1, 2, 4}, {17, 31, 45}},
    {"n=1,c=1,h=1,w=7,k=1,r=1,s=3,dil_w=3", {1, 2, 3, 4, 5, 6, 7}, {1, 2, 4}, {37}},
    {"n=1,c=1,h=4,w=1,k=1,r=2,s=1,stride_h=2,pad_h=1", {1, 2, 3, 4}, {1, 10}, {10, 32, 4}},
    {"n=2,c=1,h=1,w=2,k=1,r=1,s=2", {1, 2, 3, 4}, {1, -1}, {-1, -1}},
    {"n=1,c=0,h=2,w=2,k=1,r=1,s=1", {0}, {0}, {0, 0, 0, 0}},
    {"n=1,c=1,h=1,w=1,k=1,r=1,s=1,pad_h=1,pad_w=1", {3}, {2}, {0, 0, 0, 0, 6, 0, 0, 0, 0}},
};

START_TEST(values_made_by_hand)
{
    for (size_t i = 0; i < sizeof hand / sizeof *hand; i++) {
        const struct hand *h = &hand[i];
        plugin_case c;
        plugin_case_init(&c, ASSAY_OP_conv2d, floats[_i], h->params, 0);
        for (uint32_t o = 0; o < 2; o++)
            for (int64_t j = 0; j < assay_problem_operand_elements(&c.problem, o); j++)
                plugin_case_set(&c, o, j, o != 0 ? j < 8 ? h->filter[j] : 0.0 : h->x[j]);
        check_kernels(&c, h->y, h->params);
        plugin_case_clear(&c);
    }
}
END_TEST

/* ---- by the definition ----------------------------------------------------------------------- */

static const char *const shapes[] = {
    "n=2,c=3,h=9,w=11,k=7,r=3,s=3,pad_h=1,pad_w=1",
    "n=2,c=17,h=9,w=11,k=7,r=3,s=3,pad_h=1,pad_w=1",
    "n=3,c=32,h=6,w=35,k=30,r=3,s=3,pad_h=2,groups=2",
    "n=3,c=5,h=7,w=7,k=13,r=3,s=3,pad_h=1,pad_w=1",
    "n=1,c=3,h=29,w=31,k=8,r=7,s=7,stride_h=2,stride_w=2,pad_h=3,pad_w=3",
    "n=2,c=6,h=13,w=10,k=9,r=1,s=1,stride_h=2,stride_w=3",
    "n=2,c=70,h=6,w=9,k=20,r=1,s=1",
    "n=1,c=66,h=40,w=35,k=7,r=3,s=2,pad_h=1",
    "n=2,c=4,h=20,w=15,k=6,r=3,s=2,stride_h=3,stride_w=2,dil_h=2,dil_w=3,pad_h=5,pad_w=4",
    "n=2,c=8,h=9,w=8,k=12,r=3,s=3,pad_h=1,pad_w=1,groups=4",
    "n=2,c=9,h=6,w=10,k=9,r=3,s=3,pad_h=1,pad_w=1,groups=9",
    "n=1,c=2,h=3,w=700,k=2,r=2,s=5,stride_w=2,pad_w=2",
    "n=1,c=1,h=70,w=66,k=2,r=66,s=65",
    "n=1,c=3,h=4,w=5,k=3,r=1,s=2,pad_h=6,pad_w=5,stride_h=4",
    "n=1,c=3,h=9,w=8,k=2,r=4,s=3,stride_h=6,dil_h=2,dil_w=2,pad_w=1,groups=1",
    "n=0,c=3,h=4,w=5,k=3,r=1,s=2",
    "n=1,c=2,h=4,w=5,k=0,r=1,s=2,groups=2",
};
#define SHAPES ((int)(sizeof shapes / sizeof *shapes))

static void fill_integers(plugin_case *c)
{
    for (uint32_t o = 0; o < 2; o++)
        ck_assert_msg(assay__inputs_fill(&c->problem, ASSAY_STRATUM_INTEGERS, 5, o, 0,
                                         (uint64_t)assay_problem_operand_elements(&c->problem, o),
                                         assay_tensor_data(&c->operands[o])) == ASSAY_OK,
                      "%s", assay_last_error());
}

/* f16 and bf16 round sums: there what the definition gives is rounded once as well. */
static void round_all(assay_dtype t, double *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        want[i] = assay_round_f64(t, want[i]);
}

START_TEST(kernels_follow_the_definition)
{
    assay_dtype t = floats[_i % FLOATS];
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_conv2d, t, shapes[_i / FLOATS], 8);
    fill_integers(&c);
    double *want = by_definition(&c);
    round_all(t, want, c.elements);
    check_kernels(&c, want, shapes[_i / FLOATS]);
    free(want);
    plugin_case_clear(&c);
}
END_TEST

/* Infinities and NaN of the filter reach the places whose tap is inside, and no others. */
START_TEST(padding_is_skipped_not_multiplied)
{
    static const char *const padded[] = {
        "n=2,c=3,h=9,w=11,k=8,r=3,s=3,pad_h=1,pad_w=1",
        "n=1,c=2,h=8,w=30,k=7,r=3,s=3,pad_h=2,pad_w=2,dil_h=2,dil_w=2,stride_w=2",
        "n=2,c=4,h=5,w=6,k=6,r=2,s=3,pad_h=3,pad_w=4,groups=2"};
    assay_dtype t = floats[_i];

    for (size_t i = 0; i < sizeof padded / sizeof *padded; i++) {
        plugin_case c;
        plugin_case_init(&c, ASSAY_OP_conv2d, t, padded[i], 0);
        fill_integers(&c);
        int64_t taps = assay_problem_operand_elements(&c.problem, 1) / c.operands[1].dims[0];
        for (int64_t k = 0; k + 1 < c.operands[1].dims[0]; k++)
            plugin_case_set(&c, 1, k * taps + k * 5 % taps, k % 3 == 0 ? NAN : INFINITY);
        double *want = by_definition(&c);
        round_all(t, want, c.elements);
        int64_t finite = 0, nans = 0;
        for (int64_t j = 0; j < c.elements; j++) {
            finite += isfinite(want[j]) != 0;
            nans += isnan(want[j]) != 0;
        }
        ck_assert(finite > 0 && nans > 0);
        check_kernels(&c, want, padded[i]);
        free(want);
        plugin_case_clear(&c);
    }
}
END_TEST

/* Every part of the output asked for alone equals the same part of the whole; magnitudes are the
 * sums of sizes. */
START_TEST(ranges_agree_with_the_whole)
{
    const assay_oracle_desc *oracle = plugin_oracle(ref, ASSAY_OP_conv2d);
    double hi[700], lo[700], bound[700], magnitude[700];
    plugin_case c;
    assay_wide all;

    plugin_case_init(&c, ASSAY_OP_conv2d, floats[_i],
                     "n=2,c=4,h=9,w=8,k=6,r=3,s=3,pad_h=1,pad_w=1,groups=2", 0);
    plugin_case_fill(&c, 0, 1, 1.0);
    plugin_case_fill(&c, 1, 2, 1.0);
    plugin_case_wide(&c, oracle, 2, &all);
    assay_launch launch = {.struct_size = sizeof launch,
                           .operand_count = 3,
                           .problem = &c.problem,
                           .operands = c.operands};
    for (int64_t first = 0; first < c.elements; first += 71) {
        int64_t count = c.elements - first < 700 ? c.elements - first : 700;
        count = (count - first % 3) % (first % 5 == 0 ? 40 : 700);
        assay_wide part = {hi, lo, bound, magnitude, first, count};
        ck_assert_int_eq(oracle->wide(&launch, 1, &part), ASSAY_OK);
        for (int64_t i = 0; i < count; i++) {
            double gap = (hi[i] - all.hi[first + i]) + (lo[i] - all.lo[first + i]);
            ck_assert_msg(fabs(gap) <= bound[i] + all.bound[first + i], "element %ld of %ld",
                          (long)i, (long)first);
            ck_assert(fabs(magnitude[i] - all.magnitude[first + i]) <= 1e-12 * magnitude[i]);
            ck_assert(magnitude[i] >= fabs(hi[i]) && magnitude[i] > 0.0);
        }
    }
    plugin_wide_clear(&all);
    plugin_case_clear(&c);
}
END_TEST

/* ---- costs and bad input --------------------------------------------------------------------- */

static void parse(const char *params, assay_problem *p)
{
    char text[256];

    snprintf(text, sizeof text, "conv2d f32,f32,f32 %s", params);
    ck_assert_msg(assay_problem_parse(text, p) == ASSAY_OK, "%s: %s", text, assay_last_error());
}

START_TEST(layer_1_counts)
{
    static const struct {
        const char *params;
        double flops, bytes;
    } rows[] = {{"n=1,c=8,h=16,w=16,k=12,r=3,s=3,pad_h=1,pad_w=1,groups=2", 221184, 22208},
                {"n=1,c=3,h=224,w=224,k=64,r=7,s=7,stride_h=2,stride_w=2,pad_h=3,pad_w=3",
                 2.0 * 118013952, 4.0 * (150528 + 9408 + 802816)},
                {"n=1,c=1,h=5,w=5,k=1,r=3,s=3,dil_h=2,dil_w=2", 18, 4.0 * (25 + 9 + 1)},
                {"n=2,c=0,h=5,w=5,k=1,r=3,s=3", 0, 4.0 * 18}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assay_problem p;
        double flops, bytes;
        parse(rows[i].params, &p);
        ck_assert(assay_problem_flops(&p, &flops) && assay_problem_bytes(&p, &bytes));
        ck_assert_double_eq(flops, rows[i].flops);
        ck_assert_double_eq(bytes, rows[i].bytes);
    }
}
END_TEST

static const struct bad {
    const char *params, *says;
    assay_status status;
} bad[] = {
    {"n=1,c=1,h=3,w=3,k=1,r=4,s=1", "larger than the padded input", ASSAY_INVALID},
    {"n=1,c=1,h=3,w=3,k=1,r=1,s=6,pad_w=1", "larger than the padded input", ASSAY_INVALID},
    {"n=1,c=1,h=3,w=3,k=1,r=2,s=1,dil_h=3", "larger than the padded input", ASSAY_INVALID},
    {"n=0,c=1,h=0,w=3,k=1,r=1,s=1", "larger than the padded input", ASSAY_INVALID},
    {"n=1,c=1,h=3,w=3,k=1,r=1,s=1,stride_h=0", "stride_h=0", ASSAY_INVALID},
    {"n=1,c=1,h=3,w=3,k=1,r=1,s=1,stride_w=-1", "stride_w=-1", ASSAY_INVALID},
    {"n=1,c=1,h=3,w=3,k=1,r=1,s=1,pad_h=-1", "pad_h=-1", ASSAY_INVALID},
    {"n=1,c=1,h=3,w=3,k=1,r=1,s=1,dil_w=0", "dil_w=0", ASSAY_INVALID},
    {"n=1,c=1,h=3,w=3,k=1,r=0,s=1", "r=0", ASSAY_INVALID},
    {"n=1,c=1,h=-3,w=3,k=1,r=1,s=1", "h=-3", ASSAY_INVALID},
    {"n=1,c=4,h=3,w=3,k=6,r=1,s=1,groups=3", "groups", ASSAY_INVALID},
    {"n=1,c=6,h=3,w=3,k=4,r=1,s=1,groups=3", "groups", ASSAY_INVALID},
    {"n=1,c=6,h=3,w=3,k=4,r=1,s=1,groups=0", "groups", ASSAY_INVALID},
    {"n=1,c=6,h=3,w=3,k=4,r=1", "'s'", ASSAY_INVALID},
    {"n=1048576,c=1048576,h=1048576,w=1048576,k=1,r=1,s=1", "2^62", ASSAY_OVERFLOW},
    /* Only y is too large. */
    {"n=1048576,c=1,h=1,w=1,k=1048576,r=1,s=1,pad_h=1048576", "2^62", ASSAY_OVERFLOW},
    {"n=1,c=1,h=3,w=3,k=1,r=1099511627776,s=1,dil_h=1048576", "larger", ASSAY_INVALID},
};

START_TEST(bad_problems_say_why)
{
    char text[256];
    assay_problem p;

    snprintf(text, sizeof text, "conv2d f32,f32,f32 %s", bad[_i].params);
    ck_assert_msg(assay_problem_parse(text, &p) == bad[_i].status, "%s: %s", text,
                  assay_last_error());
    ck_assert_msg(strstr(assay_last_error(), bad[_i].says) != NULL, "%s: %s", text,
                  assay_last_error());
}
END_TEST

/* Plain data that no function has checked: no division by zero. */
START_TEST(unchecked_problems_are_refused)
{
    static const char *const names[] = {"stride_h", "stride_w", "groups"};
    int64_t dims[ASSAY_MAX_RANK];
    uint32_t rank;

    for (size_t i = 0; i < 3; i++) {
        assay_problem p;
        parse("n=1,c=1,h=3,w=3,k=1,r=1,s=1", &p);
        p.params[assay_op_param_index(ASSAY_OP_conv2d, names[i])].i = 0;
        ck_assert_int_eq(assay_problem_check(&p), ASSAY_INVALID);
        ck_assert_int_eq(assay_problem_operand(&p, 2, &rank, dims), ASSAY_INVALID);
    }
}
END_TEST

/* Its table of remainders has room for 64 taps a line and a column. */
START_TEST(direct_kernels_refuse_more_taps_than_fit)
{
    static const struct {
        const char *params;
        bool fits;
    } taps[] = {{"n=1,c=1,h=70,w=70,k=1,r=64,s=64", true},
                {"n=1,c=1,h=70,w=70,k=1,r=65,s=1", false},
                {"n=1,c=1,h=70,w=70,k=1,r=1,s=65", false}};
    int64_t tunables[ASSAY_MAX_TUNABLES] = {1};
    int found = 0;

    for (size_t i = 0; i < cpu->kernel_count; i++) {
        const assay_kernel_desc *k = &cpu->kernels[i];
        if (k->op != ASSAY_OP_conv2d || strstr(k->name, "direct") == NULL)
            continue;
        found++;
        for (size_t j = 0; j < sizeof taps / sizeof *taps; j++) {
            assay_problem p;
            parse(taps[j].params, &p);
            ck_assert_msg(k->can_run_fn(&p, tunables) == taps[j].fits, "%s: %s", k->name,
                          taps[j].params);
        }
    }
    ck_assert_int_gt(found, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conv2d");
    TCase *tcase = tcase_create("conv2d");

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, setup, every_kernel_close);
    tcase_add_loop_test(tcase, values_made_by_hand, 0, FLOATS);
    tcase_add_loop_test(tcase, kernels_follow_the_definition, 0, FLOATS * SHAPES);
    tcase_add_loop_test(tcase, padding_is_skipped_not_multiplied, 0, FLOATS);
    tcase_add_loop_test(tcase, ranges_agree_with_the_whole, 0, FLOATS);
    tcase_add_test(tcase, layer_1_counts);
    tcase_add_loop_test(tcase, bad_problems_say_why, 0, (int)(sizeof bad / sizeof *bad));
    tcase_add_test(tcase, unchecked_problems_are_refused);
    tcase_add_test(tcase, direct_kernels_refuse_more_taps_than_fit);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
