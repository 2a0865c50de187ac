/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/create.c -- creates a store, or finds that it must be migrated. */
#include "db/create.h"

#include <stdio.h>
#include <time.h>

#include "gen/config.h"
#include "gen/schema_sql.h"
#include "gen/views_sql.h"
#include "runtime/error.h"

const char *const assay__db_views_sql = assay__views_sql;

/* Pages in the -wal before a commit moves them into the file: 4 MiB. */
#define CHECKPOINT_PAGES "512"

#define STRING_OF(x)       STRING_OF_INNER(x)
#define STRING_OF_INNER(x) #x

static assay_status create_schema(assay__handle *h)
{
    ASSAY_TRY(assay__handle_exec(h, assay__schema_sql, "create the schema"));
    ASSAY_TRY(assay__handle_exec(h, assay__views_sql, "create the views"));
    return assay__handle_exec(
        h,
        "PRAGMA application_id = " STRING_OF(
            ASSAY__DB_APPLICATION_ID) ";"
                                      "PRAGMA user_version = " STRING_OF(
                                          ASSAY__DB_VERSION) ";"
                                                             "INSERT INTO meta (name, value) VALUES"
                                                             " ('created_utc', "
                                                             "strftime('%Y-%m-%dT%H:%M:%fZ', "
                                                             "'now')),"
                                                             " ('created_by', 'assay " ASSAY_VERSION
                                                             "')",
        "create the schema");
}

/* Inside the write transaction: nobody else changes the file now. */
static assay_status create_or_migrate(assay__handle *h)
{
    int64_t objects = 0, application = 0, version = 0;

    ASSAY_TRY(assay__handle_int(h, "PRAGMA application_id", &application));
    ASSAY_TRY(assay__handle_int(h, "PRAGMA user_version", &version));
    ASSAY_TRY(assay__handle_int(h, "SELECT count(*) FROM sqlite_schema", &objects));
    if (application == 0 && version == 0 && objects == 0)
        return create_schema(h);
    assay_status status = assay__handle_identify(h);
    if (status != ASSAY_DB_OLDER)
        return status;
    ASSAY_TRY(assay__db_backup(h, version));
    return assay__db_migrate(h, version);
}

static assay_status make_schema(assay__handle *h)
{
    /* Holds only while the file is empty. */
    ASSAY_TRY(assay__handle_exec(h, "PRAGMA page_size = " STRING_OF(ASSAY__DB_PAGE_BYTES), "lock"));
    ASSAY_TRY(assay__handle_exec(h, "BEGIN IMMEDIATE", "lock"));
    assay_status status = create_or_migrate(h);
    if (status == ASSAY_OK)
        status = assay__handle_exec(h, "COMMIT", "create the schema");
    if (status != ASSAY_OK && !sqlite3_get_autocommit(h->sql))
        (void)sqlite3_exec(h->sql, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* The switch to WAL needs the file alone and does not wait for it; others that create or read the
 * same file are gone in milliseconds. */
static assay_status switch_to_wal(assay__handle *h)
{
    int code = SQLITE_BUSY;

    for (int waited_ms = 0; waited_ms <= ASSAY__DB_BUSY_MS; waited_ms += 5) {
        code = sqlite3_exec(h->sql, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if ((code & 0xff) != SQLITE_BUSY && (code & 0xff) != SQLITE_LOCKED)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 5000000L}, NULL);
    }
    return code == SQLITE_OK ? ASSAY_OK : assay__handle_fail(h, code, "switch to WAL");
}

static assay_status refuse_read_only(const assay__handle *h)
{
    if (sqlite3_db_readonly(h->sql, "main") != 1)
        return ASSAY_OK;
    return assay__fail(ASSAY_DB_READONLY,
                       "%s: store cannot be written; check the permissions of the file and of its "
                       "folder, and that the disk is not read-only",
                       h->path);
}

assay_status assay__db_make_ready(assay__handle *h)
{
    /* Most stores are complete: no write lock for them. */
    assay_status status = assay__handle_identify(h);

    if (status == ASSAY_DB_FOREIGN || status == ASSAY_DB_OLDER) {
        int64_t objects = 0;
        if (status == ASSAY_DB_FOREIGN) {
            ASSAY_TRY(assay__handle_int(h, "SELECT count(*) FROM sqlite_schema", &objects));
            if (objects > 0)
                return assay__handle_identify(h);
        }
        ASSAY_TRY(refuse_read_only(h));
        status = make_schema(h);
    }
    ASSAY_TRY(status);
    ASSAY_TRY(refuse_read_only(h));
    ASSAY_TRY(switch_to_wal(h));
    return assay__handle_exec(
        h, "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = " CHECKPOINT_PAGES, "open");
}
