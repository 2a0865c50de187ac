/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_ref.c -- the oracle against MPFR, exact cases and known values. */
#include <check.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/op_cases.h"
#include "tests/support/plugin_case.h"

static const assay_manifest *ref;
static const assay_dtype dtypes[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16};

static void setup(void)
{
    ref = plugin_load("ref");
}

static const assay_kernel_desc *kernel(assay_op_id op, assay_dtype t)
{
    const assay_kernel_desc *k = plugin_kernel(ref, op, t, NULL);

    ck_assert_ptr_nonnull(k);
    return k;
}

/* |exact - (hi + lo)| <= bound, in MPFR; `what` names the element. */
static void check_wide(mpfr_t exact, const assay_wide *w, int64_t i, const char *what)
{
    mpfr_t gap;

    if (!isfinite(w->hi[i])) {
        double d = mpfr_get_d(exact, MPFR_RNDN);
        ck_assert_msg(w->lo[i] == 0.0 && w->bound[i] == 0.0, "%s %ld: infinity or NaN has no rest",
                      what, (long)i);
        ck_assert_msg(d == w->hi[i] || (isnan(d) && isnan(w->hi[i])), "%s %ld: %a, not %a", what,
                      (long)i, w->hi[i], d);
        return;
    }
    mpfr_init2(gap, 5000);
    mpfr_sub_d(gap, exact, w->hi[i], MPFR_RNDN);
    mpfr_sub_d(gap, gap, w->lo[i], MPFR_RNDN);
    mpfr_abs(gap, gap, MPFR_RNDN);
    ck_assert_msg(mpfr_cmp_d(gap, w->bound[i]) <= 0, "%s %ld: off by %g, bound %g of %a", what,
                  (long)i, mpfr_get_d(gap, MPFR_RNDN), w->bound[i], w->hi[i]);
    mpfr_clear(gap);
}

