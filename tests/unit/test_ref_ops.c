/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_ref_ops.c -- references of the catalogue's ops against hand-made values and MPFR.
 */
#include <check.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/accept.h"
#include "calibrate/inputs.h"
#include "sweep/acceptance.h"
#include "tests/support/op_cases.h"
#include "tests/support/plugin_case.h"

static const assay_manifest *ref;

static void setup(void)
{
    ref = plugin_load("ref");
}

static const assay_dtype floats[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16};
#define FLOATS 4

/* ---- hand-made values ------------------------------------------------------------------------ */

#define INF INFINITY

static const struct hand {
    assay_op_id op;
    double a, b, y;
} hand[] = {
    {ASSAY_OP_mul, 3, -0.5, -1.5},     {ASSAY_OP_mul, 0, -2, -0.0},
    {ASSAY_OP_mul, INF, 0, NAN},       {ASSAY_OP_mul, -INF, 2, -INF},
    {ASSAY_OP_sub, 1, 3, -2},          {ASSAY_OP_sub, 2, 2, 0.0},
    {ASSAY_OP_sub, -0.0, 0, -0.0},     {ASSAY_OP_sub, INF, INF, NAN},
    {ASSAY_OP_div, 3, 2, 1.5},         {ASSAY_OP_div, -1, 0, -INF},
    {ASSAY_OP_div, 0, 0, NAN},         {ASSAY_OP_div, 1, -INF, -0.0},
    {ASSAY_OP_div, -0.0, 5, -0.0},     {ASSAY_OP_maximum, 1, 2, 2},
    {ASSAY_OP_maximum, -0.0, 0.0, 0},  {ASSAY_OP_maximum, 0.0, -0.0, 0},
    {ASSAY_OP_maximum, NAN, 7, NAN},   {ASSAY_OP_maximum, 7, NAN, NAN},
    {ASSAY_OP_maximum, -INF, -3, -3},  {ASSAY_OP_minimum, 1, 2, 1},
    {ASSAY_OP_minimum, -0.0, 0, -0.0}, {ASSAY_OP_minimum, 0, -0.0, -0.0},
    {ASSAY_OP_relu, -3, 0, 0},         {ASSAY_OP_relu, 2.5, 0, 2.5},
    {ASSAY_OP_relu, -0.0, 0, 0},       {ASSAY_OP_relu, NAN, 0, NAN},
    {ASSAY_OP_tanh, -0.0, 0, -0.0},    {ASSAY_OP_tanh, -INF, 0, -1},
    {ASSAY_OP_tanh, NAN, 0, NAN},      {ASSAY_OP_sigmoid, 0, 0, 0.5},
    {ASSAY_OP_sigmoid, INF, 0, 1},     {ASSAY_OP_sigmoid, -INF, 0, 0},
    {ASSAY_OP_silu, 0, 0, 0},          {ASSAY_OP_silu, INF, 0, INF},
    {ASSAY_OP_silu, -INF, 0, NAN},     {ASSAY_OP_gelu, -0.0, 0, -0.0},
    {ASSAY_OP_gelu, 64, 0, 64},        {ASSAY_OP_gelu, -INF, 0, NAN},
    {ASSAY_OP_gelu_erf, 64, 0, 64},    {ASSAY_OP_gelu_erf, -INF, 0, NAN},
    {ASSAY_OP_gelu_erf, INF, 0, INF},  {ASSAY_OP_log, 1, 0, 0},
    {ASSAY_OP_log, 0, 0, -INF},        {ASSAY_OP_log, -1, 0, NAN},
    {ASSAY_OP_log, INF, 0, INF},       {ASSAY_OP_rsqrt, 4, 0, 0.5},
    {ASSAY_OP_rsqrt, -0.0, 0, -INF},   {ASSAY_OP_rsqrt, INF, 0, 0},
    {ASSAY_OP_rsqrt, -2, 0, NAN},      {ASSAY_OP_minimum, NAN, 7, NAN},
    {ASSAY_OP_minimum, 7, NAN, NAN},   {ASSAY_OP_abs, -3, 0, 3},
    {ASSAY_OP_abs, 2.5, 0, 2.5},       {ASSAY_OP_abs, -0.0, 0, 0},
    {ASSAY_OP_abs, -INF, 0, INF},      {ASSAY_OP_abs, NAN, 0, NAN},
    {ASSAY_OP_neg, 3, 0, -3},          {ASSAY_OP_neg, -2.5, 0, 2.5},
    {ASSAY_OP_neg, 0, 0, -0.0},        {ASSAY_OP_neg, -0.0, 0, 0},
    {ASSAY_OP_neg, INF, 0, -INF},      {ASSAY_OP_neg, -INF, 0, INF},
    {ASSAY_OP_neg, NAN, 0, NAN},       {ASSAY_OP_sqrt, 2.25, 0, 1.5},
    {ASSAY_OP_sqrt, 0, 0, 0},          {ASSAY_OP_sqrt, -0.0, 0, -0.0},
    {ASSAY_OP_sqrt, INF, 0, INF},      {ASSAY_OP_sqrt, -1, 0, NAN},
    {ASSAY_OP_sqrt, -INF, 0, NAN},     {ASSAY_OP_sqrt, NAN, 0, NAN},
};

