/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_pick_misses.c -- the picker: what was asked for without evidence becomes a shape
 * set that a sweep reads. */
#include "tests/support/pick_stage.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/store_fixture.h"
#include "tuner/shape_set.h"

static char folder[256];
static const char *file;
static assay__shape_set set;

static void setup(void)
{
    stage_setup();
    store_folder_make(folder);
    file = store_path(folder, "misses.csv");
    memset(&set, 0, sizeof set);
}

static void teardown(void)
{
    assay__shapes_clear(&set);
    store_folder_remove(folder);
    stage_teardown();
}

static void write_and_read(void)
{
    assay__shapes_clear(&set);
    ck_assert_msg(assay_pick_misses_write(context, file) == ASSAY_OK, "%s", assay_last_error());
    ck_assert_msg(assay__shapes_add_csv(&set, file, NULL, NULL) == ASSAY_OK, "%s",
                  assay_last_error());
    ck_assert_uint_eq(set.skipped_count, 0);
    ck_assert_uint_eq(set.duplicates, 0);
}

static void pick_all(const char *const *problems, size_t count)
{
    assay_route route;

    if (context == NULL)
        open_context();
    for (size_t i = 0; i < count; i++) {
        ask(problems[i]);
        ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    }
}

START_TEST(misses_come_back_as_a_shape_set)
{
    static const char *const asked[] = {
        PROBLEM, /* has evidence */
        "matmul f32,f32,f32 m=65,n=64,k=64",
        "matmul f32,f32,f32 batch=7,m=64,n=64,k=1099511627776",
        "matmul f32,f32,f32 m=3,n=4,k=5,trans_a=t,trans_b=c,alpha=0x1.8p+1,beta=-0x1.4p-3",
        "matmul f32,f32,f32 m=65,n=64,k=64",
        "add f32,f32,f32 n=17",
    };
    const assay_kernel_desc add_f32 = rows_desc("plus", ASSAY_OP_add, ASSAY_F32, 10);
    const assay_binding row = rows_binding(&cpu, &add_f32, 9);
    assay_pick_stats stats;
    assay_problem p;

    open_context();
    ck_assert_int_eq(assay_table_register(assay_context_table(context), &row, 1), ASSAY_OK);
    pick_all(asked, 6);
    pick_all(asked, 6);
    write_and_read();
    ck_assert_uint_eq(set.count, 4);
    for (size_t i = 0; i < 4; i++) {
        static const size_t at[] = {1, 2, 3, 5};
        ck_assert_int_eq(assay_problem_parse(asked[at[i]], &p), ASSAY_OK);
        ck_assert(assay_problem_equal(&set.items[i].problem, &p));
    }
    assay_pick_stats_get(context, &stats);
    ck_assert_uint_eq(stats.misses_kept, 4);
    ck_assert_uint_eq(stats.misses_dropped, 0);
    ck_assert_uint_eq(stats.misses, 10);
    assay_close(&context);
}
END_TEST

START_TEST(misses_of_one_problem_are_one_row)
{
    assay_route route;

    open_context();
    ask(shapes[1]);
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    question.policy.cache = 1;
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    question.align = 64;
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    question.max_threads = 1; /* asks of the same measurement */
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    ck_assert_uint_eq(context->misses.count, 3);
    write_and_read();
    ck_assert_uint_eq(set.count, 1);
}
END_TEST

/* A measurement that the question's limits refuse is not got by measuring once more. */
START_TEST(misses_leave_out_what_was_measured)
{
    static const char *const asked[] = {"matmul f32,f32,f32 m=64,n=64,k=65",
                                        "matmul f32,f32,f32 m=63,n=64,k=64"};
    assay_route route;

    open_context();
    ask(PROBLEM);
    for (size_t i = 0; i < routes[0].count; i++)
        routes[0].candidates[i].verdict = ASSAY__VERDICT_WRONG;
    ck_assert_int_eq(assay_reload(context), ASSAY_OK);
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    ck_assert_int_eq(route.flags & 1, 1);
    ck_assert_uint_eq(context->misses.count, 0);
    pick_all(asked, 2);
    ask(asked[0]);
    question.align = 64; /* a sweep measures at 16, and that answers this too */
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    ck_assert_uint_eq(context->misses.count, 3);
    add_candidate(add_route(asked[0], 16), V_PLAIN, 10);
    ck_assert_int_eq(assay_reload(context), ASSAY_OK);
    write_and_read();
    ck_assert_uint_eq(set.count, 1);
    ck_assert_int_eq((int)set.items[0].problem.params[1].i, 63);
}
END_TEST

