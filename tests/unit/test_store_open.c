/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_store_open.c -- opening stores: missing, foreign, damaged, newer, older, odd
 * paths. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/handle.h"
#include "gen/schema_sql.h"
#include "tests/support/store_fixture.h"

#define PAGE ASSAY__DB_PAGE_BYTES

static char folder[256];
static const assay__store_ops *ops;

static void setup(void)
{
    store_folder_make(folder);
    ops = assay__store_sqlite();
}

static void teardown(void)
{
    store_folder_remove(folder);
}

/* As on a file system that knows no renaming without replacing. */
static bool renames_bluntly;

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    if (!renames_bluntly || flags == 0)
        return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    errno = EINVAL;
    return -1;
}

static void make_store(const char *path)
{
    assay__db *db = NULL;
    store_rows rows;
    int64_t id = 0;

    ck_assert_msg(assay__db_open(path, &db) == ASSAY_OK, "%s", assay_last_error());
    store_rows_put(db, &rows);
    assay__db_measurement m = store_measurement(&rows);
    ck_assert_int_eq(assay__db_put_measurement(db, &m, &id), ASSAY_OK);
    assay__db_close(&db);
}

static assay_status try_read(const char *path)
{
    assay__store *store = NULL;
    assay_status status = ops->open_read(path, &store);

    if (status == ASSAY_OK)
        ops->close(store);
    else
        ck_assert_ptr_null(store);
    return status;
}

static assay_status try_write(const char *path)
{
    assay__db *db = NULL;
    assay_status status = assay__db_open(path, &db);

    if (status == ASSAY_OK)
        assay__db_close(&db);
    else
        ck_assert_ptr_null(db);
    return status;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/* Both halves refuse with `want`, say `text`, and leave the bytes alone. */
static void refuses(const char *path, assay_status want, const char *text)
{
    uint64_t before = store_file_digest(path);
    assay_status (*const tries[])(const char *) = {try_read, try_write};

    for (size_t i = 0; i < 2; i++) {
        assay_status got = tries[i](path);
        ck_assert_msg(got == want, "try %zu: %s: %s", i, assay_status_name(got),
                      assay_last_error());
        ck_assert_msg(strstr(assay_last_error(), text) != NULL, "%s", assay_last_error());
        ck_assert_msg(strstr(assay_last_error(), path) != NULL, "%s", assay_last_error());
    }
    ck_assert_uint_eq(store_file_digest(path), before);
}

START_TEST(missing_is_said_and_not_created)
{
    const char *path = store_path(folder, "none.db");

    ck_assert_int_eq(try_read(path), ASSAY_DB_MISSING);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "assay sweep"));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert_int_eq(try_read(""), ASSAY_INVALID);
    ck_assert_int_eq(try_write(store_path(folder, "no/such/folder.db")), ASSAY_DB_READONLY);
    ck_assert_int_eq(try_read(folder), ASSAY_DB_FOREIGN);
}
END_TEST

START_TEST(created_store_is_ours_and_wal)
{
    const char *path = store_path(folder, "a.db");
    assay__store *store = NULL;
    int64_t version = 0;

    make_store(path);
    ck_assert_int_eq(ops->open_read(path, &store), ASSAY_OK);
    ck_assert_int_eq(ops->schema_version(store, &version), ASSAY_OK);
    ck_assert_int_eq(version, ASSAY__DB_VERSION);
    ops->close(store);
    ck_assert_int_eq(store_sql_int(path, "PRAGMA application_id"), 1095975257);
    ck_assert_int_eq(store_sql_int(path, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"),
                     1);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM pragma_table_list WHERE schema = "
                                         "'main' AND type = 'table' AND NOT strict"
                                         " AND name NOT LIKE 'sqlite_%'"),
                     0);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM meta WHERE value LIKE 'assay %'"),
                     1);
}
END_TEST

