/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/verdict.h -- is this kernel faster than that one, and which of the equals is chosen.
 *
 * All decisions rest on log ratios paired inside a visit: what a visit does to the clock of the
 * machine divides out. One value a visit, at least five visits. Pure functions; any thread.
 *
 * The interval is Student's over visits or that of their trimmed mean, whichever is narrower
 * (log_interval.h). Order statistics need eight visits for 99 %, the signed ranks as many; both are
 * as wide as the farthest visit then. What stays undecided is looked at again after more visits,
 * ASSAY_LOOKS times in all, with a part of the error for each look. (The rates are asserted by
 * tests/unit/test_verdict.c over normal, heavy-tailed, contaminated, bimodal and drifting noise.)
 */
#ifndef ASSAY_TUNER_VERDICT_H
#define ASSAY_TUNER_VERDICT_H

#include "assay/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stored by number: append, never renumber. FASTER: the candidate is. */
#define ASSAY_VERDICT_MAP(X)     \
    X(UNDECIDED, 0, "undecided") \
    X(FASTER, 1, "faster")       \
    X(SLOWER, 2, "slower")       \
    X(TIE, 3, "tie")

typedef enum assay_verdict {
#define X(name, value, text) ASSAY_VERDICT_##name = (value),
    ASSAY_VERDICT_MAP(X)
#undef X
} assay_verdict;

const char *assay__verdict_name(assay_verdict verdict);

/* Why a comparison stayed undecided. Stored by number: append, never renumber. */
#define ASSAY_UNDECIDED_MAP(X)                                                        \
    X(NONE, 0, "decided")                                                             \
    X(FEW_VISITS, 1, "too few visits")                                                \
    X(BELOW_FLOOR, 2, "undecidable: the difference asked for is below the A/A floor") \
    X(WIDE, 3, "interval too wide for the difference asked for")

typedef enum assay_undecided {
#define X(name, value, text) ASSAY_UNDECIDED_##name = (value),
    ASSAY_UNDECIDED_MAP(X)
#undef X
} assay_undecided;

const char *assay__undecided_text(assay_undecided reason);

typedef struct assay_verdict_rule {
    double confidence;  /* of the interval of the ratio: 0.99 */
    double min_gain;    /* no smaller gain counts: 0.02 */
    double aa_floor;    /* this machine's floor, see assay__aa_floor_of; 0 = not measured */
    double target;      /* difference the caller wants found: 0.05; larger than min_gain */
    size_t min_visits;  /* >= 2; 5 */
    size_t comparisons; /* made in one decision, >= 1: the interval is widened for all to hold */
} assay_verdict_rule;

/* The defaults named above, one comparison, floor not measured. */
assay_verdict_rule assay__verdict_rule_default(void);

typedef struct assay_comparison {
    assay_verdict verdict;
    assay_undecided reason; /* NONE unless UNDECIDED */
    size_t visits;
    double ratio, lo, hi; /* time of candidate over time of baseline, and its interval */
    double threshold;     /* gain that had to be exceeded: max(min_gain, aa_floor) */
    bool has_interval;    /* false with one visit: lo = hi = ratio */
} assay_comparison;

/* log_ratios[v] = log(candidate time / baseline time) of visit v.
 * FASTER: hi < 1 and 1 / ratio - 1 > threshold. SLOWER: lo > 1 and ratio - 1 > threshold.
 * Otherwise TIE when the interval holds no difference of `target` or more, else UNDECIDED.
 * ASSAY_INVALID: no visit, a value that is NaN or beyond +-100, a rule out of range. */
assay_status assay__compare_paired(const double *log_ratios, size_t visits,
                                   const assay_verdict_rule *rule, assay_comparison *out);

#define ASSAY_LOOKS 4 /* at the visits of one comparison, before it is left undecided */

/* Visits that a look (0 .. ASSAY_LOOKS - 1) judges: `first`, half as many more, twice and three
 * times as many. */
#define ASSAY_LOOK_MOST(first) (3 * (first))
size_t assay__look_visits(size_t first, size_t look);

/* What a look is judged at so that all of them together keep `confidence`. */
double assay__look_confidence(double confidence, size_t look);

