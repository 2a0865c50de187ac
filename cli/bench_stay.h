/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_stay.h -- what groups of `assay bench` share that time a kernel as a sweep does: one
 * problem, the kernel that a machine without measurements would run, and stays of it in workers. */
#ifndef ASSAY_CLI_BENCH_STAY_H
#define ASSAY_CLI_BENCH_STAY_H

#include "assay/op.h"
#include "assay/plugin.h"
#include "cli/bench_rows.h"
#include "support/rng.h"
#include "tuner/worker_client.h"

typedef struct assay__bench_stay {
    const char *plugin_path; /* borrowed */
    char text[ASSAY_PROBLEM_TEXT_MAX];
    char backend[24], kernel[64];
    int64_t tunables[ASSAY_MAX_TUNABLES];
    size_t tunable_count;
    size_t threads_at; /* place of the tunable "threads"; tunable_count: it has none */
    int fds[2];        /* inputs of N(0,1) by the seed, output; owned, -1: none */
    assay__rng rng;
} assay__bench_stay;

/* How long, and where its operands lie. */
typedef struct assay__bench_effort {
    assay_cache_mode cache;
    double rotate_bytes, warm_ns, span_ns, budget_ns;
    size_t spans;
} assay__bench_effort;

/* The kernel on one thread.  On failure, too, clear is to be called. */
assay_status assay__bench_stay_make(const assay__bench_options *o, const assay_problem *problem,
                                    assay__bench_stay *out);
void assay__bench_stay_clear(assay__bench_stay *s);
/* A fresh worker that has the problem; assay__worker_stop ends it. */
assay_status assay__bench_stay_worker(const assay__bench_stay *s, assay__worker **worker);
/* Median of the spans that nothing disturbed, ns a call; ASSAY_DEVICE: there is none. */
assay_status assay__bench_stay_time(assay__bench_stay *s, assay__worker *worker,
                                    const assay__bench_effort *effort, double *median_ns);

#endif
