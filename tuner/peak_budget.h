/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peak_budget.h -- how the time of a peaks probe is shared out over what it has to measure.
 *
 * A unit is a loop on a number of threads.  Each gets an even share of the time that is left when
 * its turn comes, so that what one did not need is there for the rest, and what one took too long
 * is missing from all of them.  A unit that has no time left still makes one run: a peak that is
 * not measured leaves shares and floors unknown, one from a single run may only be too low. */
#ifndef ASSAY_TUNER_PEAK_BUDGET_H
#define ASSAY_TUNER_PEAK_BUDGET_H

#include <stddef.h>

typedef struct assay__peak_budget {
    double end_ns; /* on the clock of the units */
    size_t units;  /* that are still to come */
} assay__peak_budget;

typedef struct assay__peak_unit {
    double (*now_ns)(void *cookie);
    double (*run)(void *cookie, double work); /* ns that it took */
    void (*take)(void *cookie, double work, double ns);
    void *cookie;
    size_t runs;        /* that count, at most */
    double least, most; /* work of a run */
    double per_ns;      /* work that fits 1 ns, about; 0: found out by runs that do not count */
    double shortest_ns, longest_ns; /* of a run, where the work may be chosen */
} assay__peak_unit;

/* From the first of a team that began to the last that ended: who is released late has not begun
 * when others are at work, and a rate by his time alone would be too high. */
double assay__peak_elapsed(const double *begin_ns, const double *end_ns, size_t threads);

/* Measures the next unit. */
void assay__peak_spend(assay__peak_budget *budget, const assay__peak_unit *unit);

#endif
