/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_set.h -- what every report shares: which rows are asked for, which still hold. */
#ifndef ASSAY_REPORTS_REPORT_SET_H
#define ASSAY_REPORTS_REPORT_SET_H

#include <stdbool.h>

#include "db/read_report.h"
#include "reports/intern.h"
#include "runtime/roofline.h"
#include "support/str.h"

/* A kernel as this program has it now. */
typedef struct assay__report_kernel {
    const char *backend, *op, *dtypes, *kernel;
    const char *revision; /* 64 hexadecimal digits of the kernel's revision */
    const char *reason;   /* why it cannot run here; NULL: it can */
    assay_claims claims;
    bool is_explicit; /* of a backend that is only used when named: no rival of the others */
} assay__report_kernel;

typedef struct assay__report_options {
    const char *db_path;
    const assay__strlist *ops, *backends, *kernels; /* empty: all; kernels are globs */
    const char *dtype; /* NULL: all; "f32" stands for T, else a full tuple */
    const char *here;  /* digests of this machine's deployments, comma list; NULL: not known */
    const assay__report_kernel *current; /* NULL: not known, staleness is not judged */
    size_t current_count;
    bool by_set;   /* cost as CSV: a row a shape set, not a row a candidate */
    bool by_rival; /* the same: a row a backend of an op or a set */
} assay__report_options;

/* Does a row still hold?  Only the first two count as results; the others are shown apart. */
typedef enum assay__row_state {
    ASSAY__ROW_CURRENT,
    ASSAY__ROW_UNJUDGED,  /* measured here, but what this program has now is not known */
    ASSAY__ROW_STALE,     /* the kernel has another revision now */
    ASSAY__ROW_GONE,      /* no such kernel here */
    ASSAY__ROW_ELSEWHERE, /* another deployment */
} assay__row_state;
const char *assay__row_state_name(assay__row_state state);
bool assay__row_counts(assay__row_state state);

typedef struct assay__report_place { /* one deployment with its ceilings */
    const assay__report_deployment *deployment;
    bool is_here; /* or this machine is not known and it is the only one */
    assay__roofline roof;
} assay__report_place;

typedef struct assay__report_peak_row {
    const assay__report_deployment *deployment;
    const char *name, *unit;
    double value, lo, hi;
    int64_t samples;
} assay__report_peak_row;

typedef struct assay__report_transfer_row {
    const assay__report_deployment *deployment;
    const char *source, *target;
    int64_t size_bytes, samples;
    double median_ns, lo_ns, hi_ns;
} assay__report_transfer_row;

typedef struct assay__report_sweep_row {
    const char *profile, *started_utc, *ended_utc, *stop_reason;
    int64_t id;
    double aa_floor; /* share; NaN: not measured */
} assay__report_sweep_row;

typedef struct assay__report_set {
    const assay__report_options *options; /* borrowed */
    assay__store *store;                  /* owned */
    assay__report *report;                /* owned */
    assay__intern texts;
    assay__report_place *places; /* owned, by id */
    size_t place_count;
    assay__report_peak_row *peaks; /* owned */
    size_t peak_count;
    assay__report_transfer_row *transfers; /* owned */
    size_t transfer_count;
    assay__report_sweep_row *sweeps; /* owned */
    size_t sweep_count;
} assay__report_set;

/* Opens the store for reading and loads the small tables.  Statuses of assay__store_sqlite()'s
 * open_read. */
assay_status assay__report_set_open(const assay__report_options *options, assay__report_set *out);
void assay__report_set_close(assay__report_set *set);

const assay__report_place *assay__report_place_of(const assay__report_set *set,
                                                  const assay__report_deployment *deployment);
assay__row_state assay__report_state(const assay__report_set *set,
                                     const assay__report_deployment *deployment,
                                     const assay__report_revision *revision);
bool assay__report_wants_problem(const assay__report_set *set, const assay__report_problem *p);
bool assay__report_wants_revision(const assay__report_set *set, const assay__report_revision *r);

/* The word that the store writes: "ok", "wrong", ... */
const char *assay__report_verdict_name(assay__verdict verdict);
/* A copy that lives as long as the set; ASSAY_NOMEM. */
assay_status assay__report_keep(assay__report_set *set, const char *text, const char **out);
/* Room for one more element of `size` bytes; NULL when out of memory. */
void *assay__report_grow(void *array, size_t count, size_t size);

#endif
