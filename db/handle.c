/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/handle.c -- connections: URIs, opening, cached statements. */
#include "db/handle.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/error.h"

static const char sqlite_magic[16] = "SQLite format 3";

/* Room for "-journal" included. */
#define SQLITE_PATH_MAX 503

/* By its name alone. Closing any descriptor of a file drops all locks that this process has on it,
 * those of other connections too; then a writer elsewhere takes the -wal away under them. */
assay_status assay__db_look_at(const char *path, assay__db_look *out)
{
    struct stat info;

    if (path == NULL || path[0] == '\0')
        return assay__fail(ASSAY_INVALID, "store: the path is empty");
    bool is_there = stat(path, &info) == 0;
    if (!is_there && (errno == ENOENT || errno == ENOTDIR)) {
        *out = ASSAY__LOOK_MISSING;
        return ASSAY_OK;
    }
    if (is_there && !S_ISREG(info.st_mode))
        return assay__fail(ASSAY_DB_FOREIGN, "%s: not a regular file; give the path of a store",
                           path);
    if (!is_there || faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0)
        return assay__fail(ASSAY_DB, "%s: %s; check the path and its permissions", path,
                           strerror(errno));
    *out = info.st_size == 0 ? ASSAY__LOOK_EMPTY : ASSAY__LOOK_FULL;
    return ASSAY_OK;
}

