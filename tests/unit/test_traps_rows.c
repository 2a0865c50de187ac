/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_traps_rows.c -- traps 5, 6 and 7 of docs/testing.md: reductions, softmax, rows by
 * index, by every kernel of every plug-in. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/status.h"
#include "tests/support/every_kernel.h"
#include "tests/support/no_leak_scan.h"

static const assay_dtype floats[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16};
#define FLOATS 4

static double *room(const plugin_case *c)
{
    double *out = calloc((size_t)c->elements + 1, sizeof *out);

    ck_assert_ptr_nonnull(out);
    return out;
}

/* ---- trap 5: reductions -----------------------------------------------------------------------
 */

static const assay_op_id reductions[] = {ASSAY_OP_sum_reduce, ASSAY_OP_mean_reduce,
                                         ASSAY_OP_max_reduce, ASSAY_OP_min_reduce};
#define REDUCTIONS 4

static void reduce_case(plugin_case *c, assay_op_id op, assay_dtype t, const int64_t extents[3])
{
    char params[96];

    snprintf(params, sizeof params, "outer=%ld,axis=%ld,inner=%ld", (long)extents[0],
             (long)extents[1], (long)extents[2]);
    plugin_case_init(c, op, t, params, 0);
    plugin_case_poison(c);
}

/* Of small integers; NaN where a line holds one. */
static double *reduced_by_definition(const plugin_case *c)
{
    const int64_t *d = c->operands[0].dims;
    double *out = room(c);

    for (int64_t e = 0; e < c->elements; e++) {
        double sum = 0.0, most = -INFINITY, least = INFINITY;
        for (int64_t j = 0; j < d[1]; j++) {
            double x = plugin_case_get(c, 0, (e / d[2] * d[1] + j) * d[2] + e % d[2]);
            sum += x;
            most = fmax(most, x);
            least = fmin(least, x);
        }
        out[e] = isnan(sum)                              ? NAN
                 : c->problem.op == ASSAY_OP_max_reduce  ? most
                 : c->problem.op == ASSAY_OP_min_reduce  ? least
                 : c->problem.op == ASSAY_OP_mean_reduce ? sum / (double)d[1]
                                                         : sum;
    }
    return out;
}

/* Axes whose means are exact are powers of two; others are judged by the bound. */
static void check_reduction(plugin_case *c)
{
    const int64_t axis = c->operands[0].dims[1];
    double *want = reduced_by_definition(c);

    if (c->problem.op != ASSAY_OP_mean_reduce || (axis & (axis - 1)) == 0)
        every_kernel_gives(c, want, "reduction");
    every_kernel_agrees(c, "reduction");
    free(want);
}

START_TEST(trap5_any_axis_first_middle_last)
{
    static const int64_t shapes[][4] = {{3, 37, 5, 2}, {8, 4, 16, 2}, {33, 1, 2, 9}, {70, 3, 1, 1}};

    for (size_t s = 0; s < 4; s++)
        for (int64_t axis = 0; axis < 4; axis++) {
            int64_t extents[3];
            plugin_case c;
            ck_assert_int_eq(assay_axis_split(4, shapes[s], axis, extents), ASSAY_OK);
            reduce_case(&c, reductions[_i / FLOATS], floats[_i % FLOATS], extents);
            int64_t n = assay_problem_operand_elements(&c.problem, 0);
            for (int64_t e = 0; e < n; e++)
                plugin_case_set(&c, 0, e, (double)(e * 7 % 5 - 2));
            check_reduction(&c);
            plugin_case_clear(&c);
        }
}
END_TEST

/* Line i of 40 holds one NaN, at i; the last three none. */
START_TEST(trap5_nan_in_each_position)
{
    static const int64_t extents[][3] = {{40, 37, 1}, {1, 37, 40}, {8, 37, 5}, {40, 8, 1}};

    for (size_t s = 0; s < 4; s++) {
        plugin_case c;
        int64_t lines = extents[s][0] * extents[s][2], axis = extents[s][1];
        reduce_case(&c, reductions[_i / FLOATS], floats[_i % FLOATS], extents[s]);
        for (int64_t line = 0; line < lines; line++)
            for (int64_t j = 0; j < axis; j++)
                plugin_case_set(
                    &c, 0, (line / extents[s][2] * axis + j) * extents[s][2] + line % extents[s][2],
                    j == line && line < 37 ? NAN : (double)((line + j) % 3 - 1));
        check_reduction(&c);
        plugin_case_clear(&c);
    }
}
END_TEST

