/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/args.c -- parsing options by table over getopt_long. */
#include "support/args.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "support/number.h"

/* Values of getopt_long for long options start above every character. */
#define LONG_BASE 256
#define HELP_CODE 'h'

typedef struct args_run {
    const assay__args_spec *spec;
    const assay__arg_table *tables;
    size_t table_count;
    bool *given; /* [all rows] */
    struct option *long_options;
    const assay__arg **rows; /* [all rows] in table order; NULL where masked out */
    void **fields;           /* [all rows] */
    size_t count;
    assay__str short_options;
} args_run;

static bool is_shown(const assay__arg_table *table, size_t row)
{
    return row >= 64 || (table->mask >> row & 1) != 0;
}

static assay_status run_init(args_run *run)
{
    size_t total = 0, longs = 0;

    for (size_t t = 0; t < run->table_count; t++)
        total += run->tables[t].count;
    run->given = calloc(total + 1, sizeof *run->given);
    run->long_options = calloc(total + 2, sizeof *run->long_options);
    run->rows = calloc(total + 1, sizeof *run->rows);
    run->fields = calloc(total + 1, sizeof *run->fields);
    if (run->given == NULL || run->long_options == NULL || run->rows == NULL || run->fields == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for %zu options", total);
    assay__str_add(&run->short_options, ":h");
    run->long_options[longs++] = (struct option){"help", no_argument, NULL, HELP_CODE};
    for (size_t t = 0; t < run->table_count; t++)
        for (size_t i = 0; i < run->tables[t].count; i++, run->count++) {
            const assay__arg *row = &run->tables[t].rows[i];
            if (!is_shown(&run->tables[t], i))
                continue;
            const bool is_flag = row->kind == ASSAY__ARG_FLAG;
            run->rows[run->count] = row;
            run->fields[run->count] = (char *)run->tables[t].target + row->offset;
            run->long_options[longs++] =
                (struct option){row->name, is_flag ? no_argument : required_argument, NULL,
                                LONG_BASE + (int)run->count};
            if (row->short_name != '\0')
                assay__str_addf(&run->short_options, "%c%s", row->short_name, is_flag ? "" : ":");
        }
    return assay__str_status(&run->short_options);
}

static void run_free(args_run *run)
{
    free(run->given);
    free(run->long_options);
    free(run->rows);
    free(run->fields);
    assay__str_clear(&run->short_options);
}

static assay_status set_flag(bool *field, const char *value)
{
    static const char *const yes[] = {"1", "true", "yes", "on"};
    static const char *const no[] = {"0", "false", "no", "off"};

    for (size_t i = 0; i < 4; i++)
        if (strcmp(value, yes[i]) == 0 || strcmp(value, no[i]) == 0) {
            *field = strcmp(value, yes[i]) == 0;
            return ASSAY_OK;
        }
    return assay__fail(ASSAY_INVALID, "'%.60s' is neither 1 nor 0", value);
}

static assay_status set_choice(const assay__arg *row, const char **field, const char *value)
{
    assay__str known = {0};
    size_t count = 0;

    for (; row->choices[count] != NULL; count++) {
        if (strcmp(row->choices[count], value) == 0) {
            assay__str_clear(&known);
            *field = row->choices[count];
            return ASSAY_OK;
        }
        assay__str_addf(&known, "%s%s", count > 0 ? ", " : "", row->choices[count]);
    }
    const char *near = assay__nearest(value, row->choices, count);
    assay_status status = assay__fail(
        ASSAY_INVALID, "'%.60s' is none of %s%s%s%s", value, assay__str_text(&known),
        near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
    assay__str_clear(&known);
    return status;
}

static bool has_bounds(const assay__arg *row)
{
    return row->min != 0.0 || row->max != 0.0;
}

/* Bounds are doubles: the ends of int64_t are taken from the type, where the cast would overflow.
 */
static assay_status set_int(const assay__arg *row, int64_t *field, const char *value)
{
    int64_t min = INT64_MIN, max = INT64_MAX;

    if (has_bounds(row) && row->min > -0x1p63)
        min = (int64_t)row->min;
    if (has_bounds(row) && row->max < 0x1p63)
        max = (int64_t)row->max;
    return assay__parse_int(value, min, max, field);
}

static assay_status set_duration(const assay__arg *row, double *field, const char *value)
{
    double seconds;

    ASSAY_TRY(assay__parse_duration(value, &seconds));
    if (has_bounds(row) && !(seconds >= row->min && seconds <= row->max))
        return assay__fail(ASSAY_INVALID, "%.60s is outside %g..%g s", value, row->min, row->max);
    *field = seconds;
    return ASSAY_OK;
}

static assay_status set_value(const assay__arg *row, void *field, const char *value)
{
    const double low = has_bounds(row) ? row->min : (double)NAN; /* NaN does not bind */
    const double high = has_bounds(row) ? row->max : (double)NAN;

    switch (row->kind) {
    case ASSAY__ARG_FLAG:
        return set_flag(field, value);
    case ASSAY__ARG_STRING:
        *(const char **)field = value;
        return ASSAY_OK;
    case ASSAY__ARG_CHOICE:
        return set_choice(row, field, value);
    case ASSAY__ARG_INT:
        return set_int(row, field, value);
    case ASSAY__ARG_REAL:
        return assay__parse_real(value, low, high, field);
    case ASSAY__ARG_DURATION:
        return set_duration(row, field, value);
    case ASSAY__ARG_LIST:
        assay__strlist_clear(field);
        return assay__strlist_split(field, value, ',');
    case ASSAY__ARG_REPEAT:
        return value[0] == '\0' ? assay__fail(ASSAY_INVALID, "an empty value")
                                : assay__strlist_add(field, value);
    }
    return assay__fail(ASSAY_INTERNAL, "option --%s has an unknown kind", row->name);
}

/* Flags win, so the environment is asked only for what was not given. */
static assay_status take_environment(args_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const assay__arg *row = run->rows[i];
        if (row == NULL || row->env == NULL || run->given[i])
            continue;
        const char *value = getenv(row->env);
        if (value == NULL || value[0] == '\0')
            continue;
        assay_status status = set_value(row, run->fields[i], value);
        if (status == ASSAY_NOMEM)
            return status;
        if (status != ASSAY_OK)
            return assay__fail(ASSAY_INVALID, "environment variable %s: %s", row->env,
                               assay_last_error());
    }
    return ASSAY_OK;
}

static assay_status take_option(args_run *run, size_t index, const char *value)
{
    const assay__arg *row = run->rows[index];

    if (run->given[index] && row->kind != ASSAY__ARG_REPEAT && row->kind != ASSAY__ARG_FLAG)
        return assay__fail(ASSAY_INVALID, "--%s is given twice; see %s --help", row->name,
                           run->spec->command);
    run->given[index] = true;
    assay_status status = set_value(row, run->fields[index], value != NULL ? value : "1");
    if (status == ASSAY_NOMEM || status == ASSAY_OK)
        return status;
    return assay__fail(ASSAY_INVALID, "--%s: %s; see %s --help", row->name, assay_last_error(),
                       run->spec->command);
}

/* True for a name that some table has, though not for this command. */
static bool is_masked(const args_run *run, const char *name)
{
    for (size_t t = 0; t < run->table_count; t++)
        for (size_t i = 0; i < run->tables[t].count; i++)
            if (strcmp(run->tables[t].rows[i].name, name) == 0)
                return !is_shown(&run->tables[t], i);
    return false;
}

static assay_status fail_unknown(const args_run *run, const char *argument)
{
    const char *names[LONG_BASE];
    char name[64];
    size_t count = 0;

    if (strncmp(argument, "--", 2) != 0)
        return assay__fail(ASSAY_INVALID, "unknown option %.60s; see %s --help", argument,
                           run->spec->command);
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    if (is_masked(run, name))
        return assay__fail(ASSAY_INVALID, "%s does not take --%s; see %s --help",
                           run->spec->command, name, run->spec->command);
    for (; count < LONG_BASE && run->long_options[count].name != NULL; count++)
        names[count] = run->long_options[count].name;
    const char *near = assay__nearest(name, names, count);
    return assay__fail(ASSAY_INVALID, "unknown option --%s%s%s%s; see %s --help", name,
                       near != NULL ? "; did you mean --" : "", near != NULL ? near : "",
                       near != NULL ? "?" : "", run->spec->command);
}

/* The argument getopt has just read an option from. */
static const char *option_argument(char **argv)
{
    const bool is_separate = optarg != NULL && optarg == argv[optind - 1];
    return argv[optind - 1 - is_separate];
}

static bool is_abbreviated(const char *argument, const char *name)
{
    return strncmp(argument, "--", 2) == 0 && strcspn(argument + 2, "=") != strlen(name);
}

/* getopt's '?': an unknown option, or a flag that was given a value. */
static assay_status fail_refused(const args_run *run, const char *argument)
{
    const bool is_long = strncmp(argument, "--", 2) == 0;

    if (!is_long)
        return fail_unknown(run, (char[]){'-', (char)optopt, '\0'});
    if (optopt == 0)
        return fail_unknown(run, argument);
    return assay__fail(ASSAY_INVALID, "%.*s takes no value; see %s --help",
                       (int)strcspn(argument, "="), argument, run->spec->command);
}

static assay_status take_code(args_run *run, int code, char **argv, assay__args *out)
{
    size_t index = (size_t)code - LONG_BASE;

    if (code == '?')
        return fail_refused(run, argv[optind - 1]);
    if (code == ':')
        return assay__fail(ASSAY_INVALID, "%s needs a value; see %s --help", argv[optind - 1],
                           run->spec->command);
    if (code == HELP_CODE) {
        if (is_abbreviated(option_argument(argv), "help"))
            return fail_unknown(run, option_argument(argv));
        out->wants_help = true;
        return ASSAY_OK;
    }
    if (code < LONG_BASE)
        for (index = 0; index < run->count; index++)
            if (run->rows[index] != NULL && run->rows[index]->short_name == code)
                break;
    if (code >= LONG_BASE && is_abbreviated(option_argument(argv), run->rows[index]->name))
        return fail_unknown(run, option_argument(argv));
    return take_option(run, index, optarg);
}

static assay_status check_positionals(const args_run *run, const assay__args *args)
{
    const assay__args_spec *spec = run->spec;

    if (args->positional_count < spec->min_positionals)
        return assay__fail(ASSAY_INVALID, "too few arguments: %s %s; see %s --help", spec->command,
                           spec->positionals, spec->command);
    if (args->positional_count <= spec->max_positionals)
        return ASSAY_OK;
    return assay__fail(ASSAY_INVALID, "unexpected argument '%.60s'; see %s --help",
                       args->positionals[spec->max_positionals], spec->command);
}

static assay_status take_all(args_run *run, int argc, char **argv, assay__args *out)
{
    int code;

    ASSAY_TRY(run_init(run));
    optind = 0; /* glibc: forget what an earlier call remembered */
    opterr = 0;
    while ((code = getopt_long(argc, argv, run->short_options.data, run->long_options, NULL)) !=
           -1) {
        ASSAY_TRY(take_code(run, code, argv, out));
        if (out->wants_help)
            return ASSAY_OK;
    }
    ASSAY_TRY(take_environment(run));
    out->positionals = argv + optind;
    out->positional_count = (size_t)(argc - optind);
    return check_positionals(run, out);
}

assay_status assay__args_parse(const assay__args_spec *spec, const assay__arg_table *tables,
                               size_t table_count, int argc, char **argv, assay__args *out)
{
    args_run run = {.spec = spec, .tables = tables, .table_count = table_count};
    assay__args args = {0};

    assay_status status = take_all(&run, argc, argv, &args);
    run_free(&run);
    if (status == ASSAY_OK)
        *out = args;
    return status;
}

void assay__args_clear(const assay__arg_table *tables, size_t table_count)
{
    for (size_t t = 0; t < table_count; t++)
        for (size_t i = 0; i < tables[t].count; i++) {
            const assay__arg *row = &tables[t].rows[i];
            if (row->kind == ASSAY__ARG_LIST || row->kind == ASSAY__ARG_REPEAT)
                assay__strlist_clear((void *)((char *)tables[t].target + row->offset));
        }
}
