/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_product_sample.c -- which elements of a large product are looked at, and the
 * parts that they are computed by. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/dtype.h"
#include "calibrate/inputs.h"
#include "calibrate/product_sample.h"

static assay__product product_of(const char *text)
{
    assay_problem p;
    assay__product g;

    ck_assert_int_eq(assay_problem_parse(text, &p), ASSAY_OK);
    ck_assert(assay__product_of(&p, &g));
    return g;
}

static int64_t size_of(const char *text, double above, size_t sets)
{
    const assay__product g = product_of(text);

    return assay__product_sample_size(&g, above, sets);
}

START_TEST(large_products_are_sampled_and_no_others)
{
    const double above = ASSAY__SAMPLE_ABOVE_FLOPS;

    /* Just below and beyond 2 GFLOP, outputs many enough to be worth it. */
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=100000,n=10000,k=1", above, 2), 0);
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=100000,n=10001,k=1", above, 2), 1 << 20);
    ck_assert_int_eq(size_of("fused_linear f32,f32,f32,f32 m=100000,n=10001,k=1", above, 2),
                     1 << 20);
    /* 2 GFLOP: 10^9 / k, or what makes a million of all sets while that costs 20 at most. */
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=5124,n=9124,k=1250", above, 2), 800000);
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=5124,n=9124,k=2560", above, 2), 500000);
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=5124,n=9124,k=2560", above, 3), 390625);
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=5124,n=9124,k=28672", above, 3), 333334);
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=5124,n=9124,k=28672", above, 2), 34877);
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=5124,n=9124,k=1000000", above, 2), 4096);
    /* All is not more than twice the sample: more shows more. */
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=1000,n=1000,k=2000", above, 2), 0);
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=90,n=90,k=1000000", above, 2), 0);
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=2,n=1000000,k=1000", above, 2), 0);
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=3,n=3000000,k=500", above, 2), 1 << 20);
    /* A limit of tests. */
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=100,n=100,k=60", 1e6, 2), 0);
    ck_assert_int_eq(size_of("matmul f32,f32,f32 m=200,n=200,k=60", 1e6, 2), 8333);
}
END_TEST

START_TEST(other_problems_are_no_products)
{
    assay_problem p;
    assay__product g;

    ck_assert_int_eq(assay_problem_parse("add f32,f32,f32 n=9", &p), ASSAY_OK);
    ck_assert(!assay__product_of(&p, &g));
    ck_assert_int_eq(assay_problem_parse("matmul f32,f32,f32 m=9,n=9,k=9,alpha=0x0p+0", &p),
                     ASSAY_OK);
    ck_assert(!assay__product_of(&p, &g));
}
END_TEST

/* ---- places ---- */

typedef struct map {
    assay__product g;
    assay__product_sample s;
    char *seen; /* owned: of each element */
} map;

static void mark(map *t, const assay__grid *grid)
{
    for (int64_t i = 0; i < grid->rows; i++)
        for (int64_t j = 0; j < grid->cols; j++) {
            const int64_t row = t->s.at[grid->row + (size_t)i];
            const int64_t col = t->s.at[grid->col + (size_t)j];
            ck_assert(row >= 0 && row < t->g.m && col >= 0 && col < t->g.n);
            ck_assert(grid->batch >= 0 && grid->batch < t->g.batch);
            char *seen = &t->seen[(grid->batch * t->g.m + row) * t->g.n + col];
            ck_assert_msg(!*seen, "element twice: %lld, %lld", (long long)row, (long long)col);
            *seen = 1;
        }
}

static map map_of(const char *text, int64_t wanted, uint64_t seed, const char *stream)
{
    map t = {.g = product_of(text)};
    int64_t all = t.g.batch * t.g.m * t.g.n, seen = 0;

    t.seen = calloc((size_t)all, 1);
    ck_assert_ptr_nonnull(t.seen);
    ck_assert_int_eq(assay__product_sample_make(&t.g, wanted, seed, stream, &t.s), ASSAY_OK);
    for (size_t i = 0; i < t.s.grid_count; i++)
        mark(&t, &t.s.grids[i]);
    for (int64_t i = 0; i < all; i++)
        seen += t.seen[i];
    ck_assert_int_eq(seen, t.s.elements);
    return t;
}

