/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_stats.c -- robust statistics: known values, odd inputs, coverage. */
#include "tuner/stats.h"
#include "tuner/student.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/support/noise.h"

static void near(double got, double want, double relative)
{
    ck_assert_msg(fabs(got - want) <= relative * fabs(want), "%.17g is not %.17g", got, want);
}

static bool all_finite(const assay_sample_summary *s)
{
    const double values[] = {s->min,
                             s->p25,
                             s->median,
                             s->p75,
                             s->p95,
                             s->p99,
                             s->max,
                             s->mean,
                             s->mad,
                             s->ci95.lo,
                             s->ci95.hi,
                             s->ci95.confidence,
                             s->autocorrelation};
    bool finite = true;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        finite = finite && isfinite(values[i]);
    return finite;
}

START_TEST(quantiles_follow_type_seven)
{
    const double x[] = {1, 2, 4, 8};
    near(assay__stats_quantile(x, 4, 0.0), 1.0, 0);
    near(assay__stats_quantile(x, 4, 0.25), 1.75, 1e-15);
    near(assay__stats_quantile(x, 4, 0.5), 3.0, 1e-15);
    near(assay__stats_quantile(x, 4, 1.0), 8.0, 0);
    near(assay__stats_quantile(x, 1, 0.5), 1.0, 0);
}
END_TEST

START_TEST(median_and_mad_are_exact_on_small_sets)
{
    const double x[] = {9, 1, 5, 3, 100};
    double median, mad;
    ck_assert_int_eq(assay__stats_median(x, 5, &median), ASSAY_OK);
    ck_assert_int_eq(assay__stats_mad(x, 5, &mad), ASSAY_OK);
    near(median, 5.0, 0);
    near(mad, 1.4826 * 4.0, 1e-15); /* distances 4 4 0 2 95 */
}
END_TEST

START_TEST(mad_estimates_the_sd_of_a_normal)
{
    static double x[20001];
    double mad;
    noise_state = 1;
    for (size_t i = 0; i < 20001; i++)
        x[i] = 100.0 + 3.0 * normal();
    ck_assert_int_eq(assay__stats_mad(x, 20001, &mad), ASSAY_OK);
    near(mad, 3.0, 0.03);
}
END_TEST

START_TEST(interval_uses_the_tabled_ranks)
{
    /* Ranks of the 95 % interval of the median from the binomial table: n = 6: 1..6 (96.9 %),
     * 10: 2..9 (97.9 %), 20: 6..15 (95.9 %), 50: 18..33 (96.7 %), 100: 40..61 (96.5 %). */
    static const size_t table[][2] = {{6, 1},  {8, 1},   {9, 2},   {10, 2},
                                      {20, 6}, {50, 18}, {100, 40}};
    static const double reached[] = {0.96875,        0.9921875,      0.9609375,     0.978515625,
                                     0.958610534667, 0.967160862435, 0.964799799782};
    double x[100];
    for (int i = 0; i < 100; i++)
        x[i] = i + 1;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t n = table[i][0], k = table[i][1];
        assay_interval ci = assay__stats_median_interval(x, n, 0.95);
        ck_assert_double_eq(ci.lo, (double)k);
        ck_assert_double_eq(ci.hi, (double)(n + 1 - k));
        near(ci.confidence, reached[i], 1e-8);
    }
}
END_TEST

START_TEST(interval_of_few_samples_is_their_range)
{
    const double x[] = {1, 2, 3, 4, 5};
    assay_interval ci = assay__stats_median_interval(x, 5, 0.95);
    ck_assert_double_eq(ci.lo, 1.0);
    ck_assert_double_eq(ci.hi, 5.0);
    ck_assert_double_eq(ci.confidence, 0.9375);
    ck_assert_double_eq(assay__stats_median_interval(x, 2, 0.95).confidence, 0.5);
    ck_assert_double_eq(assay__stats_median_interval(x, 1, 0.95).confidence, 0.0);
}
END_TEST

START_TEST(interval_of_many_samples_stays_finite)
{
    static double x[100000];
    for (int i = 0; i < 100000; i++)
        x[i] = i;
    assay_interval ci = assay__stats_median_interval(x, 100000, 0.99);
    near(0.5 * (ci.hi - ci.lo), 2.5758 * 0.5 * sqrt(100000), 0.01);
    ck_assert(ci.confidence >= 0.99 && ci.confidence < 0.9902);
}
END_TEST

