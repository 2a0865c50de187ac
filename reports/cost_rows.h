/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/cost_rows.h -- measured questions with their candidates, as the cost report shows them.
 *
 * A case is one (deployment, problem, layout, align, policy): never rows of two deployments, nor
 * stale rows among current ones. */
#ifndef ASSAY_REPORTS_COST_ROWS_H
#define ASSAY_REPORTS_COST_ROWS_H

#include "reports/report_set.h"

typedef struct assay__cost_candidate {
    const assay__report_revision *revision;
    const char *reason, *flags, *stop_reason, *measured_utc; /* "": none */
    int64_t measurement, visits, samples, rejected_samples;
    double time_ns, lo_ns, hi_ns;                           /* median, 95 % interval; NaN: none */
    double ratio, ratio_lo, ratio_hi, ratio_level;          /* time over the default's, interval
                                                               with its confidence; NaN: none */
    double max_ulp, max_err_ulp, max_rho, max_rel, max_abs; /* NaN: no evidence */
    uint64_t workspace_bytes;
    uint32_t case_index;
    assay__verdict verdict;
    assay__row_state state;
    uint8_t proof; /* assay_proof */
    bool is_winner, is_tied, is_default;
    bool is_hidden; /* by --backend or --kernel */
} assay__cost_candidate;

typedef struct assay__cost_case {
    const assay__report_place *place;
    const assay__report_problem *problem;
    const char *layout, *policy;
    const char *profile, *stop_reason, *decided_utc; /* of the route; "": there is none */
    const assay__cost_candidate *winner;             /* NULL: nothing admissible, or no route */
    size_t first, count;                             /* of assay__cost.order */
    size_t ties, rejected, stale, shown;             /* candidates */
    int64_t searched, total;                         /* -1: there is no route */
    int64_t interval_visits;                         /* behind the winner's interval; 0: unknown */
    int64_t sweep;                                   /* that decided the route; 0: none */
    uint32_t align;
    assay__row_state state; /* of the winner, or of the best candidate */
    bool is_hidden;
    bool is_contraction;
    /* Of the winner; NaN: unknown. */
    bool is_compute; /* rate is FLOP/ns, else byte/ns */
    double rate, peak_rate, peak_share, intensity, flop_rate;
    double speedup, speedup_lo, speedup_hi, speedup_level; /* over the default kernel */
} assay__cost_case;

typedef struct assay__cost {
    assay__report_set set;
    assay__cost_candidate *candidates; /* owned, as they came */
    size_t candidate_count;
    assay__cost_case *cases; /* owned */
    size_t case_count;
    uint32_t *order; /* owned: candidates case by case, winner first, then by time */
    uint32_t *slots; /* owned: hash of cases, 0 free, else index + 1 */
    size_t slot_count;
    size_t lost_routes; /* routes whose measurements are not in the store */
} assay__cost;

/* ASSAY_NOTFOUND: nothing measured (that the filters let through). */
assay_status assay__cost_load(const assay__report_options *options, assay__cost *out);
void assay__cost_clear(assay__cost *cost);

/* i-th candidate of a case. */
const assay__cost_candidate *assay__cost_at(const assay__cost *cost, const assay__cost_case *c,
                                            size_t i);
/* Was it refused by a check, a crash or a limit: can it never be picked? */
bool assay__cost_is_rejected(const assay__cost_candidate *candidate);

#endif
