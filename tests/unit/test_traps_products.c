/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_traps_products.c -- traps 1, 2 and 4 of docs/testing.md: products, batches and
 * gradients of convolutions, by every kernel of every plug-in.
 *
 * Integers so small that every sum is exact in every dtype: results are the same bit for bit,
 * whatever the order. */
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

/* -2 to 2, zeros among them. */
static double small(uint64_t *seed)
{
    return (double)(plugin_random(seed) % 5) - 2.0;
}

static void fill_small(plugin_case *c, uint32_t operand, uint64_t seed)
{
    for (int64_t i = 0; i < assay_problem_operand_elements(&c->problem, operand); i++)
        every_kernel_set(&c->operands[operand], i, small(&seed));
}

static double *room(const plugin_case *c)
{
    double *out = calloc((size_t)c->elements + 1, sizeof *out);

    ck_assert_ptr_nonnull(out);
    return out;
}

/* ---- trap 1: transposes, tails, leading dimensions, empty sums, an old C that is no number -----
 */

typedef struct matrices {
    int64_t batch, m, n, k;
    bool ta, tb;
    double alpha, beta;
} matrices;

static matrices matrices_of(const assay_problem *p)
{
    return (matrices){.batch = assay_problem_int(p, "batch"),
                      .m = assay_problem_int(p, "m"),
                      .n = assay_problem_int(p, "n"),
                      .k = assay_problem_int(p, "k"),
                      .ta = assay_problem_int(p, "trans_a") != 0,
                      .tb = assay_problem_int(p, "trans_b") != 0,
                      .alpha = assay_problem_real(p, "alpha"),
                      .beta = assay_problem_real(p, "beta")};
}

static double a_at(const plugin_case *c, const matrices *g, int64_t b, int64_t i, int64_t p)
{
    return every_kernel_get(&c->operands[0],
                            g->ta ? (b * g->k + p) * g->m + i : (b * g->m + i) * g->k + p);
}

static double b_at(const plugin_case *c, const matrices *g, int64_t b, int64_t p, int64_t j)
{
    return every_kernel_get(&c->operands[1],
                            g->tb ? (b * g->n + j) * g->k + p : (b * g->k + p) * g->n + j);
}

static bool is_zero(double x)
{
    return !(x < 0.0) && !(x > 0.0);
}

/* alpha op(A) op(B) + beta C, C not looked at when beta is 0. */
static double *product_by_definition(const plugin_case *c)
{
    const matrices g = matrices_of(&c->problem);
    double *out = room(c);

    for (int64_t e = 0; e < c->elements; e++) {
        int64_t b = e / (g.m * g.n), i = e / g.n % g.m, j = e % g.n;
        double sum = 0.0;
        for (int64_t p = 0; p < g.k; p++)
            sum += a_at(c, &g, b, i, p) * b_at(c, &g, b, p, j);
        out[e] =
            g.alpha * sum + (is_zero(g.beta) ? 0.0 : g.beta * every_kernel_get(&c->operands[2], e));
    }
    return out;
}

static void check_gaps(plugin_case *c, const assay_kernel_desc *k, void *cookie)
{
    (void)cookie;
    ck_assert_msg(every_kernel_gaps_untouched(c, c->count - 1), "%s wrote between rows", k->name);
}

/* One product with contiguous operands, then with rows and planes apart, NaN between them. */
static void check_product(assay_dtype t, const char *params)
{
    for (int64_t gap = 0; gap <= 3; gap += 3) {
        plugin_case c;
        plugin_case_init(&c, ASSAY_OP_matmul, t, params, 0);
        bool old = !is_zero(matrices_of(&c.problem).beta);
        fill_small(&c, 0, 1);
        fill_small(&c, 1, 2);
        plugin_case_poison(&c);
        for (int64_t e = 0; old && e < c.elements; e++)
            plugin_case_set(&c, 2, e, (double)(2 * (e % 5) - 4));
        for (uint32_t i = 0; gap > 0 && i < 3; i++)
            every_kernel_spread(&c, i, gap);
        double *want = product_by_definition(&c);
        every_kernel_gives(&c, want, params);
        if (gap > 0)
            ck_assert_int_ge(every_kernel(&c, check_gaps, NULL), 2);
        free(want);
        plugin_case_clear(&c);
    }
}

static const char *const sizes[] = {"m=13,n=35,k=17", "m=16,n=32,k=8",        "m=33,n=7,k=31",
                                    "m=1,n=67,k=5",   "batch=2,m=9,n=18,k=3", "m=50,n=1,k=9"};
#define SIZES ((int)(sizeof sizes / sizeof *sizes))