/* The value of `t` nearest to `exact`, ties to even. */
static double nearest(assay_dtype t, mpfr_t exact)
{
    mpfr_t odd;

    if (t == ASSAY_F64)
        return mpfr_get_d(exact, MPFR_RNDN);
    /* 53 bits toward zero with a sticky last bit, then one rounding. */
    mpfr_init2(odd, 53);
    int inexact = mpfr_set(odd, exact, MPFR_RNDZ);
    double d = mpfr_get_d(odd, MPFR_RNDZ);
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    bits |= inexact != 0;
    memcpy(&d, &bits, sizeof d);
    mpfr_clear(odd);
    return assay_round_f64(t, d);
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

/* ---- exp ------------------------------------------------------------------------------------- */

static const double exp_arguments[] = {
    0.0, -0.0, 1.0, -1.0, 0.5, 88.72283, 88.73, -87.3, -103.97, -104.0, -150.0, 1e-30, -1e-30,
    11.08, -14.55, 11.09375, -16.64, 709.78, 709.79, -708.4, -740.0, -745.13, -746.0, 5e-324, 600.0,
    -600.0, 710.5, -747.0, 1e30, -1e30,
    /* worst cases of f32 and f64 exp (CORE-MATH) and the f32 overflow threshold */
    0x1.fffffep-27, -0x1.d2259ap+3, 0x1.62e42ep+6, 0x1.62e43p+6, -0x1.bcc73p+3,
    0x1.accfbe46b4ef0p-1, 0x1.1dde0p-30, -0x1.19e53fcd490d0p-23, INFINITY, -INFINITY, NAN};

START_TEST(exp_matches_mpfr)
{
    assay_dtype t = dtypes[_i];
    int n = (int)(sizeof exp_arguments / sizeof *exp_arguments) + 600;
    char params[32];
    plugin_case c;
    assay_wide w;
    uint64_t seed = 7;
    mpfr_t y;

    snprintf(params, sizeof params, "n=%d", n);
    plugin_case_init(&c, ASSAY_OP_exp, t, params, 0);
    for (int i = 0; i < n; i++)
        plugin_case_set(&c, 0, i,
                        i < n - 600 ? exp_arguments[i]
                        : i % 2     ? plugin_normal(&seed)
                                    : 740.0 * (2.0 * plugin_uniform(&seed) - 1.0));
    plugin_case_wide(&c, plugin_oracle(ref, ASSAY_OP_exp), 1, &w);
    ck_assert_int_eq(plugin_case_run(&c, kernel(ASSAY_OP_exp, t), NULL), ASSAY_OK);
    mpfr_init2(y, 300);
    for (int i = 0; i < n; i++) {
        mpfr_set_d(y, plugin_case_get(&c, 0, i), MPFR_RNDN);
        mpfr_exp(y, y, MPFR_RNDN);
        if (t == ASSAY_F64 || plugin_case_get(&c, 0, i) < 700.0)
            check_wide(y, &w, i, "exp");
        double want = nearest(t, y), got = plugin_case_get(&c, 1, i);
        ck_assert_msg(same(want, got), "exp(%a) in %s: %a, not %a", plugin_case_get(&c, 0, i),
                      assay_dtype_name(t), got, want);
    }
    mpfr_clear(y);
    plugin_wide_clear(&w);
    plugin_case_clear(&c);
}
END_TEST

START_TEST(exp_all_half_inputs_round_correctly)
{
    assay_dtype t = _i == 0 ? ASSAY_F16 : ASSAY_BF16;
    plugin_case c;
    mpfr_t y;

    plugin_case_init(&c, ASSAY_OP_exp, t, "n=65536", 0);
    for (uint32_t i = 0; i < 65536; i++)
        ((uint16_t *)assay_tensor_data(&c.operands[0]))[i] = (uint16_t)i;
    ck_assert_int_eq(plugin_case_run(&c, kernel(ASSAY_OP_exp, t), NULL), ASSAY_OK);
    mpfr_init2(y, 80);
    for (int64_t i = 0; i < 65536; i += 7) {
        mpfr_set_d(y, plugin_case_get(&c, 0, i), MPFR_RNDN);
        mpfr_exp(y, y, MPFR_RNDN);
        ck_assert_msg(same(nearest(t, y), plugin_case_get(&c, 1, i)), "input %#lx",
                      (unsigned long)i);
    }
    mpfr_clear(y);
    plugin_case_clear(&c);
}
END_TEST

/* ---- add ------------------------------------------------------------------------------------- */

START_TEST(add_is_exact_and_rounds_once)
{
    assay_dtype t = dtypes[_i];
    plugin_case c;
    assay_wide w;
    uint64_t seed = 3;
    mpfr_t y;

    plugin_case_init(&c, ASSAY_OP_add, t, "n=500", 0);
    for (int i = 0; i < 500; i++) {
        plugin_case_set(&c, 0, i,
                        ldexp(plugin_normal(&seed), (int)(plugin_random(&seed) % 40) - 20));
        plugin_case_set(&c, 1, i,
                        ldexp(plugin_normal(&seed), (int)(plugin_random(&seed) % 40) - 20));
    }
    plugin_case_set(&c, 0, 0, INFINITY);
    plugin_case_set(&c, 1, 0, -INFINITY);
    plugin_case_set(&c, 0, 1, assay_dtype_describe(t)->max_finite);
    plugin_case_set(&c, 1, 1, assay_dtype_describe(t)->max_finite);
    plugin_case_set(&c, 0, 2, NAN);
    plugin_case_wide(&c, plugin_oracle(ref, ASSAY_OP_add), 2, &w);
    ck_assert_int_eq(plugin_case_run(&c, kernel(ASSAY_OP_add, t), NULL), ASSAY_OK);
    mpfr_init2(y, 3000);
    for (int i = 0; i < 500; i++) {
        mpfr_set_d(y, plugin_case_get(&c, 0, i), MPFR_RNDN);
        mpfr_add_d(y, y, plugin_case_get(&c, 1, i), MPFR_RNDN);
        check_wide(y, &w, i, "add");
        ck_assert_msg(w.bound[i] == 0.0, "add is exact");
        double got = plugin_case_get(&c, 2, i);
        ck_assert_msg(same(nearest(t, y), got), "%d: %a", i, got);
    }
    mpfr_clear(y);
    plugin_wide_clear(&w);
    plugin_case_clear(&c);
}
END_TEST

START_TEST(add_takes_any_strides)
{
    float a[6] = {1, 2, 3, 4, 5, 6}, b = 10, y[6] = {0};
    int64_t n = 3, back = -2, zero = 0, two = 2;
    assay_problem p;
    assay_tensor o[3];
    assay_launch launch = {
        .struct_size = sizeof launch, .operand_count = 3, .problem = &p, .operands = o};

    ck_assert_int_eq(assay_problem_init(ASSAY_OP_add, ASSAY_F32, &p), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "n", 3), ASSAY_OK);
    ck_assert_int_eq(assay_tensor_host(a + 5, ASSAY_F32, 1, &n, &back, &o[0]), ASSAY_OK);
    ck_assert_int_eq(assay_tensor_host(&b, ASSAY_F32, 1, &n, &zero, &o[1]), ASSAY_OK);
    ck_assert_int_eq(assay_tensor_host(y, ASSAY_F32, 1, &n, &two, &o[2]), ASSAY_OK);
    ck_assert_int_eq(kernel(ASSAY_OP_add, ASSAY_F32)->run(&launch), ASSAY_OK);
    ck_assert(y[0] == 16.0f && y[2] == 14.0f && y[4] == 12.0f && y[1] == 0.0f && y[5] == 0.0f);
}
END_TEST

