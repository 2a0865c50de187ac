/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_pick.c -- the picker: reloading, registering, explaining, running, threads. */
#include "tests/support/pick_stage.h"
#include "tests/support/store_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- stores and tables that change ---- */

START_TEST(reload_swaps_answers_and_keeps_routes_valid)
{
    assay_route old;

    memset(&site, 0, sizeof site);
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "tiled 16");
    ck_assert_str_eq(picked_at(), "tiled 16");
    ck_assert_int_eq(assay_pick(context, &question, &old), ASSAY_OK);
    routes[0].winner = V_PLAIN;
    ck_assert_str_eq(picked(), "tiled 16");
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(assay_reload(context), ASSAY_OK);
    ck_assert_str_eq(picked(), "plain 0");
    ck_assert_str_eq(picked_at(), "plain 0");
    ck_assert_str_eq(old.binding->desc->name, "tiled");
    ck_assert_int_eq((int)old.tunables[0], 16);
}
END_TEST

START_TEST(reload_of_a_store_that_is_unchanged_keeps_the_cache)
{
    const assay__generation *before;

    ask(PROBLEM);
    ck_assert_str_eq(picked(), "tiled 16");
    before = context->current;
    routes[0].winner = V_PLAIN; /* nobody says so */
    fake.is_still = 1;
    ck_assert_int_eq(assay_reload(context), ASSAY_OK);
    ck_assert_ptr_eq(context->current, before);
    ck_assert_str_eq(picked(), "tiled 16");
    fake.is_still = 0;
    ck_assert_int_eq(assay_reload(context), ASSAY_OK);
    ck_assert_str_eq(picked(), "plain 0");
}
END_TEST

static uint64_t idle_after_reload(void)
{
    assay_pick_stats stats;

    ck_assert_msg(assay_reload(context) == ASSAY_OK, "%s", assay_last_error());
    assay_pick_stats_get(context, &stats);
    return stats.routes_idle;
}

static void make_file(const char *path, size_t count)
{
    assay__db *db = NULL;
    store_rows put;

    ck_assert_msg(assay__db_open(path, &db) == ASSAY_OK, "%s", assay_last_error());
    store_rows_put(db, &put);
    for (size_t i = 0; i < count; i++) {
        const assay__route_candidate c = store_candidate(put.revision, 100);
        assay__db_route route = store_route(&put, &c, 1);
        route.problem = store_put_problem(db, 100 + (int64_t)i);
        ck_assert_msg(assay__db_put_route(db, &route) == ASSAY_OK, "%s", assay_last_error());
    }
    assay__db_close(&db);
}

/* As cp does it: into the file that is there. */
static void copy_over(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    int c;

    ck_assert_ptr_nonnull(in);
    ck_assert_ptr_nonnull(out);
    while ((c = fgetc(in)) != EOF)
        fputc(c, out);
    ck_assert_int_eq(fclose(in), 0);
    ck_assert_int_eq(fclose(out), 0);
}

/* Commits of others, and a store that is put in place of the one that is open. */
START_TEST(reload_sees_commits_and_another_file)
{
    const assay_open_options bare = {.struct_size = sizeof bare, .bare = 1};
    char folder[256];
    const char *path, *other;

    store_folder_make(folder);
    path = store_path(folder, "s.db");
    other = store_path(folder, "other.db");
    make_file(path, 1);
    ck_assert_int_eq(assay__context_open(path, &bare, assay__store_sqlite(), "elsewhere", &context),
                     ASSAY_OK);
    ck_assert_uint_eq(idle_after_reload(), 1);
    make_file(path, 2);
    ck_assert_uint_eq(idle_after_reload(), 2);
    make_file(other, 5);
    ck_assert_int_eq(rename(other, path), 0);
    ck_assert_uint_eq(idle_after_reload(), 5);
    make_file(other, 7);
    copy_over(other, path);
    ck_assert_uint_eq(idle_after_reload(), 7);
    ck_assert_int_eq(remove(path), 0);
    ck_assert_uint_eq(idle_after_reload(), 7);
    store_folder_remove(folder);
}
END_TEST

