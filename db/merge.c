/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/merge.c -- see merge.h.
 *
 * All stores go into a private one first, whose rows have whatever ids the order of the files gives
 * them; from there they go into the new store in an order that content alone decides.  So the new
 * one is the same, to the ids, for the same stores in any order. */
#include "db/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/create.h"
#include "db/db_write.h"
#include "db/merge_sql.h"
#include "db/read_store.h"
#include "runtime/digest.h"
#include "runtime/error.h"

#define POOL "main"

enum { BY_REVISION, BY_MEASUREMENT, BY_ACCURACY, LOOKUPS };

typedef struct merger {
    assay__handle pool;
    sqlite3_stmt *lookup[LOOKUPS]; /* owned: ids of the copy under way */
} merger;

/* ---- texts ---- */

/* The caller frees it; NULL: out of memory. */
static char *with_names(const char *text, const char *dst, const char *src)
{
    const size_t cap = 2 * strlen(text) + 1; /* names are no longer than seven letters */
    char *out = malloc(cap), *to = out;

    for (const char *at = text; out != NULL && *at != '\0';) {
        const char *name = strncmp(at, "DST.", 4) == 0   ? dst
                           : strncmp(at, "SRC.", 4) == 0 ? src
                                                         : NULL;
        if (name == NULL) {
            *to++ = *at++;
            continue;
        }
        to += snprintf(to, cap - (size_t)(to - out), "%s.", name);
        at += 4;
    }
    if (out != NULL)
        *to = '\0';
    return out;
}

static assay_status run(merger *m, const char *const *list, const char *dst, const char *src)
{
    for (; *list != NULL; list++) {
        char *text = with_names(*list, dst, src);
        if (text == NULL)
            return assay__fail(ASSAY_NOMEM, "merge: out of memory");
        assay_status status = assay__handle_exec(&m->pool, text, "merge");
        free(text);
        ASSAY_TRY(status);
    }
    return ASSAY_OK;
}

static assay_status prepare(merger *m, const char *text, sqlite3_stmt **out)
{
    int code = sqlite3_prepare_v2(m->pool.sql, text, -1, out, NULL);

    return code == SQLITE_OK ? ASSAY_OK : assay__handle_fail(&m->pool, code, "merge");
}

/* ---- ids inside of routes ---- */

static bool look_up(sqlite3_stmt *statement, uint64_t *id)
{
    bool found = false;

    if (*id == 0)
        return true;
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)*id);
    if (sqlite3_step(statement) == SQLITE_ROW) {
        *id = (uint64_t)sqlite3_column_int64(statement, 0);
        found = true;
    }
    sqlite3_reset(statement);
    return found;
}

/* Evidence may have been pruned; a variant that is not there leaves nothing to speak of. */
static bool renumber(merger *m, assay__route_candidate *c)
{
    if (!look_up(m->lookup[BY_MEASUREMENT], &c->measurement))
        c->measurement = 0;
    if (!look_up(m->lookup[BY_ACCURACY], &c->accuracy))
        c->accuracy = 0;
    return look_up(m->lookup[BY_REVISION], &c->revision_row);
}