/* ---- matmul ---------------------------------------------------------------------------------- */

static const struct matmul_row {
    const char *params;
    double scale;
} matmuls[] = {{"m=1,n=1,k=1", 1.0},
               {"m=3,n=5,k=7", 1.0},
               {"m=7,n=13,k=0,beta=0.5", 1.0},
               {"m=7,n=13,k=5,alpha=0,beta=3", 1.0},
               {"m=97,n=101,k=3", 1.0},
               {"m=9,n=9,k=4,alpha=0.5", 1.0},
               {"m=17,n=19,k=300,alpha=-1.5,beta=0.1", 1.0},
               {"m=13,n=29,k=31,trans_a=t", 1.0},
               {"m=13,n=29,k=31,trans_b=t", 30.0},
               {"batch=3,m=11,n=6,k=9,trans_a=t,trans_b=c,beta=1", 1.0}};

static void exact_element(const plugin_case *c, const double *old, int64_t index, mpfr_t sum)
{
    const assay_problem *p = &c->problem;
    int64_t m = assay_problem_int(p, "m"), n = assay_problem_int(p, "n");
    int64_t k = assay_problem_int(p, "k"), ta = assay_problem_int(p, "trans_a");
    int64_t tb = assay_problem_int(p, "trans_b"), j = index % n, i = index / n % m;
    int64_t batch = index / (m * n);
    double alpha = assay_problem_real(p, "alpha"), beta = assay_problem_real(p, "beta");
    bool wide = c->operands[2].dtype == ASSAY_F64;
    mpfr_t x;

    mpfr_init2(x, 200);
    mpfr_set_zero(sum, 1);
    for (int64_t l = 0; l < k; l++) {
        int64_t a = batch * m * k + (ta != 0 ? l * m + i : i * k + l);
        int64_t b = batch * k * n + (tb != 0 ? j * k + l : l * n + j);
        mpfr_set_d(x, plugin_case_get(c, 0, a), MPFR_RNDN);
        mpfr_mul_d(x, x, plugin_case_get(c, 1, b), MPFR_RNDN);
        mpfr_add(sum, sum, x, MPFR_RNDN);
    }
    mpfr_mul_d(sum, sum, wide ? alpha : (double)(float)alpha, MPFR_RNDN);
    if (beta != 0.0) {
        mpfr_set_d(x, old[index], MPFR_RNDN);
        mpfr_mul_d(x, x, wide ? beta : (double)(float)beta, MPFR_RNDN);
        mpfr_add(sum, sum, x, MPFR_RNDN);
    }
    mpfr_clear(x);
}

