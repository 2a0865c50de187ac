/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_unary_launch.c -- kernels of plug-ins over all inputs of their type.
 *
 * Loops over catalogue and manifests: a new unary op or kernel needs no edit here. With ASSAY_LONG
 * set, also all 2^32 inputs of each f32 kernel (minutes). */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/unary_launch.h"
#include "runtime/error.h"
#include "tests/support/plugin_all.h"
#include "tests/support/plugin_case.h"

static const assay_manifest *ref, *cpu;
static assay__backend backend;

static void setup(void)
{
    ref = plugin_load("ref");
    cpu = plugin_load("cpu");
    ck_assert_int_eq(assay__backend_init(cpu->backend, &backend), ASSAY_OK);
    ck_assert_int_eq(assay__backend_open(&backend), ASSAY_OK);
}

static void teardown(void)
{
    assay__backend_close(&backend);
}

/* The launch of a kernel at its defaults; false: its op does not qualify, or not on this CPU. */
static bool launch_of(const assay_kernel_desc *k, assay_unary_launch *out)
{
    assay_problem p;

    if (!plugin_all_runs(cpu, NULL, k))
        return false;
    p = plugin_problem_of(k);
    *out = (assay_unary_launch){.backend = &backend, .kernel = k};
    if (assay__unary_problem(&p, &out->problem) != ASSAY_OK)
        return false;
    out->oracle = plugin_oracle(ref, k->op);
    for (size_t i = 0; i < k->tunable_count; i++)
        out->tunables[i] = k->tunables[i].default_value;
    return true;
}

static assay_exhaustive_result run(const assay_unary_launch *l, unsigned threads)
{
    assay_unary unary = assay__unary_of(l);
    assay_exhaustive_plan plan = {.threads = threads};
    assay_exhaustive_result r;

    ck_assert_msg(assay__exhaustive_run(&unary, &plan, &r) == ASSAY_OK, "%s", assay_last_error());
    return r;
}

static void check_claims(const assay_kernel_desc *k, const assay_error_stats *s)
{
    const char *t = assay_dtype_name((assay_dtype)k->dtypes[0]);

    for (int c = 1; c < ASSAY_ULP_CLASSES; c++)
        ck_assert_msg(s->classes[c] == 0, "%s %s: %llu of class %d, first at input 0x%llx", k->name,
                      t, (unsigned long long)s->classes[c], c,
                      (unsigned long long)s->first[c].index);
    /* Results a hair from a midpoint, such as silu of subnormals, may stay open: one step then. */
    ck_assert_msg(s->uncertain * 100 <= s->elements, "%s %s: the oracle leaves %llu open", k->name,
                  t, (unsigned long long)s->uncertain);
    double slack = s->uncertain > 0 ? 1.0 : 0.0;
    ck_assert_msg(k->claims.max_ulp < 0.0 || (double)s->max_dist <= k->claims.max_ulp + slack,
                  "%s %s: distance %llu at input 0x%llx, claimed %g", k->name, t,
                  (unsigned long long)s->max_dist, (unsigned long long)s->worst.input_bits[0],
                  k->claims.max_ulp);
}

START_TEST(kernels_of_16_bits_keep_their_claims_on_all_inputs)
{
    int ran = 0;
    for (size_t i = 0; i < cpu->kernel_count; i++) {
        assay_unary_launch l;
        if (assay_dtype_bytes((assay_dtype)cpu->kernels[i].dtypes[0]) > 2 ||
            !launch_of(&cpu->kernels[i], &l))
            continue;
        assay_exhaustive_result r = run(&l, 2);
        uint64_t all = 1ull << 8 * assay_dtype_bytes((assay_dtype)cpu->kernels[i].dtypes[0]);
        ck_assert(r.is_complete && r.inputs == all && r.stats.elements == all);
        check_claims(&cpu->kernels[i], &r.stats);
        assay__exhaustive_clear(&r);
        ran++;
    }
    ck_assert_int_ge(ran, 2); /* the portable ones run anywhere */
}
END_TEST

START_TEST(digests_alone_are_those_of_judged_runs)
{
    assay_unary_launch l;
    ck_assert(launch_of(plugin_kernel(cpu, ASSAY_OP_exp, ASSAY_BF16, "cpu_exp_portable"), &l));
    assay_unary unary = assay__unary_of(&l);
    assay_exhaustive_result judged = run(&l, 1), r;
    uint64_t sum = 0, inputs = 0;
    for (uint64_t first = 0; first < 8; first += 2) {
        assay_exhaustive_plan plan = {
            .threads = 2, .first_batch = first, .batch_count = 2, .digest_only = true};
        ck_assert_int_eq(assay__exhaustive_run(&unary, &plan, &r), ASSAY_OK);
        ck_assert(!r.is_complete && r.stats.elements == 0);
        sum += r.digest;
        inputs += r.inputs;
        assay__exhaustive_clear(&r);
    }
    ck_assert_uint_eq(sum, judged.digest);
    ck_assert_uint_eq(inputs, 65536);
    assay__exhaustive_clear(&judged);
}
END_TEST

