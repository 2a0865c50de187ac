/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_store_race.c -- many processes on one store, killed writers, held locks. */
#include <check.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/write.h"
#include "tests/support/store_fixture.h"

static char folder[256];
static char path[1024];

static void setup(void)
{
    store_folder_make(folder);
    snprintf(path, sizeof path, "%s/s.db", folder);
}

static void teardown(void)
{
    store_folder_remove(folder);
}

/* One variant as a sweep stores it: measurement, visit and accuracy in one transaction. */
static int store_variant(assay__db *db, const store_rows *rows, int64_t revision)
{
    const double samples[3] = {1.0, 2.0, 3.0};
    assay__db_measurement m = store_measurement(rows);
    assay__db_accuracy a = store_accuracy(rows);
    int64_t id = 0;

    m.revision = a.revision = revision;
    if (assay__db_begin(db) != ASSAY_OK || assay__db_put_measurement(db, &m, &id) != ASSAY_OK)
        return 1;
    assay__db_visit v = store_visit(id, samples, 3);
    return assay__db_put_visit(db, &v, &id) != ASSAY_OK ||
           assay__db_put_accuracy(db, &a, &id) != ASSAY_OK || assay__db_commit(db) != ASSAY_OK;
}

/* A process of the race: waits for the start, opens, stores `variants`. */
static int race(int start, int number, int variants)
{
    assay__db *db = NULL;
    store_rows rows;
    char byte;
    int bad = 0;

    (void)!read(start, &byte, 1);
    if (assay__db_open(path, &db) != ASSAY_OK) {
        fprintf(stderr, "process %d: %s\n", number, assay_last_error());
        return 1;
    }
    store_rows_put(db, &rows);
    for (int i = 0; i < variants && !bad; i++)
        bad = store_variant(db, &rows, store_put_revision(db, number + 2, i));
    if (bad)
        fprintf(stderr, "process %d: %s\n", number, assay_last_error());
    assay__db_close(&db);
    return bad;
}

static void run_race(int processes, int variants)
{
    int start[2], status = 0, failed = 0;

    ck_assert_int_eq(pipe(start), 0);
    for (int i = 0; i < processes; i++)
        if (fork() == 0) {
            close(start[1]);
            _exit(race(start[0], i, variants));
        }
    close(start[0]);
    close(start[1]); /* end of file in all of them at once */
    for (int i = 0; i < processes; i++) {
        ck_assert_int_gt(wait(&status), 0);
        failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    ck_assert_int_eq(failed, 0);
}

static void is_sound(int64_t measurements)
{
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM measurement"), measurements);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM visit"), measurements);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM accuracy"), measurements);
    ck_assert_int_eq(
        store_sql_int(path, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

START_TEST(first_opens_at_once_lose_nothing)
{
    run_race(32, 1);
    is_sound(32);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM deployment"), 1);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM problem"), 1);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM sweep"), 32);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM meta"), 2);
}
END_TEST

START_TEST(writers_at_once_lose_nothing)
{
    run_race(8, 40);
    is_sound(8 * 40);
}
END_TEST

START_TEST(migrations_at_once_happen_once)
{
    assay__db *db = NULL;

    ck_assert_int_eq(assay__db_open(path, &db), ASSAY_OK);
    assay__db_close(&db);
    store_sql(path, "DROP VIEW routes; DROP VIEW measurements;"
                    "DROP INDEX accuracy_all_inputs; DROP INDEX accuracy_failed;"
                    "DROP TABLE sweep_problem; ALTER TABLE deployment DROP COLUMN label;"
                    "ALTER TABLE sweep DROP COLUMN aa_floor;"
                    "ALTER TABLE visit DROP COLUMN is_twin;"
                    "ALTER TABLE measurement DROP COLUMN ratio_level;"
                    "ALTER TABLE visit DROP COLUMN flags;"
                    "ALTER TABLE visit DROP COLUMN rejected_json;"
                    "ALTER TABLE visit DROP COLUMN stop_reason;"
                    "DROP TABLE counter_source; DROP TABLE counter;"
                    "PRAGMA user_version = 0");
    run_race(8, 1);
    is_sound(8);
    ck_assert_int_eq(access(store_path(folder, "s.db.v0.bak"), F_OK), 0);
    ck_assert_int_ne(access(store_path(folder, "s.db.v0.bak.1"), F_OK), 0);
}
END_TEST

