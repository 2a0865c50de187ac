/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_pick_rules.c -- the picker: why a candidate may not answer: one test a rule. */
#include "tests/support/pick_stage.h"

#include <math.h>
#include <string.h>

/* tiled 16 leads; with it rejected for `reason`, gemm 2 does. */
static void expect_rejected(const char *reason)
{
    const assay_candidate *c;

    ck_assert_str_eq(picked(), "gemm 2");
    c = explained("tiled", 16);
    ck_assert(c->rejected && !c->chosen);
    ck_assert_msg(strstr(c->reason, reason) != NULL, "%s", c->reason);
    c = explained("gemm", 2);
    ck_assert(c->chosen && !c->rejected);
}

/* ---- rejections ---- */

START_TEST(rejected_not_in_the_table)
{
    fake.revisions[3].kernel = "gone";
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "gemm 2");
    ck_assert_ptr_nonnull(strstr(explained("gone", 0)->reason, "not in this process's table"));
    ck_assert_ptr_null(explained("gone", 0)->binding);
}
END_TEST

/* Its kernels take operands that lie elsewhere: for those of the host it is no candidate. */
START_TEST(rejected_on_a_device_of_its_own)
{
    assay_explanation *named;

    cpu.location = ASSAY_LOCATION_CUDA;
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "gemm 2");
    question.backends = "cpu,blas";
    ck_assert_str_eq(picked(), "tiled 16");
    question.backends = NULL;
    ck_assert_int_eq(assay_explain(context, &question, &named), ASSAY_OK);
    ck_assert_uint_gt(named->hidden_count, 0);
    assay_explanation_destroy(&named);
}
END_TEST

START_TEST(rejected_another_dtype_tuple)
{
    fake.revisions[3].dtypes = "f64,f64,f64";
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "gemm 2");
}
END_TEST

START_TEST(rejected_stale_revision)
{
    assay_pick_stats stats;

    memset(rows[TILED].revision.bytes, 77, sizeof rows[TILED].revision.bytes);
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "gemm 2");
    ck_assert_ptr_nonnull(strstr(explained("tiled", 16)->reason, "stale"));
    ck_assert_ptr_nonnull(strstr(explained("tiled", 16)->reason, "4d4d4d4d4d4d"));
    assay_pick_stats_get(context, &stats);
    ck_assert_uint_eq(stats.routes_usable, 1);
}
END_TEST

START_TEST(rejected_all_stale_counts_as_idle)
{
    assay_pick_stats stats;

    for (int i = 0; i < KERNELS; i++)
        rows[i].revision.bytes[0] = 99;
    fake.elsewhere = 5;
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "gemm 2 default");
    assay_pick_stats_get(context, &stats);
    ck_assert_uint_eq(stats.routes_usable, 0);
    ck_assert_uint_eq(stats.routes_idle, 6);
    ck_assert_ptr_nonnull(strstr(stats.idle_reason, "5 of another deployment, 1 stale"));
}
END_TEST

START_TEST(rejected_tunables_not_offered)
{
    const char *const broken[] = {"tile=32", "tile=16,tile=16", "", "tile=16,x=1", "tile=", "tile"};

    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        fake.revisions[3].tunables = broken[i];
        ask(PROBLEM);
        ck_assert_str_eq(picked(), "gemm 2");
        assay_close(&context);
    }
}
END_TEST

START_TEST(rejected_variant_revision_of_other_tunables)
{
    fake.revisions[3].variant_revision = fake.revisions[2].variant_revision;
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "gemm 2");
}
END_TEST

START_TEST(rejected_unavailable)
{
    rows[TILED].available = 0;
    strcpy(rows[TILED].reason, "needs avx512f");
    ask(PROBLEM);
    expect_rejected("needs avx512f");
}
END_TEST

START_TEST(rejected_backend_not_asked_for)
{
    ask(PROBLEM);
    question.backends = "blas,cuda";
    expect_rejected("not asked for");
    question.backends = "cpu";
    ck_assert_str_eq(picked(), "tiled 16");
    question.backends = "vulkan";
    ck_assert_ptr_nonnull(strstr(picked(), "all 5 candidates are rejected"));
}
END_TEST

