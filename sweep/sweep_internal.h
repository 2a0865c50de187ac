/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_internal.h -- state that the files of the sweep share. */
#ifndef ASSAY_SWEEP_SWEEP_INTERNAL_H
#define ASSAY_SWEEP_SWEEP_INTERNAL_H

#include "support/json.h"

#include "calibrate/accept.h"
#include "calibrate/error_stats.h"
#include "calibrate/inputs.h"
#include "db/db_write.h"
#include "runtime/doing.h"
#include "runtime/expr.h"
#include "runtime/plugin_set.h"
#include "runtime/roofline.h"
#include "support/rng.h"
#include "sweep/sweep.h"
#include "tuner/arena.h"
#include "tuner/environment.h"
#include "tuner/pace.h"
#include "tuner/verdict.h"
#include "tuner/worker_client.h"

#define SWEEP_SETS   3
#define SWEEP_VISITS 32 /* of one kind, at most */
/* The oracle's time for one input set. */
#define SWEEP_ORACLE_MS 600000
/* A group's timed calls, at most. */
#define SWEEP_GROUP_S 1800.0

#define SWEEP_MAX_CANDIDATES 512 /* of one problem, default and incumbent not counted */
#define SWEEP_ADDED          2   /* these two, where the choice of kernels leaves them out */
#define SWEEP_BACKENDS       256 /* their names */
#define SWEEP_MAX_REFUSED    16  /* plug-ins left out of one sweep */
#define SWEEP_MAX_RECORDS    (4 * SWEEP_MAX_CANDIDATES) /* of one route, of earlier sweeps too */

/* Stop reason of routes and sweeps that tried as many variants as they were allowed. */
#define SWEEP_BY_EVALUATIONS "evaluations"
#define SWEEP_LEAKS          "leaks " /* so begins a reason */

/* Stratum and seed under which what a run over all inputs of a type showed is stored. */
#define SWEEP_ALL_INPUTS      "exhaustive"
#define SWEEP_ALL_INPUTS_SEED 0

/* A binding that this host can run, as the worker told it. */
typedef struct sweep_kernel {
    const assay_kernel_desc *desc;
    const assay_manifest *manifest;
    assay_digest revision;
    char *libraries; /* owned */
    bool available;
    bool told;       /* that it competes as the default, though it was not asked for */
    unsigned faults; /* problems at which its can_run_fn ended or hung the worker */
} sweep_kernel;

/* What a kernel says of the variants that threads and its constraint let through, in order. */
typedef struct sweep_answers {
    sweep_kernel *kernel;
    bool single;   /* one variant alone was asked about: that of `values` */
    bool recalled; /* refused by the store, and not asked */
    bool *admits;
    size_t count;
    assay_status refused;               /* not OK: it ended or hung the worker */
    int64_t values[ASSAY_MAX_TUNABLES]; /* the defaults, for all to see when it is refused */
    char reason[200];
} sweep_answers;

/* Goes through the variants of a kernel that may be measured, their can_run_fn apart. */
typedef struct sweep_variants {
    const struct sweep *sweep;
    const assay_problem *problem;
    const assay_kernel_desc *desc;
    bool constrained, begun;
    assay__expr constraint;
    size_t at[ASSAY_MAX_TUNABLES];
    int64_t values[ASSAY_MAX_TUNABLES];
} sweep_variants;

