/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_pick_rank.c -- the picker: winners, defaults, ties, and what must not change
 * them. */
#include "runtime/noise_words.h"
#include "tests/support/pick_stage.h"

#include <math.h>
#include <string.h>

/* ---- answers ---- */

START_TEST(answer_is_the_published_winner)
{
    assay_route route;

    ask(PROBLEM);
    ck_assert_str_eq(picked(), "tiled 16");
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    ck_assert_uint_eq(route.measurement, 100 + V_TILED16);
    ck_assert_uint_eq(route.accuracy, 200 + V_TILED16);
    ck_assert_int_eq(route.tier, ASSAY_TIER_MEASURED);
    ck_assert_int_eq(route.proof, ASSAY_PROOF_SAMPLED);
    ck_assert(route.time_ns >= 50.0f && route.time_ns <= 50.0f);
    ck_assert(route.max_ulp >= 1.0f && isnan(route.max_rho));
    ck_assert_uint_eq((uintptr_t)sizeof route, 64);
}
END_TEST

START_TEST(answer_stays_with_the_winner_although_another_looks_faster)
{
    candidate(&routes[0], V_BLAS1)->time_ns = 1;
    candidate(&routes[0], V_BLAS1)->ratio = 0.01;
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

START_TEST(answer_without_evidence_is_the_default_and_a_miss)
{
    assay_pick_stats stats;
    assay_route route;

    ask("matmul f32,f32,f32 m=65,n=64,k=64");
    ck_assert_str_eq(picked(), "gemm 2 default");
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    ck_assert_uint_eq(route.measurement, 0);
    ck_assert(isnan(route.time_ns) && isnan(route.max_ulp));
    ck_assert_int_eq(route.tier, ASSAY_TIER_UNKNOWN);
    ask(PROBLEM);
    (void)picked();
    assay_pick_stats_get(context, &stats);
    ck_assert_uint_eq(stats.misses, 2);
    ck_assert_uint_eq(stats.hits, 1);
    ck_assert_uint_eq(stats.routes_usable, 1);
    ck_assert_uint_eq(stats.routes_idle, 0);
    ck_assert_str_eq(stats.idle_reason, "");
}
END_TEST

START_TEST(default_of_equal_ranks_goes_by_name_not_by_registration)
{
    descs[BLAS].default_rank = rows[BLAS].default_rank = 7;
    descs[TILED].default_rank = rows[TILED].default_rank = 7;
    descs[PLAIN].default_rank = rows[PLAIN].default_rank = 7;
    descs[BLAS].name = "zz";
    rows[BLAS].manifest = &cpu;
    fake.route_count = 0;
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "plain 0 default");
}
END_TEST

START_TEST(default_uses_no_more_threads_than_allowed)
{
    fake.route_count = 0;
    ask(PROBLEM);
    question.max_threads = 1;
    ck_assert_str_eq(picked(), "gemm 1 default");
}
END_TEST

START_TEST(default_found_wrong_is_not_the_default)
{
    fake_route *r = &routes[0];

    r->count = 0;
    r->winner = 0;
    add_candidate(r, V_BLAS2, 60); /* tunables at their defaults */
    r->candidates[0].verdict = ASSAY__VERDICT_WRONG;
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "tiled 8 default");
}
END_TEST

START_TEST(default_quarantined_for_all_problems_is_not_the_default)
{
    fake.quarantine[fake.quarantine_count++] = (assay__store_quarantine){
        fake.revisions[1].variant_revision, "", "crashed twice", ASSAY__VERDICT_NONE};
    ask("matmul f32,f32,f32 m=65,n=64,k=64");
    ck_assert_str_eq(picked(), "tiled 8 default");
    ck_assert_ptr_nonnull(strstr(explained("gemm", 2)->reason, "crashed twice"));
}
END_TEST

static void blame(size_t variant, const char *problem, assay__verdict verdict)
{
    fake.quarantine[fake.quarantine_count++] = (assay__store_quarantine){
        fake.revisions[variant - V_BLAS1].variant_revision, problem, "element 7", verdict};
}

/* Where nothing of it is measured nobody knows that it is right this time. */
START_TEST(default_found_wrong_at_another_problem_is_not_the_default)
{
    blame(V_BLAS2, "matmul f32,f32,f32 m=9,n=9,k=9", ASSAY__VERDICT_CRASHED);
    blame(V_BLAS2, "matmul f32,f32,f32 m=1,n=1,k=1", ASSAY__VERDICT_WRONG);
    blame(V_BLAS2, "matmul f32,f32,f32 m=8,n=8,k=8", ASSAY__VERDICT_CRASHED);
    ask("matmul f32,f32,f32 m=65,n=64,k=64");
    ck_assert_str_eq(picked(), "tiled 8 default");
    ck_assert(explained("gemm", 2)->rejected);
    ck_assert_str_eq(explained("gemm", 2)->reason,
                     "gave a wrong result at matmul f32,f32,f32 m=1,n=1,k=1, and is not checked at "
                     "this problem");
}
END_TEST

