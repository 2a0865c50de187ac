/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/db_fail.c -- SQLite result codes as statuses with a remedy. */
#include <errno.h>
#include <string.h>

#include "db/handle.h"
#include "runtime/error.h"

typedef struct meaning {
    int code; /* primary result code of SQLite */
    assay_status status;
    const char *remedy;
} meaning;

static const char locked_text[] = "another process holds the store's lock for over 20 s; wait for "
                                  "it or end it, then try again";
static const char readonly_text[] = "the store cannot be written; check the permissions of the "
                                    "file and of its folder, and that the disk is not read-only";
static const char full_text[] = "no space left; free some and run the command again with --resume, "
                                "nothing stored is lost";
static const char damaged_text[] = "the store is damaged; restore a copy, or try `sqlite3 FILE "
                                   ".recover`";

static const meaning meanings[] = {
    {SQLITE_BUSY, ASSAY_DB_LOCKED, locked_text},
    {SQLITE_LOCKED, ASSAY_DB_LOCKED, locked_text},
    {SQLITE_PROTOCOL, ASSAY_DB_LOCKED, locked_text},
    {SQLITE_READONLY, ASSAY_DB_READONLY, readonly_text},
    {SQLITE_PERM, ASSAY_DB_READONLY, readonly_text},
    {SQLITE_FULL, ASSAY_DB_FULL, full_text},
    {SQLITE_CORRUPT, ASSAY_DB_DAMAGED, damaged_text},
    {SQLITE_NOTADB, ASSAY_DB_DAMAGED, damaged_text},
    {SQLITE_NOMEM, ASSAY_NOMEM, "out of memory"},
    {SQLITE_INTERRUPT, ASSAY_INTERRUPTED, "interrupted"},
    {SQLITE_CONSTRAINT, ASSAY_INVALID, "a value breaks a rule of db/schema.sql"},
};

static assay_status by_errno(int error, const char **remedy)
{
    if (error == ENOSPC || error == EDQUOT) {
        *remedy = full_text;
        return ASSAY_DB_FULL;
    }
    if (error == EROFS || error == EACCES || error == EPERM) {
        *remedy = readonly_text;
        return ASSAY_DB_READONLY;
    }
    *remedy = "check the disk and the path";
    return ASSAY_DB;
}

assay_status assay__handle_fail(assay__handle *h, int code, const char *what)
{
    const char *path = h->path == NULL ? "store" : h->path;
    const char *text = h->sql == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(h->sql);
    const char *remedy = NULL;
    assay_status status = ASSAY_DB;

    for (size_t i = 0; i < sizeof meanings / sizeof *meanings && remedy == NULL; i++)
        if (meanings[i].code == (code & 0xff)) {
            status = meanings[i].status;
            remedy = meanings[i].remedy;
        }
    /* CANTOPEN and IOERR say nothing of why; the system's error does. */
    if (remedy == NULL)
        status = by_errno(h->sql == NULL ? 0 : sqlite3_system_errno(h->sql), &remedy);
    if ((code & 0xff) == SQLITE_CANTOPEN && status == ASSAY_DB && h->writable) {
        status = ASSAY_DB_READONLY;
        remedy = readonly_text;
    }
    int error = h->sql == NULL ? 0 : sqlite3_system_errno(h->sql);
    if (error != 0 && ((code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_IOERR))
        text = strerror(error);
    return assay__fail(status, "%s: %s: %s: %s", path, what, text, remedy);
}
