/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/rival_pairs.h -- the picked kernel of each question beside the fastest variant of each
 * backend, paired inside visits.
 *
 * A backend's fastest variant is what somebody who used that library alone could have had at best,
 * so that picking is never flattered.  Where it was dropped after screening, the one screening
 * visit gives the ratio, without an interval; without a common visit there is no ratio. */
#ifndef ASSAY_REPORTS_RIVAL_PAIRS_H
#define ASSAY_REPORTS_RIVAL_PAIRS_H

#include "reports/cost_rows.h"

#define ASSAY__RIVAL_LEVEL 0.95 /* confidence of intervals */

typedef struct assay__rival_pair {
    const char *backend;     /* NULL: the default kernel */
    double gain;             /* its time over the picked one's; NaN: never in one visit */
    double gain_lo, gain_hi; /* NaN: fewer than two common visits */
} assay__rival_pair;

typedef struct assay__rival_pairs {
    assay__rival_pair *items; /* owned; case by case */
    size_t count;
    size_t *first; /* owned; of each case, and one behind the last */
} assay__rival_pairs;

/* Of cases with a pick that holds; the others have none.  Past the first 20,000 of these pairs have
 * no ratios, which would be an hour of reading. */
assay_status assay__rival_pairs_load(assay__cost *cost, assay__rival_pairs *out);
void assay__rival_pairs_clear(assay__rival_pairs *pairs);

#endif