typedef struct sweep_candidate {
    const sweep_kernel *kernel;
    const struct sweep_variant *variant; /* what of it is the same at every problem; borrowed */
    int64_t tunables[ASSAY_MAX_TUNABLES];
    char tunables_text[200]; /* canonical */
    assay_digest revision;   /* of the variant */
    int64_t revision_row;
    int64_t measurement_row, accuracy_row; /* 0: none */
    bool is_default, is_incumbent;
    bool contender;      /* takes part in confirming visits */
    bool settled;        /* needs no more measuring visits: those that it had decided */
    bool on_front;       /* the fastest of all, or at an error that is smaller by far */
    bool out;            /* not measured any further: wrong, failed, or far behind */
    bool unasked;        /* out since its can_run_fn ended or hung the worker */
    bool unsearched;     /* out since the time of the problem went to others */
    bool by_evaluations; /* or the evaluations of the sweep */
    bool was_searched;   /* by the sweep whose route is finished */
    bool pardoned;       /* failed behind another, and not alone */
    bool on_trial;       /* in quarantine, and tried again */
    bool recalled;       /* its verdict was known before */
    unsigned suspicions; /* others failed behind it, and not alone */
    float leaked_bytes;  /* the most of any stay; 0: none leaked */
    int leaked_fds;
    bool checked;
    assay__verdict verdict;
    char reason[200];
    uint64_t digest;                           /* of the checked output on set 0 */
    uint64_t digests[SWEEP_SETS];              /* of all sets; 0: not checked by this process */
    bool stable;                               /* same bits in every visit so far */
    double max_ulp, max_rho, max_rel, max_abs; /* NaN none */
    assay_proof proof;
    uint64_t elements; /* behind these figures, when the proof is not exhaustive */
    const struct sweep_exhaust *exhaust; /* its run over all inputs; NULL: none */
    double run_ns;                       /* the longest call of its check; 0: not seen today */
    double screen_ns;
    double seen_ns;     /* its time in a finished route, which is not measured again; 0: none */
    double expected_ns; /* by its rate at a similar problem; 0: not known */
    bool expected_near; /* at two that are very similar */
    size_t visit_count;
    size_t noted;                   /* visits whose noise is booked */
    double visit_ns[SWEEP_VISITS];  /* median of a visit */
    size_t twin_count;              /* visits in which the default stayed as its own rival, too */
    double twin_logs[SWEEP_VISITS]; /* that time over its own in the visit, logarithm */
    double twin_ns;                 /* that time of the visit under way; 0: none yet */
    bool has_time;                  /* of its own, from the visit under way */
    size_t confirm_count;
    double confirm_ns[SWEEP_VISITS];
    size_t sample_count; /* that its times are made of */
    size_t rejected;     /* others, which were left out, with their reasons */
    double core_speed;   /* the fastest clock that it was seen at; 0: not known */
    double device_mhz;   /* the same of the device's */
    unsigned noise;      /* runtime/noise_words.h; known when it is published */
    bool open_ratio;     /* against the default: the interval decides nothing */
    double min_ns;
    bool tied;
    bool slower;                      /* than the default, beyond doubt */
    double ratio, ratio_lo, ratio_hi; /* against the default; NaN none */
    double ratio_level;               /* confidence of that interval: the one it was judged at */
    double time_ns, lo_ns, hi_ns;
} sweep_candidate;

/* What is kept of a candidate before and after the turn of its problem. */
typedef struct sweep_brief {
    const struct sweep_variant *variant; /* borrowed */
    double seen_ns;                      /* screened today, or in a finished route; 0: not */
    double prior_ns;                     /* by its rate at a similar problem of the store; 0: ? */
    uint8_t verdict;
    bool is_default, is_incumbent, unasked, is_evaluated;
} sweep_brief;

/* The digest of an output that was compared, and what a device gives for it and what lies around it
 * (runtime/word_digest.h). */
enum { SWEEP_FARS = 16 };
typedef struct sweep_far {
    uint64_t digest, far;
} sweep_far;

typedef struct sweep_problem {
    assay_problem problem;
    char text[ASSAY_PROBLEM_TEXT_MAX];
    char layout[ASSAY_MAX_OPERANDS + 1];
    int64_t row;
    double weight;
    sweep_answers *answers; /* owned: of kernels with a can_run_fn, until candidates are made */
    size_t answer_count;
    sweep_candidate *candidates; /* owned; NULL: it rests, and has briefs */
    sweep_brief *briefs;         /* owned; NULL: it has not rested yet */
    size_t room;                 /* candidates that fit into the list while it grows */
    size_t count, total;         /* candidates; size of the whole space */
    size_t default_index;
    bool skip;               /* resumed whole, or nothing can run it */
    bool is_counted;         /* what the store knows of it is in the summary */
    bool is_lean;            /* checked on one input set, as more do not fit into memory */
    bool is_heavy;           /* to screen all variants takes longer than a problem may */
    double spent_s;          /* inside calls of its variants */
    double best_expected_ns; /* infinite: nothing is known */
    assay__input_plan in;
    assay__output_plan out;
    size_t sets;
    const char *stratum[SWEEP_SETS];
    int input_fd[SWEEP_SETS], wide_fd[SWEEP_SETS], output_fd;
    char *output;              /* mapped, guarded */
    size_t threads;            /* for comparing results */
    double compare_s;          /* spent on it */
    struct sweep_known *known; /* outputs compared already; owned */
    sweep_far far[SWEEP_FARS]; /* what a device's digest of some of them is */
    size_t far_count;
    /* Owned; NULL: every element is compared. */
    struct sweep_sampled *sampled[SWEEP_SETS];
    size_t chosen;   /* by the tie rule, before confirmation */
    bool has_choice; /* and contenders have been named */
    size_t leader;   /* the fastest by the same visits */
    size_t wanted;   /* visits of the kind at hand, for the next look; 0: none */
    assay__load planned[ASSAY__STAY_KINDS]; /* what the pace still counts with */
    bool is_rationed;                       /* evaluations are limited, to the allowance */
    size_t allowance;                       /* of further ones */
    bool is_published;                      /* finished but for what evaluations did not reach */
    bool screened;
    size_t screen_stays; /* today */
    double prior_far;    /* how unlike the problem of the store is whose rates the briefs have */
    size_t alike;        /* the most similar problem whose times were seen; none: beyond the last */
    double alike_far, planned_far; /* of the one that its plan rests on */
} sweep_problem;

