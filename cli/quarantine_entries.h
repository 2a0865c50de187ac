/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/quarantine_entries.h -- the entries of a store's quarantine, and those that are meant. */
#ifndef ASSAY_CLI_QUARANTINE_ENTRIES_H
#define ASSAY_CLI_QUARANTINE_ENTRIES_H

#include "db/quarantine.h"
#include "support/common_args.h"

typedef struct assay__quarantine_row {
    assay__quarantine_entry entry; /* its texts are owned */
    bool is_here;                  /* entered on the host, or a device that is here */
    bool is_done;                  /* lifted, or right when it was tried again */
    const char *untried;           /* why it was not tried again; NULL: it was, or was not to be */
} assay__quarantine_row;

typedef struct assay__quarantine_rows {
    assay__quarantine_row *items; /* owned, oldest first */
    size_t count, cap;
    size_t kept_wrong; /* left out by assay__quarantine_select since they gave wrong results */
    char deployment[ASSAY_DIGEST_HEX]; /* of the host */
} assay__quarantine_rows;

typedef struct assay__quarantine_choice {
    const assay__common *common; /* backends, kernels, ops, dtype */
    const assay__strlist *ids;   /* empty: all */
    bool takes_elsewhere;        /* also entries of other deployments that no id names */
    bool takes_wrong;            /* also those of wrong results that no id names */
} assay__quarantine_choice;

/* All entries of the store at `path`, which is only read.  Zeroed memory is an empty list.
 * plugin_path: of the backends whose devices are looked for; NULL: the default places. */
assay_status assay__quarantine_load(const char *path, const char *plugin_path,
                                    assay__quarantine_rows *out);
/* Keeps those that are chosen.  ASSAY_INVALID for an id that is no number, ASSAY_NOTFOUND for one
 * that is not there. */
assay_status assay__quarantine_select(const assay__quarantine_choice *choice,
                                      assay__quarantine_rows *rows);
void assay__quarantine_clear(assay__quarantine_rows *rows);

/* "crashed", ...; "-" when it is not known. */
const char *assay__quarantine_verdict(const assay__quarantine_row *row);

#endif