/* A route of which nothing is the code of today answers nothing: measuring again is what helps. */
START_TEST(misses_hold_what_has_become_stale)
{
    assay_route route;

    ask(PROBLEM);
    open_context();
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    ck_assert_int_eq(route.flags & 1, 0);
    for (size_t i = 0; i < fake.revision_count; i++)
        fake.revisions[i].kernel_revision.bytes[0] ^= 0xff;
    ck_assert_int_eq(assay_reload(context), ASSAY_OK);
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    ck_assert_int_eq(route.flags & 1, 1);
    ck_assert_uint_eq(context->misses.count, 1);
    write_and_read();
    ck_assert_uint_eq(set.count, 1);
    ck_assert(assay_problem_equal(&set.items[0].problem, &question.problem));
    /* One that is as measured is enough to know the problem. */
    for (size_t i = 0; i < fake.revision_count; i++)
        if (fake.revisions[i].row == V_TILED16)
            fake.revisions[i].kernel_revision.bytes[0] ^= 0xff;
    ck_assert_int_eq(assay_reload(context), ASSAY_OK);
    ck_assert_int_eq(assay_pick_misses_write(context, file), ASSAY_NOTFOUND);
}
END_TEST

START_TEST(misses_of_a_context_have_a_limit)
{
    assay_pick_stats stats;
    assay_route route;

    ask(shapes[1]);
    open_context();
    for (int64_t m = 1; m <= ASSAY_MISSES_MAX + 10; m++) {
        question.problem.params[1].i = m;
        ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    }
    assay_pick_stats_get(context, &stats);
    ck_assert_uint_eq(stats.misses, ASSAY_MISSES_MAX + 10);
    ck_assert_uint_eq(stats.misses_kept, ASSAY_MISSES_MAX);
    ck_assert_uint_eq(stats.misses_dropped, 10);
    write_and_read();
    ck_assert_uint_eq(set.count, ASSAY_MISSES_MAX);
    ck_assert_int_eq((int)set.items[ASSAY_MISSES_MAX - 1].problem.params[1].i, ASSAY_MISSES_MAX);
}
END_TEST

/* A shape set of no rows is bad input to a sweep. */
START_TEST(misses_none_writes_nothing)
{
    open_context();
    ck_assert_int_eq(assay_pick_misses_write(context, file), ASSAY_NOTFOUND);
    ck_assert_int_ne(access(file, F_OK), 0);
    ck_assert_ptr_null(context->misses.items);
}
END_TEST

START_TEST(misses_that_cannot_be_written_leave_the_file)
{
    char longer[5000];

    pick_all(&shapes[1], 1);
    write_and_read();
    ck_assert_int_eq(mkdir(store_path(folder, "misses.csv.part"), 0700), 0);
    pick_all(&shapes[2], 1);
    ck_assert_int_eq(assay_pick_misses_write(context, file), ASSAY_IO);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "misses.csv"));
    ck_assert_int_eq(rmdir(store_path(folder, "misses.csv.part")), 0);
    assay__shapes_clear(&set);
    ck_assert_int_eq(assay__shapes_add_csv(&set, file, NULL, NULL), ASSAY_OK);
    ck_assert_uint_eq(set.count, 1);
    ck_assert_int_eq(mkdir(store_path(folder, "taken"), 0700), 0);
    ck_assert_int_eq(assay_pick_misses_write(context, store_path(folder, "taken")), ASSAY_IO);
    ck_assert_int_ne(access(store_path(folder, "taken.part"), F_OK), 0);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ck_assert_int_eq(assay_pick_misses_write(context, longer), ASSAY_INVALID);
}
END_TEST

START_TEST(dtypes_are_one_where_the_rule_makes_the_rest)
{
    char text[96];

    ask(PROBLEM);
    assay__dtypes_text(&question.problem, text, sizeof text);
    ck_assert_str_eq(text, "f32");
    question.problem.dtypes[2] = ASSAY_F64;
    assay__dtypes_text(&question.problem, text, sizeof text);
    ck_assert_str_eq(text, "f32,f32,f64");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pick_misses");
    TCase *subject = tcase_create("misses");
    SRunner *runner;
    int bad;

    tcase_add_checked_fixture(subject, setup, teardown);
    tcase_add_test(subject, misses_come_back_as_a_shape_set);
    tcase_add_test(subject, misses_of_one_problem_are_one_row);
    tcase_add_test(subject, misses_leave_out_what_was_measured);
    tcase_add_test(subject, misses_hold_what_has_become_stale);
    tcase_add_test(subject, misses_of_a_context_have_a_limit);
    tcase_add_test(subject, misses_none_writes_nothing);
    tcase_add_test(subject, misses_that_cannot_be_written_leave_the_file);
    tcase_add_test(subject, dtypes_are_one_where_the_rule_makes_the_rest);
    suite_add_tcase(suite, subject);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