/* ---- killed in the middle -------------------------------------------------------------------- */

static void be_killed_in_a_batch(int ready)
{
    assay__db *db = NULL;
    store_rows rows;
    int64_t id = 0;

    if (assay__db_open(path, &db) != ASSAY_OK)
        _exit(1);
    store_rows_put(db, &rows);
    if (store_variant(db, &rows, rows.revision) != 0 || assay__db_begin(db) != ASSAY_OK)
        _exit(1);
    assay__db_measurement m = store_measurement(&rows);
    m.align = 64;
    if (assay__db_put_measurement(db, &m, &id) != ASSAY_OK)
        _exit(1);
    (void)!write(ready, "x", 1);
    pause();
}

START_TEST(killed_writer_leaves_what_it_finished)
{
    int ready[2], status = 0;
    char byte;
    assay__db *db = NULL;
    store_rows rows;

    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0)
        be_killed_in_a_batch(ready[1]);
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(assay__db_open(path, &db), ASSAY_OK);
    store_rows_put(db, &rows);
    ck_assert_int_eq(store_variant(db, &rows, store_put_revision(db, 9, 9)), 0);
    assay__db_close(&db);
    is_sound(2);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM measurement WHERE align = 64"), 0);
}
END_TEST

START_TEST(held_lock_is_waited_for_then_said)
{
    assay__db *holder = NULL, *other = NULL;
    store_rows rows;
    int64_t id = 0;

    ck_assert_int_eq(assay__db_open(path, &holder), ASSAY_OK);
    store_rows_put(holder, &rows);
    ck_assert_int_eq(assay__db_open(path, &other), ASSAY_OK);
    ck_assert_int_eq(assay__db_begin(holder), ASSAY_OK);
    assay__db_measurement m = store_measurement(&rows);
    ck_assert_int_eq(store_sql_int(path, "SELECT timeout >= 0 FROM pragma_busy_timeout"), 1);
    /* The same wait, shorter: the test is about what comes after it. */
    sqlite3_busy_timeout(other->handle.sql, 20);
    ck_assert_int_eq(assay__db_put_measurement(other, &m, &id), ASSAY_DB_LOCKED);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), path));
    assay__db_rollback(holder);
    ck_assert_int_eq(assay__db_put_measurement(other, &m, &id), ASSAY_OK);
    assay__db_close(&other);
    assay__db_close(&holder);
}
END_TEST

START_TEST(writer_waits_twenty_seconds)
{
    assay__db *db = NULL;
    int64_t timeout_ms = 0;

    ck_assert_int_eq(assay__db_open(path, &db), ASSAY_OK);
    ck_assert_int_eq(assay__handle_int(&db->handle, "PRAGMA busy_timeout", &timeout_ms), ASSAY_OK);
    ck_assert_int_eq(timeout_ms, 20000);
    ck_assert_int_eq(assay__handle_int(&db->handle, "PRAGMA synchronous", &timeout_ms), ASSAY_OK);
    ck_assert_int_eq(timeout_ms, 1);
    ck_assert_int_eq(assay__handle_int(&db->handle, "PRAGMA foreign_keys", &timeout_ms), ASSAY_OK);
    ck_assert_int_eq(timeout_ms, 1);
    assay__db_close(&db);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_race");
    TCase *many = tcase_create("many");
    TCase *one = tcase_create("one");

    tcase_add_checked_fixture(many, setup, teardown);
    tcase_add_checked_fixture(one, setup, teardown);
    tcase_set_timeout(many, 120);
    tcase_set_timeout(one, 60);
    tcase_add_test(many, first_opens_at_once_lose_nothing);
    tcase_add_test(many, writers_at_once_lose_nothing);
    tcase_add_test(many, migrations_at_once_happen_once);
    tcase_add_test(one, killed_writer_leaves_what_it_finished);
    tcase_add_test(one, held_lock_is_waited_for_then_said);
    tcase_add_test(one, writer_waits_twenty_seconds);
    suite_add_tcase(suite, many);
    suite_add_tcase(suite, one);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