/* The same by looks: what is too wide after `first` visits is judged again when there are more, and
 * the first look that decides ends it, however many visits there are. *wanted: the visits that the
 * next look needs; 0: none would change this. With fewer visits than `first` these are judged. */
assay_status assay__compare_looks(const double *log_ratios, size_t visits, size_t first,
                                  const assay_verdict_rule *rule, assay_comparison *out,
                                  size_t *wanted);

/* Floor of this machine from pairs of a kernel with itself: the larger end of the interval of
 * the ratio, as a gain. The same errors as above; at least 2 visits. */
assay_status assay__aa_floor(const double *log_ratios, size_t visits, double confidence,
                             double *out);

#define ASSAY_AA_PAIRS 8 /* fewer pairs show no machine's floor */

/* Floor of this machine from many comparisons of a thing with itself, each made as a decision makes
 * it: of as many visits, with an interval of `confidence`.  Only what the intervals do not cover is
 * a floor: what visits scatter is in the interval of each comparison already, and asking for it
 * once more would hide gains that are certain.  So equals whose intervals exclude 1 no more often
 * than intervals of that confidence do by chance give 0.  Otherwise the visits of a comparison have
 * something in common that does not average out (order, placement, drift), and the floor is the
 * gain that those which exclude 1 stay below: the larger of the 99 % reach of their typical size
 * and of all of them but as many as chance alone explains, so that one wild pair sets nothing.
 * At least ASSAY_AA_PAIRS.  ASSAY_INVALID: fewer, or a ratio outside of its own interval. */
assay_status assay__aa_floor_of(const assay_comparison *equals, size_t count, double confidence,
                                double *out);

/* What the tie rule looks at. Unknown figures are NaN and lose against known ones. */
typedef struct assay_tie_entry {
    bool incumbent;
    uint32_t stability;      /* assay_stability: the larger, the more is promised */
    double error;            /* of the op's headline figure, smaller is better */
    double memory_bytes;     /* workspace */
    const char *kernel;      /* borrowed */
    const uint8_t *revision; /* borrowed, 32 bytes, variant revision */
} assay_tie_entry;

/* < 0 when `a` is to be preferred: incumbent, bit-stable, lower error, less memory, kernel name,
 * revision. 0 only for the same kernel name and revision. A strict weak order. */
int assay__tie_compare(const assay_tie_entry *a, const assay_tie_entry *b);

typedef struct assay_tie_set {
    size_t leader;  /* lowest mean log time */
    size_t chosen;  /* first of the set by the tie rule */
    size_t safe;    /* first of those in the set that do not seem slower than counts */
    size_t members; /* count, leader included */
    double gap; /* log ratio of the chosen to the leader; 0: it is the leader, or too few visits */
} assay_tie_set;

/* log_times[c * visits + v] = log of candidate c's time in visit v (all measured in each visit).
 * A candidate stays in the set unless it is SLOWER than the leader, at a level that holds for all
 * pairs together, because the leader is picked by the same data. A candidate's variance is taken
 * as at least that typical of all, so that a lucky streak of equal numbers expels nobody; of
 * twins whose noise differs (sd of its logarithm 0.5) up to 1 % are still expelled wrongly.
 * is_member: `count` flags, written. Times in the set are biased by the choice and must not be
 * published: measure the chosen one in fresh visits (assay__confirm). count <= 1,000,000. */
assay_status assay__tie_set_build(const double *log_times, size_t count, size_t visits,
                                  const assay_verdict_rule *rule, const assay_tie_entry *entries,
                                  bool *is_member, assay_tie_set *out);

typedef struct assay_confirmation {
    assay_comparison comparison;  /* challenger over incumbent */
    bool replaces;                /* only when FASTER */
    double time_ns, lo_ns, hi_ns; /* of the one that stands: median over visits, 95 % interval */
    double confidence;            /* achieved by lo_ns..hi_ns */
    size_t wanted;                /* visits for the next look; 0: none would change this */
} assay_confirmation;

/* Fresh visits of the challenger and the incumbent (default kernel), one positive time a visit
 * each, in ns, judged by looks that begin with `first` of them. Nothing that took part in the
 * choice may be passed here. */
assay_status assay__confirm(const double *challenger_ns, const double *incumbent_ns, size_t visits,
                            size_t first, const assay_verdict_rule *rule, assay_confirmation *out);

#endif
