/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/db_write.h -- the write half of the store, for the tuner and the command line.
 *
 * One writer object a process; many processes may write one file (WAL, BEGIN IMMEDIATE, busy
 * timeout 20 s).  Every put below is one transaction or part of the batch that is open. */
#ifndef ASSAY_DB_DB_WRITE_H
#define ASSAY_DB_DB_WRITE_H

#include "runtime/store.h"

typedef struct assay__db assay__db;

/* Creates (safe under a race of 32 processes), migrates after a backup, or opens. */
assay_status assay__db_open(const char *path, assay__db **out);
/* For a rehearsal: a private copy, gone when it is closed; the file is not touched.  One that is
 * absent or has no bytes gives an empty store, an older one ASSAY_DB_OLDER. */
assay_status assay__db_open_copy(const char *path, assay__db **out);
void assay__db_close(assay__db **db);
const char *assay__db_path(const assay__db *db);
/* Groups puts into one transaction: one a finished variant. */
assay_status assay__db_begin(assay__db *db);
assay_status assay__db_commit(assay__db *db);
void assay__db_rollback(assay__db *db);

/* Upserts by content; out: row id. */
assay_status assay__db_put_deployment(assay__db *db, const assay_deployment *d, const char *label,
                                      int64_t *out);
typedef struct assay__db_kernel {
    const char *kernel, *backend, *op, *dtypes, *entry_point;
    int default_rank;
    assay_claims claims;
    assay_digest kernel_revision, variant_revision, claims_digest;
    const char *tunables;  /* canonical, sorted by name */
    const char *libraries; /* identity text, "" none */
    const char *compiler;
} assay__db_kernel;
assay_status assay__db_put_revision(assay__db *db, const assay__db_kernel *k, int64_t *out);
assay_status assay__db_put_problem(assay__db *db, const assay_problem *p, int64_t *out);

typedef struct assay__db_sweep {
    const char *profile, *settings_json, *argv_json;
    uint64_t seed;
} assay__db_sweep;
assay_status assay__db_begin_sweep(assay__db *db, const assay__db_sweep *s, int64_t *out);
/* aa_floor: gain that equals showed; NaN not measured. */
assay_status assay__db_end_sweep(assay__db *db, int64_t sweep, const char *stop_reason,
                                 double aa_floor);

/* Which row of a shape set a problem of a sweep is.  NULL texts are not said. */
typedef struct assay__db_use {
    int64_t sweep, problem;
    const char *shape_set, *row_name, *source;
    double run_count; /* runs in one run of the set's workload, >= 0 */
} assay__db_use;
/* The same row of the same sweep again replaces its count. */
assay_status assay__db_put_use(assay__db *db, const assay__db_use *u);

/* A measurement: all visits of one (revision, deployment, problem, layout, align, policy). */
typedef struct assay__db_measurement {
    int64_t sweep, revision, deployment, problem;
    const char *layout, *policy;
    uint32_t align;
    assay__verdict verdict;
    const char *reason;                             /* of the verdict; "" none */
    double median_ns, lo_ns, hi_ns, min_ns, mad_ns; /* NaN -> NULL */
    double ratio, ratio_lo, ratio_hi;               /* paired against the default */
    double ratio_level;                             /* of that interval, a share; NaN or 0: none */
    int64_t samples, visits, rejected_samples;
    const char *stop_reason;
    const char *flags; /* "bimodal drift" ..., "" none */
    uint64_t workspace_bytes;
    uint64_t output_digest; /* XXH3-64 of the output bits on input set `seed` */
} assay__db_measurement;
/* Replaces the summary of an existing row with the same key (history of visits is kept). */
assay_status assay__db_put_measurement(assay__db *db, const assay__db_measurement *m, int64_t *out);

typedef struct assay__db_visit {
    int64_t measurement;
    int64_t ordinal;
    const char *kind;      /* "screen", "measure", "confirm" */
    const double *samples; /* ns per call, in the order taken */
    size_t sample_count;
    int64_t inner;
    int64_t baseline_visit; /* visit id of the paired baseline; 0: none */
    double ratio;           /* paired with the baseline of the same visit; NaN: none */
    assay_clock_info clock;
    const char *context_json;  /* environment before and after */
    bool is_twin;              /* the default's stay as its own rival */
    const char *flags;         /* runtime/noise_words.h; NULL or "": nothing disturbed it */
    const char *rejected_json; /* samples left out of the time; NULL or "": none */
    const char *stop_reason;   /* NULL or "": not said */
} assay__db_visit;
assay_status assay__db_put_visit(assay__db *db, const assay__db_visit *v, int64_t *out);

