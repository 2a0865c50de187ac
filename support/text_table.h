/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/text_table.h -- aligned tables for a terminal.
 *
 * Cells are put row by row; widths count characters, not bytes. Sticky like the string builder: one
 * check at the end. */
#ifndef ASSAY_SUPPORT_TEXT_TABLE_H
#define ASSAY_SUPPORT_TEXT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "assay/status.h"
#include "support/str.h"

#define ASSAY__TABLE_COLUMNS 32

typedef enum assay__align { ASSAY__LEFT, ASSAY__RIGHT } assay__align;

typedef enum assay__colour {
    ASSAY__PLAIN,
    ASSAY__BOLD,
    ASSAY__GREEN,
    ASSAY__YELLOW,
    ASSAY__RED,
} assay__colour;

typedef struct assay__table {
    const char *titles[ASSAY__TABLE_COLUMNS]; /* borrowed */
    assay__align aligns[ASSAY__TABLE_COLUMNS];
    size_t columns;
    assay__strlist cells; /* row-major, owned */
    assay__str colours;   /* a byte per cell */
    assay_status status;
} assay__table;

/* Zeroed memory is an empty table. All columns come before the first cell. */
void assay__table_column(assay__table *table, const char *title, assay__align align);
/* The next cell; NULL or "" is shown as "-". */
void assay__table_cell(assay__table *table, const char *text);
__attribute__((format(printf, 2, 3))) void assay__table_cellf(assay__table *table,
                                                              const char *format, ...);
/* Colours the cell put last. */
void assay__table_paint(assay__table *table, assay__colour colour);
/* Fills the rest of the row with "-". */
void assay__table_end_row(assay__table *table);
/* Titles, a rule, rows; no blanks at line ends. A started row is completed first. */
assay_status assay__table_print(assay__table *table, bool has_colour, FILE *file);
void assay__table_clear(assay__table *table);

/* A terminal that is not dumb, and NO_COLOR unset or empty. */
bool assay__wants_colour(FILE *file);

#endif
