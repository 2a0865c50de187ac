/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/kernel_set.c -- what this machine offers: host, plug-ins, and the table made of them. */
#include "cli/kernel_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_common.h"
#include "runtime/deployment_host.h"
#include "runtime/error.h"

/* One that cannot be opened, or asked what it is, is not here; 'assay devices' says why. */
static void add_device(assay__plugin *plugin, char *here, size_t cap)
{
    char hex[ASSAY_DIGEST_HEX];
    assay_deployment there;
    assay_digest digest;
    const size_t used = strlen(here);

    if (assay__plugin_open(plugin) != ASSAY_OK ||
        assay__deployment_of(plugin->manifest->name, &plugin->backend, 0, &there) != ASSAY_OK)
        return;
    assay_deployment_digest(&there, &digest);
    assay_digest_format(&digest, hex);
    if (used + 1 + sizeof hex <= cap && !assay__name_in_list(here, hex))
        (void)snprintf(here + used, cap - used, ",%s", hex);
}

static void list_here(assay__plugins *plugins, const char *host, char *here, size_t cap)
{
    (void)snprintf(here, cap, "%s", host);
    for (size_t i = 0; i < assay__plugins_count(plugins); i++) {
        assay__plugin *plugin = assay__plugins_at(plugins, i);
        if (plugin->manifest != NULL && plugin->manifest->location != ASSAY_LOCATION_CPU)
            add_device(plugin, here, cap);
    }
}

static assay_status name_host(assay_deployment *host, char hex[ASSAY_DIGEST_HEX])
{
    assay_digest digest;

    ASSAY_TRY(assay__deployment_host(host));
    assay_deployment_digest(host, &digest);
    assay_digest_format(&digest, hex);
    return ASSAY_OK;
}

assay_status assay__deployments_here(const char *plugin_path, char here[ASSAY__HERE_MAX])
{
    char hex[ASSAY_DIGEST_HEX];
    assay__plugins *plugins = NULL;
    assay_deployment host;

    ASSAY_TRY(name_host(&host, hex));
    ASSAY_TRY(assay__plugins_load(plugin_path, NULL, &plugins));
    list_here(plugins, hex, here, ASSAY__HERE_MAX);
    assay__plugins_destroy(&plugins);
    return ASSAY_OK;
}

static assay_status open_parts(const char *plugin_path, const char *backends,
                               assay__kernel_set *set)
{
    ASSAY_TRY(name_host(&set->host, set->deployment));
    ASSAY_TRY(assay__plugins_load(plugin_path, backends, &set->plugins));
    ASSAY_TRY(assay_table_create(&set->table));
    ASSAY_TRY(assay__plugins_register(set->plugins, set->host.isa, NULL, set->table));
    list_here(set->plugins, set->deployment, set->here, sizeof set->here);
    return assay_table_hold(set->table, &set->rows);
}

assay_status assay__kernel_set_open(const char *plugin_path, const assay__strlist *backends,
                                    assay__kernel_set *out)
{
    char *names = NULL;
    assay_status status = ASSAY_OK;

    memset(out, 0, sizeof *out);
    if (backends->count > 0)
        status = assay__strlist_join(backends, ",", &names);
    if (status == ASSAY_OK)
        status = open_parts(plugin_path, names, out);
    free(names);
    if (status != ASSAY_OK)
        assay__kernel_set_close(out);
    return status;
}

void assay__kernel_set_close(assay__kernel_set *set)
{
    if (set->rows != NULL)
        assay_snapshot_release(&set->rows);
    assay_table_destroy(&set->table);
    assay__plugins_destroy(&set->plugins);
}

assay_status assay__kernel_set_check(const char *plugin_path)
{
    assay__plugins *plugins = NULL;
    assay_status status;

    if (plugin_path == NULL)
        return ASSAY_OK;
    ASSAY_TRY(assay__plugins_load(plugin_path, NULL, &plugins));
    status = assay__plugins_check(plugins, plugin_path);
    assay__plugins_destroy(&plugins);
    return status == ASSAY_OK ? status : assay__fail_context(status, "--plugins");
}

void assay__kernel_set_warn(const char *command, bool is_quiet, const assay__kernel_set *set)
{
    const size_t count = assay__plugins_count(set->plugins);

    for (size_t i = 0; i < count; i++) {
        const assay__plugin *p = assay__plugins_at(set->plugins, i);
        if (p->status != ASSAY_OK)
            assay__cmd_warn(command, is_quiet, "%s: %s", p->path, p->reason);
    }
    if (count == 0)
        assay__cmd_warn(command, is_quiet,
                        "no plug-ins found; put their folder into $ASSAY_PLUGIN_PATH");
}

/* ---- filters ---- */

static bool dtype_wanted(const char *dtype, const assay_binding *row)
{
    assay_problem problem;
    assay_dtype t;

    if (dtype == NULL)
        return true;
    if (strchr(dtype, ',') != NULL) {
        assay__str text = {0};
        assay__kernel_dtypes(row->dtypes, row->dtype_count, &text);
        bool is_same = strcmp(assay__str_text(&text), dtype) == 0;
        assay__str_clear(&text);
        return is_same;
    }
    return assay_dtype_parse(dtype, &t) == ASSAY_OK &&
           assay_problem_init((assay_op_id)row->op, t, &problem) == ASSAY_OK &&
           problem.dtype_count == row->dtype_count &&
           memcmp(problem.dtypes, row->dtypes, row->dtype_count) == 0;
}

bool assay__kernel_wanted(const assay__common *common, const assay_binding *row)
{
    const assay_op_info *op = assay_op_get((assay_op_id)row->op);

    return (common->ops.count == 0 || assay__strlist_has(&common->ops, op->name)) &&
           dtype_wanted(common->dtype, row) && assay__glob_any(&common->kernels, row->desc->name);
}

assay_status assay__kernel_filter_check(const assay__common *common)
{
    assay_op_id op;
    assay_dtype dtype;
    assay__strlist names = {0};
    assay_status status = ASSAY_OK;

    for (size_t i = 0; i < common->ops.count; i++)
        ASSAY_TRY(assay_op_find(common->ops.items[i], &op));
    if (common->dtype != NULL)
        status = assay__strlist_split(&names, common->dtype, ',');
    for (size_t i = 0; status == ASSAY_OK && i < names.count; i++)
        status = assay_dtype_parse(names.items[i], &dtype);
    assay__strlist_clear(&names);
    return status == ASSAY_OK ? status : assay__fail_context(status, "--dtype");
}

/* ---- texts ---- */

void assay__kernel_dtypes(const uint8_t *dtypes, size_t count, assay__str *out)
{
    for (size_t i = 0; i < count; i++)
        assay__str_addf(out, "%s%s", i > 0 ? "," : "", assay_dtype_name((assay_dtype)dtypes[i]));
}

void assay__kernel_tunables(const assay_kernel_desc *desc, assay__str *out)
{
    for (size_t i = 0; i < desc->tunable_count; i++) {
        const assay_tunable *t = &desc->tunables[i];
        assay__str_addf(out, "%s%s=", i > 0 ? " " : "", t->name);
        for (size_t j = 0; j < t->value_count; j++)
            assay__str_addf(out, "%s%" PRId64, j > 0 ? "|" : "", t->values[j]);
    }
}

bool assay__kernel_has_revision(const assay_binding *row)
{
    static const assay_digest none;

    return !assay_digest_equal(&row->revision, &none);
}

const char *assay__stability_name(unsigned stability)
{
    static const char *const names[] = {"absent", "none", "config", "machine", "anywhere"};

    return stability < sizeof names / sizeof names[0] ? names[stability] : names[0];
}