typedef struct sweep_peak {
    char name[64], unit[16];
    double value, lo, hi;
    int64_t samples;
} sweep_peak;

typedef struct sweep {
    const assay__sweep_options *o; /* `own` */
    assay__sweep_options own;      /* with the budget of this place */
    assay__sweep_summary *summary;
    assay__db *db;
    assay__plugins *plugins;
    assay__plugin_refusal refused[SWEEP_MAX_REFUSED]; /* owned texts: plug-ins that end workers */
    size_t refused_count;
    assay__worker *asker;    /* has all plug-ins; NULL: none */
    assay__worker *loader;   /* copies memory while policy "busy" times; NULL: none */
    uint64_t load_bytes;     /* that it said to have copied */
    int any_asked_to_an_end; /* of the store: what was asked before need not end another worker */
    assay__doing fate;       /* what it was inside of when it died */
    sweep_candidate *served; /* the last one of the worker that visits; NULL: none */
    bool is_worker_spent;    /* little memory or few descriptors are left to it */
    bool is_shared;          /* it has served another problem before */
    bool is_tainted;         /* somebody was wrong in it, who may have written anywhere */
    assay__worker *shared;   /* between two problems of a round, on a device; NULL: none */
    char shared_backends[SWEEP_BACKENDS]; /* that it has loaded */
    bool shares_no_more;                  /* what ran in one problem was seen to bear on another */
    sweep_kernel *kernels;
    size_t kernel_count;
    const assay_manifest *place; /* of the device that is measured; NULL: the host */
    char lock_name[160];
    double device_bytes; /* memory of that device; 0: not told */
    assay_deployment deployment;
    char deployment_hex[65];
    int64_t deployment_row, sweep_row;
    sweep_problem *problems;
    size_t problem_count;
    unsigned cpus;
    double rotate_bytes;
    double memory_bytes; /* that may be used; NaN not known */
    int arena_fd; /* memory that workers rotate over, one after another; -1: they take their own */
    assay__environment environment;
    json_t *counters;     /* owned: names of those that can be counted; NULL: nobody asked */
    assay__roofline roof; /* of all cpus */
    sweep_peak *peaks;
    size_t peak_count;
    bool is_truncated;                 /* by evaluations */
    bool doubted_any, doubted_default; /* peaks were measured again because of one */
    char affinity[512];                /* "0-3,8" */
    struct {
        const char *kind;
        size_t ordinal;
    } visit;                               /* under way */
    const struct sweep_variant **variants; /* owned, by hash */
    size_t variant_count, variant_cap;
    struct sweep_exhaust *exhaust; /* owned: variants run over all inputs */
    size_t exhaust_count;
    assay_comparison *equals; /* owned: the default with itself, problems decided so far */
    size_t equal_count;
    double aa_floor; /* of this machine, from them; NaN: too few */
    double begin_s, timed_ns, checked_s;
    double around_s;               /* in requests for timed calls, but outside of these */
    double starts_s;               /* starting workers of visits, preparing them, and ending them */
    double phase_s[ASSAY__PHASES]; /* of around_s by the worker's word; judging, storing */
    double step_s;                 /* the last stay ended then */
    double noise_logs, noise_count; /* of a variant's visits over the ones before them */
    /* Screened times, and the least that the peaks allow for the same: sums. */
    double ratio_sum, ratio_least, ratio_count;
    double best_sum, best_least; /* of each problem's best */
    double least_ratio;          /* 0: none */
    assay__pace pace;
    assay__progress progress;
} sweep;

/* Of a monotonic clock; scripted: what the backends' clocks say that was spent in calls. */
double assay__sweep_now_s(const sweep *s);
/* The load of the policy, around the timed calls of a stay: nothing without one, else it runs when
 * these have returned, or has ended. */
bool assay__sweep_is_busy(const sweep *s);
void assay__sweep_load_text(const sweep *s, char *buf, size_t cap);
/* The profile, as stays under the policy's load need it: for requests, and for what they take. */
assay__profile assay__sweep_effort(const sweep *s);
assay_status assay__sweep_load_on(sweep *s);
assay_status assay__sweep_load_off(sweep *s);
assay_status assay__sweep_setup(sweep *s);
void assay__sweep_teardown(sweep *s);
/* Options of a worker with these backends (NULL: all), without plug-ins that were left out. */
assay__worker_options assay__sweep_worker_options(const sweep *s, const char *backends);
/* Loads and opens all plug-ins in a worker, which stays as the asker, and leaves out those whose
 * code ends or hangs it; *bindings is its reply. */
