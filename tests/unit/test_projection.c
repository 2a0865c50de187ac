/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_projection.c -- projections of products: sound results are never suspected, wrong
 * ones always, wherever they are. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/dtype.h"
#include "calibrate/inputs.h"
#include "calibrate/projection.h"
#include "calibrate/projection_loops.h"
#include "support/rng.h"
#include "sweep/acceptance.h"

/* A problem with inputs and, element by element, what is right. */
typedef struct stage {
    assay_problem problem;
    assay__product g;
    assay_accept_spec spec;
    assay_dtype out;
    void *operand[3];                    /* owned */
    double *wide[3];                     /* owned: the same as doubles */
    double *right, *magnitude, *certain; /* owned: of each element */
    char *y;                             /* owned: an output */
    double *share;                       /* owned */
    assay__projection e;
    int64_t count;
    size_t strips;
} stage;

static double at_a(const stage *t, int64_t b, int64_t i, int64_t p)
{
    const assay__product *g = &t->g;
    return t->wide[0][b * g->m * g->k + (g->trans_a ? p * g->m + i : i * g->k + p)];
}

static double at_b(const stage *t, int64_t b, int64_t p, int64_t j)
{
    const assay__product *g = &t->g;
    return t->wide[1][b * g->k * g->n + (g->trans_b ? j * g->k + p : p * g->n + j)];
}

static double at_c(const stage *t, int64_t b, int64_t i, int64_t j)
{
    const assay__product *g = &t->g;
    if (!g->has_addend)
        return 0.0;
    return t->wide[2][g->is_addend_a_row ? j : (b * g->m + i) * g->n + j];
}

/* As a kernel of the dtype would: one product after another in its accumulator. */
static double sum_narrow(const stage *t, int64_t b, int64_t i, int64_t j)
{
    volatile float sum = 0.0f;
    double wide = 0.0;

    for (int64_t p = 0; p < t->g.k; p++) {
        wide += at_a(t, b, i, p) * at_b(t, b, p, j);
        if (t->out != ASSAY_F64)
            sum += (float)(at_a(t, b, i, p) * at_b(t, b, p, j));
    }
    if (t->out == ASSAY_F64)
        return t->g.alpha * wide + t->g.beta * at_c(t, b, i, j);
    return (float)t->g.alpha * sum + (float)t->g.beta * (float)at_c(t, b, i, j);
}

static void judge_element(stage *t, int64_t b, int64_t i, int64_t j)
{
    const assay__product *g = &t->g;
    const int64_t at = (b * g->m + i) * g->n + j;
    double sum = 0.0, size = 0.0, probable;

    for (int64_t p = 0; p < g->k; p++) {
        sum += at_a(t, b, i, p) * at_b(t, b, p, j);
        size += fabs(at_a(t, b, i, p) * at_b(t, b, p, j));
    }
    t->right[at] = g->alpha * sum + g->beta * at_c(t, b, i, j);
    t->magnitude[at] = fabs(g->alpha) * size + fabs(g->beta * at_c(t, b, i, j));
    const assay_accept_element e = {.hi = t->right[at], .magnitude = t->magnitude[at]};
    assay__accept_bounds(&e, &t->spec, &t->certain[at], &probable);
}

static void put(stage *t, int64_t at, double value)
{
    ck_assert_int_eq(
        assay_convert(t->out, t->y + (size_t)at * assay_dtype_bytes(t->out), ASSAY_F64, &value, 1),
        ASSAY_OK);
}

static double get(const stage *t, int64_t at)
{
    return assay_load_f64(t->out, t->y, (size_t)at);
}

static void fill_operand(stage *t, assay_stratum stratum, unsigned i)
{
    const assay_dtype dtype = (assay_dtype)t->problem.dtypes[i];
    const size_t n = (size_t)assay_problem_operand_elements(&t->problem, i);

    t->operand[i] = malloc((n + 1) * assay_dtype_bytes(dtype));
    t->wide[i] = malloc((n + 1) * sizeof(double));
    ck_assert(t->operand[i] != NULL && t->wide[i] != NULL);
    ck_assert_int_eq(assay__inputs_fill(&t->problem, stratum, 7, i, 0, n, t->operand[i]), ASSAY_OK);
    ck_assert_int_eq(assay_convert(ASSAY_F64, t->wide[i], dtype, t->operand[i], n), ASSAY_OK);
}

