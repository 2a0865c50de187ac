/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/migrate.c -- older stores: a whole backup first, then all steps in one transaction. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/create.h"
#include "runtime/error.h"

#define BACKUP_NAMES 100

/* steps[v] takes version v to v + 1. */
static const char *const steps[ASSAY__DB_VERSION] = {
    [0] = "ALTER TABLE deployment ADD COLUMN label TEXT",
    [1] = "CREATE TABLE sweep_problem ("
          " sweep INTEGER NOT NULL REFERENCES sweep (id),"
          " problem INTEGER NOT NULL REFERENCES problem (id),"
          " shape_set TEXT NOT NULL,"
          " row_name TEXT NOT NULL,"
          " run_count REAL NOT NULL CHECK (run_count >= 0),"
          " source TEXT NOT NULL,"
          " PRIMARY KEY (sweep, problem, shape_set, row_name)"
          ") STRICT, WITHOUT ROWID",
    [2] = "CREATE INDEX accuracy_all_inputs ON accuracy (deployment, revision)"
          " WHERE stratum = 'exhaustive' AND proof = 'exhaustive';"
          "CREATE INDEX accuracy_failed ON accuracy (deployment, revision) WHERE passed = 0",
    [3] = "ALTER TABLE sweep ADD COLUMN aa_floor REAL CHECK (aa_floor >= 0)",
    /* Until then all intervals of ratios were of 99 %. */
    [4] = "ALTER TABLE visit ADD COLUMN is_twin INTEGER NOT NULL DEFAULT 0"
          " CHECK (is_twin IN (0, 1));"
          "ALTER TABLE measurement ADD COLUMN ratio_level REAL"
          " CHECK (ratio_level > 0 AND ratio_level < 1);"
          "UPDATE measurement SET ratio_level = 0.99 WHERE ratio_lo IS NOT NULL",
    [5] = "ALTER TABLE visit ADD COLUMN flags TEXT NOT NULL DEFAULT '';"
          "ALTER TABLE visit ADD COLUMN rejected_json TEXT NOT NULL DEFAULT '';"
          "ALTER TABLE visit ADD COLUMN stop_reason TEXT NOT NULL DEFAULT '';"
          "CREATE TABLE counter_source ("
          " sweep INTEGER NOT NULL REFERENCES sweep (id),"
          " name TEXT NOT NULL,"
          " unit TEXT NOT NULL,"
          " source TEXT NOT NULL,"
          " event TEXT NOT NULL,"
          " reason TEXT NOT NULL,"
          " PRIMARY KEY (sweep, name)"
          ") STRICT, WITHOUT ROWID;"
          "CREATE TABLE counter ("
          " measurement INTEGER NOT NULL REFERENCES measurement (id),"
          " name TEXT NOT NULL,"
          " value REAL NOT NULL CHECK (value >= 0),"
          " lo REAL NOT NULL CHECK (lo >= 0),"
          " hi REAL NOT NULL CHECK (hi >= 0),"
          " passes INTEGER NOT NULL CHECK (passes >= 1),"
          " calls INTEGER NOT NULL CHECK (calls >= 1),"
          " counted_utc TEXT NOT NULL,"
          " PRIMARY KEY (measurement, name)"
          ") STRICT, WITHOUT ROWID",
};

/* Views may name columns that come and go: dropped first, made anew last. */
static assay_status drop_views(assay__handle *h)
{
    sqlite3_stmt *statement = NULL;
    char *all = NULL;
    int code = sqlite3_prepare_v2(
        h->sql,
        "SELECT group_concat(printf('DROP VIEW \"%w\";', name), '') FROM sqlite_schema"
        " WHERE type = 'view'",
        -1, &statement, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        all = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    assay_status status =
        code == SQLITE_ROW ? ASSAY_OK : assay__handle_fail(h, code, "migrate: find the views");
    if (status == ASSAY_OK && all != NULL)
        status = assay__handle_exec(h, all, "migrate: drop the views");
    sqlite3_free(all);
    return status;
}

assay_status assay__db_migrate(assay__handle *h, int64_t version)
{
    char pragma[64];

    assert(version >= 0);
    ASSAY_TRY(drop_views(h));
    for (int64_t v = version; v < ASSAY__DB_VERSION; v++)
        ASSAY_TRY(assay__handle_exec(h, steps[v], "migrate"));
    ASSAY_TRY(assay__handle_exec(h, assay__db_views_sql, "migrate: create the views"));
    snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", ASSAY__DB_VERSION);
    return assay__handle_exec(h, pragma, "migrate");
}

/* Reads through a second connection: the first holds the write lock, and the backup must be what
 * was committed. */
static assay_status copy_store(assay__handle *h, const char *target)
{
    assay__handle from, to;

    ASSAY_TRY(assay__handle_open(&from, h->path, "mode=ro", SQLITE_OPEN_READONLY));
    assay_status status =
        assay__handle_open(&to, target, "mode=rwc", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (status == ASSAY_OK) {
        sqlite3_backup *backup = sqlite3_backup_init(to.sql, "main", from.sql, "main");
        int code = sqlite3_errcode(to.sql);
        if (backup != NULL) {
            (void)sqlite3_backup_step(backup, -1);
            code = sqlite3_backup_finish(backup);
        }
        if (code != SQLITE_OK)
            status = assay__handle_fail(&to, code, "back up before migrating");
        assay__handle_close(&to);
    }
    assay__handle_close(&from);
    return status;
}

/* Never replaces a file, so that an older backup stays.  Not by link(), which some file systems
 * lack (exFAT, some shared folders); where renaming without replacing is lacking too, the name is
 * taken by an empty file first. */
bool assay__db_rename_new(const char *made, const char *name)
{
    if (renameat2(AT_FDCWD, made, AT_FDCWD, name, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    (void)close(file);
    if (rename(made, name) == 0)
        return true;
    int error = errno;
    (void)unlink(name);
    errno = error;
    return false;
}

static assay_status give_name(const char *path, int64_t version, const char *made)
{
    size_t cap = strlen(path) + 64;
    char *name = malloc(cap);
    bool done = false;

    if (name == NULL)
        return assay__fail(ASSAY_NOMEM, "store: out of memory");
    for (int i = 0; i < BACKUP_NAMES && !done; i++) {
        int used = snprintf(name, cap, "%s.v%lld.bak", path, (long long)version);
        if (i > 0 && used > 0)
            snprintf(name + used, cap - (size_t)used, ".%d", i);
        done = assay__db_rename_new(made, name);
        if (!done && errno != EEXIST)
            break;
    }
    assay_status status =
        done ? ASSAY_OK
             : assay__fail(ASSAY_DB_READONLY,
                           "%s: cannot name the backup %s: %s; make room beside the store", path,
                           name, strerror(errno));
    free(name);
    return status;
}

assay_status assay__db_backup(assay__handle *h, int64_t version)
{
    size_t cap = strlen(h->path) + 64;
    char *made = malloc(cap);

    if (made == NULL)
        return assay__fail(ASSAY_NOMEM, "store: out of memory");
    snprintf(made, cap, "%s.v%lld.tmp", h->path, (long long)version);
    /* Only the holder of the write lock comes here: what lies there is of a process that died. */
    (void)unlink(made);
    assay_status status = copy_store(h, made);
    if (status == ASSAY_OK)
        status = give_name(h->path, version, made);
    (void)unlink(made);
    free(made);
    return status;
}