START_TEST(trap5_empty_axis)
{
    static const int64_t none[] = {3, 0, 5}, one[] = {3, 1, 5};
    assay_op_id op = reductions[_i / FLOATS];
    plugin_case c;

    if (op == ASSAY_OP_sum_reduce || op == ASSAY_OP_mean_reduce) {
        double want[15];
        for (size_t i = 0; i < 15; i++)
            want[i] = op == ASSAY_OP_sum_reduce ? 0.0 : NAN;
        reduce_case(&c, op, floats[_i % FLOATS], none);
        if (op == ASSAY_OP_mean_reduce) /* not the poison that was there */
            memset(assay_tensor_data(&c.operands[1]), 0x11,
                   (size_t)assay_problem_operand_bytes(&c.problem, 1));
        every_kernel_gives(&c, want, "empty axis");
    } else {
        reduce_case(&c, op, floats[_i % FLOATS], one);
        c.problem.params[assay_op_param_index(op, "axis")].i = 0;
        c.operands[0].dims[1] = 0;
        ck_assert_int_ge(every_kernel_refuses(&c, ASSAY_INVALID), 2);
        ck_assert_ptr_nonnull(strstr(assay_last_error(), "axis must be positive"));
    }
    plugin_case_clear(&c);
}
END_TEST

/* Large numbers that cancel leave what was between them: exactly in the oracle, within the bound
 * in kernels, and the bound is less than what is left. 30000 where 1e8 is no number. */
START_TEST(trap5_cancellation)
{
    static const int64_t extents[][3] = {{2, 3, 1}, {1, 3, 9}, {3, 33, 1}, {1, 33, 20}};
    assay_dtype t = floats[_i % FLOATS];
    assay_op_id op = reductions[_i / FLOATS];
    double large = t == ASSAY_F16 ? 30000.0 : 1e8, left = t == ASSAY_F64 ? 1.0 : 1024.0;

    for (size_t s = 0; s < 4; s++) {
        plugin_case c;
        assay_wide w;
        assay_accept_element e;
        int64_t axis = extents[s][1], inner = extents[s][2];
        reduce_case(&c, op, t, extents[s]);
        for (int64_t i = 0; i < assay_problem_operand_elements(&c.problem, 0); i++) {
            int64_t j = i / inner % axis;
            plugin_case_set(&c, 0, i, j == 0 ? large : j + 1 == axis ? -large : 0.0);
            if (j == axis / 2)
                plugin_case_set(&c, 0, i, left);
        }
        double want = op == ASSAY_OP_sum_reduce ? left : left / (double)axis;
        plugin_case_wide(&c, plugin_oracle(plugin_load("ref"), op), 1, &w);
        for (int64_t i = 0; i < c.elements; i++) {
            e = (assay_accept_element){.y = 0.0, .hi = w.hi[i], .lo = w.lo[i]};
            ck_assert_msg(fabs(e.hi + e.lo - want) <= 1e-15 * want, "%a + %a, not %a", e.hi, e.lo,
                          want);
        }
        every_kernel_agrees(&c, "cancellation");
        plugin_wide_clear(&w);
        plugin_case_clear(&c);
    }
}
END_TEST

/* Sums beyond what f32 counts one by one (2^24 and 2^22 more), and beyond f16: the mean of equal
 * numbers is that number. */
START_TEST(trap5_mean_of_many)
{
    static const struct {
        assay_dtype dtype;
        int64_t axis;
        double value;
    } rows[] = {{ASSAY_F32, 20971520, 1.0}, {ASSAY_F16, 1000, 1000.0}, {ASSAY_BF16, 4096, 3.0}};
    const int64_t extents[] = {1, rows[_i].axis, 1};
    double want[1] = {rows[_i].value};
    plugin_case c;

    reduce_case(&c, ASSAY_OP_mean_reduce, rows[_i].dtype, extents);
    for (int64_t e = 0; e < rows[_i].axis; e++)
        plugin_case_set(&c, 0, e, rows[_i].value);
    if (rows[_i].axis % 1024 == 0)
        every_kernel_gives(&c, want, "mean of many");
    else
        every_kernel_agrees(&c, "mean of many");
    plugin_case_clear(&c);
}
END_TEST