static void project(stage *t, unsigned threads)
{
    const void *const from[3] = {t->operand[0], t->operand[1], t->operand[2]};

    assay__projection_clear(&t->e);
    ck_assert_int_eq(assay__projection_make(&t->g, from, 5, "test", threads, &t->e), ASSAY_OK);
}

static void compare(stage *t, unsigned threads)
{
    ck_assert_int_eq(assay__projection_compare(&t->e, t->y, &t->spec, threads, t->share), ASSAY_OK);
}

/* The output is that of a sound kernel. */
static void setup_stage(stage *t, const char *text, assay_stratum stratum)
{
    memset(t, 0, sizeof *t);
    ck_assert_int_eq(assay_problem_parse(text, &t->problem), ASSAY_OK);
    ck_assert(assay__product_of(&t->problem, &t->g));
    ck_assert_int_eq(assay__acceptance_of(&t->problem, &t->spec), ASSAY_OK);
    t->out = (assay_dtype)t->problem.dtypes[t->problem.dtype_count - 1];
    for (unsigned i = 0; i < (t->g.has_addend ? 3u : 2u); i++)
        fill_operand(t, stratum, i);
    t->count = t->g.batch * t->g.m * t->g.n;
    t->strips = (size_t)assay__projection_strips(&t->g);
    t->right = malloc((size_t)t->count * 3 * sizeof(double));
    t->y = malloc((size_t)t->count * 8);
    t->share = malloc(t->strips * sizeof(double));
    ck_assert(t->right != NULL && t->y != NULL && t->share != NULL);
    t->magnitude = t->right + t->count;
    t->certain = t->magnitude + t->count;
    for (int64_t at = 0; at < t->count; at++) {
        const int64_t j = at % t->g.n, i = at / t->g.n % t->g.m, b = at / t->g.n / t->g.m;
        judge_element(t, b, i, j);
        put(t, at, sum_narrow(t, b, i, j));
    }
    project(t, 2);
}

static void clear_stage(stage *t)
{
    for (int i = 0; i < 3; i++) {
        free(t->operand[i]);
        free(t->wide[i]);
    }
    free(t->right);
    free(t->y);
    free(t->share);
    assay__projection_clear(&t->e);
}

static size_t strip_of(const stage *t, int64_t at)
{
    return (size_t)(at / t->g.n * t->e.blocks + at % t->g.n / t->e.width);
}

/* Every form that the catalogue has. */
static const char *const forms[] = {
    "matmul f32,f32,f32 m=13,n=1100,k=70",
    "matmul f32,f32,f32 m=9,n=130,k=260,trans_a=t",
    "matmul f32,f32,f32 m=70,n=33,k=130,trans_b=t",
    "matmul f32,f32,f32 m=66,n=514,k=20,trans_a=t,trans_b=c",
    "matmul f64,f64,f64 m=6,n=600,k=90",
    "matmul f64,f64,f64 m=5,n=40,k=300,trans_b=t,alpha=-0x1.8p+1,beta=0x1p-1",
    "matmul bf16,bf16,bf16 m=7,n=520,k=64",
    "matmul f16,f16,f16 m=7,n=520,k=64,trans_a=t",
    "matmul bf16,bf16,f32 m=7,n=90,k=64,beta=0x1p+0",
    "matmul f16,f16,f32 m=7,n=90,k=64,trans_b=t",
    "matmul f32,f32,f32 batch=9,m=5,n=7,k=30,alpha=0x1.99999ap-2,beta=-0x1.4p+1",
    "matmul f32,f32,f32 batch=2,m=5,n=530,k=30,trans_b=t,beta=0x1.99999ap-2",
    "matmul f32,f32,f32 m=3,n=3,k=1",
    "fused_linear f32,f32,f32,f32 m=6,n=700,k=40",
    "fused_linear bf16,bf16,bf16,bf16 batch=7,m=3,n=20,k=40",
};
#define FORMS ((int)(sizeof forms / sizeof *forms))