START_TEST(schema_comments_every_column)
{
    /* A column line starts with four spaces and a lower-case name, and has its unit after "--". */
    size_t columns = 0;
    char line[512];

    for (const char *at = assay__schema_sql; *at != '\0';) {
        size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        at += length + (at[length] == '\n');
        if (strncmp(line, "    ", 4) != 0 || line[4] < 'a' || line[4] > 'z')
            continue;
        columns++;
        const char *type = line + 4 + strcspn(line + 4, " ");
        bool utc = type - line > 8 && strncmp(type - 4, "_utc", 4) == 0;
        ck_assert_msg(strstr(line, "-- ") != NULL, "%s", line);
        ck_assert_msg(!utc || strstr(line, "UTC") != NULL, "%s", line);
    }
    ck_assert_uint_gt(columns, 150);
}
END_TEST

START_TEST(foreign_is_refused)
{
    const char *path = store_path(folder, "other.db");
    const char *text = store_path(folder, "shapes.csv");

    store_sql(path, "CREATE TABLE mine (x)");
    refuses(path, ASSAY_DB_FOREIGN, "another program");
    store_sql(path, "DROP TABLE mine; PRAGMA application_id = 7");
    refuses(path, ASSAY_DB_FOREIGN, "another program");
    write_file(text, "op,m,n,k\nmatmul,1,2,3\n", 22);
    refuses(text, ASSAY_DB_FOREIGN, "not an Assay store");
}
END_TEST

/* Nothing is asked of the other program: its lock is not waited for. */
START_TEST(foreign_is_refused_while_its_owner_writes)
{
    const char *path = store_path(folder, "other.db");
    sqlite3 *owner = NULL;
    assay__db *db = NULL;

    store_sql(path, "CREATE TABLE mine (x)");
    ck_assert_int_eq(sqlite3_open(path, &owner), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(owner, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(assay__db_open(path, &db), ASSAY_DB_FOREIGN);
    sqlite3_close(owner);
}
END_TEST

START_TEST(newer_is_refused)
{
    const char *path = store_path(folder, "new.db");

    char next[64];

    snprintf(next, sizeof next, "PRAGMA user_version = %d", ASSAY__DB_VERSION + 1);
    make_store(path);
    store_sql(path, next);
    refuses(path, ASSAY_DB_NEWER, "use a newer Assay");
    store_sql(path, "PRAGMA user_version = 999");
    refuses(path, ASSAY_DB_NEWER, "use a newer Assay");
}
END_TEST

START_TEST(damaged_header_is_refused)
{
    const char *path = store_path(folder, "a.db");

    make_store(path);
    int fd = open(path, O_WRONLY);
    ck_assert_int_eq(pwrite(fd, "garbage garbage!", 16, 0), 16);
    close(fd);
    refuses(path, ASSAY_DB_DAMAGED, "damaged");
}
END_TEST

/* The magic is right, the size of a page is none: SQLite calls that no database. */
START_TEST(damaged_page_size_is_refused)
{
    const char *path = store_path(folder, "a.db");

    make_store(path);
    int fd = open(path, O_WRONLY);
    ck_assert_int_eq(pwrite(fd, "\0\3", 2, 16), 2);
    close(fd);
    refuses(path, ASSAY_DB_DAMAGED, "damaged");
}
END_TEST

START_TEST(truncated_is_refused)
{
    const char *path = store_path(folder, "a.db");
    struct stat info;

    make_store(path);
    ck_assert_int_eq(stat(path, &info), 0);
    for (off_t size = info.st_size - PAGE; size >= PAGE; size -= 8 * PAGE) {
        ck_assert_int_eq(truncate(path, size), 0);
        refuses(path, ASSAY_DB_DAMAGED, "damaged");
    }
}
END_TEST

START_TEST(emptied_is_not_read_as_a_store)
{
    const char *path = store_path(folder, "a.db");

    write_file(path, "", 0);
    ck_assert_int_eq(try_read(path), ASSAY_DB_DAMAGED);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "empty"));
}
END_TEST

static assay_status keep_nothing(void *cookie, const assay__store_revision *r)
{
    (void)cookie;
    (void)r;
    return ASSAY_OK;
}

