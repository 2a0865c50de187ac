/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_pick_proven.c -- the picker: evidence over all inputs holds for every shape, as
 * long as nothing speaks against it. */
#include "tests/support/pick_stage.h"

#include <math.h>
#include <string.h>

#define SEEN   "exp f32,f32 n=1000"
#define UNSEEN "exp f32,f32 n=777"
#define ALL    "exp f32,f32 n=4294967296"

/* The stage's kernels as ones of exp; SEEN is measured, and tiled 16 won. */
static void exp_setup(void)
{
    stage_setup();
    for (int i = 0; i < KERNELS; i++) {
        assay_kernel_desc plain = rows_desc(descs[i].name, ASSAY_OP_exp, ASSAY_F32, 0);
        descs[i].op = plain.op;
        descs[i].dtype_count = plain.dtype_count;
        memcpy(descs[i].dtypes, plain.dtypes, sizeof descs[i].dtypes);
        rows[i] = rows_binding(rows[i].manifest, &descs[i], (uint8_t)(i + 1));
    }
    for (size_t i = 0; i < fake.revision_count; i++) {
        fake.revisions[i].op = "exp";
        fake.revisions[i].dtypes = "f32,f32";
    }
    routes[0].problem = SEEN;
    routes[0].layout = "cc";
}

static assay__store_proof *prove(uint64_t variant, double max_ulp)
{
    assay__store_proof *p = &fake.proofs[fake.proof_count++];

    *p = (assay__store_proof){.accuracy = 900 + variant,
                              .revision_row = variant,
                              .problem = ALL,
                              .max_ulp = max_ulp,
                              .max_rel = 1e-7,
                              .max_abs = 2.0,
                              .passed = true};
    return p;
}

static void ask_within(const char *problem, double max_ulp)
{
    ask(problem);
    question.tolerance.max_ulp = max_ulp;
}

static void expect_no_route(void)
{
    ck_assert_msg(strstr(picked(), "candidates are rejected") != NULL, "%s", picked());
}

START_TEST(proof_serves_a_shape_never_swept)
{
    assay_route route;

    ask_within(UNSEEN, 1);
    expect_no_route();
    assay_close(&context);
    prove(V_TILED8, 1);
    ck_assert_str_eq(picked(), "tiled 8 default");
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    ck_assert_int_eq(route.proof, ASSAY_PROOF_EXHAUSTIVE);
    ck_assert_uint_eq(route.accuracy, 900 + V_TILED8);
    ck_assert_uint_eq(route.measurement, 0);
    ck_assert(route.max_ulp >= 1.0f && route.max_ulp <= 1.0f);
    ck_assert(isnan(route.time_ns) && route.tier == ASSAY_TIER_UNKNOWN); /* cost is not known */
    question.tolerance.proof = ASSAY_PROOF_EXHAUSTIVE;
    ck_assert_str_eq(picked(), "tiled 8 default");
    question.tolerance.max_rel = 1e-8;
    expect_no_route();
    question.tolerance.max_rel = 1e-7;
    question.tolerance.max_abs = 2.0;
    ck_assert_str_eq(picked(), "tiled 8 default");
    question.tolerance.max_rho = 1.0; /* says nothing of elementwise ops */
    expect_no_route();
}
END_TEST

START_TEST(proof_keeps_the_default_order)
{
    prove(V_TILED8, 1);
    prove(V_PLAIN, 0);
    candidate(&routes[0], V_PLAIN)->max_ulp = 0;
    prove(V_BLAS2, 2);
    ask(UNSEEN);
    ck_assert_str_eq(picked(), "gemm 2 default");
    ask_within(UNSEEN, 1);
    ck_assert_str_eq(picked(), "tiled 8 default");
    ask_within(UNSEEN, 0);
    ck_assert_str_eq(picked(), "plain 0 default");
    const assay_candidate *c = explained("tiled", 8);
    ck_assert(c->rejected);
    ck_assert_ptr_nonnull(strstr(c->reason, "max_ulp is 1 (measured over all inputs)"));
    ck_assert_ptr_nonnull(strstr(explained("plain", 0)->reason, "nothing measured may answer"));
}
END_TEST

START_TEST(proof_of_other_tunables_is_none)
{
    prove(V_TILED16, 0);
    ask_within(UNSEEN, 1);
    expect_no_route();
}
END_TEST

START_TEST(proof_of_another_revision_is_none)
{
    prove(V_TILED8, 0);
    memset(rows[TILED].revision.bytes, 77, sizeof rows[TILED].revision.bytes);
    ask_within(UNSEEN, 1);
    expect_no_route();
}
END_TEST

START_TEST(proof_of_another_dtype_or_op_is_none)
{
    prove(V_TILED8, 0)->problem = "exp f16,f16 n=65536";
    prove(V_PLAIN, 0)->problem = "softmax_last_dim f32,f32 rows=1,cols=777";
    prove(V_BLAS2, 0)->problem = "exp of a later version";
    ask_within(UNSEEN, 1);
    expect_no_route();
}
END_TEST