START_TEST(wrong_at_another_problem_may_be_picked_where_it_was_right)
{
    blame(V_TILED16, "matmul f32,f32,f32 m=1,n=1,k=1", ASSAY__VERDICT_WRONG);
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

/* Last of all, but before nobody: what brought it down may have been the problem's size. */
START_TEST(default_that_crashed_at_another_problem_comes_last)
{
    const char *other = "matmul f32,f32,f32 m=1,n=1,k=1";

    blame(V_BLAS2, other, ASSAY__VERDICT_CRASHED);
    ask("matmul f32,f32,f32 m=65,n=64,k=64");
    ck_assert_str_eq(picked(), "tiled 8 default");
    ck_assert(!explained("gemm", 2)->rejected);
    ck_assert_str_eq(explained("gemm", 2)->reason,
                     "never measured for this question (rank 0); crashed at another problem");
}
END_TEST

START_TEST(default_that_ran_late_at_another_problem_stays_the_default)
{
    blame(V_BLAS2, "matmul f32,f32,f32 m=1,n=1,k=1", ASSAY__VERDICT_NONE);
    ask("matmul f32,f32,f32 m=65,n=64,k=64");
    ck_assert_str_eq(picked(), "gemm 2 default");
}
END_TEST

/* ---- ranking without the winner ---- */

/* No winner; tiled 16 and gemm 2 share an interval, gemm 1 and plain are slower. */
static void make_tie(void)
{
    routes[0].winner = 0;
    candidate(&routes[0], V_BLAS2)->ratio = 0.505;
    candidate(&routes[0], V_BLAS2)->ratio_lo = 0.49;
    candidate(&routes[0], V_BLAS2)->ratio_hi = 0.52;
    ask(PROBLEM);
}

START_TEST(rank_by_paired_ratio_before_time)
{
    routes[0].winner = 0;
    candidate(&routes[0], V_BLAS2)->ratio = 0.3;
    candidate(&routes[0], V_BLAS2)->ratio_lo = 0.29;
    candidate(&routes[0], V_BLAS2)->ratio_hi = 0.31;
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "gemm 2");
}
END_TEST

