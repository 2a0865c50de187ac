/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_inputs.c -- input sets: independence of the split, and what each promises. */
#include "calibrate/inputs.h"
#include "calibrate/special_values.h"

#include "tests/support/op_cases.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const assay_dtype types[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16};
#define TYPES 4

static assay_problem problem_of(const char *op, assay_dtype dtype, const char *const *settings)
{
    assay_op_id id;
    assay_problem p;
    ck_assert_int_eq(assay_op_find(op, &id), ASSAY_OK);
    ck_assert_int_eq(assay_problem_init(id, dtype, &p), ASSAY_OK);
    for (; *settings; settings += 2)
        ck_assert_int_eq(assay_problem_set(&p, settings[0], settings[1]), ASSAY_OK);
    return p;
}

static assay_problem matmul_of(assay_dtype dtype, const char *trans)
{
    const char *const s[] = {"batch", "2",       "m",   "33",      "n",   "17", "k",
                             "50",    "trans_a", trans, "trans_b", trans, NULL};
    return problem_of("matmul", dtype, s);
}

static assay_problem example(assay_op_id op, assay_dtype dtype)
{
    return op == ASSAY_OP_matmul ? matmul_of(dtype, "n") : op_case_example(op, dtype);
}

/* The whole operand, as doubles; the caller frees. */
static double *filled(const assay_problem *p, assay_stratum s, uint64_t seed, unsigned operand,
                      size_t *count)
{
    assay_dtype dtype = (assay_dtype)p->dtypes[operand];
    size_t n = (size_t)assay_problem_operand_elements(p, operand);
    void *raw = malloc(n * 8);
    double *values = malloc(n * sizeof *values);
    ck_assert(raw && values);
    ck_assert_int_eq(assay__inputs_fill(p, s, seed, operand, 0, n, raw), ASSAY_OK);
    ck_assert_int_eq(assay_convert(ASSAY_F64, values, dtype, raw, n), ASSAY_OK);
    free(raw);
    *count = n;
    return values;
}

START_TEST(every_stratum_fills_every_operand_alike_in_pieces)
{
    for (int op = 0; op < (int)ASSAY_OP_COUNT; op++)
        for (int s = 0; s < (int)ASSAY_STRATUM_COUNT; s++) {
            if (!assay__stratum_fits((assay_stratum)s, (assay_op_id)op))
                continue;
            assay_problem p = example((assay_op_id)op, types[_i]);
            for (unsigned operand = 0; operand < p.dtype_count; operand++) {
                size_t n = (size_t)assay_problem_operand_elements(&p, operand);
                size_t bytes = assay_dtype_bytes((assay_dtype)p.dtypes[operand]);
                unsigned char *whole = malloc(n * bytes), *parts = malloc(n * bytes);
                ck_assert(whole && parts);
                ck_assert_int_eq(assay__inputs_fill(&p, (assay_stratum)s, 7, operand, 0, n, whole),
                                 ASSAY_OK);
                for (size_t end = n; end > 0;) { /* backwards, in uneven pieces */
                    size_t part = end < 177 ? end : 177;
                    end -= part;
                    ck_assert_int_eq(assay__inputs_fill(&p, (assay_stratum)s, 7, operand, end, part,
                                                        parts + end * bytes),
                                     ASSAY_OK);
                }
                ck_assert_msg(memcmp(whole, parts, n * bytes) == 0, "op %d stratum %d", op, s);
                free(whole);
                free(parts);
            }
        }
}
END_TEST

START_TEST(only_special_strata_hold_special_values)
{
    for (int op = 0; op < (int)ASSAY_OP_COUNT; op++)
        for (int s = 0; s < (int)ASSAY_STRATUM_COUNT; s++) {
            if (!assay__stratum_fits((assay_stratum)s, (assay_op_id)op))
                continue;
            assay_problem p = example((assay_op_id)op, types[_i]);
            size_t n, special = 0;
            double *v = filled(&p, (assay_stratum)s, 1, 0, &n);
            for (size_t i = 0; i < n; i++)
                special += isfinite(v[i]) ? 0 : 1;
            free(v);
            if (!(assay__stratum_flags((assay_stratum)s) & ASSAY_STRATUM_SPECIAL))
                ck_assert_msg(special == 0, "op %d stratum %d", op, s);
        }
}
END_TEST

