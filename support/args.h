/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/args.h -- options as table rows: parsing, bounds, environment and --help from one place.
 *
 * getopt_long does the splitting; abbreviations of long names are refused, so that a new option
 * never changes what an old script means. Precedence: the value already in the target (the
 * default), then the row's environment variable, then the flag. Giving a single-valued option twice
 * is an error. */
#ifndef ASSAY_SUPPORT_ARGS_H
#define ASSAY_SUPPORT_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/status.h"
#include "support/str.h"

typedef enum assay__arg_kind {
    ASSAY__ARG_FLAG,     /* bool */
    ASSAY__ARG_STRING,   /* const char *, borrowed from argv or the environment */
    ASSAY__ARG_CHOICE,   /* const char *, one of `choices` */
    ASSAY__ARG_INT,      /* int64_t */
    ASSAY__ARG_REAL,     /* double */
    ASSAY__ARG_DURATION, /* double, seconds; takes 90, 90s, 1.5m, 2h, 250ms */
    ASSAY__ARG_LIST,     /* assay__strlist, comma separated, given once */
    ASSAY__ARG_REPEAT,   /* assay__strlist, one item per occurrence */
} assay__arg_kind;

typedef struct assay__arg {
    const char *name; /* long name without dashes */
    char short_name;  /* '\0': none */
    assay__arg_kind kind;
    size_t offset;       /* of the field in the table's target struct */
    double min, max;     /* inclusive, for INT, REAL and DURATION; both 0: only the type's own */
    const char *unit;    /* shown beside the bounds, or NULL */
    const char *metavar; /* shown for the value; NULL: by kind */
    const char *help;    /* one sentence, no final stop */
    const char *env;     /* environment variable, or NULL */
    const char *const *choices; /* NULL-terminated, for CHOICE */
} assay__arg;

/* Rows with the struct they fill. A row whose bit is not in `mask` is hidden and refused; bit i is
 * row i (at most 64 rows). */
typedef struct assay__arg_table {
    const assay__arg *rows;
    size_t count;
    uint64_t mask; /* ASSAY__ARG_ALL: every row */
    void *target;  /* holds the defaults on entry; list fields start zeroed */
} assay__arg_table;

#define ASSAY__ARG_ALL UINT64_MAX

/* The face of a command. */
typedef struct assay__args_spec {
    const char *command;     /* "assay sweep" */
    const char *summary;     /* one sentence */
    const char *positionals; /* as in the usage line, "A.db B.db"; NULL: none taken */
    size_t min_positionals, max_positionals;
    const char *example; /* one or more lines of shell */
    const char *notes;   /* more text behind the options, or NULL */
} assay__args_spec;

typedef struct assay__args {
    bool wants_help;    /* --help or -h was given: nothing else was checked */
    char **positionals; /* borrowed: a part of argv, which is reordered */
    size_t positional_count;
} assay__args;

/* Parses argv[1..argc). ASSAY_INVALID with a text that names the option, its bounds or the nearest
 * known name, and the command whose --help to read. On any status the targets' lists are to be
 * cleared with assay__args_clear. Not for several threads at once (getopt). */
assay_status assay__args_parse(const assay__args_spec *spec, const assay__arg_table *tables,
                               size_t table_count, int argc, char **argv, assay__args *out);

/* Frees the lists in the targets. */
void assay__args_clear(const assay__arg_table *tables, size_t table_count);

/* Usage, summary, options with bounds, defaults (from the targets as they are now) and environment
 * variables, notes, example. */
assay_status assay__args_help(const assay__args_spec *spec, const assay__arg_table *tables,
                              size_t table_count, FILE *file);

#endif
