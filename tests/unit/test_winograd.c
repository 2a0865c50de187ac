/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_winograd.c -- convolution by tiles: what is not finite, and how it is judged. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/status.h"
#include "sweep/acceptance.h"
#include "tests/support/plugin_case.h"

static const assay_manifest *cpu;

static void setup(void)
{
    cpu = plugin_load("cpu");
}

static bool can_run(const assay_kernel_desc *k)
{
    bool wide = strstr(k->requires_isa, "avx512") != NULL;

    return wide ? __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
                : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/* Small integers, so that tiles of 2 are exact. */
static void fill(plugin_case *c)
{
    for (uint32_t o = 0; o < 2; o++) {
        float *to = assay_tensor_data(&c->operands[o]);
        int64_t n = assay_problem_operand_elements(&c->problem, o);
        for (int64_t i = 0; i < n; i++)
            to[i] = (float)((i * 7 + (int64_t)o * 3) % 5 - 2);
    }
}

static double by_definition(const plugin_case *c, int64_t k, int64_t p, int64_t q)
{
    const float *x = assay_tensor_data(&c->operands[0]), *f = assay_tensor_data(&c->operands[1]);
    const int64_t *dims = c->operands[0].dims;
    double sum = 0.0;

    for (int64_t i = 0; i < dims[1] * 9; i++) {
        int64_t y = p - 1 + i / 3 % 3, z = q - 1 + i % 3;
        if (y >= 0 && y < dims[2] && z >= 0 && z < dims[3])
            sum += (double)x[(i / 9 * dims[2] + y) * dims[3] + z] * (double)f[k * dims[1] * 9 + i];
    }
    return sum;
}

static void check_outputs(const plugin_case *c, const char *what)
{
    const int64_t *dims = c->operands[2].dims;
    const float *y = assay_tensor_data(&c->operands[2]);

    for (int64_t i = 0; i < c->elements; i++) {
        double want = by_definition(c, i / (dims[2] * dims[3]), i / dims[3] % dims[2], i % dims[3]);
        double got = (double)y[i];
        bool same =
            isnan(want) ? isnan(got) : fabs(got - want) <= 1e-3 || (got >= want && got <= want);
        ck_assert_msg(same, "%s element %ld: %g, not %g", what, (long)i, got, want);
    }
}

/* An infinity in x, a NaN in x, an infinite tap: each reaches the outputs that see it. */
START_TEST(what_is_not_finite_reaches_its_own_windows)
{
    static const float values[] = {INFINITY, -INFINITY, NAN};
    int ran = 0;

    for (size_t i = 0; i < cpu->kernel_count; i++) {
        const assay_kernel_desc *kernel = &cpu->kernels[i];
        if (strstr(kernel->name, "winograd") == NULL || !can_run(kernel))
            continue;
        for (int64_t tile = 2; tile <= 4; tile += 2) {
            const int64_t tunables[ASSAY_MAX_TUNABLES] = {2, tile};
            plugin_case c;
            plugin_case_init(&c, ASSAY_OP_conv2d, ASSAY_F32,
                             "n=1,c=16,h=11,w=13,k=15,r=3,s=3,pad_h=1,pad_w=1", 0);
            fill(&c);
            float *x = assay_tensor_data(&c.operands[_i / 3]);
            x[_i / 3 == 0 ? 5 * 13 + 6 : 9 * 16 * 2 + 4] = values[_i % 3];
            ck_assert_int_eq(plugin_case_run(&c, kernel, tunables), ASSAY_OK);
            check_outputs(&c, kernel->name);
            plugin_case_clear(&c);
            ran++;
        }
    }
    ck_assert_msg(ran >= 2 || !__builtin_cpu_supports("avx2"), "%d runs", ran);
}
END_TEST

START_TEST(only_what_tiles_can_do_is_taken)
{
    static const struct {
        const char *params;
        bool fits;
    } rows[] = {{"n=1,c=16,h=9,w=9,k=8,r=3,s=3", true},
                {"n=1,c=15,h=9,w=9,k=8,r=3,s=3", false},
                {"n=1,c=32,h=9,w=9,k=8,r=3,s=3,groups=2", true},
                {"n=1,c=32,h=9,w=9,k=8,r=3,s=3,groups=4", false},
                {"n=1,c=16,h=9,w=9,k=8,r=3,s=2", false},
                {"n=1,c=16,h=9,w=9,k=8,r=2,s=3", false},
                {"n=1,c=16,h=9,w=9,k=8,r=3,s=3,stride_h=2", false},
                {"n=1,c=16,h=9,w=9,k=8,r=3,s=3,stride_w=2", false},
                {"n=1,c=16,h=9,w=9,k=8,r=3,s=3,dil_h=2", false},
                {"n=1,c=16,h=9,w=9,k=8,r=3,s=3,dil_w=2", false}};
    int64_t tunables[ASSAY_MAX_TUNABLES] = {1, 2};
    int found = 0;

    for (size_t i = 0; i < cpu->kernel_count; i++) {
        const assay_kernel_desc *kernel = &cpu->kernels[i];
        if (strstr(kernel->name, "winograd") == NULL)
            continue;
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
            plugin_case c;
            plugin_case_init(&c, ASSAY_OP_conv2d, ASSAY_F32, rows[j].params, 0);
            ck_assert_msg(kernel->can_run_fn(&c.problem, tunables) == rows[j].fits, "%s",
                          rows[j].params);
            plugin_case_clear(&c);
        }
        found++;
    }
    ck_assert_int_eq(found, 2);
}
END_TEST