static const assay_stratum strata[] = {
    ASSAY_STRATUM_NORMAL, ASSAY_STRATUM_UNIFORM,   ASSAY_STRATUM_CANCEL,  ASSAY_STRATUM_SPREAD,
    ASSAY_STRATUM_POWERS, ASSAY_STRATUM_HUGE_TINY, ASSAY_STRATUM_INTEGERS};
#define STRATA (sizeof strata / sizeof *strata)

START_TEST(sound_results_are_never_suspected)
{
    for (size_t s = 0; s < STRATA; s++) {
        stage t;
        setup_stage(&t, forms[_i], strata[s]);
        compare(&t, 1);
        for (size_t i = 0; i < t.strips; i++)
            ck_assert_msg(t.share[i] <= 1.0, "%s, set %zu, strip %zu: %g", forms[_i], s, i,
                          t.share[i]);
        clear_stage(&t);
    }
}
END_TEST

/* Off as far as is allowed, each element in the direction that its vector adds up. */
START_TEST(thresholds_hold_and_are_no_wider_than_they_must)
{
    double most = 0.0;
    stage t;

    setup_stage(&t, forms[_i], ASSAY_STRATUM_NORMAL);
    for (int64_t at = 0; at < t.count; at++) {
        const double sign = t.e.vectors[4 * (at % t.g.n) + 1] < 0.0 ? -1.0 : 1.0;
        double y = t.right[at] + sign * t.certain[at];
        put(&t, at, y);
        for (int turn = 0; fabs(get(&t, at) - t.right[at]) > t.certain[at]; turn++) {
            ck_assert_int_lt(turn, 64);
            y -= sign * t.certain[at] * 0x1p-6; /* rounding went beyond */
            put(&t, at, y);
        }
    }
    compare(&t, 2);
    for (size_t i = 0; i < t.strips; i++) {
        ck_assert_msg(t.share[i] <= 1.0, "%s, strip %zu: %g", forms[_i], i, t.share[i]);
        most = fmax(most, t.share[i]);
    }
    /* f64: the projection's own roundings count as much; 16 bits: most elements cannot be so far
     * off as a whole step. */
    ck_assert_msg(most > (t.out == ASSAY_F64   ? 0.1
                          : t.out == ASSAY_F32 ? 0.9
                                               : 0.3),
                  "%s: %g", forms[_i], most);
    clear_stage(&t);
}
END_TEST

/* By 2.2 times what its strip may be off in all, sizes of 2 counted: the first, the last, some. */
START_TEST(one_wrong_element_is_seen_anywhere)
{
    assay__rng rng;
    stage t;

    setup_stage(&t, forms[_i], ASSAY_STRATUM_NORMAL);
    assay__rng_seed(&rng, 11, (uint64_t)_i);
    for (int trial = 0; trial < 40; trial++) {
        int64_t at = (int64_t)assay__rng_below(&rng, (uint64_t)t.count);
        double may = 0.0, old;
        if (trial < 4)
            at = trial < 2 ? (t.g.n - 1) * trial : t.count - 1 - (t.g.n - 1) * (trial - 2);
        for (int64_t i = 0; i < t.count; i++)
            if (strip_of(&t, i) == strip_of(&t, at))
                may += t.certain[i];
        old = get(&t, at);
        put(&t, at, old + (trial % 2 ? -1.0 : 1.0) * (t.out == ASSAY_F64 ? 16.0 : 4.4) * may);
        compare(&t, 2);
        for (size_t i = 0; i < t.strips; i++)
            ck_assert_msg((t.share[i] > 1.0) == (i == strip_of(&t, at)),
                          "%s, element %lld, strip %zu: %g", forms[_i], (long long)at, i,
                          t.share[i]);
        put(&t, at, old);
    }
    clear_stage(&t);
}
END_TEST

