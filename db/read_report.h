/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/read_report.h -- rows of a whole store for reports and `assay check`.
 *
 * A report holds one state of the store from open to close: the small tables in memory, the large
 * ones walked row by row in one pass (10^6 measurements with their errors in under 5 s).  Texts and
 * pointers in rows live until the report is closed unless said otherwise.  One thread. */
#ifndef ASSAY_DB_READ_REPORT_H
#define ASSAY_DB_READ_REPORT_H

#include "runtime/store.h"

/* NULL fields select all. */
typedef struct assay__report_filter {
    const char *deployment_hex;
    const char *op, *dtypes, *backend;
    const char *kernel; /* glob, as fnmatch */
} assay__report_filter;

typedef struct assay__report_deployment {
    int64_t id;
    const char *digest; /* 64 hexadecimal digits */
    const char *backend, *device, *architecture, *driver;
    const char *cpu_model, *isa, *os_class, *label; /* label: "" none */
    const char *first_seen_utc;
    const char *fingerprint; /* 64 hexadecimal digits; "": not taken */
    int64_t usable_cpus;
} assay__report_deployment;

typedef struct assay__report_revision {
    int64_t id;
    const char *backend, *kernel, *op, *dtypes, *tunables;
    const char *kernel_revision, *variant_revision; /* 64 hexadecimal digits */
    const char *libraries, *compiler;
    int64_t default_rank;
} assay__report_revision;

typedef struct assay__report_problem {
    int64_t id;
    const char *op, *dtypes, *text;
    double flops, moved_bytes; /* NaN: unknown */
} assay__report_problem;

/* The one accuracy row that speaks for a (deployment, revision, problem): a failure before what
 * passed, the union before its strata, the stronger proof, the later. */
typedef struct assay__report_error {
    int64_t id;
    double max_ulp, max_err_ulp, max_rel, max_abs, max_rho, bound; /* NaN: none */
    int64_t elements;
    uint32_t mismatches; /* NaN, infinity and sign of zero, cut at the type's end */
    uint8_t proof, passed;
} assay__report_error;

typedef struct assay__report_measurement {
    int64_t id;
    const assay__report_deployment *deployment;
    const assay__report_revision *revision;
    const assay__report_problem *problem;
    const assay__report_error *error; /* NULL: no evidence */
    const char *layout, *policy, *reason, *stop_reason, *flags, *measured_utc; /* for the call */
    uint32_t align;
    assay__verdict verdict;
    double median_ns, lo_ns, hi_ns, min_ns, mad_ns; /* NaN: none */
    double ratio, ratio_lo, ratio_hi, ratio_level;
    int64_t sweep, samples, visits, rejected_samples;
    uint64_t workspace_bytes;
} assay__report_measurement;

typedef struct assay__report_accuracy {
    int64_t id;
    const assay__report_deployment *deployment;
    const assay__report_revision *revision;
    const assay__report_problem *problem;
    const char *stratum, *histogram_json, *worst_json, *reference, *measured_utc; /* for the call */
    uint64_t seed;
    assay_proof proof;
    int passed;
    int64_t elements, misrounded, nan_mismatch, inf_mismatch, zero_sign_mismatch, flushed;
    int64_t worst_index; /* -1 none */
    double max_ulp, max_err_ulp, mean_err_ulp, p50_err_ulp, p99_err_ulp, max_rel, max_abs;
    double max_rho, rms_rho, kappa, bound; /* NaN: none */
} assay__report_accuracy;

typedef struct assay__report_route {
    int64_t id;
    const assay__report_deployment *deployment;
    const assay__report_problem *problem;
    const assay__report_revision *winner; /* NULL: nothing admissible */
    const char *layout, *policy, *stop_reason, *profile, *decided_utc; /* for the call */
    uint32_t align;
    int64_t sweep, searched, total;
    const assay__route_candidate *candidates; /* for the call */
    size_t candidate_count;
} assay__report_route;

typedef struct assay__report_visit {
    int64_t id, sweep, ordinal, inner;
    int64_t baseline_visit;                                                   /* 0: none */
    const char *kind, *clock_name, *clock_quality, *context_json, *taken_utc; /* for the call */
    const double *samples; /* ns per call, for the call */
    size_t sample_count;
    double ratio; /* NaN: none */
} assay__report_visit;