assay_status assay__sweep_try_plugins(sweep *s, json_t **bindings);
void assay__sweep_forget_refused(sweep *s);
/* Counts the places of the backends asked for that are here, takes the one of the options, and its
 * share of the budget; summary->is_absent: there is none by now. */
assay_status assay__sweep_find_place(sweep *s);
/* Its deployment and the name of its lock. */
assay_status assay__sweep_read_place(sweep *s);
/* For want of the device's memory, with assay_last_error() for a reason. */
assay_status assay__sweep_leave_problem(sweep *s, sweep_problem *p);
/* Is the backend asked for, or not left out, and of this place? */
bool assay__sweep_takes_part(const sweep *s, const assay_manifest *m);
/* Asks the can_run_fn of all kernels that may compete, with the store unlocked. */
assay_status assay__sweep_ask(sweep *s, sweep_problem *p);
assay_status assay__sweep_ask_one(sweep *s, const sweep_problem *p, sweep_kernel *k,
                                  const int64_t *values, bool *admitted);
void assay__sweep_forget_answers(sweep_problem *p);
/* NULL: the kernel has no can_run_fn. */
const sweep_answers *assay__sweep_answers_of(const sweep_problem *p, const sweep_kernel *k);
/* May it run with its tunables at their defaults?  These go to `values`. */
bool assay__sweep_default_admitted(const sweep *s, const sweep_problem *p, const sweep_kernel *k,
                                   int64_t *values);
assay_status assay__sweep_variants(const sweep *s, const sweep_problem *p, const sweep_kernel *k,
                                   sweep_variants *out);
bool assay__sweep_next_variant(sweep_variants *v);
/* Sets the values to the defaults; false: threads or the constraint do not let them through. */
bool assay__sweep_default_variant(sweep_variants *v);
/* By op, dtypes, backend, caps and can_run; is_wanted: by --kernel too, else as the default only.
 */
bool assay__sweep_may_compete(const sweep *s, const sweep_problem *p, const sweep_kernel *k,
                              bool *is_wanted);
/* What of a variant is the same at every problem; its row is put into the store. */
assay_status assay__sweep_variant(sweep *s, const sweep_kernel *k, const int64_t *values,
                                  const struct sweep_variant **out);
void assay__sweep_variants_clear(sweep *s);
assay_status assay__sweep_put_revision(sweep *s, const sweep_kernel *k, const int64_t *values,
                                       const assay_digest *revision, int64_t *row);
assay_status assay__sweep_tunables_format(const assay_kernel_desc *desc, const int64_t *values,
                                          char *buf, size_t cap);
/* A candidate of which nothing is known. */
assay_status assay__sweep_candidate_of(const struct sweep_variant *v, sweep_candidate *c);
/* Frees the candidates of a problem but for briefs; makes them again, with what the store knows. */
assay_status assay__sweep_rest(sweep_problem *p);
assay_status assay__sweep_wake(sweep *s, sweep_problem *p);
/* Of candidate i, whether its problem rests or not: its time today or in a finished route (0:
 * none, or wrong), and its variant's row. */
double assay__sweep_seen_ns(const sweep_problem *p, size_t i);
int64_t assay__sweep_revision_row(const sweep_problem *p, size_t i);
/* Of one of its candidates: op and dtypes are those of all. */
const assay_kernel_desc *assay__sweep_desc(const sweep_problem *p);
/* Candidates of one problem: bindings x tunables, minus constraints; rows put into the store. */
assay_status assay__sweep_candidates(sweep *s, sweep_problem *p);
/* The published winner among them, and which of them is the default. */
assay_status assay__sweep_incumbent(sweep *s, sweep_problem *p);
/* Both. */
assay_status assay__sweep_gather(sweep *s, sweep_problem *p);
/* Books a candidate that was never asked to an end, with all variants of its kernel. */
assay_status assay__sweep_refuse(sweep *s, sweep_problem *p, sweep_candidate *c);
/* Input files and expected results; released when the group is done. */
assay_status assay__sweep_inputs(sweep *s, sweep_problem *p);
void assay__sweep_release(sweep_problem *p);
assay_status assay__sweep_file(const char *name, uint64_t bytes, int *fd);
/* Expected results of a set where the oracle cannot compute all of them: of a sample, and of
 * projections.  Not sampled: nothing was done. */
assay_status assay__sweep_sample(sweep *s, sweep_problem *p, size_t set, assay__worker *worker,
                                 bool *is_sampled);
void assay__sweep_sample_clear(sweep_problem *p);
/* Elements of the set's output that are compared one by one, in the order of its expected results;
 * of a sample a copy (owned) of them stands for the output, and numbers in the sample for indices.
 */