START_TEST(flipped_pages_are_damage_wherever_found)
{
    const char *path = store_path(folder, "a.db");
    struct stat info;
    char noise[PAGE];
    size_t refused = 0;

    make_store(path);
    ck_assert_int_eq(stat(path, &info), 0);
    memset(noise, 0x5a, sizeof noise);
    int fd = open(path, O_WRONLY);
    for (off_t page = 1; page < info.st_size / PAGE; page++)
        ck_assert_int_eq(pwrite(fd, noise, sizeof noise, page * PAGE), PAGE);
    close(fd);
    assay__store *store = NULL;
    assay_status status = ops->open_read(path, &store);
    if (status == ASSAY_OK) {
        status = ops->each_revision(store, "x", keep_nothing, NULL);
        ops->close(store);
    }
    refused += status == ASSAY_DB_DAMAGED;
    ck_assert_msg(refused == 1, "%s: %s", assay_status_name(status), assay_last_error());
}
END_TEST

START_TEST(lost_table_is_damage)
{
    const char *path = store_path(folder, "a.db");
    assay__store *store = NULL;
    double value = 0.0;

    make_store(path);
    store_sql(path, "DROP TABLE peak");
    ck_assert_int_eq(ops->open_read(path, &store), ASSAY_OK);
    ck_assert_int_eq(ops->peak(store, "x", "copy_t1", &value), ASSAY_DB_DAMAGED);
    ops->close(store);
}
END_TEST

/* ---- older versions -------------------------------------------------------------------------- */

/* Takes text from `from` up to and with the first `upto` out of a schema. */
static void cut(char *schema, const char *from, const char *upto)
{
    char *begin = strstr(schema, from);

    ck_assert_msg(begin != NULL, "%s", from);
    char *end = strstr(begin, upto);
    ck_assert_msg(end != NULL, "%s", upto);
    end += strlen(upto);
    memmove(begin, end, strlen(end) + 1);
}

/* Version 5 has no counters and nothing about what disturbed a visit, version 4 in addition no
 * visit.is_twin and no measurement.ratio_level, version 3 no sweep.aa_floor,
 * version 2 in addition no partial indexes of accuracy, version 1 no sweep_problem, version 0 no
 * deployment.label. */
static char *schema_of_version(int version)
{
    char *old = strdup(assay__schema_sql);

    cut(old, "    flags               TEXT NOT NULL DEFAULT", "\n");
    cut(old, "    rejected_json", "\n");
    cut(old, "    stop_reason         TEXT NOT NULL DEFAULT", "\n");
    cut(old, "CREATE TABLE counter_source", "WITHOUT ROWID;");
    cut(old, "CREATE TABLE counter (", "WITHOUT ROWID;");
    if (version < 5) {
        cut(old, "    is_twin", "\n");
        cut(old, "    ratio_level", "\n");
    }
    if (version < 4)
        cut(old, ",             -- NULL: still running or ended without a word\n    aa_floor",
            "measured\n");
    if (version < 3) {
        cut(old, "CREATE INDEX accuracy_all_inputs", ";");
        cut(old, "CREATE INDEX accuracy_failed", ";");
    }
    if (version < 2)
        cut(old, "CREATE TABLE sweep_problem", "WITHOUT ROWID;");
    if (version < 1)
        cut(old, "    label          TEXT,", "\n");
    return old;
}

static void make_version(const char *path, int version)
{
    char *old = schema_of_version(version), pragmas[160];

    snprintf(pragmas, sizeof pragmas,
             "PRAGMA application_id = 1095975257; PRAGMA user_version = %d;", version);
    store_sql(path, old);
    store_sql(path, pragmas);
    store_sql(path,
              "CREATE VIEW sweeps AS SELECT id FROM sweep;"
              "INSERT INTO device VALUES (1, 'cpu', 'x', 'y');"
              "INSERT INTO sweep (id, profile, seed, settings_json, argv_json, started_utc) VALUES"
              " (1, 'quick', 1, '{}', '[]', '2026-01-01T00:00:00.000Z');"
              "INSERT INTO deployment (digest, device, driver, cpu_model, cpu_stepping, microcode,"
              " isa, os_class, usable_cpus, numa_nodes, first_seen_utc) VALUES"
              " (printf('%064d', 1), 1, '', '', '', '', '', '', 1, 1, '2026-01-01T00:00:00.000Z')");
    free(old);
}