typedef struct assay__report_sweep {
    int64_t id;
    const char *profile, *settings_json, *argv_json, *started_utc; /* for the call */
    const char *ended_utc, *stop_reason;                           /* "": did not end */
    uint64_t seed;
    double aa_floor; /* share; NaN: not measured */
} assay__report_sweep;

/* Which row of a shape set a problem is.  Of the last sweep that named the problem in that set, so
 * that an edited set counts as it is now. */
typedef struct assay__report_use {
    const assay__report_problem *problem;
    const char *shape_set, *row_name, *source; /* for the call; "": not said */
    double run_count;
    int64_t sweep;
} assay__report_use;

typedef struct assay__report_peak {
    const assay__report_deployment *deployment;
    const char *name, *unit; /* for the call */
    double value, lo, hi;    /* lo, hi NaN: none */
    int64_t samples;
} assay__report_peak;

typedef struct assay__report_transfer {
    const assay__report_deployment *deployment;
    const char *source, *target; /* for the call; target: with the path at its end */
    int64_t size_bytes, samples;
    double median_ns, lo_ns, hi_ns; /* lo, hi NaN: none */
} assay__report_transfer;

/* What the contract of a kernel says: the latest one of each kernel. */
typedef struct assay__report_claim {
    const char *backend, *op, *dtypes, *kernel; /* for the call */
    double max_ulp, max_rho, max_rel, max_abs;  /* NaN: no claim */
    assay_stability stability;
} assay__report_claim;

typedef struct assay__report_stability {
    const assay__report_deployment *deployment;
    const assay__report_revision *revision;
    const assay__report_problem *problem;
    assay_stability level;
    /* Of its result and of that by another number of threads, where they differ; "": none seen. */
    const char *digest, *other_digest;
} assay__report_stability;

/* Visits of one measurement in one sweep. */
typedef struct assay__report_visit_counts {
    int64_t screen, measure, confirm;
} assay__report_visit_counts;

typedef struct assay__report assay__report;

/* filter NULL: everything.  The store must outlive the report and serve nothing else meanwhile. */
assay_status assay__report_open(assay__store *store, const assay__report_filter *filter,
                                assay__report **out);
void assay__report_close(assay__report **report);

/* NULL for an id that is not selected. */
const assay__report_deployment *assay__report_find_deployment(const assay__report *r, int64_t id);
const assay__report_revision *assay__report_find_revision(const assay__report *r, int64_t id);
const assay__report_problem *assay__report_find_problem(const assay__report *r, int64_t id);

/* Callbacks stop the walk by a status other than OK, which the walk returns. */
assay_status assay__report_each_deployment(
    assay__report *r, assay_status (*row)(void *, const assay__report_deployment *), void *cookie);
/* In the order of ids: of first measuring. */
assay_status assay__report_each_measurement(
    assay__report *r, assay_status (*row)(void *, const assay__report_measurement *), void *cookie);
assay_status assay__report_each_accuracy(
    assay__report *r, assay_status (*row)(void *, const assay__report_accuracy *), void *cookie);
/* Current routes. */
assay_status assay__report_each_route(assay__report *r,
                                      assay_status (*row)(void *, const assay__report_route *),
                                      void *cookie);
assay_status assay__report_each_sweep(assay__report *r,
                                      assay_status (*row)(void *, const assay__report_sweep *),
                                      void *cookie);
/* Set by set, then by problem and row name. */
assay_status assay__report_each_use(assay__report *r,
                                    assay_status (*row)(void *, const assay__report_use *),
                                    void *cookie);
assay_status assay__report_each_peak(assay__report *r,
                                     assay_status (*row)(void *, const assay__report_peak *),
                                     void *cookie);
assay_status assay__report_each_transfer(
    assay__report *r, assay_status (*row)(void *, const assay__report_transfer *), void *cookie);
/* All visits of one measurement, oldest first. */
assay_status assay__report_each_visit(assay__report *r, int64_t measurement,
                                      assay_status (*row)(void *, const assay__report_visit *),
                                      void *cookie);

/* All claims, the filter aside. */
assay_status assay__report_each_claim(assay__report *r,
                                      assay_status (*row)(void *, const assay__report_claim *),
                                      void *cookie);
assay_status assay__report_each_stability(
    assay__report *r, assay_status (*row)(void *, const assay__report_stability *), void *cookie);
/* Confirming visits of that sweep only; the others of all sweeps. */
assay_status assay__report_count_visits(assay__report *r, int64_t measurement, int64_t sweep,
                                        assay__report_visit_counts *out);

#endif
