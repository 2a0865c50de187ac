/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_common.c -- beginnings and ends that commands share, and listings in three formats. */
#include "cli/cmd_common.h"

#include <string.h>

#include "cli/cmd.h"
#include "runtime/error.h"
#include "support/csv_writer.h"

/* "pick" of "assay pick". */
static const char *short_name(const assay__args_spec *spec)
{
    const char *blank = strchr(spec->command, ' ');

    return blank != NULL ? blank + 1 : spec->command;
}

bool assay__cmd_begin(const assay__args_spec *spec, const assay__arg_table *tables, size_t count,
                      int argc, char **argv, int *code)
{
    assay__args args;

    return assay__cmd_begin_with(spec, tables, count, argc, argv, &args, code);
}

bool assay__cmd_begin_with(const assay__args_spec *spec, const assay__arg_table *tables,
                           size_t count, int argc, char **argv, assay__args *args, int *code)
{
    assay_status status = assay__args_parse(spec, tables, count, argc, argv, args);

    if (status == ASSAY_OK && !args->wants_help)
        return true;
    if (status == ASSAY_OK)
        status = assay__args_help(spec, tables, count, stdout);
    *code = status == ASSAY_OK ? 0 : assay__cmd_fail(short_name(spec), status);
    return false;
}

int assay__cmd_print_json(const char *command, json_t *value)
{
    assay_status status = value != NULL ? assay__json_write(value, true, stdout)
                                        : assay__fail(ASSAY_NOMEM, "no memory for the answer");

    json_decref(value);
    return status == ASSAY_OK ? 0 : assay__cmd_fail(command, status);
}

void assay__cmd_warn(const char *command, bool is_quiet, const char *format, ...)
{
    assay__str text = {0};
    va_list args;

    if (is_quiet)
        return;
    va_start(args, format);
    assay__str_addv(&text, format, args);
    va_end(args);
    fprintf(stderr, "assay %s: ", command);
    assay__put_shown(stderr, assay__str_text(&text));
    fputc('\n', stderr);
    assay__str_clear(&text);
}

json_t *assay__cmd_json_object(const char *schema)
{
    json_t *object = json_object();

    if (object != NULL && assay__json_put_string(object, "schema", schema) != ASSAY_OK) {
        json_decref(object);
        return NULL;
    }
    return object;
}

assay_status assay__cmd_json_words(json_t *object, const char *key, const char *text,
                                   char separator)
{
    json_t *words = json_array();
    assay__strlist list = {0};
    assay_status status = assay__strlist_split(&list, text, separator);

    for (size_t i = 0; status == ASSAY_OK && i < list.count; i++)
        status = assay__json_append_take(words, assay__json_text(list.items[i]));
    assay__strlist_clear(&list);
    if (status == ASSAY_OK)
        return assay__json_put_take(object, key, words);
    json_decref(words);
    return status;
}

/* ---- listings ---- */

const char *const assay__listing_names[] = {"text", "csv", "md", NULL};

assay__listing assay__listing_of(const char *name)
{
    if (name != NULL && strcmp(name, "csv") == 0)
        return ASSAY__LISTING_CSV;
    return name != NULL && strcmp(name, "md") == 0 ? ASSAY__LISTING_MD : ASSAY__LISTING_TEXT;
}

/* Tables say "-" for an unknown; files for machines leave it out. */
static const char *known(const char *cell)
{
    return strcmp(cell, "-") == 0 ? "" : cell;
}

static assay_status print_csv(const assay__table *table)
{
    assay__csv_writer writer;

    assay__csv_begin(&writer, stdout);
    for (size_t i = 0; i < table->columns; i++)
        assay__csv_put(&writer, table->titles[i]);
    assay__csv_end_row(&writer);
    for (size_t i = 0; i < table->cells.count; i++) {
        assay__csv_put(&writer, known(table->cells.items[i]));
        if ((i + 1) % table->columns == 0)
            assay__csv_end_row(&writer);
    }
    return assay__csv_finish(&writer);
}

static assay_status print_md_cell(const char *text)
{
    assay__str shown = {0};
    assay_status status;

    assay__str_add_shown(&shown, text);
    putchar(' ');
    for (text = assay__str_text(&shown); *text != '\0'; text++) {
        if (*text == '|' || *text == '\\' || *text == '*')
            putchar('\\');
        putchar(*text);
    }
    fputs(" |", stdout);
    status = assay__str_status(&shown);
    assay__str_clear(&shown);
    return status;
}

static assay_status print_md(const assay__table *table)
{
    putchar('|');
    for (size_t i = 0; i < table->columns; i++)
        ASSAY_TRY(print_md_cell(table->titles[i]));
    fputs("\n|", stdout);
    for (size_t i = 0; i < table->columns; i++)
        fputs(table->aligns[i] == ASSAY__RIGHT ? "---:|" : "---|", stdout);
    putchar('\n');
    for (size_t i = 0; i < table->cells.count; i++) {
        if (i % table->columns == 0)
            putchar('|');
        ASSAY_TRY(print_md_cell(known(table->cells.items[i])));
        if ((i + 1) % table->columns == 0)
            putchar('\n');
    }
    return ferror(stdout) ? assay__fail(ASSAY_IO, "cannot write the listing") : ASSAY_OK;
}

assay_status assay__listing_print(assay__table *table, assay__listing how)
{
    assay__table_end_row(table);
    if (table->status != ASSAY_OK)
        return table->status;
    if (how == ASSAY__LISTING_CSV)
        return print_csv(table);
    if (how == ASSAY__LISTING_MD)
        return print_md(table);
    return assay__table_print(table, assay__wants_colour(stdout), stdout);
}