START_TEST(seeds_and_operands_differ)
{
    assay_problem p = example(ASSAY_OP_add, ASSAY_F32);
    size_t n;
    double *a = filled(&p, ASSAY_STRATUM_NORMAL, 1, 0, &n);
    double *b = filled(&p, ASSAY_STRATUM_NORMAL, 1, 1, &n);
    double *c = filled(&p, ASSAY_STRATUM_NORMAL, 2, 0, &n);
    size_t same = 0;
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        same += (a[i] >= b[i] && a[i] <= b[i]) || (a[i] >= c[i] && a[i] <= c[i]);
        sum += a[i];
        squares += a[i] * a[i];
    }
    ck_assert_uint_le(same, 2);
    ck_assert(fabs(sum / (double)n) < 0.05 && fabs(squares / (double)n - 1.0) < 0.06);
    free(a);
    free(b);
    free(c);
}
END_TEST

/* Sum and sum of sizes of the products of C[batch 1, row, col]. */
static void dot(const assay_problem *p, const double *a, const double *b, int row, int col,
                double *sum, double *size)
{
    int m = 33, n = 17, k = 50;
    bool t = assay_problem_int(p, "trans_a") != 0;
    *sum = *size = 0.0;
    for (int i = 0; i < k; i++) {
        double x = t ? a[m * k + i * m + row] : a[m * k + row * k + i];
        double y = t ? b[k * n + col * k + i] : b[k * n + i * n + col];
        *sum += x * y;
        *size += fabs(x * y);
    }
}

START_TEST(cancelling_pairs_cancel_in_both_layouts)
{
    static const char *const layouts[] = {"n", "t"};
    for (int l = 0; l < 2; l++) {
        assay_problem p = matmul_of(ASSAY_F32, layouts[l]);
        size_t n;
        double *a = filled(&p, ASSAY_STRATUM_CANCEL, 5, 0, &n);
        double *b = filled(&p, ASSAY_STRATUM_CANCEL, 5, 1, &n);
        for (int row = 0; row < 33; row += 4)
            for (int col = 0; col < 17; col += 3) {
                double sum, size;
                dot(&p, a, b, row, col, &sum, &size);
                ck_assert_msg(fabs(sum) < 1e-3 * size && fabs(sum) > 0.0, "%g of %g", sum, size);
            }
        free(a);
        free(b);
    }
}
END_TEST

START_TEST(cancelling_sums_cancel)
{
    assay_problem p = example(ASSAY_OP_add, types[_i]);
    size_t n;
    double *a = filled(&p, ASSAY_STRATUM_CANCEL, 5, 0, &n);
    double *b = filled(&p, ASSAY_STRATUM_CANCEL, 5, 1, &n);
    double step = 2.0 * assay_dtype_describe(types[_i])->unit_roundoff;
    for (size_t i = 0; i < n; i++) { /* in sums at even places, in differences at odd ones */
        double rest = i % 2 ? a[i] - b[i] : a[i] + b[i];
        ck_assert(fabs(rest) <= (1.1e-3 + step) * fabs(a[i]) + 1e-7);
    }
    free(a);
    free(b);
}
END_TEST

START_TEST(offset_rows_have_a_mean_far_above_their_deviation)
{
    assay_problem p = example(ASSAY_OP_layer_norm_last_dim, types[_i]);
    size_t n;
    double *x = filled(&p, ASSAY_STRATUM_OFFSET, 5, 0, &n);
    for (size_t row = 0; row < n / 100; row++) {
        double sum = 0.0, squares = 0.0;
        for (size_t j = 0; j < 100; j++)
            sum += x[row * 100 + j] / 100.0;
        for (size_t j = 0; j < 100; j++)
            squares += (x[row * 100 + j] - sum) * (x[row * 100 + j] - sum) / 100.0;
        ck_assert(fabs(sum) > 30.0 * sqrt(squares) && squares > 0.2);
    }
    free(x);
}
END_TEST