START_TEST(rank_by_time_when_a_ratio_is_absent)
{
    routes[0].winner = 0;
    candidate(&routes[0], V_BLAS2)->ratio = 0.3;
    candidate(&routes[0], V_PLAIN)->ratio = NAN;
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

/* gemm 2 was seen by a screening visit alone, and tiled 16 has an interval. */
static void make_screened(double ns)
{
    routes[0].winner = 0;
    candidate(&routes[0], V_BLAS2)->time_ns = ns;
    candidate(&routes[0], V_BLAS2)->lo_ns = candidate(&routes[0], V_BLAS2)->hi_ns = NAN;
    candidate(&routes[0], V_BLAS2)->ratio = NAN; /* and so times decide */
    candidate(&routes[0], V_TILED16)->time_ns = 50;
    candidate(&routes[0], V_TILED16)->lo_ns = 40;
    candidate(&routes[0], V_TILED16)->hi_ns = 55;
    ask(PROBLEM);
}

START_TEST(screening_alone_displaces_only_from_below_the_interval)
{
    make_screened(45);
    ck_assert_str_eq(picked(), "tiled 16");
    ck_assert_int_eq(explained("gemm", 2)->tied, 0);
    ck_assert_ptr_nonnull(strstr(explained("gemm", 2)->reason, "screened: 45 ns"));
    assay_close(&context);
    make_screened(39);
    ck_assert_str_eq(picked(), "gemm 2");
    ck_assert_ptr_nonnull(strstr(explained("tiled", 16)->reason, "slower: 50 ns [40, 55]"));
}
END_TEST

static void make_noisy(double ratio, assay__verdict verdict)
{
    routes[0].winner = 0;
    candidate(&routes[0], V_BLAS2)->verdict = (uint8_t)verdict;
    candidate(&routes[0], V_BLAS2)->noise =
        ASSAY__NOISE_WIDE | ASSAY__NOISE_STEAL | ASSAY__NOISE_POWER;
    candidate(&routes[0], V_BLAS2)->ratio = ratio;
    candidate(&routes[0], V_BLAS2)->ratio_lo = 0.3;
    candidate(&routes[0], V_BLAS2)->ratio_hi = 0.8;
    candidate(&routes[0], V_TILED16)->ratio = 0.50;
    candidate(&routes[0], V_TILED16)->ratio_lo = 0.47;
    candidate(&routes[0], V_TILED16)->ratio_hi = 0.53;
    ask(PROBLEM);
}

/* What is noisy wins neither by its estimate nor by the tie rule, which would take gemm. */
START_TEST(noisy_one_displaces_only_from_below_the_interval)
{
    static const double inside[] = {0.48, 0.51};

    for (size_t i = 0; i < 2; i++) {
        make_noisy(inside[i], ASSAY__VERDICT_NOISY);
        ck_assert_str_eq(picked(), "tiled 16");
        ck_assert_str_eq(explained("gemm", 2)->noise, "noisy wide steal power");
        ck_assert_str_eq(explained("tiled", 16)->noise, "");
        assay_close(&context);
        make_noisy(inside[i], ASSAY__VERDICT_THROTTLED);
        ck_assert_str_eq(picked(), "tiled 16");
        ck_assert_str_eq(explained("gemm", 2)->noise, "throttled wide steal power");
        assay_close(&context);
        make_noisy(inside[i], ASSAY__VERDICT_OK);
        ck_assert_str_eq(picked(), "gemm 2");
        ck_assert_str_eq(explained("gemm", 2)->noise, "wide steal power");
        assay_close(&context);
    }
    make_noisy(0.46, ASSAY__VERDICT_NOISY);
    ck_assert_str_eq(picked(), "gemm 2");
}
END_TEST

/* The default's ratio to itself is known, however noisy its time is. */
START_TEST(noisy_default_is_sure_of_itself)
{
    make_noisy(1.0, ASSAY__VERDICT_NOISY);
    candidate(&routes[0], V_BLAS2)->ratio_lo = candidate(&routes[0], V_BLAS2)->ratio_hi = 1.0;
    candidate(&routes[0], V_TILED16)->ratio = 0.99;
    candidate(&routes[0], V_TILED16)->ratio_lo = 0.90;
    candidate(&routes[0], V_TILED16)->ratio_hi = 1.10;
    candidate(&routes[0], V_TILED16)->verdict = ASSAY__VERDICT_NOISY;
    candidate(&routes[0], V_BLAS1)->ratio = 1.2;
    candidate(&routes[0], V_BLAS1)->ratio_lo = 1.1;
    candidate(&routes[0], V_BLAS1)->ratio_hi = 1.3;
    assay_close(&context);
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "gemm 2");
}
END_TEST

/* By name alone gemm would lead; what comes before the name must outweigh it. */
START_TEST(tie_goes_to_the_more_stable)
{
    make_tie();
    candidate(&routes[0], V_TILED16)->stability = ASSAY_STABILITY_CONFIG;
    ck_assert_str_eq(picked(), "tiled 16");
    ck_assert_int_eq(explained("gemm", 2)->tied, 1);
    ck_assert_int_eq(explained("gemm", 1)->tied, 0);
}
END_TEST

