/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_sweep_eta.c -- how long a sweep says that it will still take, and what it takes
 * by the scripted clock. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/sweep_place.h"

#define MOST 20000

/* Which of two variants that are alike ties prefer lies in their digests: of each kernel one alone
 * is the fastest. */
#define SCRIPT                                                               \
    "seed=1; kernel=* ns=0 per_unit=50 sd=0.01; kernel=* variant=1 slow=5; " \
    "kernel=* variant=2 slow=1.2; kernel=* variant=3 slow=1.3; kernel=fake_c slow=2"

static struct {
    double elapsed_s, eta_s;
    size_t done, total;
    char where[96];
} seen[MOST];
static size_t count;

static void on_progress(void *cookie, const assay__progress *p)
{
    (void)cookie;
    ck_assert_uint_lt(count, MOST);
    seen[count].elapsed_s = p->elapsed_s;
    seen[count].done = p->steps_done;
    seen[count].total = p->steps_total;
    (void)snprintf(seen[count].where, sizeof seen[count].where, "%s %.60s", p->phase, p->problem);
    seen[count++].eta_s = p->eta_s;
}

/* 50 ns an element of add and a product of matmul: calls of 0.3 us to 13 ms. */
static const char *const light_first[][2] = {
    {"add", "n=100|3000"},           {"matmul", "m=8,n=8,k=8|64"}, {"add", "n=40000|200000"},
    {"matmul", "m=32|64,n=32,k=64"}, {"add", "n=64|999"},          {"matmul", "m=4,n=4,k=4|8"}};
static const char *const heavy_first[][2] = {
    {"matmul", "m=64|32,n=64,k=64"}, {"add", "n=200000|40000"}, {"add", "n=64|999"},
    {"matmul", "m=4,n=4,k=4|8"},     {"add", "n=100|3000"},     {"matmul", "m=8,n=8,k=8|64"}};
static const char *const one_op_last[][2] = {
    {"add", "n=100|3000"}, {"add", "n=64|999"}, {"add", "n=40000|200000"},
    {"add", "n=5|50000"},  {"add", "n=6|7"},    {"matmul", "m=32|64,n=32,k=64"}};

/* Products take twice what these say, sums two and a half times. */
static const char peaks[] =
    "copy_nt_t9999=0.6 fma_f32_avx2_t9999=0.08 fma_f32_avx512_t9999=0.08 fma_f64_avx2_t9999=0.08 "
    "fma_f64_avx512_t9999=0.08 load_cache_avx2_t9999=1e6 copy_cache_avx2_t9999=1e6 "
    "load_cache_avx512_t9999=1e6 copy_cache_avx512_t9999=1e6 cache_bytes=1e9";

/* problem_s 0: the profile's. */
static double run_limited(const char *const (*rows)[2], size_t row_count, double budget_s,
                          double problem_s, assay__sweep_summary *summary)
{
    sweep_place p;

    sweep_place_open(&p, peaks);
    p.options.budget_s = budget_s;
    p.options.problem_s = problem_s;
    p.options.scripted_clock = true;
    p.options.progress = on_progress;
    for (size_t i = 0; i < row_count; i++)
        sweep_place_add(&p, rows[i][0], rows[i][1]);
    count = 0;
    sweep_place_run(&p, ASSAY_OK, summary);
    return summary->elapsed_s;
}

static double run(const char *const (*rows)[2], size_t row_count, double budget_s,
                  assay__sweep_summary *summary)
{
    return run_limited(rows, row_count, budget_s, 0, summary);
}

/* Where it went astray: each twentieth, and each problem that begins. */
static void trace(double all_s)
{
    double last_s = -1;

    for (size_t i = 0; i < count; i++) {
        if (seen[i].elapsed_s - last_s < 0.05 * all_s &&
            (i == 0 || strncmp(seen[i].where, "screen", 6) != 0 ||
             strcmp(seen[i].where, seen[i - 1].where) == 0))
            continue;
        last_s = seen[i].elapsed_s;
        printf("%3.0f %%: %zu/%zu stays, %.3g s left, in truth %.3g, %s\n", 100 * last_s / all_s,
               seen[i].done, seen[i].total, seen[i].eta_s, all_s - last_s, seen[i].where);
    }
    fflush(stdout);
}

