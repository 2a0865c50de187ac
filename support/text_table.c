/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/text_table.c -- aligned tables for a terminal. */
#include "support/text_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/error.h"

#define COLUMN_GAP 2

bool assay__wants_colour(FILE *file)
{
    const char *refused = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    if (refused != NULL && refused[0] != '\0')
        return false;
    if (terminal == NULL || strcmp(terminal, "dumb") == 0)
        return false;
    return isatty(fileno(file)) == 1;
}

void assay__table_column(assay__table *table, const char *title, assay__align align)
{
    if (table->columns == ASSAY__TABLE_COLUMNS || table->cells.count > 0) {
        table->status = assay__fail(ASSAY_INTERNAL, "table column '%s' comes too late", title);
        return;
    }
    table->titles[table->columns] = title;
    table->aligns[table->columns++] = align;
}

void assay__table_cell(assay__table *table, const char *text)
{
    if (table->status != ASSAY_OK)
        return;
    table->status = assay__strlist_add(&table->cells, text == NULL || text[0] == '\0' ? "-" : text);
    if (table->status == ASSAY_OK) {
        assay__str_addc(&table->colours, (char)ASSAY__PLAIN);
        table->status = assay__str_status(&table->colours);
    }
}

void assay__table_cellf(assay__table *table, const char *format, ...)
{
    assay__str text = {0};
    va_list args;

    va_start(args, format);
    assay__str_addv(&text, format, args);
    va_end(args);
    if (text.failed)
        table->status = assay__str_status(&text);
    else
        assay__table_cell(table, text.data);
    assay__str_clear(&text);
}

void assay__table_paint(assay__table *table, assay__colour colour)
{
    if (table->status == ASSAY_OK && table->colours.len > 0)
        table->colours.data[table->colours.len - 1] = (char)colour;
}

void assay__table_end_row(assay__table *table)
{
    while (table->status == ASSAY_OK && table->columns > 0 &&
           table->cells.count % table->columns != 0)
        assay__table_cell(table, NULL);
}

static void add_repeated(assay__str *out, char byte, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assay__str_addc(out, byte);
}

static void add_painted(assay__str *out, const char *text, assay__colour colour)
{
    static const char *const codes[] = {[ASSAY__PLAIN] = "",
                                        [ASSAY__BOLD] = "\033[1m",
                                        [ASSAY__GREEN] = "\033[32m",
                                        [ASSAY__YELLOW] = "\033[33m",
                                        [ASSAY__RED] = "\033[31m"};

    assay__str_add(out, codes[colour]);
    assay__str_add(out, text);
    if (colour != ASSAY__PLAIN)
        assay__str_add(out, "\033[0m");
}

/* The last column is not padded on the right. */
static void add_cell(assay__str *out, const assay__table *table, size_t col, size_t width,
                     const char *text, assay__colour colour)
{
    const size_t pad = width - assay__utf8_width(text);

    if (table->aligns[col] == ASSAY__RIGHT)
        add_repeated(out, ' ', pad);
    add_painted(out, text, colour);
    if (col + 1 == table->columns)
        return;
    add_repeated(out, ' ', (table->aligns[col] == ASSAY__LEFT ? pad : 0) + COLUMN_GAP);
}

static void measure(const assay__table *table, size_t *widths)
{
    for (size_t col = 0; col < table->columns; col++)
        widths[col] = assay__utf8_width(table->titles[col]);
    for (size_t i = 0; i < table->cells.count; i++) {
        const size_t width = assay__utf8_width(table->cells.items[i]);
        if (width > widths[i % table->columns])
            widths[i % table->columns] = width;
    }
}

static void add_table(assay__str *out, const assay__table *table, bool has_colour)
{
    size_t widths[ASSAY__TABLE_COLUMNS] = {0};
    size_t total = 0;

    measure(table, widths);
    for (size_t col = 0; col < table->columns; col++) {
        add_cell(out, table, col, widths[col], table->titles[col],
                 has_colour ? ASSAY__BOLD : ASSAY__PLAIN);
        total += widths[col] + (col > 0 ? COLUMN_GAP : 0);
    }
    assay__str_addc(out, '\n');
    add_repeated(out, '-', total);
    assay__str_addc(out, '\n');
    for (size_t i = 0; i < table->cells.count; i++) {
        const size_t col = i % table->columns;
        add_cell(out, table, col, widths[col], table->cells.items[i],
                 has_colour ? (assay__colour)table->colours.data[i] : ASSAY__PLAIN);
        if (col + 1 == table->columns)
            assay__str_addc(out, '\n');
    }
}

/* A copy of the cells as a terminal may have them. */
static assay_status show_cells(const assay__table *table, assay__strlist *out)
{
    assay__str text = {0};
    assay_status status = ASSAY_OK;

    for (size_t i = 0; status == ASSAY_OK && i < table->cells.count; i++) {
        assay__str_reset(&text);
        assay__str_add_shown(&text, table->cells.items[i]);
        status = assay__str_status(&text);
        if (status == ASSAY_OK)
            status = assay__strlist_add(out, assay__str_text(&text));
    }
    assay__str_clear(&text);
    return status;
}

assay_status assay__table_print(assay__table *table, bool has_colour, FILE *file)
{
    assay__table shown;
    assay__str out = {0};

    assay__table_end_row(table);
    ASSAY_TRY(table->status);
    if (table->columns == 0)
        return assay__fail(ASSAY_INTERNAL, "table without columns");
    shown = *table;
    shown.cells = (assay__strlist){0};
    assay_status status = show_cells(table, &shown.cells);
    if (status == ASSAY_OK) {
        add_table(&out, &shown, has_colour);
        status = assay__str_status(&out);
    }
    assay__strlist_clear(&shown.cells);
    if (status == ASSAY_OK && fputs(out.data, file) < 0)
        status = assay__fail(ASSAY_IO, "cannot write the table");
    assay__str_clear(&out);
    return status;
}

void assay__table_clear(assay__table *table)
{
    assay__strlist_clear(&table->cells);
    assay__str_clear(&table->colours);
    *table = (assay__table){0};
}
