/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/db_fail.c -- SQLite result codes as statuses with a remedy. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "db/handle.h"
#include "runtime/error.h"

typedef struct meaning {
    int code; /* primary result code of SQLite */
    assay_status status;
    const char *remedy;
} meaning;

static const char locked_text[] = "the store is locked";
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

/* ---- who holds the lock ---- */

/* By the list of the system, as opening and closing the file would drop this process's own locks on
 * it.  0: not known, as where the list is not to be read or counts devices in another way. */
static long writer_of(const char *path)
{
    char line[256], want[64];
    struct stat info;
    long holder = 0;
    FILE *file = stat(path, &info) == 0 ? fopen("/proc/locks", "re") : NULL;

    if (file == NULL)
        return 0;
    (void)snprintf(want, sizeof want, "%02x:%02x:%llu", major(info.st_dev), minor(info.st_dev),
                   (unsigned long long)info.st_ino);
    while (holder == 0 && fgets(line, sizeof line, file) != NULL) {
        char mode[16] = "", where[64] = "";
        long pid = 0;
        /* "1: POSIX ADVISORY WRITE 4711 fe:00:12345 120 120"; "->" marks one that waits. */
        if (sscanf(line, "%*d: POSIX %*s %15s %ld %63s", mode, &pid, where) == 3 &&
            strcmp(mode, "WRITE") == 0 && strcmp(where, want) == 0 && pid > 0 && pid != getpid())
            holder = pid;
    }
    (void)fclose(file);
    return holder;
}

/* Whoever keeps the file for himself locks it; who writes in WAL mode locks the -shm. */
static assay_status fail_locked(const assay__handle *h, const char *path, const char *what)
{
    char shared[4096], who[64] = "another process";
    const int waited_s = assay__handle_patience_ms(h) / 1000;
    long holder = writer_of(path);

    if (holder == 0 && snprintf(shared, sizeof shared, "%s-shm", path) < (int)sizeof shared)
        holder = writer_of(shared);
    if (holder != 0)
        (void)snprintf(who, sizeof who, "process %ld", holder);
    return assay__fail(ASSAY_DB_LOCKED,
                       "%s: %s: the store is locked: %s holds it for over %d s; wait for it or end "
                       "it, then try again",
                       path, what, who, waited_s);
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
    if (status == ASSAY_DB_LOCKED)
        return fail_locked(h, path, what);
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
