/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/stored_variants.c -- every variant that a store has measured here, judged by what runs now.
 *
 * The space of tunables may be far larger than what was measured, so the store is read twice: once
 * for the variants it names, then against what those are in this program. */
#include "cli/stored_variants.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/revision.h"
#include "support/number.h"

/* ---- the list ---- */

static assay_status copy(const char *text, char **out)
{
    *out = strdup(text);
    return *out != NULL ? ASSAY_OK : assay__fail(ASSAY_NOMEM, "no memory for stored variants");
}

static void clear_row(assay__stored_variant_row *v)
{
    free(v->backend);
    free(v->op);
    free(v->dtypes);
    free(v->kernel);
    free(v->tunables);
}

void assay__stored_variants_clear(assay__stored_variants *list)
{
    for (size_t i = 0; i < list->count; i++)
        clear_row(&list->items[i]);
    free(list->items);
    memset(list, 0, sizeof *list);
}

static assay_status grow(assay__stored_variants *list)
{
    const size_t cap = list->cap > 0 ? list->cap * 2 : 64;
    assay__stored_variant_row *items;

    if (list->count < list->cap)
        return ASSAY_OK;
    items = realloc(list->items, cap * sizeof *items);
    if (items == NULL)
        return assay__fail(ASSAY_NOMEM, "no memory for stored variants");
    list->items = items;
    list->cap = cap;
    return ASSAY_OK;
}

static assay_status push(assay__stored_variants *list, const assay__check_revision *r)
{
    assay__stored_variant_row *v;
    assay_status status;

    ASSAY_TRY(grow(list));
    v = &list->items[list->count];
    memset(v, 0, sizeof *v);
    v->revision = r->variant_revision;
    v->state = r->state;
    v->measurements = r->measurements;
    v->routes = r->routes;
    status = copy(r->backend, &v->backend);
    if (status == ASSAY_OK)
        status = copy(r->op, &v->op);
    if (status == ASSAY_OK)
        status = copy(r->dtypes, &v->dtypes);
    if (status == ASSAY_OK)
        status = copy(r->kernel, &v->kernel);
    if (status == ASSAY_OK)
        status = copy(r->tunables, &v->tunables);
    if (status != ASSAY_OK) {
        clear_row(v);
        return status;
    }
    list->count++;
    return ASSAY_OK;
}

static void on_row(void *cookie, const assay__check_revision *r)
{
    assay__stored_variants *list = cookie;

    if (list->status == ASSAY_OK)
        list->status = push(list, r);
}

/* ---- what they are in this program ---- */

const assay_binding *assay__stored_kernel_find(const assay_snapshot *rows, const char *backend,
                                               const char *op, const char *dtypes_text,
                                               const char *kernel)
{
    const assay_binding *found = NULL;

    for (size_t i = 0; found == NULL && i < assay_snapshot_size(rows); i++) {
        const assay_binding *row = assay_snapshot_at(rows, i);
        assay__str dtypes = {0};
        if (strcmp(row->desc->name, kernel) != 0 || strcmp(row->manifest->name, backend) != 0 ||
            strcmp(assay_op_get((assay_op_id)row->op)->name, op) != 0)
            continue;
        assay__kernel_dtypes(row->dtypes, row->dtype_count, &dtypes);
        if (strcmp(assay__str_text(&dtypes), dtypes_text) == 0)
            found = row;
        assay__str_clear(&dtypes);
    }
    return found;
}

static bool takes_value(const assay_tunable *t, int64_t value)
{
    for (size_t i = 0; i < t->value_count; i++)
        if (t->values[i] == value)
            return true;
    return false;
}

/* One "name=value"; false: not one of the kernel's choices. */
static bool set_tunable(const assay_kernel_desc *desc, const char *item, int64_t *values)
{
    const char *eq = strchr(item, '=');

    for (size_t i = 0; eq != NULL && i < desc->tunable_count; i++) {
        const assay_tunable *t = &desc->tunables[i];
        if (strlen(t->name) == (size_t)(eq - item) &&
            strncmp(t->name, item, (size_t)(eq - item)) == 0)
            return assay__parse_int(eq + 1, INT64_MIN, INT64_MAX, &values[i]) == ASSAY_OK &&
                   takes_value(t, values[i]);
    }
    return false;
}

bool assay__stored_tunables_read(const assay_kernel_desc *desc, const char *text, int64_t *values)
{
    assay__strlist items = {0};
    bool is_good = true;

    if (text[0] != '\0')
        is_good = assay__strlist_split(&items, text, ',') == ASSAY_OK;
    is_good = is_good && items.count == desc->tunable_count;
    for (size_t i = 0; is_good && i < items.count; i++)
        is_good = set_tunable(desc, items.items[i], values);
    assay__strlist_clear(&items);
    return is_good;
}

