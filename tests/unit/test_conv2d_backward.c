/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_conv2d_backward.c -- gradients of convolutions: the reference and our kernels
 * against the definition and against the convolution whose adjoints they are.
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

static const assay_manifest *ref;

static void setup(void)
{
    every_kernel_open();
    ref = plugin_load("ref");
}

static const assay_dtype floats[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16};
#define FLOATS 4

/* Which operand is x, the filter, y. */
typedef struct roles {
    assay_op_id op;
    uint32_t x, filter, y;
} roles;
static const roles gradients[] = {{ASSAY_OP_conv2d_backward_data, 2, 1, 0},
                                  {ASSAY_OP_conv2d_backward_filter, 0, 2, 1}};

static bool same(double got, double want)
{
    return isnan(want) ? isnan(got) : got >= want && got <= want;
}

/* Every kernel gives want[], and leaves nothing of what was there. */
static void check_kernels(plugin_case *c, const double *want, const char *what)
{
    plugin_case_poison(c);
    every_kernel_gives(c, want, what);
}

/* ---- the definition -------------------------------------------------------------------------- */

/* Calls `meet` with the numbers of the elements of x, filter and y of every product of the forward
 * convolution. */
typedef void (*meet_fn)(void *cookie, int64_t x, int64_t filter, int64_t y);

static void each_product(const plugin_case *c, const roles *g, meet_fn meet, void *cookie)
{
    const assay_problem *p = &c->problem;
    const int64_t *x = c->operands[g->x].dims, *f = c->operands[g->filter].dims;
    const int64_t *y = c->operands[g->y].dims;
    int64_t taps = f[1] * f[2] * f[3], per_group = f[0] / assay_problem_int(p, "groups");

    for (int64_t i = 0; i < y[0] * y[1] * y[2] * y[3] * taps; i++) {
        int64_t out = i / taps, tap = i % taps, k = out / (y[2] * y[3]) % y[1];
        int64_t row = out / y[3] % y[2] * assay_problem_int(p, "stride_h") +
                      tap / f[3] % f[2] * assay_problem_int(p, "dil_h") -
                      assay_problem_int(p, "pad_h");
        int64_t col = out % y[3] * assay_problem_int(p, "stride_w") +
                      tap % f[3] * assay_problem_int(p, "dil_w") - assay_problem_int(p, "pad_w");
        int64_t image = out / (y[1] * y[2] * y[3]);
        int64_t channel = k / per_group * f[1] + tap / (f[2] * f[3]);
        if (row >= 0 && row < x[2] && col >= 0 && col < x[3])
            meet(cookie, ((image * x[1] + channel) * x[2] + row) * x[3] + col, k * taps + tap, out);
    }
}

typedef struct sums {
    const plugin_case *c;
    const roles *g;
    double *out;
} sums;

static void add_product(void *cookie, int64_t x, int64_t filter, int64_t y)
{
    sums *s = cookie;

    if (s->g->x == 2)
        s->out[x] += plugin_case_get(s->c, 0, y) * plugin_case_get(s->c, 1, filter);
    else
        s->out[filter] += plugin_case_get(s->c, 0, x) * plugin_case_get(s->c, 1, y);
}

static double *by_definition(const plugin_case *c, const roles *g)
{
    sums s = {c, g, calloc((size_t)c->elements + 1, sizeof(double))};

    ck_assert_ptr_nonnull(s.out);
    each_product(c, g, add_product, &s);
    for (int64_t i = 0; i < c->elements; i++)
        s.out[i] = assay_round_f64(c->operands[2].dtype, s.out[i]);
    return s.out;
}

/* ---- values made by hand --------------------------------------------------------------------- */

