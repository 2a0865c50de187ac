/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/merge.c -- see merge.h.
 *
 * All stores go into a private one first, whose rows have whatever ids the order of the files gives
 * them; from there they go into the new store in an order that content alone decides.  So the new
 * one is the same, to the ids, for the same stores in any order. */
#include "db/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/create.h"
#include "db/merge_sql.h"
#include "db/read_store.h"
#include "runtime/digest.h"
#include "runtime/error.h"

#define POOL  "main"
#define NAMES 16 /* tries for one that nobody has */

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

/* SQLITE_ROW: *id is the new one; SQLITE_DONE: there is no such row; else an error. */
static int look_up(sqlite3_stmt *statement, uint64_t *id)
{
    int code;

    if (*id == 0)
        return SQLITE_ROW;
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)*id);
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *id = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return code;
}

/* Evidence may have been pruned. */
static int look_up_evidence(sqlite3_stmt *statement, uint64_t *id)
{
    const int code = look_up(statement, id);

    if (code != SQLITE_DONE)
        return code;
    *id = 0;
    return SQLITE_ROW;
}

/* SQLITE_DONE: the variant is not there, which leaves nothing to speak of. */
static int renumber(merger *m, assay__route_candidate *c)
{
    int code = look_up_evidence(m->lookup[BY_MEASUREMENT], &c->measurement);

    if (code == SQLITE_ROW)
        code = look_up_evidence(m->lookup[BY_ACCURACY], &c->accuracy);
    return code == SQLITE_ROW ? look_up(m->lookup[BY_REVISION], &c->revision_row) : code;
}

static void fail_candidates(sqlite3_context *context, int code)
{
    if (code == SQLITE_DONE) {
        sqlite3_result_error(context, "a route names a variant that the store lacks", -1);
        code = SQLITE_CORRUPT;
    }
    sqlite3_result_error_code(context, code); /* keeps a text that is there */
}

