/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/kernel_set.h -- what this machine offers: host, plug-ins, and the table made of them. */
#ifndef ASSAY_CLI_KERNEL_SET_H
#define ASSAY_CLI_KERNEL_SET_H

#include "runtime/plugin_set.h"
#include "support/common_args.h"

/* Comma list of deployments: the host's, and of the first device of each backend elsewhere that is
 * here. */
#define ASSAY__HERE_MAX (8 * ASSAY_DIGEST_HEX)

typedef struct assay__kernel_set {
    assay_deployment host; /* measurements of CPU kernels are valid here */
    char deployment[ASSAY_DIGEST_HEX];
    char here[ASSAY__HERE_MAX];
    assay__plugins *plugins;
    assay_table *table;
    const assay_snapshot *rows;
} assay__kernel_set;

/* plugin_path NULL: the default places; backends empty: all, else ASSAY_UNAVAILABLE when one is
 * not there.  On failure nothing is held. */
assay_status assay__kernel_set_open(const char *plugin_path, const assay__strlist *backends,
                                    assay__kernel_set *out);
/* Its `here` alone, of all plug-ins; their devices are opened for it. */
assay_status assay__deployments_here(const char *plugin_path, char here[ASSAY__HERE_MAX]);
void assay__kernel_set_close(assay__kernel_set *set);

/* For commands that load plug-ins later or not at all: ASSAY_UNAVAILABLE when what --plugins names
 * cannot be used.  NULL: nothing was named. */
assay_status assay__kernel_set_check(const char *plugin_path);

/* One warning a plug-in that cannot be used, and one when there is none at all. */
void assay__kernel_set_warn(const char *command, bool is_quiet, const assay__kernel_set *set);

/* Does the filter of --op, --dtype, --kernel let this row through?  A lone dtype stands for T. */
bool assay__kernel_wanted(const assay__common *common, const assay_binding *row);
/* ASSAY_INVALID or ASSAY_PARSE for an op or dtype that does not exist. */
assay_status assay__kernel_filter_check(const assay__common *common);

/* "f32,f32,f32" */
void assay__kernel_dtypes(const uint8_t *dtypes, size_t count, assay__str *out);
/* "threads=1|2|4 mr=6" */
void assay__kernel_tunables(const assay_kernel_desc *desc, assay__str *out);
/* False for an absent revision: a library that it depends on is not here. */
bool assay__kernel_has_revision(const assay_binding *row);
/* "absent", "none", "config", "machine", "anywhere" */
const char *assay__stability_name(unsigned stability);

#endif
