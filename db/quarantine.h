/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/quarantine.h -- what `assay quarantine` reads and lifts. */
#ifndef ASSAY_DB_QUARANTINE_H
#define ASSAY_DB_QUARANTINE_H

#include "db/db_write.h"

typedef struct assay__quarantine_entry {
    int64_t id;
    const char *deployment;                                /* digest; texts are for the call */
    const char *device;                                    /* as its driver calls it */
    const char *backend, *kernel, *op, *dtypes, *tunables; /* as in assay__db_kernel */
    assay_digest kernel_revision, variant_revision;
    const char *problem;    /* canonical text; "": all problems */
    assay__verdict verdict; /* that put it there; NONE: not known any more */
    const char *reason, *since_utc;
} assay__quarantine_entry;

/* All entries, oldest first.  A status other than OK from `row` ends the walk and is returned. */
assay_status assay__quarantine_each(assay__store *store,
                                    assay_status (*row)(void *cookie,
                                                        const assay__quarantine_entry *e),
                                    void *cookie);

/* Takes one entry out; found: it was there. */
assay_status assay__quarantine_lift(assay__db *db, int64_t id, int *found);

#endif
