/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/merge.h -- several stores as one, by content. */
#ifndef ASSAY_DB_MERGE_H
#define ASSAY_DB_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "assay/digest.h"

typedef struct assay__merged {
    int64_t deployments, measurements, visits, routes; /* in the new store */
    assay_digest content; /* of all rows; the same for the same stores in any order */
} assay__merged;

/* Makes the store `out`, which must not be there, of all rows of the others, which are only read.
 * Rows that say the same of the same are one.  Of two summaries of one measurement the newer holds,
 * of two routes of one question the later is current; but what was wrong once stays wrong, what is
 * in quarantine in one of them is in quarantine, and what was unstable stays so.
 * ASSAY_INVALID: `out` is there; ASSAY_DB_DAMAGED, beside what opening tells: rows of one point at
 * missing rows; ASSAY_DB_LOCKED: one that is read without locks changed meanwhile; ASSAY_DB_FULL:
 * which folder is.  What fails leaves no `out`. */
assay_status assay__db_merge(const char *out, const char *const *paths, size_t count,
                             assay__merged *merged);

#endif