static bool same(double got, double want)
{
    return isnan(want) ? isnan(got) : got >= want && got <= want && signbit(got) == signbit(want);
}

START_TEST(reference_gives_values_made_by_hand)
{
    for (size_t i = 0; i < sizeof hand / sizeof *hand; i++) {
        const struct hand *h = &hand[i];
        plugin_case c;
        plugin_case_init(&c, h->op, floats[_i], "n=1", 0);
        plugin_case_set(&c, 0, 0, h->a);
        if (c.count == 3)
            plugin_case_set(&c, 1, 0, h->b);
        ck_assert_int_eq(plugin_case_run(&c, plugin_kernel(ref, h->op, floats[_i], NULL), NULL),
                         ASSAY_OK);
        double y = plugin_case_get(&c, c.count - 1, 0);
        ck_assert_msg(same(y, h->y), "%s(%g, %g) is %g, not %g", assay_op_get(h->op)->name, h->a,
                      h->b, y, h->y);
        plugin_case_clear(&c);
    }
}
END_TEST

/* ---- against MPFR ---------------------------------------------------------------------------- */

#define BITS 600

static int quotient(mpfr_t y, const mpfr_t a, const mpfr_t b)
{
    return mpfr_div(y, a, b, MPFR_RNDN);
}

static int product(mpfr_t y, const mpfr_t a, const mpfr_t b)
{
    return mpfr_mul(y, a, b, MPFR_RNDN);
}

static int difference(mpfr_t y, const mpfr_t a, const mpfr_t b)
{
    return mpfr_sub(y, a, b, MPFR_RNDN);
}

/* Written anew from the definitions, at another precision than the reference's own. */
static int log_of(mpfr_t y, const mpfr_t x, const mpfr_t unused)
{
    (void)unused;
    return mpfr_log(y, x, MPFR_RNDN);
}

static int tanh_of(mpfr_t y, const mpfr_t x, const mpfr_t unused)
{
    (void)unused;
    return mpfr_tanh(y, x, MPFR_RNDN);
}

static int rsqrt_of(mpfr_t y, const mpfr_t x, const mpfr_t unused)
{
    (void)unused;
    if (mpfr_zero_p(x)) /* MPFR gives +inf for -0 */
        return mpfr_ui_div(y, 1, x, MPFR_RNDN);
    return mpfr_rec_sqrt(y, x, MPFR_RNDN);
}

static int sqrt_of(mpfr_t y, const mpfr_t x, const mpfr_t unused)
{
    (void)unused;
    return mpfr_sqrt(y, x, MPFR_RNDN);
}

static int abs_of(mpfr_t y, const mpfr_t x, const mpfr_t unused)
{
    (void)unused;
    return mpfr_abs(y, x, MPFR_RNDN);
}

