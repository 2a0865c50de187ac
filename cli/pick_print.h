/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/pick_print.h -- an explanation of the picker as text and as JSON. */
#ifndef ASSAY_CLI_PICK_PRINT_H
#define ASSAY_CLI_PICK_PRINT_H

#include "assay/pick.h"
#include "support/json.h"

typedef struct assay__answer {
    assay_explanation *why;
    const char *device; /* borrowed */
    assay_pick_stats stats;
} assay__answer;

/* NULL: every kernel was rejected. */
const assay_candidate *assay__answer_chosen(const assay__answer *answer);
/* On standard error: that nobody may answer, and of each candidate why, one a line. */
void assay__answer_refusal(const assay__answer *answer);
/* How many variants were measured for this question and are not what they were, or not here. */
size_t assay__answer_stale(const assay__answer *answer);
/* schema "assay.pick/1"; NULL when out of memory. */
json_t *assay__answer_json(const assay__answer *answer);
/* To stdout; has_all: every candidate with its reason. */
assay_status assay__answer_print(const assay__answer *answer, bool has_all);

#endif