/* Through SQLite's own descriptor, for the same reason. */
static assay_status check_header(const assay__handle *h)
{
    char head[sizeof sqlite_magic] = {0};
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;

    if (sqlite3_file_control(h->sql, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        file == NULL || file->pMethods == NULL ||
        file->pMethods->xFileSize(file, &size) != SQLITE_OK || size == 0)
        return ASSAY_OK; /* nothing there yet, or SQLite will say what is wrong */
    int code = file->pMethods->xRead(file, head, sizeof head, 0);
    if ((code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) ||
        memcmp(head, sqlite_magic, sizeof head) == 0)
        return ASSAY_OK;
    /* A store that lost its first bytes still has whole pages; text and other formats seldom do. */
    if (size % ASSAY__DB_PAGE_BYTES == 0)
        return assay__fail(ASSAY_DB_DAMAGED,
                           "%s: store is damaged: its header is not SQLite's; restore a copy, or "
                           "try `sqlite3 FILE .recover`",
                           h->path);
    return assay__fail(ASSAY_DB_FOREIGN,
                       "%s: not an Assay store (no SQLite file); give another path", h->path);
}

static bool plain_in_uri(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '.' || c == '_' || c == '-';
}

char *assay__db_uri(const char *path, const char *query)
{
    static const char digits[] = "0123456789ABCDEF";
    /* "//" at the start would read as an authority; "./" before a relative path harms nothing. */
    const char *prefix = path[0] == '/' ? "file://" : "file:./";
    char *uri = malloc(strlen(prefix) + 3 * strlen(path) + strlen(query) + 2);
    if (uri == NULL)
        return NULL;
    char *at = stpcpy(uri, prefix);
    for (const char *p = path; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (plain_in_uri(c)) {
            *at++ = (char)c;
        } else {
            *at++ = '%';
            *at++ = digits[c >> 4];
            *at++ = digits[c & 15];
        }
    }
    *at++ = '?';
    strcpy(at, query);
    return uri;
}

int assay__handle_patience_ms(const assay__handle *h)
{
    return h->writable ? ASSAY__DB_BUSY_MS : ASSAY__DB_READ_BUSY_MS;
}

static int open_uri(assay__handle *h, const char *uri, int flags)
{
    int code = sqlite3_open_v2(uri, &h->sql, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);

    if (code != SQLITE_OK)
        return code;
    sqlite3_extended_result_codes(h->sql, 1);
    sqlite3_db_config(h->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    sqlite3_db_config(h->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    /* A read handle never checkpoints: that would change the file. */
    sqlite3_db_config(h->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !h->writable, (int *)NULL);
    sqlite3_db_config(h->sql, SQLITE_DBCONFIG_ENABLE_FKEY, 1, (int *)NULL);
    return sqlite3_busy_timeout(h->sql, assay__handle_patience_ms(h));
}

/* What SQLite says of such a path is only that it cannot be opened. */
static assay_status check_length(const char *path)
{
    char folder[SQLITE_PATH_MAX + 1];
    size_t length = strlen(path);

    if (path[0] != '/')
        length += getcwd(folder, sizeof folder) == NULL ? SQLITE_PATH_MAX : strlen(folder) + 1;
    if (length <= SQLITE_PATH_MAX)
        return ASSAY_OK;
    return assay__fail(
        ASSAY_INVALID,
        "%s: the path is longer than the %d bytes that SQLite takes; use a shorter one", path,
        SQLITE_PATH_MAX);
}

assay_status assay__handle_open(assay__handle *h, const char *path, const char *query, int flags)
{
    memset(h, 0, sizeof *h);
    ASSAY_TRY(check_length(path));
    h->writable = (flags & SQLITE_OPEN_READWRITE) != 0;
    h->path = strdup(path);
    char *uri = assay__db_uri(path, query);
    assay_status status = ASSAY_OK;
    if (h->path == NULL || uri == NULL) {
        status = assay__fail(ASSAY_NOMEM, "store: out of memory");
    } else {
        int code = open_uri(h, uri, flags);
        status = code == SQLITE_OK ? check_header(h) : assay__handle_fail(h, code, "open");
    }
    free(uri);
    if (status != ASSAY_OK)
        assay__handle_close(h);
    return status;
}

assay_status assay__handle_open_private(assay__handle *h, const char *path)
{
    memset(h, 0, sizeof *h);
    h->writable = true;
    h->path = strdup(path);
    if (h->path == NULL)
        return assay__fail(ASSAY_NOMEM, "store: out of memory");
    /* No name: SQLite's own temporary file, made when its cache is full. */
    int code = open_uri(h, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    assay_status status = code == SQLITE_OK ? ASSAY_OK : assay__handle_fail(h, code, "open");
    if (status != ASSAY_OK)
        assay__handle_close(h);
    return status;
}

void assay__handle_close(assay__handle *h)
{
    for (size_t i = 0; i < h->statement_count; i++)
        sqlite3_finalize(h->statements[i].statement);
    /* Statements are all ours and gone: close cannot be refused. */
    sqlite3_close(h->sql);
    free(h->path);
    memset(h, 0, sizeof *h);
}

uint64_t assay__file_mark(const char *path, const char *suffix)
{
    char name[4096];
    struct stat info;
    int used = snprintf(name, sizeof name, "%s%s", path, suffix);

    if (used < 0 || (size_t)used >= sizeof name || stat(name, &info) != 0)
        return 0;
    uint64_t mark = (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec;
    return mark * 31u + (uint64_t)info.st_size + (uint64_t)info.st_ino * 1000003u;
}

uint64_t assay__handle_mark(const assay__handle *h)
{
    return assay__file_mark(h->path, "") * 7u + assay__file_mark(h->path, "-wal");
}

assay_status assay__handle_exec(assay__handle *h, const char *text, const char *what)
{
    int code = sqlite3_exec(h->sql, text, NULL, NULL, NULL);

    return code == SQLITE_OK ? ASSAY_OK : assay__handle_fail(h, code, what);
}

assay_status assay__handle_int(assay__handle *h, const char *text, int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(h->sql, text, -1, &statement, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? ASSAY_OK : assay__handle_fail(h, code, text);
}

assay_status assay__handle_identify(assay__handle *h)
{
    int64_t application = 0, version = 0;

    ASSAY_TRY(assay__handle_int(h, "PRAGMA application_id", &application));
    ASSAY_TRY(assay__handle_int(h, "PRAGMA user_version", &version));
    if (application != ASSAY__DB_APPLICATION_ID)
        return assay__fail(ASSAY_DB_FOREIGN,
                           "%s: not an Assay store: it is the SQLite file of another program; give "
                           "another path",
                           h->path);
    if (version < 0)
        return assay__fail(ASSAY_DB_FOREIGN,
                           "%s: not an Assay store: it has schema %lld, which never was; give "
                           "another path",
                           h->path, (long long)version);
    if (version > ASSAY__DB_VERSION)
        return assay__fail(ASSAY_DB_NEWER,
                           "%s: store has schema %lld, this program knows up to %d; use a newer "
                           "Assay",
                           h->path, (long long)version, ASSAY__DB_VERSION);
    if (version < ASSAY__DB_VERSION)
        return assay__fail(ASSAY_DB_OLDER,
                           "%s: store has schema %lld, this program reads %d; any command that "
                           "writes (assay sweep) migrates it and keeps a backup",
                           h->path, (long long)version, ASSAY__DB_VERSION);
    return ASSAY_OK;
}

/* ---- cached statements ----------------------------------------------------------------------- */

static sqlite3_stmt *find_cached(const assay__handle *h, const assay__sql *sql)
{
    for (size_t i = 0; i < h->statement_count; i++)
        if (h->statements[i].key == sql)
            return h->statements[i].statement;
    return NULL;
}

assay_status assay__query_open(assay__handle *h, const assay__sql *sql, assay__query *out)
{
    sqlite3_stmt *statement = find_cached(h, sql);

    if (statement == NULL) {
        assert(h->statement_count < ASSAY__STATEMENTS_MAX);
        int code =
            sqlite3_prepare_v3(h->sql, sql->text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
        /* Our own SQL on our own schema: a missing table or column is damage. */
        if (code == SQLITE_ERROR)
            return assay__fail(
                ASSAY_DB_DAMAGED,
                "%s: store is damaged: %s (%s); restore a copy, or try `sqlite3 FILE "
                ".recover`",
                h->path, sqlite3_errmsg(h->sql), sql->name);
        if (code != SQLITE_OK)
            return assay__handle_fail(h, code, sql->name);
        h->statements[h->statement_count].key = sql;
        h->statements[h->statement_count++].statement = statement;
    }
    *out = (assay__query){.handle = h, .sql = sql, .statement = statement, .code = SQLITE_OK};
    return ASSAY_OK;
}

static void keep_code(assay__query *q, int code)
{
    if (code != SQLITE_OK && q->code == SQLITE_OK)
        q->code = code;
}

void assay__bind_int(assay__query *q, int64_t value)
{
    keep_code(q, sqlite3_bind_int64(q->statement, ++q->bound, value));
}

void assay__bind_id(assay__query *q, int64_t id)
{
    q->bound++;
    keep_code(q, id == 0 ? sqlite3_bind_null(q->statement, q->bound)
                         : sqlite3_bind_int64(q->statement, q->bound, id));
}

void assay__bind_real(assay__query *q, double value)
{
    q->bound++;
    keep_code(q, isnan(value) ? sqlite3_bind_null(q->statement, q->bound)
                              : sqlite3_bind_double(q->statement, q->bound, value));
}

void assay__bind_text(assay__query *q, const char *text)
{
    keep_code(q, sqlite3_bind_text(q->statement, ++q->bound, text, -1, SQLITE_STATIC));
}

void assay__bind_word(assay__query *q, const char *text)
{
    assay__bind_text(q, text == NULL ? "" : text);
}

void assay__bind_blob(assay__query *q, const void *bytes, size_t size)
{
    /* A NULL pointer would bind NULL; an empty blob is meant. */
    keep_code(q, sqlite3_bind_blob64(q->statement, ++q->bound, bytes == NULL ? "" : bytes, size,
                                     SQLITE_STATIC));
}

bool assay__query_step(assay__query *q)
{
    if (q->code != SQLITE_OK)
        return false;
    q->column = 0;
    int code = sqlite3_step(q->statement);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        q->code = code;
    return false;
}

int64_t assay__column_int(assay__query *q)
{
    return sqlite3_column_int64(q->statement, q->column++);
}

double assay__column_real(assay__query *q)
{
    int column = q->column++;

    return sqlite3_column_type(q->statement, column) == SQLITE_NULL
               ? (double)NAN
               : sqlite3_column_double(q->statement, column);
}

const char *assay__column_text(assay__query *q)
{
    const char *text = (const char *)sqlite3_column_text(q->statement, q->column++);

    return text == NULL ? "" : text;
}

const void *assay__column_blob(assay__query *q, size_t *size)
{
    int column = q->column++;
    const void *bytes = sqlite3_column_blob(q->statement, column);

    *size = (size_t)sqlite3_column_bytes(q->statement, column);
    return bytes;
}

assay_status assay__query_done(assay__query *q)
{
    /* The text must be taken before reset overwrites it. */
    assay_status status =
        q->code == SQLITE_OK ? ASSAY_OK : assay__handle_fail(q->handle, q->code, q->sql->name);

    sqlite3_reset(q->statement);
    sqlite3_clear_bindings(q->statement);
    return status;
}

/* Without locks somebody with more rights may have written meanwhile; what was read may be torn. */
assay_status assay__query_finish(assay__query *q, assay_status row_status)
{
    const assay__handle *h = q->handle;

    if (row_status != ASSAY_OK)
        sqlite3_reset(q->statement);
    else
        row_status = assay__query_done(q);
    if (h->frozen && assay__handle_mark(h) != h->mark)
        return assay__fail(ASSAY_DB_LOCKED, "%s: store changed while it was read; open it again",
                           h->path);
    return row_status;
}

assay_status assay__query_id(assay__query *q, int64_t *out)
{
    int64_t id = 0;
    bool found = false;

    while (assay__query_step(q)) {
        id = assay__column_int(q);
        found = true;
    }
    ASSAY_TRY(assay__query_done(q));
    if (out != NULL && !found)
        return assay__fail(ASSAY_INTERNAL, "%s: %s: no row came back", q->handle->path,
                           q->sql->name);
    if (out != NULL)
        *out = id;
    return ASSAY_OK;
}

assay_status assay__query_insert(assay__query *q, int64_t *out)
{
    sqlite3_set_last_insert_rowid(q->handle->sql, 0);
    while (assay__query_step(q))
        ;
    ASSAY_TRY(assay__query_done(q));
    if (out != NULL)
        *out = sqlite3_last_insert_rowid(q->handle->sql);
    return ASSAY_OK;
}
