/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/check_results.c -- runs the winners of a store once more; see check_results.h. */
#include "cli/check_results.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_common.h"
#include "cli/stored_variants.h"
#include "runtime/error.h"
#include "sweep/rerun.h"

#define LINES_MAX 20

static void clear_item(assay__result *r)
{
    free(r->problem);
    free(r->policy);
    free(r->backend);
    free(r->op);
    free(r->dtypes);
    free(r->kernel);
    free(r->tunables);
}

void assay__results_clear(assay__results *list)
{
    for (size_t i = 0; i < list->count; i++)
        clear_item(&list->items[i]);
    free(list->items);
    memset(list, 0, sizeof *list);
}

/* ---- what was checked ---- */

static assay_status make_room(assay__results *list)
{
    size_t cap = list->cap * 2 + 64;
    assay__result *moved;

    if (list->count < list->cap)
        return ASSAY_OK;
    moved = realloc(list->items, cap * sizeof *moved);
    if (moved == NULL)
        return assay__fail(ASSAY_NOMEM, "check: out of memory");
    list->items = moved;
    list->cap = cap;
    return ASSAY_OK;
}

static assay_status on_row(void *cookie, const assay__check_result *row)
{
    assay__results *list = cookie;

    ASSAY_TRY(make_room(list));
    assay__result r = {.route = row->route,
                       .problem = strdup(row->problem),
                       .policy = strdup(row->policy),
                       .backend = strdup(row->backend),
                       .op = strdup(row->op),
                       .dtypes = strdup(row->dtypes),
                       .kernel = strdup(row->kernel),
                       .tunables = strdup(row->tunables),
                       .align = row->align,
                       .kernel_revision = row->kernel_revision,
                       .seed = row->seed,
                       .checked = row->output_digest,
                       .median_ns = row->median_ns,
                       .is_repeatable = row->is_repeatable && row->output_digest != 0};
    if (r.problem == NULL || r.policy == NULL || r.backend == NULL || r.op == NULL ||
        r.dtypes == NULL || r.kernel == NULL || r.tunables == NULL) {
        clear_item(&r);
        return assay__fail(ASSAY_NOMEM, "check: out of memory");
    }
    list->items[list->count++] = r;
    return ASSAY_OK;
}

/* ---- what it gives now ---- */

static assay__result_state judge(assay__result *r, assay_status status)
{
    if (status == ASSAY_OK)
        return r->now == r->checked ? ASSAY__RESULT_SAME : ASSAY__RESULT_OTHER;
    (void)snprintf(r->reason, sizeof r->reason, "%s", assay_last_error());
    return ASSAY__RESULT_FAILED;
}

static assay_status run_one(const assay__kernel_set *set, assay__rerun *rerun, assay__result *r)
{
    const assay_binding *row =
        assay__stored_kernel_find(set->rows, r->backend, r->op, r->dtypes, r->kernel);
    int64_t values[ASSAY_MAX_TUNABLES] = {0};
    assay_status status;

    if (!r->is_repeatable) {
        r->state = ASSAY__RESULT_NOT_REPEATABLE;
        return ASSAY_OK;
    }
    if (row == NULL || !assay__kernel_has_revision(row) ||
        !assay_digest_equal(&row->revision, &r->kernel_revision) ||
        !assay__stored_tunables_read(row->desc, r->tunables, values)) {
        r->state = ASSAY__RESULT_IDLE;
        return ASSAY_OK;
    }
    const assay__rerun_item item = {.problem = r->problem,
                                    .backend = r->backend,
                                    .kernel = r->kernel,
                                    .tunables = values,
                                    .tunable_count = row->desc->tunable_count,
                                    .kernel_revision = r->kernel_revision,
                                    .align = r->align,
                                    .seed = r->seed,
                                    .expected_ns = r->median_ns};
    status = assay__rerun_digest(rerun, &item, &r->now);
    /* What has no memory today, on a device that others use above all, is told of that one. */
    if (status == ASSAY_INTERRUPTED)
        return status;
    r->state = judge(r, status);
    return ASSAY_OK;
}

/* Of the host, and of each device elsewhere that is here. */
static assay_status list_winners(assay__store *store, const assay__kernel_set *set,
                                 assay__results *out)
{
    char hex[ASSAY_DIGEST_HEX];

    for (const char *at = set->here; *at != '\0'; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        (void)snprintf(hex, sizeof hex, "%.*s", (int)length, at);
        ASSAY_TRY(assay__check_each_result(store, hex, on_row, out));
        at += length;
    }
    return ASSAY_OK;
}

