/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/open.c -- opening a store for reading: never creates, never writes a byte of it. */
#include <stdlib.h>
#include <time.h>

#include "db/read_store.h"
#include "runtime/error.h"

/* A file of no bytes is a store that another process makes right now, or one that lost all. */
#define EMPTY_TRIES   50
#define EMPTY_WAIT_NS 20000000L

static assay_status look(const char *path)
{
    assay__db_look seen = ASSAY__LOOK_MISSING;

    for (int i = 0; i < EMPTY_TRIES; i++) {
        ASSAY_TRY(assay__db_look_at(path, &seen));
        if (seen == ASSAY__LOOK_FULL)
            return ASSAY_OK;
        if (seen == ASSAY__LOOK_MISSING)
            return assay__fail(ASSAY_DB_MISSING,
                               "%s: store does not exist; `assay sweep --db FILE` makes one", path);
        nanosleep(&(struct timespec){.tv_nsec = EMPTY_WAIT_NS}, NULL);
    }
    return assay__fail(ASSAY_DB_DAMAGED,
                       "%s: store is damaged: the file is empty; restore a copy, or delete it",
                       path);
}

/* WAL needs shared memory beside the file.  Where that cannot be made the store is read without
 * locks, as nobody can write there. */
static bool cannot_share(assay__handle *h)
{
    int code = sqlite3_extended_errcode(h->sql);

    return (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY;
}

/* immutable=1 would miss what a -wal holds, and unix-none would create one that is not there. */
const char *assay__db_frozen_query(const char *path)
{
    return assay__file_mark(path, "-wal") != 0 ? "mode=ro&vfs=unix-none" : "mode=ro&immutable=1";
}

static assay_status open_frozen(assay__handle *h, const char *path)
{
    ASSAY_TRY(assay__handle_open(h, path, assay__db_frozen_query(path), SQLITE_OPEN_READONLY));
    h->frozen = true;
    h->mark = assay__handle_mark(h);
    assay_status status = assay__handle_exec(h, "PRAGMA locking_mode=EXCLUSIVE", "open");
    if (status == ASSAY_OK)
        status = assay__handle_identify(h);
    if (status != ASSAY_OK)
        assay__handle_close(h);
    return status;
}

assay_status assay__handle_open_read(assay__handle *h, const char *path)
{
    int64_t ignored = 0;

    ASSAY_TRY(look(path));
    ASSAY_TRY(assay__handle_open(h, path, "mode=ro", SQLITE_OPEN_READONLY));
    /* The first read is what opens the -wal and its shared memory. */
    assay_status status = assay__handle_int(h, "PRAGMA application_id", &ignored);
    if (status != ASSAY_OK && cannot_share(h)) {
        assay__handle_close(h);
        return open_frozen(h, path);
    }
    if (status == ASSAY_OK)
        status = assay__handle_identify(h);
    if (status != ASSAY_OK)
        assay__handle_close(h);
    return status;
}

static assay_status open_read(const char *path, assay__store **out)
{
    assay__store *store = calloc(1, sizeof *store);

    if (store == NULL)
        return assay__fail(ASSAY_NOMEM, "store: out of memory");
    assay_status status = assay__handle_open_read(&store->handle, path);
    if (status != ASSAY_OK)
        free(store);
    else
        *out = store;
    return status;
}

static void close_store(assay__store *store)
{
    if (store == NULL)
        return;
    assay__handle_close(&store->handle);
    free(store->candidates);
    free(store);
}

static assay_status schema_version(assay__store *store, int64_t *out)
{
    return assay__handle_int(&store->handle, "PRAGMA user_version", out);
}

static assay_status data_version(assay__store *store, int64_t *out)
{
    /* Without shared memory SQLite cannot see others' commits; the files can. */
    if (store->handle.frozen) {
        const bool is_gone = assay__file_mark(store->handle.path, "") == 0; /* as it was, then */
        *out = (int64_t)((is_gone ? store->handle.mark : assay__handle_mark(&store->handle)) >> 1);
        return ASSAY_OK;
    }
    return assay__handle_int(&store->handle, "PRAGMA data_version", out);
}

/* One that reads without locks has its own idea of the file; what others wrote since is seen by
 * opening it again, perhaps with locks by now. */
static assay_status open_again(assay__store *store)
{
    assay__handle fresh;

    ASSAY_TRY(assay__handle_open_read(&fresh, store->handle.path));
    assay__handle_close(&store->handle);
    store->handle = fresh;
    return ASSAY_OK;
}

static void end_snapshot(assay__store *store)
{
    /* Ending a read cannot lose anything; a failure leaves no transaction either. */
    (void)sqlite3_exec(store->handle.sql, "ROLLBACK", NULL, NULL, NULL);
}

static assay_status begin_snapshot(assay__store *store)
{
    if (store->handle.frozen && assay__handle_mark(&store->handle) != store->handle.mark)
        ASSAY_TRY(open_again(store));
    ASSAY_TRY(assay__handle_exec(&store->handle, "BEGIN", "begin snapshot"));
    /* A newer program may have migrated it since it was opened. */
    assay_status status = assay__handle_identify(&store->handle);
    if (status != ASSAY_OK)
        end_snapshot(store);
    return status;
}

const assay__store_ops *assay__store_sqlite(void)
{
    static const assay__store_ops ops = {
        .open_read = open_read,
        .close = close_store,
        .schema_version = schema_version,
        .data_version = data_version,
        .count_routes = assay__read_count_routes,
        .each_revision = assay__read_each_revision,
        .each_route = assay__read_each_route,
        .each_quarantine = assay__read_each_quarantine,
        .each_proof = assay__read_each_proof,
        .peak = assay__read_peak,
        .each_transfer = assay__read_each_transfer,
        .begin_snapshot = begin_snapshot,
        .end_snapshot = end_snapshot,
    };
    return &ops;
}