START_TEST(what_is_no_number_is_suspected)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY};

    for (size_t v = 0; v < 3; v++) {
        stage t;
        setup_stage(&t, "matmul f32,f32,f32 m=5,n=600,k=8", ASSAY_STRATUM_NORMAL);
        put(&t, 3 * 600 + 599, odd[v]);
        compare(&t, 2);
        for (size_t i = 0; i < t.strips; i++)
            ck_assert_int_eq(isinf(t.share[i]) != 0, i == 3 * 2 + 1);
        clear_stage(&t);
    }
}
END_TEST

/* What is expected is no number there, and no output may pass by that. */
START_TEST(operands_that_are_no_numbers_are_suspected)
{
    stage t;

    setup_stage(&t, "matmul f32,f32,f32 m=5,n=600,k=8", ASSAY_STRATUM_NORMAL);
    ((float *)t.operand[0])[2 * 8 + 3] = INFINITY;
    ((float *)t.operand[1])[4 * 600 + 1] = NAN; /* first block */
    project(&t, 1);
    compare(&t, 1);
    for (size_t i = 0; i < t.strips; i++)
        ck_assert_int_eq(isinf(t.share[i]) != 0, i / 2 == 2 || i % 2 == 0);
    clear_stage(&t);
}
END_TEST

/* Entries of +-1 would show nothing of two columns in each other's place where they agree. */
START_TEST(columns_that_changed_places_are_seen)
{
    stage t;

    setup_stage(&t, "matmul f32,f32,f32 m=4,n=1024,k=16", ASSAY_STRATUM_INTEGERS);
    for (int64_t block = 0; block < t.e.blocks; block++)
        for (int64_t i = 0; i < t.e.width; i++)
            for (int64_t j = 0; j < i; j++) {
                const double *a = t.e.vectors + 4 * (block * t.e.width + i);
                const double *b = t.e.vectors + 4 * (block * t.e.width + j);
                ck_assert(a[3] < b[3] || a[3] > b[3]);
                ck_assert(a[3] >= 1.0 && a[3] < 2.0);
            }
    for (int v = 0; v < 3; v++) {
        int64_t negative = 0;
        for (int64_t j = 0; j < 1024; j++) {
            ck_assert(fabs(t.e.vectors[4 * j + v]) >= t.e.vectors[4 * j + 3]);
            negative += t.e.vectors[4 * j + v] < 0.0;
        }
        ck_assert(negative > 400 && negative < 624);
    }
    clear_stage(&t);
}
END_TEST

START_TEST(nothing_depends_on_threads)
{
    static const unsigned threads[] = {1, 2, 3, 7, 100};
    double *first = NULL, *expected = NULL;

    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        stage t;
        setup_stage(&t, forms[_i], ASSAY_STRATUM_NORMAL);
        project(&t, threads[i]);
        compare(&t, threads[i]);
        if (i == 0) {
            first = t.share;
            expected = t.e.expected;
            t.share = t.e.expected = NULL;
        } else {
            ck_assert_mem_eq(t.share, first, t.strips * sizeof(double));
            ck_assert_mem_eq(t.e.expected, expected, 4 * t.strips * sizeof(double));
        }
        clear_stage(&t);
    }
    free(first);
    free(expected);
}
END_TEST

START_TEST(seeds_and_streams_give_vectors_of_their_own)
{
    assay__projection other;
    stage t;

    setup_stage(&t, forms[0], ASSAY_STRATUM_NORMAL);
    const void *const from[3] = {t.operand[0], t.operand[1], NULL};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(
            assay__projection_make(&t.g, from, i == 1 ? 6 : 5, i == 2 ? "tost" : "test", 2, &other),
            ASSAY_OK);
        const bool is_same = memcmp(other.vectors, t.e.vectors, 4 * 1100 * sizeof(double)) == 0;
        ck_assert_int_eq(is_same, i == 0);
        assay__projection_clear(&other);
    }
    clear_stage(&t);
}
END_TEST