static void check_matmul(assay_dtype t, const struct matmul_row *row)
{
    plugin_case c;
    assay_wide w;
    mpfr_t y;

    plugin_case_init(&c, ASSAY_OP_matmul, t, row->params, 0);
    for (uint32_t i = 0; i < 3; i++)
        plugin_case_fill(&c, i, 40 + i, row->scale);
    double *old = calloc((size_t)c.elements + 1, sizeof *old);
    ck_assert_ptr_nonnull(old);
    if (assay_problem_real(&c.problem, "beta") == 0.0)
        plugin_case_poison(&c); /* must not be read */
    for (int64_t i = 0; i < c.elements; i++)
        old[i] = plugin_case_get(&c, 2, i);
    plugin_case_wide(&c, plugin_oracle(ref, ASSAY_OP_matmul), 2, &w);
    ck_assert_int_eq(plugin_case_run(&c, kernel(ASSAY_OP_matmul, t), NULL), ASSAY_OK);
    mpfr_init2(y, 4000);
    for (int64_t i = 0; i<c.elements; i += c.elements> 2000 ? 37 : 1) {
        exact_element(&c, old, i, y);
        check_wide(y, &w, i, row->params);
        double got = plugin_case_get(&c, 2, i), want = nearest(t, y);
        ck_assert_msg(got == want, "%s %s element %ld: %a, not %a", assay_dtype_name(t),
                      row->params, (long)i, got, want);
        ck_assert_msg(w.magnitude[i] >= fabs(w.hi[i]) * (1 - 1e-9), "magnitude");
    }
    mpfr_clear(y);
    plugin_wide_clear(&w);
    free(old);
    plugin_case_clear(&c);
}

START_TEST(matmul_matches_mpfr)
{
    for (size_t i = 0; i < sizeof matmuls / sizeof *matmuls; i++)
        check_matmul(dtypes[_i], &matmuls[i]);
}
END_TEST

START_TEST(matmul_magnitude_sums_absolute_products)
{
    plugin_case c;
    assay_wide w;

    plugin_case_init(&c, ASSAY_OP_matmul, ASSAY_F32, "m=1,n=1,k=4,alpha=-2,beta=3", 0);
    for (int i = 0; i < 4; i++) {
        plugin_case_set(&c, 0, i, i % 2 ? -1.0 - i : 1.0 + i); /* 1 -2 3 -4 */
        plugin_case_set(&c, 1, i, 2.0);
    }
    plugin_case_set(&c, 2, 0, -5.0);
    plugin_case_wide(&c, plugin_oracle(ref, ASSAY_OP_matmul), 1, &w);
    ck_assert(w.hi[0] == -2.0 * 2.0 * (1 - 2 + 3 - 4) + 3.0 * -5.0);
    ck_assert(w.magnitude[0] == 2.0 * 20.0 + 15.0);
    plugin_wide_clear(&w);
    plugin_case_clear(&c);
}
END_TEST