START_TEST(rejected_explicit_only_unless_named)
{
    rows[BLAS].manifest = &ref;
    fake.route_count = 0;
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "tiled 8 default");
    (void)explained("plain", 0);
    ck_assert_uint_eq(why->hidden_count, 1); /* nobody asked, so nobody is told */
    for (size_t i = 0; i < why->candidate_count; i++)
        ck_assert_str_ne(why->candidates[i].kernel, "gemm");
    question.tolerance.max_ulp = 0; /* the first reason is that of a kernel that was asked for */
    ck_assert_msg(strstr(picked(), "plain: ") == NULL && strstr(picked(), "tiled: ") != NULL, "%s",
                  picked());
    question.tolerance.max_ulp = -1;
    question.backends = "ref";
    ck_assert_str_eq(picked(), "gemm 2 default");
    (void)explained("gemm", 2);
    ck_assert_uint_eq(why->hidden_count, 0);
    ck_assert_int_eq(explained("tiled", 8)->rejected, 1);
}
END_TEST

START_TEST(rejected_quarantined)
{
    candidate(&routes[0], V_TILED16)->quarantined = 1;
    ask(PROBLEM);
    expect_rejected("quarantined");
}
END_TEST

START_TEST(rejected_quarantined_for_this_problem_only)
{
    fake.quarantine[0] =
        (assay__store_quarantine){fake.revisions[3].variant_revision,
                                  "matmul f32,f32,f32 m=1,n=1,k=1", "x", ASSAY__VERDICT_WRONG};
    fake.quarantine_count = 1;
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "tiled 16");
    assay_close(&context);
    fake.quarantine[0].problem = PROBLEM;
    expect_rejected("quarantined: x");
}
END_TEST

START_TEST(rejected_verdicts)
{
    static const struct {
        uint8_t verdict;
        const char *text;
    } bad[] = {{ASSAY__VERDICT_NONE, "never judged"},
               {ASSAY__VERDICT_WRONG, "wrong result"},
               {ASSAY__VERDICT_IMPOSSIBLE, "faster"},
               {ASSAY__VERDICT_CRASHED, "crashed"},
               {ASSAY__VERDICT_TIMEOUT, "time limit"},
               {ASSAY__VERDICT_MISTRUSTED, "could not tell"},
               {200, "unknown"}};

    ask(PROBLEM);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        candidate(&routes[0], V_TILED16)->verdict = bad[i].verdict;
        expect_rejected(bad[i].text);
        assay_close(&context);
    }
    candidate(&routes[0], V_TILED16)->verdict = ASSAY__VERDICT_NOISY;
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

START_TEST(rejected_without_a_time)
{
    candidate(&routes[0], V_TILED16)->time_ns = NAN;
    ask(PROBLEM);
    expect_rejected("not timed");
}
END_TEST

START_TEST(rejected_by_can_run)
{
    descs[TILED].can_run = "m > 64";
    ask(PROBLEM);
    expect_rejected("'m > 64' does not hold");
}
END_TEST

static bool declines(const assay_problem *problem, const int64_t *tunables)
{
    return !(assay_problem_int(problem, "m") == 64 && tunables[0] == 16);
}

START_TEST(rejected_by_can_run_function)
{
    descs[TILED].can_run_fn = declines;
    ask(PROBLEM);
    expect_rejected("declines");
}
END_TEST

START_TEST(rejected_by_the_constraint)
{
    descs[TILED].constraint = "tile < 16";
    ask(PROBLEM);
    expect_rejected("'tile < 16' does not hold");
}
END_TEST

START_TEST(rejected_by_max_threads)
{
    routes[0].winner = V_BLAS2;
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "gemm 2");
    question.max_threads = 1;
    ck_assert_str_eq(picked(), "tiled 16");
    ck_assert_ptr_nonnull(strstr(explained("gemm", 2)->reason, "2 threads, max_threads is 1"));
    ck_assert_int_eq(explained("gemm", 1)->rejected, 0);
}
END_TEST

