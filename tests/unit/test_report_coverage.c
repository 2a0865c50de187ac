/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_report_coverage.c -- the coverage report of a planted store and planted kernels.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/json.h"
#include "tests/support/report_case.h"

static report_case c;
static int64_t fast, slow, problem;
static const char changed[] = "00000000000000000000000000000000000000000000000000000000000000ff";

/* Two kernels of exp f32, one that claims 2 ULP and one that claims 4. */
static void setup(void)
{
    assay_claims claims = ASSAY_NO_CLAIMS;

    report_case_setup(&c);
    claims.max_ulp = 2;
    claims.stability = ASSAY_STABILITY_MACHINE;
    fast = report_put_kernel(&c, "fast", "exp", "f32,f32", 1, &claims, true);
    claims.max_ulp = 4;
    claims.stability = ASSAY_STABILITY_CONFIG;
    slow = report_put_kernel(&c, "slow", "exp", "f32,f32", 1, &claims, true);
    problem = report_put_problem(&c, ASSAY_OP_exp, ASSAY_F32, "n=1000000");
    ck_assert_int_eq(assay__strlist_add(&c.ops, "exp"), ASSAY_OK);
    c.options.dtype = "f32";
}

static void teardown(void)
{
    report_case_teardown(&c);
}

static void put_measurement(int64_t deployment, int64_t revision, int64_t of,
                            assay__verdict verdict)
{
    assay__db_measurement m = store_measurement(&c.rows);

    m.deployment = deployment;
    m.revision = revision;
    m.problem = of;
    m.layout = "cc";
    m.verdict = verdict;
    report_put_measurement(&c, &m);
}

static void put_accuracy(int64_t revision, assay_proof proof, double max_ulp, int passed)
{
    assay__db_accuracy a = store_accuracy(&c.rows);

    a.revision = revision;
    a.problem = problem;
    a.proof = proof;
    a.max_ulp = max_ulp;
    a.passed = passed;
    report_put_accuracy(&c, &a);
}

/* A kernel of another backend, which the store does not know. */
static assay__report_kernel *put_rival(const char *backend, const char *reason, bool is_explicit)
{
    static const assay_claims none = ASSAY_NO_CLAIMS;
    assay__report_kernel *k = &c.current[c.options.current_count++];

    *k = (assay__report_kernel){.backend = backend,
                                .op = "exp",
                                .dtypes = "f32,f32",
                                .kernel = "other",
                                .revision = changed,
                                .reason = reason,
                                .claims = none,
                                .is_explicit = is_explicit};
    return k;
}

static void is(size_t row, const char *column, const char *wanted)
{
    const char *got = report_csv_field(c.text, row, column);

    ck_assert_msg(strcmp(got, wanted) == 0, "row %zu, %s: '%s', not '%s'", row, column, got,
                  wanted);
}

static void make_csv(size_t rows)
{
    report_case_make(&c, "coverage", ASSAY__REPORT_CSV);
    ck_assert_msg(report_csv_rows(c.text) == rows, "%s", c.text);
}

/* ---- what was measured ---- */

START_TEST(empty_store_covers_nothing)
{
    make_csv(1);
    is(1, "op", "exp");
    is(1, "dtypes", "f32,f32");
    is(1, "backend", "cpu");
    is(1, "rivals", "2");
    is(1, "kernels", "2");
    is(1, "available", "2");
    is(1, "measured", "none");
    is(1, "problems", "0");
    is(1, "proof", "");
    is(1, "claim_max_ulp", "4"); /* the weakest of the two */
    is(1, "claim_stability", "config");
    is(1, "claim_max_rho", "");
    is(1, "claiming", "2");
}
END_TEST

