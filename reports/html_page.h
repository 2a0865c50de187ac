/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/html_page.h -- one offline HTML file: sections, tables with units, charts.
 *
 * Everything is inlined (styles, Chart.js with its licence) and a content security policy forbids
 * any request. All text is escaped here; callers pass plain UTF-8. An unknown (NaN, NULL) is shown
 * as a dash. Sticky like the string builder: one check, at assay__html_take.
 *
 * Size: a page stays under ASSAY__HTML_BUDGET bytes whatever is put in. Tables keep their first
 * ASSAY__HTML_TABLE_ROWS rows, dense scatter plots one point a cell; what was left out is counted
 * and said on the page. */
#ifndef ASSAY_REPORTS_HTML_PAGE_H
#define ASSAY_REPORTS_HTML_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"
#include "support/str.h"

#define ASSAY__HTML_BUDGET     ((size_t)4500000) /* the body; assets add 0.2 MB */
#define ASSAY__HTML_TABLE_ROWS 5000U
#define ASSAY__CHART_LABELS    60U
#define ASSAY__CHART_POINTS    2000U
#define ASSAY__CHART_SERIES    8U

typedef struct assay__html_table_state {
    size_t columns; /* 0: no table is open */
    size_t field;   /* cells put in the open row */
    size_t rows;    /* kept so far */
    size_t left_out;
    uint64_t numeric; /* bit per column: right-aligned */
    bool row_is_left_out, is_folded;
} assay__html_table_state;

typedef struct assay__html {
    assay__str body, nav;
    char *title;     /* owned */
    size_t head;     /* bytes of the body before the table of contents */
    size_t charts;   /* so far */
    size_t sections; /* so far */
    bool in_facts;
    assay__html_table_state table;
} assay__html;

/* `subtitle` may be NULL: what was measured, where and when. Clear the page on any failure. */
assay_status assay__html_begin(assay__html *page, const char *title, const char *subtitle);
void assay__html_clear(assay__html *page);

/* Ends the page and hands it over (caller frees); the page is cleared in every case. */
assay_status assay__html_take(assay__html *page, char **text, size_t *size);

/* A section with an entry in the table of contents; ends the one before. */
void assay__html_section(assay__html *page, const char *title);
/* A paragraph. */
__attribute__((format(printf, 2, 3))) void assay__html_text(assay__html *page, const char *format,
                                                            ...);
/* A paragraph that stands out: limits of the data, a quick profile, failed kernels. */
__attribute__((format(printf, 2, 3))) void assay__html_warn(assay__html *page, const char *format,
                                                            ...);
/* "name: value" in a list of facts; consecutive facts share one list. */
void assay__html_fact(assay__html *page, const char *name, const char *value);

typedef struct assay__html_column {
    const char *title;
    const char *unit; /* NULL: none */
    bool is_numeric;  /* right-aligned */
} assay__html_column;

/* A table of at most 64 columns. Cells are put in order; rows end by themselves when full.
 * `is_folded` puts it behind a click (<details>), with the caption as its handle. */
void assay__html_table(assay__html *page, const char *caption, const assay__html_column *columns,
                       size_t count, bool is_folded);
void assay__html_cell(assay__html *page, const char *text);
void assay__html_cell_real(assay__html *page, double value, int digits);
void assay__html_cell_count(assay__html *page, uint64_t value);
/* Counts whole rows as left out at once, without their cells. */
void assay__html_skip_rows(assay__html *page, size_t rows);
/* True when further rows would only be counted. */
bool assay__html_table_is_full(const assay__html *page);
/* Completes the last row with dashes. */
void assay__html_table_end(assay__html *page);

typedef enum assay__chart_kind {
    ASSAY__CHART_BARS,      /* horizontal bars over labels, whiskers lo..hi */
    ASSAY__CHART_HISTOGRAM, /* upright bars over labels (bins), log count axis by default */
    ASSAY__CHART_SCATTER,   /* points or lines over x and y, log-log by default */
} assay__chart_kind;

typedef struct assay__chart_series {
    const char *name;
    const double *y;          /* [count]; NaN: absent */
    const double *lo, *hi;    /* [count] interval of y, or NULL */
    const double *x;          /* [count], scatter only */
    const char *const *notes; /* [count] shown with a point and in the table, or NULL */
    size_t count;             /* for bars and histograms the chart's label_count */
    bool is_line;             /* scatter: joined in the order given, never thinned */
} assay__chart_series;

typedef struct assay__chart {
    assay__chart_kind kind;
    const char *title;
    const char *x_title, *x_unit; /* of the labels or of x; unit NULL: none */
    const char *y_title, *y_unit; /* of the values */
    bool is_linear;               /* plain axes instead of log ones; bars are always plain */
    const char *const *labels;    /* [label_count] for bars and histograms */
    size_t label_count;
    const assay__chart_series *series;
    size_t series_count; /* at most ASSAY__CHART_SERIES; none: no chart */
    int digits;          /* significant digits in the table; 0: 4 */
} assay__chart;

/* A canvas, followed by the same data as a folded table. Bars show the first ASSAY__CHART_LABELS
 * labels. */
void assay__html_chart(assay__html *page, const assay__chart *chart);

/* Internal to reports/html_*.c: ends an open list of facts. */
void assay__html_end_facts(assay__html *page);
/* Internal too: escaped text, for element content and quoted attributes. */
void assay__html_escape(assay__str *out, const char *text);

#endif