/* ---- trap 6: softmax --------------------------------------------------------------------------
 */

static const struct softmax {
    assay_op_id op;
    bool is_log;
    const char *params[3];
} softmaxes[] = {
    {ASSAY_OP_softmax_last_dim, false, {"rows=185,cols=37", "rows=25,cols=5", "rows=80,cols=16"}},
    {ASSAY_OP_log_softmax_last_dim,
     true,
     {"rows=185,cols=37", "rows=25,cols=5", "rows=80,cols=16"}},
    {ASSAY_OP_softmax,
     false,
     {"outer=37,axis=37,inner=5", "outer=1,axis=5,inner=43", "outer=20,axis=5,inner=1"}},
    {ASSAY_OP_log_softmax,
     true,
     {"outer=37,axis=37,inner=5", "outer=1,axis=5,inner=43", "outer=20,axis=5,inner=1"}},
};
#define SOFTMAXES 4

/* Element j of a line of kind `line` % 5: nothing but -inf; +inf at one place; NaN at one; the
 * largest number at one among the lowest; -inf but at one. The place goes through all. */
static double special(int64_t line, int64_t j, int64_t axis, double largest)
{
    bool is_place = j == line / 5 % axis;
    double usual = (double)(j % 3);

    switch (line % 5) {
    case 0:
        return -INFINITY;
    case 1:
        return is_place ? INFINITY : usual;
    case 2:
        return is_place ? NAN : usual;
    case 3:
        return is_place ? largest : -largest;
    default:
        return is_place ? 5.0 : -INFINITY;
    }
}

START_TEST(trap6_lines_of_special_values)
{
    const struct softmax *s = &softmaxes[_i / FLOATS];
    assay_dtype t = floats[_i % FLOATS];

    for (size_t i = 0; i < 3; i++) {
        plugin_case c;
        plugin_case_init(&c, s->op, t, s->params[i], 0);
        plugin_case_poison(&c);
        bool along = c.operands[0].rank == 3;
        int64_t axis = c.operands[0].dims[1], inner = along ? c.operands[0].dims[2] : 1;
        double *want = room(&c);
        for (int64_t e = 0; e < c.elements; e++) {
            int64_t line = e / (axis * inner) * inner + e % inner, j = e / inner % axis;
            plugin_case_set(&c, 0, e, special(line, j, axis, assay_dtype_describe(t)->max_finite));
            bool is_top = j == line / 5 % axis;
            want[e] = line % 5 < 3 ? NAN : s->is_log ? (is_top ? 0.0 : -INFINITY) : is_top;
        }
        every_kernel_gives(&c, want, s->params[i]);
        free(want);
        plugin_case_clear(&c);
    }
}
END_TEST

/* Scores whose exponentials no dtype holds, of both signs; lines far below them. */
START_TEST(trap6_huge_spread)
{
    const struct softmax *s = &softmaxes[_i / FLOATS];

    for (size_t i = 0; i < 3; i++) {
        plugin_case c;
        plugin_case_init(&c, s->op, floats[_i % FLOATS], s->params[i], 0);
        for (int64_t e = 0; e < c.elements; e++)
            plugin_case_set(&c, 0, e, (double)(e * 31 % 61 - 30) * (e % 7 == 0 ? 1000.0 : 1.0));
        every_kernel_agrees(&c, s->params[i]);
        plugin_case_clear(&c);
    }
}
END_TEST

START_TEST(trap6_axis_of_length_one)
{
    const struct softmax *s = &softmaxes[_i / FLOATS];
    const char *params = s->op == ASSAY_OP_softmax || s->op == ASSAY_OP_log_softmax
                             ? "outer=3,axis=1,inner=19"
                             : "rows=57,cols=1";
    double want[57];
    plugin_case c;

    plugin_case_init(&c, s->op, floats[_i % FLOATS], params, 0);
    plugin_case_poison(&c);
    for (int64_t e = 0; e < 57; e++) {
        plugin_case_set(&c, 0, e,
                        e % 4 == 0   ? NAN
                        : e % 4 == 1 ? -INFINITY
                                     : 500.0 - (double)e * 20);
        want[e] = e % 4 < 2 ? NAN : s->is_log ? 0.0 : 1.0;
    }
    every_kernel_gives(&c, want, params);
    plugin_case_clear(&c);
}
END_TEST