static int neg_of(mpfr_t y, const mpfr_t x, const mpfr_t unused)
{
    (void)unused;
    return mpfr_neg(y, x, MPFR_RNDN);
}

static int relu_of(mpfr_t y, const mpfr_t x, const mpfr_t unused)
{
    (void)unused;
    if (mpfr_sgn(x) > 0 || mpfr_nan_p(x))
        return mpfr_set(y, x, MPFR_RNDN);
    mpfr_set_zero(y, 1);
    return 0;
}

/* (1 + tanh(x/2)) / 2, f times it. */
static void half_angle(mpfr_t y, const mpfr_t x, const mpfr_t f)
{
    mpfr_div_2ui(y, x, 1, MPFR_RNDN);
    mpfr_tanh(y, y, MPFR_RNDN);
    mpfr_add_ui(y, y, 1, MPFR_RNDN);
    mpfr_div_2ui(y, y, 1, MPFR_RNDN);
    mpfr_mul(y, y, f, MPFR_RNDN);
}

static int sigmoid_of(mpfr_t y, const mpfr_t x, const mpfr_t unused)
{
    (void)unused;
    mpfr_t one;
    mpfr_init2(one, 2);
    mpfr_set_ui(one, 1, MPFR_RNDN);
    half_angle(y, x, one);
    mpfr_clear(one);
    return 0;
}

static int silu_of(mpfr_t y, const mpfr_t x, const mpfr_t unused)
{
    (void)unused;
    half_angle(y, x, x);
    return 0;
}

static int gelu_of(mpfr_t y, const mpfr_t x, const mpfr_t unused)
{
    mpfr_t u, c;

    (void)unused;
    mpfr_inits2(4 * BITS, u, c, NULL);
    mpfr_pow_ui(u, x, 3, MPFR_RNDN);
    mpfr_set_str(c, "0.044715", 10, MPFR_RNDN);
    mpfr_fma(u, u, c, x, MPFR_RNDN);
    mpfr_const_pi(c, MPFR_RNDN);
    mpfr_ui_div(c, 2, c, MPFR_RNDN);
    mpfr_sqrt(c, c, MPFR_RNDN);
    mpfr_mul(u, u, c, MPFR_RNDN);
    mpfr_mul_ui(u, u, 2, MPFR_RNDN);
    half_angle(y, u, x);
    mpfr_clears(u, c, NULL);
    return 0;
}

static int gelu_erf_of(mpfr_t y, const mpfr_t x, const mpfr_t unused)
{
    mpfr_t z;

    (void)unused;
    mpfr_init2(z, 4 * BITS);
    mpfr_set_d(z, 0.5, MPFR_RNDN);
    mpfr_sqrt(z, z, MPFR_RNDN);
    mpfr_mul(z, z, x, MPFR_RNDN);
    mpfr_erf(z, z, MPFR_RNDN);
    mpfr_add_ui(z, z, 1, MPFR_RNDN);
    mpfr_mul(y, z, x, MPFR_RNDN);
    mpfr_div_2ui(y, y, 1, MPFR_RNDN);
    mpfr_clear(z);
    return 0;
}

static const struct function {
    assay_op_id op;
    int (*f)(mpfr_t y, const mpfr_t a, const mpfr_t b);
} functions[] = {{ASSAY_OP_mul, product},          {ASSAY_OP_div, quotient},
                 {ASSAY_OP_sub, difference},       {ASSAY_OP_log, log_of},
                 {ASSAY_OP_tanh, tanh_of},         {ASSAY_OP_rsqrt, rsqrt_of},
                 {ASSAY_OP_relu, relu_of},         {ASSAY_OP_sigmoid, sigmoid_of},
                 {ASSAY_OP_silu, silu_of},         {ASSAY_OP_gelu, gelu_of},
                 {ASSAY_OP_gelu_erf, gelu_erf_of}, {ASSAY_OP_sqrt, sqrt_of},
                 {ASSAY_OP_abs, abs_of},           {ASSAY_OP_neg, neg_of}};
#define FUNCTIONS (sizeof functions / sizeof *functions)