assay_status assay__results_run(assay__store *store, const assay__kernel_set *set,
                                const char *plugin_path, const volatile int *stop,
                                assay__results *out)
{
    assay__rerun *rerun = NULL;
    assay_status status = list_winners(store, set, out);

    if (status == ASSAY_OK)
        status = assay__rerun_open(plugin_path, set->host.usable_cpus, stop, &rerun);
    for (size_t i = 0; status == ASSAY_OK && i < out->count; i++) {
        status = run_one(set, rerun, &out->items[i]);
        if (status == ASSAY_OK)
            out->states[out->items[i].state]++;
    }
    assay__rerun_close(&rerun);
    return status;
}

size_t assay__results_bad(const assay__results *list)
{
    return list->states[ASSAY__RESULT_OTHER] + list->states[ASSAY__RESULT_FAILED];
}

static bool is_bad(const assay__result *r)
{
    return r->state == ASSAY__RESULT_OTHER || r->state == ASSAY__RESULT_FAILED;
}

/* ---- telling ---- */

static void digest_text(uint64_t digest, char *buf, size_t cap)
{
    (void)snprintf(buf, cap, "%016" PRIx64, digest);
}

static json_t *item_json(const assay__result *r)
{
    json_t *object = json_object();
    char checked[20], now[20];
    int bad = 0;

    digest_text(r->checked, checked, sizeof checked);
    digest_text(r->now, now, sizeof now);
    bad |= (int)assay__json_put_string(object, "problem", r->problem);
    bad |= (int)assay__json_put_string(object, "policy", r->policy);
    bad |= (int)assay__json_put_string(object, "backend", r->backend);
    bad |= (int)assay__json_put_string(object, "kernel", r->kernel);
    bad |= (int)assay__json_put_string(object, "tunables", r->tunables);
    bad |= (int)assay__json_put_string(object, "checked_digest", checked);
    if (r->state == ASSAY__RESULT_OTHER)
        bad |= (int)assay__json_put_string(object, "digest", now);
    else
        bad |= (int)assay__json_put_string(object, "reason", r->reason);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *assay__results_json(const assay__results *list)
{
    static const char *const names[ASSAY__RESULT_STATES] = {
        [ASSAY__RESULT_SAME] = "same",     [ASSAY__RESULT_OTHER] = "other",
        [ASSAY__RESULT_FAILED] = "failed", [ASSAY__RESULT_NOT_REPEATABLE] = "not_repeatable",
        [ASSAY__RESULT_IDLE] = "idle",
    };
    json_t *root = json_object(), *differing = json_array();
    int bad = 0;

    for (int s = 0; s < ASSAY__RESULT_STATES; s++)
        bad |= (int)assay__json_put_int(root, names[s], (int64_t)list->states[s]);
    for (size_t i = 0; i < list->count; i++)
        if (is_bad(&list->items[i]))
            bad |= (int)assay__json_append_take(differing, item_json(&list->items[i]));
    bad |= (int)assay__json_put_take(root, "differing", differing);
    if (bad == 0)
        return root;
    json_decref(root);
    return NULL;
}

assay_status assay__results_print(const assay__results *list)
{
    assay__table table = {0};
    size_t shown = 0;

    printf("\nresults: %zu winners run once: %zu gave the bits that were checked, %zu others, "
           "%zu failed; not run: %zu whose bits differ from run to run, %zu idle\n",
           list->states[ASSAY__RESULT_SAME] + assay__results_bad(list),
           list->states[ASSAY__RESULT_SAME], list->states[ASSAY__RESULT_OTHER],
           list->states[ASSAY__RESULT_FAILED], list->states[ASSAY__RESULT_NOT_REPEATABLE],
           list->states[ASSAY__RESULT_IDLE]);
    if (assay__results_bad(list) == 0)
        return ASSAY_OK;
    assay__table_column(&table, "winner", ASSAY__LEFT);
    assay__table_column(&table, "problem", ASSAY__LEFT);
    assay__table_column(&table, "what it gave", ASSAY__LEFT);
    for (size_t i = 0; i < list->count && shown < LINES_MAX; i++) {
        const assay__result *r = &list->items[i];
        if (!is_bad(r))
            continue;
        shown++;
        assay__table_cellf(&table, "%s/%s%s%s%s", r->backend, r->kernel,
                           r->tunables[0] != '\0' ? "{" : "", r->tunables,
                           r->tunables[0] != '\0' ? "}" : "");
        assay__table_cell(&table, r->problem);
        if (r->state == ASSAY__RESULT_OTHER)
            assay__table_cellf(&table, "digest %016" PRIx64 ", checked %016" PRIx64, r->now,
                               r->checked);
        else
            assay__table_cell(&table, r->reason);
    }
    assay_status status = assay__listing_print(&table, ASSAY__LISTING_TEXT);
    if (assay__results_bad(list) > shown)
        printf("... and %zu more; --json lists all\n", assay__results_bad(list) - shown);
    assay__table_clear(&table);
    return status;
}
