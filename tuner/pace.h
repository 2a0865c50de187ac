/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/pace.h -- how long a sweep will still take, from how long its stays took so far.
 *
 * A stay is one candidate in one visit.  What its calls take is known or can be guessed before it
 * begins, from what the variant did elsewhere: a model.  Around the calls a stay takes time that
 * nobody knows before: processes, copies, comparisons.  So each kind of work is told by a line, the
 * model times a factor and so much more a piece, which follows from the pieces seen so far.  An
 * estimate that takes their mean is wrong by the ratio of what the problems cost, as long as the
 * light or the heavy ones come first. */
#ifndef ASSAY_TUNER_PACE_H
#define ASSAY_TUNER_PACE_H

#include <stdbool.h>
#include <stddef.h>

#include "tuner/profile.h"

/* The first two are stays; starting the process of a visit and the oracle's work for a problem are
 * pieces of their own. */
typedef enum assay__stay {
    ASSAY__STAY_SCREEN,
    ASSAY__STAY_VISIT,
    ASSAY__STAY_START,
    ASSAY__STAY_ORACLE,
    ASSAY__STAY_KINDS
} assay__stay;

/* So many pieces, and what the model says of all of them. */
typedef struct assay__load {
    size_t count;
    double model_s;
} assay__load;

/* What takes longer is timed once and has no lead-in: it matters little what it has to load, and it
 * is far behind, or its problem is large.  It has two untimed calls, as a first call may take long
 * for other reasons; none takes so long as the second of these that is not slow itself, or was held
 * up, which the timed call shows. */
#define ASSAY__ENDLESS_NS         40e6
#define ASSAY__ENDLESS_AT_ONCE_NS 300e6
/* Its untimed calls; 0: a call that takes call_ns is no such one. */
size_t assay__pace_endless_calls(double call_ns);

typedef struct assay__pace {
    double seconds[ASSAY__STAY_KINDS]; /* spent */
    size_t done[ASSAY__STAY_KINDS];
    assay__load left[ASSAY__STAY_KINDS];
    /* Of the pieces whose model is known: sums of 1, model, time, and their products. */
    double n[ASSAY__STAY_KINDS], m[ASSAY__STAY_KINDS], t[ASSAY__STAY_KINDS];
    double mm[ASSAY__STAY_KINDS], mt[ASSAY__STAY_KINDS];
} assay__pace;

/* Seconds that the calls of a stay take where one takes call_ns: warming up, and the spans that fit
 * the profile's budget. */
double assay__pace_stay_s(const assay__profile *f, bool is_screening, double call_ns);
/* Stays of a problem with so many candidates that lie ahead once it is screened, where nothing is
 * known of them: about half of the candidates outlive the screening, the default stays twice, and
 * two come to be confirmed. */
size_t assay__pace_visits(size_t candidates, size_t visits, size_t confirms);
/* What was planned of a kind turned out to be `is`. */
void assay__pace_correct(assay__pace *p, assay__stay kind, assay__load was, assay__load is);
/* One piece of which the model says so much (NaN: nothing) took so long; what is left of it is
 * corrected apart. */
void assay__pace_took(assay__pace *p, assay__stay kind, double model_s, double seconds);
/* Stays alone. */
size_t assay__pace_done(const assay__pace *p);
size_t assay__pace_total(const assay__pace *p);
/* s that a stay took so far; 0: none was seen. */
double assay__pace_mean_s(const assay__pace *p, assay__stay kind);
/* s that a load will take; of a kind that was not seen yet what is known of other stays holds. */
double assay__pace_expect_s(const assay__pace *p, assay__stay kind, assay__load load);
/* s; NaN until enough stays were seen to say. */
double assay__pace_eta_s(const assay__pace *p);

#endif