/* hi + lo is within bound of the exact y. */
static void check_bound(const assay_wide *w, int64_t i, mpfr_t y, const char *what)
{
    mpfr_t gap;

    mpfr_init2(gap, 4 * BITS);
    if (!isfinite(w->hi[i]) || !mpfr_number_p(y)) {
        bool over = isinf(w->hi[i]) && mpfr_number_p(y) && mpfr_get_exp(y) >= 1024;
        ck_assert_msg(over || same(w->hi[i], mpfr_get_d(y, MPFR_RNDN)), "%s element %ld: %a", what,
                      (long)i, w->hi[i]);
    } else {
        mpfr_sub_d(gap, y, w->hi[i], MPFR_RNDN);
        mpfr_sub_d(gap, gap, w->lo[i], MPFR_RNDN);
        mpfr_abs(gap, gap, MPFR_RNDN);
        ck_assert_msg(mpfr_cmp_d(gap, w->bound[i] * (1.0 + 0x1p-40)) <= 0,
                      "%s element %ld: %a + %a is off by %g, says %g", what, (long)i, w->hi[i],
                      w->lo[i], mpfr_get_d(gap, MPFR_RNDN), w->bound[i]);
    }
    mpfr_clear(gap);
}

/* Values are judged in the plain build; what sanitizers look for shows in a few. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define ELEMENTS 60
#else
#define ELEMENTS 500
#endif

START_TEST(reference_is_within_its_bound_of_mpfr)
{
    const struct function *row = &functions[_i % (int)FUNCTIONS];
    assay_dtype t = floats[_i / (int)FUNCTIONS];
    assay_stratum strata[ASSAY_STRATUM_COUNT];
    size_t count = assay__strata_preferred(row->op, ASSAY_STRATUM_COUNT, strata);
    char n[32];
    mpfr_t a, b, y;

    snprintf(n, sizeof n, "n=%d", ELEMENTS);
    mpfr_inits2(BITS, a, b, NULL);
    mpfr_init2(y, 4 * BITS);
    for (size_t s = 0; s < count; s++) {
        plugin_case c;
        assay_wide w;
        plugin_case_init(&c, row->op, t, n, 0);
        for (uint32_t i = 0; i + 1 < c.count; i++)
            ck_assert_int_eq(assay__inputs_fill(&c.problem, strata[s], 3, i, 0, ELEMENTS,
                                                assay_tensor_data(&c.operands[i])),
                             ASSAY_OK);
        plugin_case_wide(&c, plugin_oracle(ref, row->op), 1, &w);
        for (int64_t i = 0; i < c.elements; i++) {
            mpfr_set_d(a, plugin_case_get(&c, 0, i), MPFR_RNDN);
            mpfr_set_d(b, plugin_case_get(&c, c.count - 2, i), MPFR_RNDN);
            row->f(y, a, b);
            check_bound(&w, i, y, assay_op_get(row->op)->name);
        }
        plugin_wide_clear(&w);
        plugin_case_clear(&c);
    }
    mpfr_clears(a, b, y, NULL);
}
END_TEST

/* ---- rows and reductions against MPFR -------------------------------------------------------- */

#define ROW_BITS 2400
#define LENGTH   37

/* One line of x as it lies in the tensor: first, first + step, ... */
typedef struct line {
    const plugin_case *c;
    int64_t first, step;
} line;

static double at(const line *l, int64_t j)
{
    return plugin_case_get(l->c, 0, l->first + j * l->step);
}

static bool is_finite_line(const line *l)
{
    bool finite = true;

    for (int64_t j = 0; j < LENGTH; j++)
        finite = finite && isfinite(at(l, j));
    return finite;
}

static void mean_of(mpfr_t y, const line *l)
{
    mpfr_set_zero(y, 1);
    for (int64_t j = 0; j < LENGTH; j++)
        mpfr_add_d(y, y, at(l, j), MPFR_RNDN);
    mpfr_div_ui(y, y, LENGTH, MPFR_RNDN);
}