START_TEST(integers_keep_every_sum_exact)
{
    static const char *const deep[] = {"m", "4", "n", "4", "k", "20000", NULL};
    assay_problem p = problem_of("matmul", types[_i], deep);
    size_t n;
    double *a = filled(&p, ASSAY_STRATUM_INTEGERS, 3, 0, &n), nonzero = 0.0;
    double *b = filled(&p, ASSAY_STRATUM_INTEGERS, 3, 1, &n);
    for (int row = 0; row < 4; row++) {
        double size = 0.0;
        for (int i = 0; i < 20000; i++) {
            double x = a[row * 20000 + i], y = b[i * 4 + row];
            ck_assert(x >= floor(x) && x <= floor(x) && y >= floor(y) && y <= floor(y));
            size += fabs(x * y);
            nonzero += fabs(x) > 0.0 ? 1.0 : 0.0;
        }
        ck_assert_msg(size < (types[_i] == ASSAY_F64 ? 0x1p53 : 0x1p24), "%g", size);
    }
    ck_assert(nonzero > 100.0);
    free(a);
    free(b);
}
END_TEST

START_TEST(specials_meet_in_every_pair)
{
    assay_problem p = example(ASSAY_OP_add, types[_i]);
    size_t n, s = assay__special_count(), nans = 0;
    double *a = filled(&p, ASSAY_STRATUM_SPECIALS, 1, 0, &n);
    double *b = filled(&p, ASSAY_STRATUM_SPECIALS, 1, 1, &n);
    ck_assert_uint_le(s * s, n);
    for (size_t i = 0; i < s * s; i++) {
        double x = assay__special_value(types[_i], i % s),
               y = assay__special_value(types[_i], i / s);
        ck_assert((isnan(x) && isnan(a[i])) || (a[i] >= x && a[i] <= x));
        ck_assert((isnan(y) && isnan(b[i])) || (b[i] >= y && b[i] <= y));
        nans += isnan(x) && isnan(y);
    }
    ck_assert_uint_eq(nans, 4);
    free(a);
    free(b);
}
END_TEST

START_TEST(edges_lie_near_their_anchors)
{
    assay_problem p = example(ASSAY_OP_exp, types[_i]);
    const assay_dtype_info *info = assay_dtype_describe(types[_i]);
    double over = (info->emax + 1) * 0.6931471805599453;
    size_t n, near_over = 0, near_zero = 0, negative = 0;
    double *v = filled(&p, ASSAY_STRATUM_EDGES, 9, 0, &n);
    for (size_t i = 0; i < n; i++) {
        near_over += fabs(v[i] / over - 1.0) < 130.0 * info->unit_roundoff;
        near_zero += fabs(v[i]) <= 64.0 * info->min_subnormal;
        negative += v[i] < 0.0;
        ck_assert(!isnan(v[i]));
    }
    ck_assert_uint_gt(near_over, 100);
    ck_assert_uint_gt(near_zero, 100);
    ck_assert(5 * negative > 2 * n && 5 * negative < 3 * n);
    free(v);
}
END_TEST

START_TEST(ordinals_cover_the_exponents)
{
    assay_problem p = example(ASSAY_OP_exp, types[_i]);
    size_t n, tiny = 0, big = 0;
    double *v = filled(&p, ASSAY_STRATUM_ORDINALS, 9, 0, &n);
    for (size_t i = 0; i < n; i++) {
        ck_assert(!isnan(v[i]));
        tiny += fabs(v[i]) < 0.01;
        big += fabs(v[i]) > 100.0;
    }
    ck_assert(tiny > n / 10 && big > n / 10);
    free(v);
}
END_TEST

/* Lines run along the axis, wherever its elements lie. */
START_TEST(softmax_lines_run_along_the_axis)
{
    const char *const settings[] = {"outer", "3", "axis", "20", "inner", "7", NULL};
    assay_problem p = problem_of("softmax", types[_i], settings);
    size_t n;
    double *infinite = filled(&p, ASSAY_STRATUM_INFINITE, 3, 0, &n);
    double *equal = filled(&p, ASSAY_STRATUM_EQUAL, 3, 0, &n);

    for (size_t line = 0; line < 21; line++) {
        size_t first = line / 7 * 140 + line % 7, tops = 0;
        for (size_t j = 0; j < 20; j++) {
            tops += isinf(infinite[first + 7 * j]) ? 1 : 0;
            ck_assert(equal[first + 7 * j] >= equal[first] && equal[first + 7 * j] <= equal[first]);
        }
        ck_assert_uint_eq(tops, 1);
    }
    free(infinite);
    free(equal);
}
END_TEST