static const struct hand {
    const char *params;
    double x[8], filter[8], y[8]; /* what each gradient reads */
    double grad_x[8], grad_filter[8];
} hand[] = {
    /* y[q] = x[q] f[0] + x[q + 1] f[1] */
    {"n=1,c=1,h=1,w=3,k=1,r=1,s=2", {1, 2, 3}, {5, 7}, {10, 20}, {50, 170, 140}, {50, 80}},
    /* The second of three places is skipped by the stride. */
    {"n=1,c=1,h=1,w=3,k=1,r=1,s=1,stride_w=2", {1, 2, 3}, {5}, {10, 20}, {50, 0, 100}, {70}},
    /* Taps outside x: y[0] sees x[0] by f[1] alone. */
    {"n=1,c=1,h=1,w=1,k=1,r=1,s=3,pad_w=1", {3}, {5, 7, 9}, {10}, {70}, {0, 30, 0}},
    {"n=1,c=1,h=1,w=4,k=1,r=1,s=2,dil_w=3", {1, 2, 3, 4}, {5, 7}, {10}, {50, 0, 0, 70}, {10, 40}},
    {"n=2,c=1,h=1,w=1,k=2,r=1,s=1", {1, 2}, {5, 7}, {1, 10, 2, 20}, {75, 150}, {5, 50}},
    {"n=1,c=2,h=1,w=1,k=2,r=1,s=1,groups=2", {1, 2}, {5, 7}, {1, 10}, {5, 70}, {1, 20}},
};

START_TEST(values_made_by_hand)
{
    const roles *g = &gradients[_i / FLOATS];

    for (size_t i = 0; i < sizeof hand / sizeof *hand; i++) {
        const struct hand *h = &hand[i];
        plugin_case c;
        plugin_case_init(&c, g->op, floats[_i % FLOATS], h->params, 0);
        for (uint32_t o = 0; o < 2; o++)
            for (int64_t j = 0; j < assay_problem_operand_elements(&c.problem, o); j++)
                plugin_case_set(&c, o, j,
                                o == g->x        ? h->x[j]
                                : o == g->filter ? h->filter[j]
                                                 : h->y[j]);
        check_kernels(&c, g->x == 2 ? h->grad_x : h->grad_filter, h->params);
        plugin_case_clear(&c);
    }
}
END_TEST

/* ---- by the definition ----------------------------------------------------------------------- */