/* (x_i - shift) / sqrt(mean of (x - shift)^2 + eps) */
static void normalized(mpfr_t y, const line *l, const mpfr_t shift, int64_t i)
{
    mpfr_t d, sum;

    mpfr_inits2(ROW_BITS, d, sum, NULL);
    mpfr_set_zero(sum, 1);
    for (int64_t j = 0; j < LENGTH; j++) {
        mpfr_d_sub(d, at(l, j), shift, MPFR_RNDN);
        mpfr_fma(sum, d, d, sum, MPFR_RNDN);
    }
    mpfr_div_ui(sum, sum, LENGTH, MPFR_RNDN);
    mpfr_add_d(sum, sum, assay_problem_real(&l->c->problem, "eps"), MPFR_RNDN);
    mpfr_sqrt(sum, sum, MPFR_RNDN);
    mpfr_d_sub(d, at(l, i), shift, MPFR_RNDN);
    mpfr_div(y, d, sum, MPFR_RNDN);
    mpfr_clears(d, sum, NULL);
}

static void rms_norm(mpfr_t y, const line *l, int64_t i)
{
    mpfr_t zero;

    mpfr_init2(zero, 2);
    mpfr_set_zero(zero, 1);
    normalized(y, l, zero, i);
    mpfr_clear(zero);
}

static void layer_norm(mpfr_t y, const line *l, int64_t i)
{
    mpfr_t mean;

    mpfr_init2(mean, ROW_BITS);
    mean_of(mean, l);
    normalized(y, l, mean, i);
    mpfr_clear(mean);
}

/* x_i - ln(sum of e^x): without the maximum, which MPFR's exponents can do without. */
static void log_softmax(mpfr_t y, const line *l, int64_t i)
{
    mpfr_t e;

    mpfr_init2(e, ROW_BITS);
    mpfr_set_zero(y, 1);
    for (int64_t j = 0; j < LENGTH; j++) {
        mpfr_set_d(e, at(l, j), MPFR_RNDN);
        mpfr_exp(e, e, MPFR_RNDN);
        mpfr_add(y, y, e, MPFR_RNDN);
    }
    mpfr_log(y, y, MPFR_RNDN);
    mpfr_d_sub(y, at(l, i), y, MPFR_RNDN);
    mpfr_clear(e);
}

static void mean_reduce(mpfr_t y, const line *l, int64_t i)
{
    (void)i;
    mean_of(y, l);
}

static void sum_reduce(mpfr_t y, const line *l, int64_t i)
{
    (void)i;
    mean_of(y, l);
    mpfr_mul_ui(y, y, LENGTH, MPFR_RNDN);
}

static const struct row_function {
    assay_op_id op;
    const char *params;
    int64_t inner; /* of a reduction; 0: y has the shape of x */
    void (*f)(mpfr_t y, const line *l, int64_t i);
} row_functions[] = {
    {ASSAY_OP_rms_norm_last_dim, "rows=6,cols=37,eps=1e-3", 0, rms_norm},
    {ASSAY_OP_layer_norm_last_dim, "rows=6,cols=37", 0, layer_norm},
    {ASSAY_OP_log_softmax_last_dim, "rows=6,cols=37", 0, log_softmax},
    {ASSAY_OP_sum_reduce, "outer=3,axis=37,inner=5", 5, sum_reduce},
    {ASSAY_OP_mean_reduce, "outer=3,axis=37,inner=5", 5, mean_reduce},
};
#define ROW_FUNCTIONS (sizeof row_functions / sizeof *row_functions)

static void check_rows(const plugin_case *c, const struct row_function *row, const assay_wide *w)
{
    mpfr_t y;

    mpfr_init2(y, ROW_BITS);
    for (int64_t i = 0; i < c->elements; i++) {
        line l = {c, i / LENGTH * LENGTH, 1};
        if (row->inner > 0)
            l = (line){c, i / row->inner * row->inner * LENGTH + i % row->inner, row->inner};
        if (!is_finite_line(&l)) /* special values: test_kernels, by hand below */
            continue;
        row->f(y, &l, i % LENGTH);
        check_bound(w, i, y, assay_op_get(row->op)->name);
    }
    mpfr_clear(y);
}

