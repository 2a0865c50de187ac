/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/check.h -- what `assay check` asks of a store: is it sound, what of it holds here. */
#ifndef ASSAY_DB_CHECK_H
#define ASSAY_DB_CHECK_H

#include "runtime/store.h"

/* quick_check, foreign keys, and that packed routes point at rows; at most `limit` findings are
 * told, `found` counts them.  OK with found > 0: readable but unsound.  DB_DAMAGED: not readable.
 */
assay_status assay__check_integrity(assay__store *store, size_t limit,
                                    void (*finding)(void *cookie, const char *text), void *cookie,
                                    size_t *found);

typedef struct assay__check_counts {
    int64_t deployments, kernels, revisions, problems, sweeps, measurements, visits, accuracies;
    int64_t stabilities, quarantined, peaks, models, routes, routes_superseded, certificates;
    int64_t observations, sweep_problems;
    int64_t routes_noisy;     /* current ones whose winner's measurement is noisy */
    int64_t routes_disturbed; /* or was disturbed, docs/measurement.md; the noisy ones among them */
} assay__check_counts;
assay_status assay__check_count(assay__store *store, assay__check_counts *out);

/* A variant that this program could run now. */
typedef struct assay__check_variant {
    const char *backend, *op, *dtypes, *kernel, *tunables; /* as in assay__db_kernel */
    assay_digest variant_revision;
    int available; /* 0: its library or instruction set is absent */
} assay__check_variant;

typedef enum assay__check_state {
    ASSAY__CHECK_USABLE = 0,
    ASSAY__CHECK_STALE, /* the variant is here with another revision: code or library changed */
    ASSAY__CHECK_NO_VARIANT,  /* the kernel is here, this choice of tunables is not */
    ASSAY__CHECK_NO_KERNEL,   /* no such kernel here */
    ASSAY__CHECK_UNAVAILABLE, /* its library or instruction set is absent */
    ASSAY__CHECK_ELSEWHERE,   /* measured on another deployment */
    ASSAY__CHECK_STATES
} assay__check_state;
/* "usable", "stale: its code, compiler or libraries changed", ...  Constant. */
const char *assay__check_state_text(assay__check_state state);

typedef struct assay__check_revision { /* one stored revision measured on this deployment */
    int64_t id;
    const char *backend, *op, *dtypes, *kernel, *tunables; /* for the call */
    assay_digest variant_revision;
    assay__check_state state;
    int64_t measurements; /* on this deployment */
    int64_t routes;       /* current ones that it won here */
} assay__check_revision;

typedef struct assay__check_staleness {
    int64_t measurements[ASSAY__CHECK_STATES];
    int64_t routes[ASSAY__CHECK_STATES]; /* by the state of their winner */
    int64_t routes_without_winner;       /* on this deployment */
} assay__check_staleness;

/* Judges every revision that was measured on `deployment_hex` against the variants of this program,
 * scanning no big table.  row NULL: totals only. */
assay_status assay__check_stale(assay__store *store, const char *deployment_hex,
                                const assay__check_variant *variants, size_t variant_count,
                                void (*row)(void *cookie, const assay__check_revision *r),
                                void *cookie, assay__check_staleness *out);

/* What a published winner gave for the first input set when it was checked. */
typedef struct assay__check_result {
    int64_t route;
    const char *problem, *layout, *policy;                 /* for the call */
    const char *backend, *op, *dtypes, *kernel, *tunables; /* for the call */
    unsigned align;
    assay_digest kernel_revision, variant_revision;
    uint64_t seed;          /* of the inputs */
    uint64_t output_digest; /* assay__output_digest of the output; 0: not taken */
    double median_ns;       /* NaN: none */
    bool is_repeatable;     /* separate processes gave the same bits */
} assay__check_result;

/* Of every current route of the deployment that has a winner.  What `row` returns, if not OK, ends
 * it. */
assay_status assay__check_each_result(assay__store *store, const char *deployment_hex,
                                      assay_status (*row)(void *cookie,
                                                          const assay__check_result *r),
                                      void *cookie);

#endif
