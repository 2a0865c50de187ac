/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_unary_launch.c -- kernels of plug-ins as what an exhaustive run takes.
 *
 * Loops over the catalogue: a new unary op needs no edit here.  What kernels claim: test_claims. */
#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    assay__unary unary = assay__unary_of(l);
    assay_exhaustive_plan plan = {.threads = threads};
    assay_exhaustive_result r;

    ck_assert_msg(assay__exhaustive_run(&unary, &plan, &r) == ASSAY_OK, "%s", assay_last_error());
    return r;
}

static assay_status far_profile(assay_instance *instance, size_t device, assay_device_profile *out)
{
    (void)instance;
    (void)device;
    memset(out, 0, sizeof *out);
    out->memory = ASSAY_MEMORY_DEVICE;
    return ASSAY_OK;
}

/* Behind handles the same bits come out, and nothing is left behind. */
START_TEST(apart_runs_give_the_same_bits)
{
    assay_instance_state state = {.struct_size = sizeof state};
    assay_unary_launch l;

    ck_assert(launch_of(plugin_kernel(cpu, ASSAY_OP_exp, ASSAY_BF16, "cpu_exp_portable"), &l));
    ck_assert_int_eq(assay__unary_bring(&l, ASSAY_UNARY_PIECE), ASSAY_OK);
    ck_assert(!l.is_apart);
    assay_exhaustive_result near = run(&l, 1);
    backend.slots.device_profile = far_profile;
    ck_assert_int_eq(assay__unary_bring(&l, ASSAY_UNARY_PIECE), ASSAY_OK);
    ck_assert(l.is_apart);
    assay_exhaustive_result far = run(&l, 1);
    ck_assert_uint_eq(far.digest, near.digest);
    ck_assert_int_eq(assay__backend_state(&backend, &state), ASSAY_OK);
    ck_assert_uint_eq(state.live_buffers, 2);
    assay__unary_leave(&l);
    ck_assert_int_eq(assay__backend_state(&backend, &state), ASSAY_OK);
    ck_assert_uint_eq(state.live_buffers, 0);
    assay__exhaustive_clear(&near);
    assay__exhaustive_clear(&far);
}
END_TEST

static assay_status has_no_memory(const assay_launch *launch)
{
    (void)launch;
    return assay__fail(ASSAY_NOMEM, "none left");
}

/* That a device has no memory left is no kernel's fault; on the host it takes what it should not.
 */
START_TEST(memory_of_a_device_is_nobodys_fault)
{
    assay_kernel_desc desc = *plugin_kernel(cpu, ASSAY_OP_exp, ASSAY_BF16, "cpu_exp_portable");
    const assay_exhaustive_plan plan = {.threads = 1, .batch_count = 1};
    assay_exhaustive_result r;
    assay_unary_launch l;

    desc.run = has_no_memory;
    ck_assert(launch_of(&desc, &l));
    assay__unary unary = assay__unary_of(&l);
    ck_assert_int_eq(assay__exhaustive_run(&unary, &plan, &r), ASSAY_DEVICE);
    backend.slots.device_profile = far_profile;
    ck_assert_int_eq(assay__unary_bring(&l, ASSAY_UNARY_PIECE), ASSAY_OK);
    unary = assay__unary_of(&l);
    ck_assert_int_eq(assay__exhaustive_run(&unary, &plan, &r), ASSAY_NOMEM);
    assay__unary_leave(&l);
}
END_TEST

static assay_status no_profile(assay_instance *instance, size_t device, assay_device_profile *out)
{
    (void)instance;
    (void)device;
    (void)out;
    return assay__fail(ASSAY_DEVICE, "no profile");
}

START_TEST(device_that_does_not_say_what_it_is_blames_nobody)
{
    assay_unary_launch l;

    ck_assert(launch_of(plugin_kernel(cpu, ASSAY_OP_exp, ASSAY_BF16, "cpu_exp_portable"), &l));
    backend.slots.device_profile = no_profile;
    ck_assert_int_eq(assay__unary_bring(&l, ASSAY_UNARY_PIECE), ASSAY_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "no profile"));
}
END_TEST

/* ---- pieces of a device apart ---- */

static atomic_int calls, good_calls; /* launches; how many of them succeed */

static assay_status errs_far_out(const assay_launch *launch)
{
    const float *x = assay_tensor_data(&launch->operands[0]);
    float *y = assay_tensor_data(&launch->operands[1]);

    if (atomic_fetch_add(&calls, 1) >= atomic_load(&good_calls))
        return assay__fail(ASSAY_DEVICE, "launch %d", atomic_load(&calls));
    for (int64_t i = 0; i < launch->operands[1].dims[0]; i++)
        if (!(x[i] >= 1.05f && x[i] < 1.05001f)) /* else as it was */
            y[i] = expf(x[i]) * (x[i] > 1.01f ? 1.000002f : 1.0f);
    return ASSAY_OK;
}

static assay_unary_launch far_launch(const assay_kernel_desc *desc)
{
    assay_unary_launch l;

    ck_assert(launch_of(desc, &l));
    backend.slots.device_profile = far_profile;
    ck_assert_int_eq(assay__unary_bring(&l, ASSAY_UNARY_PIECE), ASSAY_OK);
    ck_assert_uint_eq(l.piece, 1 << 22);
    l.piece = 2 * ASSAY_EXHAUSTIVE_BATCH;
    return l;
}

