/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/csv_reader.h -- strict CSV: every problem is told with file, line, column and field.
 *
 * Accepted: UTF-8 with or without byte order mark, LF or CRLF, quoted fields with doubled quotes
 * and line breaks, blank lines, no final line end; lines starting with '#' above the header are
 * notes. Blanks around unquoted fields are dropped. Everything else is ASSAY_PARSE: ragged rows,
 * text after a closing quote, NUL bytes, a lone carriage return, fields over 64 KiB, repeated,
 * unknown or missing columns, an empty file. */
#ifndef ASSAY_SUPPORT_CSV_READER_H
#define ASSAY_SUPPORT_CSV_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

#define ASSAY__CSV_FIELD_CAP 65536U
#define ASSAY__CSV_FILE_CAP  ((size_t)1 << 30)

typedef struct assay__csv_column {
    const char *name;
    const char *const *aliases; /* NULL-terminated, or NULL */
    bool is_required;
} assay__csv_column;

/* What a caller knows of the columns. Without columns every header is taken as it is. */
typedef struct assay__csv_spec {
    const assay__csv_column *columns;
    size_t count;
    bool allows_unknown; /* unknown columns are kept under their own name */
    bool allows_no_rows; /* a header alone is no error */
} assay__csv_spec;

typedef struct assay__csv {
    char *path;          /* as in error texts; owned */
    size_t ncols, nrows; /* nrows without the header */
    char **header;       /* [ncols] names: the spec's where known, else as written; owned */
    char **written;      /* [ncols] names as the file has them; owned */
    char **cells;        /* [nrows * ncols], row-major; owned */
    size_t *lines;       /* [nrows] line on which the row starts, from 1 */
    size_t header_line;
    char *notes; /* the lines above the header without '#', each ended by a line feed; owned */
} assay__csv;

/* Reads `path` ("-": standard input). `spec` may be NULL. `out` is written on ASSAY_OK only.
 * ASSAY_IO, ASSAY_OVERFLOW (over 1 GiB), ASSAY_PARSE, ASSAY_NOMEM. */
assay_status assay__csv_read(const char *path, const assay__csv_spec *spec, assay__csv *out);
/* The same over bytes in memory; `name` stands for the path in error texts. */
assay_status assay__csv_parse(const char *name, const char *data, size_t size,
                              const assay__csv_spec *spec, assay__csv *out);
void assay__csv_clear(assay__csv *csv);

/* Index of a column by its spec name, or -1. */
ptrdiff_t assay__csv_find(const assay__csv *csv, const char *column);
/* Borrowed, never NULL; "" for an empty field. */
const char *assay__csv_cell(const assay__csv *csv, size_t row, size_t col);

/* Whole-number and real cells, parsed whole and bounded (inclusive). ASSAY_PARSE otherwise. */
assay_status assay__csv_int(const assay__csv *csv, size_t row, size_t col, int64_t min, int64_t max,
                            int64_t *out);
assay_status assay__csv_real(const assay__csv *csv, size_t row, size_t col, double min, double max,
                             double *out);

/* Records "path:line: column 3 (m): <text>" and returns ASSAY_PARSE: for a caller's own rules. */
__attribute__((format(printf, 4, 5))) assay_status
assay__csv_fail(const assay__csv *csv, size_t row, size_t col, const char *format, ...);

#endif
