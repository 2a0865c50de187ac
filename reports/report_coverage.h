/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_coverage.h -- what was measured of all that there is.
 *
 * docs/reports.md has the columns of the CSV, docs/json.md the keys of the JSON. */
#ifndef ASSAY_REPORTS_REPORT_COVERAGE_H
#define ASSAY_REPORTS_REPORT_COVERAGE_H

#include <stdio.h>

#include "reports/coverage_rows.h"
#include "reports/report_page.h"

void assay__coverage_page(assay__page *page, const assay__coverage *coverage);
/* One row an op, dtype tuple and backend. */
assay_status assay__coverage_csv(const assay__coverage *coverage, FILE *file);
assay_status assay__coverage_json(const assay__coverage *coverage, FILE *file);

#endif