size_t assay__sweep_compared(const sweep_problem *p, size_t set);
assay_status assay__sweep_sampled_output(const sweep_problem *p, size_t set, const void *y,
                                         void **out);
/* Those numbers to indices in the output. */
void assay__sweep_name_sampled(const sweep_problem *p, size_t set, assay_error_stats *stats,
                               assay_accept_counts *counts);
/* Judges all of an output by projections, unless its sample was wrong already.  Elements that turn
 * out wrong join the figures and counts, and `why` says where they stood out. */
assay_status assay__sweep_project(sweep *s, const sweep_problem *p, size_t set, const void *y,
                                  const assay_accept_spec *spec, assay_error_stats *stats,
                                  assay_accept_counts *counts, char *why, size_t cap);
/* What a check of so many elements was made with, for the store. */
void assay__sweep_reference(const sweep_problem *p, uint64_t elements, char *buf, size_t cap);
/* What expected results of a set take, and the work of computing them; NaN: not known. */
double assay__sweep_expected_bytes(const sweep *s, const sweep_problem *p);
double assay__sweep_expected_flops(const sweep *s, const sweep_problem *p);
/* Forgets the outputs compared so far; or those of whoever is out, and of the others what takes
 * much memory. */
void assay__sweep_forget(sweep_problem *p);
void assay__sweep_thin(sweep_problem *p);
/* Runs the candidate on every set in `w` and compares; sets verdict, digest, figures; stores. */
assay_status assay__sweep_check(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w);
/* Compares the output file with what this set gives: the second check after timing. */
assay_status assay__sweep_recheck(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w,
                                  size_t set);
/* Gives the pages of the arena back. */
void assay__sweep_empty_arena(const sweep *s);
/* Comma list of the backends whose candidates are still in; NULL: nobody is, or too many to tell.
 */
const char *assay__sweep_backends(const sweep_problem *p, char *buf, size_t cap);
/* A fresh worker with the problem prepared. */
assay_status assay__sweep_worker(sweep *s, sweep_problem *p, assay__worker **w);
/* The one that served the problem before in this round, or a fresh one. */
assay_status assay__sweep_join(sweep *s, sweep_problem *p, assay__worker **w);
/* Its visit is over: it ends, or waits for the next problem of the round. */
void assay__sweep_leave(sweep *s, const sweep_problem *p, assay__worker **w);
void assay__sweep_end_round(sweep *s);
/* c failed or was wrong in such a worker, as text says, and was right before or is so alone: who
 * did that nobody knows, and from now on all are fresh. */
void assay__sweep_share_no_more(sweep *s, const sweep_problem *p, const sweep_candidate *c,
                                const char *text);
json_t *assay__sweep_request(const char *cmd, const sweep_candidate *c);
/* How long one launch may take, and a stay. */
int assay__sweep_timeout_ms(const sweep *s);
int assay__sweep_time_limit_ms(const sweep *s, const sweep_candidate *c);
/* By which a stay of the visit under way stretches its spans. */
json_int_t assay__sweep_span_seed(const sweep *s, const sweep_problem *p, const sweep_candidate *c,
                                  const char *kind);
/* Is it what a kernel did, so that it is stored, and the sweep goes on? */
bool assay__sweep_is_fate(assay_status status);
/* A device had no memory for `c` in a worker where `before` (NULL: nobody) had run: books it of who
 * took it.  ASSAY_NOMEM: nobody did, the problem is too large for what others have left. */
assay_status assay__sweep_short(sweep *s, sweep_problem *p, sweep_candidate *c,
                                sweep_candidate *before, assay__worker **w, const char *kind);
/* Books such a status of a candidate, with the text of the last error.  Others pass through. */
assay_status assay__sweep_fate(sweep *s, sweep_problem *p, sweep_candidate *c, assay_status status);
/* A fresh worker with the problem prepared; that none comes up is nobody's fate. */
assay_status assay__sweep_fresh(sweep *s, sweep_problem *p, assay__worker **w);
/* Checks it, unless that was done, and lets it stay; books what it showed, but no fate. */
assay_status assay__sweep_attempt(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w,
                                  const char *kind);
/* Finds out who is to blame for the fate of `c` in a worker where `before` (NULL: nobody) had run,
 * and books it.  Who fails behind another is tried again alone; when he then does not, the other
 * is. */
assay_status assay__sweep_blame(sweep *s, sweep_problem *p, sweep_candidate *c,
                                sweep_candidate *before, assay__worker **w, const char *kind,
                                assay_status status);
/* c was wrong where `before` had run, which text says, and alone it is not.  *again: it is once
 * more behind him, and not behind itself, which is his fate then. */
assay_status assay__sweep_spoiled(sweep *s, sweep_problem *p, sweep_candidate *c,
                                  sweep_candidate *before, const char *text, bool *again);
