/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/reports.h -- the table of reports: add one = one row in reports.c + report_<name>.c. */
#ifndef ASSAY_REPORTS_REPORTS_H
#define ASSAY_REPORTS_REPORTS_H

#include "reports/report_set.h"

typedef enum assay__report_format {
    ASSAY__REPORT_HTML,
    ASSAY__REPORT_CSV,
    ASSAY__REPORT_JSON,
    ASSAY__REPORT_MD,
} assay__report_format;

/* NULL-terminated, in the order of the enumeration. */
extern const char *const assay__report_format_names[];
/* By name, else by the end of `path`, else Markdown; both may be NULL. */
assay__report_format assay__report_format_of(const char *name, const char *path);

/* NULL-terminated names of the reports. */
extern const char *const assay__report_names[];

/* Makes the whole report in memory (caller frees).  ASSAY_NOTFOUND: nothing measured; statuses of
 * opening a store; ASSAY_INVALID for an unknown report. */
assay_status assay__report_make(const char *name, const assay__report_options *options,
                                assay__report_format format, char **text, size_t *size);

#endif
