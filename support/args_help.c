/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/args_help.c -- the --help text, generated from the rows that are parsed. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/error.h"
#include "support/args.h"

#define HELP_WIDTH  80
#define LEFT_WIDTH  26
#define LEFT_INDENT 2

static const char *metavar_of(const assay__arg *row)
{
    static const char *const names[] = {
        [ASSAY__ARG_FLAG] = "",        [ASSAY__ARG_STRING] = "TEXT", [ASSAY__ARG_CHOICE] = "NAME",
        [ASSAY__ARG_INT] = "N",        [ASSAY__ARG_REAL] = "X",      [ASSAY__ARG_DURATION] = "TIME",
        [ASSAY__ARG_LIST] = "A,B,...", [ASSAY__ARG_REPEAT] = "TEXT"};

    return row->metavar != NULL ? row->metavar : names[row->kind];
}

static void add_bounds(assay__str *text, const assay__arg *row)
{
    const char *unit = row->unit != NULL ? row->unit : "";
    const char *gap = row->unit != NULL ? " " : "";

    if (row->min == 0.0 && row->max == 0.0) {
        if (row->unit != NULL)
            assay__str_addf(text, " (%s)", unit);
    } else if (row->max >= 0x1p62 || isinf(row->max)) {
        assay__str_addf(text, " (at least %.12g%s%s)", row->min, gap, unit);
    } else {
        assay__str_addf(text, " (%.12g..%.12g%s%s)", row->min, row->max, gap, unit);
    }
}

static void add_list_default(assay__str *text, const assay__strlist *list)
{
    for (size_t i = 0; i < list->count; i++)
        assay__str_addf(text, "%s%s", i > 0 ? "," : "; default ", list->items[i]);
}

/* A default that means "not given" (NULL, NaN, INT64_MIN, an empty list) is not shown. */
static void add_default(assay__str *text, const assay__arg *row, const void *field)
{
    switch (row->kind) {
    case ASSAY__ARG_FLAG:
        break;
    case ASSAY__ARG_STRING:
    case ASSAY__ARG_CHOICE: {
        const char *value = *(const char *const *)field;
        if (value != NULL)
            assay__str_addf(text, "; default %s", value);
        break;
    }
    case ASSAY__ARG_INT:
        if (*(const int64_t *)field != INT64_MIN)
            assay__str_addf(text, "; default %" PRId64, *(const int64_t *)field);
        break;
    case ASSAY__ARG_REAL:
    case ASSAY__ARG_DURATION:
        if (!isnan(*(const double *)field))
            assay__str_addf(text, "; default %g%s", *(const double *)field,
                            row->kind == ASSAY__ARG_DURATION ? " s" : "");
        break;
    case ASSAY__ARG_LIST:
    case ASSAY__ARG_REPEAT:
        add_list_default(text, field);
        break;
    }
}

static void add_choices(assay__str *text, const assay__arg *row)
{
    for (size_t i = 0; row->choices != NULL && row->choices[i] != NULL; i++)
        assay__str_addf(text, "%s%s", i == 0 ? ": " : ", ", row->choices[i]);
}

/* Breaks the description at blanks; later lines are indented to the right column. */
static void add_wrapped(assay__str *page, const char *text, size_t column)
{
    size_t at = column;

    while (*text != '\0') {
        const size_t word = strcspn(text, " ");
        if (at > column && at + 1 + word > HELP_WIDTH) {
            assay__str_addf(page, "\n%*s", (int)column, "");
            at = column;
        } else if (at > column) {
            assay__str_addc(page, ' ');
            at++;
        }
        assay__str_addn(page, text, word);
        at += word;
        text += word + (text[word] == ' ');
    }
    assay__str_addc(page, '\n');
}

static void add_line(assay__str *page, const char *left, const char *right)
{
    const size_t width = assay__utf8_width(left) + LEFT_INDENT;
    const size_t column = LEFT_INDENT + LEFT_WIDTH;

    assay__str_addf(page, "%*s%s", LEFT_INDENT, "", left);
    if (width + 1 > column)
        assay__str_addf(page, "\n%*s", (int)column, "");
    else
        assay__str_addf(page, "%*s", (int)(column - width), "");
    add_wrapped(page, right, column);
}

static void add_row(assay__str *page, const assay__arg *row, const void *target)
{
    const char *metavar = metavar_of(row);
    assay__str left = {0}, right = {0};

    if (row->short_name != '\0')
        assay__str_addf(&left, "-%c, ", row->short_name);
    else
        assay__str_add(&left, "    ");
    assay__str_addf(&left, "--%s%s%s", row->name, metavar[0] != '\0' ? " " : "", metavar);
    assay__str_add(&right, row->help);
    add_choices(&right, row);
    add_bounds(&right, row);
    if (row->kind == ASSAY__ARG_REPEAT)
        assay__str_add(&right, "; may be repeated");
    add_default(&right, row, (const char *)target + row->offset);
    if (row->env != NULL)
        assay__str_addf(&right, " [$%s]", row->env);
    add_line(page, assay__str_text(&left), assay__str_text(&right));
    page->failed = page->failed || left.failed || right.failed;
    assay__str_clear(&left);
    assay__str_clear(&right);
}

static void add_example(assay__str *page, const char *example)
{
    assay__str_add(page, "\nexample:\n");
    while (*example != '\0') {
        const size_t len = strcspn(example, "\n");
        assay__str_add(page, "  ");
        assay__str_addn(page, example, len);
        assay__str_addc(page, '\n');
        example += len + (example[len] == '\n');
    }
}

static void add_page(assay__str *page, const assay__args_spec *spec, const assay__arg_table *tables,
                     size_t table_count)
{
    assay__str_addf(page, "usage: %s [options]%s%s\n", spec->command,
                    spec->positionals != NULL ? " " : "",
                    spec->positionals != NULL ? spec->positionals : "");
    if (spec->summary != NULL)
        assay__str_addf(page, "%s\n", spec->summary);
    assay__str_add(page, "\noptions:\n");
    for (size_t t = 0; t < table_count; t++)
        for (size_t i = 0; i < tables[t].count; i++)
            if (i >= 64 || (tables[t].mask >> i & 1) != 0)
                add_row(page, &tables[t].rows[i], tables[t].target);
    add_line(page, "-h, --help", "print this text");
    if (spec->notes != NULL)
        assay__str_addf(page, "\n%s\n", spec->notes);
    if (spec->example != NULL)
        add_example(page, spec->example);
}

assay_status assay__args_help(const assay__args_spec *spec, const assay__arg_table *tables,
                              size_t table_count, FILE *file)
{
    assay__str page = {0};

    add_page(&page, spec, tables, table_count);
    assay_status status = assay__str_status(&page);
    if (status == ASSAY_OK && (fputs(page.data, file) < 0 || fflush(file) != 0))
        status = assay__fail(ASSAY_IO, "cannot write the help text");
    assay__str_clear(&page);
    return status;
}