START_TEST(tie_goes_to_the_lower_error)
{
    make_tie();
    candidate(&routes[0], V_TILED16)->max_ulp = 0.5;
    ck_assert_str_eq(picked(), "tiled 16");
    assay_close(&context);
    candidate(&routes[0], V_BLAS2)->max_ulp = NAN;
    candidate(&routes[0], V_TILED16)->max_ulp = 1e9;
    ck_assert_str_eq(picked(), "tiled 16");
    assay_close(&context);
    candidate(&routes[0], V_TILED16)->max_ulp = NAN;
    candidate(&routes[0], V_TILED16)->max_rho = 3;
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

START_TEST(tie_goes_to_less_memory)
{
    make_tie();
    candidate(&routes[0], V_BLAS2)->workspace_bytes = 1;
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

START_TEST(tie_goes_to_the_name_then_the_revision)
{
    make_tie();
    ck_assert_str_eq(picked(), "gemm 2");
    assay_close(&context);
    *candidate(&routes[0], V_BLAS1) = *candidate(&routes[0], V_BLAS2);
    routes[0].candidates[0].revision_row = V_BLAS1;
    ck_assert_str_eq(picked(), assay_digest_compare(&fake.revisions[0].variant_revision,
                                                    &fake.revisions[1].variant_revision) < 0
                                   ? "gemm 1"
                                   : "gemm 2");
}
END_TEST

START_TEST(tie_needs_overlapping_intervals)
{
    make_tie();
    candidate(&routes[0], V_TILED16)->ratio_hi = 0.489; /* below all of gemm 2 */
    candidate(&routes[0], V_TILED16)->ratio = 0.48;
    ck_assert_str_eq(picked(), "tiled 16");
    ck_assert_int_eq(explained("gemm", 2)->tied, 0);
}
END_TEST

/* ---- the same store gives the same answer ---- */

START_TEST(adding_a_row_changes_no_other_answer)
{
    char before[SHAPES][96], after[SHAPES][96];
    fake_route *r;

    all_answers(before);
    assay_close(&context);
    r = add_route(shapes[2], 16); /* beside unseen shapes */
    add_candidate(r, V_PLAIN, 1);
    r->winner = V_PLAIN;
    all_answers(after);
    for (size_t i = 0; i < SHAPES; i++)
        ck_assert_str_eq(after[i], i == 2 ? "plain 0" : before[i]);
}
END_TEST

START_TEST(registering_in_another_order_changes_nothing)
{
    static const int orders[][KERNELS] = {{2, 1, 0}, {1, 0, 2}, {2, 0, 1}};
    const assay_open_options bare = {.struct_size = sizeof bare, .bare = 1};
    const assay_kernel_desc extra = rows_desc("aaa", ASSAY_OP_matmul, ASSAY_F32, 15);
    const assay_binding front = rows_binding(&cpu, &extra, 9);
    char before[SHAPES][96], after[SHAPES][96];

    all_answers(before);
    for (size_t o = 0; o < 3; o++) {
        assay_close(&context);
        ck_assert_int_eq(assay__context_open("fake", &bare, fake_store_ops(), "d0", &context),
                         ASSAY_OK);
        ck_assert_int_eq(assay_table_register(assay_context_table(context), &front, 1), ASSAY_OK);
        for (int i = 0; i < KERNELS; i++)
            ck_assert_int_eq(
                assay_table_register(assay_context_table(context), &rows[orders[o][i]], 1),
                ASSAY_OK);
        all_answers(after);
        for (size_t i = 0; i < SHAPES; i++)
            ck_assert_str_eq(after[i], before[i]);
    }
}
END_TEST

START_TEST(store_rows_in_another_order_change_nothing)
{
    char before[SHAPES][96], after[SHAPES][96];
    assay__store_revision r = fake.revisions[0];
    assay__route_candidate c = routes[0].candidates[0];

    routes[0].winner = 0;
    all_answers(before);
    assay_close(&context);
    fake.revisions[0] = fake.revisions[4];
    fake.revisions[4] = r;
    routes[0].candidates[0] = routes[0].candidates[3];
    routes[0].candidates[3] = c;
    all_answers(after);
    for (size_t i = 0; i < SHAPES; i++)
        ck_assert_str_eq(after[i], before[i]);
}
END_TEST

static void fill(TCase *subject)
{
    tcase_add_test(subject, answer_is_the_published_winner);
    tcase_add_test(subject, answer_stays_with_the_winner_although_another_looks_faster);
    tcase_add_test(subject, answer_without_evidence_is_the_default_and_a_miss);
    tcase_add_test(subject, default_of_equal_ranks_goes_by_name_not_by_registration);
    tcase_add_test(subject, default_uses_no_more_threads_than_allowed);
    tcase_add_test(subject, default_found_wrong_is_not_the_default);
    tcase_add_test(subject, default_quarantined_for_all_problems_is_not_the_default);
    tcase_add_test(subject, default_found_wrong_at_another_problem_is_not_the_default);
    tcase_add_test(subject, wrong_at_another_problem_may_be_picked_where_it_was_right);
    tcase_add_test(subject, default_that_crashed_at_another_problem_comes_last);
    tcase_add_test(subject, default_that_ran_late_at_another_problem_stays_the_default);
    tcase_add_test(subject, rank_by_paired_ratio_before_time);
    tcase_add_test(subject, rank_by_time_when_a_ratio_is_absent);
    tcase_add_test(subject, screening_alone_displaces_only_from_below_the_interval);
    tcase_add_test(subject, noisy_one_displaces_only_from_below_the_interval);
    tcase_add_test(subject, noisy_default_is_sure_of_itself);
    tcase_add_test(subject, tie_goes_to_the_more_stable);
    tcase_add_test(subject, tie_goes_to_the_lower_error);
    tcase_add_test(subject, tie_goes_to_less_memory);
    tcase_add_test(subject, tie_goes_to_the_name_then_the_revision);
    tcase_add_test(subject, tie_needs_overlapping_intervals);
    tcase_add_test(subject, adding_a_row_changes_no_other_answer);
    tcase_add_test(subject, registering_in_another_order_changes_nothing);
    tcase_add_test(subject, store_rows_in_another_order_change_nothing);
}

int main(void)
{
    return stage_run("pick_rank", fill);
}