/* Every part of the output asked for alone equals the same part of the whole. */
START_TEST(matmul_ranges_agree_with_the_whole)
{
    plugin_case c;
    assay_wide all, part;
    double hi[700], lo[700], bound[700], magnitude[700];

    plugin_case_init(&c, ASSAY_OP_matmul, dtypes[_i], "batch=2,m=23,n=27,k=40", 0);
    plugin_case_fill(&c, 0, 1, 1.0);
    plugin_case_fill(&c, 1, 2, 1.0);
    plugin_case_wide(&c, plugin_oracle(ref, ASSAY_OP_matmul), 1, &all);
    assay_launch launch = {.struct_size = sizeof launch,
                           .operand_count = 3,
                           .problem = &c.problem,
                           .operands = c.operands};
    for (int64_t first = 0; first < c.elements; first += 101) {
        int64_t count = c.elements - first < 700 ? c.elements - first : 700;
        count -= first % 3;
        part = (assay_wide){hi, lo, bound, magnitude, first, count};
        ck_assert_int_eq(plugin_oracle(ref, ASSAY_OP_matmul)->wide(&launch, 1, &part), ASSAY_OK);
        for (int64_t i = 0; i < count; i++) {
            double gap = (hi[i] - all.hi[first + i]) + (lo[i] - all.lo[first + i]);
            ck_assert_msg(fabs(gap) <= bound[i] + all.bound[first + i], "element %ld of %ld",
                          (long)i, (long)first);
        }
    }
    plugin_wide_clear(&all);
    plugin_case_clear(&c);
}
END_TEST

/* 1 + 2^-24 + 2^-80: a tie in a double's leading 24 bits, broken by its low part alone. */
START_TEST(matmul_f32_rounds_once)
{
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_matmul, ASSAY_F32, "m=2,n=1,k=3", 0);
    for (int i = 0; i < 3; i++) {
        double x = i == 0 ? 1.0 : i == 1 ? 0x1p-12 : 0x1p-40;
        plugin_case_set(&c, 0, i, x);
        plugin_case_set(&c, 0, 3 + i, i == 2 ? -x : x);
        plugin_case_set(&c, 1, i, x);
    }
    ck_assert_int_eq(plugin_case_run(&c, kernel(ASSAY_OP_matmul, ASSAY_F32), NULL), ASSAY_OK);
    ck_assert_double_eq(plugin_case_get(&c, 2, 0), 1.0 + 0x1p-23);
    ck_assert_double_eq(plugin_case_get(&c, 2, 1), 1.0);
    plugin_case_clear(&c);
}
END_TEST

START_TEST(matmul_f64_survives_overflow_on_the_way)
{
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_matmul, ASSAY_F64, "m=8,n=8,k=3", 0);
    for (int i = 0; i < 8; i++) {
        plugin_case_set(&c, 0, 3 * i, 1e200);
        plugin_case_set(&c, 0, 3 * i + 1, 1e200);
        plugin_case_set(&c, 0, 3 * i + 2, 1.0);
        plugin_case_set(&c, 1, i, 1e200);
        plugin_case_set(&c, 1, 8 + i, -1e200);
        plugin_case_set(&c, 1, 16 + i, 3.0);
    }
    ck_assert_int_eq(plugin_case_run(&c, kernel(ASSAY_OP_matmul, ASSAY_F64), NULL), ASSAY_OK);
    ck_assert_double_eq(plugin_case_get(&c, 2, 63), 3.0);
    plugin_case_clear(&c);
}
END_TEST

START_TEST(matmul_nan_and_infinity_propagate)
{
    assay_dtype t = dtypes[_i];
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_matmul, t, "m=9,n=9,k=5", 0);
    for (int i = 0; i < 45; i++) {
        plugin_case_set(&c, 0, i, 1.0);
        plugin_case_set(&c, 1, i, 1.0);
    }
    plugin_case_set(&c, 0, 0, NAN);      /* row 0 */
    plugin_case_set(&c, 0, 5, INFINITY); /* row 1 */
    plugin_case_set(&c, 1, 3, 0.0);      /* inf * 0 in column 3 */
    ck_assert_int_eq(plugin_case_run(&c, kernel(ASSAY_OP_matmul, t), NULL), ASSAY_OK);
    for (int j = 0; j < 9; j++) {
        ck_assert(isnan(plugin_case_get(&c, 2, j)));
        if (j == 3)
            ck_assert(isnan(plugin_case_get(&c, 2, 9 + j)));
        else
            ck_assert(plugin_case_get(&c, 2, 9 + j) == INFINITY);
        ck_assert(plugin_case_get(&c, 2, 18 + j) == (j == 3 ? 4.0 : 5.0));
    }
    plugin_case_clear(&c);
}
END_TEST

