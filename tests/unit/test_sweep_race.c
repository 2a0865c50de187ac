/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_sweep_race.c -- who is dropped when a screening visit is missing. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/sweep_internal.h"

static sweep_candidate list[3]; /* the default, the leader, and who is far behind it */
static sweep_problem p;

static void setup(void)
{
    memset(&p, 0, sizeof p);
    memset(list, 0, sizeof list);
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_add, ASSAY_F32, &p.problem), ASSAY_OK);
    p.candidates = list;
    p.count = 3;
    list[0].is_default = true;
    for (size_t i = 0; i < 3; i++) {
        list[i].verdict = ASSAY__VERDICT_OK;
        list[i].max_ulp = 0;
        list[i].max_rho = NAN;
    }
}

/* A visit more: 100 ns the leader, 160 ns the one behind. */
static void visit(size_t times)
{
    for (size_t v = 0; v < times; v++)
        for (size_t i = 0; i < 3; i++)
            list[i].visit_ns[list[i].visit_count++] = i == 0 ? 200.0 : i == 1 ? 100.0 : 160.0;
    ck_assert_int_eq(assay__sweep_race(&p), ASSAY_OK);
}

static void screened(double leader_ns, double behind_ns)
{
    list[0].screen_ns = 200;
    list[1].screen_ns = leader_ns;
    list[2].screen_ns = behind_ns;
}

START_TEST(screening_and_one_visit_drop_who_is_half_as_fast)
{
    screened(100, 160);
    visit(1);
    ck_assert(list[2].out);
    ck_assert(!list[0].out && !list[1].out);
}
END_TEST

/* What is not known shows nobody behind: three visits must. */
START_TEST(one_visit_alone_drops_nobody)
{
    static const double seen[][2] = {{0, 160}, {100, 0}, {0, 0}};

    screened(seen[_i][0], seen[_i][1]);
    visit(2);
    ck_assert(!list[2].out);
    visit(1);
    ck_assert(list[2].out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sweep_race");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, screening_and_one_visit_drop_who_is_half_as_fast);
    tcase_add_loop_test(all, one_visit_alone_drops_nobody, 0, 3);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
