/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_ingest.c -- `assay bench`: what merge and import do, into a store that is thrown away.
 *
 * A pair is a measurement and its accuracy. A round is ROUND pairs in transactions of BATCH, into
 * a store that grows from round to round; a sample is the rate of a round. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_fill.h"
#include "cli/bench_rows.h"
#include "runtime/error.h"

#define ROUNDS 12
#define ROUND  2000
#define BATCH  1000

/* The first `first` pairs are there already. */
static assay_status put_round(const assay__bench_fill *f, int64_t first)
{
    int64_t problem = 0, id = 0;

    for (int64_t i = first; i < first + ROUND; i++) {
        const int64_t revision = f->revisions[i % ASSAY__BENCH_REVISIONS];
        if (i % BATCH == 0)
            ASSAY_TRY(assay__db_begin(f->db));
        if (i % ASSAY__BENCH_REVISIONS == 0)
            ASSAY_TRY(assay__bench_fill_problem(f, i / ASSAY__BENCH_REVISIONS, &problem));
        ASSAY_TRY(assay__bench_fill_measurement(f, problem, revision, &id));
        ASSAY_TRY(assay__bench_fill_accuracy(f, problem, revision));
        if (i % BATCH == BATCH - 1)
            ASSAY_TRY(assay__db_commit(f->db));
    }
    return ASSAY_OK;
}

static assay_status take_rounds(const char *path, double *rates)
{
    assay__bench_fill f;
    assay_status status = assay__bench_fill_open(path, &f);

    for (int i = 0; status == ASSAY_OK && i < ROUNDS; i++) {
        const double start = assay__bench_now_ns();
        status = put_round(&f, (int64_t)i * ROUND);
        rates[i] = ROUND * 1e9 / (assay__bench_now_ns() - start);
    }
    assay__db_close(&f.db);
    return status;
}

assay_status assay__bench_ingest(const assay__bench_options *o, assay__bench_rows *r)
{
    const char *root = getenv("TMPDIR");
    char folder[4000], path[4100];
    double rates[ROUNDS];
    assay__bench_row *row = NULL;
    assay_status status;

    (void)o;
    (void)snprintf(folder, sizeof folder, "%s/assay-bench-XXXXXX",
                   root == NULL || root[0] == '\0' ? "/tmp" : root);
    if (mkdtemp(folder) == NULL)
        return assay__fail(ASSAY_IO, "cannot make the folder %s: %s; set TMPDIR", folder,
                           strerror(errno));
    (void)snprintf(path, sizeof path, "%s/bench.db", folder);
    status = take_rounds(path, rates);
    assay__bench_fill_remove(folder, path);
    if (status != ASSAY_OK)
        return status;
    ASSAY_TRY(assay__bench_add_median(r, "ingest, measurement + accuracy", "pairs/s", rates, ROUNDS,
                                      &row));
    row->floor = 30000.0;
    return ASSAY_OK;
}