START_TEST(interval_covers_the_median_as_promised)
{
    size_t covered = 0;
    noise_state = 7;
    for (int trial = 0; trial < 2000; trial++) {
        double x[25], *sorted;
        for (int i = 0; i < 25; i++)
            x[i] = exp(normal()); /* median 1, skewed */
        ck_assert_int_eq(assay__stats_sorted(x, 25, &sorted), ASSAY_OK);
        assay_interval ci = assay__stats_median_interval(sorted, 25, 0.95);
        covered += ci.lo <= 1.0 && 1.0 <= ci.hi;
        free(sorted);
    }
    ck_assert_uint_ge(covered, 1880); /* achieved 95.7 %; 4 sd of 2,000 trials: 1.8 % */
    ck_assert_uint_le(covered, 1950);
}
END_TEST

START_TEST(student_matches_its_tables)
{
    near(assay__student_critical(0.05, 4), 2.776445105198, 1e-10);
    near(assay__student_critical(0.01, 4), 4.604094871350, 1e-10);
    near(assay__student_critical(0.01, 1), 63.656741162872, 1e-10);
    near(assay__student_critical(0.01, 30), 2.749995653567, 1e-10);
    near(assay__student_critical(1e-3, 1e6), 3.290533, 1e-5);
    near(assay__student_tails(1.0, 1), 0.5, 1e-13);
    near(assay__coin_tail(10, 1), 11.0 / 1024.0, 1e-12);
}
END_TEST

START_TEST(bootstrap_is_seeded_and_brackets_the_median)
{
    const double x[] = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    assay_interval a, b, c;
    ck_assert_int_eq(assay__stats_bootstrap_median(x, 11, 0.95, 2000, 1, &a), ASSAY_OK);
    ck_assert_int_eq(assay__stats_bootstrap_median(x, 11, 0.95, 2000, 1, &b), ASSAY_OK);
    ck_assert_int_eq(assay__stats_bootstrap_median(x, 11, 0.95, 2000, 2, &c), ASSAY_OK);
    ck_assert(a.lo == b.lo && a.hi == b.hi);
    ck_assert(a.lo >= 11 && a.lo <= 13 && a.hi >= 17 && a.hi <= 19);
    ck_assert(c.lo >= 11 && c.hi <= 19);
    ck_assert_double_eq(a.confidence, 0.95);
}
END_TEST

START_TEST(bootstrap_ratio_pairs_the_visits)
{
    double a[30], b[30];
    assay_interval ci;
    noise_state = 3;
    for (int i = 0; i < 30; i++) {
        double visit = exp(0.23 * normal());
        a[i] = 105.0 * visit;
        b[i] = 100.0 * visit;
    }
    ck_assert_int_eq(assay__stats_bootstrap_ratio(a, b, 30, 0.95, 2000, 9, &ci), ASSAY_OK);
    near(ci.lo, 1.05, 1e-12); /* the visits divide out exactly */
    near(ci.hi, 1.05, 1e-12);
    b[4] = 0.0;
    ck_assert_int_eq(assay__stats_bootstrap_ratio(a, b, 30, 0.95, 2000, 9, &ci), ASSAY_INVALID);
    ck_assert_int_eq(assay__stats_bootstrap_ratio(a, a, 30, 0.95, 10, 9, &ci), ASSAY_INVALID);
    ck_assert_int_eq(assay__stats_bootstrap_ratio(a, a, 30, 1.0, 2000, 9, &ci), ASSAY_INVALID);
}
END_TEST

START_TEST(outliers_are_counted_in_two_classes)
{
    /* quartiles 3 and 7, range 4: mild beyond 13 or -3, severe beyond 19 or -9 */
    const double x[] = {-4, 2, 3, 4, 5, 6, 7, 8, 20};
    size_t mild, severe;
    assay__stats_outliers(x, 9, 0.0, &mild, &severe);
    ck_assert_uint_eq(mild, 1);
    ck_assert_uint_eq(severe, 1);
    const double ticks[] = {100, 100, 100, 100, 100, 100, 100, 129};
    assay__stats_outliers(ticks, 8, 29.0, &mild, &severe);
    ck_assert_uint_eq(mild + severe, 0);
    assay__stats_outliers(ticks, 8, 0.0, &mild, &severe);
    ck_assert_uint_eq(severe, 1);
}
END_TEST

START_TEST(bimodal_sees_two_modes_and_not_one)
{
    size_t found = 0, missed = 0;
    noise_state = 11;
    for (int trial = 0; trial < 400; trial++) {
        double one[50], two[50], *sorted;
        for (int i = 0; i < 50; i++) {
            one[i] = trial % 2 ? 1000.0 * exp(0.05 * normal()) : 1000.0 + 100.0 * uniform();
            two[i] = 1000.0 + 10.0 * normal() + (i % 3 == 0 ? 120.0 : 0.0);
        }
        ck_assert_int_eq(assay__stats_sorted(one, 50, &sorted), ASSAY_OK);
        found += assay__stats_bimodal(sorted, 50);
        free(sorted);
        ck_assert_int_eq(assay__stats_sorted(two, 50, &sorted), ASSAY_OK);
        missed += !assay__stats_bimodal(sorted, 50);
        free(sorted);
    }
    ck_assert_uint_le(found, 8);
    ck_assert_uint_le(missed, 4);
}
END_TEST