/* The stored variant as it is now; a kernel that no longer has it stands there with tunables that
 * match nothing, so that it is told apart from a kernel that is gone.  False: no such kernel. */
static bool now(const assay_snapshot *rows, const assay__stored_variant_row *v,
                assay__check_variant *out)
{
    const assay_binding *row =
        assay__stored_kernel_find(rows, v->backend, v->op, v->dtypes, v->kernel);
    int64_t values[ASSAY_MAX_TUNABLES] = {0};

    if (row == NULL)
        return false;
    *out = (assay__check_variant){.backend = v->backend,
                                  .op = v->op,
                                  .dtypes = v->dtypes,
                                  .kernel = v->kernel,
                                  .tunables = v->tunables,
                                  .available = row->available};
    if (!assay__stored_tunables_read(row->desc, v->tunables, values) ||
        assay__variant_revision(&row->revision, row->desc->tunables, values,
                                row->desc->tunable_count, &out->variant_revision) != ASSAY_OK)
        out->tunables = "?";
    return true;
}

static bool is_same_variant(const assay__stored_variant_row *a, const assay__stored_variant_row *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->tunables, b->tunables) == 0 &&
           strcmp(a->dtypes, b->dtypes) == 0 && strcmp(a->backend, b->backend) == 0 &&
           strcmp(a->op, b->op) == 0;
}

static void mark_renewed(assay__stored_variants *list)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = 0; j < list->count && list->items[i].state == ASSAY__CHECK_STALE; j++)
            if (list->items[j].state == ASSAY__CHECK_USABLE &&
                is_same_variant(&list->items[i], &list->items[j]))
                list->items[i].is_renewed = true;
}

static assay_status judge_at(assay__store *store, const assay__kernel_set *set,
                             const char *deployment_hex, assay__stored_variants *out,
                             assay__check_staleness *totals)
{
    assay__stored_variants named = {0};
    assay__check_variant *variants = NULL;
    size_t count = 0;
    assay_status status =
        assay__check_stale(store, deployment_hex, NULL, 0, on_row, &named, totals);

    if (status == ASSAY_OK)
        status = named.status;
    if (status == ASSAY_OK) {
        variants = calloc(named.count + 1, sizeof *variants);
        status = variants != NULL ? ASSAY_OK : assay__fail(ASSAY_NOMEM, "no memory for variants");
    }
    for (size_t i = 0; status == ASSAY_OK && i < named.count; i++)
        count += now(set->rows, &named.items[i], &variants[count]) ? 1 : 0;
    if (status == ASSAY_OK)
        status = assay__check_stale(store, deployment_hex, variants, count, on_row, out, totals);
    if (status == ASSAY_OK)
        status = out->status;
    free(variants);
    assay__stored_variants_clear(&named);
    return status;
}

/* What is another place to the first is here to this one. */
static void add_place(assay__check_staleness *sum, const assay__check_staleness *more)
{
    for (int s = 0; s < ASSAY__CHECK_STATES; s++) {
        if (s == ASSAY__CHECK_ELSEWHERE)
            continue;
        sum->measurements[s] += more->measurements[s];
        sum->measurements[ASSAY__CHECK_ELSEWHERE] -= more->measurements[s];
        sum->routes[s] += more->routes[s];
        sum->routes[ASSAY__CHECK_ELSEWHERE] -= more->routes[s];
    }
    sum->routes_without_winner += more->routes_without_winner;
    sum->routes[ASSAY__CHECK_ELSEWHERE] -= more->routes_without_winner;
}

/* The host, and each device elsewhere that is here. */
assay_status assay__stored_variants_judge(assay__store *store, const assay__kernel_set *set,
                                          assay__stored_variants *out,
                                          assay__check_staleness *totals)
{
    char hex[ASSAY_DIGEST_HEX];
    assay_status status = judge_at(store, set, set->deployment, out, totals);

    for (const char *at = strchr(set->here, ','); status == ASSAY_OK && at != NULL;
         at = strchr(at + 1, ',')) {
        assay__check_staleness more;
        (void)snprintf(hex, sizeof hex, "%.*s", (int)strcspn(at + 1, ","), at + 1);
        status = judge_at(store, set, hex, out, &more);
        if (status == ASSAY_OK)
            add_place(totals, &more);
    }
    mark_renewed(out);
    return status;
}