/* Behind the last one of a worker nobody is checked any more: somebody who is right runs once
 * behind him, so that what he leaves behind is found in whatever order they came. */
assay_status assay__sweep_follow(sweep *s, sweep_problem *p, assay__worker **w);
/* Is the output of the first set that lies there wrong, and how? */
assay_status assay__sweep_is_wrong(sweep *s, sweep_problem *p, const sweep_candidate *c, char *why,
                                   size_t cap, bool *wrong);
/* May it be published in the default's place?  Not what leaves files open at every call: a process
 * that runs it can soon open none. */
bool assay__sweep_is_safe(const sweep_candidate *c);
/* One launch on an input set into the poisoned output. */
assay_status assay__sweep_run_set(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker *w,
                                  size_t set);
/* A launch and a stay of which nothing is booked. */
assay_status assay__sweep_rehearse(sweep *s, sweep_problem *p, sweep_candidate *c,
                                   assay__worker *w);
/* Why it has its verdict, and what it leaks, for the store. */
void assay__sweep_reason(const sweep_candidate *c, char *buf, size_t cap);
/* What a reply says of memory and descriptors that the kernel did not give back: a part of its
 * reason, a warning, and the end of the worker. */
void assay__sweep_note_leak(sweep *s, const sweep_problem *p, sweep_candidate *c,
                            const json_t *reply);
/* May the variant compete at a problem in a sweep that tries some again? */
bool assay__sweep_is_tried(const sweep *s, const assay_digest *variant,
                           const assay_problem *problem);
/* Takes those on trial that were right out of quarantine, within the open batch. */
assay_status assay__sweep_acquit(sweep *s, sweep_problem *p);
/* Tells of the variants that were rejected today. */
void assay__sweep_tell_fates(const sweep *s, const sweep_problem *p);
/* Memory that the kernels of a problem may take in a worker; 0: no limit. */
double assay__sweep_worker_bytes(const sweep *s, const sweep_problem *p);
/* kind: "screen", "measure", "confirm"; ordinal from 0 within the kind.  Times all candidates that
 * are in and have not had that visit yet, in random order, which every second visit turns round:
 * what comes first or later in a visit then has no part in a ratio.  The default of a "measure"
 * visit that all make stays once more, as its own rival, with a place of its own. */
assay_status assay__sweep_visit(sweep *s, sweep_problem *p, const char *kind, size_t ordinal);
/* Of the visit that begins the candidate has no time yet, and no twin. */
void assay__sweep_begin_twin(sweep_candidate *c);
/* Books the ratio of the two once the visit has both, as one of the newest `limit`. */
void assay__sweep_pair_twin(sweep_candidate *c, size_t limit);
/* Learns this machine's A/A floor from what the defaults of the problems begin to end showed
 * against themselves. */
assay_status assay__sweep_learn_floor(sweep *s, size_t begin, size_t end);
/* The op's headline figure of a candidate's error; NaN none. */
double assay__sweep_error(const sweep_problem *p, const sweep_candidate *c);
/* Sets on_front, by the visits so far. */
void assay__sweep_mark_front(sweep_problem *p);
/* Tie set and the contenders that confirming visits must show, or the measuring visits that are
 * `wanted` first. */
assay_status assay__sweep_choose(sweep *s, sweep_problem *p);
/* Logarithm of a time, by the visits that there are; NaN: not timed. */
double assay__sweep_log_time(const sweep_candidate *c);
/* What a problem without a choice is likely to take behind its measuring visits, in the mean. */
typedef struct sweep_prospect {
    double contenders;
    size_t confirms; /* visits of each */
    size_t looks;    /* measuring visits of those in doubt, three of them */
} sweep_prospect;
sweep_prospect assay__sweep_expect(const sweep *s, const sweep_problem *p);
/* The confirming visits that are `wanted` beyond those that were made. */
assay_status assay__sweep_doubt(sweep *s, sweep_problem *p);
assay_stability assay__sweep_stability(const sweep_candidate *c);
/* Stores it, and the bits of another number of threads where they are others: a claim that they are
 * not is refuted, with a warning. */
