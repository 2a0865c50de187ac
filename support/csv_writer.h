/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/csv_writer.h -- CSV out, quoted as RFC 4180 says, lines ended by LF.
 *
 * Fields are put in order, then the row is ended; a row with another count than the header is
 * ASSAY_INTERNAL. Write errors are sticky and told by assay__csv_finish. */
#ifndef ASSAY_SUPPORT_CSV_WRITER_H
#define ASSAY_SUPPORT_CSV_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/status.h"

typedef struct assay__csv_writer {
    FILE *file;       /* borrowed */
    size_t ncols;     /* of the first row */
    size_t field;     /* put in this row */
    size_t rows;      /* ended, the header included */
    size_t bad_row;   /* first row with another count; 0: none */
    bool is_terminal; /* then fields are shown, not data: see assay__str_add_shown */
} assay__csv_writer;

void assay__csv_begin(assay__csv_writer *writer, FILE *file);
void assay__csv_put(assay__csv_writer *writer, const char *text); /* NULL: an empty field */
void assay__csv_put_int(assay__csv_writer *writer, int64_t value);
/* 17 significant digits; NaN and infinity are unknown, so an empty field. */
void assay__csv_put_real(assay__csv_writer *writer, double value);
void assay__csv_end_row(assay__csv_writer *writer);
/* Flushes; ASSAY_IO when anything could not be written, ASSAY_INTERNAL for ragged rows. */
assay_status assay__csv_finish(assay__csv_writer *writer);

#endif
