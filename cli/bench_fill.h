/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_fill.h -- rows to fill a store with, for measuring the store: figures of no kernel, of
 * which only number and width matter. */
#ifndef ASSAY_CLI_BENCH_FILL_H
#define ASSAY_CLI_BENCH_FILL_H

#include "db/db_write.h"

#define ASSAY__BENCH_REVISIONS 50

typedef struct assay__bench_fill {
    assay__db *db; /* owned: assay__db_close */
    int64_t deployment, sweep;
    int64_t revisions[ASSAY__BENCH_REVISIONS];
    char deployment_hex[ASSAY_DIGEST_HEX];
} assay__bench_fill;

/* A new store with a deployment, a sweep and the revisions. */
assay_status assay__bench_fill_open(const char *path, assay__bench_fill *out);
/* The nth of many different problems of matmul f32. */
assay_status assay__bench_fill_problem(const assay__bench_fill *f, int64_t nth, int64_t *out);
/* Parts of a pair: measurement (its row to *out) and accuracy of a variant on a problem. */
assay_status assay__bench_fill_measurement(const assay__bench_fill *f, int64_t problem,
                                           int64_t revision, int64_t *out);
assay_status assay__bench_fill_accuracy(const assay__bench_fill *f, int64_t problem,
                                        int64_t revision);
/* Removes the store's files and its folder. */
void assay__bench_fill_remove(const char *folder, const char *path);

#endif
