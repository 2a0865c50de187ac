/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_sweep_order.c -- which problems a budget is spent on first. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "sweep/sweep_internal.h"

#define MOST 4

static const assay__profile *profile;
static assay__sweep_options options;
static sweep s;

static void setup(void)
{
    memset(&s, 0, sizeof s);
    ck_assert_int_eq(assay__profile_find("quick", &profile), ASSAY_OK);
    options = (assay__sweep_options){.profile = profile};
    s.o = &options;
    s.cpus = 2;
    s.problems = calloc(MOST, sizeof *s.problems);
    ck_assert_ptr_nonnull(s.problems);
}

static void teardown(void)
{
    free(s.problems);
}

/* 12 variants each, as there are many of one kernel. */
static void put(const char *text, double weight)
{
    sweep_problem *p = &s.problems[s.problem_count++];

    ck_assert_int_eq(assay_problem_parse(text, &p->problem), ASSAY_OK);
    p->weight = weight;
    p->count = 12;
}

/* The row that comes at a place, by its weight. */
static void expect(size_t at, double weight)
{
    ck_assert_double_eq(s.problems[at].weight, weight);
}

/* Calls of 1.4 s and of 11 s take the same ten seconds of a problem's time. */
START_TEST(heavier_products_are_worth_more)
{
    put("matmul f32,f32,f32 m=4096,n=4096,k=4096", 1.01);
    put("matmul f32,f32,f32 m=8192,n=8192,k=8192", 1.0);
    ck_assert_int_eq(assay__sweep_order(&s), ASSAY_OK);
    expect(0, 1.0);
    expect(1, 1.01);
}
END_TEST

/* A sum of 1.2 ms that runs twenty times is measured in a seventh of what a product of 0.1 s
 * takes, and has a quarter of its time. */
START_TEST(light_problems_that_run_often_come_before_heavy_ones)
{
    put("matmul f32,f32,f32 m=1710,n=1710,k=1710", 1.0);
    put("add f32,f32,f32 n=1000000", 20.0);
    ck_assert_int_eq(assay__sweep_order(&s), ASSAY_OK);
    expect(0, 20.0);
}
END_TEST

/* Two that cost the same: by what workloads spend in them; of equals the first. */
START_TEST(counts_weigh)
{
    put("add f32,f32,f32 n=1000", 1.0);
    put("add f32,f32,f32 n=1001", 7.0);
    put("add f32,f32,f32 n=1002", 3.0);
    put("add f32,f32,f32 n=1001", 7.0);
    s.problems[3].problem = s.problems[1].problem;
    s.problems[3].row = 5;
    ck_assert_int_eq(assay__sweep_order(&s), ASSAY_OK);
    expect(0, 7.0);
    ck_assert_int_eq(s.problems[0].row, 0);
    ck_assert_int_eq(s.problems[1].row, 5);
    expect(2, 3.0);
    expect(3, 1.0);
}
END_TEST

/* What has many variants takes longer. */
START_TEST(variants_cost)
{
    put("add f32,f32,f32 n=1000", 1.1);
    put("add f32,f32,f32 n=1000", 1.0);
    s.problems[0].count = 200;
    ck_assert_int_eq(assay__sweep_order(&s), ASSAY_OK);
    expect(0, 1.0);
    /* Time that the profile gives it, too. */
    options.problem_s = 1000;
    const double much = assay__sweep_worth(&s, &s.problems[1]);
    options.problem_s = 0.01;
    ck_assert_double_gt(assay__sweep_worth(&s, &s.problems[1]), much);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sweep_order");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, heavier_products_are_worth_more);
    tcase_add_test(all, light_problems_that_run_often_come_before_heavy_ones);
    tcase_add_test(all, counts_weigh);
    tcase_add_test(all, variants_cost);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