START_TEST(drift_sees_a_trend_and_not_noise)
{
    size_t found = 0, missed = 0;
    bool drift;
    noise_state = 5;
    for (int trial = 0; trial < 400; trial++) {
        double flat[60], trend[60];
        for (int i = 0; i < 60; i++) {
            flat[i] = 1000.0 + 25.0 * normal();
            trend[i] = 1000.0 + 25.0 * normal() + 2.5 * i;
        }
        ck_assert_int_eq(assay__stats_drift(flat, 60, &drift), ASSAY_OK);
        found += drift;
        ck_assert_int_eq(assay__stats_drift(trend, 60, &drift), ASSAY_OK);
        missed += !drift;
    }
    ck_assert_uint_le(found, 3);
    ck_assert_uint_le(missed, 2);
}
END_TEST

START_TEST(autocorrelation_has_sign_and_range)
{
    double r, x[100];
    for (int i = 0; i < 100; i++)
        x[i] = i % 2;
    ck_assert(assay__stats_autocorrelation(x, 100, &r));
    near(r, -0.99, 1e-12);
    for (int i = 0; i < 100; i++)
        x[i] = i < 50 ? 0 : 1;
    ck_assert(assay__stats_autocorrelation(x, 100, &r));
    ck_assert(r > 0.95 && r <= 1.0);
    ck_assert(!assay__stats_autocorrelation(x, 2, &r));
    ck_assert(!assay__stats_autocorrelation(x, 40, &r)); /* all equal */
}
END_TEST

START_TEST(summary_of_odd_sets_is_finite)
{
    static const double same[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    static const double zeros[12] = {0};
    static const double huge[] = {1e100, -1e100, 1e100, 1e99, 1, 0, 1e100, 1e100, 2, 3, 4, 5};
    const double *sets[] = {same, zeros, huge};
    for (size_t s = 0; s < 3; s++)
        for (size_t n = 1; n <= 12; n++) {
            assay_sample_summary sum;
            ck_assert_int_eq(assay__stats_summarise(sets[s], n, 0.0, &sum), ASSAY_OK);
            ck_assert(all_finite(&sum));
            ck_assert_uint_eq(sum.n, n);
        }
    assay_sample_summary sum;
    ck_assert_int_eq(assay__stats_summarise(same, 12, 0.0, &sum), ASSAY_OK);
    ck_assert(sum.mad <= 0.0 && !sum.bimodal && !sum.drift && !sum.has_autocorrelation);
    ck_assert(sum.ci95.lo >= 0.1 && sum.ci95.hi <= 0.1);
}
END_TEST

START_TEST(bad_samples_are_refused)
{
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e101};
    assay_sample_summary sum;
    assay_interval ci;
    double x[12] = {0}, value;
    bool flag;
    ck_assert_int_eq(assay__stats_summarise(x, 0, 0.0, &sum), ASSAY_INVALID);
    ck_assert_int_eq(assay__stats_median(x, 0, &value), ASSAY_INVALID);
    for (size_t b = 0; b < 4; b++)
        for (size_t at = 0; at < 12; at += 11) {
            for (int i = 0; i < 12; i++)
                x[i] = 1.0;
            x[at] = bad[b];
            ck_assert_int_eq(assay__stats_summarise(x, 12, 0.0, &sum), ASSAY_INVALID);
            ck_assert_int_eq(assay__stats_median(x, 12, &value), ASSAY_INVALID);
            ck_assert_int_eq(assay__stats_mad(x, 12, &value), ASSAY_INVALID);
            ck_assert_int_eq(assay__stats_drift(x, 12, &flag), ASSAY_INVALID);
            ck_assert_int_eq(assay__stats_bootstrap_median(x, 12, 0.95, 100, 1, &ci),
                             ASSAY_INVALID);
        }
    ck_assert_int_eq(assay__stats_summarise(x, 11, NAN, &sum), ASSAY_INVALID);
}
END_TEST

static const assay_stop_rule rule = {.confidence = 0.95,
                                     .half_width = 0.01,
                                     .budget_ns = 3e9,
                                     .min_samples = 50,
                                     .max_samples = 500};

static assay_stop stop_of(const double *x, size_t n, double spent)
{
    assay_stop reason = ASSAY_STOP_INTERRUPTED;
    ck_assert_int_eq(assay__stop_check(&rule, x, n, spent, &reason), ASSAY_OK);
    return reason;
}