START_TEST(trap1_nine_transposes_with_tails_and_leading_dimensions)
{
    static const char letters[] = "ntc", *const scales[] = {"", "beta=1", "alpha=-1,beta=-0.5"};
    char params[128];

    for (int pair = 0; pair < 9; pair++)
        for (size_t s = 0; s < 3; s++) {
            snprintf(params, sizeof params, "%s,trans_a=%c,trans_b=%c%s%s", sizes[_i / FLOATS],
                     letters[pair / 3], letters[pair % 3], s > 0 ? "," : "", scales[s]);
            check_product(floats[_i % FLOATS], params);
        }
}
END_TEST

/* Every extent 0 or 1; a sum of nothing still scales C, and hides a C of NaN when beta is 0. */
START_TEST(trap1_extents_of_zero_and_one)
{
    static const char *const betas[] = {"", ",beta=1", ",beta=0.5", ",beta=-2"};
    char params[96];

    for (int e = 0; e < 8; e++)
        for (size_t b = 0; b < 4; b++) {
            snprintf(params, sizeof params, "m=%d,n=%d,k=%d%s", e & 1, e >> 1 & 1, e >> 2,
                     betas[b]);
            check_product(floats[_i], params);
            snprintf(params, sizeof params, "m=%d,n=%d,k=0%s", 5 * (e & 1) + 2, 20 * (e >> 1) + 1,
                     betas[b]);
            check_product(floats[_i], params);
        }
}
END_TEST

/* The bias is the sum when there is nothing to sum; y holds NaN before. */
START_TEST(trap1_fused_linear)
{
    static const char *const shapes[] = {"m=13,n=35,k=17", "m=1,n=1,k=1", "m=0,n=3,k=2",
                                         "m=3,n=0,k=2",    "m=5,n=7,k=0", "batch=3,m=7,n=33,k=9"};

    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        plugin_case c;
        plugin_case_init(&c, ASSAY_OP_fused_linear, floats[_i], shapes[s], 0);
        for (uint32_t i = 0; i < 3; i++)
            fill_small(&c, i, 5 + i);
        plugin_case_poison(&c);
        const int64_t *d = c.operands[3].dims, k = c.operands[0].dims[2];
        double *want = room(&c);
        for (int64_t e = 0; e < c.elements; e++) {
            int64_t b = e / (d[1] * d[2]), i = e / d[2] % d[1], j = e % d[2];
            want[e] = plugin_case_get(&c, 2, j);
            for (int64_t p = 0; p < k; p++)
                want[e] += plugin_case_get(&c, 0, (b * d[1] + i) * k + p) *
                           plugin_case_get(&c, 1, (b * k + p) * d[2] + j);
        }
        every_kernel_gives(&c, want, shapes[s]);
        free(want);
        plugin_case_clear(&c);
    }
}
END_TEST

/* ---- trap 2: batches --------------------------------------------------------------------------
 */

/* Operands at interior pointers of one block, planes apart by a stride in elements of their type:
 * problem b of the batch meets its own matrices, and no other writes to its place. */
START_TEST(trap2_each_problem_of_a_batch_is_its_own)
{
    static const char *const shapes[] = {"batch=5,m=6,n=9,k=7", "batch=3,m=1,n=16,k=4,beta=1",
                                         "batch=4,m=8,n=8,k=1,trans_a=t,trans_b=t",
                                         "batch=17,m=2,n=3,k=2"};
    assay_dtype t = floats[_i];
    const size_t bytes = assay_dtype_bytes(t);

    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        plugin_case c;
        int64_t at = 64 / (int64_t)bytes + 5, total = 4096;
        plugin_case_init(&c, ASSAY_OP_matmul, t, shapes[s], 0);
        for (uint32_t i = 0; i < 3; i++)
            total += 2 * assay_problem_operand_elements(&c.problem, i);
        char *block = malloc((size_t)total * bytes);
        ck_assert_ptr_nonnull(block);
        memset(block, 0xff, (size_t)total * bytes);
        for (uint32_t i = 0; i < 3; i++) {
            assay_tensor *v = &c.operands[i];
            v->buffer.at.host = block;
            v->buffer.size_bytes = (uint64_t)total * bytes;
            v->byte_offset = (uint64_t)at * bytes;
            v->strides[0] = v->dims[1] * v->dims[2] + 11;
            at += v->dims[0] * v->strides[0] + 3;
            ck_assert_int_lt(at, total);
            for (int64_t e = 0; e < assay_tensor_elements(v); e++) /* another matrix for each b */
                every_kernel_set(v, e, (double)((e * 7 + e / (v->dims[1] * v->dims[2])) % 5 - 2));
        }
        double *want = product_by_definition(&c);
        every_kernel_gives(&c, want, shapes[s]);
        free(want);
        free(block);
        for (uint32_t i = 0; i < 3; i++)
            c.operands[i].byte_offset = 0;
        plugin_case_clear(&c);
    }
}
END_TEST