START_TEST(rejected_by_workspace)
{
    candidate(&routes[0], V_TILED16)->workspace_bytes = 4096;
    ask(PROBLEM);
    question.workspace_bytes = 4095;
    expect_rejected("needs 4096 bytes, the limit is 4095");
    question.workspace_bytes = 4096;
    ck_assert_str_eq(picked(), "tiled 16");
    ck_assert_ptr_nonnull(strstr(explained("tiled", 8)->reason, "never measured"));
}
END_TEST

START_TEST(rejected_by_caps_of_alignment)
{
    descs[TILED].caps[1].align_bytes = 64;
    ask(PROBLEM);
    expect_rejected("operand 1: aligned to 16 bytes, the kernel needs 64");
}
END_TEST

START_TEST(rejected_by_caps_of_layout)
{
    routes[0].layout = "lcc";
    descs[BLAS].caps[0].layouts = ASSAY_CAP_LEADING;
    ask(PROBLEM);
    question.layout[0] = 'l';
    expect_rejected("operand 0: layout 'l'");
}
END_TEST

/* ---- tolerance ---- */

static void set_ulp(double tiled16, double others)
{
    for (size_t i = 0; i < routes[0].count; i++)
        routes[0].candidates[i].max_ulp = others;
    candidate(&routes[0], V_TILED16)->max_ulp = tiled16;
}

START_TEST(tolerance_limits_go_by_evidence)
{
    set_ulp(3, 1);
    descs[TILED].claims.max_ulp = 0; /* a claim does not outweigh evidence */
    ask(PROBLEM);
    question.tolerance.allow_claims = 1;
    question.tolerance.max_ulp = 3;
    ck_assert_str_eq(picked(), "tiled 16");
    question.tolerance.max_ulp = 2;
    expect_rejected("max_ulp is 3 (measured), the limit is 2");
    question.tolerance.max_ulp = 0;
    ck_assert_ptr_nonnull(strstr(picked(), "rejected"));
}
END_TEST