START_TEST(reload_that_fails_leaves_the_answers)
{
    const assay_open_options bare = {.struct_size = sizeof bare, .bare = 1};

    fake.open_status = ASSAY_DB_MISSING;
    ask(PROBLEM);
    ck_assert_int_eq(assay__context_open("fake", &bare, fake_store_ops(), "d0", &context),
                     ASSAY_OK);
    ck_assert_int_eq(assay_table_register(assay_context_table(context), rows, KERNELS), ASSAY_OK);
    ck_assert_str_eq(picked(), "gemm 2 default");
    fake.open_status = ASSAY_DB_DAMAGED;
    ck_assert_int_eq(assay_reload(context), ASSAY_DB_DAMAGED);
    ck_assert_str_eq(picked(), "gemm 2 default");
    fake.open_status = ASSAY_OK;
    ck_assert_int_eq(assay_reload(context), ASSAY_OK);
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

static char logged[1024];
static void keep_log(void *cookie, int level, const char *text)
{
    ck_assert_ptr_eq(cookie, logged);
    ck_assert_int_eq(level, 1);
    strncat(logged, text, sizeof logged - strlen(logged) - 2);
    strcat(logged, "\n");
}

START_TEST(store_missing_means_defaults_and_a_warning_once_an_op)
{
    const assay_open_options o = {
        .struct_size = sizeof o, .bare = 1, .log = keep_log, .cookie = logged};
    assay_pick_stats stats;

    logged[0] = '\0';
    fake.open_status = ASSAY_DB_MISSING;
    ck_assert_int_eq(assay__context_open("fake", &o, fake_store_ops(), "d0", &context), ASSAY_OK);
    ck_assert_ptr_nonnull(strstr(logged, "fake"));
    ck_assert_int_eq(assay_table_register(assay_context_table(context), rows, KERNELS), ASSAY_OK);
    logged[0] = '\0';
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "gemm 2 default");
    ck_assert_ptr_nonnull(
        strstr(logged, "assay sweep --db fake --op matmul --dtype f32 --shape m=64,n=64,k=64"));
    logged[0] = '\0';
    ask(shapes[1]);
    ck_assert_str_eq(picked(), "gemm 2 default");
    ck_assert_str_eq(logged, "");
    assay_pick_stats_get(context, &stats);
    ck_assert_uint_eq(stats.misses, 2);
    ck_assert_ptr_nonnull(strstr(stats.idle_reason, "does not exist"));
}
END_TEST

START_TEST(store_damaged_is_an_error)
{
    const assay_open_options bare = {.struct_size = sizeof bare, .bare = 1};

    fake.open_status = ASSAY_DB_DAMAGED;
    ck_assert_int_eq(assay__context_open("fake", &bare, fake_store_ops(), "d0", &context),
                     ASSAY_DB_DAMAGED);
    ck_assert_ptr_null(context);
}
END_TEST

START_TEST(ops_that_do_not_exist_are_refused)
{
    const assay_open_options o = {.struct_size = sizeof o, .bare = 1, .ops = "matmul,matmull"};

    ck_assert_int_eq(assay__context_open("fake", &o, fake_store_ops(), "d0", &context),
                     ASSAY_INVALID);
    ck_assert_ptr_null(context);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "field ops: unknown op 'matmull'"));
}
END_TEST