static void candidates(sqlite3_context *context, int count, sqlite3_value **values)
{
    merger *m = sqlite3_user_data(context);
    const size_t bytes = (size_t)sqlite3_value_bytes(values[0]);
    const size_t records = bytes / sizeof(assay__route_candidate);
    assay__route_candidate *list = malloc(bytes + 1);
    int code = SQLITE_ROW;

    (void)count;
    if (list == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (bytes > 0)
        memcpy(list, sqlite3_value_blob(values[0]), bytes);
    for (size_t i = 0; code == SQLITE_ROW && i < records; i++)
        code = renumber(m, &list[i]);
    if (code == SQLITE_ROW) {
        sqlite3_result_blob64(context, list, bytes, free);
        return;
    }
    free(list);
    fail_candidates(context, code);
}

/* ---- copying ---- */

/* out: what fails is about the new store, by the name that it is to have. */
static assay_status begin(merger *m, const char *out)
{
    static const char *const lookups[LOOKUPS] = {
        "SELECT new FROM temp.m_revision WHERE old = ?1",
        "SELECT new FROM temp.m_measurement WHERE old = ?1",
        "SELECT new FROM temp.m_accuracy WHERE old = ?1"};

    ASSAY_TRY(assay__handle_open_private(&m->pool, out));
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

static assay_status check_table(merger *m, const char *text)
{
    sqlite3_stmt *row = NULL;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(prepare(m, text, &row));
    int code = sqlite3_step(row);
    const int64_t lost = code == SQLITE_ROW ? sqlite3_column_int64(row, 1) : 0;
    if (code != SQLITE_ROW)
        status = assay__handle_fail(&m->pool, code, "merge");
    else if (lost > 0)
        status = assay__fail(
            ASSAY_DB_DAMAGED,
            "%s: %" PRId64 " rows of %s point at missing rows; see `assay check --db %s`",
            m->pool.path, lost, (const char *)sqlite3_column_text(row, 0), m->pool.path);
    sqlite3_finalize(row);
    return status;
}

/* Rows whose parents are missing match nothing, and would be left behind without a word. */
static assay_status check_lost(merger *m, const char *src)
{
    for (const char *const *query = assay__merge_lost; *query != NULL; query++) {
        char *text = with_names(*query, src, src);
        if (text == NULL)
            return assay__fail(ASSAY_NOMEM, "merge: out of memory");
        assay_status status = check_table(m, text);
        free(text);
        ASSAY_TRY(status);
    }
    return ASSAY_OK;
}

static assay_status copy(merger *m, const char *dst, const char *src)
{
    assay_status status = assay__handle_exec(&m->pool, "BEGIN IMMEDIATE", "merge");

    if (status == ASSAY_OK)
        status = run(m, assay__merge_begin, dst, src);
    if (status == ASSAY_OK)
        status = run(m, assay__merge_copy, dst, src);
    if (status == ASSAY_OK)
        status = check_lost(m, src); /* of the same moment as what was copied */
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
    /* Without locks somebody with more rights may have written: what was read may be torn, or look
     * damaged. */
    if (frozen && assay__handle_mark(&from) != from.mark)
        status =
            assay__fail(ASSAY_DB_LOCKED, "%s: store changed while it was read; merge again", path);
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

    /* As text it would have the digits that this version of SQLite writes. */
    if (type == SQLITE_FLOAT) {
        const double value = sqlite3_column_double(row, column);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        assay__hash_u64(hasher, (uint8_t)type, bits);
        return;
    }
    const void *bytes = type == SQLITE_BLOB ? sqlite3_column_blob(row, column)
                                            : (const void *)sqlite3_column_text(row, column);
    assay__hash_field(hasher, (uint8_t)type, bytes, (size_t)sqlite3_column_bytes(row, column));
}

static assay_status hash_rows(merger *m, const char *text, assay__hasher *hasher)
{
    sqlite3_stmt *row = NULL;
    int code;

    ASSAY_TRY(prepare(m, text, &row));
    while ((code = sqlite3_step(row)) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(row); i++)
            hash_column(hasher, row, i);
    sqlite3_finalize(row);
    return code == SQLITE_DONE ? ASSAY_OK : assay__handle_fail(&m->pool, code, "merge: content");
}

/* When a file was made and by what is no content. */
static assay_status hash_content(merger *m, const char *name, assay_digest *out)
{
    assay__hasher hasher;

    assay__hash_init(&hasher, "assay-content-2");
    for (const char *const *query = assay__merge_content; *query != NULL; query++) {
        char *text = with_names(*query, name, name);
        if (text == NULL)
            return assay__fail(ASSAY_NOMEM, "merge: out of memory");
        assay__hash_string(&hasher, 0xff, *query);
        assay_status status = hash_rows(m, text, &hasher);
        free(text);
        ASSAY_TRY(status);
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

/* In a file of no bytes. */
static assay_status make_schema(const merger *m, const char *part)
{
    assay__handle made;
    char *own;

    ASSAY_TRY(assay__handle_open(&made, part, "mode=rw", SQLITE_OPEN_READWRITE));
    own = made.path;
    made.path = m->pool.path;
    assay_status status = assay__db_make_ready(&made);
    made.path = own;
    assay__handle_close(&made);
    return status;
}

/* Whoever closes a store last empties its log into it, and says nothing where that fails; a log
 * would not be renamed with its file. */
static assay_status empty_log(merger *m)
{
    int code =
        sqlite3_wal_checkpoint_v2(m->pool.sql, "out", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);

    return code == SQLITE_OK ? ASSAY_OK : assay__handle_fail(&m->pool, code, "merge");
}

static assay_status write_out(merger *m, const char *part, assay__merged *merged)
{
    ASSAY_TRY(make_schema(m, part));
    ASSAY_TRY(attach(m, part, "mode=rw", "out"));
    ASSAY_TRY(copy(m, "out", POOL));
    ASSAY_TRY(hash_content(m, "out", &merged->content));
    ASSAY_TRY(count_rows(m, merged));
    ASSAY_TRY(empty_log(m));
    return assay__handle_exec(&m->pool, "DETACH out", "merge");
}

static assay_status gather(merger *m, const char *out, const char *const *paths, size_t count)
{
    ASSAY_TRY(begin(m, out));
    for (size_t i = 0; i < count; i++)
        ASSAY_TRY(take(m, paths[i]));
    return run(m, assay__merge_settle, POOL, POOL);
}

/* The general text names --resume, which merge has not, and the file that was read. */
static assay_status say_full(assay_status status, const char *out, const char *remedy)
{
    return status != ASSAY_DB_FULL ? status
                                   : assay__fail(status, "%s: no space left%s", out, remedy);
}

static const char full_disk[] = "; free twice the size of all stores together";
static const char full_temporary[] = " in the folder for temporary files; set SQLITE_TMPDIR to a "
                                     "folder with room for all stores together";

static assay_status merge_into(merger *m, const char *out, const char *part,
                               const char *const *paths, size_t count, assay__merged *merged)
{
    ASSAY_TRY(say_full(gather(m, out, paths, count), out, full_temporary));
    return say_full(write_out(m, part, merged), out, full_disk);
}

/* ---- names ---- */

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

/* Takes a name beside `out` by a file of no bytes: processes of two machines that share the folder
 * may have the same number.  Where nothing can be made it fails before any store is read. */
static assay_status take_part(const char *out, char *part, size_t cap)
{
    for (int i = 0; i < NAMES; i++) {
        uint32_t digits;
        sqlite3_randomness(sizeof digits, &digits);
        if (snprintf(part, cap, "%s.part-%08x", out, (unsigned)digits) >= (int)cap)
            return assay__fail(ASSAY_INVALID, "%s: the path is too long", out);
        int file = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644); /* as SQLite does */
        if (file >= 0) {
            (void)close(file);
            return ASSAY_OK;
        }
        if (errno != EEXIST)
            break;
    }
    if (errno == ENOSPC || errno == EDQUOT)
        return say_full(ASSAY_DB_FULL, out, full_disk);
    return assay__fail(ASSAY_DB_READONLY,
                       "%s: cannot be made: %s; name a folder that can be written", out,
                       strerror(errno));
}

/* A power cut might take back a name that is only in memory.  Some file systems cannot. */
static void sync_folder(const char *path)
{
    char folder[4160];
    char *slash;

    (void)snprintf(folder, sizeof folder, "%s", path);
    slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder ? 1 : 0] = '\0';
    int descriptor = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    (void)fsync(descriptor);
    (void)close(descriptor);
}

static assay_status give_name(const char *part, const char *out)
{
    if (!assay__db_rename_new(part, out))
        return errno == EEXIST ? exists(out)
                               : assay__fail(ASSAY_DB_READONLY, "%s: cannot be named so: %s", out,
                                             strerror(errno));
    sync_folder(out);
    return ASSAY_OK;
}

assay_status assay__db_merge(const char *out, const char *const *paths, size_t count,
                             assay__merged *merged)
{
    merger m = {.lookup = {NULL}};
    char part[4160];
    assay_status status;

    if (access(out, F_OK) == 0)
        return exists(out);
    ASSAY_TRY(take_part(out, part, sizeof part));
    status = merge_into(&m, out, part, paths, count, merged);
    end(&m);
    if (status == ASSAY_OK)
        status = give_name(part, out);
    remove_part(part);
    return status;
}