static void clear_map(map *t)
{
    free(t->seen);
    assay__product_sample_clear(&t->s);
}

static const struct {
    const char *text;
    int64_t wanted, region; /* a square of so many elements a side shows one at least */
} maps[] = {
    {"matmul f32,f32,f32 m=700,n=900,k=60", 30000, 32},
    {"matmul f32,f32,f32 m=2000,n=1500,k=4", 400000, 24},
    {"matmul f32,f32,f32 m=35,n=4000,k=60", 8000, 60},
    {"matmul f32,f32,f32 m=5000,n=16,k=60", 8000, 80},
    {"matmul f32,f32,f32 m=3,n=3,k=60", 4096, 1},
    {"matmul f32,f32,f32 m=200,n=200,k=3000000", 4096, 30},
    {"matmul f32,f32,f32 batch=3,m=200,n=200,k=60", 12288, 30},
};
#define MAPS ((int)(sizeof maps / sizeof *maps))

static bool shows_one(const map *t, int64_t b, int64_t row, int64_t col, int64_t side)
{
    for (int64_t i = row; i < row + side && i < t->g.m; i++)
        for (int64_t j = col; j < col + side && j < t->g.n; j++)
            if (t->seen[(b * t->g.m + i) * t->g.n + j])
                return true;
    return false;
}

START_TEST(borders_and_every_region_are_looked_at)
{
    map t = map_of(maps[_i].text, maps[_i].wanted, 1, "test");
    const int64_t m = t.g.m, n = t.g.n, side = maps[_i].region;

    for (int64_t b = 0; b < t.g.batch; b++) {
        for (int64_t j = 0; j < n; j++)
            ck_assert(t.seen[b * m * n + j] && t.seen[(b * m + m - 1) * n + j]);
        for (int64_t i = 0; i < m; i++)
            ck_assert(t.seen[(b * m + i) * n] && t.seen[(b * m + i) * n + n - 1]);
        for (int64_t i = 1; i + side < m; i += side)
            for (int64_t j = 1; j + side < n; j += side)
                ck_assert_msg(shows_one(&t, b, i, j, side), "%s: none at %lld, %lld", maps[_i].text,
                              (long long)i, (long long)j);
    }
    if (m * n > 9)
        ck_assert_uint_ge(t.s.grid_count, 8 * (size_t)t.g.batch);
    /* The borders come on top; grids are whole, so that it may be some more, or all there is. */
    const int64_t borders = t.g.batch * (2 * n + 2 * (m - 2)), inside = t.s.elements - borders;
    ck_assert_int_ge(inside,
                     maps[_i].wanted < t.g.batch * m * n / 2 ? maps[_i].wanted * 9 / 10 : 0);
    ck_assert_int_le(inside, 2 * maps[_i].wanted);
    clear_map(&t);
}
END_TEST

START_TEST(some_products_of_a_batch_are_looked_at)
{
    map t = map_of("matmul f32,f32,f32 batch=1000,m=30,n=40,k=900", 12000, 1, "test");
    int64_t looked = 0;

    for (int64_t b = 0; b < 1000; b++) {
        const char *seen = t.seen + b * 1200;
        looked += seen[0];
        for (int64_t j = 0; j < 40; j++)
            ck_assert_int_eq(seen[j], seen[0]); /* its border, or nothing of it */
    }
    ck_assert_int_eq(looked, 16);
    ck_assert(t.seen[0] && t.seen[999 * 1200]);
    clear_map(&t);
    t = map_of("matmul f32,f32,f32 batch=1000,m=30,n=40,k=900", 120000, 1, "test");
    looked = 0;
    for (int64_t b = 0; b < 1000; b++)
        looked += t.seen[b * 1200];
    ck_assert_int_eq(looked, 100);
    clear_map(&t);
}
END_TEST

START_TEST(seeds_and_streams_choose)
{
    map first = map_of(maps[0].text, 30000, 1, "a");

    for (int i = 0; i < 3; i++) {
        map t = map_of(maps[0].text, 30000, i == 1 ? 2 : 1, i == 2 ? "b" : "a");
        ck_assert_int_eq(t.s.elements, first.s.elements);
        ck_assert_int_eq(memcmp(t.seen, first.seen, 700 * 900) == 0, i == 0);
        clear_map(&t);
    }
    clear_map(&first);
}
END_TEST