/* ---- trap 7: rows by index --------------------------------------------------------------------
 */

static void fill_index(plugin_case *c, int64_t (*index)(int64_t i))
{
    int64_t *at = assay_tensor_data(&c->operands[1]);

    for (int64_t i = 0; i < c->operands[1].dims[0]; i++)
        at[i] = index(i);
    for (int64_t e = 0; e < assay_problem_operand_elements(&c->problem, 0); e++)
        plugin_case_set(c, 0, e, (double)(e % 199));
    for (int64_t e = 0; e < c->elements; e++)
        plugin_case_set(c, 2, e, -7.0);
}

static int64_t crowded(int64_t i)
{
    return i * i % 7;
}

/* Many rows go to few places: the last of each is there, all else is as it was. */
START_TEST(trap7_of_equal_indices_the_last_wins)
{
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_scatter, floats[_i], "rows=9,cols=21,n=900", 0);
    fill_index(&c, crowded);
    double *want = room(&c);
    for (int64_t e = 0; e < c.elements; e++)
        want[e] = -7.0;
    for (int64_t i = 0; i < 900; i++)
        for (int64_t j = 0; j < 21; j++)
            want[crowded(i) * 21 + j] = plugin_case_get(&c, 0, i * 21 + j);
    every_kernel_gives(&c, want, "scatter");
    free(want);
    plugin_case_clear(&c);
}
END_TEST

START_TEST(trap7_gather_takes_a_row_as_often_as_told)
{
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_gather, floats[_i], "rows=7,cols=21,n=900", 0);
    fill_index(&c, crowded);
    double *want = room(&c);
    for (int64_t e = 0; e < c.elements; e++)
        want[e] = plugin_case_get(&c, 0, crowded(e / 21) * 21 + e % 21);
    every_kernel_gives(&c, want, "gather");
    free(want);
    plugin_case_clear(&c);
}
END_TEST

/* One bad index, first, in the middle or last: no row is moved. */
START_TEST(trap7_a_bad_index_moves_nothing)
{
    static const int64_t bad[] = {-1, 7, INT64_MIN, INT64_MAX}, places[] = {0, 1, 450, 898, 899};

    for (size_t o = 0; o < 2; o++)
        for (size_t b = 0; b < 4; b++)
            for (size_t p = 0; p < 5; p++) {
                plugin_case c;
                plugin_case_init(&c, o == 0 ? ASSAY_OP_gather : ASSAY_OP_scatter, floats[_i],
                                 "rows=7,cols=21,n=900", 0);
                fill_index(&c, crowded);
                ((int64_t *)assay_tensor_data(&c.operands[1]))[places[p]] = bad[b];
                ck_assert_int_ge(every_kernel_refuses(&c, ASSAY_INVALID), 2);
                plugin_case_clear(&c);
            }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("traps_rows");
    TCase *tcase = tcase_create("traps_rows");

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, every_kernel_open, every_kernel_close);
    tcase_add_loop_test(tcase, trap5_any_axis_first_middle_last, 0, REDUCTIONS * FLOATS);
    tcase_add_loop_test(tcase, trap5_nan_in_each_position, 0, REDUCTIONS * FLOATS);
    tcase_add_loop_test(tcase, trap5_empty_axis, 0, REDUCTIONS * FLOATS);
    tcase_add_loop_test(tcase, trap5_cancellation, 0, 2 * FLOATS); /* sum and mean */
    tcase_add_loop_test(tcase, trap5_mean_of_many, 0, 3);
    tcase_add_loop_test(tcase, trap6_lines_of_special_values, 0, SOFTMAXES * FLOATS);
    tcase_add_loop_test(tcase, trap6_huge_spread, 0, SOFTMAXES * FLOATS);
    tcase_add_loop_test(tcase, trap6_axis_of_length_one, 0, SOFTMAXES * FLOATS);
    tcase_add_loop_test(tcase, trap7_of_equal_indices_the_last_wins, 0, FLOATS);
    tcase_add_loop_test(tcase, trap7_gather_takes_a_row_as_often_as_told, 0, FLOATS);
    tcase_add_loop_test(tcase, trap7_a_bad_index_moves_nothing, 0, FLOATS);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
