/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_sweep_choice.c -- who is looked at again when a choice is in doubt. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/sweep_internal.h"

#define FIRST 6 /* visits of the profile */

enum { DEFAULT, LEADER, PREFERRED, LEAK, ALL };

static const assay_kernel_desc desc = {.name = "one"};
static const sweep_kernel kernel = {.desc = &desc};
static assay__profile profile;
static assay__sweep_options options;
static sweep_candidate list[ALL];
static sweep_problem p;
static sweep s;

static void setup(void)
{
    profile = (assay__profile){.visits = FIRST, .confirms = 4};
    options = (assay__sweep_options){.profile = &profile};
    memset(&p, 0, sizeof p);
    memset(&s, 0, sizeof s);
    memset(list, 0, sizeof list);
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_add, ASSAY_F32, &p.problem), ASSAY_OK);
    s.o = &options;
    s.aa_floor = NAN;
    p.candidates = list;
    p.count = ALL;
    list[DEFAULT].is_default = true;
    list[LEAK].leaked_fds = 40;
    for (size_t i = 0; i < ALL; i++) {
        list[i].kernel = &kernel;
        list[i].verdict = ASSAY__VERDICT_OK;
        list[i].stable = true;
        list[i].revision.bytes[0] = (uint8_t)i;
        list[i].max_ulp = i == LEADER ? 2 : 1; /* ties prefer the others */
        list[i].max_rho = NAN;
    }
}

/* The preferred one seems three per cent slower than the leader, and its visits scatter by ten. */
static void visit(size_t i)
{
    static const double scatter[] = {1.1, 0.93, 1.06, 0.95, 1.1, 0.92};
    static const double base[ALL] = {200, 100, 103, 90};
    sweep_candidate *c = &list[i];
    const double shake = i == PREFERRED ? scatter[c->visit_count % 6] : 1.0;

    c->visit_ns[c->visit_count++] = base[i] * shake;
}

static void choose(void)
{
    ck_assert_int_eq(assay__sweep_choose(&s, &p), ASSAY_OK);
}

/* Who leaves files open is measured, and never published: other visits of his tell nothing. */
START_TEST(who_may_not_win_is_in_no_doubt)
{
    for (size_t v = 0; v < FIRST; v++)
        for (size_t i = 0; i < ALL; i++)
            visit(i);
    choose();
    ck_assert_uint_eq(p.wanted, assay__look_visits(FIRST, 1));
    ck_assert(!list[LEADER].settled && !list[PREFERRED].settled);
    ck_assert(list[LEAK].settled && !list[LEAK].tied && !list[LEAK].slower);
    ck_assert(!list[LEAK].contender);
    /* The next look needs no visits of his. */
    while (list[LEADER].visit_count < p.wanted)
        for (size_t i = LEADER; i <= PREFERRED; i++)
            visit(i);
    const size_t had = p.wanted;
    choose();
    ck_assert_uint_ne(p.wanted, had);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sweep_choice");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, who_may_not_win_is_in_no_doubt);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
