/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_softmax.c -- softmax and log_softmax along any axis: the reference against its
 * own rows of a transposed copy, every kernel at special values and in place; axes of tensors. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/status.h"
#include "calibrate/accept.h"
#include "calibrate/inputs.h"
#include "sweep/acceptance.h"
#include "tests/support/no_leak_scan.h"
#include "tests/support/plugin_all.h"
#include "tests/support/plugin_case.h"

static const assay_dtype floats[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16};
#define FLOATS 4

/* An op along an axis and the same over rows. */
static const struct pair {
    assay_op_id along, over;
} pairs[] = {{ASSAY_OP_softmax, ASSAY_OP_softmax_last_dim},
             {ASSAY_OP_log_softmax, ASSAY_OP_log_softmax_last_dim}};

static const assay_manifest *ref;

static void setup(void)
{
    ref = plugin_load("ref");
}

static bool is_softmax(assay_op_id op)
{
    return op == ASSAY_OP_softmax || op == ASSAY_OP_log_softmax;
}

/* Element (o, a, i) of x[outer,axis,inner] is element a of row o * inner + i. */
static int64_t transposed(const int64_t *dims, int64_t index)
{
    int64_t o = index / (dims[1] * dims[2]), a = index / dims[2] % dims[1], i = index % dims[2];

    return (o * dims[2] + i) * dims[1] + a;
}

static void fill(plugin_case *c, assay_stratum stratum)
{
    ck_assert_int_eq(assay__inputs_fill(&c->problem, stratum, 9, 0, 0, (uint64_t)c->elements,
                                        assay_tensor_data(&c->operands[0])),
                     ASSAY_OK);
}

static const char *const shapes[] = {"outer=3,axis=37,inner=5", "outer=1,axis=7,inner=70",
                                     "outer=4,axis=6,inner=1", "outer=2,axis=1,inner=9"};

/* An axis that is moved to the end gives the same lines, bit for bit; input sets too are those of
 * the lines: a top, a mask or an infinity for each. */
START_TEST(reference_is_that_of_rows)
{
    const struct pair *pair = &pairs[_i % 2];
    assay_stratum strata[ASSAY_STRATUM_COUNT];
    size_t count = assay__strata_preferred(pair->along, ASSAY_STRATUM_COUNT, strata);
    assay_dtype t = floats[_i / 2];

    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t set = 0; set < count; set++) {
            plugin_case along, over;
            assay_wide a, o;
            char rows[64];
            plugin_case_init(&along, pair->along, t, shapes[s], 0);
            const int64_t *dims = along.operands[0].dims;
            snprintf(rows, sizeof rows, "rows=%ld,cols=%ld", (long)(dims[0] * dims[2]),
                     (long)dims[1]);
            plugin_case_init(&over, pair->over, t, rows, 0);
            fill(&along, strata[set]);
            for (int64_t i = 0; i < along.elements; i++)
                plugin_case_set(&over, 0, transposed(dims, i), plugin_case_get(&along, 0, i));
            plugin_case_wide(&along, plugin_oracle(ref, pair->along), 2, &a);
            plugin_case_wide(&over, plugin_oracle(ref, pair->over), 1, &o);
            for (int64_t i = 0; i < along.elements; i++) {
                int64_t at = transposed(dims, i);
                ck_assert_msg(memcmp(&a.hi[i], &o.hi[at], 8) == 0 &&
                                  memcmp(&a.lo[i], &o.lo[at], 8) == 0 && a.bound[i] == o.bound[at],
                              "%s element %ld", shapes[s], (long)i);
                ck_assert(a.magnitude == NULL || a.magnitude[i] == o.magnitude[at]);
            }
            plugin_wide_clear(&a);
            plugin_wide_clear(&o);
            plugin_case_clear(&along);
            plugin_case_clear(&over);
        }
}
END_TEST

/* Every part of the output asked for alone equals the same part of the whole. */
START_TEST(ranges_agree_with_the_whole)
{
    assay_op_id op = pairs[_i % 2].along;
    const assay_oracle_desc *oracle = plugin_oracle(ref, op);
    double hi[200], lo[200], bound[200], magnitude[200];
    plugin_case c;
    assay_wide all;

    plugin_case_init(&c, op, floats[_i / 2], "outer=3,axis=11,inner=7", 0);
    fill(&c, ASSAY_STRATUM_NORMAL);
    plugin_case_wide(&c, oracle, 1, &all);
    assay_launch launch = {.struct_size = sizeof launch,
                           .operand_count = 2,
                           .problem = &c.problem,
                           .operands = c.operands};
    for (int64_t first = 0; first < c.elements; first++) {
        int64_t left = c.elements - first, count = 1 + first * 7 % 150;
        count = count < left ? count : left;
        assay_wide part = {hi, lo, bound, all.magnitude != NULL ? magnitude : NULL, first, count};
        ck_assert_int_eq(oracle->wide(&launch, 1, &part), ASSAY_OK);
        for (int64_t i = 0; i < count; i++) {
            ck_assert(memcmp(&hi[i], &all.hi[first + i], 8) == 0 && lo[i] == all.lo[first + i]);
            ck_assert(all.magnitude == NULL || magnitude[i] == all.magnitude[first + i]);
        }
    }
    plugin_wide_clear(&all);
    plugin_case_clear(&c);
}
END_TEST