/* Planes of 3 x 5 outputs in tiles of 2. */
START_TEST(tiles_share_their_largest_magnitude)
{
    const double in[30] = {1, 2, 3, 4, 5, 6, 1, 1, 9, 5, 2, 8, 1, 1, 7, 2, INFINITY, [29] = 3};
    const double want[30] = {6, 6, 9, 9, 5, 6, 6,        9,        9, 5,
                             8, 8, 1, 1, 7, 2, INFINITY, [20] = 2, 2, [29] = 3};
    double out[30];
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_conv2d, ASSAY_F32, "n=1,c=1,h=5,w=7,k=2,r=3,s=3", 0);
    assay__tile_magnitude(&c.problem, 2, in, out);
    for (int i = 0; i < 30; i++)
        ck_assert_msg(out[i] >= want[i] && out[i] <= want[i], "%d: %g, not %g", i, out[i], want[i]);
    plugin_case_clear(&c);
}
END_TEST

/* A kernel that says nothing of tiles is held to the plain bound. */
START_TEST(only_a_kernel_of_tiles_may_err_more)
{
    assay_kernel_desc plain = {.op = ASSAY_OP_conv2d}, tiled = plain;
    assay_accept_spec a, b;
    plugin_case c;

    tiled.error_tile = 4;
    tiled.error_factor = 3.0;
    plugin_case_init(&c, ASSAY_OP_conv2d, ASSAY_F32, "n=1,c=16,h=5,w=7,k=2,r=3,s=3", 0);
    ck_assert_int_eq(assay__acceptance_for(&c.problem, &plain, &a), ASSAY_OK);
    ck_assert_int_eq(assay__acceptance_for(&c.problem, &tiled, &b), ASSAY_OK);
    ck_assert(a.terms >= 146.0 && a.terms <= 146.0);
    ck_assert(b.terms >= 438.0 && b.terms <= 438.0);
    plugin_case_clear(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("winograd");
    TCase *tcase = tcase_create("winograd");

    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, what_is_not_finite_reaches_its_own_windows, 0, 6);
    tcase_add_test(tcase, only_what_tiles_can_do_is_taken);
    tcase_add_test(tcase, tiles_share_their_largest_magnitude);
    tcase_add_test(tcase, only_a_kernel_of_tiles_may_err_more);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
