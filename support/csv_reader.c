/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/csv_reader.c -- strict CSV over libcsv: the only file that includes its header.
 *
 * The parser is fed line by line, so that its position in a line is the column of an error. libcsv
 * tells a strict error by a short return of csv_parse; csv_fini then returns 0, and is not asked.
 */
#include "support/csv_reader.h"

#include <csv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "support/csv_columns.h"
#include "support/file.h"
#include "support/str.h"

typedef struct csv_build {
    assay__csv *csv;
    const char *name;
    size_t line;     /* physical line being fed */
    size_t row_line; /* line on which the current row began */
    size_t field;    /* fields of the current row so far */
    size_t cells_cap, lines_cap;
    size_t cells; /* filled, without the header */
    bool has_header;
    bool row_ended; /* by the line just fed */
    assay_status status;
} csv_build;

static bool grow(void **items, size_t *cap, size_t need, size_t item_bytes)
{
    size_t new_cap = *cap == 0 ? 64 : *cap;

    while (new_cap < need)
        new_cap *= 2;
    if (new_cap == *cap)
        return true;
    void *data = realloc(*items, new_cap * item_bytes);
    if (data == NULL)
        return false;
    *items = data;
    *cap = new_cap;
    return true;
}

static void build_no_memory(csv_build *build)
{
    build->status =
        assay__fail(ASSAY_NOMEM, "%s: out of memory at line %zu", build->name, build->line);
}

static char *copy_field(const void *bytes, size_t len)
{
    char *copy = malloc(len + 1);

    if (copy == NULL)
        return NULL;
    if (len > 0)
        memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}

static void put_header(csv_build *build, char *copy)
{
    assay__csv *csv = build->csv;
    void *items = csv->written;

    if (!grow(&items, &build->cells_cap, csv->ncols + 1, sizeof *csv->written)) {
        free(copy);
        build_no_memory(build);
        return;
    }
    csv->written = items;
    csv->written[csv->ncols++] = copy;
}

static void put_cell(csv_build *build, char *copy)
{
    assay__csv *csv = build->csv;
    void *items = csv->cells;

    if (build->field > csv->ncols) { /* ragged: told at the end of the row with the full count */
        free(copy);
        return;
    }
    if (!grow(&items, &build->cells_cap, build->cells + 1, sizeof *csv->cells)) {
        free(copy);
        build_no_memory(build);
        return;
    }
    csv->cells = items;
    csv->cells[build->cells++] = copy;
}

static void on_field(void *bytes, size_t len, void *cookie)
{
    csv_build *build = cookie;

    if (build->status != ASSAY_OK)
        return;
    build->field++;
    if (len > ASSAY__CSV_FIELD_CAP) {
        build->status =
            assay__fail(ASSAY_PARSE, "%s:%zu: column %zu: field of %zu bytes; at most %u",
                        build->name, build->row_line, build->field, len, ASSAY__CSV_FIELD_CAP);
        return;
    }
    char *copy = copy_field(bytes, len);
    if (copy == NULL)
        build_no_memory(build);
    else if (build->has_header)
        put_cell(build, copy);
    else
        put_header(build, copy);
}

static void end_header(csv_build *build)
{
    build->has_header = true;
    build->csv->header_line = build->row_line;
    build->cells_cap = 0; /* counts the cells from here on */
}

static void end_row(csv_build *build)
{
    assay__csv *csv = build->csv;
    void *lines = csv->lines;

    if (build->field != csv->ncols) {
        build->status = assay__fail(
            ASSAY_PARSE, "%s:%zu: row has %zu fields where the header in line %zu has %zu",
            build->name, build->row_line, build->field, csv->header_line, csv->ncols);
        return;
    }
    if (!grow(&lines, &build->lines_cap, csv->nrows + 1, sizeof *csv->lines)) {
        build_no_memory(build);
        return;
    }
    csv->lines = lines;
    csv->lines[csv->nrows++] = build->row_line;
}

static void on_row(int terminator, void *cookie)
{
    csv_build *build = cookie;

    (void)terminator;
    build->row_ended = true;
    if (build->status != ASSAY_OK)
        return;
    if (build->has_header)
        end_row(build);
    else
        end_header(build);
    build->field = 0;
}

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (strchr(" \t\r\n", text[i]) == NULL || text[i] == '\0')
            return false;
    return true;
}

/* What no CSV may hold, told with its place; libcsv would let it through. */
static assay_status check_line(const csv_build *build, const char *text, size_t len)
{
    const char *nul = memchr(text, '\0', len);
    if (nul != NULL)
        return assay__fail(ASSAY_PARSE, "%s:%zu:%zu: NUL byte; is this a text file?", build->name,
                           build->line, (size_t)(nul - text) + 1);
    for (const char *at = text; (at = memchr(at, '\r', len - (size_t)(at - text))) != NULL; at++)
        if ((size_t)(at - text) + 1 < len && at[1] != '\n')
            return assay__fail(
                ASSAY_PARSE, "%s:%zu:%zu: carriage return without line feed; save with LF or CRLF",
                build->name, build->line, (size_t)(at - text) + 1);
    const size_t valid = assay__utf8_check(text, len);
    if (valid < len)
        return assay__fail(ASSAY_PARSE, "%s:%zu:%zu: byte 0x%02X is no UTF-8; save as UTF-8",
                           build->name, build->line, valid + 1, (unsigned char)text[valid]);
    return ASSAY_OK;
}

