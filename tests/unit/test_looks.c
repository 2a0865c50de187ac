/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_looks.c -- intervals keep their coverage, and looks their error, over noise whose
 * truth is known.
 *
 * The models are of log ratios, one a visit: what two stays of a quiet machine scatter (0.4 %), and
 * what comes on top of it elsewhere. */
#include "tuner/log_interval.h"
#include "tuner/verdict.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/noise.h"

#define MOST 21

typedef enum noise {
    NORMAL,
    HEAVY,   /* Student's, two degrees of freedom: no variance */
    WILD_5,  /* one stay in twenty takes up to half as long again */
    WILD_20, /* one in five */
    BIMODAL, /* either of two times, 6 % apart */
    ORDER,   /* who comes first is 3 % slower; every second visit goes the other way round */
    DRIFT,   /* the ratio scatters more from visit to visit */
    NOISES
} noise;

static double stay(noise kind)
{
    double x = 0.003 * normal();

    if (kind == HEAVY)
        x /= sqrt(-log(uniform()));
    if ((kind == WILD_5 && uniform() < 0.05) || (kind == WILD_20 && uniform() < 0.2))
        x += log1p(0.5 * uniform());
    if (kind == BIMODAL && uniform() < 0.5)
        x += 0.06;
    return x;
}

static void draw(noise kind, double effect, double *logs)
{
    double order = 0.0;

    for (size_t v = 0; v < MOST; v++) {
        double top = stay(kind);
        logs[v] = top - stay(kind) + effect;
        if (v % 2 == 0)
            order = uniform() < 0.5 ? 0.03 : -0.03;
        if (kind == ORDER)
            logs[v] += v % 2 == 0 ? order : -order;
        if (kind == DRIFT)
            logs[v] += 0.001 * (double)v * normal();
    }
}

/* Which of 1,000 may miss when one in a hundred does, three standard deviations of chance allowed.
 */
#define TRIALS 3000
#define MISSES 46

START_TEST(interval_covers_the_truth)
{
    static const size_t visits[] = {5, 6, 9, 13};
    const assay__shared_noise none = {.variance = 0.0, .sharing = 1.0};
    double logs[MOST];

    for (size_t k = 0; k < sizeof visits / sizeof visits[0]; k++) {
        int missed = 0;
        noise_state = 1000u * (unsigned)_i + k;
        for (int t = 0; t < TRIALS; t++) {
            assay__log_interval found;
            draw((noise)_i, 0.05, logs);
            ck_assert_int_eq(assay__log_interval_find(logs, visits[k], 0.01, none, &found),
                             ASSAY_OK);
            missed += !(fabs(found.mean - 0.05) <= found.half);
        }
        ck_assert_msg(missed <= MISSES, "noise %d, %zu visits: %d of %d missed", _i, visits[k],
                      missed, TRIALS);
    }
}
END_TEST

/* A wild visit or two of seven decide nothing; nor do they hide what the others agree on. */
START_TEST(wild_visits_neither_decide_nor_hide)
{
    const double one[] = {0.050, 0.049, 0.051, 0.400, 0.050, 0.048, 0.052};
    const double both[] = {0.050, -0.30, 0.051, 0.400, 0.050, 0.048, 0.052};
    const double few[] = {0.050, 0.049, 0.400, 0.051, 0.050};
    const double wild[] = {0.0, 0.0, 0.0, 0.4, 0.4, 0.4, 0.4};
    assay_verdict_rule rule = assay__verdict_rule_default();
    assay_comparison c;

    ck_assert_int_eq(assay__compare_paired(one, 7, &rule, &c), ASSAY_OK);
    ck_assert_int_eq(c.verdict, ASSAY_VERDICT_SLOWER);
    ck_assert(c.ratio > 1.045 && c.ratio < 1.06);
    ck_assert_int_eq(assay__compare_paired(both, 7, &rule, &c), ASSAY_OK);
    ck_assert_int_eq(c.verdict, ASSAY_VERDICT_SLOWER);
    ck_assert_int_eq(assay__compare_paired(few, 5, &rule, &c), ASSAY_OK);
    ck_assert_int_eq(c.verdict, ASSAY_VERDICT_UNDECIDED);
    ck_assert_int_eq(assay__compare_paired(wild, 7, &rule, &c), ASSAY_OK);
    ck_assert_int_eq(c.verdict, ASSAY_VERDICT_UNDECIDED);
}
END_TEST

