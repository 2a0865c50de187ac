/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write.h -- what the files of the write half share. */
#ifndef ASSAY_DB_WRITE_H
#define ASSAY_DB_WRITE_H

#include "db/db_names.h"
#include "db/db_write.h"
#include "db/handle.h"

typedef struct assay__db_text {
    struct assay__db_text *next;
    char text[];
} assay__db_text;

struct assay__db {
    assay__handle handle;
    assay__db_text *found; /* owned: texts of the last find */
    char utc[32];          /* of utc_second */
    int64_t utc_second;
};

/* Puts are one transaction each unless a batch is open. */
assay_status assay__db_enter(assay__db *db);
/* Ends what enter began: commits on OK, else rolls back and keeps the status and its text. */
assay_status assay__db_leave(assay__db *db, assay_status status);

/* Now, as the store writes it: "2026-01-31T12:00:00.000Z".  Valid until the next call. */
const char *assay__db_now(assay__db *db);

/* Texts of a find live until the next find or close. */
void assay__db_forget(assay__db *db);
/* A copy of a column's text; NULL when out of memory. */
const char *assay__db_keep(assay__db *db, const char *text);

/* Hexadecimal digits of an XXH3-64; NULL for 0, which means not taken. */
const char *assay__db_hash_text(uint64_t hash, char buf[17]);
uint64_t assay__db_hash_parse(const char *text);

/* Statement tables, each ends with a NULL name. */
extern const assay__sql assay__sql_deployment[];
extern const assay__sql assay__sql_kernel[];
extern const assay__sql assay__sql_problem[];
extern const assay__sql assay__sql_sweep[];
extern const assay__sql assay__sql_measurement[];
extern const assay__sql assay__sql_visit[];
extern const assay__sql assay__sql_counter[];
extern const assay__sql assay__sql_accuracy[];
extern const assay__sql assay__sql_stability[];
extern const assay__sql assay__sql_quarantine[];
extern const assay__sql assay__sql_peak[];
extern const assay__sql assay__sql_transfer[];
extern const assay__sql assay__sql_route[];

#endif
