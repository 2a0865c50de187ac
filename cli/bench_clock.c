/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_clock.c -- `assay bench`: is the clock that everything is timed by right?
 *
 * Two chains of dependent instructions, a multiplication (3 cycles) and an addition (1), each of
 * 2,048 to 32,768 links, are timed in turn.  Their times must lie on lines T = a + b N whose slopes
 * are as 3 to 1, whatever the clock of the core is, and whose a is what a reading costs.  A clock
 * that goes in steps, is bent or is called dearly shows there. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "cli/bench_rows.h"
#include "tuner/clock_proof.h"
#include "tuner/core_clock.h"
#include "tuner/stats.h"

#define BLOCKS  23
#define SAMPLES 87 /* of a block, chain and length: 2,001 in all */
#define LENGTHS 5
#define FIRST   2048u
#define CHAINS  2
#define STEPS   2000

static double length_of(size_t i)
{
    return (double)(FIRST << i);
}

/* Not the median: on machines of others something stops the longest chains more often than not, and
 * what stops them has no part in what the clock says of the rest. */
static assay_status low_decile(const double *samples, double *out)
{
    double *sorted;

    ASSAY_TRY(assay__stats_sorted(samples, SAMPLES, &sorted));
    *out = assay__stats_quantile(sorted, SAMPLES, 0.1);
    free(sorted);
    return ASSAY_OK;
}

/* All chains and lengths in turn, so that what the machine does meanwhile is done to all. */
/* lines: through the low deciles of a block. */
static assay_status time_block(assay__line lines[CHAINS])
{
    static double ns[CHAINS][LENGTHS][SAMPLES];
    double x[LENGTHS], y[LENGTHS];

    for (size_t s = 0; s < SAMPLES; s++)
        for (size_t l = 0; l < LENGTHS; l++)
            for (int c = 0; c < CHAINS; c++)
                ns[c][l][s] = (double)assay__chain_ns((assay__chain)c, FIRST << l);
    for (int c = 0; c < CHAINS; c++) {
        for (size_t l = 0; l < LENGTHS; l++) {
            x[l] = length_of(l);
            ASSAY_TRY(low_decile(ns[c][l], &y[l]));
        }
        lines[c] = assay__line_fit(x, y, LENGTHS);
    }
    return ASSAY_OK;
}

#if defined(__x86_64__)
static const double wanted_off_three = 0.02, wanted_off_line = 1e-4, wanted_off_reading = 30;
#else
/* How long a multiplication takes there is not known. */
static const double wanted_off_three = NAN, wanted_off_line = 1e-4, wanted_off_reading = 30;
#endif
#define READING_NS 30.0 /* 0 to 60 ns are right: two readings, less what overlaps */

static assay_status add_row(assay__bench_rows *r, const char *what, const char *unit,
                            const double *values, double goal)
{
    assay__bench_row *row = NULL;

    ASSAY_TRY(assay__bench_add_median(r, what, unit, values, BLOCKS, &row));
    row->goal = goal;
    return ASSAY_OK;
}

static assay_status add_chains(assay__bench_rows *r)
{
    double three[BLOCKS], off[BLOCKS], reading[BLOCKS], cycles[BLOCKS];

    for (size_t i = 0; i < BLOCKS; i++) {
        assay__line lines[CHAINS];
        ASSAY_TRY(time_block(lines));
        const assay__line *add = &lines[ASSAY__CHAIN_ADD],
                          *multiply = &lines[ASSAY__CHAIN_MULTIPLY];
        three[i] = fabs(multiply->slope / add->slope / 3 - 1);
        off[i] = fmax(add->off, multiply->off);
        reading[i] = fabs(add->at_zero - READING_NS);
        cycles[i] = 3 / multiply->slope;
    }
    ASSAY_TRY(add_row(r, "clock, chains: slopes off 3 to 1", "share", three, wanted_off_three));
    ASSAY_TRY(add_row(r, "clock, chains: off a line, 1 - R^2", "share", off, wanted_off_line));
    ASSAY_TRY(add_row(r, "clock, chains: no link, off 30 ns", "ns", reading, wanted_off_reading));
    return add_row(r, "clock, core", "cycle/ns", cycles, NAN);
}

static double read_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* What readings in a row are apart, those that are not 0. */
static assay_status add_steps(assay__bench_rows *r)
{
    static double steps[STEPS];
    assay__bench_row *row = NULL;
    size_t n = 0;

    while (n < STEPS) {
        const double begin = read_ns(), step = read_ns() - begin;
        if (step > 0)
            steps[n++] = step;
    }
    return assay__bench_add_median(r, "clock, from reading to reading", "ns", steps, STEPS, &row);
}

assay_status assay__bench_clock(const assay__bench_options *o, assay__bench_rows *r)
{
    (void)o;
    ASSAY_TRY(add_steps(r));
    return add_chains(r);
}