START_TEST(rows_are_within_their_bound_of_mpfr)
{
    const struct row_function *row = &row_functions[_i % (int)ROW_FUNCTIONS];
    assay_dtype t = floats[_i / (int)ROW_FUNCTIONS];
    assay_stratum strata[ASSAY_STRATUM_COUNT];
    size_t count = assay__strata_preferred(row->op, ASSAY_STRATUM_COUNT, strata);

    for (size_t s = 0; s < count; s++) {
        plugin_case c;
        assay_wide w;
        plugin_case_init(&c, row->op, t, row->params, 0);
        int64_t n = assay_problem_operand_elements(&c.problem, 0);
        ck_assert_int_eq(assay__inputs_fill(&c.problem, strata[s], 3, 0, 0, (uint64_t)n,
                                            assay_tensor_data(&c.operands[0])),
                         ASSAY_OK);
        plugin_case_wide(&c, plugin_oracle(ref, row->op), 1, &w);
        check_rows(&c, row, &w);
        plugin_wide_clear(&w);
        plugin_case_clear(&c);
    }
}
END_TEST

/* One line of three numbers and the first result. */
static const struct hand_row {
    assay_op_id op;
    const char *params;
    double x[3], y;
} hand_rows[] = {
    {ASSAY_OP_sum_reduce, "outer=1,axis=3,inner=1", {1, 2, -5}, -2},
    {ASSAY_OP_sum_reduce, "outer=1,axis=0,inner=1", {0}, 0},
    {ASSAY_OP_sum_reduce, "outer=1,axis=3,inner=1", {INF, 2, -INF}, NAN},
    {ASSAY_OP_sum_reduce, "outer=1,axis=3,inner=1", {INF, 2, 3}, INF},
    {ASSAY_OP_mean_reduce, "outer=1,axis=3,inner=1", {1, 2, 6}, 3},
    {ASSAY_OP_mean_reduce, "outer=1,axis=0,inner=1", {0}, NAN},
    {ASSAY_OP_max_reduce, "outer=1,axis=3,inner=1", {-3, -INF, -2}, -2},
    {ASSAY_OP_max_reduce, "outer=1,axis=3,inner=1", {-0.0, 0, -0.0}, 0},
    {ASSAY_OP_max_reduce, "outer=1,axis=3,inner=1", {9, NAN, 3}, NAN},
    {ASSAY_OP_max_reduce, "outer=1,axis=3,inner=1", {NAN, 9, 3}, NAN},
    {ASSAY_OP_min_reduce, "outer=1,axis=3,inner=1", {3, INF, 2}, 2},
    {ASSAY_OP_min_reduce, "outer=1,axis=3,inner=1", {0, 0, -0.0}, -0.0},
    {ASSAY_OP_min_reduce, "outer=1,axis=3,inner=1", {3, 2, NAN}, NAN},
    {ASSAY_OP_rms_norm_last_dim, "rows=1,cols=3,eps=0", {2, 2, -2}, 1},
    {ASSAY_OP_rms_norm_last_dim, "rows=1,cols=3,eps=0", {0, 0, 0}, NAN},
    {ASSAY_OP_rms_norm_last_dim, "rows=1,cols=3", {0, 0, 0}, 0},
    {ASSAY_OP_rms_norm_last_dim, "rows=1,cols=3", {-3, INF, 1}, -0.0},
    {ASSAY_OP_rms_norm_last_dim, "rows=1,cols=3", {-INF, 2, 1}, NAN},
    {ASSAY_OP_layer_norm_last_dim, "rows=1,cols=3", {5, 5, 5}, 0},
    {ASSAY_OP_layer_norm_last_dim, "rows=1,cols=3,eps=0", {5, 5, 5}, NAN},
    {ASSAY_OP_layer_norm_last_dim, "rows=1,cols=3", {INF, 5, 5}, NAN},
    {ASSAY_OP_log_softmax_last_dim, "rows=1,cols=3", {-INF, -INF, -INF}, NAN},
    {ASSAY_OP_log_softmax_last_dim, "rows=1,cols=3", {-INF, 0, -INF}, -INF},
    {ASSAY_OP_log_softmax_last_dim, "rows=1,cols=3", {4, -INF, -INF}, 0},
    {ASSAY_OP_log_softmax_last_dim, "rows=1,cols=3", {4, INF, 2}, NAN},
};