typedef struct tally {
    int found, wrong, equal, open;
    size_t visits;
} tally;

/* As a comparison goes on: no visit is there before it is asked for. */
static assay_comparison by_looks(const double *logs, size_t first, const assay_verdict_rule *rule)
{
    size_t visits = first, wanted;
    assay_comparison c;

    for (;;) {
        ck_assert_int_eq(assay__compare_looks(logs, visits, first, rule, &c, &wanted), ASSAY_OK);
        if (wanted == 0)
            return c;
        ck_assert_uint_gt(wanted, visits);
        visits = wanted;
    }
}

static tally judge(noise kind, double gain, int trials)
{
    assay_verdict_rule rule = assay__verdict_rule_default();
    tally out = {0};
    double logs[MOST];

    for (int t = 0; t < trials; t++) {
        draw(kind, log1p(gain), logs);
        assay_comparison c = by_looks(logs, 7, &rule);
        out.found += c.verdict == ASSAY_VERDICT_SLOWER;
        out.wrong += c.verdict == ASSAY_VERDICT_FASTER;
        out.equal += c.verdict == ASSAY_VERDICT_TIE;
        out.open += c.verdict == ASSAY_VERDICT_UNDECIDED;
        out.visits += c.visits;
    }
    return out;
}

START_TEST(equals_have_no_winner_in_any_look)
{
    noise_state = 77u + (unsigned)_i;
    tally t = judge((noise)_i, 0.0, 1000);
    ck_assert_msg(t.found + t.wrong <= 10, "noise %d: %d of 1,000", _i, t.found + t.wrong);
}
END_TEST

START_TEST(five_percent_is_found_or_called_undecided)
{
    static const int found[NOISES] = {950, 950, 950, 600, 450, 950, 950};
    noise_state = 177u + (unsigned)_i;
    tally t = judge((noise)_i, 0.05, 1000);
    ck_assert_msg(t.found >= found[_i], "noise %d: %d of 1,000", _i, t.found);
    ck_assert_msg(t.equal + t.wrong <= 10, "noise %d: %d called equal, %d faster", _i, t.equal,
                  t.wrong);
}
END_TEST

START_TEST(visits_go_where_they_decide)
{
    noise_state = 5;
    ck_assert_uint_eq(judge(NORMAL, 0.05, 200).visits, 1400);
    tally wild = judge(WILD_5, 0.05, 1000);
    ck_assert_msg(wild.visits > 7000 && wild.visits < 8000, "%zu", wild.visits);
}
END_TEST

START_TEST(looks_are_half_as_many_more_and_twice_and_thrice)
{
    double sum = 0.0;

    ck_assert_uint_eq(assay__look_visits(7, 0), 7);
    ck_assert_uint_eq(assay__look_visits(7, 1), 10);
    ck_assert_uint_eq(assay__look_visits(7, 2), 14);
    ck_assert_uint_eq(assay__look_visits(7, 3), 21);
    ck_assert_uint_eq(assay__look_visits(4, ASSAY_LOOKS - 1), ASSAY_LOOK_MOST(4));
    for (size_t look = 0; look < ASSAY_LOOKS; look++)
        sum += 1.0 - assay__look_confidence(0.99, look);
    ck_assert_double_eq_tol(sum, 0.01, 1e-12);
}
END_TEST

