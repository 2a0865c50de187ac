/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_sweep_limits.c -- problems that a machine cannot check, and what memory it has.
 */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sweep/sweep_internal.h"
#include "tests/support/store_fixture.h"
#include "tuner/free_memory.h"

#define GIB 1073741824.0

static assay__profile profile;
static assay__sweep_options options;
static sweep s;
static sweep_problem p;
static char reason[200], folder[256];

static void setup(void)
{
    profile = (assay__profile){.strata = 2, .group_bytes = 3e9};
    options = (assay__sweep_options){.profile = &profile};
    memset(&s, 0, sizeof s);
    memset(&p, 0, sizeof p);
    s.o = &options;
    s.cpus = 2;
    s.rotate_bytes = 64e6;
    store_folder_make(folder);
}

static void teardown(void)
{
    store_folder_remove(folder);
}

static bool too_large_matmul(int64_t m, int64_t n, int64_t k)
{
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, &p.problem), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p.problem, "m", m), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p.problem, "n", n), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p.problem, "k", k), ASSAY_OK);
    reason[0] = '\0';
    return assay__sweep_too_large(&s, &p, reason, sizeof reason);
}

/* 2 sets of 32 bytes an element of the result, and 8 more, are most of what a check takes. */
START_TEST(memory_limits_a_problem)
{
    s.memory_bytes = 8 * GIB;
    ck_assert(!too_large_matmul(8192, 8192, 7)); /* 4.5 GiB and two rounds of operands */
    ck_assert(too_large_matmul(16384, 8192, 7)); /* twice that: more than 6 GiB */
    ck_assert_msg(strstr(reason, "of memory, and 6.00 GiB may be used here") != NULL, "%s", reason);
    s.memory_bytes = 16 * GIB;
    ck_assert(!too_large_matmul(16384, 8192, 7));
    s.memory_bytes = (double)NAN; /* not known: nothing is refused for it */
    ck_assert(!too_large_matmul(1 << 20, 1 << 19, 1));
}
END_TEST

/* Of a product of more than 2 GFLOP a sample and a strip a block of 512 elements are held: 8.3 MiB
 * and the inputs, not 1 GiB more, of each set. */
START_TEST(samples_of_large_products_take_little)
{
    s.memory_bytes = (double)NAN;
    ck_assert(!too_large_matmul(5124, 9124, 21)); /* sets problem and limits to look at */
    const double whole = assay__sweep_expected_bytes(&s, &p);
    ck_assert_double_eq_tol(whole, 32.0 * 5124 * 9124, 1.0);
    ck_assert(!too_large_matmul(5124, 9124, 2560));
    const double sample = assay__sweep_expected_bytes(&s, &p);
    ck_assert_double_gt(sample, 40.0 * 500000 + 40.0 * 5124 * 18);
    ck_assert_double_lt(sample, 40.0 * 600000 + 40.0 * 5124 * 18);
    const double out = 5124.0 * 9124, in = 4.0 * 2560 * (5124 + 9124);
    ck_assert_double_eq_tol(assay__sweep_bytes_held(&s, &p), 2 * (in + sample) + 8 * out, 1e3);
    options.sample_above_flops = 1e12;
    ck_assert_double_eq_tol(assay__sweep_expected_bytes(&s, &p), whole, 1.0);
}
END_TEST

START_TEST(memory_counts_rotated_operands)
{
    s.memory_bytes = 1 * GIB;
    ck_assert(!too_large_matmul(16, 16, 16));
    s.rotate_bytes = 1 * GIB;
    ck_assert(too_large_matmul(16, 16, 16));
}
END_TEST

static bool too_large(const char *text)
{
    ck_assert_int_eq(assay_problem_parse(text, &p.problem), ASSAY_OK);
    reason[0] = '\0';
    return assay__sweep_too_large(&s, &p, reason, sizeof reason);
}

/* 2 CPUs do 4.8 TFLOP in ten minutes at 4 GFLOP/s each. */
START_TEST(oracle_limits_a_problem)
{
    static const char text[] = "conv2d f32,f32,f32 n=1,c=1000,h=100,w=100,k=300000,r=1,s=1";

    s.memory_bytes = (double)NAN;
    ck_assert(!too_large("conv2d f32,f32,f32 n=1,c=1000,h=100,w=100,k=200000,r=1,s=1"));
    ck_assert(too_large(text));
    ck_assert_msg(strstr(reason, "on 2 CPUs, more than the limit of 10 min") != NULL, "%s", reason);
    s.cpus = 4;
    ck_assert(!too_large(text));
}
END_TEST