START_TEST(softmax_rows_are_what_they_say)
{
    assay_problem p = example(ASSAY_OP_softmax_last_dim, types[_i]);
    size_t n;
    double *peaked = filled(&p, ASSAY_STRATUM_PEAKED, 2, 0, &n);
    double *equal = filled(&p, ASSAY_STRATUM_EQUAL, 2, 0, &n);
    double *masked = filled(&p, ASSAY_STRATUM_MASKED, 2, 0, &n);
    double *infinite = filled(&p, ASSAY_STRATUM_INFINITE, 2, 0, &n);
    for (size_t row = 0; row < 48; row++) {
        size_t tops = 0, minus = 0, plus = 0;
        for (size_t c = row * 100; c < row * 100 + 100; c++) {
            tops += fabs(peaked[c]) >= 86.0 && fabs(peaked[c]) <= 88.0;
            minus += isinf(masked[c]) && masked[c] < 0.0;
            plus += isinf(infinite[c]) && infinite[c] > 0.0;
            ck_assert(equal[c] >= equal[row * 100] && equal[c] <= equal[row * 100]);
        }
        ck_assert_uint_eq(tops, 1);
        ck_assert_uint_eq(plus, 1);
        ck_assert(row % 8 == 7 ? minus == 100 : minus > 20 && minus < 80);
    }
    free(peaked);
    free(equal);
    free(masked);
    free(infinite);
}
END_TEST

START_TEST(names_are_found_and_listed)
{
    assay_stratum s;
    float x[8];
    assay_problem p = example(ASSAY_OP_add, ASSAY_F32);
    ck_assert_int_eq(assay__stratum_find(ASSAY_OP_add, "edges", &s), ASSAY_OK);
    ck_assert_int_eq(s, ASSAY_STRATUM_EDGES);
    ck_assert_int_eq(assay__stratum_find(ASSAY_OP_add, "peaked", &s), ASSAY_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "edges"));
    ck_assert_int_eq(assay__inputs_fill(&p, ASSAY_STRATUM_PEAKED, 1, 0, 0, 8, x), ASSAY_INVALID);
    ck_assert_int_eq(assay__inputs_fill(&p, ASSAY_STRATUM_NORMAL, 1, 3, 0, 8, x), ASSAY_INVALID);
    ck_assert_int_eq(assay__inputs_fill(&p, ASSAY_STRATUM_NORMAL, 1, 0, 9996, 8, x), ASSAY_INVALID);
    ck_assert_int_eq(assay__inputs_fill(&p, ASSAY_STRATUM_NORMAL, 1, 0, UINT64_MAX, 8, x),
                     ASSAY_INVALID);
    ck_assert_ptr_null(assay__stratum_name(ASSAY_STRATUM_COUNT));
}
END_TEST

/* ---- conversions ---- */

static assay_problem cast_of(assay_dtype from, assay_dtype to)
{
    const uint8_t tuple[] = {(uint8_t)from, (uint8_t)to};
    return op_case_example_of(ASSAY_OP_cast, tuple, 2);
}