START_TEST(proof_of_an_op_that_is_not_elementwise_is_none)
{
    stage_setup(); /* matmul again */
    prove(V_TILED8, 0)->problem = PROBLEM;
    ask_within("matmul f32,f32,f32 m=64,n=64,k=65", 1);
    expect_no_route();
    ask_within(PROBLEM, 1);
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

START_TEST(proof_raises_what_a_sample_has_shown)
{
    assay_route route;

    prove(V_TILED16, 2); /* the sample of SEEN shows 1 */
    ask_within(SEEN, 1);
    ck_assert_str_eq(picked(), "gemm 2");
    ask_within(SEEN, 2);
    ck_assert_str_eq(picked(), "tiled 16");
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    ck_assert_int_eq(route.proof, ASSAY_PROOF_EXHAUSTIVE);
    ck_assert_uint_eq(route.accuracy, 900 + V_TILED16);
    ck_assert_uint_eq(route.measurement, 100 + V_TILED16);
    ck_assert(route.max_ulp >= 2.0f);
}
END_TEST

START_TEST(proof_gives_way_to_a_larger_distance_anywhere)
{
    assay_route route;

    add_candidate(&routes[0], V_TILED8, 55);
    candidate(&routes[0], V_TILED8)->max_ulp = 3;
    prove(V_TILED8, 1);
    ask_within(UNSEEN, 2);
    expect_no_route();
    ask_within(UNSEEN, 3); /* the worst that is known */
    ck_assert_str_eq(picked(), "tiled 8 default");
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    ck_assert_int_eq(route.proof, ASSAY_PROOF_ABSENT);
    ck_assert_uint_eq(route.accuracy, 0);
    question.tolerance.proof = ASSAY_PROOF_SAMPLED;
    expect_no_route();
}
END_TEST

START_TEST(proof_gives_way_to_a_wrong_result_anywhere)
{
    add_candidate(&routes[0], V_TILED8, 55);
    prove(V_TILED8, 1);
    ask_within(UNSEEN, 1);
    ck_assert_str_eq(picked(), "tiled 8 default");
    assay_close(&context);
    candidate(&routes[0], V_TILED8)->verdict = ASSAY__VERDICT_WRONG;
    expect_no_route();
    assay_close(&context);
    candidate(&routes[0], V_TILED8)->verdict = ASSAY__VERDICT_OK;
    fake.proofs[0].is_contradicted = true; /* a failed check that no route lists */
    expect_no_route();
}
END_TEST

START_TEST(proof_of_a_wrong_result_rejects_every_shape)
{
    prove(V_TILED16, 9)->passed = false;
    prove(V_BLAS2, 9)->passed = false;
    ask(SEEN);
    ck_assert_str_eq(picked(), "gemm 1");
    ck_assert_ptr_nonnull(strstr(explained("tiled", 16)->reason, "run over all inputs"));
    ask(UNSEEN);
    ck_assert_str_eq(picked(), "tiled 8 default");
    ck_assert_ptr_nonnull(strstr(explained("gemm", 2)->reason, "holds for every shape"));
}
END_TEST

START_TEST(proof_refutes_the_claim_of_its_kernel)
{
    descs[TILED].claims.max_ulp = 1;
    ask_within(UNSEEN, 1);
    question.tolerance.allow_claims = true;
    ck_assert_str_eq(picked(), "tiled 8 default");
    assay_close(&context);
    prove(V_TILED16, 2); /* of other tunables, the same kernel */
    expect_no_route();
    ck_assert_ptr_nonnull(strstr(explained("tiled", 8)->reason, "refuted by evidence (2)"));
}
END_TEST

static void fill(TCase *subject)
{
    tcase_add_checked_fixture(subject, exp_setup, NULL);
    tcase_add_test(subject, proof_serves_a_shape_never_swept);
    tcase_add_test(subject, proof_keeps_the_default_order);
    tcase_add_test(subject, proof_of_other_tunables_is_none);
    tcase_add_test(subject, proof_of_another_revision_is_none);
    tcase_add_test(subject, proof_of_another_dtype_or_op_is_none);
    tcase_add_test(subject, proof_of_an_op_that_is_not_elementwise_is_none);
    tcase_add_test(subject, proof_raises_what_a_sample_has_shown);
    tcase_add_test(subject, proof_gives_way_to_a_larger_distance_anywhere);
    tcase_add_test(subject, proof_gives_way_to_a_wrong_result_anywhere);
    tcase_add_test(subject, proof_of_a_wrong_result_rejects_every_shape);
    tcase_add_test(subject, proof_refutes_the_claim_of_its_kernel);
}

int main(void)
{
    return stage_run("pick_proven", fill);
}