START_TEST(table_row_added_later_is_picked)
{
    const assay_kernel_desc extra = rows_desc("new", ASSAY_OP_matmul, ASSAY_F32, -5);
    const assay_binding row = rows_binding(&cpu, &extra, 9);

    memset(&site, 0, sizeof site);
    ask(shapes[1]);
    ck_assert_str_eq(picked(), "gemm 2 default");
    ck_assert_str_eq(picked_at(), "gemm 2 default");
    ck_assert_int_eq(assay_table_register(assay_context_table(context), &row, 1), ASSAY_OK);
    ck_assert_str_eq(picked(), "new 0 default");
    ck_assert_str_eq(picked_at(), "new 0 default");
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

START_TEST(cache_holds_many_answers)
{
    assay_route first, again;

    ask(PROBLEM);
    open_context();
    for (int pass = 0; pass < 2; pass++)
        for (int64_t m = 1; m <= 3000; m++) {
            question.problem.params[1].i = m;
            ck_assert_int_eq(assay_pick(context, &question, &again), ASSAY_OK);
            ck_assert_int_eq(again.flags & 1, m != 64);
            if (m == 1 && pass == 0)
                first = again;
        }
    question.problem.params[1].i = 1;
    ck_assert_int_eq(assay_pick(context, &question, &again), ASSAY_OK);
    ck_assert_ptr_eq(again.binding, first.binding);
}
END_TEST

/* ---- explanations ---- */

START_TEST(explanation_lists_chosen_ties_rest_rejected)
{
    static const char *const order[] = {"tiled", "gemm", "gemm", "plain", "tiled"};

    candidate(&routes[0], V_BLAS2)->tied = 1;
    candidate(&routes[0], V_PLAIN)->verdict = ASSAY__VERDICT_WRONG;
    ask(PROBLEM);
    ck_assert_int_eq(explained("tiled", 16)->chosen, 1);
    ck_assert_uint_eq(why->candidate_count, 5);
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_eq(why->candidates[i].kernel, order[i]);
    ck_assert_int_eq(why->candidates[1].tied, 1);
    ck_assert_int_eq((int)why->candidates[1].tunables[0], 2);
    ck_assert_str_eq(why->candidates[3].kernel, "tiled"); /* never measured at its defaults */
    ck_assert_ptr_nonnull(strstr(why->candidates[3].reason, "never measured"));
    ck_assert_str_eq(why->candidates[4].kernel, "plain");
    ck_assert_int_eq(why->candidates[4].rejected, 1);
    ck_assert_str_eq(why->deployment, "d0");
    ck_assert_str_eq(why->store_path, "fake");
    ck_assert_int_eq((int)why->searched, 3);
    ck_assert_int_eq((int)why->total, 4);
    ck_assert_str_eq(why->stop_reason, "budget");
    ck_assert(
        assay_digest_equal(&why->candidates[0].revision, &fake.revisions[3].variant_revision));
}
END_TEST

START_TEST(explanation_and_pick_agree)
{
    assay_route route;

    open_context();
    for (size_t i = 0; i + 1 < SHAPES; i++) {
        ask(shapes[i]);
        ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
        assay_explanation_destroy(&why);
        ck_assert_int_eq(assay_explain(context, &question, &why), ASSAY_OK);
        ck_assert_ptr_eq(why->candidates[0].binding, route.binding);
        ck_assert_ptr_eq(why->candidates[0].route.tunables, route.tunables);
        ck_assert_int_eq(why->candidates[0].chosen, 1);
    }
}
END_TEST

START_TEST(no_route_when_the_table_has_no_kernel)
{
    ask("matmul f64,f64,f64 m=64,n=64,k=64");
    ck_assert_ptr_nonnull(strstr(picked(), "the table has no kernel"));
}
END_TEST

/* ---- running ---- */

static const assay_launch *launched;
static int64_t launched_tile;
static assay_status note_run(const assay_launch *launch)
{
    launched = launch;
    launched_tile = launch->tunables[0];
    return ASSAY_NOISY;
}

START_TEST(run_checks_operands_and_calls_the_kernel)
{
    static _Alignas(64) float memory[3][64 * 128];
    const int64_t dims[] = {1, 64, 64}, gaps[] = {0, 128, 1};
    assay_tensor t[3], bad[3];
    assay_route route;

    descs[TILED].run = rows[TILED].run = note_run;
    ask(PROBLEM);
    open_context();
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(assay_tensor_host(memory[i], ASSAY_F32, 3, dims, NULL, &t[i]), ASSAY_OK);
    ck_assert_int_eq(assay_run(context, &route, &question.problem, t, 3), ASSAY_NOISY);
    ck_assert_int_eq((int)launched_tile, 16);
#define BAD(change, text)                                                                       \
    do {                                                                                        \
        memcpy(bad, t, sizeof bad);                                                             \
        change;                                                                                 \
        ck_assert_int_eq(assay_run(context, &route, &question.problem, bad, 3), ASSAY_INVALID); \
        ck_assert_msg(strstr(assay_last_error(), text), "%s", assay_last_error());              \
    } while (0)
    BAD(bad[1].dims[2] = 63, "operand 1: extent 2");
    BAD(bad[2].rank = 2, "operand 2: rank 2");
    BAD(bad[0].dtype = ASSAY_F64, "operand 0: dtype f64");
    BAD(bad[2].buffer.at.host = NULL, "operand 2 has no memory");
    BAD(bad[2].buffer.owner = 4, "operand 2 is not in host memory");
    BAD(memcpy(bad[1].strides, gaps, sizeof gaps), "operand 1: layout 'l'");
    BAD(bad[0].byte_offset = 64, "operand 0: the kernel takes no byte offset");
#undef BAD
    ck_assert_int_eq(assay_run(context, &route, &question.problem, t, 2), ASSAY_INVALID);
    route.binding = &rows[TILED];
    ck_assert_int_eq(assay_run(context, &route, &question.problem, t, 3), ASSAY_INVALID);
}
END_TEST

START_TEST(run_asks_again_what_admits_a_problem)
{
    static _Alignas(64) float memory[3][64 * 64];
    const int64_t a[] = {1, 32, 64}, b[] = {1, 64, 64};
    assay_problem other;
    assay_tensor t[3];
    assay_route route;

    descs[TILED].can_run = "m >= 64";
    ask(PROBLEM);
    open_context();
    ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_OK);
    ck_assert_int_eq(assay_problem_parse("matmul f32,f32,f32 m=32,n=64,k=64", &other), ASSAY_OK);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(assay_tensor_host(memory[i], ASSAY_F32, 3, i == 1 ? b : a, NULL, &t[i]),
                         ASSAY_OK);
    ck_assert_int_eq(assay_run(context, &route, &other, t, 3), ASSAY_INVALID);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "m >= 64"));
    ck_assert_int_eq(assay_problem_parse("add f32,f32,f32 n=4", &other), ASSAY_OK);
    ck_assert_int_eq(assay_run(context, &route, &other, t, 3), ASSAY_INVALID);
}
END_TEST