/* All 64 bits of i64 vary, and no double on the way has rounded them. */
START_TEST(whole_operands_use_every_bit)
{
    static const assay_dtype whole[] = {ASSAY_I8,  ASSAY_I16, ASSAY_I32,
                                        ASSAY_I64, ASSAY_U8,  ASSAY_U32};
    static const assay_stratum sets[] = {ASSAY_STRATUM_NORMAL, ASSAY_STRATUM_ORDINALS,
                                         ASSAY_STRATUM_EDGES};
    size_t bytes = assay_dtype_bytes(whole[_i]);
    assay_problem p = cast_of(whole[_i], ASSAY_F32);
    unsigned char x[10000 * 8];

    for (size_t s = 0; s < 3; s++) {
        uint64_t ones = 0, zeros = 0, mask = bytes < 8 ? (1ull << 8 * bytes) - 1 : UINT64_MAX;
        uint64_t odd = 0;
        ck_assert_int_eq(assay__inputs_fill(&p, sets[s], 1, 0, 0, 10000, x), ASSAY_OK);
        for (size_t i = 0; i < 10000; i++) {
            uint64_t bits = 0;
            memcpy(&bits, x + i * bytes, bytes);
            ones |= bits;
            zeros |= ~bits;
            odd += bits & 1;
        }
        /* One of 1,000 is small enough for a double: all bits alone would not tell. */
        ck_assert_msg(s == 2 || (odd > 4500 && odd < 5500), "set %zu: %lu odd", s,
                      (unsigned long)odd);
        ck_assert_uint_eq(ones & mask, mask);
        ck_assert_uint_eq(zeros & mask, mask);
    }
}
END_TEST

/* Ends of the type, and their neighbours. */
START_TEST(whole_specials_hold_both_ends)
{
    static const assay_dtype whole[] = {ASSAY_I8,  ASSAY_I16, ASSAY_I32,
                                        ASSAY_I64, ASSAY_U8,  ASSAY_U32};
    const assay_dtype_info *info = assay_dtype_describe(whole[_i]);
    int least = 0, most = 0, zero = 0;

    for (size_t i = 0; i < assay__special_count(); i++) {
        int64_t v = assay__special_integer(whole[_i], i);
        ck_assert(v >= info->min_int && v <= info->max_int);
        least += v == info->min_int;
        most += v == info->max_int;
        zero += v == 0;
    }
    ck_assert(least > 0 && most > 0 && zero > 0);
}
END_TEST

static const struct turn {
    assay_dtype from, to;
} turns[] = {{ASSAY_F64, ASSAY_F32},    {ASSAY_F64, ASSAY_BF16}, {ASSAY_F64, ASSAY_F16},
             {ASSAY_F64, ASSAY_F8E4M3}, {ASSAY_F32, ASSAY_BF16}, {ASSAY_F32, ASSAY_F8E4M3},
             {ASSAY_F16, ASSAY_F8E4M3}, {ASSAY_I64, ASSAY_F32},  {ASSAY_I64, ASSAY_F64},
             {ASSAY_I32, ASSAY_F16},    {ASSAY_U32, ASSAY_F32}};

/* Ties, and what a step decides: rounding to nearest and truncation differ nowhere else. */
START_TEST(edges_of_a_cast_hold_ties)
{
    const struct turn *t = &turns[_i];
    assay_problem p = cast_of(t->from, t->to);
    size_t bytes = assay_dtype_bytes(t->from), ties = 0, close = 0;
    unsigned char x[10000 * 8];

    ck_assert_int_eq(assay__inputs_fill(&p, ASSAY_STRATUM_EDGES, 1, 0, 0, 10000, x), ASSAY_OK);
    for (size_t i = 0; i < 10000; i++) {
        unsigned char one[8] = {0};
        memcpy(one, x + i * bytes, bytes);
        long double v =
            assay_dtype_describe(t->from)->is_float
                ? (long double)assay_load_f64(t->from, one, 0)
                : (long double)(t->from == ASSAY_U32   ? (int64_t) * (uint32_t *)(void *)one
                                : t->from == ASSAY_I32 ? *(int32_t *)(void *)one
                                                       : *(int64_t *)(void *)one);
        uint64_t out = 0;
        ck_assert_int_eq(assay_convert(t->to, &out, t->from, one, 1), ASSAY_OK);
        long double near = (long double)assay_load_f64(t->to, &out, 0);
        const assay_dtype_info *info = assay_dtype_describe(t->to);
        if (!isfinite((double)near) || fabsl(near) >= (long double)info->max_finite ||
            !(v < near || v > near))
            continue;
        int exponent = ilogbl(fabsl(near)) < info->emin ? info->emin : ilogbl(fabsl(near));
        long double half = ldexpl(0.5L, exponent - info->precision + 1), off = fabsl(v - near);
        ties += off >= half && off <= half;
        close += off < half && off > half * 0.9L;
    }
    ck_assert_msg(ties > 100, "%zu ties", ties);
    ck_assert_msg(close > (t->from == ASSAY_F16 ? 0 : 20), "%zu close to one", close);
}
END_TEST