/* What a sample found is no more than a lower bound. */
START_TEST(tolerance_believes_no_sample_below_the_claim)
{
    set_ulp(0, 0);
    descs[TILED].claims.max_ulp = 1;
    ask(PROBLEM);
    question.tolerance.max_ulp = 0;
    expect_rejected("tolerance: sampled max_ulp >= 0 is a lower bound; its author claims 1, the "
                    "limit is 0");
    question.tolerance.max_ulp = 0.5;
    expect_rejected("its author claims 1, the limit is 0.5");
    question.tolerance.max_ulp = 1;
    ck_assert_str_eq(picked(), "tiled 16");
    assay_close(&context);
    descs[TILED].claims.max_ulp = NAN; /* nobody claims more */
    question.tolerance.max_ulp = 0;
    ck_assert_str_eq(picked(), "tiled 16");
    assay_close(&context);
    descs[TILED].claims.max_ulp = 1;
    candidate(&routes[0], V_TILED16)->proof = ASSAY_PROOF_ABSENT; /* a smaller sample */
    expect_rejected("its author claims 1");
    assay_close(&context);
    candidate(&routes[0], V_TILED16)->proof = ASSAY_PROOF_BOUNDED;
    ck_assert_str_eq(picked(), "tiled 16");
    assay_close(&context);
    candidate(&routes[0], V_TILED16)->proof = ASSAY_PROOF_EXHAUSTIVE;
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

START_TEST(tolerance_without_evidence_fails)
{
    set_ulp(NAN, 1);
    descs[TILED].claims.max_ulp = 0;
    ask(PROBLEM);
    question.tolerance.max_ulp = 1e9;
    expect_rejected("no evidence for max_ulp");
}
END_TEST

START_TEST(tolerance_takes_claims_when_allowed)
{
    set_ulp(NAN, 1);
    descs[TILED].claims.max_ulp = 2;
    ask(PROBLEM);
    question.tolerance.allow_claims = 1;
    question.tolerance.max_ulp = 2;
    ck_assert_str_eq(picked(), "tiled 16");
    question.tolerance.max_ulp = 1;
    expect_rejected("max_ulp is 2 (claimed)");
    assay_close(&context);
    descs[TILED].claims.max_ulp = NAN;
    expect_rejected("and no claim");
}
END_TEST

START_TEST(tolerance_claim_is_demoted_by_evidence_elsewhere)
{
    descs[TILED].claims = (assay_claims){2, 2, -1, -1, ASSAY_STABILITY_MACHINE};
    candidate(&routes[0], V_TILED16)->max_ulp = 3; /* of another variant, for another problem */
    candidate(&routes[0], V_TILED16)->stability = ASSAY_STABILITY_CONFIG;
    ask(shapes[1]);
    question.backends = "cpu";
    question.tolerance.allow_claims = 1;
    question.tolerance.max_rho = 2;
    ck_assert_str_eq(picked(), "tiled 8 default");
    question.tolerance.max_ulp = 2;
    ck_assert_ptr_nonnull(strstr(picked(), "rejected"));
    ck_assert_ptr_nonnull(strstr(explained("tiled", 8)->reason, "refuted by evidence (3)"));
    question.tolerance.max_ulp = -1;
    question.tolerance.stability = ASSAY_STABILITY_CONFIG;
    ck_assert_str_eq(picked(), "tiled 8 default");
    question.tolerance.stability = ASSAY_STABILITY_MACHINE;
    ck_assert_ptr_nonnull(strstr(explained("tiled", 8)->reason, "bit stability is 2 (claimed)"));
}
END_TEST

START_TEST(tolerance_of_each_kind)
{
    static const size_t limits[] = {offsetof(assay_tolerance, max_rho),
                                    offsetof(assay_tolerance, max_rel),
                                    offsetof(assay_tolerance, max_abs)};
    static const size_t values[] = {offsetof(assay__route_candidate, max_rho),
                                    offsetof(assay__route_candidate, max_rel),
                                    offsetof(assay__route_candidate, max_abs)};
    static const size_t claims[] = {offsetof(assay_claims, max_rho),
                                    offsetof(assay_claims, max_rel),
                                    offsetof(assay_claims, max_abs)};
    const double half = 0.5, two = 2, three = 3, none = -1;

    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < routes[0].count; i++)
            memcpy((char *)&routes[0].candidates[i] + values[k], &half, sizeof half);
        memcpy((char *)candidate(&routes[0], V_TILED16) + values[k], &two, sizeof two);
        ask(PROBLEM);
        memcpy((char *)&question.tolerance + limits[k], &half, sizeof half);
        expect_rejected("(measured)");
        memcpy((char *)&question.tolerance + limits[k], &two, sizeof two);
        ck_assert_str_eq(picked(), "tiled 16");
        assay_close(&context);
        memcpy((char *)&descs[TILED].claims + claims[k], &three, sizeof three);
        expect_rejected("its author claims 3, the limit is 2");
        assay_close(&context);
        memcpy((char *)&descs[TILED].claims + claims[k], &none, sizeof none);
    }
}
END_TEST

START_TEST(tolerance_of_proof)
{
    candidate(&routes[0], V_BLAS2)->proof = ASSAY_PROOF_EXHAUSTIVE;
    ask(PROBLEM);
    question.tolerance.proof = ASSAY_PROOF_SAMPLED;
    ck_assert_str_eq(picked(), "tiled 16");
    question.tolerance.proof = ASSAY_PROOF_BOUNDED;
    expect_rejected("proof is sampled, at least bounded is asked for; no sweep stores a bound");
    question.tolerance.proof = ASSAY_PROOF_EXHAUSTIVE;
    expect_rejected("proof is sampled, at least exhaustive is asked for");
}
END_TEST