/* ---- threads ---- */

static _Atomic int stop, started;

/* One of the two winners that the writer publishes in turn, whole: kernel, tunables and time. */
static bool is_published(const assay_route *route)
{
    const bool is_tiled = strcmp(route->binding->desc->name, "tiled") == 0;

    return (route->flags & 1) == 0 && route->binding->run == rows_run &&
           route->measurement == 100 + (uint64_t)(is_tiled ? V_TILED16 : V_PLAIN) &&
           (is_tiled ? route->tunables[0] == 16 && route->time_ns < 51
                     : strcmp(route->binding->desc->name, "plain") == 0 && route->time_ns > 899);
}

static void *keep_picking(void *unused)
{
    assay_question q = question;
    assay_site own;
    assay_route route, kept = {.binding = NULL};

    memset(&own, 0, sizeof own);
    atomic_fetch_add(&started, 1);
    for (int64_t m = 1; !atomic_load(&stop); m = m % 200 + 1) {
        q.problem.params[1].i = m;
        if (assay_pick(context, &q, &route) != ASSAY_OK || (m == 64) == ((route.flags & 1) != 0))
            return context;
        q.problem.params[1].i = 64;
        if (assay_pick_at(context, &own, &q, &route) != ASSAY_OK || !is_published(&route))
            return context;
        if (m % 50 == 0)
            kept = route;
        if (kept.binding != NULL && !is_published(&kept))
            return context;
    }
    return unused;
}

START_TEST(threads_pick_while_store_and_table_change)
{
    static char names[12][8];
    static assay_kernel_desc extra[12];
    assay_pick_stats stats;
    pthread_t threads[2];
    void *bad = NULL;

    ask(PROBLEM);
    open_context();
    atomic_store(&stop, 0);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, keep_picking, NULL), 0);
    while (atomic_load(&started) < 2)
        (void)sched_yield();
    for (size_t i = 0; i < 60; i++) {
        routes[0].winner = i % 2 == 0 ? V_PLAIN : V_TILED16;
        ck_assert_int_eq(assay_reload(context), ASSAY_OK);
        ck_assert_str_eq(picked(), i % 2 == 0 ? "plain 0" : "tiled 16");
        if (i % 5 == 0) {
            assay_binding row;
            snprintf(names[i / 5], sizeof names[0], "k%d", (int)i);
            extra[i / 5] = rows_desc(names[i / 5], ASSAY_OP_matmul, ASSAY_F32, 30);
            row = rows_binding(&cpu, &extra[i / 5], 9);
            ck_assert_int_eq(assay_table_register(assay_context_table(context), &row, 1), ASSAY_OK);
        }
    }
    atomic_store(&stop, 1);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &bad), 0);
        ck_assert_ptr_null(bad);
    }
    assay_pick_stats_get(context, &stats);
    ck_assert_uint_eq(stats.routes_usable, 1);
}
END_TEST

static void fill(TCase *subject)
{
    tcase_add_test(subject, reload_swaps_answers_and_keeps_routes_valid);
    tcase_add_test(subject, reload_of_a_store_that_is_unchanged_keeps_the_cache);
    tcase_add_test(subject, reload_sees_commits_and_another_file);
    tcase_add_test(subject, reload_that_fails_leaves_the_answers);
    tcase_add_test(subject, store_missing_means_defaults_and_a_warning_once_an_op);
    tcase_add_test(subject, store_damaged_is_an_error);
    tcase_add_test(subject, ops_that_do_not_exist_are_refused);
    tcase_add_test(subject, table_row_added_later_is_picked);
    tcase_add_test(subject, cache_holds_many_answers);
    tcase_add_test(subject, explanation_lists_chosen_ties_rest_rejected);
    tcase_add_test(subject, explanation_and_pick_agree);
    tcase_add_test(subject, no_route_when_the_table_has_no_kernel);
    tcase_add_test(subject, run_checks_operands_and_calls_the_kernel);
    tcase_add_test(subject, run_asks_again_what_admits_a_problem);
    tcase_add_test(subject, threads_pick_while_store_and_table_change);
}

int main(void)
{
    return stage_run("pick", fill);
}