/* One stay as the store has it; all borrowed for the call. */
typedef struct assay__db_stay {
    int64_t sweep, ordinal; /* the same two of a twin as of the default's time in its visit */
    const char *kind;
    bool is_twin;
    const double *samples; /* ns a call */
    size_t count;
    const char *rejected_json; /* samples left out of the time; "" none */
    const char *flags, *stop_reason;
} assay__db_stay;

/* The visits of one measurement by sweeps of `profile`, oldest first; of the confirming ones only
 * those that no route was decided with yet.  A status other than OK from `row` ends the walk and is
 * returned. */
assay_status assay__db_each_visit(assay__db *db, int64_t measurement, const char *profile,
                                  assay_status (*row)(void *cookie, const assay__db_stay *v),
                                  void *cookie);

/* A counter as a sweep found it. */
typedef struct assay__db_counter_source {
    const char *name, *unit;
    const char *source, *event; /* "" none */
    const char *reason;         /* why it cannot be read; "" it can */
} assay__db_counter_source;
assay_status assay__db_put_counter_source(assay__db *db, int64_t sweep,
                                          const assay__db_counter_source *c);
/* What it counted in a call: median, least and most of `passes` of so many calls. */
typedef struct assay__db_counter {
    const char *name;
    double value, lo, hi; /* >= 0 */
    int64_t passes, calls;
} assay__db_counter;
/* Replaces what an earlier sweep counted. */
assay_status assay__db_put_counter(assay__db *db, int64_t measurement, const assay__db_counter *c);

/* When a visit was stored, in seconds since 1970, and its samples in ns; borrowed for the call. */
typedef assay_status (*assay__db_newest_fn)(void *cookie, int64_t sweep, const char *kind,
                                            double utc_s, const double *samples, size_t count);
/* The newest of the store, at most so many, as far as they are of this deployment and profile. */
assay_status assay__db_newest_visits(assay__db *db, int64_t deployment, const char *profile,
                                     size_t most, assay__db_newest_fn row, void *cookie);

typedef struct assay__db_accuracy {
    int64_t sweep, revision, deployment, problem;
    const char *stratum; /* input set name, "all" for the union, "exhaustive" */
    uint64_t seed;
    assay_proof proof;
    int64_t elements;
    double max_ulp, max_err_ulp, mean_err_ulp, p50_err_ulp, p99_err_ulp, max_rel, max_abs;
    double max_rho, rms_rho, kappa, bound; /* NaN -> NULL */
    int64_t misrounded, nan_mismatch, inf_mismatch, zero_sign_mismatch, flushed;
    const char *histogram_json;
    int64_t worst_index;    /* -1 none */
    const char *worst_json; /* inputs (hex bits), expected, got */
    const char *reference;  /* kind and precision of the reference */
    uint64_t output_digest;
    int passed;
} assay__db_accuracy;
assay_status assay__db_put_accuracy(assay__db *db, const assay__db_accuracy *a, int64_t *out);
assay_status assay__db_put_stability(assay__db *db, int64_t revision, int64_t deployment,
                                     int64_t problem, assay_stability level,
                                     const char *evidence_json);
assay_status assay__db_put_quarantine(assay__db *db, int64_t revision, int64_t deployment,
                                      int64_t problem /* 0: all */, const char *reason);
assay_status assay__db_put_peak(assay__db *db, int64_t deployment, const char *name,
                                const char *unit, double value, double lo, double hi,
                                int64_t samples);
typedef struct assay__db_peak {
    const char *name, *unit; /* borrowed until the row function returns, as all texts here */
    double value, lo, hi;
    int64_t samples;
    double age_s;         /* since it was measured */
    const char *affinity; /* CPUs of the sweep that measured it; "" not known */
} assay__db_peak;
/* Stops at the first status that is not ASSAY_OK. */
assay_status assay__db_each_peak(assay__db *db, int64_t deployment,
                                 assay_status (*row)(void *cookie, const assay__db_peak *p),
                                 void *cookie);