START_TEST(older_is_migrated_after_a_backup)
{
    const char *path = store_path(folder, "old.db");
    static const char *const backups[ASSAY__DB_VERSION] = {"old.db.v0.bak", "old.db.v1.bak",
                                                           "old.db.v2.bak", "old.db.v3.bak",
                                                           "old.db.v4.bak", "old.db.v5.bak"};
    const char *backup = store_path(folder, backups[_i]);
    const char *fresh = store_path(folder, "fresh.db");
    char sql[2048];

    make_version(path, _i);
    ck_assert_int_eq(try_read(path), ASSAY_DB_OLDER);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "migrates it"));
    ck_assert_int_ne(access(backup, F_OK), 0);
    ck_assert_msg(try_write(path) == ASSAY_OK, "%s", assay_last_error());
    ck_assert_int_eq(try_read(path), ASSAY_OK);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM deployment WHERE label IS NULL"), 1);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM sweep"), 1);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM sweep_problem"), 0);
    ck_assert_int_eq(store_sql_int(backup, "PRAGMA user_version"), _i);
    ck_assert_int_eq(store_sql_int(backup, "SELECT count(*) FROM deployment"), 1);
    ck_assert_int_eq(access(store_path(folder, "old.db.v0.tmp"), F_OK), -1);
    /* The same columns and the same other objects as a store made today. */
    make_store(fresh);
    snprintf(sql, sizeof sql,
             "ATTACH '%s' AS f;"
             "CREATE TEMP TABLE a AS SELECT m.name, i.cid, i.name AS c, i.type, i.\"notnull\" AS n,"
             " i.pk FROM main.sqlite_schema m, pragma_table_info(m.name, 'main') i;"
             "CREATE TEMP TABLE b AS SELECT m.name, i.cid, i.name AS c, i.type, i.\"notnull\" AS n,"
             " i.pk FROM f.sqlite_schema m, pragma_table_info(m.name, 'f') i;"
             "CREATE TEMP TABLE same (x CHECK (x = 0));"
             "INSERT INTO same SELECT count(*) FROM (SELECT * FROM a EXCEPT SELECT * FROM b);"
             "INSERT INTO same SELECT count(*) FROM (SELECT * FROM b EXCEPT SELECT * FROM a);",
             fresh);
    store_sql(path, sql);
}
END_TEST

START_TEST(backup_never_replaces_a_file)
{
    const char *path = store_path(folder, "old.db");
    const char *taken = store_path(folder, "old.db.v0.bak");

    renames_bluntly = _i == 1;
    make_version(path, 0);
    write_file(taken, "precious", 8);
    uint64_t before = store_file_digest(taken);
    ck_assert_int_eq(try_write(path), ASSAY_OK);
    ck_assert_uint_eq(store_file_digest(taken), before);
    ck_assert_int_eq(store_sql_int(store_path(folder, "old.db.v0.bak.1"), "PRAGMA user_version"),
                     0);
}
END_TEST

/* ---- paths ----------------------------------------------------------------------------------- */

static const char *const odd_names[] = {
    "with space.db",  "quote'\"`.db",         "a?mode=memory",     "hash#tag.db",
    "per%20cent%.db", "bytes\xff\xfe\x80.db", "semi;colon&amp.db", ":memory:",
    "file:x.db",      "back\\slash.db",       "new\nline.db",
};

START_TEST(odd_path_works)
{
    const char *path = store_path(folder, odd_names[_i]);

    make_store(path);
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_msg(try_read(path) == ASSAY_OK, "%s", assay_last_error());
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM measurement"), 1);
    /* Relative, as it would be typed. */
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(try_read(odd_names[_i]), ASSAY_OK);
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(long_path_works)
{
    char name[400];

    memset(name, 0, sizeof name);
    memset(name, 'd', 150);
    ck_assert_int_eq(mkdir(store_path(folder, name), 0755), 0);
    name[150] = '/';
    memset(name + 151, 'f', 150);
    const char *path = store_path(folder, name);
    make_store(path);
    ck_assert_int_eq(try_read(path), ASSAY_OK);
}
END_TEST

START_TEST(too_long_path_is_said)
{
    char name[600] = "";

    ck_assert_int_eq(chdir(folder), 0);
    for (int i = 0; i < 3; i++) {
        memset(name + strlen(name), 'd', 180);
        ck_assert_int_eq(mkdir(name, 0755), 0);
        strcat(name, "/");
    }
    strcat(name, "s.db");
    ck_assert_int_eq(try_write(name), ASSAY_INVALID);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "shorter"));
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(symlink_leads_to_its_store)
{
    const char *link_path = store_path(folder, "link.db");

    ck_assert_int_eq(symlink("real.db", link_path), 0);
    make_store(link_path);
    ck_assert_int_eq(access(store_path(folder, "real.db"), F_OK), 0);
    ck_assert_int_eq(try_read(link_path), ASSAY_OK);
    ck_assert_int_eq(store_sql_int(store_path(folder, "real.db"), "SELECT count(*) FROM sweep"), 1);
}
END_TEST