START_TEST(measured_in_part_and_whole)
{
    int64_t other = report_put_problem(&c, ASSAY_OP_exp, ASSAY_F32, "n=7");
    int64_t variant = report_put_kernel(&c, "fast", "exp", "f32,f32", 2, NULL, false);

    put_measurement(c.rows.deployment, fast, problem, ASSAY__VERDICT_OK);
    put_measurement(c.rows.deployment, variant, problem, ASSAY__VERDICT_OK); /* the same problem */
    put_measurement(c.rows.deployment, fast, other, ASSAY__VERDICT_OK);
    put_measurement(c.rows.deployment, slow, problem, ASSAY__VERDICT_CRASHED);
    make_csv(1);
    is(1, "measured", "some");
    is(1, "measured_kernels", "1");
    is(1, "problems", "2");
    ck_assert_int_eq(assay__db_open(c.path, &c.db), ASSAY_OK);
    put_measurement(c.rows.deployment, slow, problem, ASSAY__VERDICT_NOISY); /* has a time */
    make_csv(1);
    is(1, "measured", "all");
    is(1, "measured_kernels", "2");
}
END_TEST

START_TEST(measured_before_or_elsewhere_covers_nothing)
{
    put_measurement(c.rows.deployment, fast, problem, ASSAY__VERDICT_OK);
    put_measurement(c.elsewhere, slow, problem, ASSAY__VERDICT_OK);
    put_accuracy(fast, ASSAY_PROOF_SAMPLED, 1, 1);
    c.current[0].revision = changed;
    make_csv(1);
    is(1, "measured", "stale");
    is(1, "problems", "0");
    is(1, "proof", "");
    report_case_make(&c, "coverage", ASSAY__REPORT_JSON);
    ck_assert_ptr_nonnull(strstr(c.text, "\"stale_problems\":1"));
    ck_assert_ptr_nonnull(strstr(c.text, "\"elsewhere_problems\":1"));
}
END_TEST

START_TEST(kernels_that_are_gone_are_said)
{
    put_measurement(c.rows.deployment, fast, problem, ASSAY__VERDICT_OK);
    c.current[0].kernel = "renamed";
    report_case_make(&c, "coverage", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(c.text, "1 measured rows are of kernels that are no more"));
    make_csv(1);
    is(1, "measured", "none");
}
END_TEST

/* ---- what there is ---- */

START_TEST(pairs_without_a_kernel_have_rows)
{
    c.options.dtype = NULL;
    report_case_make(&c, "coverage", ASSAY__REPORT_CSV);
    ck_assert_uint_ge(report_csv_rows(c.text), 4); /* every T of exp */
    is(1, "dtypes", "bf16,bf16");
    is(1, "backend", "");
    is(1, "measured", "no kernel");
    is(1, "rivals", "0");
    /* Asked for a backend, what it has counts alone. */
    ck_assert_int_eq(assay__strlist_add(&c.backends, "cpu"), ASSAY_OK);
    make_csv(1);
    is(1, "dtypes", "f32,f32");
}
END_TEST

START_TEST(rivals_are_those_that_can_run)
{
    put_rival("far", "no device", false);
    put_rival("near", NULL, false);
    put_rival("ref", NULL, true);
    make_csv(3);
    is(1, "backend", "cpu");
    is(1, "rivals", "3");
    is(2, "backend", "far");
    is(2, "rivals", "3");
    is(2, "measured", "unavailable");
    is(2, "available", "0");
    is(2, "reason", "no device");
    is(3, "backend", "near");
    is(3, "measured", "none");
    is(3, "claiming", "0");
    ck_assert_int_eq(assay__strlist_add(&c.backends, "ref"), ASSAY_OK);
    make_csv(1);
    is(1, "backend", "ref");
    is(1, "rivals", "3");
}
END_TEST

/* ---- claims and proofs ---- */

START_TEST(proof_is_the_weakest_of_the_kernels)
{
    put_accuracy(fast, ASSAY_PROOF_EXHAUSTIVE, 1, 1);
    make_csv(1);
    is(1, "proof", "");
    ck_assert_int_eq(assay__db_open(c.path, &c.db), ASSAY_OK);
    put_accuracy(slow, ASSAY_PROOF_SAMPLED, 4, 1);
    make_csv(1);
    is(1, "proof", "sampled");
    is(1, "contradicted_kernels", "0");
    is(1, "wrong_kernels", "0");
}
END_TEST

START_TEST(failed_evidence_proves_nothing)
{
    put_accuracy(fast, ASSAY_PROOF_EXHAUSTIVE, 9, 0);
    put_accuracy(slow, ASSAY_PROOF_EXHAUSTIVE, 5, 1);
    make_csv(1);
    is(1, "proof", "");
    is(1, "wrong_kernels", "1");
    is(1, "contradicted_kernels", "2"); /* 9 > 2, 5 > 4 */
    report_case_make(&c, "coverage", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(c.text, "claims of 2 contradicted; 1 gave wrong results"));
}
END_TEST