START_TEST(the_first_look_that_decides_ends_it)
{
    assay_verdict_rule rule = assay__verdict_rule_default();
    assay_comparison c;
    size_t wanted;
    double logs[MOST];

    for (size_t v = 0; v < MOST; v++)
        logs[v] = v < 6 ? 0.05 + 0.0001 * (double)v : -0.5;
    ck_assert_int_eq(assay__compare_looks(logs, MOST, 6, &rule, &c, &wanted), ASSAY_OK);
    ck_assert(c.verdict == ASSAY_VERDICT_SLOWER && c.visits == 6 && wanted == 0);
    for (size_t v = 0; v < MOST; v++)
        logs[v] = v < 6 ? 0.3 * (double)(v % 2) : 0.05 + 0.0001 * (double)v;
    ck_assert_int_eq(assay__compare_looks(logs, 6, 6, &rule, &c, &wanted), ASSAY_OK);
    ck_assert(c.verdict == ASSAY_VERDICT_UNDECIDED && wanted == 9);
    ck_assert_int_eq(assay__compare_looks(logs, 8, 6, &rule, &c, &wanted), ASSAY_OK);
    ck_assert(c.visits == 6 && wanted == 9); /* eight are no look */
    ck_assert_int_eq(assay__compare_looks(logs, 9, 6, &rule, &c, &wanted), ASSAY_OK);
    ck_assert(c.visits == 9 && wanted == 12);
    ck_assert_int_eq(assay__compare_looks(logs, MOST, 6, &rule, &c, &wanted), ASSAY_OK);
    ck_assert(c.visits == 18 && wanted == 0); /* there is no fifth */
    /* Fewer than the first look asks for are judged as they are. */
    ck_assert_int_eq(assay__compare_looks(logs, 5, 6, &rule, &c, &wanted), ASSAY_OK);
    ck_assert(c.visits == 5 && c.verdict == ASSAY_VERDICT_UNDECIDED && wanted == 9);
    rule.aa_floor = 0.06; /* more visits would not help */
    ck_assert_int_eq(assay__compare_looks(logs, 6, 6, &rule, &c, &wanted), ASSAY_OK);
    ck_assert(c.reason == ASSAY_UNDECIDED_BELOW_FLOOR && wanted == 0);
    ck_assert_int_eq(assay__compare_looks(logs, 0, 6, &rule, &c, &wanted), ASSAY_INVALID);
}
END_TEST

START_TEST(a_tie_holds_no_difference_of_the_size_asked_for)
{
    assay_verdict_rule rule = assay__verdict_rule_default();
    /* 4 % give or take 4.4: 5 % are as likely as 3. */
    const double open[] = {0.00, 0.08, 0.02, 0.06, 0.04};
    const double equal[] = {0.00, 0.015, -0.015, 0.007, -0.007};
    assay_comparison c;

    ck_assert_int_eq(assay__compare_paired(open, 5, &rule, &c), ASSAY_OK);
    ck_assert(c.lo < 1.0 && c.hi > 1.05);
    ck_assert_int_eq(c.verdict, ASSAY_VERDICT_UNDECIDED);
    ck_assert_int_eq(c.reason, ASSAY_UNDECIDED_WIDE);
    ck_assert_int_eq(assay__compare_paired(equal, 5, &rule, &c), ASSAY_OK);
    ck_assert_int_eq(c.verdict, ASSAY_VERDICT_TIE);
    rule.target = 0.021; /* whoever asks for less gets no tie from this */
    ck_assert_int_eq(assay__compare_paired(equal, 5, &rule, &c), ASSAY_OK);
    ck_assert_int_eq(c.verdict, ASSAY_VERDICT_UNDECIDED);
}
END_TEST

START_TEST(trimmed_mean_and_its_variance)
{
    const double values[] = {-9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 70.0};
    double mean, variance;

    ck_assert_uint_eq(assay__log_trim(5), 0);
    ck_assert_uint_eq(assay__log_trim(6), 1);
    ck_assert_uint_eq(assay__log_trim(9), 2);
    assay__log_trimmed(values, 7, 1, &mean, &variance);
    ck_assert_double_eq_tol(mean, 3.0, 1e-12);
    /* Winsorized: 1 1 2 3 4 5 5 around 3: 18; 18 * 7 / (5 * 4) */
    ck_assert_double_eq_tol(variance, 6.3, 1e-12);
    assay__log_trimmed(values, 7, 0, &mean, &variance);
    ck_assert_double_eq_tol(mean, 76.0 / 7.0, 1e-12);
    assay__log_trimmed(values, 1, 0, &mean, &variance);
    ck_assert(mean == -9.0 && variance == 0.0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("looks");
    TCase *rates = tcase_create("rates"), *rules = tcase_create("rules");

    suite_add_tcase(suite, rates);
    suite_add_tcase(suite, rules);
    tcase_set_timeout(rates, 60);
    tcase_add_loop_test(rates, interval_covers_the_truth, 0, NOISES);
    tcase_add_loop_test(rates, equals_have_no_winner_in_any_look, 0, NOISES);
    tcase_add_loop_test(rates, five_percent_is_found_or_called_undecided, 0, NOISES);
    tcase_add_test(rates, visits_go_where_they_decide);
    tcase_add_test(rules, wild_visits_neither_decide_nor_hide);
    tcase_add_test(rules, looks_are_half_as_many_more_and_twice_and_thrice);
    tcase_add_test(rules, the_first_look_that_decides_ends_it);
    tcase_add_test(rules, a_tie_holds_no_difference_of_the_size_asked_for);
    tcase_add_test(rules, trimmed_mean_and_its_variance);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