/* ---- kernels --------------------------------------------------------------------------------- */

/* Lines of NaN, infinity, -infinity alone, and others, in every place of a vector and a tail. */
static void fill_special(plugin_case *c)
{
    const int64_t *dims = c->operands[0].dims;
    int64_t axis = dims[1], inner = dims[2];

    plugin_case_fill(c, 0, 3, 30.0);
    for (int64_t line = 0; line < dims[0] * inner; line++) {
        int64_t first = line / inner * axis * inner + line % inner;
        for (int64_t j = 0; j < axis; j++) {
            int64_t at = first + j * inner;
            if (line % 7 == 0 && j == line % axis)
                plugin_case_set(c, 0, at, NAN);
            else if (line % 7 == 1 && j == line % axis)
                plugin_case_set(c, 0, at, INFINITY);
            else if (line % 7 == 2 || (line % 7 == 3 && j != line % axis))
                plugin_case_set(c, 0, at, -INFINITY);
            else if (line % 7 == 4)
                plugin_case_set(c, 0, at, 88.0 + (double)(j % 3));
        }
    }
}

static void check_kernel(plugin_case *c, const assay_kernel_desc *k, const assay_wide *w,
                         const int64_t *tunables)
{
    assay_accept_spec spec;
    assay__depth_state state = ASSAY__DEPTH_START;
    double *depth = calloc((size_t)c->elements + 1, sizeof *depth);

    ck_assert_ptr_nonnull(depth);
    ck_assert_int_eq(assay__acceptance_of(&c->problem, &spec), ASSAY_OK);
    ck_assert_int_eq(assay__softmax_depth(&c->problem, assay_tensor_data(&c->operands[0]), 0,
                                          c->elements, &state, depth),
                     ASSAY_OK);
    plugin_case_poison(c);
    ck_assert_int_eq(plugin_case_run(c, k, tunables), ASSAY_OK);
    for (int64_t i = 0; i < c->elements; i++) {
        assay_accept_element e = {.y = plugin_case_get(c, 1, i),
                                  .hi = w->hi[i],
                                  .lo = w->lo[i],
                                  .bound = w->bound[i],
                                  .magnitude = w->magnitude != NULL ? w->magnitude[i] : 0.0,
                                  .depth = depth[i]};
        ck_assert_msg(assay__accept(&e, &spec) != ASSAY_ACCEPT_FAIL,
                      "%s %s element %ld: %a, not %a", k->name, assay_dtype_name(spec.format.dtype),
                      (long)i, e.y, e.hi);
    }
    assay__depth_clear(&state);
    free(depth);
}

/* y over x gives the bits of y beside it. */
static void check_in_place(plugin_case *c, const assay_kernel_desc *k, const int64_t *tunables)
{
    assay_tensor operands[2] = {c->operands[0], c->operands[0]};
    assay_launch launch = {.struct_size = sizeof launch,
                           .operand_count = 2,
                           .problem = &c->problem,
                           .operands = operands,
                           .tunables = tunables};

    ck_assert_int_eq(k->run(&launch), ASSAY_OK);
    ck_assert_msg(memcmp(assay_tensor_data(&c->operands[0]), assay_tensor_data(&c->operands[1]),
                         (size_t)assay_problem_operand_bytes(&c->problem, 1)) == 0,
                  "%s in place", k->name);
}

static const char *const places[] = {"outer=1,axis=9,inner=1", "outer=3,axis=10,inner=13",
                                     "outer=2,axis=5,inner=87", "outer=1,axis=5000,inner=21"};
#define PLACES 4

START_TEST(kernels_follow_the_laws_of_special_values)
{
    const assay_manifest *m = plugin_all_at(_i / PLACES);
    assay_instance *instance = NULL;

    if (!plugin_all_open(m, &instance))
        return;
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        int64_t tunables[ASSAY_MAX_TUNABLES] = {2, 0};
        plugin_case c;
        assay_wide w;
        if (!is_softmax(k->op) || !plugin_all_runs(m, instance, k))
            continue;
        plugin_case_of(&c, k, places[_i % PLACES], 8);
        if (k->can_run_fn(&c.problem, tunables)) {
            fill_special(&c);
            plugin_case_wide(&c, plugin_oracle(ref, k->op), 1, &w);
            check_kernel(&c, k, &w, tunables);
            check_in_place(&c, k, tunables);
            plugin_wide_clear(&w);
        }
        plugin_case_clear(&c);
    }
    plugin_all_close(m, &instance);
}
END_TEST

