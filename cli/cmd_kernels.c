/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_kernels.c -- `assay kernels`: the rows of the table, and why one cannot run here. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "cli/kernel_set.h"
#include "runtime/error.h"

typedef struct kernels_args {
    assay__common common;
    const char *format;
    const char *plugin_path;
} kernels_args;

static const assay__arg rows[] = {
    {.name = "format",
     .kind = ASSAY__ARG_CHOICE,
     .offset = offsetof(kernels_args, format),
     .choices = assay__listing_names,
     .help = "form of the listing"},
    {.name = "plugins",
     .kind = ASSAY__ARG_STRING,
     .offset = offsetof(kernels_args, plugin_path),
     .metavar = "PATH",
     .help = "colon list of folders or files to load plug-ins from"},
};

static const assay__args_spec spec = {
    .command = "assay kernels",
    .summary = "Lists kernels with tunables, claims and revision, and why one cannot run here",
    .example = "assay kernels --op matmul --dtype f32\n"
               "assay kernels --backend cpu,openblas --json",
    .notes = "A claim is what a kernel's author says of its error; what was measured is in\n"
             "'assay report precision'. The kernel of the lowest rank that can run is the default.",
};

/* ---- JSON ---- */

static json_t *tunable_json(const assay_tunable *t)
{
    json_t *object = json_object(), *values = json_array();
    int bad = 0;

    for (size_t i = 0; i < t->value_count; i++)
        bad |= (int)assay__json_append_take(values, json_integer(t->values[i]));
    bad |= (int)assay__json_put_string(object, "name", t->name);
    bad |= (int)assay__json_put_take(object, "values", values);
    bad |= (int)assay__json_put_int(object, "default", t->default_value);
    bad |= (int)assay__json_put_string(object, "doc", t->doc);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static assay_status put_claim(json_t *object, const char *key, double value)
{
    return value >= 0 ? assay__json_put_real(object, key, value) : ASSAY_OK;
}

static json_t *claims_json(const assay_claims *claims)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= (int)put_claim(object, "max_ulp", claims->max_ulp);
    bad |= (int)put_claim(object, "max_rho", claims->max_rho);
    bad |= (int)put_claim(object, "max_rel", claims->max_rel);
    bad |= (int)put_claim(object, "max_abs", claims->max_abs);
    if (claims->stability != ASSAY_STABILITY_ABSENT)
        bad |= (int)assay__json_put_string(object, "stability",
                                           assay__stability_name((unsigned)claims->stability));
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static int put_tuple(json_t *object, const assay_binding *row)
{
    assay__str text = {0};
    int bad;

    assay__kernel_dtypes(row->dtypes, row->dtype_count, &text);
    bad = (int)assay__str_status(&text);
    bad |= (int)assay__cmd_json_words(object, "dtypes", assay__str_text(&text), ',');
    assay__str_clear(&text);
    return bad;
}

static json_t *kernel_json(const assay_binding *row)
{
    json_t *object = json_object(), *tunables = json_array();
    char revision[ASSAY_DIGEST_HEX];
    int bad = 0;

    assay_digest_format(&row->revision, revision);
    bad |= (int)assay__json_put_string(object, "kernel", row->desc->name);
    bad |= (int)assay__json_put_string(object, "op", assay_op_get((assay_op_id)row->op)->name);
    bad |= put_tuple(object, row);
    bad |= (int)assay__json_put_string(object, "backend", row->manifest->name);
    if (assay__kernel_has_revision(row))
        bad |= (int)assay__json_put_string(object, "revision", revision);
    for (size_t i = 0; i < row->desc->tunable_count; i++)
        bad |= (int)assay__json_append_take(tunables, tunable_json(&row->desc->tunables[i]));
    bad |= (int)assay__json_put_take(object, "tunables", tunables);
    bad |= (int)assay__json_put_int(object, "default_rank", row->default_rank);
    bad |= (int)assay__json_put_take(object, "claims", claims_json(&row->desc->claims));
    bad |= (int)assay__json_put_bool(object, "available", row->available != 0);
    if (!row->available)
        bad |= (int)assay__json_put_string(object, "reason", row->reason);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *all_json(const kernels_args *a, const assay__kernel_set *set)
{
    json_t *root = assay__cmd_json_object("assay.kernels/1"), *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < assay_snapshot_size(set->rows); i++) {
        const assay_binding *row = assay_snapshot_at(set->rows, i);
        if (assay__kernel_wanted(&a->common, row))
            bad |= (int)assay__json_append_take(list, kernel_json(row));
    }
    bad |= (int)assay__json_put_take(root, "kernels", list);
    if (bad == 0)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- text, CSV, Markdown ---- */

static void columns(assay__table *table)
{
    static const char *const titles[] = {"op",       "dtypes", "backend",  "kernel",   "rank",
                                         "tunables", "claims", "revision", "available"};

    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        assay__table_column(table, titles[i],
                            strcmp(titles[i], "rank") == 0 ? ASSAY__RIGHT : ASSAY__LEFT);
}

static void claims_text(const assay_claims *claims, assay__str *out)
{
    const struct {
        const char *name;
        double value;
    } limits[] = {{"ulp", claims->max_ulp},
                  {"rho", claims->max_rho},
                  {"rel", claims->max_rel},
                  {"abs", claims->max_abs}};

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (limits[i].value >= 0)
            assay__str_addf(out, "%s%s<=%.6g", out->len > 0 ? " " : "", limits[i].name,
                            limits[i].value);
    if (claims->stability != ASSAY_STABILITY_ABSENT)
        assay__str_addf(out, "%sstable:%s", out->len > 0 ? " " : "",
                        assay__stability_name((unsigned)claims->stability));
}

static void put_row(assay__table *table, const assay_binding *row, assay__listing how)
{
    char revision[ASSAY_DIGEST_HEX];
    assay__str text = {0};

    assay__table_cell(table, assay_op_get((assay_op_id)row->op)->name);
    assay__kernel_dtypes(row->dtypes, row->dtype_count, &text);
    assay__table_cell(table, assay__str_text(&text));
    assay__table_cell(table, row->manifest->name);
    assay__table_cell(table, row->desc->name);
    assay__table_cellf(table, "%d", row->default_rank);
    assay__str_reset(&text);
    assay__kernel_tunables(row->desc, &text);
    assay__table_cell(table, assay__str_text(&text));
    assay__str_reset(&text);
    claims_text(&row->desc->claims, &text);
    assay__table_cell(table, assay__str_text(&text));
    assay_digest_format(&row->revision, revision);
    if (how == ASSAY__LISTING_TEXT)
        revision[12] = '\0';
    assay__table_cell(table, assay__kernel_has_revision(row) ? revision : NULL);
    assay__table_cellf(table, "%s%s",
                       row->available ? "yes" : "no: ", row->available ? "" : row->reason);
    assay__table_paint(table, row->available ? ASSAY__PLAIN : ASSAY__YELLOW);
    assay__str_clear(&text);
}

static void warn_none(const kernels_args *a, const assay__kernel_set *set)
{
    const size_t count = assay_snapshot_size(set->rows);
    const char **names = calloc(count + 1, sizeof *names), *near = NULL;

    for (size_t i = 0; names != NULL && i < count; i++)
        names[i] = assay_snapshot_at(set->rows, i)->desc->name;
    if (names != NULL)
        (void)assay__glob_idle((const char *const *)a->common.kernels.items,
                               a->common.kernels.count, names, count, &near);
    assay__cmd_warn("kernels", a->common.is_quiet, "no kernel matches%s%s%s",
                    near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                    near != NULL ? "'?" : "");
    free(names);
}

static assay_status print_rows(const kernels_args *a, const assay__kernel_set *set)
{
    const assay__listing how = assay__listing_of(a->format);
    assay__table table = {0};
    assay_status status;
    size_t shown = 0;

    columns(&table);
    for (size_t i = 0; i < assay_snapshot_size(set->rows); i++) {
        const assay_binding *row = assay_snapshot_at(set->rows, i);
        if (!assay__kernel_wanted(&a->common, row))
            continue;
        put_row(&table, row, how);
        shown++;
    }
    status = assay__listing_print(&table, how);
    assay__table_clear(&table);
    if (shown == 0)
        warn_none(a, set);
    return status;
}

static int run(const kernels_args *a)
{
    assay__kernel_set set;
    assay_status status = assay__kernel_filter_check(&a->common);
    int code = 0;

    if (status == ASSAY_OK)
        status = assay__kernel_set_open(a->plugin_path, &a->common.backends, &set);
    if (status != ASSAY_OK)
        return assay__cmd_fail("kernels", status);
    status = assay__plugins_check(set.plugins, a->plugin_path);
    if (status != ASSAY_OK) {
        assay__kernel_set_close(&set);
        return assay__cmd_fail("kernels", assay__fail_context(status, "--plugins"));
    }
    assay__kernel_set_warn("kernels", a->common.is_quiet, &set);
    if (a->common.is_json)
        code = assay__cmd_print_json("kernels", all_json(a, &set));
    else
        status = print_rows(a, &set);
    if (status != ASSAY_OK)
        code = assay__cmd_fail("kernels", status);
    assay__kernel_set_close(&set);
    return code;
}

int cmd_kernels(int argc, char **argv)
{
    kernels_args a = {.common = ASSAY__COMMON_DEFAULTS, .format = "text"};
    const assay__arg_table tables[] = {
        assay__common_table(&a.common, ASSAY__COMMON(JSON) | ASSAY__COMMON(QUIET) |
                                           ASSAY__COMMON(BACKEND) | ASSAY__COMMON(KERNEL) |
                                           ASSAY__COMMON(OP) | ASSAY__COMMON(DTYPE)),
        {rows, sizeof rows / sizeof rows[0], ASSAY__ARG_ALL, &a},
    };
    int code = 0;

    if (assay__cmd_begin(&spec, tables, 2, argc, argv, &code))
        code = run(&a);
    assay__args_clear(tables, 2);
    return code;
}