/* ---- kernels that are wrong in one way ---- */

static assay_status copy_of(const assay_launch *launch, float *y)
{
    const float *x = assay_tensor_data(&launch->operands[0]);
    int64_t n = assay_problem_int(launch->problem, "n");

    ck_assert_int_eq(n, launch->operands[0].dims[0]);
    ck_assert_int_eq(n, launch->operands[1].dims[0]);
    for (int64_t i = 0; i < n; i++)
        y[i] = expf(x[i]);
    return ASSAY_OK;
}

static assay_status forgets_tails(const assay_launch *launch)
{
    int64_t n = assay_problem_int(launch->problem, "n");
    float *y = assay_tensor_data(&launch->operands[1]), keep[8];

    ck_assert_int_eq((int64_t)((uintptr_t)y % 64), 0);
    memcpy(keep, y + n / 8 * 8, (size_t)(n % 8) * sizeof *y);
    ASSAY_TRY(copy_of(launch, y));
    memcpy(y + n / 8 * 8, keep, (size_t)(n % 8) * sizeof *y);
    return ASSAY_OK;
}

static assay_status errs_in_short_calls(const assay_launch *launch)
{
    float *y = assay_tensor_data(&launch->operands[1]);

    ASSAY_TRY(copy_of(launch, y));
    if (assay_problem_int(launch->problem, "n") < 64)
        y[0] *= 1.5f;
    return ASSAY_OK;
}

static assay_status fails(const assay_launch *launch)
{
    (void)launch;
    return assay__fail(ASSAY_DEVICE, "no such luck");
}

static const char *can_run;

static assay_status run_one(assay_kernel_fn fn, assay_exhaustive_result *out)
{
    assay_kernel_desc desc = {.struct_size = sizeof desc,
                              .name = "test",
                              .op = ASSAY_OP_exp,
                              .dtype_count = 2,
                              .dtypes = {ASSAY_F32, ASSAY_F32},
                              .can_run = can_run,
                              .run = fn};
    assay_unary_launch l;
    ck_assert(launch_of(&desc, &l));
    assay_unary unary = assay__unary_of(&l);
    assay_exhaustive_plan plan = {
        .threads = 1, .first_batch = 0x3f800000 / ASSAY_EXHAUSTIVE_BATCH, .batch_count = 20};
    return assay__exhaustive_run(&unary, &plan, out);
}

START_TEST(ends_of_loops_and_short_calls_take_part)
{
    assay_exhaustive_result r;
    ck_assert_int_eq(run_one(forgets_tails, &r), ASSAY_OK);
    ck_assert_uint_gt(r.stats.classes[ASSAY_ULP_NAN_MISMATCH], 20);
    ck_assert_uint_lt(r.stats.classes[ASSAY_ULP_NAN_MISMATCH], 20 * 15);
    assay__exhaustive_clear(&r);
    ck_assert_int_eq(run_one(errs_in_short_calls, &r), ASSAY_OK);
    ck_assert_uint_eq(r.stats.over_one, 20); /* one a batch */
    assay__exhaustive_clear(&r);
    ck_assert_int_eq(run_one(fails, &r), ASSAY_DEVICE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "no such luck"));
}
END_TEST

START_TEST(lengths_that_a_kernel_declines_are_not_launched)
{
    assay_exhaustive_result r;
    can_run = "n % 8 == 0"; /* then its tails are none of our business */
    ck_assert_int_eq(run_one(forgets_tails, &r), ASSAY_OK);
    ck_assert_uint_eq(r.stats.classes[ASSAY_ULP_NAN_MISMATCH], 0);
    assay__exhaustive_clear(&r);
    can_run = "n < 100";
    ck_assert_int_eq(run_one(errs_in_short_calls, &r), ASSAY_UNSUPPORTED);
    can_run = NULL;
}
END_TEST

/* Its reach once ended on a midpoint, and the rounding counted as settled. */
START_TEST(oracle_settles_the_input_that_was_left_open)
{
    assay_exhaustive_result r;
    assay_unary_launch l;
    ck_assert(launch_of(plugin_kernel(cpu, ASSAY_OP_exp, ASSAY_F32, "cpu_exp_portable"), &l));
    assay_unary unary = assay__unary_of(&l);
    assay_exhaustive_plan plan = {
        .threads = 1, .first_batch = 0x38e69cc1 / ASSAY_EXHAUSTIVE_BATCH, .batch_count = 1};
    ck_assert_int_eq(assay__exhaustive_run(&unary, &plan, &r), ASSAY_OK);
    ck_assert_uint_eq(r.stats.uncertain, 0);
    assay__exhaustive_clear(&r);
}
END_TEST