START_TEST(eta_after_a_tenth_is_right_within_a_factor_of_1_5)
{
    static const char *const(*const lists[])[2] = {light_first, heavy_first, one_op_last};
    assay__sweep_summary summary;
    /* From the fourth on winners are confirmed: one kernel is faster than the default. */
    if (_i >= 3)
        (void)setenv("ASSAY_FAKE", SCRIPT "; kernel=fake_b slow=0.9", 1);
    const double all_s = run(lists[_i % 3], 6, 0, &summary);
    size_t judged = 0;

    if (getenv("ASSAY_TRACE") != NULL)
        trace(all_s);
    for (size_t i = 0; i < count; i++) {
        const double left_s = all_s - seen[i].elapsed_s;
        if (seen[i].elapsed_s < 0.1 * all_s || seen[i].elapsed_s > 0.95 * all_s)
            continue;
        judged++;
        ck_assert_msg(seen[i].eta_s <= 1.5 * left_s && seen[i].eta_s >= left_s / 1.5,
                      "after %.0f %% of %.3g s: %.3g s are left, not %.3g",
                      100 * seen[i].elapsed_s / all_s, all_s, left_s, seen[i].eta_s);
    }
    ck_assert_uint_ge(judged, 100);
    ck_assert_double_eq_tol(seen[count - 1].eta_s, 0, 0.01 * all_s);
}
END_TEST

/* No call of these takes more than 140 ms, and no stay four of them; what is decided by then is
 * told, and how much is not. */
START_TEST(budget_ends_with_the_stay_in_flight)
{
    static const double budgets_s[] = {0.5, 3, 6};
    assay__sweep_summary summary;
    const double took_s = run(heavy_first, 6, budgets_s[_i], &summary);

    ck_assert_double_ge(took_s, budgets_s[_i]);
    ck_assert_double_le(took_s, budgets_s[_i] + 4 * 0.14);
    ck_assert_str_eq(summary.stop_reason, "budget");
    ck_assert_uint_eq(summary.problems, 12);
    ck_assert_uint_eq(summary.undecided + summary.routes, 12);
    ck_assert_uint_gt(summary.undecided, 0);
}
END_TEST

/* Calls of 13 to 65 ms of twelve variants, of which six are near the best: there is no time for
 * all. */
START_TEST(problem_takes_what_it_may)
{
    static const char *const rows[][2] = {{"matmul", "m=64,n=64,k=64"}};
    assay__sweep_summary summary;
    const double took_s = run_limited(rows, 1, 0, 2.5, &summary);

    ck_assert_double_le(took_s, 1.4 * 2.5);
    ck_assert_double_ge(took_s, 0.5 * 2.5);
    ck_assert_uint_eq(summary.routes, 1);
}
END_TEST

/* Sanitizers make it five times as long, and its arithmetic is the same: one sweep without winners
 * to confirm, one with. */
#ifdef __SANITIZE_ADDRESS__
enum { FIRST_SWEEP = 2, LAST_SWEEP = 4 };
#else
enum { FIRST_SWEEP = 0, LAST_SWEEP = 6 };
#endif

static void add_tests(TCase *tcase)
{
    tcase_add_loop_test(tcase, eta_after_a_tenth_is_right_within_a_factor_of_1_5, FIRST_SWEEP,
                        LAST_SWEEP);
    tcase_add_test(tcase, problem_takes_what_it_may);
    tcase_add_loop_test(tcase, budget_ends_with_the_stay_in_flight, 0, 3);
}

int main(int argc, char **argv)
{
    return sweep_place_main(argc, argv, "sweep_eta", SCRIPT, 240, add_tests);
}