assay_status assay__sweep_put_stability(sweep *s, const sweep_problem *p, const sweep_candidate *c);
/* "f32,f32,f32" */
void assay__sweep_dtypes(const assay_kernel_desc *desc, char *buf, size_t cap);
/* Stores the route within the open batch. */
assay_status assay__sweep_put_route(sweep *s, sweep_problem *p, size_t winner);
/* Winner by the confirming visits, then measurements and the route into the store. */
assay_status assay__sweep_publish(sweep *s, sweep_problem *p);
/* Books what the store already knows: finished problems, quarantine, and with --resume visits. */
assay_status assay__sweep_recall(sweep *s, sweep_problem *p);
/* Of the candidates alone, and whether they are counted in the summary. */
assay_status assay__sweep_recall_candidates(sweep *s, sweep_problem *p, bool counts);
assay_status assay__sweep_put_measurement(sweep *s, sweep_problem *p, sweep_candidate *c);
/* Input sets that a problem is checked on. */
size_t assay__sweep_sets(const sweep *s, const sweep_problem *p);
/* What a problem's inputs and expected results take, and a group of problems may. */
double assay__sweep_bytes_held(const sweep *s, const sweep_problem *p);
double assay__sweep_group_bytes(const sweep *s);
/* Behind the last problem of the group that begins there. */
size_t assay__sweep_group_end(const sweep *s, size_t begin);
/* Is there time for so many stays beyond those that all problems get?  What was measured must come
 * to a decision within the budget. */
bool assay__sweep_affords(const sweep *s, size_t stays);
/* Of the problems begin to end-1: stays of those that want more than `from` visits.  What all get
 * is no matter of doubt. */
size_t assay__sweep_doubted_stays(const sweep *s, size_t begin, size_t end, size_t from);
/* Why this machine cannot check the problem; false: it can. */
bool assay__sweep_too_large(const sweep *s, const sweep_problem *p, char *reason, size_t cap);
/* Peaks from the store when they are fresh and a spot check agrees, else measured. */
assay_status assay__sweep_peaks(sweep *s);
/* May what was measured so long ago on these CPUs be recalled? */
bool assay__sweep_is_fresh(const sweep *s, double age_s, const char *affinity);
/* What it costs to move bytes between the memories of the backends at hand, unless the store knows;
 * after the peaks and within their time. */
assay_status assay__sweep_transfers(sweep *s);
/* Measures the peaks again and keeps the better of each. */
assay_status assay__sweep_peaks_again(sweep *s);
/* Without any peak yet, of the place that this sweep measures at. */
void assay__sweep_roof_init(sweep *s);
/* CPUs that this process may use, as a list of ranges. */
void assay__sweep_affinity(char *buf, size_t cap);
/* Is a time below what the machine can do?  `sets`: operand sets that were rotated over.  Before it
 * says yes the peaks are measured again, once, and once more when it is about the default. */
assay_status assay__sweep_below_floor(sweep *s, const sweep_problem *p, const sweep_candidate *c,
                                      double ns, double sets, bool *below);
/* Deals out the evaluations that are left, in the order of the problems, and leaves those that
 * they do not reach. */
void assay__sweep_ration(sweep *s);
/* Is there a problem to be measured, or a variant that may be tried? */
bool assay__sweep_has_work(const sweep *s);
/* Candidates that were or will be tried. */
size_t assay__sweep_tried(const sweep_problem *p);
/* May not all candidates that are still to be tried be tried? */
bool assay__sweep_is_short(const sweep_problem *p, size_t open);
/* Tells what the sweep would take. */
assay_status assay__sweep_forecast(sweep *s);
/* What the store knows of similar problems, for what lies ahead. */
assay_status assay__sweep_prior(sweep *s);
/* What a problem that rests takes where its calls take `factor` times what is expected; and what
 * that rests on: rates of a problem that is "near", "rates" of another, "peaks", "nominal" rates.
 */
assay_status assay__sweep_loads(const sweep *s, const sweep_problem *p, double factor,
                                assay__load *loads, const char **basis);
/* Peaks of the store, as far as they are fresh, with no check. */
assay_status assay__sweep_peaks_known(sweep *s);
/* Screening takes so much of a problem's time at most. */
#define ASSAY__SCREEN_SHARE (1.0 / 3.0)
/* Problems of one op are near whose sizes differ by a factor of four in all. */
#define ASSAY__NEAR 1.4
/* Seconds that a call takes at least, by this machine's peaks; NaN: not known. */
double assay__sweep_least_call_s(const sweep *s, const assay_problem *p);
/* The same at nominal rates: a matter of the problem alone. */
double assay__sweep_nominal_s(const assay_problem *p);
/* Flops, or bytes where there are none; NaN: not known. */
double assay__sweep_work(const assay_problem *p);
/* The same op and dtypes; how unlike two of them are. */
bool assay__sweep_is_alike(const assay_problem *a, const assay_problem *b);
double assay__sweep_distance(const assay_problem *a, const assay_problem *b);
/* Time that workloads spend in it for each second of measuring it. */
double assay__sweep_worth(const sweep *s, const sweep_problem *p);
/* Sorts the problems, most valuable first. */
assay_status assay__sweep_order(sweep *s);
/* What a problem may take. */
double assay__sweep_problem_s(const sweep *s);
/* Sets is_heavy and what is expected of the variants, by the peaks and by what they did at similar
 * problems, today or before. */