/* How long moving so many bytes takes, of one path from a memory to another. */
typedef struct assay__db_transfer {
    const char *source, *target; /* as in assay__store_transfer; borrowed as those of a peak */
    int64_t size_bytes, samples;
    double median_ns, lo_ns, hi_ns; /* NaN -> NULL but the median */
    double age_s;                   /* the last two as of a peak; of an each alone */
    const char *affinity;
} assay__db_transfer;
/* Replaces all sizes of its source and target. */
assay_status assay__db_put_transfers(assay__db *db, int64_t deployment, const char *source,
                                     const char *target, const assay__db_transfer *sizes,
                                     size_t count);
/* By source, target and size.  Stops at the first status that is not ASSAY_OK. */
assay_status assay__db_each_transfer(assay__db *db, int64_t deployment,
                                     assay_status (*row)(void *cookie, const assay__db_transfer *t),
                                     void *cookie);
typedef struct assay__db_route {
    int64_t sweep, deployment, problem, winner_revision;
    const char *layout, *policy;
    uint32_t align;
    const assay__route_candidate *candidates;
    size_t candidate_count;
    int64_t searched, total;
    const char *stop_reason;
} assay__db_route;
/* Replaces the route of the same (deployment, problem, layout, align, policy); the old one is kept
 * as history. */
assay_status assay__db_put_route(assay__db *db, const assay__db_route *r);

/* For resume and incumbents. found: 0 or 1.  Texts in `out` live until the next find on this db. */
assay_status assay__db_find_measurement(assay__db *db, int64_t revision, int64_t deployment,
                                        int64_t problem, const char *layout, uint32_t align,
                                        const char *policy, int *found, assay__db_measurement *out,
                                        int64_t *id);
assay_status assay__db_find_accuracy(assay__db *db, int64_t revision, int64_t deployment,
                                     int64_t problem, int *found, assay__db_accuracy *out,
                                     int64_t *id);
typedef struct assay__db_known_route {
    int found;
    int64_t winner_revision; /* 0: none */
    char profile[32];
    double problem_s; /* that its sweep gave a problem; NaN: not said */
    char stop_reason[32];
} assay__db_known_route;
/* The current route for the key fields of `key`. */
assay_status assay__db_find_route(assay__db *db, const assay__db_route *key,
                                  assay__db_known_route *out);
/* Candidates of the current route for the key fields of `key`; none: count 0.  The caller frees. */
assay_status assay__db_route_candidates(assay__db *db, const assay__db_route *key,
                                        assay__route_candidate **out, size_t *count);
/* A current route of a problem (canonical text) with these dtypes; all borrowed for the call. */
typedef assay_status (*assay__db_alike_fn)(void *cookie, const char *problem,
                                           const assay__route_candidate *candidates, size_t count);
/* Of up to 5,000 of them, for the key fields of `key` but its problem. */
assay_status assay__db_each_route_alike(assay__db *db, const assay__db_route *key, const char *op,
                                        const char *dtypes, assay__db_alike_fn row, void *cookie);
/* What a revision row is. */
typedef struct assay__db_variant {
    char kernel[128], backend[64], op[64], dtypes[128];
    assay_digest kernel_revision, variant_revision;
} assay__db_variant;
assay_status assay__db_find_variant(assay__db *db, int64_t revision, int *found,
                                    assay__db_variant *out);
assay_status assay__db_find_quarantine(assay__db *db, int64_t revision, int64_t deployment,
                                       int64_t problem, int *found, char *reason, size_t cap);
/* Problems at which the variant is in quarantine since it crashed or hung, and whether it was
 * measured well at any. */
assay_status assay__db_count_failures(assay__db *db, int64_t revision, int64_t deployment,
                                      int64_t *failed, int *succeeded);
/* Is the variant in quarantine for a problem because its can_run_fn ended or hung who asked?  And
 * is any of the deployment? */
assay_status assay__db_asked_to_an_end(assay__db *db, const assay_digest *variant,
                                       int64_t deployment, const char *problem, int *found);
assay_status assay__db_any_asked_to_an_end(assay__db *db, int64_t deployment, int *found);
assay_status assay__db_find_stability(assay__db *db, int64_t revision, int64_t deployment,
                                      int64_t problem, int *found, assay_stability *out);
/* Takes a variant out of quarantine (problem 0: the entry for all problems). */
assay_status assay__db_lift_quarantine(assay__db *db, int64_t revision, int64_t deployment,
                                       int64_t problem);

#endif
