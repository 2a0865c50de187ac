/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep.h -- measure costs and check results: problems x kernels x variants on this host.
 *
 * Flow, per group of problems whose inputs fit in memory: oracle, screening visit (check, time,
 * check again), further visits by fresh workers in random order, decision, confirming visits,
 * publication of a route.  One transaction per finished variant and visit. */
#ifndef ASSAY_SWEEP_SWEEP_H
#define ASSAY_SWEEP_SWEEP_H

#include <stdbool.h>

#include "assay/pick.h"
#include "runtime/store.h"
#include "tuner/profile.h"
#include "tuner/shape_set.h"
#include "tuner/worker_phases.h"

typedef struct assay__progress {
    size_t problems_done, problems_total;
    size_t steps_done, steps_total; /* visits of variants */
    double elapsed_s, eta_s;        /* eta NaN: not known */
    const char *best;               /* kernel that leads at the problem so far; NULL: none */
    double best_ns;
    double noise;         /* by how much two visits of a variant differ, mean; 0.02: 2 %; NaN: ? */
    const char *phase;    /* "peaks", "exhaustive", "screen", "measure", "confirm" */
    const char *problem;  /* canonical text, "" none */
    size_t wrong, failed; /* variants so far */
} assay__progress;

/* One problem's outcome, for the terminal and JSON lines. */
typedef struct assay__outcome {
    const char *problem;
    const char *winner, *backend, *tunables; /* NULL: nothing is published */
    const char *why;                         /* nothing is; "" : no admissible variant */
    double time_ns, lo_ns, hi_ns;
    double flops, bytes, peak_share; /* NaN: unknown */
    bool compute_bound;
    double speedup, speedup_lo, speedup_hi; /* default's time over the winner's; NaN: none */
    double speedup_level;                   /* confidence of that interval; NaN: nothing compared */
    double max_ulp, max_rho;                /* NaN: none */
    bool is_exact;                          /* maxima over all inputs, else lower bounds */
    uint64_t elements;                      /* compared for them; 0 with is_exact */
    size_t ties, searched, total;
    size_t visits;
    const char
        *decision;     /* "alone", "tie", "undecidable": a gain of 3 % could have stayed hidden */
    double resolution; /* the least gain of those tied that the visits could show; NaN: ? */
    char noise[80];    /* what disturbed the winner's measurement, "noisy" first; "" nothing */
} assay__outcome;

/* What a rehearsal says of a problem. */
typedef struct assay__forecast {
    const char *problem;
    size_t variants, total; /* that would be tried or are known; that there are */
    double lo_s, hi_s;      /* of measuring it */
    const char *basis;      /* "rates" of a similar problem, "peaks", "nominal" rates */
} assay__forecast;

/* A variant that cannot be picked for a problem after this sweep, and why. */
typedef struct assay__fate {
    const char *problem, *backend, *kernel, *tunables;
    assay__verdict verdict;
    const char *reason;
} assay__fate;

/* A variant that gets another chance at a problem. */
typedef struct assay__sweep_trial {
    assay_digest variant;
    assay_problem problem;
} assay__sweep_trial;

/* These alone compete, each at its problem, with the default and the incumbent, and quarantine does
 * not keep them out there.  Who is right this time is taken out of it. */
typedef struct assay__sweep_retry {
    const assay__sweep_trial *trials;
    size_t count;
} assay__sweep_retry;

typedef struct assay__sweep_options {
    const char *db_path;
    const assay__shape_set *shapes;
    const assay__profile *profile;
    const char *plugin_path, *backends;
    size_t place; /* 0: the first device of these backends, assay__sweep_summary.places more */
    char *const *kernel_globs; /* a name must match one of them; none: all kernels */
    size_t kernel_glob_count;
    const char *layout; /* NULL: all c */
    unsigned align;     /* 64, 16, 0 */
    assay_policy policy;
    unsigned max_threads; /* 0: no limit */
    uint64_t seed;
    double sample_above_flops; /* larger products are compared in part; 0: 2 GFLOP */
    double run_timeout_ms;     /* of a launch; 0: the profile's */
    double budget_s;           /* of this place and those behind it, evenly; 0: none */
    size_t evaluations;        /* variants of problems tried at most, a place; 0: no limit */
    double problem_s;          /* of calls of a problem's variants; 0: the profile's */
    bool resume, dry_run, no_wait;
    bool strict;         /* samples in which the CPU was taken away are left out */
    bool counters;       /* count cycles and the like for those that may be published */
    bool probe_peaks;    /* also when the store has fresh ones */
    bool exhaustive;     /* f32 unary elementwise ops over all 2^32 inputs */
    double memory_bytes; /* that may be used; 0: as much as is free */
    bool scripted_clock; /* for tests: time passes in timed calls alone, as backends say */
    const assay__sweep_retry *retry; /* NULL: quarantine holds */
    const char *label;               /* NULL none */
    const char *argv_json;           /* for the record */
    const volatile int *stop;
    void (*progress)(void *cookie, const assay__progress *p);
    void (*outcome)(void *cookie, const assay__outcome *o);
    void (*forecast)(void *cookie, const assay__forecast *f); /* of a dry run, in order */
    void (*fate)(void *cookie, const assay__fate *f);         /* NULL: not told */
    void (*warn)(void *cookie, const char *text);
    void *cookie;
} assay__sweep_options;

typedef struct assay__sweep_summary {
    size_t places;    /* devices that these backends have between them; each takes a sweep */
    char device[128]; /* that was measured, as its driver calls it */
    bool is_absent;   /* nothing was done: the place that was asked for is gone */
    size_t problems, skipped_problems, resumed_problems;
    size_t variants, measured, wrong, crashed, timed_out, impossible, noisy, quarantined;
    size_t throttled, mistrusted;
    size_t routes;
    size_t exhausted;              /* variants run over all inputs of their type */
    double exhaust_s;              /* that took, without starting the workers */
    size_t judged_there;           /* of these, on the device that they ran on */
    double elapsed_s, timed_share; /* of the wall time without the three below: inside timed,
                                      warm-up and confirming calls */
    double checked_share;          /* of the same: inside calls whose results were checked */
    double around_share;           /* of the same: what timed calls need before and after them */
    double starts_share;           /* of the same: starting workers and ending them */
    double phase_share[ASSAY__PHASES]; /* of the same: what around_share is made of, as far as
                                          workers tell, and what the parent does between stays */
    size_t workers;                    /* of visits, that were started */
    double oracle_s;                   /* computing expected results */
    double compare_s;                  /* comparing what kernels gave with them */
    double peaks_s;    /* measuring what the machine can do at most, or checking that it holds */
    bool peaks_reused; /* from the store */
    double aa_floor;   /* gain that equals show here beyond their intervals; NaN: too few pairs */
    size_t aa_pairs;   /* of equals that it rests on */
    size_t peaks_doubted;          /* times they were measured again because a kernel was faster */
    size_t undecided;              /* problems that the sweep ended before, or did not reach */
    double lo_s, hi_s;             /* of a dry run: what the sweep would take */
    size_t reached_lo, reached_hi; /* and how many problems the budget would reach */
    size_t stays_known;   /* of this machine, which say what stays take beside their calls */
    char stop_reason[32]; /* "done", "budget", "evaluations", "interrupted" */
} assay__sweep_summary;

/* ASSAY_OK also when candidates were wrong; ASSAY_INTERRUPTED with all finished work stored. */
assay_status assay__sweep_run(const assay__sweep_options *options, assay__sweep_summary *out);

#endif