/* ---- softmax --------------------------------------------------------------------------------- */

static void exact_softmax(const plugin_case *c, int64_t row, int64_t cols, int64_t j, mpfr_t y)
{
    double max = -INFINITY;
    mpfr_t sum, e;

    for (int64_t i = 0; i < cols; i++)
        max = fmax(max, plugin_case_get(c, 0, row * cols + i));
    mpfr_inits2(300, sum, e, (mpfr_ptr)NULL);
    mpfr_set_zero(sum, 1);
    for (int64_t i = 0; i < cols; i++) {
        mpfr_set_d(e, plugin_case_get(c, 0, row * cols + i), MPFR_RNDN);
        mpfr_sub_d(e, e, max, MPFR_RNDN);
        mpfr_exp(e, e, MPFR_RNDN);
        mpfr_add(sum, sum, e, MPFR_RNDN);
        if (i == j)
            mpfr_set(y, e, MPFR_RNDN);
    }
    mpfr_div(y, y, sum, MPFR_RNDN);
    mpfr_clears(sum, e, (mpfr_ptr)NULL);
}

START_TEST(softmax_matches_mpfr)
{
    assay_dtype t = dtypes[_i];
    plugin_case c;
    assay_wide w;
    mpfr_t y;

    plugin_case_init(&c, ASSAY_OP_softmax_last_dim, t, "rows=6,cols=37", 0);
    plugin_case_fill(&c, 0, 11, 1.0);
    for (int j = 0; j < 37; j++) {
        plugin_case_set(&c, 0, 37 + j, j % 2 ? 88.0 + j % 3 : -80.0); /* spread */
        plugin_case_set(&c, 0, 74 + j, 2.0);                          /* equal */
        plugin_case_set(&c, 0, 111 + j, -30.0 * j);                   /* long tail */
    }
    plugin_case_set(&c, 0, 148, -INFINITY);
    plugin_case_wide(&c, plugin_oracle(ref, ASSAY_OP_softmax_last_dim), 2, &w);
    ck_assert_int_eq(plugin_case_run(&c, kernel(ASSAY_OP_softmax_last_dim, t), NULL), ASSAY_OK);
    mpfr_init2(y, 300);
    for (int64_t i = 0; i < 6 * 37; i++) {
        exact_softmax(&c, i / 37, 37, i % 37, y);
        check_wide(y, &w, i, "softmax");
        double got = plugin_case_get(&c, 1, i), want = nearest(t, y);
        ck_assert_msg(same(got, want), "%s %ld: %a, not %a", assay_dtype_name(t), (long)i, got,
                      want);
    }
    mpfr_clear(y);
    plugin_wide_clear(&w);
    plugin_case_clear(&c);
}
END_TEST

START_TEST(softmax_special_rows_are_nan)
{
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_softmax_last_dim, dtypes[_i], "rows=4,cols=3", 0);
    for (int i = 0; i < 12; i++)
        plugin_case_set(&c, 0, i, i < 3 ? -INFINITY : 1.0);
    plugin_case_set(&c, 0, 4, NAN);
    plugin_case_set(&c, 0, 8, INFINITY);
    ck_assert_int_eq(plugin_case_run(&c, kernel(ASSAY_OP_softmax_last_dim, dtypes[_i]), NULL),
                     ASSAY_OK);
    for (int i = 0; i < 9; i++)
        ck_assert_msg(isnan(plugin_case_get(&c, 1, i)), "element %d", i);
    for (int i = 9; i < 12; i++)
        ck_assert(fabs(plugin_case_get(&c, 1, i) - 1.0 / 3.0) < 2e-3);
    plugin_case_clear(&c);
}
END_TEST