/* What the oracle's doubt is measured by, found block by block or at once, in any order. */
START_TEST(depths_are_those_of_the_definition)
{
    assay__depth_state state = ASSAY__DEPTH_START;
    plugin_case c;
    double got[5];

    plugin_case_init(&c, ASSAY_OP_softmax, ASSAY_F32, "outer=3,axis=6,inner=4", 0);
    plugin_case_fill(&c, 0, 1, 10.0);
    plugin_case_set(&c, 0, 30, -INFINITY);
    for (int64_t step = 0; step < 60; step++) {
        int64_t first = step * 29 % 67;
        ck_assert_int_eq(assay__softmax_depth(&c.problem, assay_tensor_data(&c.operands[0]), first,
                                              5, &state, got),
                         ASSAY_OK);
        for (int64_t i = first; i < first + 5; i++) {
            double max = -INFINITY;
            for (int64_t j = 0; j < 6; j++)
                max = fmax(max, plugin_case_get(&c, 0, i / 24 * 24 + i % 4 + 4 * j));
            double want = i == 30 ? 0.0 : max - plugin_case_get(&c, 0, i);
            ck_assert_msg(got[i - first] == want, "element %ld: %g, not %g", (long)i,
                          got[i - first], want);
        }
    }
    assay__depth_clear(&state);
    plugin_case_clear(&c);
}
END_TEST

/* ---- axes, costs, bad input ------------------------------------------------------------------ */

START_TEST(axes_split_a_shape)
{
    static const int64_t dims[] = {2, 3, 5, 7};
    static const int64_t want[4][3] = {{1, 2, 105}, {2, 3, 35}, {6, 5, 7}, {30, 7, 1}};
    int64_t got[3];

    for (int64_t axis = -4; axis < 4; axis++) {
        ck_assert_int_eq(assay_axis_split(4, dims, axis, got), ASSAY_OK);
        ck_assert_mem_eq(got, want[(axis + 4) % 4], sizeof got);
    }
    ck_assert_int_eq(assay_axis_split(4, (int64_t[]){2, 0, 5, 7}, -2, got), ASSAY_OK);
    ck_assert(got[0] == 0 && got[1] == 5 && got[2] == 7);
}
END_TEST

START_TEST(axes_that_are_none_say_why)
{
    static const int64_t dims[] = {2, 3}, negative[] = {2, -3};
    static const int64_t huge[] = {(int64_t)1 << 40, 3, (int64_t)1 << 40, (int64_t)1 << 40};
    int64_t got[3] = {-7, -7, -7};

    ck_assert_int_eq(assay_axis_split(2, dims, 2, got), ASSAY_INVALID);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "axis 2 of a tensor of rank 2"));
    ck_assert_int_eq(assay_axis_split(2, dims, -3, got), ASSAY_INVALID);
    ck_assert_int_eq(assay_axis_split(0, dims, 0, got), ASSAY_INVALID);
    ck_assert_int_eq(assay_axis_split(2, dims, INT64_MIN, got), ASSAY_INVALID);
    ck_assert_int_eq(assay_axis_split(9, dims, 0, got), ASSAY_INVALID);
    ck_assert_int_eq(assay_axis_split(2, negative, 0, got), ASSAY_INVALID);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "extent 1 is -3"));
    ck_assert_int_eq(assay_axis_split(4, huge, 1, got), ASSAY_OVERFLOW);
    ck_assert_int_eq(got[0], -7);
}
END_TEST

START_TEST(layer_1_counts)
{
    for (size_t i = 0; i < 2; i++) {
        assay_problem p;
        double flops, bytes;
        ck_assert_int_eq(assay_problem_init(pairs[i].along, ASSAY_BF16, &p), ASSAY_OK);
        ck_assert_int_eq(assay_problem_set_int(&p, "outer", 3), ASSAY_OK);
        ck_assert_int_eq(assay_problem_set_int(&p, "axis", 5), ASSAY_OK);
        ck_assert_int_eq(assay_problem_check(&p), ASSAY_INVALID);
        ck_assert_ptr_nonnull(strstr(assay_last_error(), "'inner'"));
        ck_assert_int_eq(assay_problem_set_int(&p, "inner", 7), ASSAY_OK);
        ck_assert(assay_problem_flops(&p, &flops) && assay_problem_bytes(&p, &bytes));
        ck_assert_double_eq(flops, 5 * 105);
        ck_assert_double_eq(bytes, 2 * 2 * 105);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("softmax");
    TCase *tcase = tcase_create("softmax");
    int count = plugin_all_find();

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, reference_is_that_of_rows, 0, 2 * FLOATS);
    tcase_add_loop_test(tcase, ranges_agree_with_the_whole, 0, 2 * FLOATS);
    tcase_add_loop_test(tcase, kernels_follow_the_laws_of_special_values, 0, count * PLACES);
    tcase_add_test(tcase, depths_are_those_of_the_definition);
    tcase_add_test(tcase, axes_split_a_shape);
    tcase_add_test(tcase, axes_that_are_none_say_why);
    tcase_add_test(tcase, layer_1_counts);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
