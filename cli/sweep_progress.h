/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/sweep_progress.h -- what `assay sweep` prints of its course, and of a rehearsal. */
#ifndef ASSAY_CLI_SWEEP_PROGRESS_H
#define ASSAY_CLI_SWEEP_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

#include "support/json.h"
#include "sweep/sweep.h"

/* One line, without its end: text of at most so many columns (0: any), or an object of schema
 * assay.sweep.progress/1. */
void assay__progress_print(const assay__progress *p, bool is_json, size_t columns, FILE *to);
/* The whole sweep in one object of schema assay.sweep.summary/1, a line. */
void assay__summary_json(const assay__sweep_summary *s, FILE *to);

/* Prints a problem of a rehearsal, or keeps it: list, a JSON array, NULL: text. */
void assay__forecast_print(const assay__forecast *f, json_t *list, FILE *to);
/* And all of them; with a list (taken) one object of schema assay.sweep.plan/1. */
void assay__forecast_end(const assay__sweep_options *o, const assay__sweep_summary *s, json_t *list,
                         FILE *to);

#endif