START_TEST(rows_give_values_made_by_hand)
{
    for (size_t i = 0; i < sizeof hand_rows / sizeof *hand_rows; i++) {
        const struct hand_row *h = &hand_rows[i];
        plugin_case c;
        plugin_case_init(&c, h->op, floats[_i], h->params, 0);
        for (int64_t j = 0; j < assay_problem_operand_elements(&c.problem, 0); j++)
            plugin_case_set(&c, 0, j, h->x[j]);
        ck_assert_int_eq(plugin_case_run(&c, plugin_kernel(ref, h->op, floats[_i], NULL), NULL),
                         ASSAY_OK);
        double y = plugin_case_get(&c, 1, 0);
        ck_assert_msg(same(y, h->y), "%s %s (%g, ...) is %g, not %g", assay_op_get(h->op)->name,
                      h->params, h->x[0], y, h->y);
        plugin_case_clear(&c);
    }
}
END_TEST

START_TEST(extremes_of_nothing_are_invalid)
{
    static const assay_op_id ops[] = {ASSAY_OP_max_reduce, ASSAY_OP_min_reduce};
    assay_problem p;

    ck_assert_int_eq(assay_problem_init(ops[_i], ASSAY_F32, &p), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "outer", 2), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "axis", 0), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "inner", 3), ASSAY_OK);
    ck_assert_int_eq(assay_problem_check(&p), ASSAY_INVALID);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "axis must be positive"));
    ck_assert_int_eq(assay_problem_set_int(&p, "outer", 0), ASSAY_OK);
    ck_assert_int_eq(assay_problem_check(&p), ASSAY_OK);
}
END_TEST

/* ---- acceptance ------------------------------------------------------------------------------ */

/* A rule that lets a wrong element pass proves nothing: the neighbour of an exact result, and the
 * other zero, must fail where the catalogue says EXACT. */
START_TEST(exact_ops_admit_no_neighbour)
{
    for (int op = 0; op < ASSAY_OP_COUNT; op++) {
        assay_problem p = op_case_example((assay_op_id)op, floats[_i]);
        assay_accept_spec spec;
        ck_assert_int_eq(assay__acceptance_of(&p, &spec), ASSAY_OK);
        const assay_op_info *info = assay_op_get((assay_op_id)op);
        if (info->bound_rule != ASSAY_BOUND_EXACT)
            continue;
        assay_accept_element e = {.y = 1.0, .hi = 1.0};
        ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_PASS);
        e.y = 1.0 + 2.0 * spec.format.unit_roundoff;
        ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_FAIL);
        e.y = -0.0;
        e.hi = 0.0;
        ck_assert_int_eq(assay__accept(&e, &spec),
                         info->bound_fixed > 0.0 ? ASSAY_ACCEPT_FAIL : ASSAY_ACCEPT_PASS);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ref_ops");
    TCase *tcase = tcase_create("ref_ops");

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, reference_gives_values_made_by_hand, 0, FLOATS);
    tcase_add_loop_test(tcase, reference_is_within_its_bound_of_mpfr, 0, FLOATS * (int)FUNCTIONS);
    tcase_add_loop_test(tcase, rows_are_within_their_bound_of_mpfr, 0, FLOATS * (int)ROW_FUNCTIONS);
    tcase_add_loop_test(tcase, rows_give_values_made_by_hand, 0, FLOATS);
    tcase_add_loop_test(tcase, extremes_of_nothing_are_invalid, 0, 2);
    tcase_add_loop_test(tcase, exact_ops_admit_no_neighbour, 0, FLOATS);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
