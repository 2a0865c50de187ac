/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/csv_columns.c -- column names, typed cells and error places of a read CSV. */
#include "support/csv_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "support/number.h"
#include "support/str.h"

static bool column_is(const assay__csv_column *column, const char *name)
{
    if (strcmp(column->name, name) == 0)
        return true;
    for (size_t i = 0; column->aliases != NULL && column->aliases[i] != NULL; i++)
        if (strcmp(column->aliases[i], name) == 0)
            return true;
    return false;
}

static const assay__csv_column *find_known(const assay__csv_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->count; i++)
        if (column_is(&spec->columns[i], name))
            return &spec->columns[i];
    return NULL;
}

static assay_status list_known(const assay__csv_spec *spec, assay__strlist *names)
{
    for (size_t i = 0; i < spec->count; i++) {
        const assay__csv_column *column = &spec->columns[i];
        ASSAY_TRY(assay__strlist_add(names, column->name));
        for (size_t j = 0; column->aliases != NULL && column->aliases[j] != NULL; j++)
            ASSAY_TRY(assay__strlist_add(names, column->aliases[j]));
    }
    return ASSAY_OK;
}

static assay_status fail_unknown(const assay__csv *csv, size_t col, const assay__csv_spec *spec)
{
    assay__strlist names = {0};
    char *known = NULL;
    assay_status status = list_known(spec, &names);

    if (status == ASSAY_OK)
        status = assay__strlist_join(&names, ", ", &known);
    if (status == ASSAY_OK) {
        const char *near =
            assay__nearest(csv->written[col], (const char *const *)names.items, names.count);
        status = assay__fail(
            ASSAY_PARSE, "%s:%zu: column %zu: unknown column '%s'%s%s%s; known: %s", csv->path,
            csv->header_line, col + 1, csv->written[col], near != NULL ? "; did you mean '" : "",
            near != NULL ? near : "", near != NULL ? "'?" : "", known);
    }
    free(known);
    assay__strlist_clear(&names);
    return status;
}

static assay_status name_column(assay__csv *csv, size_t col, const assay__csv_spec *spec)
{
    const char *written = csv->written[col];
    const char *name = written;

    if (written[0] == '\0')
        return assay__fail(ASSAY_PARSE, "%s:%zu: column %zu has no name", csv->path,
                           csv->header_line, col + 1);
    if (spec != NULL && spec->count > 0) {
        const assay__csv_column *known = find_known(spec, written);
        if (known == NULL && !spec->allows_unknown)
            return fail_unknown(csv, col, spec);
        name = known != NULL ? known->name : written;
    }
    for (size_t i = 0; i < col; i++)
        if (strcmp(csv->header[i], name) == 0)
            return assay__fail(ASSAY_PARSE, "%s:%zu: column %zu: '%s' repeats column %zu ('%s')",
                               csv->path, csv->header_line, col + 1, written, i + 1,
                               csv->written[i]);
    csv->header[col] = strdup(name);
    return csv->header[col] == NULL ? assay__fail(ASSAY_NOMEM, "%s: out of memory", csv->path)
                                    : ASSAY_OK;
}

assay_status assay__csv_name_columns(assay__csv *csv, const assay__csv_spec *spec)
{
    csv->header = calloc(csv->ncols, sizeof *csv->header);
    if (csv->header == NULL)
        return assay__fail(ASSAY_NOMEM, "%s: out of memory", csv->path);
    for (size_t col = 0; col < csv->ncols; col++)
        ASSAY_TRY(name_column(csv, col, spec));
    for (size_t i = 0; spec != NULL && i < spec->count; i++)
        if (spec->columns[i].is_required && assay__csv_find(csv, spec->columns[i].name) < 0)
            return assay__fail(ASSAY_PARSE, "%s:%zu: required column '%s' is missing", csv->path,
                               csv->header_line, spec->columns[i].name);
    return ASSAY_OK;
}

ptrdiff_t assay__csv_find(const assay__csv *csv, const char *column)
{
    for (size_t col = 0; col < csv->ncols; col++)
        if (strcmp(csv->header[col], column) == 0)
            return (ptrdiff_t)col;
    return -1;
}

const char *assay__csv_cell(const assay__csv *csv, size_t row, size_t col)
{
    return csv->cells[row * csv->ncols + col];
}

assay_status assay__csv_fail(const assay__csv *csv, size_t row, size_t col, const char *format, ...)
{
    char text[768];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return assay__fail(ASSAY_PARSE, "%s:%zu: column %zu (%s): %s", csv->path, csv->lines[row],
                       col + 1, csv->written[col], text);
}

assay_status assay__csv_int(const assay__csv *csv, size_t row, size_t col, int64_t min, int64_t max,
                            int64_t *out)
{
    if (assay__parse_int(assay__csv_cell(csv, row, col), min, max, out) != ASSAY_OK)
        return assay__csv_fail(csv, row, col, "%s", assay_last_error());
    return ASSAY_OK;
}

assay_status assay__csv_real(const assay__csv *csv, size_t row, size_t col, double min, double max,
                             double *out)
{
    if (assay__parse_real(assay__csv_cell(csv, row, col), min, max, out) != ASSAY_OK)
        return assay__csv_fail(csv, row, col, "%s", assay_last_error());
    return ASSAY_OK;
}