/* Of N(0,1) most integers were 0. */
START_TEST(casts_to_integers_are_not_mostly_zero)
{
    static const assay_dtype whole[] = {ASSAY_I8,  ASSAY_I16, ASSAY_I32,
                                        ASSAY_I64, ASSAY_U8,  ASSAY_U32};
    static const assay_dtype floats[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16, ASSAY_F8E4M3};
    assay_problem p = cast_of(floats[_i % 5], whole[_i / 5]);
    size_t n, zeros = 0, large = 0;
    double *v = filled(&p, ASSAY_STRATUM_NORMAL, 1, 0, &n);

    for (size_t i = 0; i < n; i++) {
        zeros += v[i] < 1.0;
        large += fabs(v[i]) > 20.0;
    }
    free(v);
    ck_assert_uint_lt(zeros, 6 * n / 10);
    ck_assert_uint_gt(large, n / 2);
}
END_TEST

/* 200,003: parts that are not alike, and do not end with a chunk of the generator. */
START_TEST(threads_change_nothing)
{
    static const unsigned threads[] = {0, 2, 3, 64};
    const char *const s[] = {"n", "200003", NULL};
    const assay_problem p = problem_of("add", types[_i], s);
    const size_t bytes = 200003 * assay_dtype_bytes(types[_i]);
    char *one = malloc(bytes), *many = malloc(bytes);

    ck_assert(one != NULL && many != NULL);
    ck_assert_int_eq(assay__inputs_fill(&p, ASSAY_STRATUM_NORMAL, 7, 1, 0, 200003, one), ASSAY_OK);
    for (size_t i = 0; i < 4; i++) {
        memset(many, 0, bytes);
        ck_assert_int_eq(assay__inputs_fill_all(&p, ASSAY_STRATUM_NORMAL, 7, 1, threads[i], many),
                         ASSAY_OK);
        ck_assert_mem_eq(one, many, bytes);
    }
    ck_assert_int_eq(assay__inputs_fill_all(&p, ASSAY_STRATUM_MASKED, 7, 1, 3, many),
                     ASSAY_INVALID);
    ck_assert_msg(strstr(assay_last_error(), "none of this op's") != NULL, "%s",
                  assay_last_error());
    free(one);
    free(many);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("inputs");
    TCase *all = tcase_create("all"), *each = tcase_create("each");

    suite_add_tcase(suite, all);
    suite_add_tcase(suite, each);
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, every_stratum_fills_every_operand_alike_in_pieces, 0, TYPES);
    tcase_add_loop_test(all, threads_change_nothing, 0, TYPES);
    tcase_add_loop_test(all, whole_operands_use_every_bit, 0, 6);
    tcase_add_loop_test(all, whole_specials_hold_both_ends, 0, 6);
    tcase_add_loop_test(all, edges_of_a_cast_hold_ties, 0, sizeof turns / sizeof *turns);
    tcase_add_loop_test(all, casts_to_integers_are_not_mostly_zero, 0, 30);
    tcase_add_loop_test(all, only_special_strata_hold_special_values, 0, TYPES);
    tcase_add_test(all, seeds_and_operands_differ);
    tcase_add_test(all, names_are_found_and_listed);
    tcase_add_test(each, cancelling_pairs_cancel_in_both_layouts);
    tcase_add_loop_test(each, cancelling_sums_cancel, 0, TYPES);
    tcase_add_loop_test(each, offset_rows_have_a_mean_far_above_their_deviation, 0, TYPES);
    tcase_add_loop_test(each, integers_keep_every_sum_exact, 0, TYPES);
    tcase_add_loop_test(each, specials_meet_in_every_pair, 0, TYPES);
    tcase_add_loop_test(each, edges_lie_near_their_anchors, 0, TYPES);
    tcase_add_loop_test(each, ordinals_cover_the_exponents, 0, TYPES);
    tcase_add_loop_test(each, softmax_lines_run_along_the_axis, 0, TYPES);
    tcase_add_loop_test(each, softmax_rows_are_what_they_say, 0, TYPES);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
