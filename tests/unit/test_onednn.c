/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_onednn.c -- what the plug-in keeps of the library's answers, and what it tells
 * the library whatever the environment says. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/rng.h"
#include "tests/support/no_leak_scan.h"
#include "tests/support/plugin_case.h"

#define SEED 20240611

static char last_text[2048];

static assay_status note(assay_status status, const char *text)
{
    snprintf(last_text, sizeof last_text, "%s", text);
    return status;
}

static const assay_host host = {
    .struct_size = sizeof host, .abi_version = ASSAY_PLUGIN_ABI, .fail = note};

/* NULL: the library is not here. */
static const assay_manifest *open_plugin(assay_instance **instance)
{
    const assay_manifest *m = plugin_load("onednn");
    char text[1024];

    ck_assert_int_eq(m->backend->open(&host, instance), ASSAY_OK);
    if (m->backend->library_identity(*instance, "onednn", text, sizeof text) == ASSAY_OK)
        return m;
    printf("onednn is not here: %s\n", last_text);
    return NULL;
}

/* An ONEDNN_DEFAULT_FPMATH_MODE of the user would let products of f32 be made of bf16, under the
 * revision that was measured without. */
START_TEST(arithmetic_is_that_of_the_types_whatever_the_environment_says)
{
    assay_instance *instance;
    char text[1024];
    size_t here = 0;

    setenv("ONEDNN_DEFAULT_FPMATH_MODE", "ANY", 1);
    const assay_manifest *m = open_plugin(&instance);
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->kernel_count; i++) {
        const char *name = m->kernels[i].libraries[0];
        if (m->backend->library_identity(instance, name, text, sizeof text) != ASSAY_OK)
            continue;
        ck_assert_msg(strstr(text, "\nfpmath=strict\n") != NULL, "%s: %s", name, text);
        here++;
    }
    ck_assert_uint_ge(here, 8);
    m->backend->close(instance);
}
END_TEST

/* What the library leaves undefined, or would take as another number, is left to others. */
static const struct limit {
    assay_op_id op;
    const char *params;
    bool is_taken;
} limits[] = {
    {ASSAY_OP_sum_reduce, "outer=2,axis=2,inner=1", true},
    {ASSAY_OP_sum_reduce, "outer=2,axis=1,inner=3", false},
    {ASSAY_OP_mean_reduce, "outer=2,axis=0,inner=3", false},
    {ASSAY_OP_sum_reduce, "outer=0,axis=2,inner=2147483648", false},
    {ASSAY_OP_layer_norm_last_dim, "rows=2,cols=3", true},
    {ASSAY_OP_layer_norm_last_dim, "rows=2,cols=3,eps=0", true},
    {ASSAY_OP_layer_norm_last_dim, "rows=2,cols=3,eps=0x1p-127", false},
    {ASSAY_OP_layer_norm_last_dim, "rows=2,cols=3,eps=0x1p+128", false},
    {ASSAY_OP_layer_norm_last_dim, "rows=2,cols=0", false},
    {ASSAY_OP_add, "n=7", true},
};