START_TEST(newer_is_refused_by_one_that_has_it_open)
{
    const char *path = store_path(folder, "s.db");
    assay__store *store = NULL;

    make_store(path);
    ck_assert_int_eq(ops->open_read(path, &store), ASSAY_OK);
    store_sql(path, "PRAGMA user_version = 99");
    ck_assert_int_eq(ops->begin_snapshot(store), ASSAY_DB_NEWER);
    ck_assert_int_eq(ops->begin_snapshot(store), ASSAY_DB_NEWER); /* not "within a transaction" */
    ops->close(store);
}
END_TEST

/* Could another process have the file for itself?  SQLite locks 510 bytes from there on. */
static bool is_locked(const char *path)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000002, .l_len = 510};
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        int fd = open(path, O_RDWR);
        if (fd < 0 || fcntl(fd, F_GETLK, &lock) != 0)
            _exit(2);
        _exit(lock.l_type != F_UNLCK ? 1 : 0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 1;
}

/* Without its lock a writer that closes takes the -wal for unused and removes it, and the reader
 * sees nothing new ever after. */
START_TEST(opening_once_more_keeps_the_locks_of_others)
{
    const char *path = store_path(folder, "s.db");
    assay__store *first = NULL;
    assay__db *db = NULL;

    make_store(path);
    ck_assert(!is_locked(path));
    ck_assert_int_eq(ops->open_read(path, &first), ASSAY_OK);
    ck_assert(is_locked(path));
    ck_assert_int_eq(try_read(path), ASSAY_OK);
    ck_assert(is_locked(path));
    ck_assert_int_eq(assay__db_open(path, &db), ASSAY_OK);
    assay__db_close(&db);
    ck_assert(is_locked(path));
    ops->close(first);
    ck_assert(!is_locked(path));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_open");
    TCase *state = tcase_create("state");
    TCase *migration = tcase_create("migration");
    TCase *path = tcase_create("path");
    TCase *const cases[] = {state, migration, path};

    tcase_add_test(state, missing_is_said_and_not_created);
    tcase_add_test(state, created_store_is_ours_and_wal);
    tcase_add_test(state, schema_comments_every_column);
    tcase_add_test(state, foreign_is_refused);
    tcase_add_test(state, foreign_is_refused_while_its_owner_writes);
    tcase_add_test(state, damaged_page_size_is_refused);
    tcase_add_test(state, newer_is_refused);
    tcase_add_test(state, newer_is_refused_by_one_that_has_it_open);
    tcase_add_test(state, opening_once_more_keeps_the_locks_of_others);
    tcase_add_test(state, damaged_header_is_refused);
    tcase_add_test(state, truncated_is_refused);
    tcase_add_test(state, emptied_is_not_read_as_a_store);
    tcase_add_test(state, flipped_pages_are_damage_wherever_found);
    tcase_add_test(state, lost_table_is_damage);
    tcase_add_loop_test(migration, older_is_migrated_after_a_backup, 0, ASSAY__DB_VERSION);
    tcase_add_loop_test(migration, backup_never_replaces_a_file, 0, 2);
    tcase_add_loop_test(path, odd_path_works, 0, sizeof odd_names / sizeof *odd_names);
    tcase_add_test(path, long_path_works);
    tcase_add_test(path, too_long_path_is_said);
    tcase_add_test(path, symlink_leads_to_its_store);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tcase_add_checked_fixture(cases[i], setup, teardown);
        tcase_set_timeout(cases[i], 60);
        suite_add_tcase(suite, cases[i]);
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
