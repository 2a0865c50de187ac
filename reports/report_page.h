/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_page.h -- one text for people, as an HTML page or as Markdown.
 *
 * The calls are those of html_page.h.  Markdown has no charts: their data are in tables anyway.
 * Sticky: one check, at assay__page_take. */
#ifndef ASSAY_REPORTS_REPORT_PAGE_H
#define ASSAY_REPORTS_REPORT_PAGE_H

#include "reports/html_page.h"

typedef struct assay__page {
    bool is_html;
    assay__html html;
    assay__str md;
    size_t columns, field, rows, left_out; /* of the open Markdown table */
    bool is_list;                          /* in a list of facts */
} assay__page;

assay_status assay__page_begin(assay__page *page, bool is_html, const char *title,
                               const char *subtitle);
void assay__page_clear(assay__page *page);
/* Hands the text over (caller frees); the page is cleared in every case. */
assay_status assay__page_take(assay__page *page, char **text, size_t *size);

void assay__page_section(assay__page *page, const char *title);
__attribute__((format(printf, 2, 3))) void assay__page_text(assay__page *page, const char *format,
                                                            ...);
__attribute__((format(printf, 2, 3))) void assay__page_warn(assay__page *page, const char *format,
                                                            ...);
/* NULL or "": not known, shown as a dash. */
void assay__page_fact(assay__page *page, const char *name, const char *value);
void assay__page_table(assay__page *page, const char *caption, const assay__html_column *columns,
                       size_t count, bool is_folded);
void assay__page_cell(assay__page *page, const char *text);
__attribute__((format(printf, 2, 3))) void assay__page_cellf(assay__page *page, const char *format,
                                                             ...);
void assay__page_cell_real(assay__page *page, double value, int digits);
void assay__page_cell_count(assay__page *page, uint64_t value);
/* True when further rows would only be counted. */
bool assay__page_is_full(const assay__page *page);
void assay__page_skip_rows(assay__page *page, size_t rows);
void assay__page_table_end(assay__page *page);
void assay__page_chart(assay__page *page, const assay__chart *chart);

#endif
