/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/report_load.h -- the small tables of a report in memory. */
#ifndef ASSAY_DB_REPORT_LOAD_H
#define ASSAY_DB_REPORT_LOAD_H

#include "db/read_report.h"
#include "db/read_store.h"

/* Text blocks, so that strings never move. */
typedef struct assay__report_text {
    struct assay__report_text *next;
    size_t used, cap;
    char bytes[];
} assay__report_text;

typedef struct assay__report_key { /* of an error: 0 deployment is a free slot */
    int64_t deployment, revision, problem;
} assay__report_key;

typedef struct assay__report_blob {
    double *at; /* owned: SQLite's blobs are not aligned */
    size_t cap;
} assay__report_blob;

struct assay__report {
    assay__store *store; /* borrowed */
    assay__report_filter filter;
    assay__report_text *text;              /* owned */
    assay__report_deployment *deployments; /* owned; by id, as the next two */
    assay__report_revision *revisions;     /* owned */
    assay__report_problem *problems;       /* owned */
    size_t deployment_count, revision_count, problem_count;
    assay__report_key *error_keys; /* owned; open addressing, a power of two */
    assay__report_error *errors;   /* owned; the same slots */
    size_t error_slots, error_count;
    assay__report_blob samples, candidates;
};

enum {
    ASSAY__REPORT_DEPLOYMENTS,
    ASSAY__REPORT_REVISIONS,
    ASSAY__REPORT_PROBLEMS,
    ASSAY__REPORT_ERRORS,
    ASSAY__REPORT_MEASUREMENTS,
    ASSAY__REPORT_ACCURACIES,
    ASSAY__REPORT_ROUTES,
    ASSAY__REPORT_SWEEPS,
    ASSAY__REPORT_PEAKS,
    ASSAY__REPORT_TRANSFERS,
    ASSAY__REPORT_USES,
    ASSAY__REPORT_VISITS
};

assay_status assay__report_query(assay__report *r, int which, assay__query *out);
/* NULL: none. */
const assay__report_error *assay__report_find_error(const assay__report *r,
                                                    const assay__report_key *key);
assay_status assay__report_load_errors(assay__report *r);

#endif