/* ---- trap 4: gradients of convolutions --------------------------------------------------------
 */

/* Which operand is x, the filter, y. */
typedef struct roles {
    assay_op_id op;
    uint32_t x, filter, y;
} roles;
static const roles gradients[] = {{ASSAY_OP_conv2d_backward_data, 2, 1, 0},
                                  {ASSAY_OP_conv2d_backward_filter, 0, 2, 1}};

static const char *const convs[] = {
    "n=2,c=2,h=5,w=4,k=3,r=3,s=2,pad_h=1",
    "n=1,c=3,h=7,w=6,k=2,r=2,s=3,stride_h=2,stride_w=3,pad_w=2",
    "n=1,c=4,h=6,w=9,k=6,r=3,s=3,dil_w=2,pad_h=1,pad_w=2,groups=2",
    "n=2,c=2,h=3,w=4,k=2,r=1,s=2,pad_h=3,pad_w=4,stride_h=2",
};
#define CONVS ((int)(sizeof convs / sizeof *convs))

/* x, filter and weights of y; the result of a forward run by the reference in f64. */
typedef struct world {
    plugin_case forward;
    double *weights;
} world;

static world world_make(const char *params)
{
    world w;
    uint64_t seed = 11;

    plugin_case_init(&w.forward, ASSAY_OP_conv2d, ASSAY_F64, params, 0);
    fill_small(&w.forward, 0, 3);
    fill_small(&w.forward, 1, 4);
    w.weights = room(&w.forward);
    for (int64_t e = 0; e < w.forward.elements; e++)
        w.weights[e] = small(&seed);
    return w;
}

static void world_clear(world *w)
{
    free(w->weights);
    plugin_case_clear(&w->forward);
}

/* <conv(x, filter), weights> */
static double loss(world *w)
{
    const assay_manifest *ref = plugin_load("ref");
    double sum = 0.0;

    ck_assert_int_eq(
        plugin_case_run(&w->forward, plugin_kernel(ref, ASSAY_OP_conv2d, ASSAY_F64, NULL), NULL),
        ASSAY_OK);
    for (int64_t e = 0; e < w->forward.elements; e++)
        sum += w->weights[e] * plugin_case_get(&w->forward, 2, e);
    return sum;
}

/* A case of a gradient, with what it reads from the world. */
static void gradient_case(const world *w, const roles *g, assay_dtype t, const char *params,
                          plugin_case *out)
{
    plugin_case_init(out, g->op, t, params, 0);
    plugin_case_poison(out);
    for (uint32_t o = 0; o < 2; o++)
        for (int64_t e = 0; e < assay_problem_operand_elements(&out->problem, o); e++)
            plugin_case_set(out, o, e,
                            o == g->y   ? w->weights[e]
                            : o == g->x ? plugin_case_get(&w->forward, 0, e)
                                        : plugin_case_get(&w->forward, 1, e));
}

/* The convolution is linear in either operand: a central difference of step 1 is the derivative,
 * without an error. */
START_TEST(trap4_gradients_are_finite_differences)
{
    const char *params = convs[_i / FLOATS];

    for (uint32_t i = 0; i < 2; i++) {
        world w = world_make(params);
        plugin_case c;
        gradient_case(&w, &gradients[i], floats[_i % FLOATS], params, &c);
        double *want = room(&c);
        for (int64_t e = 0; e < c.elements; e++) {
            double here = plugin_case_get(&w.forward, i, e);
            plugin_case_set(&w.forward, i, e, here + 1.0);
            double above = loss(&w);
            plugin_case_set(&w.forward, i, e, here - 1.0);
            want[e] = (above - loss(&w)) / 2.0;
            plugin_case_set(&w.forward, i, e, here);
            ck_assert(fabs(want[e]) <= 256.0); /* exact in bf16 */
        }
        every_kernel_gives(&c, want, params);
        free(want);
        plugin_case_clear(&c);
        world_clear(&w);
    }
}
END_TEST

typedef struct adjoint {
    const plugin_case *other; /* holds x or the filter as operand `operand` */
    uint32_t operand;
    double want;
} adjoint;