static assay_status feed_line(csv_build *build, struct csv_parser *parser, const char *text,
                              size_t len)
{
    const bool continues = !build->row_ended; /* inside quotes */

    ASSAY_TRY(check_line(build, text, len));
    if (!continues) {
        if (is_blank(text, len))
            return ASSAY_OK;
        if (text[0] == '#' && build->has_header)
            return assay__fail(ASSAY_PARSE, "%s:%zu: notes ('#') may stand only above the header",
                               build->name, build->line);
        build->row_line = build->line;
    }
    build->row_ended = false;
    const size_t used = csv_parse(parser, text, len, on_field, on_row, build);
    if (build->status != ASSAY_OK)
        return build->status;
    if (parser->entry_pos > ASSAY__CSV_FIELD_CAP) /* inside quotes that may never close */
        return assay__fail(ASSAY_PARSE,
                           "%s:%zu: column %zu: field of over %u bytes; is a quote left open?",
                           build->name, build->row_line, build->field + 1, ASSAY__CSV_FIELD_CAP);
    if (used == len)
        return ASSAY_OK;
    if (csv_error(parser) == CSV_ENOMEM)
        return assay__fail(ASSAY_NOMEM, "%s: out of memory at line %zu", build->name, build->line);
    return assay__fail(
        ASSAY_PARSE,
        "%s:%zu:%zu: column %zu: stray quote; quote the whole field and double inner quotes",
        build->name, build->line, used + 1, build->field + 1);
}

/* The last line may lack its end; an open quote may not. */
static assay_status finish_rows(csv_build *build, struct csv_parser *parser)
{
    const size_t field = build->field + 1;

    if (csv_fini(parser, on_field, on_row, build) != 0)
        return assay__fail(ASSAY_PARSE, "%s:%zu: column %zu: quote is never closed", build->name,
                           build->row_line, field);
    if (build->status != ASSAY_OK)
        return build->status;
    if (!build->has_header)
        return assay__fail(ASSAY_PARSE, "%s: no header line; the file is empty", build->name);
    return ASSAY_OK;
}

static size_t line_length(const char *text, size_t left)
{
    const char *end = memchr(text, '\n', left);
    return end == NULL ? left : (size_t)(end - text) + 1;
}

/* Takes the notes above the header; returns how many bytes they were. */
static size_t take_notes(csv_build *build, const char *data, size_t size, assay__str *notes)
{
    size_t at = 0;

    while (at < size) {
        const size_t len = line_length(data + at, size - at);
        if (data[at] == '#') {
            size_t end = len;
            while (end > 1 && strchr("\r\n", data[at + end - 1]) != NULL &&
                   data[at + end - 1] != '\0')
                end--;
            assay__str_addn(notes, data + at + 1, end - 1);
            assay__str_addc(notes, '\n');
        } else if (!is_blank(data + at, len)) {
            break;
        }
        at += len;
        build->line++;
    }
    return at;
}

static assay_status parse_rows(csv_build *build, const char *data, size_t size)
{
    struct csv_parser parser;
    assay_status status = ASSAY_OK;

    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0)
        return assay__fail(ASSAY_NOMEM, "%s: no memory for the CSV parser", build->name);
    for (size_t at = 0; at < size && status == ASSAY_OK;) {
        const size_t len = line_length(data + at, size - at);
        build->line++;
        status = feed_line(build, &parser, data + at, len);
        at += len;
    }
    if (status == ASSAY_OK)
        status = finish_rows(build, &parser);
    csv_free(&parser);
    return status;
}

static assay_status parse_all(csv_build *build, const char *data, size_t size,
                              const assay__csv_spec *spec)
{
    assay__str notes = {0};

    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0) {
        data += 3;
        size -= 3;
    }
    const size_t skipped = take_notes(build, data, size, &notes);
    assay_status status = assay__str_take(&notes, &build->csv->notes);
    if (status == ASSAY_OK)
        status = parse_rows(build, data + skipped, size - skipped);
    if (status == ASSAY_OK)
        status = assay__csv_name_columns(build->csv, spec);
    if (status == ASSAY_OK && build->csv->nrows == 0 && !(spec != NULL && spec->allows_no_rows))
        status = assay__fail(ASSAY_PARSE, "%s:%zu: no rows below the header", build->name,
                             build->csv->header_line);
    return status;
}

assay_status assay__csv_parse(const char *name, const char *data, size_t size,
                              const assay__csv_spec *spec, assay__csv *out)
{
    assay__csv csv = {0};
    csv_build build = {.csv = &csv, .name = name, .row_ended = true};

    csv.path = strdup(name);
    if (csv.path == NULL)
        return assay__fail(ASSAY_NOMEM, "%s: out of memory", name);
    assay_status status = parse_all(&build, data, size, spec);
    if (status == ASSAY_OK) {
        *out = csv;
        return ASSAY_OK;
    }
    csv.ncols = csv.written == NULL ? 0 : csv.ncols;
    for (size_t i = csv.nrows * csv.ncols; i < build.cells; i++)
        free(csv.cells[i]); /* of a row that was not finished */
    assay__csv_clear(&csv);
    return status;
}

assay_status assay__csv_read(const char *path, const assay__csv_spec *spec, assay__csv *out)
{
    char *data;
    size_t size;

    ASSAY_TRY(assay__file_read(path, ASSAY__CSV_FILE_CAP, &data, &size));
    assay_status status =
        assay__csv_parse(strcmp(path, "-") == 0 ? "<stdin>" : path, data, size, spec, out);
    free(data);
    return status;
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; names != NULL && i < count; i++)
        free(names[i]);
    free(names);
}

void assay__csv_clear(assay__csv *csv)
{
    free_names(csv->header, csv->ncols);
    free_names(csv->written, csv->ncols);
    free_names(csv->cells, csv->nrows * csv->ncols);
    free(csv->lines);
    free(csv->notes);
    free(csv->path);
    *csv = (assay__csv){0};
}
