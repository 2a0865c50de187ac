/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_precision.h -- how far results are off: errors, bounds, proofs, claims.
 *
 * docs/reports.md has the columns of the CSV, docs/json.md the keys of the JSON. */
#ifndef ASSAY_REPORTS_REPORT_PRECISION_H
#define ASSAY_REPORTS_REPORT_PRECISION_H

#include <stdio.h>

#include "reports/precision_rows.h"
#include "reports/report_page.h"

void assay__precision_page(assay__page *page, const assay__precision *precision);
/* One row a stratum. */
assay_status assay__precision_csv(const assay__precision *precision, FILE *file);
assay_status assay__precision_json(const assay__precision *precision, FILE *file);

/* "x = 0x3f80; got 0x3f81 (1.0078), expected 1" from the JSON of a worst element; other text as it
 * is. */
void assay__precision_worst_text(const char *json, assay__str *out);
/* One row a kernel: the worst of what passed. */
void assay__precision_summary(assay__page *page, const assay__precision *precision);
/* Histograms of the rows that err most, one a kernel. */
void assay__precision_charts(assay__page *page, const assay__precision *precision);
/* "<= 0.5", "(0.5, 1]", "(1, 2]", ... */
void assay__precision_bin_name(size_t bin, char *buf, size_t cap);

#endif
