/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/create.h -- makes a connection ready to write: creates or migrates the schema. */
#ifndef ASSAY_DB_CREATE_H
#define ASSAY_DB_CREATE_H

#include "db/handle.h"

/* Creates the schema in a file that holds nothing, migrates an older one after a backup, refuses
 * the rest; then sets WAL and synchronous NORMAL.  Safe when many processes do it at once. */
assay_status assay__db_make_ready(assay__handle *h);

/* Copies the store to the first free of FILE.vN.bak, FILE.vN.bak.1, ... (whole or not at all). */
assay_status assay__db_backup(assay__handle *h, int64_t version);

/* False, with errno: `name` is there, or cannot be given. */
bool assay__db_rename_new(const char *made, const char *name);

/* Inside a write transaction: from `version` to ASSAY__DB_VERSION. */
assay_status assay__db_migrate(assay__handle *h, int64_t version);

extern const char *const assay__db_views_sql;

#endif
