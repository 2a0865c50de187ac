/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_sweep.h -- a store swept just now, so that what is timed is what production would
 * pick here. */
#ifndef ASSAY_BENCH_BENCH_SWEEP_H
#define ASSAY_BENCH_BENCH_SWEEP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "assay/pick.h"

#define BENCH_MUST(expr)                                                            \
    do {                                                                            \
        if ((expr) != ASSAY_OK) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, assay_last_error()); \
            exit(EXIT_FAILURE);                                                     \
        }                                                                           \
    } while (0)

typedef struct bench_store {
    char folder[64];
    assay_context *context;
} bench_store;

static inline const char *bench_build(void)
{
    const char *build = getenv("ASSAY_BUILD");

    return build != NULL ? build : "build";
}

static inline void bench_drop_folder(const char *folder)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "%s: cannot be removed\n", folder);
}

/* Sweeps the problems of the store's folder, anew where that was done before, and opens what it
 * decided.  Ends the program where that fails: without a pick there is nothing to time. */
static inline void bench_sweep_again(const char *profile, const char *policy, int threads,
                                     bench_store *out)
{
    char path[512], command[1024];
    const assay_open_options options = {.struct_size = sizeof options, .plugin_path = path};

    assay_close(&out->context);
    snprintf(command, sizeof command,
             "'%s/bin/assay' sweep --quiet --profile %s --policy %s --threads %d --shapes "
             "'%s/shapes.csv' --db '%s/store.db' >/dev/null",
             bench_build(), profile, policy, threads, out->folder, out->folder);
    if (system(command) != 0) {
        fprintf(stderr, "bench: this failed: %s\n", command);
        bench_drop_folder(out->folder);
        exit(EXIT_FAILURE);
    }
    snprintf(command, sizeof command, "%s/store.db", out->folder);
    snprintf(path, sizeof path, "%s/lib/assay", bench_build());
    BENCH_MUST(assay_open(command, &options, &out->context));
}

/* A new folder with the problems of `csv`, swept once. */
static inline void bench_sweep_by(const char *profile, const char *csv, const char *policy,
                                  int threads, bench_store *out)
{
    char path[512];

    *out = (bench_store){.folder = "/tmp/assay-bench-XXXXXX"};
    if (mkdtemp(out->folder) == NULL) {
        perror(out->folder);
        exit(EXIT_FAILURE);
    }
    snprintf(path, sizeof path, "%s/shapes.csv", out->folder);
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(csv, file) < 0 || fclose(file) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    bench_sweep_again(profile, policy, threads, out);
}

static inline void bench_sweep(const char *csv, const char *policy, int threads, bench_store *out)
{
    bench_sweep_by("quick", csv, policy, threads, out);
}

static inline void bench_store_close(bench_store *store)
{
    assay_close(&store->context);
    bench_drop_folder(store->folder);
}

/* What the store says, not a default. */
static inline void bench_pick(assay_context *context, const assay_question *question,
                              assay_route *out)
{
    BENCH_MUST(assay_pick(context, question, out));
    if (out->tier != ASSAY_TIER_MEASURED) {
        char text[256] = "";
        assay_problem_format(&question->problem, ASSAY_TEXT_COST, text, sizeof text);
        fprintf(stderr, "bench: the sweep decided nothing for %s\n", text);
        exit(EXIT_FAILURE);
    }
}

#endif