/* ---- which ops qualify ---- */

START_TEST(only_small_unary_elementwise_ops_qualify)
{
    for (assay_op_id op = 0; op < ASSAY_OP_COUNT; op++) {
        const assay_op_info *info = assay_op_get(op);
        assay_dtype tuple[ASSAY_MAX_OPERANDS];
        for (size_t t = 0; assay_op_tuple(op, t, tuple); t++) {
            assay_problem p, all;
            ck_assert_int_eq(assay_problem_init_tuple(op, tuple, info->inputs + info->outputs, &p),
                             ASSAY_OK);
            bool may = info->family == ASSAY_FAMILY_ELEMENTWISE_UNARY && info->inputs == 1 &&
                       assay_dtype_bytes((assay_dtype)p.dtypes[0]) <= 4;
            ck_assert_msg((assay__unary_problem(&p, &all) == ASSAY_OK) == may, "%s %s", info->name,
                          assay_dtype_name(tuple[0]));
            if (!may) {
                ck_assert_int_eq(assay__unary_problem(&p, &all), ASSAY_UNSUPPORTED);
                continue;
            }
            int64_t bits = 8 * (int64_t)assay_dtype_bytes((assay_dtype)p.dtypes[0]);
            ck_assert_int_eq(assay_problem_int(&all, "n"), (int64_t)1 << bits);
        }
    }
}
END_TEST

/* Of the many pairs of cast those with a rounding of their own: 2^32 inputs take long. */
static bool is_long(const assay_kernel_desc *k)
{
    static const uint8_t pairs[][2] = {{ASSAY_F32, ASSAY_BF16}, {ASSAY_F32, ASSAY_F8E4M3},
                                       {ASSAY_F32, ASSAY_I32},  {ASSAY_F32, ASSAY_I64},
                                       {ASSAY_I32, ASSAY_F16},  {ASSAY_U32, ASSAY_F32}};

    if (k->op != ASSAY_OP_cast)
        return true;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (memcmp(k->dtypes, pairs[i], sizeof pairs[i]) == 0)
            return strcmp(k->name, "cpu_cast_avx2") == 0;
    return false;
}

/* More rows than the plug-in has: Check wants the number before a plug-in may be loaded. */
enum { MOST_ROWS = 1024 };

/* One kernel a turn, so that each is judged whatever became of the others. */
START_TEST(kernel_of_32_bits_keeps_its_claims_on_all_inputs)
{
    ck_assert_uint_le(cpu->kernel_count, MOST_ROWS);
    if ((size_t)_i >= cpu->kernel_count)
        return;
    const assay_kernel_desc *k = &cpu->kernels[_i];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    assay_unary_launch l;

    if (assay_dtype_bytes((assay_dtype)k->dtypes[0]) != 4 || !is_long(k) || !launch_of(k, &l))
        return;
    assay_exhaustive_result r = run(&l, processors > 0 ? (unsigned)processors : 1);
    ck_assert(r.is_complete);
    printf("%s: dist %llu, err_ulp %.6f at input 0x%08llx, %llu misrounded\n", k->name,
           (unsigned long long)r.stats.max_dist, r.stats.max_err_ulp,
           (unsigned long long)r.stats.worst.input_bits[0], (unsigned long long)r.stats.misrounded);
    (void)fflush(stdout);
    check_claims(k, &r.stats);
    assay__exhaustive_clear(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unary_launch");
    TCase *all = tcase_create("all"), *full = tcase_create("full");

    suite_add_tcase(suite, all);
    suite_add_tcase(suite, full); /* owned by the suite, empty or not */
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_checked_fixture(full, setup, teardown);
    tcase_set_timeout(all, 120);
    tcase_add_test(all, kernels_of_16_bits_keep_their_claims_on_all_inputs);
    tcase_add_test(all, digests_alone_are_those_of_judged_runs);
    tcase_add_test(all, ends_of_loops_and_short_calls_take_part);
    tcase_add_test(all, lengths_that_a_kernel_declines_are_not_launched);
    tcase_add_test(all, oracle_settles_the_input_that_was_left_open);
    tcase_add_test(all, only_small_unary_elementwise_ops_qualify);
    if (getenv("ASSAY_LONG")) {
        tcase_add_loop_test(full, kernel_of_32_bits_keeps_its_claims_on_all_inputs, 0, MOST_ROWS);
        tcase_set_timeout(full, 7200);
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
