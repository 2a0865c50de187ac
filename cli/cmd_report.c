/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_report.c -- `assay report`: what a store holds, for people and for machines. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "cli/kernel_set.h"
#include "reports/reports.h"
#include "runtime/error.h"
#include "support/file.h"

typedef struct report_args {
    assay__common common;
    const char *format, *path, *plugin_path, *by;
} report_args;

static const char *const by_names[] = {"candidate", "set", "rival", NULL};

static const assay__arg rows[] = {
    {.name = "format",
     .kind = ASSAY__ARG_CHOICE,
     .offset = offsetof(report_args, format),
     .choices = assay__report_format_names,
     .help = "form of the report; without it the end of FILE tells, else md"},
    {.name = "by",
     .kind = ASSAY__ARG_CHOICE,
     .offset = offsetof(report_args, by),
     .choices = by_names,
     .help = "what a row of the cost report's CSV is; without it a candidate"},
    {.name = "output",
     .short_name = 'o',
     .kind = ASSAY__ARG_STRING,
     .offset = offsetof(report_args, path),
     .metavar = "FILE",
     .help = "write to this file instead of standard output"},
    {.name = "plugins",
     .kind = ASSAY__ARG_STRING,
     .offset = offsetof(report_args, plugin_path),
     .metavar = "PATH",
     .help = "colon list of folders or files to load plug-ins from, to judge which rows are stale"},
};

static const assay__args_spec spec = {
    .command = "assay report",
    .summary = "Shows what a store holds: cost (times, winners, rates), precision (errors, "
               "proofs), coverage",
    .positionals = "REPORT",
    .min_positionals = 1,
    .max_positionals = 1,
    .example = "assay report cost -o report.html\n"
               "assay report cost --by set --format csv\n"
               "assay report cost --by rival --format csv\n"
               "assay report precision --op exp --format csv -o errors.csv\n"
               "assay report coverage --op matmul",
    .notes = "REPORT is cost, precision or coverage. Columns are in docs/reports.md, JSON keys in\n"
             "docs/json.md. The store is only read.",
};

/* ---- what this program has now ---- */

typedef struct current {
    assay__kernel_set set;
    bool is_open;
    assay__report_kernel *kernels; /* owned, as the texts */
    assay__strlist texts;
    size_t count;
} current;

static assay_status add_kernel(current *now, const assay_binding *row, assay__str *dtypes)
{
    char revision[ASSAY_DIGEST_HEX];
    assay__report_kernel *k = &now->kernels[now->count];

    assay__str_reset(dtypes);
    assay__kernel_dtypes(row->dtypes, row->dtype_count, dtypes);
    ASSAY_TRY(assay__str_status(dtypes));
    assay_digest_format(&row->revision, revision);
    ASSAY_TRY(assay__strlist_add(&now->texts, assay__str_text(dtypes)));
    ASSAY_TRY(assay__strlist_add(&now->texts, revision));
    *k = (assay__report_kernel){.backend = row->manifest->name,
                                .op = assay_op_get((assay_op_id)row->op)->name,
                                .kernel = row->desc->name,
                                .dtypes = now->texts.items[now->texts.count - 2],
                                .revision = now->texts.items[now->texts.count - 1],
                                .reason = row->available ? NULL : row->reason,
                                .claims = row->desc->claims,
                                .is_explicit = row->manifest->explicit_only != 0};
    now->count++;
    return ASSAY_OK;
}

static assay_status list_kernels(current *now)
{
    const size_t count = assay_snapshot_size(now->set.rows);
    assay__str dtypes = {0};
    assay_status status = ASSAY_OK;

    now->kernels = calloc(count + 1, sizeof *now->kernels);
    if (now->kernels == NULL)
        return assay__fail(ASSAY_NOMEM, "list of kernels");
    for (size_t i = 0; status == ASSAY_OK && i < count; i++)
        status = add_kernel(now, assay_snapshot_at(now->set.rows, i), &dtypes);
    assay__str_clear(&dtypes);
    return status;
}