assay_status assay__sweep_weigh(const sweep *s, sweep_problem *p);
/* Why the problem is left alone: all visits of two variants take longer than a problem may, by far.
 */
bool assay__sweep_too_long(const sweep *s, const sweep_problem *p, char *reason, size_t cap);
/* Sorts indices of candidates by what is expected of them. */
assay_status assay__sweep_rank(const sweep *s, const sweep_problem *p, size_t *order, size_t n);
/* Leaves a candidate that is due to be screened out, with the reason, when the time for screening
 * does not suffice or it is hopelessly behind; false: it is to be screened. */
bool assay__sweep_pass_over(const sweep *s, const sweep_problem *p, sweep_candidate *c);
/* Candidates that were not left. */
size_t assay__sweep_searched(const sweep_problem *p);
/* Drops those whose visits do not fit what a heavy problem has left, the slowest first. */
assay_status assay__sweep_afford(const sweep *s, sweep_problem *p);
/* For more visits than all problems get. */
bool assay__sweep_has_time(const sweep *s, const sweep_problem *p);
/* Drops those that screening, and those that the measuring visits so far, show far behind. */
void assay__sweep_prune(const sweep *s, sweep_problem *p);
assay_status assay__sweep_race(sweep_problem *p);
/* Finds out, when asked to, what can be counted here, and stores it with the reasons. */
assay_status assay__sweep_find_counters(sweep *s);
/* Counts for those that were confirmed, before they are published. */
assay_status assay__sweep_count(sweep *s, sweep_problem *p);
/* Samples of a stay that are part of its time, in their order: all but those that rejected_json
 * ("" or NULL: none) names; *kept of them to out, which has room for n. */
assay_status assay__sweep_keep(const double *samples, size_t n, const char *rejected_json,
                               double *out, size_t *kept);
/* Sets noise, by all its visits, and the verdict "noisy" of those whose time is known less well
 * than asked for and which are neither faster nor slower than the default nor as fast. */
assay_status assay__sweep_judge_noise(sweep *s, sweep_problem *p);
/* Why no more was measured: a stable word. */
const char *assay__sweep_stop_word(const sweep *s, const sweep_candidate *c);
/* Median of visits with its interval. */
assay_status assay__sweep_interval(const double *visit_ns, size_t n, double *median, double *lo,
                                   double *hi);
/* 64 random bits of the sweep's seed that have this name.  What is drawn for one thing does not
 * depend on what was drawn before: a variant that fails, is retried or replaces its worker changes
 * the order and the spans of no other. */
uint64_t assay__sweep_draw(const sweep *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "backend/kernel{tunables}" */
void assay__sweep_name(const sweep_candidate *c, char *buf, size_t cap);
/* A line for the user. */
void assay__sweep_warn(sweep *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* ASSAY_INTERRUPTED, or ASSAY_TIMEOUT when the budget is spent. */
assay_status assay__sweep_check_stop(const sweep *s);
/* Figures of `stats` into the row, and the row into the store. */
assay_status assay__sweep_put_figures(sweep *s, assay__db_accuracy *row, assay_error_stats *stats,
                                      const assay_error_element *worst, int64_t *id);
/* Variants of a problem that are to be run over all inputs; how many of all the store does not
 * know. */
assay_status assay__sweep_exhaust_add(sweep *s, const sweep_problem *p);
assay_status assay__sweep_exhaust_plan(sweep *s, size_t *pending);
/* Runs them and stores the evidence. */
assay_status assay__sweep_exhaust(sweep *s);
/* Candidates that it shows wrong are out; it counts with the checks that came from the store. */
assay_status assay__sweep_exhaust_reject(sweep *s, sweep_problem *p);
void assay__sweep_exhaust_join(sweep_problem *p);
void assay__sweep_exhaust_clear(sweep *s);
/* The worst of a candidate's own check and of its run over all inputs. */
void assay__sweep_exhaust_merge(sweep_candidate *c);
/* A stay ended; a process that it needs has started; the oracle's results for a problem are there.
 */
assay_status assay__sweep_step(sweep *s, const char *phase, sweep_problem *p, sweep_candidate *c);
void assay__sweep_started(sweep *s, sweep_problem *p);
void assay__sweep_expected(sweep *s, sweep_problem *p);
/* Something else is done. */
void assay__sweep_phase(sweep *s, const char *phase);
/* What lies ahead of all problems, by what the store knows; again, now that p was screened. */
assay_status assay__sweep_plan(sweep *s);
assay_status assay__sweep_screened(sweep *s, sweep_problem *p);
/* Of one that was: its visits, then the confirming ones, then nothing. */
void assay__sweep_plan_visits(sweep *s, sweep_problem *p);
void assay__sweep_plan_confirms(sweep *s, sweep_problem *p);
void assay__sweep_plan_nothing(sweep *s, sweep_problem *p);

#endif
