/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_store_plan.c -- no statement but whole-store reports scans a big table.
 *
 * Planted statistics make the planner believe in a million rows. */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/merge_sql.h"
#include "db/statements.h"
#include "db/write.h"
#include "tests/support/store_fixture.h"

static char folder[256];
static char path[1024];
static sqlite3 *sql;

/* Rows, then rows for equal values of the first, first two, ... columns of the index. */
static const char planted[] =
    "ANALYZE;"
    "DELETE FROM sqlite_stat1;"
    "INSERT INTO sqlite_stat1 VALUES"
    " ('measurement', 'sqlite_autoindex_measurement_1', '1000000 500000 100 4 3 2 1'),"
    " ('visit', 'visit_by_measurement', '5000000 5'),"
    " ('accuracy', 'sqlite_autoindex_accuracy_1', '1000000 500000 100 10 2 1'),"
    " ('accuracy', 'accuracy_all_inputs', '20000 10000 1'),"
    " ('accuracy', 'accuracy_failed', '100000 50000 5'),"
    " ('stability', 'stability', '1000000 500000 100 1'),"
    " ('quarantine', 'quarantine_key', '100000 50000 10 1'),"
    " ('route', 'route_current', '100000 50000 2 2 2 1'),"
    " ('route', 'route_history', '1000000 500000 10'),"
    " ('revision', 'sqlite_autoindex_revision_1', '20000 1 1'),"
    " ('revision', 'revision_by_kernel', '20000 40'),"
    " ('problem', 'sqlite_autoindex_problem_1', '50000 1'),"
    " ('kernel', 'sqlite_autoindex_kernel_1', '500 100 20 5 1'),"
    " ('claim', 'sqlite_autoindex_claim_1', '600 1 1'),"
    " ('deployment', 'sqlite_autoindex_deployment_1', '20 1');"
    "ANALYZE sqlite_schema;";

static void setup(void)
{
    assay__db *db = NULL;

    store_folder_make(folder);
    snprintf(path, sizeof path, "%s/s.db", folder);
    ck_assert_int_eq(assay__db_open(path, &db), ASSAY_OK);
    assay__db_close(&db);
    store_sql(path, planted);
    ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
}

static void teardown(void)
{
    sqlite3_close(sql);
    store_folder_remove(folder);
}

/* A step that reads all of something big.  Common tables of a query hold as many rows as there are
 * revisions here; deployments are few. */
static bool scans(const char *detail)
{
    static const char *const small[] = {"SCAN seen", "SCAN here", "SCAN wanted",
                                        "SCAN d ",   "SCAN d",    "SCAN CONSTANT ROW"};

    if (strncmp(detail, "SCAN ", 5) != 0)
        return false;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        size_t length = strlen(small[i]);
        if (strncmp(detail, small[i], length) == 0 &&
            (detail[length] == '\0' || detail[length] == ' ' || small[i][length - 1] == ' '))
            return false;
    }
    return true;
}

/* Counts scans in the plan of one statement and says them. */
static int count_scans(const char *name, const char *text)
{
    char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", text);
    sqlite3_stmt *st = NULL;
    int found = 0;

    ck_assert_msg(sqlite3_prepare_v2(sql, explain, -1, &st, NULL) == SQLITE_OK, "%s: %s", name,
                  sqlite3_errmsg(sql));
    while (sqlite3_step(st) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(st, 3);
        if (!scans(detail))
            continue;
        fprintf(stderr, "%s: %s\n", name, detail);
        found++;
    }
    sqlite3_finalize(st);
    sqlite3_free(explain);
    return found;
}

START_TEST(statements_search)
{
    size_t checked = 0;
    int found = 0;

    for (size_t t = 0; assay__sql_tables[t] != NULL; t++)
        for (const assay__sql *s = assay__sql_tables[t]; s->name != NULL; s++) {
            if (s->flags & ASSAY__SQL_WHOLE)
                continue;
            found += count_scans(s->name, s->text);
            checked++;
        }
    ck_assert_int_eq(found, 0);
    ck_assert_uint_ge(checked, 35);
}
END_TEST

START_TEST(planted_scan_is_seen)
{
    ck_assert_int_eq(count_scans("planted", "SELECT count(*) FROM measurement AS m"
                                            " WHERE m.median_ns > 3"),
                     1);
    ck_assert_int_eq(count_scans("planted", "SELECT * FROM route WHERE layout = 'ccc'"), 1);
}
END_TEST

START_TEST(whole_store_statements_are_few)
{
    size_t whole = 0;

    for (size_t t = 0; assay__sql_tables[t] != NULL; t++)
        for (const assay__sql *s = assay__sql_tables[t]; s->name != NULL; s++) {
            sqlite3_stmt *st = NULL;
            whole += (s->flags & ASSAY__SQL_WHOLE) != 0;
            ck_assert_msg(sqlite3_prepare_v2(sql, s->text, -1, &st, NULL) == SQLITE_OK, "%s: %s",
                          s->name, sqlite3_errmsg(sql));
            sqlite3_finalize(st);
            ck_assert_msg(!(s->flags & ASSAY__SQL_WHOLE) || strncmp(s->name, "report", 6) == 0 ||
                              assay__sql_tables[t] == assay__sql_check,
                          "%s", s->name);
        }
    ck_assert_uint_le(whole, 18);
}
END_TEST

static bool begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* All routes of a joined store are looked at once, and those of the same question looked up. */
START_TEST(merge_settles_by_index)
{
    char attach[1100];
    size_t checked = 0;

    (void)snprintf(attach, sizeof attach, "ATTACH '%s' AS DST; DROP INDEX DST.route_current", path);
    ck_assert_int_eq(sqlite3_exec(sql, attach, NULL, NULL, NULL), SQLITE_OK);
    for (const char *const *text = assay__merge_settle; *text != NULL; text++) {
        if (begins_with(*text, "CREATE ") || begins_with(*text, "DROP ")) {
            ck_assert_int_eq(sqlite3_exec(sql, *text, NULL, NULL, NULL), SQLITE_OK);
        } else {
            ck_assert_int_eq(count_scans("settle", *text), 1);
            checked++;
        }
    }
    ck_assert_uint_eq(checked, 2);
}
END_TEST

/* The cache of a handle must hold them all. */
START_TEST(statements_fit_the_cache)
{
    size_t count = 2; /* begin, commit */

    for (size_t t = 0; assay__sql_tables[t] != NULL; t++)
        for (const assay__sql *s = assay__sql_tables[t]; s->name != NULL; s++)
            count++;
    ck_assert_uint_le(count, ASSAY__STATEMENTS_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_plan");
    TCase *plan = tcase_create("plan");

    tcase_add_checked_fixture(plan, setup, teardown);
    tcase_set_timeout(plan, 60);
    tcase_add_test(plan, statements_search);
    tcase_add_test(plan, planted_scan_is_seen);
    tcase_add_test(plan, whole_store_statements_are_few);
    tcase_add_test(plan, merge_settles_by_index);
    tcase_add_test(plan, statements_fit_the_cache);
    suite_add_tcase(suite, plan);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
