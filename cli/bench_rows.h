/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_rows.h -- rows of `assay bench`: a figure, its spread, its peer of the same run, its
 * goal.
 *
 * The rows of a group come from one function each; cmd_bench.c says which groups run. */
#ifndef ASSAY_CLI_BENCH_ROWS_H
#define ASSAY_CLI_BENCH_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

/* Unknowns are NaN and n 0. */
typedef struct assay__bench_row {
    char what[80];
    const char *unit, *peer; /* peer NULL: none */
    double value, lo, hi;    /* lo..hi: what of the samples it is says the row's group */
    size_t n;                /* samples behind the value */
    double peer_value;
    double goal;      /* value is to be at most this */
    double floor;     /* value is to be at least this; with a goal, too, between the two */
    bool by_interval; /* judged by all of lo..hi: few trials or rounds show little */
} assay__bench_row;

typedef struct assay__bench_rows {
    assay__bench_row rows[512]; /* peaks of 128 CPUs are 210 */
    size_t count;
} assay__bench_rows;

typedef struct assay__bench_options {
    const char *db; /* NULL: no store */
    const char *plugin_path;
    const char *backends; /* comma list; NULL: all that are not explicit-only */
    uint64_t seed;
    size_t pairs; /* of the A/A group */
    bool is_quiet;
} assay__bench_options;

/* A new row without spread, peer and goals; a full set is an internal error that names the row. */
assay_status assay__bench_add(assay__bench_rows *r, const char *what, const char *unit,
                              double value, assay__bench_row **out);
/* The median of n samples with its 95 % interval. */
assay_status assay__bench_add_median(assay__bench_rows *r, const char *what, const char *unit,
                                     const double *samples, size_t n, assay__bench_row **out);
/* The 99th percentile of n >= 1000 samples, the same way. */
assay_status assay__bench_add_p99(assay__bench_rows *r, const char *what, const char *unit,
                                  const double *samples, size_t n, assay__bench_row **out);
/* found of n trials in percent with Wilson's 95 % interval (J. Am. Stat. Assoc. 22, 1927). */
assay_status assay__bench_add_rate(assay__bench_rows *r, const char *what, size_t found, size_t n,
                                   assay__bench_row **out);

/* "yes", "no"; "undecided" by an interval that holds the goal; "info" without a goal. */
const char *assay__bench_met(const assay__bench_row *row);

double assay__bench_now_ns(void);

assay_status assay__bench_opens(const assay__bench_options *o, assay__bench_rows *r);
assay_status assay__bench_picks(const assay__bench_options *o, assay__bench_rows *r);
assay_status assay__bench_starts(const assay__bench_options *o, assay__bench_rows *r);
assay_status assay__bench_ingest(const assay__bench_options *o, assay__bench_rows *r);
assay_status assay__bench_clock(const assay__bench_options *o, assay__bench_rows *r);
assay_status assay__bench_peaks(const assay__bench_options *o, assay__bench_rows *r);
assay_status assay__bench_stays(const assay__bench_options *o, assay__bench_rows *r);
assay_status assay__bench_devices(const assay__bench_options *o, assay__bench_rows *r);
assay_status assay__bench_twins(const assay__bench_options *o, assay__bench_rows *r);

#endif