/* All that are beyond, an infinite one among them, however many; two of the rest. */
START_TEST(all_beyond_and_the_worst_of_the_rest_are_suspects)
{
    double share[200];
    assay__strip list[200];

    for (size_t i = 0; i < 200; i++)
        share[i] = (double)((i * 37) % 200) / 201.0;
    ck_assert_uint_eq(assay__projection_suspects(share, 200, 2, list), 2);
    ck_assert_double_eq(list[0].share, 199.0 / 201.0);
    ck_assert_double_eq(list[1].share, 198.0 / 201.0);
    ck_assert_uint_eq(list[0].at * 37 % 200, 199);
    ck_assert_uint_eq(assay__projection_suspects(share, 200, 0, list), 0);
    ck_assert_uint_eq(assay__projection_suspects(share, 1, 5, list), 1);
    ck_assert_uint_eq(assay__projection_suspects(share, 0, 5, list), 0);
    share[7] = 1.0; /* still within */
    for (size_t i = 50; i < 150; i++)
        share[i] = i == 120 ? INFINITY : 2.0;
    ck_assert_uint_eq(assay__projection_suspects(share, 200, 2, list), 102);
    ck_assert_uint_eq(list[0].at, 120);
    for (size_t i = 1; i < 100; i++)
        ck_assert_uint_eq(list[i].at, 49 + i + (49 + i >= 120));
    ck_assert_uint_eq(list[100].at, 7);
    ck_assert(list[101].share < 1.0);
}
END_TEST

/* ---- loops ---- */

enum { N = 37, COUNT = 6, ROWS = 8 };

static void naive(double x, const double *four, double *sum)
{
    for (int v = 0; v < 4; v++)
        sum[v] += (v == 3 ? fabs(x) : x) * four[v];
}

static void check_close(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ck_assert_double_eq_tol(a[i], b[i], 1e-12);
}

static void check_loops(const assay__projection_loops *loops)
{
    double x[ROWS * N], fours[4 * N * COUNT], got[4 * N * COUNT], want[4 * N * COUNT];
    assay__rng rng;

    assay__rng_seed(&rng, 3, 1);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = assay__rng_normal(&rng);
    for (size_t i = 0; i < sizeof fours / sizeof *fours; i++) {
        fours[i] = assay__rng_normal(&rng);
        got[i] = want[i] = assay__rng_normal(&rng);
    }
    for (size_t n = 0; n <= N; n++) {
        loops->dot(x, fours, n, got);
        for (size_t j = 0; j < n; j++)
            naive(x[j], fours + 4 * j, want);
        check_close(got, want, 4);
    }
    loops->add(x, fours, N, got + 4);
    for (size_t p = 0; p < N; p++)
        naive(x[p], fours, want + 4 + 4 * p);
    check_close(got, want, 4 * N * COUNT);
    for (int transposed = 0; transposed < 2; transposed++) {
        const size_t row_step = transposed ? 1 : N, step = transposed ? ROWS : 1;
        loops->multiply(x, row_step, step, ROWS, N, fours, COUNT, got);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t c = 0; c < COUNT; c++)
                for (size_t p = 0; p < N; p++)
                    naive(x[i * row_step + p * step], fours + 4 * (p * COUNT + c),
                          want + 4 * (i * COUNT + c));
        check_close(got, want, 4 * ROWS * COUNT);
    }
}

START_TEST(loops_multiply_and_add)
{
    check_loops(&assay__projection_portable);
    check_loops(assay__projection_best());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("projection");
    TCase *c = tcase_create("projection");

    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, sound_results_are_never_suspected, 0, FORMS);
    tcase_add_loop_test(c, thresholds_hold_and_are_no_wider_than_they_must, 0, FORMS);
    tcase_add_loop_test(c, one_wrong_element_is_seen_anywhere, 0, FORMS);
    tcase_add_test(c, what_is_no_number_is_suspected);
    tcase_add_test(c, operands_that_are_no_numbers_are_suspected);
    tcase_add_test(c, columns_that_changed_places_are_seen);
    tcase_add_loop_test(c, nothing_depends_on_threads, 0, FORMS);
    tcase_add_test(c, seeds_and_streams_give_vectors_of_their_own);
    tcase_add_test(c, all_beyond_and_the_worst_of_the_rest_are_suspects);
    tcase_add_test(c, loops_multiply_and_add);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