/* ---- parts ---- */

static void *fill(const assay_problem *p, unsigned i)
{
    const size_t n = (size_t)assay_problem_operand_elements(p, i);
    void *to = malloc((n + 1) * 8);

    ck_assert_ptr_nonnull(to);
    ck_assert_int_eq(assay__inputs_fill(p, ASSAY_STRATUM_NORMAL, 3, i, 0, n, to), ASSAY_OK);
    return to;
}

/* One element, straight from the definition. */
static double element(const assay__product *g, void *const x[3], int64_t b, int64_t i, int64_t j)
{
    const assay_dtype t = (assay_dtype)g->problem.dtypes[0], u = (assay_dtype)g->problem.dtypes[2];
    double sum = 0.0;

    for (int64_t p = 0; p < g->k; p++)
        sum +=
            assay_load_f64(t, x[0],
                           (size_t)(b * g->m * g->k + (g->trans_a ? p * g->m + i : i * g->k + p))) *
            assay_load_f64(t, x[1],
                           (size_t)(b * g->k * g->n + (g->trans_b ? j * g->k + p : p * g->n + j)));
    sum *= g->alpha;
    if (g->has_addend)
        sum += g->beta * assay_load_f64(
                             u, x[2], (size_t)(g->is_addend_a_row ? j : (b * g->m + i) * g->n + j));
    return sum;
}

static const char *const forms[] = {
    "matmul f32,f32,f32 batch=3,m=20,n=30,k=11",
    "matmul f64,f64,f64 m=20,n=30,k=11,trans_a=t,alpha=0x1p-1,beta=0x1.8p+0",
    "matmul bf16,bf16,f32 batch=2,m=20,n=30,k=11,trans_b=c,beta=0x1p+0",
    "matmul f16,f16,f16 batch=2,m=20,n=30,k=11,trans_a=c,trans_b=t",
    "fused_linear f32,f32,f32,f32 batch=2,m=20,n=30,k=11",
};

START_TEST(parts_have_the_elements_of_the_whole)
{
    static const int64_t row[] = {0, 3, 7, 19}, scattered[] = {1, 2, 5, 29}, run[] = {4, 5, 6, 7};
    const assay__product g = product_of(forms[_i]);
    void *whole[3] = {NULL}, *part[3] = {NULL};

    for (unsigned i = 0; i < (g.has_addend ? 3u : 2u); i++)
        whole[i] = fill(&g.problem, i);
    for (int turn = 0; turn < 2; turn++) {
        const int64_t *col = turn ? run : scattered;
        const int64_t batch = g.batch - 1;
        assay__product few;
        assay_problem p;
        ck_assert_int_eq(assay__product_part(&g, 4, 4, &p), ASSAY_OK);
        ck_assert(assay__product_of(&p, &few));
        ck_assert_int_eq(few.batch, 1);
        for (unsigned i = 0; i < (g.has_addend ? 3u : 2u); i++)
            part[i] = malloc((size_t)assay_problem_operand_bytes(&p, i));
        const void *const from[3] = {whole[0], whole[1], whole[2]};
        assay__product_gather(&g, batch, row, 4, col, 4, from, part);
        for (int64_t i = 0; i < 4; i++)
            for (int64_t j = 0; j < 4; j++)
                ck_assert_double_eq(element(&few, part, 0, i, j),
                                    element(&g, whole, batch, row[i], col[j]));
        for (int i = 0; i < 3; i++)
            free(part[i]);
    }
    for (int i = 0; i < 3; i++)
        free(whole[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("product_sample");
    TCase *c = tcase_create("product_sample");

    tcase_add_test(c, large_products_are_sampled_and_no_others);
    tcase_add_test(c, other_problems_are_no_products);
    tcase_add_loop_test(c, borders_and_every_region_are_looked_at, 0, MAPS);
    tcase_add_test(c, some_products_of_a_batch_are_looked_at);
    tcase_add_test(c, seeds_and_streams_choose);
    tcase_add_loop_test(c, parts_have_the_elements_of_the_whole, 0,
                        (int)(sizeof forms / sizeof *forms));
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