START_TEST(tolerance_of_stability)
{
    candidate(&routes[0], V_BLAS2)->stability = ASSAY_STABILITY_MACHINE;
    candidate(&routes[0], V_TILED16)->stability = ASSAY_STABILITY_NONE;
    descs[TILED].claims.stability = ASSAY_STABILITY_ANYWHERE;
    ask(PROBLEM);
    question.tolerance.stability = ASSAY_STABILITY_MACHINE;
    question.tolerance.allow_claims = 1;
    expect_rejected("bit stability is 1 (measured), at least 3");
    assay_close(&context);
    candidate(&routes[0], V_TILED16)->stability = ASSAY_STABILITY_ABSENT;
    ck_assert_str_eq(picked(), "tiled 16");
    question.tolerance.allow_claims = 0;
    expect_rejected("no evidence");
}
END_TEST

START_TEST(tolerance_fails_the_unmeasured_default)
{
    ask("matmul f32,f32,f32 m=65,n=64,k=64");
    question.tolerance.max_ulp = 4;
    ck_assert_ptr_nonnull(strstr(picked(), "no evidence for max_ulp"));
    assay_close(&context);
    descs[PLAIN].claims.max_ulp = 1;
    question.tolerance.allow_claims = 1;
    ck_assert_str_eq(picked(), "plain 0 default");
}
END_TEST

/* Nobody errs in what is not there. */
START_TEST(tolerance_is_kept_where_there_is_no_output)
{
    ask("matmul f32,f32,f32 m=0,n=64,k=64");
    question.tolerance.max_ulp = question.tolerance.max_rho = 0;
    question.tolerance.proof = ASSAY_PROOF_EXHAUSTIVE;
    question.tolerance.stability = ASSAY_STABILITY_ANYWHERE;
    ck_assert_str_eq(picked(), "gemm 2 default");
    assay_close(&context);
    ask("matmul f32,f32,f32 m=65,n=64,k=64");
    question.tolerance.proof = ASSAY_PROOF_EXHAUSTIVE;
    ck_assert_ptr_nonnull(strstr(picked(), "proof is absent"));
}
END_TEST

static void fill(TCase *subject)
{
    tcase_add_test(subject, rejected_not_in_the_table);
    tcase_add_test(subject, rejected_on_a_device_of_its_own);
    tcase_add_test(subject, rejected_another_dtype_tuple);
    tcase_add_test(subject, rejected_stale_revision);
    tcase_add_test(subject, rejected_all_stale_counts_as_idle);
    tcase_add_test(subject, rejected_tunables_not_offered);
    tcase_add_test(subject, rejected_variant_revision_of_other_tunables);
    tcase_add_test(subject, rejected_unavailable);
    tcase_add_test(subject, rejected_backend_not_asked_for);
    tcase_add_test(subject, rejected_explicit_only_unless_named);
    tcase_add_test(subject, rejected_quarantined);
    tcase_add_test(subject, rejected_quarantined_for_this_problem_only);
    tcase_add_test(subject, rejected_verdicts);
    tcase_add_test(subject, rejected_without_a_time);
    tcase_add_test(subject, rejected_by_can_run);
    tcase_add_test(subject, rejected_by_can_run_function);
    tcase_add_test(subject, rejected_by_the_constraint);
    tcase_add_test(subject, rejected_by_max_threads);
    tcase_add_test(subject, rejected_by_workspace);
    tcase_add_test(subject, rejected_by_caps_of_alignment);
    tcase_add_test(subject, rejected_by_caps_of_layout);
    tcase_add_test(subject, tolerance_is_kept_where_there_is_no_output);
    tcase_add_test(subject, tolerance_limits_go_by_evidence);
    tcase_add_test(subject, tolerance_believes_no_sample_below_the_claim);
    tcase_add_test(subject, tolerance_without_evidence_fails);
    tcase_add_test(subject, tolerance_takes_claims_when_allowed);
    tcase_add_test(subject, tolerance_claim_is_demoted_by_evidence_elsewhere);
    tcase_add_test(subject, tolerance_of_each_kind);
    tcase_add_test(subject, tolerance_of_proof);
    tcase_add_test(subject, tolerance_of_stability);
    tcase_add_test(subject, tolerance_fails_the_unmeasured_default);
}

int main(void)
{
    return stage_run("pick_rules", fill);
}
