/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/html_page.c -- sections, texts and tables of an offline HTML report. */
#include "reports/html_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/html_assets.h"
#include "runtime/error.h"
#include "support/format.h"

#define REPLACEMENT "\xEF\xBF\xBD"

static const char *entity_of(char byte)
{
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Control characters and bytes that are no UTF-8 become U+FFFD: no browser need guess. */
void assay__html_escape(assay__str *out, const char *text)
{
    const size_t size = strlen(text);
    uint32_t code = 0;

    for (size_t at = 0; at < size;) {
        const size_t len = assay__utf8_decode(text + at, size - at, &code);
        const char *entity = entity_of(text[at]);
        if (entity != NULL)
            assay__str_add(out, entity);
        else if (len == 0 || (code < 0x20 && strchr("\t\n\r", (int)code) == NULL) ||
                 (code >= 0x7F && code < 0xA0))
            assay__str_add(out, REPLACEMENT);
        else
            assay__str_addn(out, text + at, len);
        at += len == 0 ? 1 : len;
    }
}

assay_status assay__html_begin(assay__html *page, const char *title, const char *subtitle)
{
    *page = (assay__html){.title = strdup(title)};
    if (page->title == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    assay__str_add(&page->body, "<h1>");
    assay__html_escape(&page->body, title);
    assay__str_add(&page->body, "</h1>\n");
    if (subtitle != NULL) {
        assay__str_add(&page->body, "<p class=\"subtitle\">");
        assay__html_escape(&page->body, subtitle);
        assay__str_add(&page->body, "</p>\n");
    }
    page->head = page->body.len;
    return assay__str_status(&page->body);
}

void assay__html_clear(assay__html *page)
{
    assay__str_clear(&page->body);
    assay__str_clear(&page->nav);
    free(page->title);
    *page = (assay__html){0};
}

void assay__html_end_facts(assay__html *page)
{
    if (page->in_facts)
        assay__str_add(&page->body, "</dl>\n");
    page->in_facts = false;
}

static void end_section(assay__html *page)
{
    assay__html_end_facts(page);
    if (page->sections > 0)
        assay__str_add(&page->body, "</section>\n");
}

void assay__html_section(assay__html *page, const char *title)
{
    end_section(page);
    page->sections++;
    assay__str_addf(&page->body, "<section id=\"s%zu\">\n<h2>", page->sections);
    assay__html_escape(&page->body, title);
    assay__str_add(&page->body, "</h2>\n");
    assay__str_addf(&page->nav, "<a href=\"#s%zu\">", page->sections);
    assay__html_escape(&page->nav, title);
    assay__str_add(&page->nav, "</a>\n");
}

static void add_paragraph(assay__html *page, const char *opening, const assay__str *text)
{
    assay__html_end_facts(page);
    assay__str_add(&page->body, opening);
    assay__html_escape(&page->body, assay__str_text(text));
    assay__str_add(&page->body, "</p>\n");
    page->body.failed = page->body.failed || text->failed;
}

void assay__html_text(assay__html *page, const char *format, ...)
{
    assay__str text = {0};
    va_list args;

    va_start(args, format);
    assay__str_addv(&text, format, args);
    va_end(args);
    add_paragraph(page, "<p>", &text);
    assay__str_clear(&text);
}

void assay__html_warn(assay__html *page, const char *format, ...)
{
    assay__str text = {0};
    va_list args;

    va_start(args, format);
    assay__str_addv(&text, format, args);
    va_end(args);
    add_paragraph(page, "<p class=\"warn\">", &text);
    assay__str_clear(&text);
}

void assay__html_fact(assay__html *page, const char *name, const char *value)
{
    if (!page->in_facts)
        assay__str_add(&page->body, "<dl>\n");
    page->in_facts = true;
    assay__str_add(&page->body, "<dt>");
    assay__html_escape(&page->body, name);
    assay__str_add(&page->body, "</dt><dd>");
    assay__html_escape(&page->body, value == NULL || value[0] == '\0' ? "-" : value);
    assay__str_add(&page->body, "</dd>\n");
}

static void add_header_cell(assay__html *page, const assay__html_column *column)
{
    assay__str_add(&page->body, column->is_numeric ? "<th class=\"n\">" : "<th>");
    assay__html_escape(&page->body, column->title);
    if (column->unit != NULL) {
        assay__str_add(&page->body, "<small>");
        assay__html_escape(&page->body, column->unit);
        assay__str_add(&page->body, "</small>");
    }
    assay__str_add(&page->body, "</th>");
}

void assay__html_table(assay__html *page, const char *caption, const assay__html_column *columns,
                       size_t count, bool is_folded)
{
    assay__html_end_facts(page);
    page->table =
        (assay__html_table_state){.columns = count < 64 ? count : 64, .is_folded = is_folded};
    assay__str_add(&page->body, is_folded ? "<details><summary>" : "");
    if (is_folded)
        assay__html_escape(&page->body, caption);
    assay__str_add(&page->body, is_folded ? "</summary>\n" : "");
    assay__str_add(&page->body, "<div class=\"scroll\"><table>\n");
    if (!is_folded) {
        assay__str_add(&page->body, "<caption>");
        assay__html_escape(&page->body, caption);
        assay__str_add(&page->body, "</caption>\n");
    }
    assay__str_add(&page->body, "<thead><tr>");
    for (size_t i = 0; i < page->table.columns; i++) {
        add_header_cell(page, &columns[i]);
        page->table.numeric |= (uint64_t)columns[i].is_numeric << i;
    }
    assay__str_add(&page->body, "</tr></thead>\n<tbody>\n");
}

bool assay__html_table_is_full(const assay__html *page)
{
    return page->table.rows >= ASSAY__HTML_TABLE_ROWS || page->body.len >= ASSAY__HTML_BUDGET;
}

void assay__html_skip_rows(assay__html *page, size_t rows)
{
    page->table.left_out += rows;
}

void assay__html_cell(assay__html *page, const char *text)
{
    assay__html_table_state *table = &page->table;

    if (table->columns == 0)
        return;
    if (table->field == 0)
        table->row_is_left_out = assay__html_table_is_full(page);
    if (!table->row_is_left_out) {
        assay__str_add(&page->body, table->field == 0 ? "<tr>" : "");
        assay__str_add(&page->body,
                       (table->numeric >> table->field & 1) != 0 ? "<td class=\"n\">" : "<td>");
        assay__html_escape(&page->body, text == NULL || text[0] == '\0' ? "-" : text);
        assay__str_add(&page->body, "</td>");
    }
    if (++table->field < table->columns)
        return;
    table->field = 0;
    if (table->row_is_left_out)
        table->left_out++;
    else
        table->rows++;
    assay__str_add(&page->body, table->row_is_left_out ? "" : "</tr>\n");
}

void assay__html_cell_real(assay__html *page, double value, int digits)
{
    assay__html_cell(page, assay__format_real(value, digits).text);
}

void assay__html_cell_count(assay__html *page, uint64_t value)
{
    assay__html_cell(page, assay__format_count(value).text);
}

void assay__html_table_end(assay__html *page)
{
    while (page->table.columns > 0 && page->table.field > 0)
        assay__html_cell(page, NULL);
    assay__str_add(&page->body, "</tbody></table></div>\n");
    if (page->table.left_out > 0)
        assay__str_addf(&page->body,
                        "<p class=\"warn\">%s more rows are left out here; "
                        "the CSV and JSON formats have all.</p>\n",
                        assay__format_count(page->table.left_out).text);
    assay__str_add(&page->body, page->table.is_folded ? "</details>\n" : "");
    page->table = (assay__html_table_state){0};
}

static void add_head(assay__str *out, const char *title)
{
    assay__str_add(out,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
                   "<title>");
    assay__html_escape(out, title);
    assay__str_addf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", assay__html_css);
}

/* The scripts come last, so that tables are readable before a chart is drawn. */
static void add_scripts(assay__str *out)
{
    assay__str_add(out, "<details><summary>Licence of the chart library inside this file"
                        "</summary><pre>");
    assay__html_escape(out, assay__html_chartjs_license);
    assay__str_addf(out, "</pre></details>\n<script>\n%s\n</script>\n<script>\n%s</script>\n",
                    assay__html_chartjs, assay__html_charts_js);
}

assay_status assay__html_take(assay__html *page, char **text, size_t *size)
{
    assay__str out = {0};

    end_section(page);
    add_head(&out, page->title);
    assay__str_addn(&out, assay__str_text(&page->body), page->head);
    if (page->charts > 0)
        assay__str_add(&out, "<noscript><p class=\"warn\">Charts need JavaScript; every chart's "
                             "data is in the table below it.</p></noscript>\n");
    if (page->sections > 1)
        assay__str_addf(&out, "<nav>\n%s</nav>\n", assay__str_text(&page->nav));
    assay__str_addn(&out, assay__str_text(&page->body) + page->head, page->body.len - page->head);
    assay__str_add(&out, "<footer>Made by assay. This file loads nothing from the network.\n");
    if (page->charts > 0)
        add_scripts(&out);
    assay__str_add(&out, "</footer>\n</body>\n</html>\n");
    out.failed = out.failed || page->body.failed || page->nav.failed;
    const size_t len = out.len;
    assay__html_clear(page);
    ASSAY_TRY(assay__str_take(&out, text));
    *size = len;
    return ASSAY_OK;
}