START_TEST(claim_of_a_row_needs_all_kernels)
{
    put_rival("cpu", NULL, false);
    make_csv(1);
    is(1, "kernels", "3");
    is(1, "claiming", "2");
    is(1, "claim_max_ulp", "");
    is(1, "claim_stability", "");
}
END_TEST

/* ---- forms ---- */

START_TEST(forms_say_the_same)
{
    json_t *root = NULL;
    const char *text;
    double real;

    put_measurement(c.rows.deployment, fast, problem, ASSAY__VERDICT_OK);
    put_accuracy(fast, ASSAY_PROOF_SAMPLED, 1, 1);
    report_case_make(&c, "coverage", ASSAY__REPORT_MD);
    ck_assert_ptr_nonnull(strstr(
        c.text, "| exp | f32,f32 | cpu | 2 | 2 of 2 | some | 1 | ulp 4.00, bits config | - | - |"));
    ck_assert_ptr_nonnull(strstr(c.text, "1; 0 that no kernel here runs, 0 with one and no rival"));
    report_case_make(&c, "coverage", ASSAY__REPORT_HTML);
    ck_assert_ptr_nonnull(strstr(c.text, "2 of 2"));
    report_case_make(&c, "coverage", ASSAY__REPORT_JSON);
    ck_assert_msg(assay__json_parse("report", c.text, c.size, &root) == ASSAY_OK, "%s",
                  assay_last_error());
    ck_assert_int_eq(assay__json_get_string(root, "schema", &text), ASSAY_OK);
    ck_assert_str_eq(text, "assay.report.coverage/1");
    ck_assert_int_eq(assay__json_get_string(root, "rows[0].measured", &text), ASSAY_OK);
    ck_assert_str_eq(text, "some");
    ck_assert_int_eq(assay__json_get_real(root, "rows[0].claims.max_ulp", &real), ASSAY_OK);
    ck_assert_double_eq_tol(real, 4, 1e-12);
    ck_assert(!assay__json_has(root, "rows[0].proof"));
    ck_assert_int_eq(assay__json_get_string(root, "rows[0].kernels[0].proof", &text), ASSAY_OK);
    ck_assert_str_eq(text, "sampled");
    ck_assert_int_eq(assay__json_get_real(root, "rows[0].kernels[1].problems", &real), ASSAY_OK);
    ck_assert_double_eq_tol(real, 0, 1e-12);
    json_decref(root);
}
END_TEST

START_TEST(refuses_what_it_cannot_know)
{
    c.options.dtype = "f64,f64,f64";
    ck_assert_int_eq(report_case_try(&c, "coverage", ASSAY__REPORT_CSV), ASSAY_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "--dtype"));
    c.options.dtype = NULL;
    c.options.current = NULL;
    ck_assert_int_eq(report_case_try(&c, "coverage", ASSAY__REPORT_CSV), ASSAY_UNAVAILABLE);
    c.options.current = c.current;
    c.options.db_path = "/nowhere/at/all.db";
    ck_assert_int_eq(report_case_try(&c, "coverage", ASSAY__REPORT_CSV), ASSAY_DB_MISSING);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("report_coverage");
    TCase *all = tcase_create("coverage");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, empty_store_covers_nothing);
    tcase_add_test(all, measured_in_part_and_whole);
    tcase_add_test(all, measured_before_or_elsewhere_covers_nothing);
    tcase_add_test(all, kernels_that_are_gone_are_said);
    tcase_add_test(all, pairs_without_a_kernel_have_rows);
    tcase_add_test(all, rivals_are_those_that_can_run);
    tcase_add_test(all, proof_is_the_weakest_of_the_kernels);
    tcase_add_test(all, failed_evidence_proves_nothing);
    tcase_add_test(all, claim_of_a_row_needs_all_kernels);
    tcase_add_test(all, forms_say_the_same);
    tcase_add_test(all, refuses_what_it_cannot_know);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