/* Of a large product a sample is computed: 2,000 times less than all here. */
START_TEST(oracle_computes_samples_of_products)
{
    s.memory_bytes = (double)NAN;
    ck_assert(!too_large_matmul(1000, 1000, 3000000));
    const double sample = assay__sweep_expected_flops(&s, &p);
    /* 4,096 elements, the borders, and 4 columns of each of 2 blocks. */
    ck_assert_double_ge(sample, 6e6 * (4096 + 3996 + 8000));
    ck_assert_double_le(sample, 6e6 * (4096 + 4000 + 8000));
    options.sample_above_flops = 1e13;
    ck_assert(too_large_matmul(1000, 1000, 3000000));
}
END_TEST

/* 2 CPUs do 1.8 TFLOP of attention at 1.5 GFLOP/s each, a tenth of it in f64, 1.2 of gradients. */
START_TEST(oracle_limits_other_products)
{
    static const struct {
        const char *text;
        bool is_too_large;
    } rows[] = {
        {"attention f32,f32,f32,f32 b=10,hq=32,hkv=8,sq=4000,sk=5000,d=64", false},
        {"attention f32,f32,f32,f32 b=10,hq=32,hkv=8,sq=4000,sk=6000,d=64", true},
        {"attention f64,f64,f64,f64 b=1,hq=32,hkv=8,sq=4000,sk=5000,d=64", false},
        {"attention f64,f64,f64,f64 b=1,hq=32,hkv=8,sq=4000,sk=6000,d=64", true},
        {"conv2d_backward_data f32,f32,f32 n=1,c=1000,h=100,w=100,k=59000,r=1,s=1", false},
        {"conv2d_backward_data f32,f32,f32 n=1,c=1000,h=100,w=100,k=61000,r=1,s=1", true},
        {"conv2d_backward_filter f32,f32,f32 n=1,c=1000,h=100,w=100,k=61000,r=1,s=1", true}};

    s.memory_bytes = (double)NAN;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_int_eq(too_large(rows[i].text), rows[i].is_too_large);
}
END_TEST

START_TEST(memory_limits_a_group)
{
    s.memory_bytes = 4e9;
    ck_assert_double_eq_tol(assay__sweep_group_bytes(&s), 2e9, 1);
    s.memory_bytes = 64e9;
    ck_assert_double_eq_tol(assay__sweep_group_bytes(&s), 3e9, 1);
    s.memory_bytes = (double)NAN;
    ck_assert_double_eq_tol(assay__sweep_group_bytes(&s), 3e9, 1);
}
END_TEST

/* ---- groups ---- */

#define MANY 40

/* Problems of 30 screening stays and 200 visits each, nothing in their inputs. */
static sweep_problem many[MANY];

static void setup_many(void)
{
    profile.warm_ns = 20e6;
    profile.budget_ns = 80e6; /* a visit takes 0.1 s, a screening stay 0.03 s */
    memset(many, 0, sizeof many);
    for (size_t i = 0; i < MANY; i++) {
        ck_assert_int_eq(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, &many[i].problem),
                         ASSAY_OK);
        many[i].planned[ASSAY__STAY_SCREEN] = (assay__load){30, 0.9};
        many[i].planned[ASSAY__STAY_VISIT] = (assay__load){200, 20}; /* 20.9 s in all */
    }
    s.problems = many;
    s.problem_count = MANY;
    s.memory_bytes = (double)NAN;
}

START_TEST(budget_limits_a_group)
{
    setup_many();
    ck_assert_uint_eq(assay__sweep_group_end(&s, 0), MANY); /* 836 s: below half an hour */
    options.budget_s = 800;
    ck_assert_uint_eq(assay__sweep_group_end(&s, 0), 9); /* 200 s */
    ck_assert_uint_eq(assay__sweep_group_end(&s, 36), MANY);
    many[3].skip = true;
    ck_assert_uint_eq(assay__sweep_group_end(&s, 0), 10);
    options.budget_s = 1; /* one problem at least */
    ck_assert_uint_eq(assay__sweep_group_end(&s, 0), 1);
    options.budget_s = 0;
    for (size_t i = 0; i < MANY; i++)
        many[i].planned[ASSAY__STAY_VISIT] = (assay__load){1790, 179}; /* 179.9 s */
    ck_assert_uint_eq(assay__sweep_group_end(&s, 4), 14);
}
END_TEST

/* Candidates under way take memory of the sweep itself. */
START_TEST(candidates_limit_a_group)
{
    setup_many();
    for (size_t i = 0; i < MANY; i++)
        many[i].count = 1024;
    ck_assert_uint_eq(assay__sweep_group_end(&s, 0), 8);
    many[2].skip = true;
    ck_assert_uint_eq(assay__sweep_group_end(&s, 0), 9);
    many[0].count = 100000; /* one problem at least */
    ck_assert_uint_eq(assay__sweep_group_end(&s, 0), 1);
}
END_TEST

