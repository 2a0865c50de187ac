/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/handle.h -- one connection to a store: opening, cached statements, errors.
 *
 * The only place that prepares SQL.  Every statement is a row of an `assay__sql` table, so that a
 * test can ask for the plan of each.  A handle belongs to one thread at a time. */
#ifndef ASSAY_DB_HANDLE_H
#define ASSAY_DB_HANDLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

#define ASSAY__DB_APPLICATION_ID 1095975257 /* "ASAY" */
#define ASSAY__DB_VERSION        6
#define ASSAY__DB_BUSY_MS        20000
/* Readers wait for nobody who only writes, and what makes them wait is done in milliseconds but for
 * somebody who keeps the file for himself. */
#define ASSAY__DB_READ_BUSY_MS 2000
/* Reads 100,000 routes in 80 ms, 4096 in 105; one transaction a variant is 10 % slower. */
#define ASSAY__DB_PAGE_BYTES 8192

enum {
    ASSAY__SQL_WHOLE =
        1u << 0 /* a report over the whole store: may scan; no other statement does */
};
typedef struct assay__sql {
    const char *name; /* for error texts: "measurement put" */
    const char *text;
    unsigned flags;
} assay__sql;

#define ASSAY__STATEMENTS_MAX 96
typedef struct assay__handle {
    sqlite3 *sql; /* owned */
    char *path;   /* owned, as the caller gave it */
    bool writable;
    bool frozen;   /* read without locks: the file system cannot be written */
    uint64_t mark; /* frozen: what the files looked like when opened */
    bool batch;    /* assay__db_begin was called: puts do not commit */
    size_t statement_count;
    struct {
        const assay__sql *key;
        sqlite3_stmt *statement;
    } statements[ASSAY__STATEMENTS_MAX];
} assay__handle;

/* What stands at `path` before SQLite touches it. */
typedef enum assay__db_look {
    ASSAY__LOOK_MISSING, /* nothing, or no directory */
    ASSAY__LOOK_EMPTY,   /* a file of no bytes */
    ASSAY__LOOK_FULL     /* a file with something in it; opening tells what */
} assay__db_look;
assay_status assay__db_look_at(const char *path, assay__db_look *out);

/* "file:" URI with every byte outside [A-Za-z0-9/._-] percent-encoded; caller frees. */
char *assay__db_uri(const char *path, const char *query);

/* Opens with SQLITE_OPEN_* flags; `query` "mode=ro" and so on.  The handle starts zeroed.  FOREIGN
 * or DAMAGED for a file whose first bytes are not those of SQLite. */
assay_status assay__handle_open(assay__handle *h, const char *path, const char *query, int flags);
/* Nobody else's, empty, and gone when closed; `path` is only for messages. */
assay_status assay__handle_open_private(assay__handle *h, const char *path);
void assay__handle_close(assay__handle *h);

/* How long a lock is waited for. */
int assay__handle_patience_ms(const assay__handle *h);

/* FOREIGN, NEWER, OLDER or OK by application_id and user_version. */
assay_status assay__handle_identify(assay__handle *h);

/* Maps a SQLite result code to a status and records file, what failed and the remedy. */
assay_status assay__handle_fail(assay__handle *h, int code, const char *what);
/* Runs SQL text without rows. */
assay_status assay__handle_exec(assay__handle *h, const char *text, const char *what);
/* First column of the first row of SQL text. */
assay_status assay__handle_int(assay__handle *h, const char *text, int64_t *out);

/* One run of a cached statement.  Bind in order, then step; the statement is reset by done. */
typedef struct assay__query {
    assay__handle *handle;
    const assay__sql *sql;
    sqlite3_stmt *statement;
    int bound;  /* parameters bound so far */
    int column; /* next column read */
    int code;   /* first SQLite error */
} assay__query;
assay_status assay__query_open(assay__handle *h, const assay__sql *sql, assay__query *out);
void assay__bind_int(assay__query *q, int64_t value);
void assay__bind_id(assay__query *q, int64_t id);         /* 0 -> NULL */
void assay__bind_real(assay__query *q, double value);     /* NaN -> NULL */
void assay__bind_text(assay__query *q, const char *text); /* borrowed until done; NULL -> NULL */
void assay__bind_word(assay__query *q, const char *text); /* the same; NULL -> "" */
void assay__bind_blob(assay__query *q, const void *bytes, size_t size); /* borrowed until done */
/* true: a row is ready.  false: the end or an error, told apart by done. */
bool assay__query_step(assay__query *q);
int64_t assay__column_int(assay__query *q);
double assay__column_real(assay__query *q);      /* NULL -> NaN */
const char *assay__column_text(assay__query *q); /* NULL -> "" ; valid until the next step */
const void *assay__column_blob(assay__query *q, size_t *size);
/* Resets; the status of the whole run. */
assay_status assay__query_done(assay__query *q);
/* The same at the end of a walk with callbacks: `row_status` other than OK comes first.  For a
 * frozen handle it also tells when the files changed meanwhile. */
assay_status assay__query_finish(assay__query *q, assay_status row_status);
/* Size and time of path + suffix, mixed; 0 for no file. */
uint64_t assay__file_mark(const char *path, const char *suffix);
/* Changes with the sizes and times of the store and its -wal. */
uint64_t assay__handle_mark(const assay__handle *h);
/* Steps a statement that returns at most one row with an id, and resets. NULL: not wanted. */
assay_status assay__query_id(assay__query *q, int64_t *out);

/* Runs an INSERT; out: the new row's id, 0 when an existing row was updated instead.  Twice as fast
 * for a small row as RETURNING, which goes through a temporary table. */
assay_status assay__query_insert(assay__query *q, int64_t *out);

#endif