START_TEST(problems_beyond_what_is_documented_are_left_to_others)
{
    const struct limit *l = &limits[_i];
    const assay_kernel_desc *k = plugin_kernel(plugin_load("onednn"), l->op, ASSAY_F32, NULL);
    char text[64], *rest = text;
    assay_problem p;

    snprintf(text, sizeof text, "%s", l->params);
    ck_assert_int_eq(assay_problem_init(l->op, ASSAY_F32, &p), ASSAY_OK);
    for (char *item; (item = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(item, '=');
        *value++ = '\0';
        ck_assert_int_eq(assay_problem_set(&p, item, value), ASSAY_OK);
    }
    ck_assert_msg(k->can_run_fn(&p, NULL) == l->is_taken, "%s", l->params);
}
END_TEST

/* ---- convolutions ---- */

enum { PROBLEMS = 1500, SAMPLE = 48, ASKERS = 3 };

typedef struct asked {
    const assay_kernel_desc *kernel;
    assay_problem problem;
    int64_t threads;
} asked;

static asked asks[PROBLEMS];
static char *kept; /* answers to all of them, shared with children */

static int64_t below(assay__rng *rng, uint64_t n)
{
    return (int64_t)((assay__rng_bits(rng) >> 33) % n);
}

static void set(assay_problem *p, const char *name, int64_t value)
{
    ck_assert_int_eq(assay_problem_set_int(p, name, value), ASSAY_OK);
}

/* Padded ones: whether there is an implementation that clips its loops depends on many extents. */
static void make_problem(const assay_manifest *m, assay__rng *rng, asked *out)
{
    static const assay_op_id ops[] = {ASSAY_OP_conv2d, ASSAY_OP_conv2d_backward_data,
                                      ASSAY_OP_conv2d_backward_filter};
    const assay_op_id op = ops[below(rng, 3)];
    const assay_dtype t = below(rng, 2) == 0 ? ASSAY_F32 : ASSAY_BF16;

    out->kernel = plugin_kernel(m, op, t, NULL);
    out->threads = 1;
    ck_assert_int_eq(assay_problem_init(op, t, &out->problem), ASSAY_OK);
    set(&out->problem, "n", 1 + below(rng, 3));
    set(&out->problem, "c", 1 + below(rng, 40));
    set(&out->problem, "h", 6 + below(rng, 20));
    set(&out->problem, "w", 6 + below(rng, 20));
    set(&out->problem, "k", 1 + below(rng, 40));
    set(&out->problem, "r", 3);
    set(&out->problem, "s", 3);
    set(&out->problem, "pad_h", below(rng, 2));
    set(&out->problem, "pad_w", 1);
    set(&out->problem, "dil_h", 1 + below(rng, 2));
}

static void make_problems(const assay_manifest *m)
{
    assay__rng rng;

    assay__rng_seed_named(&rng, SEED, "convolutions");
    for (size_t i = 0; i < PROBLEMS; i++)
        make_problem(m, &rng, &asks[i]);
    kept = mmap(NULL, PROBLEMS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(kept, MAP_FAILED);
}

static char answer(size_t i)
{
    return asks[i].kernel->can_run_fn(&asks[i].problem, &asks[i].threads) ? 'y' : 'n';
}

/* By a process that asks nothing else. */
static void answer_alone(size_t i)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        kept[i] = answer(i);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

static void *ask_all(void *step)
{
    for (size_t i = 0; i < PROBLEMS; i++) {
        size_t at = (i * *(size_t *)step + i) % PROBLEMS;
        char got = answer(at);
        if (kept[at] != 0 && got != kept[at])
            return &asks[at];
    }
    return NULL;
}

/* What was kept of an answer is of this problem: three threads ask about far more than are kept. */
START_TEST(answers_that_are_kept_are_those_of_the_library)
{
    static size_t steps[ASKERS] = {0, 6, 10}; /* + 1: has no factor with PROBLEMS in common */
    pthread_t threads[ASKERS];
    assay_instance *instance;
    const assay_manifest *m = open_plugin(&instance);

    if (m == NULL)
        return;
    make_problems(m);
    for (size_t i = 0; i < SAMPLE; i++)
        answer_alone(i);
    for (size_t i = 0; i < ASKERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_all, &steps[i]), 0);
    for (size_t i = 0; i < ASKERS; i++) {
        void *wrong;
        ck_assert_int_eq(pthread_join(threads[i], &wrong), 0);
        ck_assert_msg(wrong == NULL, "problem %zd has another answer than alone",
                      wrong != NULL ? (asked *)wrong - asks : 0);
    }
    m->backend->close(instance);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onednn");
    TCase *tcase = tcase_create("onednn");

    tcase_add_test(tcase, arithmetic_is_that_of_the_types_whatever_the_environment_says);
    tcase_add_loop_test(tcase, problems_beyond_what_is_documented_are_left_to_others, 0,
                        (int)(sizeof limits / sizeof *limits));
    tcase_add_test(tcase, answers_that_are_kept_are_those_of_the_library);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