START_TEST(stop_names_its_reason)
{
    static double quiet[500], loud[500];
    noise_state = 2;
    for (int i = 0; i < 500; i++) {
        quiet[i] = 1000.0 + 10.0 * normal();
        loud[i] = 1000.0 * exp(0.5 * normal());
    }
    ck_assert_int_eq(stop_of(quiet, 0, 0.0), ASSAY_STOP_CONTINUE);
    ck_assert_int_eq(stop_of(quiet, 0, 4e9), ASSAY_STOP_BUDGET);
    ck_assert_int_eq(stop_of(quiet, 49, 0.0), ASSAY_STOP_CONTINUE);
    ck_assert_int_eq(stop_of(quiet, 50, 0.0), ASSAY_STOP_PRECISE);
    ck_assert_int_eq(stop_of(loud, 100, 0.0), ASSAY_STOP_CONTINUE);
    ck_assert_int_eq(stop_of(loud, 100, 3e9), ASSAY_STOP_BUDGET);
    ck_assert_int_eq(stop_of(loud, 500, 0.0), ASSAY_STOP_COUNT);
    ck_assert_str_eq(assay__stop_name(ASSAY_STOP_BUDGET), "budget");
    ck_assert_str_eq(assay__stop_name((assay_stop)99), "unknown");
}
END_TEST

START_TEST(stop_needs_the_confidence_it_was_asked_for)
{
    const double same[] = {5, 5, 5, 5, 5, 5};
    assay_stop_rule few = rule;
    assay_stop reason;
    few.min_samples = 1;
    ck_assert_int_eq(assay__stop_check(&few, same, 5, 0.0, &reason), ASSAY_OK);
    ck_assert_int_eq(reason, ASSAY_STOP_CONTINUE); /* the range of five has 93.75 % */
    ck_assert_int_eq(assay__stop_check(&few, same, 6, 0.0, &reason), ASSAY_OK);
    ck_assert_int_eq(reason, ASSAY_STOP_PRECISE);
}
END_TEST

START_TEST(stop_refuses_nonsense)
{
    const double x[] = {1, NAN};
    assay_stop_rule bad = rule;
    assay_stop reason;
    ck_assert_int_eq(assay__stop_check(&rule, x, 2, 0.0, &reason), ASSAY_INVALID);
    ck_assert_int_eq(assay__stop_check(&rule, x, 1, NAN, &reason), ASSAY_INVALID);
    bad.half_width = NAN;
    ck_assert_int_eq(assay__stop_check(&bad, x, 1, 0.0, &reason), ASSAY_INVALID);
    bad = rule;
    bad.confidence = 1.0;
    ck_assert_int_eq(assay__stop_check(&bad, x, 1, 0.0, &reason), ASSAY_INVALID);
}
END_TEST

static TCase *tcase(Suite *suite, const char *name)
{
    TCase *tc = tcase_create(name);
    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 60);
    return tc;
}

int main(void)
{
    Suite *suite = suite_create("stats");
    TCase *location = tcase(suite, "location"), *interval = tcase(suite, "interval");
    TCase *shape = tcase(suite, "shape"), *odd = tcase(suite, "odd"), *stop = tcase(suite, "stop");

    tcase_add_test(location, quantiles_follow_type_seven);
    tcase_add_test(location, median_and_mad_are_exact_on_small_sets);
    tcase_add_test(location, mad_estimates_the_sd_of_a_normal);
    tcase_add_test(interval, interval_uses_the_tabled_ranks);
    tcase_add_test(interval, interval_of_few_samples_is_their_range);
    tcase_add_test(interval, interval_of_many_samples_stays_finite);
    tcase_add_test(interval, interval_covers_the_median_as_promised);
    tcase_add_test(interval, student_matches_its_tables);
    tcase_add_test(interval, bootstrap_is_seeded_and_brackets_the_median);
    tcase_add_test(interval, bootstrap_ratio_pairs_the_visits);
    tcase_add_test(shape, outliers_are_counted_in_two_classes);
    tcase_add_test(shape, bimodal_sees_two_modes_and_not_one);
    tcase_add_test(shape, drift_sees_a_trend_and_not_noise);
    tcase_add_test(shape, autocorrelation_has_sign_and_range);
    tcase_add_test(odd, summary_of_odd_sets_is_finite);
    tcase_add_test(odd, bad_samples_are_refused);
    tcase_add_test(stop, stop_names_its_reason);
    tcase_add_test(stop, stop_needs_the_confidence_it_was_asked_for);
    tcase_add_test(stop, stop_refuses_nonsense);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
