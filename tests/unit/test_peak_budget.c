/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_peak_budget.c -- a probe of many loops keeps its time, on a clock of our own. */
#include <check.h>
#include <stdbool.h>

#include "tuner/peak_budget.h"

#define SECONDS 2e9

typedef struct machine {
    double now_ns, per_ns, start_ns; /* start_ns: what each run costs beside its work */
    size_t taken, runs;
    double last_work;
} machine;

static double now_ns(void *cookie)
{
    const machine *m = cookie;

    return m->now_ns;
}

static double run(void *cookie, double work)
{
    machine *m = cookie;
    double ns = work / m->per_ns + m->start_ns;

    m->now_ns += ns;
    m->runs++;
    return ns;
}

static void take(void *cookie, double work, double ns)
{
    machine *m = cookie;

    (void)ns;
    m->taken++;
    m->last_work = work;
}

static assay__peak_unit unit_of(machine *m)
{
    return (assay__peak_unit){.now_ns = now_ns,
                              .run = run,
                              .take = take,
                              .cookie = m,
                              .runs = 5,
                              .least = 1000,
                              .most = 1e12,
                              .shortest_ns = 3e5,
                              .longest_ns = 4e6};
}

/* Units of arithmetic, each with two of memory where asked for; time that they took. */
static double probe(machine *m, size_t units, bool with_memory)
{
    const double begin = m->now_ns;
    assay__peak_budget b = {begin + SECONDS, units * (with_memory ? 3u : 1u)};
    assay__peak_unit small = unit_of(m), memory = unit_of(m);

    memory.runs = 3;
    memory.least = 4e6;
    memory.most = 3e8;
    memory.per_ns = m->per_ns / 2; /* as wrong as a guess may be */
    memory.longest_ns = SECONDS;
    for (size_t i = 0; i < units; i++) {
        assay__peak_spend(&b, &small);
        for (size_t k = 0; with_memory && k < 2; k++)
            assay__peak_spend(&b, &memory);
    }
    ck_assert_uint_eq(b.units, 0);
    return m->now_ns - begin;
}

START_TEST(probe_with_time_makes_all_runs)
{
    machine m = {.now_ns = 5e9, .per_ns = 10, .start_ns = 5e4};

    ck_assert(probe(&m, 14, false) <= SECONDS);
    ck_assert_uint_eq(m.taken, 14 * 5);
    ck_assert(m.last_work / m.per_ns >= 1e6); /* no shorter than a tenth of a share */
}
END_TEST

/* Sets of units that machines have, on fast ones and on ones that are ten times too busy: within
 * the time but for what the last run began with. */
START_TEST(probe_keeps_its_time)
{
    static const size_t units[] = {1, 4, 14, 40};
    static const double rates[] = {100, 10, 1, 0.3};

    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++)
            for (int memory = 0; memory < 2; memory++) {
                machine m = {.per_ns = rates[k], .start_ns = 2e5};
                double took = probe(&m, units[i], memory != 0);
                ck_assert_msg(took <= 1.1 * SECONDS, "%zu units at %g: %g ns", units[i], rates[k],
                              took);
                ck_assert_uint_ge(m.taken, units[i]);
            }
}
END_TEST

START_TEST(unit_without_time_makes_one_run)
{
    machine m = {.now_ns = 1, .per_ns = 10, .start_ns = 5e4};
    assay__peak_budget b = {.end_ns = 0, .units = 1};
    assay__peak_unit u = unit_of(&m);

    assay__peak_spend(&b, &u);
    ck_assert_uint_eq(m.taken, 1);
    ck_assert_uint_eq(m.runs, 2); /* one had to size the work */
    u.per_ns = 10;
    assay__peak_spend(&b, &u); /* more than was planned: still one */
    ck_assert_uint_eq(m.taken, 2);
    ck_assert_uint_eq(m.runs, 3);
    ck_assert_uint_eq(b.units, 0);
}
END_TEST

/* What the first did not need is there for the second, and no run does more than it may. */
START_TEST(unit_gets_what_others_left)
{
    machine m = {.per_ns = 10, .start_ns = 5e4};
    assay__peak_budget b = {.end_ns = 1e9, .units = 2};
    assay__peak_unit u = unit_of(&m);

    u.longest_ns = 1e6;
    assay__peak_spend(&b, &u);
    ck_assert(m.now_ns < 1e7);
    u.longest_ns = 1e9;
    u.per_ns = 10;
    u.runs = 3;
    assay__peak_spend(&b, &u);
    ck_assert(m.now_ns > 0.98e9 && m.now_ns < 1.1e9);
    u.most = 5000;
    b = (assay__peak_budget){.end_ns = 2e9, .units = 1};
    assay__peak_spend(&b, &u);
    ck_assert(m.last_work >= 5000 && m.last_work <= 5000);
}
END_TEST

START_TEST(team_takes_from_the_first_begin_to_the_last_end)
{
    const double begin[] = {30, 10, 20, 40}, end[] = {50, 45, 60, 55};

    ck_assert_double_eq(assay__peak_elapsed(begin, end, 4), 50);
    ck_assert_double_eq(assay__peak_elapsed(begin, end, 1), 20);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("peak_budget");
    TCase *tcase = tcase_create("budget");

    tcase_add_test(tcase, probe_with_time_makes_all_runs);
    tcase_add_test(tcase, probe_keeps_its_time);
    tcase_add_test(tcase, unit_without_time_makes_one_run);
    tcase_add_test(tcase, unit_gets_what_others_left);
    tcase_add_test(tcase, team_takes_from_the_first_begin_to_the_last_end);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
