/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/csv_writer.c -- CSV out with RFC 4180 quoting. */
#include "support/csv_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "runtime/error.h"
#include "support/str.h"

void assay__csv_begin(assay__csv_writer *writer, FILE *file)
{
    *writer = (assay__csv_writer){.file = file, .is_terminal = isatty(fileno(file)) == 1};
}

/* Also a leading '#' and outer blanks, which our reader would take for a note or drop. */
static int needs_quotes(const char *text, size_t len)
{
    return text[strcspn(text, ",\"\r\n")] != '\0' || text[0] == '#' ||
           (len > 0 && (strchr(" \t", text[0]) != NULL || strchr(" \t", text[len - 1]) != NULL));
}

static void put_quoted(FILE *file, const char *text)
{
    (void)putc('"', file);
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"')
            (void)putc('"', file);
        (void)putc(*at, file);
    }
    (void)putc('"', file);
}

static void put_field(assay__csv_writer *writer, const char *shown)
{
    /* The empty field of a one-column table: bare, its row would be a blank line. */
    if (writer->field++ > 0)
        (void)putc(',', writer->file);
    if (needs_quotes(shown, strlen(shown)) || (shown[0] == '\0' && writer->ncols == 1))
        put_quoted(writer->file, shown);
    else
        (void)fputs(shown, writer->file);
}

/* A file gets every byte as it is; a person has a terminal that would obey some of them. */
static void put_on_terminal(assay__csv_writer *writer, const char *text)
{
    assay__str shown = {0};

    assay__str_add_shown(&shown, text);
    put_field(writer, assay__str_text(&shown));
    assay__str_clear(&shown);
}

void assay__csv_put(assay__csv_writer *writer, const char *text)
{
    const char *shown = text == NULL ? "" : text;

    if (writer->is_terminal && shown[0] != '\0') {
        put_on_terminal(writer, shown);
        return;
    }
    put_field(writer, shown);
}

void assay__csv_put_int(assay__csv_writer *writer, int64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%" PRId64, value);
    assay__csv_put(writer, text);
}

void assay__csv_put_real(assay__csv_writer *writer, double value)
{
    char text[32];

    if (!isfinite(value)) {
        assay__csv_put(writer, NULL);
        return;
    }
    (void)snprintf(text, sizeof text, "%.17g", value);
    assay__csv_put(writer, text);
}

void assay__csv_end_row(assay__csv_writer *writer)
{
    (void)putc('\n', writer->file);
    writer->rows++;
    if (writer->rows == 1)
        writer->ncols = writer->field;
    else if (writer->field != writer->ncols && writer->bad_row == 0)
        writer->bad_row = writer->rows;
    writer->field = 0;
}

assay_status assay__csv_finish(assay__csv_writer *writer)
{
    errno = 0;
    if (fflush(writer->file) != 0 || ferror(writer->file))
        return assay__fail(ASSAY_IO, "cannot write CSV: %s",
                           errno != 0 ? strerror(errno) : "write error");
    if (writer->bad_row != 0 || writer->field != 0)
        return assay__fail(ASSAY_INTERNAL, "CSV row %zu does not have %zu fields",
                           writer->bad_row != 0 ? writer->bad_row : writer->rows + 1,
                           writer->ncols);
    return ASSAY_OK;
}