/* ---- manifest and slots ---------------------------------------------------------------------- */

START_TEST(manifest_is_never_chosen_implicitly)
{
    ck_assert_uint_eq(ref->explicit_only, 1);
    for (int op = 0; op < ASSAY_OP_COUNT; op++) {
        size_t rows = 0;
        for (size_t i = 0; i < ref->kernel_count; i++)
            rows += (int)ref->kernels[i].op == op;
        ck_assert_msg(rows >= 4, "%s has %zu rows", assay_op_get((assay_op_id)op)->name, rows);
    }
    ck_assert_uint_eq(ref->oracle_count, ASSAY_OP_COUNT);
    for (size_t i = 0; i < ref->kernel_count; i++)
        for (const char *const *s = ref->kernels[i].sources; *s != NULL; s++) {
            bool known = false;
            for (size_t j = 0; j < ref->source_count; j++)
                known = known || strcmp(ref->sources[j].path, *s) == 0;
            ck_assert_msg(known, "%s has no hash", *s);
        }
}
END_TEST

START_TEST(manifest_empty_problems_succeed)
{
    for (size_t i = 0; i < ref->kernel_count; i++)
        for (size_t j = 0; j < op_case_count(ref->kernels[i].op); j++) {
            const assay_kernel_desc *k = &ref->kernels[i];
            char text[OP_CASE_TEXT];
            plugin_case c;
            op_case_text(k->op, j, text);
            if (strstr(text, "=0") == NULL)
                continue;
            plugin_case_of(&c, k, text, 0);
            ck_assert_msg(plugin_case_run(&c, k, NULL) == ASSAY_OK, "%s %s", k->name, text);
            plugin_case_clear(&c);
        }
}
END_TEST

START_TEST(manifest_library_identity_names_the_file)
{
    char text[512];
    assay_instance *instance;

    ck_assert_int_eq(ref->backend->open(NULL, &instance), ASSAY_OK);
    ck_assert_int_eq(ref->backend->library_identity(instance, "libmvec.so.1", text, sizeof text),
                     ASSAY_OK);
    ck_assert_msg(strstr(text, "soname=libmvec.so.1\n") != NULL && strstr(text, "unknown") == NULL,
                  "%s", text);
    ck_assert_int_eq(ref->backend->library_identity(instance, "libnothing", text, sizeof text),
                     ASSAY_UNAVAILABLE);
    ref->backend->close(instance);
}
END_TEST

int main(void)
{
    const struct {
        const char *name;
        const TTest *test;
        int loops;
    } rows[] = {{"exp", exp_matches_mpfr, 4},
                {"exp", exp_all_half_inputs_round_correctly, 2},
                {"add", add_is_exact_and_rounds_once, 4},
                {"add", add_takes_any_strides, 1},
                {"matmul", matmul_matches_mpfr, 4},
                {"matmul", matmul_magnitude_sums_absolute_products, 1},
                {"matmul", matmul_ranges_agree_with_the_whole, 4},
                {"matmul", matmul_f32_rounds_once, 1},
                {"matmul", matmul_f64_survives_overflow_on_the_way, 1},
                {"matmul", matmul_nan_and_infinity_propagate, 4},
                {"softmax", softmax_matches_mpfr, 4},
                {"softmax", softmax_special_rows_are_nan, 4},
                {"manifest", manifest_is_never_chosen_implicitly, 1},
                {"manifest", manifest_empty_problems_succeed, 1},
                {"manifest", manifest_library_identity_names_the_file, 1}};
    Suite *suite = suite_create("ref");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TCase *tcase = tcase_create(rows[i].name);
        tcase_set_timeout(tcase, 60);
        tcase_add_unchecked_fixture(tcase, setup, NULL);
        tcase_add_loop_test(tcase, rows[i].test, 0, rows[i].loops);
        suite_add_tcase(suite, tcase);
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