static const assay_kernel_desc far_desc = {.struct_size = sizeof far_desc,
                                           .name = "test",
                                           .op = ASSAY_OP_exp,
                                           .dtype_count = 2,
                                           .dtypes = {ASSAY_F32, ASSAY_F32},
                                           .run = errs_far_out};
#define FAR_FIRST (0x3f800000 / ASSAY_EXHAUSTIVE_BATCH - 3)
#define FAR_COUNT 131 /* ends in the middle of a piece */

static void same_figures(const assay_error_stats *a, const assay_error_stats *b)
{
    ck_assert_mem_eq(a->classes, b->classes, sizeof a->classes);
    ck_assert_mem_eq(a->bins, b->bins, sizeof a->bins);
    ck_assert_mem_eq(&a->err_sum, &b->err_sum, sizeof a->err_sum);
    ck_assert_uint_eq(a->misrounded, b->misrounded);
    ck_assert_uint_eq(a->max_dist, b->max_dist);
    ck_assert_uint_eq(a->worst.index, b->worst.index);
    ck_assert(a->max_err_ulp <= b->max_err_ulp && a->max_err_ulp >= b->max_err_ulp);
}

/* Whoever judges, and however long pieces are, figures and digest are those of the host's run. */
START_TEST(pieces_of_a_device_give_the_figures_of_batches)
{
    assay_unary_launch l, plain = {.backend = NULL};
    assay_exhaustive_plan plan = {.threads = 1, .first_batch = FAR_FIRST, .batch_count = FAR_COUNT};
    assay_exhaustive_result near, far;

    atomic_store(&good_calls, INT_MAX);
    ck_assert(launch_of(&far_desc, &plain));
    assay__unary unary = assay__unary_of(&plain);
    ck_assert(unary.fetch == NULL);
    ck_assert_int_eq(assay__exhaustive_run(&unary, &plan, &near), ASSAY_OK);
    ck_assert_uint_gt(near.stats.misrounded, 100000);
    ck_assert_uint_gt(near.stats.classes[ASSAY_ULP_NAN_MISMATCH], 50);
    l = far_launch(&far_desc);
    for (plan.threads = 1; plan.threads < 6; plan.threads += 2) {
        unary = assay__unary_of(&l);
        atomic_store(&calls, 0);
        ck_assert_int_eq(assay__exhaustive_run(&unary, &plan, &far), ASSAY_OK);
        ck_assert_int_eq(atomic_load(&calls), 2 * (FAR_COUNT / 2 + 1)); /* each piece in two */
        ck_assert_uint_eq(far.digest, near.digest);
        ck_assert_uint_eq(far.inputs, near.inputs);
        same_figures(&far.stats, &near.stats);
        assay__exhaustive_clear(&far);
    }
    assay__exhaustive_clear(&near);
    assay__unary_leave(&l);
}
END_TEST

static bool stops(void *cookie, uint64_t done, uint64_t total)
{
    (void)cookie;
    (void)total;
    return done < 5;
}

/* Nobody waits for what does not come. */
START_TEST(a_fetch_that_fails_or_is_stopped_ends_the_run)
{
    assay_unary_launch l = far_launch(&far_desc);
    assay__unary unary = assay__unary_of(&l);
    assay_exhaustive_plan plan = {.first_batch = FAR_FIRST, .batch_count = FAR_COUNT};
    assay_exhaustive_result r;

    for (plan.threads = 1; plan.threads < 6; plan.threads += 2) {
        atomic_store(&calls, 0);
        atomic_store(&good_calls, 7);
        plan.progress = NULL;
        ck_assert_int_eq(assay__exhaustive_run(&unary, &plan, &r), ASSAY_DEVICE);
        ck_assert_str_eq(assay_last_error(), "launch 8");
        atomic_store(&good_calls, INT_MAX);
        plan.progress = stops;
        ck_assert_int_eq(assay__exhaustive_run(&unary, &plan, &r), ASSAY_INTERRUPTED);
    }
    assay__unary_leave(&l);
}
END_TEST

START_TEST(digests_alone_are_those_of_judged_runs)
{
    assay_unary_launch l;
    ck_assert(launch_of(plugin_kernel(cpu, ASSAY_OP_exp, ASSAY_BF16, "cpu_exp_portable"), &l));
    assay__unary unary = assay__unary_of(&l);
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
    assay__unary unary = assay__unary_of(&l);
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
    assay__unary unary = assay__unary_of(&l);
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

int main(void)
{
    Suite *suite = suite_create("unary_launch");
    TCase *all = tcase_create("all");

    suite_add_tcase(suite, all);
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_set_timeout(all, 120);
    tcase_add_test(all, apart_runs_give_the_same_bits);
    tcase_add_test(all, memory_of_a_device_is_nobodys_fault);
    tcase_add_test(all, device_that_does_not_say_what_it_is_blames_nobody);
    tcase_add_test(all, pieces_of_a_device_give_the_figures_of_batches);
    tcase_add_test(all, a_fetch_that_fails_or_is_stopped_ends_the_run);
    tcase_add_test(all, digests_alone_are_those_of_judged_runs);
    tcase_add_test(all, ends_of_loops_and_short_calls_take_part);
    tcase_add_test(all, lengths_that_a_kernel_declines_are_not_launched);
    tcase_add_test(all, oracle_settles_the_input_that_was_left_open);
    tcase_add_test(all, only_small_unary_elementwise_ops_qualify);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
