/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/quarantine_entries.c -- see quarantine_entries.h. */
#include "cli/quarantine_entries.h"

#include <stdlib.h>
#include <string.h>

#include "assay/op.h"
#include "cli/kernel_set.h"
#include "db/db_names.h"
#include "runtime/deployment_host.h"
#include "runtime/error.h"
#include "support/number.h"

/* ---- reading ---- */

#define TEXTS 10

/* The texts of an entry, to be owned one after the other. */
static void texts_of(assay__quarantine_entry *e, const char **out[TEXTS])
{
    const char **all[TEXTS] = {&e->backend, &e->kernel, &e->op,        &e->dtypes,     &e->tunables,
                               &e->problem, &e->reason, &e->since_utc, &e->deployment, &e->device};

    memcpy(out, all, sizeof all);
}

static void clear_row(assay__quarantine_row *row)
{
    const char **texts[TEXTS];

    texts_of(&row->entry, texts);
    for (size_t i = 0; i < TEXTS; i++)
        free((void *)(uintptr_t)*texts[i]);
}

void assay__quarantine_clear(assay__quarantine_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        clear_row(&rows->items[i]);
    free(rows->items);
    rows->items = NULL;
    rows->count = rows->cap = 0;
}

static assay_status grow(assay__quarantine_rows *rows)
{
    const size_t cap = rows->cap > 0 ? rows->cap * 2 : 64;
    assay__quarantine_row *items;

    if (rows->count < rows->cap)
        return ASSAY_OK;
    items = realloc(rows->items, cap * sizeof *items);
    if (items == NULL)
        return assay__fail(ASSAY_NOMEM, "no memory for the quarantine");
    rows->items = items;
    rows->cap = cap;
    return ASSAY_OK;
}

static assay_status keep(void *cookie, const assay__quarantine_entry *e)
{
    assay__quarantine_rows *rows = cookie;
    assay__quarantine_row row = {.entry = *e};
    const char **texts[TEXTS];
    bool is_whole = true;

    ASSAY_TRY(grow(rows));
    row.is_here = strcmp(e->deployment, rows->deployment) == 0;
    texts_of(&row.entry, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        *texts[i] = strdup(*texts[i]);
        is_whole &= *texts[i] != NULL;
    }
    if (!is_whole) {
        clear_row(&row);
        return assay__fail(ASSAY_NOMEM, "no memory for the quarantine");
    }
    rows->items[rows->count++] = row;
    return ASSAY_OK;
}

/* Devices are opened only where the store has entries of others than the host. */
static assay_status find_devices(const char *plugin_path, assay__quarantine_rows *rows)
{
    char here[ASSAY__HERE_MAX];
    size_t elsewhere = 0;

    for (size_t i = 0; i < rows->count; i++)
        elsewhere += !rows->items[i].is_here;
    if (elsewhere == 0)
        return ASSAY_OK;
    ASSAY_TRY(assay__deployments_here(plugin_path, here));
    for (size_t i = 0; i < rows->count; i++)
        rows->items[i].is_here = assay__name_in_list(here, rows->items[i].entry.deployment);
    return ASSAY_OK;
}

assay_status assay__quarantine_load(const char *path, const char *plugin_path,
                                    assay__quarantine_rows *out)
{
    assay_deployment host;
    assay_digest digest;
    assay__store *store = NULL;
    assay_status status;

    ASSAY_TRY(assay__deployment_host(&host));
    assay_deployment_digest(&host, &digest);
    assay_digest_format(&digest, out->deployment);
    ASSAY_TRY(assay__store_sqlite()->open_read(path, &store));
    status = assay__quarantine_each(store, keep, out);
    assay__store_sqlite()->close(store);
    return status == ASSAY_OK ? find_devices(plugin_path, out) : status;
}

/* ---- choosing ---- */

/* A lone dtype stands for T of the op's rule. */
static bool dtype_fits(const char *dtype, const assay__quarantine_entry *e)
{
    assay_problem problem;
    assay_op_id op;
    assay_dtype t;
    assay__str text = {0};
    bool is_same;

    if (dtype == NULL || strchr(dtype, ',') != NULL)
        return dtype == NULL || strcmp(dtype, e->dtypes) == 0;
    if (assay_dtype_parse(dtype, &t) != ASSAY_OK || assay_op_find(e->op, &op) != ASSAY_OK ||
        assay_problem_init(op, t, &problem) != ASSAY_OK)
        return false;
    for (size_t i = 0; i < problem.dtype_count; i++)
        assay__str_addf(&text, "%s%s", i > 0 ? "," : "",
                        assay_dtype_name((assay_dtype)problem.dtypes[i]));
    is_same = strcmp(assay__str_text(&text), e->dtypes) == 0;
    assay__str_clear(&text);
    return is_same;
}

static bool is_filtered(const assay__common *common, const assay__quarantine_entry *e)
{
    return (common->backends.count == 0 || assay__strlist_has(&common->backends, e->backend)) &&
           (common->ops.count == 0 || assay__strlist_has(&common->ops, e->op)) &&
           assay__glob_any(&common->kernels, e->kernel) && dtype_fits(common->dtype, e);
}

static bool has_id(const assay__strlist *ids, int64_t id)
{
    int64_t one;

    for (size_t i = 0; i < ids->count; i++)
        if (assay__parse_int(ids->items[i], 1, INT64_MAX, &one) == ASSAY_OK && one == id)
            return true;
    return false;
}

static assay_status check_ids(const assay__strlist *ids, const assay__quarantine_rows *rows)
{
    for (size_t i = 0; i < ids->count; i++) {
        int64_t id;
        size_t at = 0;
        if (assay__parse_int(ids->items[i], 1, INT64_MAX, &id) != ASSAY_OK)
            return assay__fail(ASSAY_INVALID,
                               "--id: '%s' is no number of an entry; 'assay quarantine list' shows "
                               "them",
                               ids->items[i]);
        while (at < rows->count && rows->items[at].entry.id != id)
            at++;
        if (at == rows->count)
            return assay__fail(ASSAY_NOTFOUND,
                               "--id %s: no such entry; 'assay quarantine list' shows those that "
                               "there are",
                               ids->items[i]);
    }
    return ASSAY_OK;
}

assay_status assay__quarantine_select(const assay__quarantine_choice *choice,
                                      assay__quarantine_rows *rows)
{
    const bool by_id = choice->ids->count > 0;
    size_t kept = 0;

    ASSAY_TRY(check_ids(choice->ids, rows));
    for (size_t i = 0; i < rows->count; i++) {
        assay__quarantine_row *row = &rows->items[i];
        const bool is_wrong = row->entry.verdict == ASSAY__VERDICT_WRONG;
        bool is_chosen = (!by_id || has_id(choice->ids, row->entry.id)) &&
                         is_filtered(choice->common, &row->entry) &&
                         (by_id || row->is_here || choice->takes_elsewhere);
        if (is_chosen && is_wrong && !by_id && !choice->takes_wrong) {
            rows->kept_wrong++;
            is_chosen = false;
        }
        if (is_chosen)
            rows->items[kept++] = *row;
        else
            clear_row(row);
    }
    rows->count = kept;
    return ASSAY_OK;
}

const char *assay__quarantine_verdict(const assay__quarantine_row *row)
{
    if (row->entry.verdict == ASSAY__VERDICT_NONE)
        return "-";
    return assay__db_verdict_name(row->entry.verdict);
}