/* A loaded machine takes longer than the profile's calls do. */
START_TEST(pace_so_far_limits_a_group)
{
    setup_many();
    options.budget_s = 800;
    assay__pace_took(&s.pace, ASSAY__STAY_VISIT, 0.1, 0.2);
    ck_assert_uint_eq(assay__sweep_group_end(&s, 0), 4); /* 40.9 s each */
    assay__pace_took(&s.pace, ASSAY__STAY_SCREEN, 0.03, 2);
    ck_assert_uint_eq(assay__sweep_group_end(&s, 0), 2); /* 100 s each */
    memset(&s.pace, 0, sizeof s.pace);
    assay__pace_took(&s.pace, ASSAY__STAY_SCREEN, 0.03, 0.25); /* as much more for visits */
    ck_assert_uint_eq(assay__sweep_group_end(&s, 0), 2);       /* 71.5 s each */
    memset(&s.pace, 0, sizeof s.pace);
    assay__pace_took(&s.pace, ASSAY__STAY_VISIT, 0.1, 0.01); /* no less than the calls take */
    ck_assert_uint_eq(assay__sweep_group_end(&s, 0), 9);
}
END_TEST

/* ---- what there is ---- */

static void put(const char *path, const char *text)
{
    char all[512];
    FILE *file;

    snprintf(all, sizeof all, "%s/%s", folder, path);
    for (char *slash = all + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)mkdir(all, 0755);
        *slash = '/';
    }
    file = fopen(all, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static double read_memory(void)
{
    char proc[300], sys[300];
    const assay__machine machine = {proc, sys, 0, NULL};

    snprintf(proc, sizeof proc, "%s/proc", folder);
    snprintf(sys, sizeof sys, "%s/sys", folder);
    return assay__free_memory(&machine);
}

START_TEST(free_memory_of_a_plain_machine)
{
    ck_assert_double_nan(read_memory());
    put("proc/meminfo", "MemAvailable:    what\n");
    ck_assert_double_nan(read_memory());
    put("proc/meminfo", "MemTotal:       32768000 kB\nMemFree:  1 kB\nMemAvailable:    1024 kB\n");
    ck_assert_double_eq(read_memory(), 1048576.0);
    put("proc/self/cgroup", "0::/\n");
    put("sys/fs/cgroup/memory.max", "max\n");
    ck_assert_double_eq(read_memory(), 1048576.0);
}
END_TEST

START_TEST(free_memory_of_containers)
{
    put("proc/meminfo", "MemAvailable:    8192 kB\n");
    put("proc/self/cgroup", "0::/pods/one/run\n");
    put("sys/fs/cgroup/pods/one/run/memory.max", "max\n");
    put("sys/fs/cgroup/pods/one/memory.max", "2097152\n"); /* of an ancestor */
    put("sys/fs/cgroup/pods/memory.max", "4194304\n");
    ck_assert_double_eq(read_memory(), 2097152.0);
    put("proc/self/cgroup", "5:cpu:/docker/x\n4:memory:/docker/x\n");
    put("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "3145728\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    ck_assert_double_eq(read_memory(), 3145728.0);
    put("proc/meminfo", "nothing\n"); /* the limit alone is known */
    ck_assert_double_eq(read_memory(), 3145728.0);
}
END_TEST

START_TEST(free_memory_here_is_known)
{
    const assay__machine here = ASSAY__MACHINE_HERE;

    ck_assert_double_gt(assay__free_memory(&here), 1e6);
}
END_TEST

/* A worker loads what its problem may still need, and all when that is too much to name. */
START_TEST(worker_has_the_backends_that_are_in)
{
    static const assay_manifest one = {.name = "one"}, other = {.name = "other"};
    static const sweep_kernel ours = {.manifest = &one}, theirs = {.manifest = &other};
    sweep_candidate list[4] = {
        {.kernel = &ours}, {.kernel = &theirs}, {.kernel = &ours}, {.kernel = &theirs}};
    char buf[16];

    p.candidates = list;
    p.count = 4;
    ck_assert_str_eq(assay__sweep_backends(&p, buf, sizeof buf), "one,other");
    ck_assert_ptr_null(assay__sweep_backends(&p, buf, 9));
    list[1].out = list[3].out = true;
    ck_assert_str_eq(assay__sweep_backends(&p, buf, sizeof buf), "one");
    list[0].out = list[2].out = true;
    ck_assert_ptr_null(assay__sweep_backends(&p, buf, sizeof buf));
    p.count = 0;
    p.candidates = NULL;
}
END_TEST

/* A visit takes a fifth of a second so far, and 100 s of the budget are left: 250 take half of
 * them. */
START_TEST(doubts_take_half_of_what_is_left_of_a_budget)
{
    ck_assert(assay__sweep_affords(&s, SIZE_MAX)); /* no budget */
    options.budget_s = 1100;
    s.begin_s = assay__sweep_now_s(&s) - 1000;
    assay__pace_took(&s.pace, ASSAY__STAY_VISIT, NAN, 0.2);
    ck_assert(assay__sweep_affords(&s, 0));
    ck_assert(assay__sweep_affords(&s, 200));
    ck_assert(!assay__sweep_affords(&s, 251));
    s.begin_s -= 200; /* overdrawn */
    ck_assert(!assay__sweep_affords(&s, 1));
}
END_TEST

/* What all get is planned, too, and no matter of doubt. */
START_TEST(stays_in_doubt_are_of_problems_that_want_more)
{
    setup_many();
    many[1].wanted = many[3].wanted = 9;
    many[2].wanted = 6;
    many[3].skip = true;
    ck_assert_uint_eq(assay__sweep_doubted_stays(&s, 0, MANY, 6), 200);
    ck_assert_uint_eq(assay__sweep_doubted_stays(&s, 0, MANY, 0), 400);
    ck_assert_uint_eq(assay__sweep_doubted_stays(&s, 2, MANY, 6), 0);
}
END_TEST

/* While it is screened nothing is known of a variant but its check, which may take nearly as long
 * as a call may; then two calls are no hang. */
START_TEST(stay_may_take_two_calls_as_long_as_the_check)
{
    sweep_candidate c = {.run_ns = 9e9};

    profile.run_timeout_ms = 10000;
    ck_assert_int_ge(assay__sweep_time_limit_ms(&s, &c), 2 * 9000);
    const int limit_ms = assay__sweep_time_limit_ms(&s, &c);
    c.screen_ns = 1e9;
    ck_assert_int_eq(assay__sweep_time_limit_ms(&s, &c), limit_ms);
    c.screen_ns = 11e9;
    ck_assert_int_gt(assay__sweep_time_limit_ms(&s, &c), limit_ms);
    /* Of what is quick a hang is one soon. */
    c = (sweep_candidate){.run_ns = 1e6};
    ck_assert_int_lt(assay__sweep_time_limit_ms(&s, &c), 16000);
}
END_TEST

/* Under a load spans are longer, and so is what they are expected to take. */
START_TEST(load_of_a_policy_is_part_of_the_effort)
{
    setup_many();
    profile.span_ns = 30e3;
    profile.spans = 7;
    ck_assert_double_eq(assay__sweep_effort(&s).span_ns, 30e3);
    ck_assert_double_eq(assay__sweep_effort(&s).budget_ns, 80e6);
    ck_assert_int_eq(assay_problem_parse("matmul f32,f32,f32 m=64,n=64,k=64", &many[0].problem),
                     ASSAY_OK);
    many[0].count = 12;
    many[0].weight = 1;
    options.problem_s = 1000;
    const double worth = assay__sweep_worth(&s, &many[0]);
    options.policy.load = 1;
    ck_assert_double_eq(assay__sweep_effort(&s).span_ns, 10e6);
    ck_assert_double_eq(assay__sweep_effort(&s).budget_ns, 150e6);
    ck_assert_uint_eq(assay__sweep_effort(&s).spans, 7);
    ck_assert_double_lt(assay__sweep_worth(&s, &many[0]), worth);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sweep_limits");
    TCase *limits = tcase_create("limits");

    tcase_add_checked_fixture(limits, setup, teardown);
    tcase_add_test(limits, memory_limits_a_problem);
    tcase_add_test(limits, worker_has_the_backends_that_are_in);
    tcase_add_test(limits, samples_of_large_products_take_little);
    tcase_add_test(limits, oracle_computes_samples_of_products);
    tcase_add_test(limits, memory_counts_rotated_operands);
    tcase_add_test(limits, oracle_limits_a_problem);
    tcase_add_test(limits, oracle_limits_other_products);
    tcase_add_test(limits, memory_limits_a_group);
    tcase_add_test(limits, budget_limits_a_group);
    tcase_add_test(limits, candidates_limit_a_group);
    tcase_add_test(limits, pace_so_far_limits_a_group);
    tcase_add_test(limits, free_memory_of_a_plain_machine);
    tcase_add_test(limits, free_memory_of_containers);
    tcase_add_test(limits, free_memory_here_is_known);
    tcase_add_test(limits, doubts_take_half_of_what_is_left_of_a_budget);
    tcase_add_test(limits, stays_in_doubt_are_of_problems_that_want_more);
    tcase_add_test(limits, stay_may_take_two_calls_as_long_as_the_check);
    tcase_add_test(limits, load_of_a_policy_is_part_of_the_effort);
    suite_add_tcase(suite, limits);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
