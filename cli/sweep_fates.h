/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/sweep_fates.h -- variants that a sweep rejected, for the end of what it says. */
#ifndef ASSAY_CLI_SWEEP_FATES_H
#define ASSAY_CLI_SWEEP_FATES_H

#include <stdio.h>

#include "sweep/sweep.h"

#define ASSAY__FATES_SHOWN 40

/* Zeroed memory is an empty list. */
typedef struct assay__fate_list {
    struct assay__fate_line {
        char variant[320], problem[200], reason[208];
        const char *verdict;
        size_t problems; /* at which it had this verdict; the texts are of the first */
    } * lines;           /* owned */
    size_t count;
    size_t more; /* variants beyond those shown */
} assay__fate_list;

/* A list that is out of memory counts what it cannot show. */
void assay__fates_add(assay__fate_list *list, const assay__fate *fate);
/* A line a variant: what it did, why, at how many problems. */
void assay__fates_print(const assay__fate_list *list, FILE *file);
/* The same, an object a line, and one for how many more there are. */
void assay__fates_json(const assay__fate_list *list, FILE *file);
void assay__fates_clear(assay__fate_list *list);

#endif
