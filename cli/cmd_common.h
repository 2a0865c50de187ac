/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_common.h -- beginnings and ends that commands share, and listings in three formats. */
#ifndef ASSAY_CLI_CMD_COMMON_H
#define ASSAY_CLI_CMD_COMMON_H

#include "support/args.h"
#include "support/json.h"
#include "support/text_table.h"

/* Parses argv into the tables.  true: go on.  false: all is said (help or a usage error), and
 * *code is the exit code.  The tables are to be cleared in either case. */
bool assay__cmd_begin(const assay__args_spec *spec, const assay__arg_table *tables, size_t count,
                      int argc, char **argv, int *code);
/* The same, of a command that takes words besides options. */
bool assay__cmd_begin_with(const assay__args_spec *spec, const assay__arg_table *tables,
                           size_t count, int argc, char **argv, assay__args *args, int *code);

/* Prints `value` indented to stdout and drops it; NULL is out of memory.  Gives the exit code. */
int assay__cmd_print_json(const char *command, json_t *value);

/* One line on stderr, "assay COMMAND: text", unless quiet. */
__attribute__((format(printf, 3, 4))) void assay__cmd_warn(const char *command, bool is_quiet,
                                                           const char *format, ...);

/* An object {"schema": schema}; NULL when out of memory. */
json_t *assay__cmd_json_object(const char *schema);

/* Adds the parts of `text` between separators as strings: "f64|f32" -> ["f64", "f32"]. */
assay_status assay__cmd_json_words(json_t *object, const char *key, const char *text,
                                   char separator);

typedef enum assay__listing {
    ASSAY__LISTING_TEXT,
    ASSAY__LISTING_CSV,
    ASSAY__LISTING_MD,
} assay__listing;

/* NULL-terminated names for a --format option, and what one of them means (NULL: text). */
extern const char *const assay__listing_names[];
assay__listing assay__listing_of(const char *name);

/* Prints the table to stdout; an unknown is "-" in text and empty in CSV and Markdown. */
assay_status assay__listing_print(assay__table *table, assay__listing how);

#endif
