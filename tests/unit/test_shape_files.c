/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_shape_files.c -- the committed shape sets against totals that were counted apart:
 * from DeepBench's lists and from the published sizes of the models. */
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/shape_set.h"

static glob_t files;

static void load(const char *path, assay__shape_set *set)
{
    memset(set, 0, sizeof *set);
    ck_assert_msg(assay__shapes_add_csv(set, path, NULL, NULL) == ASSAY_OK, "%s",
                  assay_last_error());
}

/* Every file reads without an error, whole, and says of every row what it is. */
START_TEST(files_are_read_whole)
{
    const char *path = files.gl_pathv[_i];
    assay__shape_set set;

    load(path, &set);
    ck_assert_uint_gt(set.count, 0);
    ck_assert_msg(set.skipped_count == 0, "%s:%zu: %s", path, set.skipped[0].line,
                  set.skipped[0].reason);
    for (size_t i = 0; i < set.use_count; i++) {
        const assay__shape_use *use = &set.uses[i];
        ck_assert_msg(use->set[0] != '\0' && use->name[0] != '\0' && use->source[0] != '\0',
                      "%s:%zu: no set, name or source", path, use->line);
        ck_assert_msg(use->count >= 1 && use->count < 1e9, "%s:%zu: count %g", path, use->line,
                      use->count);
    }
    assay__shapes_clear(&set);
}
END_TEST

static bool is_matmul(const assay__shape_set *set, const assay__shape_use *use)
{
    return set->items[use->shape].problem.op == ASSAY_OP_matmul;
}

static double product(const assay_problem *p, const char *names)
{
    double all = 1;

    for (const char *c = names; *c != '\0'; c++)
        all *= (double)assay_problem_int(p, (const char[]){*c, '\0'});
    return all;
}

/* Sum over the matmuls of a set: count times the product of the extents named. */
static double total(const assay__shape_set *set, const char *name, const char *extents,
                    double *count)
{
    double sum = 0;

    *count = 0;
    for (size_t i = 0; i < set->use_count; i++) {
        const assay__shape_use *use = &set->uses[i];
        if (strcmp(use->set, name) != 0 || !is_matmul(set, use))
            continue;
        sum += use->count * product(&set->items[use->shape].problem, extents);
        *count += use->count;
    }
    return sum;
}

static const struct bench_list {
    const char *set;
    double problems, flops; /* 2 m n k, repeated lines kept */
} bench_lists[] = {
    {"deepbench-gemm-training", 160, 26706398187136},
    {"deepbench-gemm-server", 75, 1797432942592},
    {"deepbench-gemm-device", 13, 28882870272},
};

START_TEST(deepbench_has_its_totals)
{
    assay__shape_set set;
    double count;

    load("shapes/deepbench_gemm.csv", &set);
    ck_assert_uint_eq(set.count, 243);
    for (size_t i = 0; i < sizeof bench_lists / sizeof *bench_lists; i++) {
        double mnk = total(&set, bench_lists[i].set, "mnk", &count);
        ck_assert_msg(2 * mnk == bench_lists[i].flops, "%s: %.0f", bench_lists[i].set, 2 * mnk);
        ck_assert_double_eq(count, bench_lists[i].problems);
    }
    assay__shapes_clear(&set);
}
END_TEST

/* Convolutions of a set: how many, with counts, how many of them differ, and their flops. */
static double convolutions(const assay__shape_set *set, const char *name, double *count,
                           size_t *different)
{
    double sum = 0;

    *count = 0;
    *different = 0;
    for (size_t i = 0; i < set->use_count; i++) {
        const assay__shape_use *use = &set->uses[i];
        const assay_problem *p = &set->items[use->shape].problem;
        double flops;
        if (strcmp(use->set, name) != 0 || p->op != ASSAY_OP_conv2d)
            continue;
        ck_assert(assay_problem_flops(p, &flops));
        sum += use->count * flops;
        *count += use->count;
        (*different)++;
    }
    return sum;
}

/* The facts of DeepBench have lines once that its own lists of 94, 107 and 16 repeat. */
static const struct conv_list {
    const char *path, *set;
    double problems, flops;
    size_t different;
} conv_lists[] = {
    {"shapes/deepbench_conv2d.csv", "deepbench-conv2d-training", 90, 554489046016, 90},
    {"shapes/deepbench_conv2d.csv", "deepbench-conv2d-server", 103, 85881205504, 103},
    {"shapes/deepbench_conv2d.csv", "deepbench-conv2d-device", 15, 1721237504, 15},
    {"shapes/resnet50.csv", "resnet50 n=1", 53, 2 * 4087136256.0, 23},
    {"shapes/resnet50.csv", "resnet50 n=8", 53, 2 * 8 * 4087136256.0, 23},
    {"shapes/resnet50.csv", "resnet50 n=32", 53, 2 * 32 * 4087136256.0, 23},
};

START_TEST(convolutions_have_their_totals)
{
    const struct conv_list *l = &conv_lists[_i];
    assay__shape_set set;
    double count;
    size_t different;

    load(l->path, &set);
    double flops = convolutions(&set, l->set, &count, &different);
    ck_assert_msg(flops == l->flops, "%s: %.0f flops", l->set, flops);
    ck_assert_msg(count == l->problems, "%s: %g", l->set, count);
    ck_assert_msg(different == l->different, "%s: %zu differ", l->set, different);
    assay__shapes_clear(&set);
}
END_TEST

