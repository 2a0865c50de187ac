/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_db.c -- the writer: opening, transactions, texts of finds. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "db/create.h"
#include "db/read_store.h"
#include "db/write.h"
#include "runtime/error.h"

static assay_status open_handle(assay__handle *h, const char *path)
{
    assay__db_look seen;

    ASSAY_TRY(assay__db_look_at(path, &seen));
    ASSAY_TRY(assay__handle_open(h, path, "mode=rwc", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    assay_status status = assay__db_make_ready(h);
    if (status != ASSAY_OK)
        assay__handle_close(h);
    return status;
}

static assay_status copy_into(assay__handle *h, const char *path)
{
    assay__handle from;

    ASSAY_TRY(assay__handle_open_read(&from, path));
    sqlite3_backup *copy = sqlite3_backup_init(h->sql, "main", from.sql, "main");
    if (copy != NULL)
        (void)sqlite3_backup_step(copy, -1);
    int code = copy != NULL ? sqlite3_backup_finish(copy) : sqlite3_errcode(h->sql);
    assay__handle_close(&from);
    return code == SQLITE_OK ? ASSAY_OK : assay__handle_fail(h, code, "copy");
}

static assay_status open_copy(assay__handle *h, const char *path)
{
    assay__db_look seen;

    ASSAY_TRY(assay__db_look_at(path, &seen));
    ASSAY_TRY(assay__handle_open_private(h, path));
    assay_status status = seen == ASSAY__LOOK_FULL ? copy_into(h, path) : ASSAY_OK;
    if (status == ASSAY_OK)
        status = assay__db_make_ready(h);
    if (status != ASSAY_OK)
        assay__handle_close(h);
    return status;
}

static assay_status open_with(assay_status (*open)(assay__handle *h, const char *path),
                              const char *path, assay__db **out)
{
    assay__db *db = calloc(1, sizeof *db);

    if (db == NULL)
        return assay__fail(ASSAY_NOMEM, "store: out of memory");
    db->utc_second = -1;
    assay_status status = open(&db->handle, path);
    if (status != ASSAY_OK)
        free(db);
    else
        *out = db;
    return status;
}

assay_status assay__db_open(const char *path, assay__db **out)
{
    return open_with(open_handle, path, out);
}

assay_status assay__db_open_copy(const char *path, assay__db **out)
{
    return open_with(open_copy, path, out);
}

/* Whoever closes last moves the -wal into the file and removes it, but the last one may be a
 * reader, which must not write.  So each writer leaves it empty; where somebody reads in it or
 * writes, it stays, and nobody waits. */
static void empty_wal(assay__handle *h)
{
    (void)sqlite3_busy_timeout(h->sql, 0);
    (void)sqlite3_wal_checkpoint_v2(h->sql, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

void assay__db_close(assay__db **db)
{
    if (db == NULL || *db == NULL)
        return;
    assay__db_rollback(*db);
    assay__db_forget(*db);
    empty_wal(&(*db)->handle);
    assay__handle_close(&(*db)->handle);
    free(*db);
    *db = NULL;
}

const char *assay__db_path(const assay__db *db)
{
    return db->handle.path;
}

/* ---- transactions ---------------------------------------------------------------------------- */

static assay_status begin(assay__db *db)
{
    static const assay__sql sql = {"begin", "BEGIN IMMEDIATE", 0};
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &sql, &q));
    return assay__query_id(&q, NULL);
}

static assay_status commit(assay__db *db)
{
    static const assay__sql sql = {"commit", "COMMIT", 0};
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &sql, &q));
    return assay__query_id(&q, NULL);
}

static void roll_back(assay__db *db)
{
    /* After a full disk SQLite may have rolled back by itself; then there is nothing to do. */
    if (!sqlite3_get_autocommit(db->handle.sql))
        (void)sqlite3_exec(db->handle.sql, "ROLLBACK", NULL, NULL, NULL);
}

assay_status assay__db_begin(assay__db *db)
{
    if (db->handle.batch)
        return assay__fail(ASSAY_INTERNAL, "%s: begin inside a batch", db->handle.path);
    ASSAY_TRY(begin(db));
    db->handle.batch = true;
    return ASSAY_OK;
}

static assay_status lost_batch(const assay__db *db)
{
    return assay__fail(ASSAY_DB, "%s: the batch was rolled back by an earlier failure; begin again",
                       db->handle.path);
}

assay_status assay__db_commit(assay__db *db)
{
    if (!db->handle.batch)
        return assay__fail(ASSAY_INTERNAL, "%s: commit without begin", db->handle.path);
    assay_status status = sqlite3_get_autocommit(db->handle.sql) ? lost_batch(db) : commit(db);
    if (status != ASSAY_OK)
        roll_back(db);
    db->handle.batch = false;
    return status;
}

void assay__db_rollback(assay__db *db)
{
    roll_back(db);
    db->handle.batch = false;
}

assay_status assay__db_enter(assay__db *db)
{
    if (!db->handle.batch)
        return begin(db);
    return sqlite3_get_autocommit(db->handle.sql) ? lost_batch(db) : ASSAY_OK;
}

assay_status assay__db_leave(assay__db *db, assay_status status)
{
    if (db->handle.batch)
        return status;
    if (status == ASSAY_OK)
        status = commit(db);
    if (status != ASSAY_OK)
        roll_back(db);
    return status;
}

/* ---- small things ---------------------------------------------------------------------------- */

const char *assay__db_now(assay__db *db)
{
    struct timespec now;
    struct tm utc;

    clock_gettime(CLOCK_REALTIME, &now);
    if (db->utc_second != now.tv_sec) {
        gmtime_r(&now.tv_sec, &utc);
        strftime(db->utc, sizeof db->utc, "%Y-%m-%dT%H:%M:%S.000Z", &utc);
        db->utc_second = now.tv_sec;
    }
    char *point = strchr(db->utc, '.');
    assert(point != NULL);
    long ms = now.tv_nsec / 1000000;
    point[1] = (char)('0' + ms / 100);
    point[2] = (char)('0' + ms / 10 % 10);
    point[3] = (char)('0' + ms % 10);
    return db->utc;
}

void assay__db_forget(assay__db *db)
{
    while (db->found != NULL) {
        assay__db_text *gone = db->found;
        db->found = gone->next;
        free(gone);
    }
}

const char *assay__db_keep(assay__db *db, const char *text)
{
    size_t size = strlen(text) + 1;
    assay__db_text *kept = malloc(sizeof *kept + size);

    if (kept == NULL)
        return NULL;
    memcpy(kept->text, text, size);
    kept->next = db->found;
    db->found = kept;
    return kept->text;
}

const char *assay__db_hash_text(uint64_t hash, char buf[17])
{
    if (hash == 0)
        return NULL;
    snprintf(buf, 17, "%016" PRIx64, hash);
    return buf;
}

uint64_t assay__db_hash_parse(const char *text)
{
    return strtoull(text, NULL, 16);
}
