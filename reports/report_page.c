/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_page.c -- an HTML page or Markdown behind the same calls. */
#include "reports/report_page.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/error.h"
#include "support/format.h"

/* ---- Markdown ---- */

/* Text that must not become markup: of a table cell too. */
static void md_escape(assay__str *out, const char *text)
{
    const size_t size = strlen(text);
    uint32_t code = 0;

    for (size_t at = 0; at < size;) {
        const size_t len = assay__utf8_decode(text + at, size - at, &code);
        if (len == 0 || code == 0x7F || (code >= 0x80 && code < 0xA0)) {
            assay__str_add(out, "\xEF\xBF\xBD");
        } else if (code < 0x20) {
            assay__str_addc(out, ' ');
        } else if (text[at] == '<' || text[at] == '&') {
            assay__str_add(out, text[at] == '<' ? "&lt;" : "&amp;");
        } else {
            if (strchr("|\\*`[]_#", text[at]) != NULL)
                assay__str_addc(out, '\\');
            assay__str_addn(out, text + at, len);
        }
        at += len == 0 ? 1 : len;
    }
}

static void md_block(assay__page *page, const char *opening, const char *text)
{
    assay__str_addf(&page->md, "%s%s", page->is_list ? "\n" : "", opening);
    page->is_list = false;
    md_escape(&page->md, text);
    assay__str_add(&page->md, "\n\n");
}

/* ---- both ---- */

assay_status assay__page_begin(assay__page *page, bool is_html, const char *title,
                               const char *subtitle)
{
    *page = (assay__page){.is_html = is_html};
    if (is_html)
        return assay__html_begin(&page->html, title, subtitle);
    md_block(page, "# ", title);
    if (subtitle != NULL)
        md_block(page, "", subtitle);
    return assay__str_status(&page->md);
}

void assay__page_clear(assay__page *page)
{
    if (page->is_html)
        assay__html_clear(&page->html);
    assay__str_clear(&page->md);
    *page = (assay__page){.is_html = false};
}

assay_status assay__page_take(assay__page *page, char **text, size_t *size)
{
    if (page->is_html)
        return assay__html_take(&page->html, text, size);
    *size = page->md.len;
    return assay__str_take(&page->md, text);
}

void assay__page_section(assay__page *page, const char *title)
{
    if (page->is_html)
        assay__html_section(&page->html, title);
    else
        md_block(page, "## ", title);
}

static void add_text(assay__page *page, bool is_warning, const char *text)
{
    if (!page->is_html)
        md_block(page, is_warning ? "> **Note:** " : "", text);
    else if (is_warning)
        assay__html_warn(&page->html, "%s", text);
    else
        assay__html_text(&page->html, "%s", text);
}

void assay__page_text(assay__page *page, const char *format, ...)
{
    assay__str text = {0};
    va_list args;

    va_start(args, format);
    assay__str_addv(&text, format, args);
    va_end(args);
    add_text(page, false, assay__str_text(&text));
    assay__str_clear(&text);
}

void assay__page_warn(assay__page *page, const char *format, ...)
{
    assay__str text = {0};
    va_list args;

    va_start(args, format);
    assay__str_addv(&text, format, args);
    va_end(args);
    add_text(page, true, assay__str_text(&text));
    assay__str_clear(&text);
}

static const char *known(const char *text)
{
    return text == NULL || text[0] == '\0' ? "-" : text;
}

void assay__page_fact(assay__page *page, const char *name, const char *value)
{
    if (page->is_html) {
        assay__html_fact(&page->html, name, known(value));
        return;
    }
    assay__str_add(&page->md, "- ");
    md_escape(&page->md, name);
    assay__str_add(&page->md, ": ");
    md_escape(&page->md, known(value));
    assay__str_addc(&page->md, '\n');
    page->is_list = true;
}

/* ---- tables ---- */

static void md_table(assay__page *page, const char *caption, const assay__html_column *columns,
                     size_t count)
{
    md_block(page, "### ", caption);
    for (size_t i = 0; i < count; i++) {
        assay__str_add(&page->md, i == 0 ? "| " : " ");
        md_escape(&page->md, columns[i].title);
        if (columns[i].unit != NULL)
            assay__str_addf(&page->md, " (%s)", columns[i].unit);
        assay__str_add(&page->md, " |");
    }
    assay__str_add(&page->md, "\n|");
    for (size_t i = 0; i < count; i++)
        assay__str_add(&page->md, columns[i].is_numeric ? "---:|" : "---|");
    assay__str_addc(&page->md, '\n');
    page->columns = count;
    page->field = page->rows = page->left_out = 0;
}

void assay__page_table(assay__page *page, const char *caption, const assay__html_column *columns,
                       size_t count, bool is_folded)
{
    if (page->is_html)
        assay__html_table(&page->html, caption, columns, count, is_folded);
    else
        md_table(page, caption, columns, count);
}

void assay__page_cell(assay__page *page, const char *text)
{
    if (page->is_html) {
        assay__html_cell(&page->html, known(text));
        return;
    }
    bool is_left_out = page->rows >= ASSAY__HTML_TABLE_ROWS;
    if (!is_left_out) {
        assay__str_add(&page->md, page->field == 0 ? "| " : " ");
        md_escape(&page->md, known(text));
        assay__str_add(&page->md, " |");
    }
    if (++page->field < page->columns)
        return;
    page->field = 0;
    page->rows++;
    page->left_out += is_left_out;
    if (!is_left_out)
        assay__str_addc(&page->md, '\n');
}

void assay__page_cellf(assay__page *page, const char *format, ...)
{
    assay__str text = {0};
    va_list args;

    va_start(args, format);
    assay__str_addv(&text, format, args);
    va_end(args);
    assay__page_cell(page, assay__str_text(&text));
    assay__str_clear(&text);
}

void assay__page_cell_real(assay__page *page, double value, int digits)
{
    if (page->is_html)
        assay__html_cell_real(&page->html, value, digits);
    else
        assay__page_cell(page, assay__format_real(value, digits).text);
}

void assay__page_cell_count(assay__page *page, uint64_t value)
{
    if (page->is_html)
        assay__html_cell_count(&page->html, value);
    else
        assay__page_cell(page, assay__format_count(value).text);
}

bool assay__page_is_full(const assay__page *page)
{
    return page->is_html ? assay__html_table_is_full(&page->html)
                         : page->rows >= ASSAY__HTML_TABLE_ROWS;
}

void assay__page_skip_rows(assay__page *page, size_t rows)
{
    if (page->is_html)
        assay__html_skip_rows(&page->html, rows);
    else
        page->left_out += rows;
}

void assay__page_table_end(assay__page *page)
{
    if (page->is_html) {
        assay__html_table_end(&page->html);
        return;
    }
    while (page->field > 0)
        assay__page_cell(page, NULL);
    assay__str_addc(&page->md, '\n');
    if (page->left_out > 0)
        assay__page_text(page, "%s more rows are left out.",
                         assay__format_count(page->left_out).text);
}

void assay__page_chart(assay__page *page, const assay__chart *chart)
{
    if (page->is_html)
        assay__html_chart(&page->html, chart);
}
