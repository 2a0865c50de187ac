/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/store_fixture.h -- a folder of its own and a small filled store for tests. */
#ifndef ASSAY_TESTS_STORE_FIXTURE_H
#define ASSAY_TESTS_STORE_FIXTURE_H

#include "db/db_write.h"

/* A new folder under $TMPDIR or /tmp; removed with all in it by store_folder_remove. */
void store_folder_make(char out[256]);
void store_folder_remove(const char *folder);
/* folder/name in a static buffer of four that take turns. */
const char *store_path(const char *folder, const char *name);

/* Rows that most tests need; ids of what store_rows put. */
typedef struct store_rows {
    int64_t deployment, sweep, revision, problem;
    char deployment_hex[ASSAY_DIGEST_HEX];
} store_rows;
void store_rows_put(assay__db *db, store_rows *out);
/* Variant `v` of kernel "k<kernel>", and matmul f32 of m = n = k = size. */
int64_t store_put_revision(assay__db *db, int kernel, int v);
int64_t store_put_problem(assay__db *db, int64_t size);
void store_variant_digest(int kernel, int v, assay_digest *out);

/* Filled with values that are right for the schema; change what the test is about. */
assay__db_measurement store_measurement(const store_rows *rows);
assay__db_accuracy store_accuracy(const store_rows *rows);
assay__db_visit store_visit(int64_t measurement, const double *samples, size_t count);
assay__db_route store_route(const store_rows *rows, const assay__route_candidate *candidates,
                            size_t count);
assay__route_candidate store_candidate(int64_t revision, double time_ns);

/* XXH3-64 of a file's bytes and size; 0 when it cannot be read. */
uint64_t store_file_digest(const char *path);

/* First column of the first row through a connection of its own. */
int64_t store_sql_int(const char *path, const char *sql);
void store_sql(const char *path, const char *sql);

#endif