/* A store of another machine can be shown where no plug-in loads: then nothing is judged. */
static void look_around(const report_args *a, current *now, assay__report_options *o)
{
    const assay__strlist all = {NULL, 0, 0};
    assay_status status = assay__kernel_set_open(a->plugin_path, &all, &now->set);

    if (status == ASSAY_OK) {
        now->is_open = true;
        o->here = now->set.here;
        status = list_kernels(now);
    }
    if (status == ASSAY_OK && now->count > 0) {
        o->current = now->kernels;
        o->current_count = now->count;
    } else {
        assay__cmd_warn("report", a->common.is_quiet, "stale rows are not told apart: %s",
                        status != ASSAY_OK ? assay_last_error() : "no kernel is here");
    }
}

static void current_clear(current *now)
{
    if (now->is_open)
        assay__kernel_set_close(&now->set);
    assay__strlist_clear(&now->texts);
    free(now->kernels);
}

/* ---- the command ---- */

/* A file gets the report as it is; a terminal, what of it can be shown. */
static assay_status put_out(const char *path, char *text, size_t size)
{
    if (path != NULL && strcmp(path, "-") != 0)
        return assay__file_write(path, text, size);
    if (isatty(1) == 1) {
        for (const char *line; (line = strsep(&text, "\n")) != NULL && (text != NULL || *line);) {
            assay__put_shown(stdout, line);
            putchar('\n');
        }
        return ASSAY_OK;
    }
    if (fwrite(text, 1, size, stdout) != size)
        return assay__fail(ASSAY_IO, "cannot write to standard output");
    return ASSAY_OK;
}

static assay_status check_name(const char *name)
{
    for (size_t i = 0; assay__report_names[i] != NULL; i++)
        if (strcmp(name, assay__report_names[i]) == 0)
            return ASSAY_OK;
    return assay__fail(ASSAY_INVALID,
                       "there is no report '%s'; reports are: cost, precision, "
                       "coverage",
                       name);
}

/* The other forms hold both. */
static assay_status check_by(const report_args *a, const char *name, assay__report_format format)
{
    if (a->by == NULL || (strcmp(name, "cost") == 0 && format == ASSAY__REPORT_CSV))
        return ASSAY_OK;
    return assay__fail(ASSAY_INVALID,
                       "--by chooses the rows of the cost report's CSV; add --format csv, or leave "
                       "it out");
}

static int run(const report_args *a, const char *name)
{
    assay__report_options o = {.db_path = a->common.db,
                               .ops = &a->common.ops,
                               .backends = &a->common.backends,
                               .kernels = &a->common.kernels,
                               .dtype = a->common.dtype};
    const assay__report_format format =
        assay__report_format_of(a->common.is_json ? "json" : a->format, a->path);
    current now = {.count = 0};
    char *text = NULL;
    size_t size = 0;
    assay_status status = check_name(name);

    if (status == ASSAY_OK)
        status = assay__kernel_filter_check(&a->common);
    if (status == ASSAY_OK)
        status = check_by(a, name, format);
    if (status == ASSAY_OK) {
        look_around(a, &now, &o);
        o.by_set = a->by != NULL && strcmp(a->by, "set") == 0;
        o.by_rival = a->by != NULL && strcmp(a->by, "rival") == 0;
        status = assay__report_make(name, &o, format, &text, &size);
    }
    if (status == ASSAY_OK)
        status = put_out(a->path, text, size);
    free(text);
    current_clear(&now);
    return status == ASSAY_OK ? 0 : assay__cmd_fail("report", status);
}

int cmd_report(int argc, char **argv)
{
    report_args a = {.common = ASSAY__COMMON_DEFAULTS};
    const assay__arg_table tables[] = {
        assay__common_table(&a.common, ASSAY__COMMON(DB) | ASSAY__COMMON(JSON) |
                                           ASSAY__COMMON(QUIET) | ASSAY__COMMON(OP) |
                                           ASSAY__COMMON(DTYPE) | ASSAY__COMMON(BACKEND) |
                                           ASSAY__COMMON(KERNEL)),
        {rows, sizeof rows / sizeof rows[0], ASSAY__ARG_ALL, &a},
    };
    assay__args args;
    int code = 0;

    if (assay__cmd_begin_with(&spec, tables, 2, argc, argv, &args, &code))
        code = run(&a, args.positionals[0]);
    assay__args_clear(tables, 2);
    return code;
}