/* A pass over 8192 tokens multiplies by every weight matrix once: n k count. `rest` has what is no
 * matrix, or not multiplied: embeddings, norms, biases, the convolution and scan of Mamba. */
static const struct model {
    const char *path, *set;
    double rest, parameters;
} models[] = {
    {"shapes/llama3_8b.csv", "llama3-8b t=8192", 128256.0 * 4096 + 65 * 4096, 8030261248},
    {"shapes/llama3_70b.csv", "llama3-70b t=8192", 128256.0 * 8192 + 161 * 8192, 70553706496},
    {"shapes/mixtral_8x7b.csv", "mixtral-8x7b t=8192", 32000.0 * 4096 + 65 * 4096, 46702792704},
    {"shapes/bert_base.csv", "bert-base t=8192",
     (30522 + 512 + 2 + 2) * 768 + 12 * (9 * 768 + 3072) + 768 * 768 + 768, 109482240},
    {"shapes/mamba_130m.csv", "mamba-130m t=8192", 24 * (1536 * (4 + 1 + 1 + 16 + 1) + 768) + 768,
     129135360},
    {"shapes/mamba_2_8b.csv", "mamba-2.8b t=8192", 64 * (5120 * (4 + 1 + 1 + 16 + 1) + 2560) + 2560,
     2768345600},
};

START_TEST(models_have_their_published_sizes)
{
    const struct model *m = &models[_i];
    assay__shape_set set;
    double count;

    load(m->path, &set);
    double weights = total(&set, m->set, "nk", &count);
    ck_assert_msg(weights + m->rest == m->parameters, "%s: %.0f", m->set, weights + m->rest);
    assay__shapes_clear(&set);
}
END_TEST

/* BERT's projections with their biases: what its published size counts for the encoder's matrices
 * and their biases, query, key and value in one. */
START_TEST(linear_layers_have_the_parameters_of_the_encoder)
{
    assay__shape_set set;
    double parameters = 0, uses = 0;

    load("shapes/bert_base_linear.csv", &set);
    for (size_t u = 0; u < set.use_count; u++) {
        const assay_problem *p = &set.items[set.uses[u].shape].problem;
        if (strcmp(set.uses[u].set, "bert-base-linear t=1") != 0)
            continue;
        ck_assert_int_eq(p->op, ASSAY_OP_fused_linear);
        double n = (double)assay_problem_int(p, "n"), k = (double)assay_problem_int(p, "k");
        parameters += set.uses[u].count * n * (k + 1);
        uses += set.uses[u].count;
    }
    ck_assert_double_eq(parameters, 12.0 * (12 * 768 * 768 + 9 * 768));
    ck_assert_double_eq(uses, 48);
    assay__shapes_clear(&set);
}
END_TEST

/* Two of eight experts see each token, however few there are. */
START_TEST(experts_see_every_token_twice)
{
    static const int tokens[] = {1, 2, 4, 7, 8, 33, 127, 1000, 4096};
    assay__shape_set set;
    char name[48];

    load("shapes/mixtral_8x7b.csv", &set);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        double seen = 0;
        (void)snprintf(name, sizeof name, "mixtral-8x7b t=%d", tokens[i]);
        for (size_t u = 0; u < set.use_count; u++)
            if (strcmp(set.uses[u].set, name) == 0 &&
                strncmp(set.uses[u].name, "expert down", 11) == 0)
                seen += set.uses[u].count *
                        (double)assay_problem_int(&set.items[set.uses[u].shape].problem, "m");
        ck_assert_double_eq(seen, 32.0 * 2 * tokens[i]);
    }
    assay__shapes_clear(&set);
}
END_TEST

/* Weights lie [n,k]; the classifier is ResNet-50's only matmul. */
START_TEST(classifier_and_layouts)
{
    assay__shape_set set;
    double count;

    load("shapes/resnet50.csv", &set);
    for (int n = 1; n <= 32; n += n == 1 ? 7 : 24) {
        char name[32];
        (void)snprintf(name, sizeof name, "resnet50 n=%d", n);
        ck_assert_double_eq(total(&set, name, "mnk", &count), n * 1000.0 * 2048);
        ck_assert_double_eq(count, 1);
    }
    assay__shapes_clear(&set);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        load(models[i].path, &set);
        for (size_t u = 0; u < set.use_count; u++) {
            const assay_problem *p = &set.items[set.uses[u].shape].problem;
            if (is_matmul(&set, &set.uses[u]))
                ck_assert_int_eq(assay_problem_int(p, "trans_b"), 1);
        }
        assay__shapes_clear(&set);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("shape_files");
    TCase *all = tcase_create("files"), *control = tcase_create("control");

    if (glob("shapes/*.csv", 0, NULL, &files) != 0 || files.gl_pathc < 8)
        return EXIT_FAILURE;
    tcase_add_loop_test(all, files_are_read_whole, 0, (int)files.gl_pathc);
    tcase_add_test(control, deepbench_has_its_totals);
    tcase_add_loop_test(control, convolutions_have_their_totals, 0,
                        (int)(sizeof conv_lists / sizeof *conv_lists));
    tcase_add_loop_test(control, models_have_their_published_sizes, 0,
                        (int)(sizeof models / sizeof *models));
    tcase_add_test(control, linear_layers_have_the_parameters_of_the_encoder);
    tcase_add_test(control, experts_see_every_token_twice);
    tcase_add_test(control, classifier_and_layouts);
    suite_add_tcase(s, all);
    suite_add_tcase(s, control);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    globfree(&files);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