static const char *const shapes[] = {
    "n=2,c=3,h=9,w=11,k=7,r=3,s=3,pad_h=1,pad_w=1",
    "n=1,c=70,h=7,w=6,k=13,r=3,s=3,pad_h=1,pad_w=1",
    "n=1,c=3,h=29,w=31,k=8,r=7,s=7,stride_h=2,stride_w=2,pad_h=3,pad_w=3",
    "n=2,c=6,h=13,w=10,k=9,r=1,s=1,stride_h=2,stride_w=3",
    "n=2,c=9,h=6,w=9,k=300,r=1,s=1",
    "n=2,c=4,h=20,w=15,k=6,r=3,s=2,stride_h=3,stride_w=2,dil_h=2,dil_w=3,pad_h=5,pad_w=4",
    "n=2,c=8,h=9,w=8,k=12,r=3,s=3,pad_h=1,pad_w=1,groups=4",
    "n=2,c=9,h=6,w=10,k=9,r=3,s=3,pad_h=1,pad_w=1,groups=9",
    "n=1,c=2,h=3,w=700,k=2,r=2,s=5,stride_w=2,pad_w=2",
    "n=1,c=3,h=4,w=5,k=3,r=1,s=2,pad_h=6,pad_w=5,stride_h=4",
    "n=0,c=3,h=4,w=5,k=3,r=1,s=2",
    "n=1,c=2,h=4,w=5,k=0,r=1,s=2,groups=2",
    "n=1,c=0,h=4,w=5,k=2,r=1,s=2",
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

START_TEST(kernels_follow_the_definition)
{
    const char *shape = shapes[_i / FLOATS];

    for (size_t i = 0; i < 2; i++) {
        plugin_case c;
        plugin_case_init(&c, gradients[i].op, floats[_i % FLOATS], shape, 8);
        fill_integers(&c);
        double *want = by_definition(&c, &gradients[i]);
        check_kernels(&c, want, shape);
        free(want);
        plugin_case_clear(&c);
    }
}
END_TEST

/* A gradient of 0 times an infinite filter is no number; what lies outside x meets nothing. */
START_TEST(what_is_not_finite_goes_where_it_is_seen)
{
    static const char *const padded[] = {
        "n=2,c=3,h=9,w=11,k=8,r=3,s=3,pad_h=1,pad_w=1",
        "n=1,c=2,h=8,w=30,k=7,r=3,s=3,pad_h=2,pad_w=2,dil_h=2,dil_w=2,stride_w=2",
        "n=2,c=4,h=5,w=6,k=6,r=2,s=3,pad_h=1,pad_w=1,groups=2"};

    for (size_t i = 0; i < 6; i++) {
        const roles *g = &gradients[i % 2];
        plugin_case c;
        plugin_case_init(&c, g->op, floats[_i], padded[i / 2], 0);
        fill_integers(&c);
        /* the first factor of the product that the reference takes: filter, or gradient */
        int64_t n = assay_problem_operand_elements(&c.problem, 1);
        int64_t first = g->x == 2
                            ? c.operands[1].dims[1] * c.operands[1].dims[2] * c.operands[1].dims[3]
                            : c.operands[1].dims[2] * c.operands[1].dims[3];
        for (int64_t j = 0; j < n / (2 * first); j++)
            plugin_case_set(&c, 1, j * 2 * first + j * 5 % first, j % 3 == 0 ? NAN : INFINITY);
        double *want = by_definition(&c, g);
        int64_t finite = 0, nans = 0;
        for (int64_t j = 0; j < c.elements; j++) {
            finite += isfinite(want[j]) != 0;
            nans += isnan(want[j]) != 0;
        }
        ck_assert_msg(finite > 0 && nans > 0, "%s: %ld, %ld", padded[i / 2], (long)finite,
                      (long)nans);
        check_kernels(&c, want, padded[i / 2]);
        free(want);
        plugin_case_clear(&c);
    }
}
END_TEST

/* More columns than are held at a time: runs of lines of y. */
START_TEST(runs_of_lines_agree)
{
    const roles *g = &gradients[_i];
    const assay_kernel_desc *k = plugin_kernel(plugin_load("openblas"), g->op, ASSAY_F32, NULL);
    int64_t tunables[ASSAY_MAX_TUNABLES] = {2};
    plugin_case c;

    plugin_case_init(&c, g->op, ASSAY_F32, "n=1,c=1,h=300,w=300,k=1,r=16,s=16", 0);
    if (every_kernel_can(k)) {
        fill_integers(&c);
        ck_assert_int_eq(plugin_case_run(&c,
                                         plugin_kernel(plugin_load("cpu"), g->op, ASSAY_F32, NULL),
                                         tunables),
                         ASSAY_OK);
        size_t bytes = (size_t)c.elements * sizeof(float);
        void *want = malloc(bytes);
        ck_assert_ptr_nonnull(want);
        memcpy(want, assay_tensor_data(&c.operands[2]), bytes);
        plugin_case_poison(&c);
        ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
        for (int64_t i = 0; i < c.elements; i++)
            ck_assert_msg(same(plugin_case_get(&c, 2, i), (double)((float *)want)[i]),
                          "element %ld", (long)i);
        free(want);
    }
    plugin_case_clear(&c);
}
END_TEST

/* <conv(x, f), y> = <x, grad_x(y, f)> = <f, grad_filter(x, y)>, the reference's convolution being
 * tested elsewhere. */
static double inner(const plugin_case *a, uint32_t i, const plugin_case *b, uint32_t j)
{
    int64_t n = assay_problem_operand_elements(&a->problem, i);
    double sum = 0.0;

    for (int64_t e = 0; e < n; e++)
        sum += plugin_case_get(a, i, e) * plugin_case_get(b, j, e);
    return sum;
}

START_TEST(gradients_are_adjoint_to_the_convolution)
{
    const char *shape = shapes[_i];
    plugin_case forward, back[2];

    plugin_case_init(&forward, ASSAY_OP_conv2d, ASSAY_F64, shape, 0);
    fill_integers(&forward);
    ck_assert_int_eq(
        plugin_case_run(&forward, plugin_kernel(ref, ASSAY_OP_conv2d, ASSAY_F64, NULL), NULL),
        ASSAY_OK);
    double all[3];
    for (uint32_t i = 0; i < 2; i++) {
        const roles *g = &gradients[i];
        const uint32_t from[] = {g->x, g->filter, g->y};
        plugin_case_init(&back[i], g->op, ASSAY_F64, shape, 0);
        for (uint32_t o = 0; o < 2; o++) /* x, filter as the convolution had them */
            if (from[o] != 2)
                for (int64_t e = 0; e < assay_problem_operand_elements(&forward.problem, o); e++)
                    plugin_case_set(&back[i], from[o], e, plugin_case_get(&forward, o, e));
        for (int64_t e = 0; e < forward.elements; e++)
            plugin_case_set(&back[i], g->y, e, (double)(e * 7 % 11 - 5));
        ck_assert_int_eq(
            plugin_case_run(&back[i], plugin_kernel(ref, g->op, ASSAY_F64, NULL), NULL), ASSAY_OK);
        all[i] = inner(&forward, i, &back[i], 2);
    }
    all[2] = inner(&forward, 2, &back[0], 0);
    ck_assert_msg(same(all[0], all[2]) && same(all[1], all[2]), "%s: %g %g %g", shape, all[0],
                  all[1], all[2]);
    for (size_t i = 0; i < 2; i++)
        plugin_case_clear(&back[i]);
    plugin_case_clear(&forward);
}
END_TEST

/* Every part of the output asked for alone equals the same part of the whole. */
START_TEST(ranges_agree_with_the_whole)
{
    const roles *g = &gradients[_i / FLOATS];
    const assay_oracle_desc *oracle = plugin_oracle(ref, g->op);
    double hi[700], lo[700], bound[700], magnitude[700];
    plugin_case c;
    assay_wide all;

    plugin_case_init(&c, g->op, floats[_i % FLOATS],
                     "n=2,c=8,h=9,w=8,k=12,r=3,s=3,pad_h=1,pad_w=1,groups=2", 0);
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
        assay_wide part = {hi, lo, bound, magnitude, first, count < 0 ? 0 : count};
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

START_TEST(layer_1_counts)
{
    static const char *const names[] = {"conv2d", "conv2d_backward_data", "conv2d_backward_filter"};
    double flops[3], bytes[3];

    for (size_t i = 0; i < 3; i++) {
        char text[256];
        assay_problem p;
        snprintf(text, sizeof text,
                 "%s f32,f32,f32 n=1,c=8,h=16,w=16,k=12,r=3,s=3,pad_h=1,pad_w=1,groups=2",
                 names[i]);
        ck_assert_int_eq(assay_problem_parse(text, &p), ASSAY_OK);
        ck_assert(assay_problem_flops(&p, &flops[i]) && assay_problem_bytes(&p, &bytes[i]));
        ck_assert_msg(same(flops[i], 221184) && same(bytes[i], 22208), "%s: %g, %g", text, flops[i],
                      bytes[i]);
    }
}
END_TEST

static const struct bad {
    const char *params, *says;
} bad[] = {
    {"n=1,c=1,h=3,w=3,k=1,r=4,s=1", "larger than the padded input"},
    {"n=1,c=4,h=3,w=3,k=6,r=1,s=1,groups=3", "groups"},
    {"n=1,c=1,h=3,w=3,k=1,r=1,s=1,stride_h=0", "stride_h=0"},
    {"n=1,c=1,h=3,w=3,k=1,r=1,s=1,pad_w=-1", "pad_w=-1"},
    {"n=1,c=1,h=3,w=3,k=1,r=1", "'s'"},
};

START_TEST(bad_problems_say_why)
{
    for (size_t i = 0; i < 2; i++) {
        char text[256];
        assay_problem p;
        snprintf(text, sizeof text, "%s f32,f32,f32 %s", assay_op_get(gradients[i].op)->name,
                 bad[_i].params);
        ck_assert_int_eq(assay_problem_parse(text, &p), ASSAY_INVALID);
        ck_assert_msg(strstr(assay_last_error(), bad[_i].says) != NULL, "%s: %s", text,
                      assay_last_error());
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conv2d_backward");
    TCase *tcase = tcase_create("conv2d_backward");

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, setup, every_kernel_close);
    tcase_add_loop_test(tcase, values_made_by_hand, 0, 2 * FLOATS);
    tcase_add_loop_test(tcase, kernels_follow_the_definition, 0, FLOATS * SHAPES);
    tcase_add_loop_test(tcase, what_is_not_finite_goes_where_it_is_seen, 0, FLOATS);
    tcase_add_loop_test(tcase, runs_of_lines_agree, 0, 2);
    tcase_add_loop_test(tcase, gradients_are_adjoint_to_the_convolution, 0, SHAPES);
    tcase_add_loop_test(tcase, ranges_agree_with_the_whole, 0, 2 * FLOATS);
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
