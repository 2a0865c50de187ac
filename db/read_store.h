/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/read_store.h -- the queries behind runtime/store.h, and a handle opened for reading. */
#ifndef ASSAY_DB_READ_STORE_H
#define ASSAY_DB_READ_STORE_H

#include "db/handle.h"
#include "runtime/store.h"

struct assay__store {
    assay__handle handle;
    void *candidates; /* owned: SQLite's blobs are not aligned */
    size_t candidates_cap;
};

/* How a store is opened where no lock can be taken. */
const char *assay__db_frozen_query(const char *path);
/* DB_MISSING, DB_FOREIGN, DB_DAMAGED, DB_NEWER, DB_OLDER, DB_LOCKED; never creates or writes. */
assay_status assay__handle_open_read(assay__handle *h, const char *path);

extern const assay__sql assay__sql_read[]; /* ends with a NULL name */

assay_status assay__read_count_routes(assay__store *store, const char *deployment_hex, size_t *here,
                                      size_t *elsewhere);
assay_status assay__read_each_revision(assay__store *store, const char *deployment_hex,
                                       assay_status (*row)(void *cookie,
                                                           const assay__store_revision *r),
                                       void *cookie);
assay_status assay__read_each_route(assay__store *store, const char *deployment_hex,
                                    assay_status (*row)(void *cookie, const assay__store_route *r),
                                    void *cookie);
assay_status assay__read_each_quarantine(assay__store *store, const char *deployment_hex,
                                         assay_status (*row)(void *cookie,
                                                             const assay__store_quarantine *q),
                                         void *cookie);
assay_status assay__read_each_proof(assay__store *store, const char *deployment_hex,
                                    assay_status (*row)(void *cookie, const assay__store_proof *p),
                                    void *cookie);
assay_status assay__read_peak(assay__store *store, const char *deployment_hex, const char *name,
                              double *value);
assay_status assay__read_each_transfer(assay__store *store, const char *deployment_hex,
                                       assay_status (*row)(void *cookie,
                                                           const assay__store_transfer *t),
                                       void *cookie);

#endif