static void check_adjoint(plugin_case *c, const assay_kernel_desc *k, void *cookie)
{
    const adjoint *a = cookie;
    double sum = 0.0;

    for (int64_t e = 0; e < c->elements; e++)
        sum += plugin_case_get(c, 2, e) * plugin_case_get(a->other, a->operand, e);
    ck_assert_msg(sum >= a->want && sum <= a->want, "%s %s: %g, not %g", k->name,
                  assay_dtype_name((assay_dtype)k->dtypes[0]), sum, a->want);
}

/* <conv(x, f), y> = <x, grad_x(y, f)> = <f, grad_f(x, y)>, for y and for the convolution by every
 * kernel as well. */
START_TEST(trap4_gradients_are_adjoint_to_the_convolution)
{
    const char *params = convs[_i / FLOATS];
    assay_dtype t = floats[_i % FLOATS];
    world w = world_make(params);
    adjoint a = {.want = loss(&w)};
    plugin_case c;

    for (uint32_t i = 0; i < 2; i++) {
        gradient_case(&w, &gradients[i], t, params, &c);
        a.other = &w.forward;
        a.operand = i;
        ck_assert_int_ge(every_kernel(&c, check_adjoint, &a), 2);
        plugin_case_clear(&c);
    }
    plugin_case y; /* the weights in the place of y */
    plugin_case_init(&y, ASSAY_OP_conv2d, ASSAY_F64, params, 0);
    plugin_case_init(&c, ASSAY_OP_conv2d, t, params, 0);
    plugin_case_poison(&c);
    for (int64_t e = 0; e < y.elements; e++)
        plugin_case_set(&y, 2, e, w.weights[e]);
    for (uint32_t o = 0; o < 2; o++)
        for (int64_t e = 0; e < assay_problem_operand_elements(&c.problem, o); e++)
            plugin_case_set(&c, o, e, plugin_case_get(&w.forward, o, e));
    a.other = &y;
    a.operand = 2;
    ck_assert_int_ge(every_kernel(&c, check_adjoint, &a), 2);
    plugin_case_clear(&c);
    plugin_case_clear(&y);
    world_clear(&w);
}
END_TEST

/* No gradient arrives, but one tap of the filter is infinite: 0 times infinity is no number in
 * every x that some y saw through that tap, and 0 elsewhere. A kernel that skips zeros is found. */
START_TEST(trap4_zero_gradients_meet_an_infinite_filter)
{
    const char *params = convs[_i / FLOATS];
    const roles *g = &gradients[0];
    world w = world_make(params);
    plugin_case c;
    int nans = 0, zeros = 0;

    gradient_case(&w, g, floats[_i % FLOATS], params, &c);
    for (int64_t e = 0; e < w.forward.elements; e++) {
        plugin_case_set(&c, g->y, e, 0.0);
        w.weights[e] = 1.0;
    }
    for (int64_t e = 0; e < assay_problem_operand_elements(&c.problem, g->filter); e++)
        plugin_case_set(&w.forward, 1, e, 0.0);
    plugin_case_set(&c, g->filter, 1, INFINITY);
    plugin_case_set(&w.forward, 1, 1, 1.0); /* the tap alone: what it sees has a derivative */
    double *want = room(&c), none = loss(&w);
    for (int64_t e = 0; e < c.elements; e++) {
        double here = plugin_case_get(&w.forward, 0, e);
        plugin_case_set(&w.forward, 0, e, here + 1.0);
        want[e] = loss(&w) > none ? NAN : 0.0;
        plugin_case_set(&w.forward, 0, e, here);
        nans += isnan(want[e]) != 0;
        zeros += isnan(want[e]) == 0;
    }
    ck_assert_msg(nans > 0 && zeros > 0, "%s: %d, %d", params, nans, zeros);
    every_kernel_gives(&c, want, params);
    free(want);
    plugin_case_clear(&c);
    world_clear(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("traps_products");
    TCase *tcase = tcase_create("traps_products");

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, every_kernel_open, every_kernel_close);
    tcase_add_loop_test(tcase, trap1_nine_transposes_with_tails_and_leading_dimensions, 0,
                        SIZES * FLOATS);
    tcase_add_loop_test(tcase, trap1_extents_of_zero_and_one, 0, FLOATS);
    tcase_add_loop_test(tcase, trap1_fused_linear, 0, FLOATS);
    tcase_add_loop_test(tcase, trap2_each_problem_of_a_batch_is_its_own, 0, FLOATS);
    tcase_add_loop_test(tcase, trap4_gradients_are_finite_differences, 0, CONVS * FLOATS);
    tcase_add_loop_test(tcase, trap4_gradients_are_adjoint_to_the_convolution, 0, CONVS * FLOATS);
    tcase_add_loop_test(tcase, trap4_zero_gradients_meet_an_infinite_filter, 0, CONVS * FLOATS);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
