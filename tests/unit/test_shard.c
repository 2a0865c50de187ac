/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_shard.c -- parts of a shape set, by number and by a batch system's variables. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/status.h"
#include "tuner/shard.h"

/* "NAME=VALUE", NULL at the end. */
static const char *const *variables;

static const char *get(const char *name)
{
    const size_t n = strlen(name);

    for (size_t i = 0; variables != NULL && variables[i] != NULL; i++)
        if (strncmp(variables[i], name, n) == 0 && variables[i][n] == '=')
            return variables[i] + n + 1;
    return NULL;
}

static assay_status parse(const char *text, const char *const *environment, assay__shard *out)
{
    variables = environment;
    return assay__shard_parse(text, get, out);
}

START_TEST(numbers_are_a_place_and_a_count)
{
    static const char *const bad[] = {"",
                                      "2",
                                      "/",
                                      "0/4",
                                      "5/4",
                                      "-1/4",
                                      "1/0",
                                      "a/4",
                                      "1/b",
                                      "1/4x",
                                      "1/4/2",
                                      "1.0/4",
                                      "1 /4",
                                      "1/ 4",
                                      "AUTO",
                                      "1/1000001",
                                      "00000000000000000000000000001/4"};
    assay__shard s;

    ck_assert_int_eq(parse("2/4", NULL, &s), ASSAY_OK);
    ck_assert_uint_eq(s.index, 2);
    ck_assert_uint_eq(s.count, 4);
    ck_assert_int_eq(parse("1/1", NULL, &s), ASSAY_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(parse(bad[i], NULL, &s), ASSAY_INVALID);
        ck_assert_ptr_nonnull(strstr(assay_last_error(), "--shard"));
    }
}
END_TEST

START_TEST(a_job_array_says_its_place)
{
    static const char *const odd[] = {"SLURM_ARRAY_TASK_ID=7",    "SLURM_ARRAY_TASK_MIN=1",
                                      "SLURM_ARRAY_TASK_MAX=9",   "SLURM_ARRAY_TASK_STEP=2",
                                      "SLURM_ARRAY_TASK_COUNT=5", "OMPI_COMM_WORLD_RANK=0",
                                      "OMPI_COMM_WORLD_SIZE=1",   NULL};
    static const char *const from_zero[] = {"SLURM_ARRAY_TASK_ID=0", "SLURM_ARRAY_TASK_MIN=0",
                                            "SLURM_ARRAY_TASK_MAX=3", "SLURM_ARRAY_TASK_COUNT=4",
                                            NULL};
    static const char *const mpi[] = {"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", NULL};
    assay__shard s;

    ck_assert_int_eq(parse("auto", odd, &s), ASSAY_OK);
    ck_assert_uint_eq(s.index, 4);
    ck_assert_uint_eq(s.count, 5);
    ck_assert_int_eq(parse("auto", from_zero, &s), ASSAY_OK);
    ck_assert_uint_eq(s.index, 1);
    ck_assert_uint_eq(s.count, 4);
    ck_assert_int_eq(parse("auto", mpi, &s), ASSAY_OK);
    ck_assert_uint_eq(s.index, 4);
    ck_assert_uint_eq(s.count, 4);
    /* Numbers win over variables. */
    ck_assert_int_eq(parse("1/2", mpi, &s), ASSAY_OK);
    ck_assert_uint_eq(s.count, 2);
}
END_TEST

START_TEST(a_job_that_does_not_say_it_is_refused)
{
    static const char *const list[] = {"SLURM_ARRAY_TASK_ID=7", "SLURM_ARRAY_TASK_MIN=1",
                                       "SLURM_ARRAY_TASK_MAX=7", "SLURM_ARRAY_TASK_COUNT=3", NULL};
    static const char *const between[] = {"SLURM_ARRAY_TASK_ID=2",    "SLURM_ARRAY_TASK_MIN=1",
                                          "SLURM_ARRAY_TASK_MAX=9",   "SLURM_ARRAY_TASK_STEP=2",
                                          "SLURM_ARRAY_TASK_COUNT=5", NULL};
    static const char *const outside[] = {"SLURM_ARRAY_TASK_ID=5", "SLURM_ARRAY_TASK_MIN=1",
                                          "SLURM_ARRAY_TASK_MAX=4", "SLURM_ARRAY_TASK_COUNT=4",
                                          NULL};
    static const char *const no_step[] = {"SLURM_ARRAY_TASK_ID=1",    "SLURM_ARRAY_TASK_MIN=1",
                                          "SLURM_ARRAY_TASK_MAX=1",   "SLURM_ARRAY_TASK_STEP=0",
                                          "SLURM_ARRAY_TASK_COUNT=1", NULL};
    static const char *const half[] = {"SLURM_ARRAY_TASK_ID=1", NULL};
    static const char *const word[] = {"OMPI_COMM_WORLD_RANK=first", "OMPI_COMM_WORLD_SIZE=4",
                                       NULL};
    static const char *const far[] = {"OMPI_COMM_WORLD_RANK=4", "OMPI_COMM_WORLD_SIZE=4", NULL};
    static const char *const none[] = {NULL};
    static const char *const *const all[] = {list, between, outside, no_step,
                                             half, word,    far,     none};
    static const char *const names[] = {"its place is not known", "its place is not known",
                                        "its place is not known", "its place is not known",
                                        "SLURM_ARRAY_TASK_MIN",   "OMPI_COMM_WORLD_RANK is 'first'",
                                        "OMPI_COMM_WORLD_SIZE",   "neither"};
    assay__shard s;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        ck_assert_int_eq(parse("auto", all[i], &s), ASSAY_INVALID);
        ck_assert_msg(strstr(assay_last_error(), names[i]) != NULL, "%s", assay_last_error());
    }
}
END_TEST

static void make_set(assay__shape_set *set, const char *shape)
{
    memset(set, 0, sizeof *set);
    ck_assert_int_eq(assay__shapes_add_flags(set, "add", "f32", shape), ASSAY_OK);
}

/* How often each of the whole's problems is in some shard, with its own uses. */
START_TEST(shards_are_disjoint_and_together_the_set)
{
    enum { PROBLEMS = 23 };

    for (size_t n = 1; n < 30; n++) {
        unsigned seen[PROBLEMS] = {0};
        assay__shape_set whole;
        make_set(&whole, "n=1..23+1");
        ck_assert_uint_eq(whole.count, PROBLEMS);
        for (size_t i = 1; i <= n; i++) {
            const assay__shard shard = {i, n};
            assay__shape_set part;
            make_set(&part, "n=1..23+1");
            assay__shard_take(&part, &shard);
            ck_assert_uint_eq(part.count, part.use_count);
            ck_assert(part.count == PROBLEMS / n || part.count == PROBLEMS / n + 1);
            for (size_t u = 0; u < part.use_count; u++) {
                const assay__shape *item = &part.items[part.uses[u].shape];
                seen[item->problem.params[0].i - 1]++;
                ck_assert_uint_eq(part.uses[u].shape, u);
            }
            assay__shapes_clear(&part);
        }
        for (size_t i = 0; i < PROBLEMS; i++)
            ck_assert_uint_eq(seen[i], 1);
        assay__shapes_clear(&whole);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shard");
    TCase *tcase = tcase_create("shard");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tcase, numbers_are_a_place_and_a_count);
    tcase_add_test(tcase, a_job_array_says_its_place);
    tcase_add_test(tcase, a_job_that_does_not_say_it_is_refused);
    tcase_add_test(tcase, shards_are_disjoint_and_together_the_set);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
