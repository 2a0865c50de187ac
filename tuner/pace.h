/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/pace.h -- how long a sweep will still take, from how long its stays took so far.
 *
 * A stay is one candidate in one visit.  Those of the screening come with the oracle and a check of
 * the results, and so take another time than those of the visits after it; an estimate that throws
 * them together is wrong by the ratio of the two while only one kind was seen. */
#ifndef ASSAY_TUNER_PACE_H
#define ASSAY_TUNER_PACE_H

#include <stddef.h>

typedef enum assay__stay { ASSAY__STAY_SCREEN, ASSAY__STAY_VISIT, ASSAY__STAY_KINDS } assay__stay;

typedef struct assay__pace {
    double seconds[ASSAY__STAY_KINDS]; /* spent */
    size_t done[ASSAY__STAY_KINDS], left[ASSAY__STAY_KINDS];
} assay__pace;

/* Stays of a problem with so many candidates that lie ahead once it is screened: about half of
 * the candidates outlive the screening, the default stays twice, and two come to be confirmed. */
size_t assay__pace_visits(size_t candidates, size_t visits, size_t confirms);
/* What was planned of a kind turned out to be `is`. */
void assay__pace_correct(assay__pace *p, assay__stay kind, size_t was, size_t is);
/* One stay took so long. */
void assay__pace_took(assay__pace *p, assay__stay kind, double seconds);
size_t assay__pace_done(const assay__pace *p);
size_t assay__pace_total(const assay__pace *p);
/* s that a stay took so far; 0: none was seen. */
double assay__pace_mean_s(const assay__pace *p, assay__stay kind);
/* s; NaN until every kind that is left was seen often enough to say. */
double assay__pace_eta_s(const assay__pace *p);

#endif