static void candidates(sqlite3_context *context, int count, sqlite3_value **values)
{
    merger *m = sqlite3_user_data(context);
    const size_t bytes = (size_t)sqlite3_value_bytes(values[0]);
    const size_t records = bytes / sizeof(assay__route_candidate);
    assay__route_candidate *list = malloc(bytes + 1);

    (void)count;
    if (list == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (bytes > 0)
        memcpy(list, sqlite3_value_blob(values[0]), bytes);
    for (size_t i = 0; i < records; i++)
        if (!renumber(m, &list[i])) {
            free(list);
            sqlite3_result_error(context, "a route names a variant that the store lacks", -1);
            return;
        }
    sqlite3_result_blob64(context, list, bytes, free);
}

/* ---- copying ---- */

static assay_status begin(merger *m, const char *path)
{
    static const char *const lookups[LOOKUPS] = {
        "SELECT new FROM temp.m_revision WHERE old = ?1",
        "SELECT new FROM temp.m_measurement WHERE old = ?1",
        "SELECT new FROM temp.m_accuracy WHERE old = ?1"};

    ASSAY_TRY(assay__handle_open_private(&m->pool, path));
    ASSAY_TRY(assay__db_make_ready(&m->pool));
    ASSAY_TRY(run(m, assay__merge_maps, POOL, POOL));
    /* Of each question several routes are current until all stores are in. */
    ASSAY_TRY(assay__handle_exec(&m->pool, "DROP INDEX main.route_current", "merge"));
    for (size_t i = 0; i < LOOKUPS; i++)
        ASSAY_TRY(prepare(m, lookups[i], &m->lookup[i]));
    int code = sqlite3_create_function_v2(m->pool.sql, "assay_candidates", 1,
                                          SQLITE_UTF8 | SQLITE_DIRECTONLY, m, candidates, NULL,
                                          NULL, NULL);
    return code == SQLITE_OK ? ASSAY_OK : assay__handle_fail(&m->pool, code, "merge");
}

static void end(merger *m)
{
    for (size_t i = 0; i < LOOKUPS; i++)
        sqlite3_finalize(m->lookup[i]);
    assay__handle_close(&m->pool);
}

static assay_status attach(merger *m, const char *path, const char *query, const char *name)
{
    char *uri = assay__db_uri(path, query);
    char text[64];
    sqlite3_stmt *statement = NULL;
    assay_status status;

    if (uri == NULL)
        return assay__fail(ASSAY_NOMEM, "merge: out of memory");
    (void)snprintf(text, sizeof text, "ATTACH ?1 AS %s", name);
    status = prepare(m, text, &statement);
    if (status == ASSAY_OK) {
        sqlite3_bind_text(statement, 1, uri, -1, SQLITE_STATIC);
        int code = sqlite3_step(statement);
        if (code != SQLITE_DONE)
            status = assay__handle_fail(&m->pool, code, "merge: attach");
    }
    sqlite3_finalize(statement);
    free(uri);
    return status;
}

static assay_status copy(merger *m, const char *dst, const char *src)
{
    assay_status status = assay__handle_exec(&m->pool, "BEGIN IMMEDIATE", "merge");

    if (status == ASSAY_OK)
        status = run(m, assay__merge_begin, dst, src);
    if (status == ASSAY_OK)
        status = run(m, assay__merge_copy, dst, src);
    if (status == ASSAY_OK)
        status = run(m, assay__merge_end, dst, src);
    if (status == ASSAY_OK)
        return assay__handle_exec(&m->pool, "COMMIT", "merge");
    if (!sqlite3_get_autocommit(m->pool.sql))
        (void)sqlite3_exec(m->pool.sql, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* Opened as any reader does, so that what is missing, damaged, newer or foreign is told so. */
static assay_status take(merger *m, const char *path)
{
    assay__handle from;
    char *about = m->pool.path;
    bool frozen;
    assay_status status;

    ASSAY_TRY(assay__handle_open_read(&from, path));
    frozen = from.frozen;
    m->pool.path = from.path; /* what fails is about this file */
    status = attach(m, path, frozen ? assay__db_frozen_query(path) : "mode=ro", "src");
    if (status == ASSAY_OK && frozen)
        status = assay__handle_exec(&m->pool, "PRAGMA src.locking_mode=EXCLUSIVE", "merge");
    if (status == ASSAY_OK)
        status = copy(m, POOL, "src");
    m->pool.path = about;
    assay__handle_close(&from);
    if (status == ASSAY_OK)
        status = assay__handle_exec(&m->pool, "DETACH src", "merge");
    return status;
}

/* ---- the new store ---- */

static void hash_column(assay__hasher *hasher, sqlite3_stmt *row, int column)
{
    const int type = sqlite3_column_type(row, column);
    const void *bytes = type == SQLITE_BLOB ? sqlite3_column_blob(row, column)
                                            : (const void *)sqlite3_column_text(row, column);

    assay__hash_field(hasher, (uint8_t)type, bytes, (size_t)sqlite3_column_bytes(row, column));
}

/* When a file was made and by what is no content. */
static assay_status hash_content(merger *m, const char *name, assay_digest *out)
{
    assay__hasher hasher;

    assay__hash_init(&hasher, "assay-content-1");
    for (const char *const *query = assay__merge_content; *query != NULL; query++) {
        char *text = with_names(*query, name, name);
        sqlite3_stmt *row = NULL;
        int code = SQLITE_NOMEM;
        if (text != NULL)
            ASSAY_TRY(prepare(m, text, &row));
        assay__hash_string(&hasher, 0xff, *query);
        while (row != NULL && (code = sqlite3_step(row)) == SQLITE_ROW)
            for (int i = 0; i < sqlite3_column_count(row); i++)
                hash_column(&hasher, row, i);
        sqlite3_finalize(row);
        free(text);
        if (code != SQLITE_DONE)
            return assay__handle_fail(&m->pool, code, "merge: content");
    }
    assay__hash_final(&hasher, out);
    return ASSAY_OK;
}

static assay_status count_rows(merger *m, assay__merged *out)
{
    ASSAY_TRY(
        assay__handle_int(&m->pool, "SELECT count(*) FROM out.deployment", &out->deployments));
    ASSAY_TRY(
        assay__handle_int(&m->pool, "SELECT count(*) FROM out.measurement", &out->measurements));
    ASSAY_TRY(assay__handle_int(&m->pool, "SELECT count(*) FROM out.visit", &out->visits));
    return assay__handle_int(
        &m->pool, "SELECT count(*) FROM out.route WHERE superseded_utc IS NULL", &out->routes);
}

static assay_status write_out(merger *m, const char *part, assay__merged *merged)
{
    assay__db *made = NULL;

    ASSAY_TRY(assay__db_open(part, &made));
    assay__db_close(&made);
    ASSAY_TRY(attach(m, part, "mode=rw", "out"));
    ASSAY_TRY(run(m, assay__merge_settle, POOL, POOL));
    ASSAY_TRY(copy(m, "out", POOL));
    ASSAY_TRY(hash_content(m, "out", &merged->content));
    ASSAY_TRY(count_rows(m, merged));
    return assay__handle_exec(&m->pool, "DETACH out", "merge");
}

static assay_status merge_into(merger *m, const char *part, const char *const *paths, size_t count,
                               assay__merged *merged)
{
    ASSAY_TRY(begin(m, part));
    for (size_t i = 0; i < count; i++)
        ASSAY_TRY(take(m, paths[i]));
    return write_out(m, part, merged);
}

static void remove_part(const char *part)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char name[4200];

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        (void)snprintf(name, sizeof name, "%s%s", part, ends[i]);
        (void)unlink(name);
    }
}

static assay_status exists(const char *out)
{
    return assay__fail(ASSAY_INVALID, "%s: file exists; merge makes a new store, name another",
                       out);
}

assay_status assay__db_merge(const char *out, const char *const *paths, size_t count,
                             assay__merged *merged)
{
    merger m = {.lookup = {NULL}};
    char part[4160];
    assay_status status;

    if (access(out, F_OK) == 0)
        return exists(out);
    if (snprintf(part, sizeof part, "%s.part-%ld", out, (long)getpid()) >= (int)sizeof part)
        return assay__fail(ASSAY_INVALID, "%s: the path is too long", out);
    remove_part(part); /* of a process of that number that died */
    status = merge_into(&m, part, paths, count, merged);
    end(&m);
    if (status == ASSAY_OK && !assay__db_rename_new(part, out))
        status = errno == EEXIST ? exists(out)
                                 : assay__fail(ASSAY_DB_READONLY, "%s: cannot be named so: %s", out,
                                               strerror(errno));
    remove_part(part);
    return status;
}
