/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/sweep_fates.c -- see sweep_fates.h. */
#include "cli/sweep_fates.h"

#include <stdlib.h>
#include <string.h>

#include "db/db_names.h"
#include "runtime/error.h"
#include "support/json.h"
#include "support/str.h"

void assay__fates_add(assay__fate_list *list, const assay__fate *f)
{
    struct assay__fate_line line;

    memset(&line, 0, sizeof line);
    line.verdict = assay__db_verdict_name(f->verdict);
    line.problems = 1;
    (void)snprintf(line.variant, sizeof line.variant, "%s/%s%s%s%s", f->backend, f->kernel,
                   f->tunables[0] ? "{" : "", f->tunables, f->tunables[0] ? "}" : "");
    assay__text_fit(f->problem, line.problem, sizeof line.problem);
    assay__text_fit(f->reason, line.reason, sizeof line.reason);
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->lines[i].variant, line.variant) == 0 &&
            strcmp(list->lines[i].verdict, line.verdict) == 0) {
            list->lines[i].problems++;
            return;
        }
    if (list->lines == NULL)
        list->lines = calloc(ASSAY__FATES_SHOWN, sizeof *list->lines);
    if (list->lines == NULL || list->count == ASSAY__FATES_SHOWN)
        list->more++;
    else
        list->lines[list->count++] = line;
}

static void more_json(size_t more, FILE *file)
{
    json_t *row = json_object();
    int bad = 0;

    bad |= (int)assay__json_put_string(row, "schema", "assay.sweep.fates/1");
    bad |= (int)assay__json_put_int(row, "more", (int64_t)more);
    if (bad == 0)
        (void)assay__json_write(row, false, file);
    json_decref(row);
}

void assay__fates_json(const assay__fate_list *list, FILE *file)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct assay__fate_line *line = &list->lines[i];
        json_t *row = json_object();
        int bad = 0;

        bad |= (int)assay__json_put_string(row, "schema", "assay.sweep.fate/1");
        bad |= (int)assay__json_put_string(row, "variant", line->variant);
        bad |= (int)assay__json_put_string(row, "verdict", line->verdict);
        bad |= (int)assay__json_put_string(row, "reason", line->reason);
        bad |= (int)assay__json_put_string(row, "problem", line->problem);
        bad |= (int)assay__json_put_int(row, "problems", (int64_t)line->problems);
        if (bad == 0)
            (void)assay__json_write(row, false, file);
        json_decref(row);
    }
    if (list->more > 0)
        more_json(list->more, file);
}

void assay__fates_print(const assay__fate_list *list, FILE *file)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct assay__fate_line *line = &list->lines[i];
        fprintf(file, "  %s: %s: ", line->variant, line->verdict);
        assay__put_shown(file, line->reason);
        fprintf(file, " (%s", line->problem);
        if (line->problems > 1)
            fprintf(file, " and %zu more", line->problems - 1);
        fputs(")\n", file);
    }
    if (list->more > 0)
        fprintf(file, "  ... and %zu more; 'assay quarantine list' has those that failed\n",
                list->more);
}

void assay__fates_clear(assay__fate_list *list)
{
    free(list->lines);
    list->lines = NULL;
    list->count = list->more = 0;
}
