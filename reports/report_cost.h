/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_cost.h -- what the kernels cost: winners, rates, speed-ups, rejected candidates.
 *
 * docs/reports.md has the columns of the CSV, docs/json.md the keys of the JSON. */
#ifndef ASSAY_REPORTS_REPORT_COST_H
#define ASSAY_REPORTS_REPORT_COST_H

#include <stdio.h>

#include "reports/cost_rows.h"
#include "reports/report_page.h"
#include "reports/set_totals.h"

/* ops: all measured problems, op by op; sets: shape sets. */
typedef struct assay__cost_totals {
    assay__set_totals ops, sets;
} assay__cost_totals;

/* All cases, for people.  Charts in HTML only. */
void assay__cost_page(assay__page *page, const assay__cost *cost, const assay__cost_totals *totals);
void assay__cost_charts(assay__page *page, const assay__cost *cost,
                        const assay__report_place *place);
/* One row a candidate. */
assay_status assay__cost_csv(const assay__cost *cost, FILE *file);
assay_status assay__cost_json(const assay__cost *cost, const assay__cost_totals *totals,
                              FILE *file);

/* Weighted times of shape sets.  place NULL: of sets that were measured nowhere. */
bool assay__cost_has_sets(const assay__set_totals *sets, const assay__report_place *place);
void assay__cost_sets_page(assay__page *page, const assay__set_totals *sets,
                           const assay__report_place *place);
/* One row a set, and one an op of it. */
assay_status assay__cost_sets_csv(const assay__set_totals *sets, FILE *file);
/* The elements of a list. */
assay_status assay__cost_sets_json(const assay__set_totals *sets, FILE *file);

/* Where which backend wins and what picking gains over each; rows of a place. */
void assay__cost_rivals_page(assay__page *page, const assay__set_totals *ops,
                             const assay__set_totals *sets, const assay__report_place *place);
/* One row a rival of an op, then of a set and of an op of it. */
assay_status assay__cost_rivals_csv(const assay__set_totals *ops, const assay__set_totals *sets,
                                    FILE *file);
/* The elements of a list. */
assay_status assay__cost_rivals_json(const assay__set_totals *ops, const assay__set_totals *sets,
                                     FILE *file);

/* Is the case a result of this place, to be shown among its others? */
bool assay__cost_is_result(const assay__cost_case *c, const assay__report_place *place);

#endif
