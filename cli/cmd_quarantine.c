/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_quarantine.c -- `assay quarantine`: which variants must not run, why, and another chance.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "cli/kernel_set.h"
#include "cli/quarantine_entries.h"
#include "runtime/error.h"
#include "sweep/sweep.h"

typedef struct quarantine_args {
    assay__common common;
    assay__strlist ids;
    bool all, wrong, no_wait;
    const char *plugin_path;
} quarantine_args;

static const assay__arg rows[] = {
    {.name = "id",
     .kind = ASSAY__ARG_REPEAT,
     .offset = offsetof(quarantine_args, ids),
     .metavar = "N",
     .help = "only this entry, as list numbers them"},
    {.name = "all",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(quarantine_args, all),
     .help = "lift or retry all entries of this machine"},
    {.name = "wrong",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(quarantine_args, wrong),
     .help = "lift or retry those of wrong results, too, which otherwise only --id means"},
    {.name = "no-wait",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(quarantine_args, no_wait),
     .help = "retry: fail at once when another process measures this device"},
    {.name = "plugins",
     .kind = ASSAY__ARG_STRING,
     .offset = offsetof(quarantine_args, plugin_path),
     .metavar = "PATH",
     .help = "colon list of folders or files to load plug-ins from"},
};

static const assay__args_spec spec = {
    .command = "assay quarantine",
    .summary = "Lists variants that crashed, hung or were wrong, and gives them another chance",
    .positionals = "ACTION",
    .min_positionals = 1,
    .max_positionals = 1,
    .example = "assay quarantine list --db assay.db\n"
               "assay quarantine retry --id 3\n"
               "assay quarantine lift --kernel 'my_gemm*'",
    .notes =
        "ACTION is list, lift or retry. lift takes entries out: no pick returns the variant until "
        "a\n"
        "sweep has measured it. retry measures the variants where they failed, beside the default\n"
        "kernel, and takes out those that are right now; until then each stays where it is. Who "
        "was\n"
        "wrong once and is right today is not proven right: entries of wrong results need --wrong "
        "or\n"
        "--id. Exit code 1: nothing was chosen, or a variant that was tried again stays in.",
};

typedef struct outcome {
    const char *action;
    assay__quarantine_rows list;
    size_t done, untried;
} outcome;

static bool is_action(const outcome *o, const char *name)
{
    return strcmp(o->action, name) == 0;
}

/* ---- lift ---- */

static assay_status lift_all(const quarantine_args *a, outcome *o)
{
    assay__db *db = NULL;
    assay_status status = assay__db_open(a->common.db, &db);

    if (status == ASSAY_OK)
        status = assay__db_begin(db);
    for (size_t i = 0; status == ASSAY_OK && i < o->list.count; i++) {
        int found = 0;
        status = assay__quarantine_lift(db, o->list.items[i].entry.id, &found);
        o->list.items[i].is_done = found != 0;
        o->done += found != 0;
    }
    if (status == ASSAY_OK)
        status = assay__db_commit(db);
    assay__db_close(&db);
    return status;
}

/* ---- retry ---- */

static bool has_problem(const assay__shape_set *set, const assay_problem *p)
{
    for (size_t i = 0; i < set->count; i++)
        if (assay_problem_equal(&set->items[i].problem, p))
            return true;
    return false;
}

/* An entry for all problems is tried where the same variant has others. */
static bool has_place(const assay__quarantine_rows *list, const assay__quarantine_row *row)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].is_here && list->items[i].entry.problem[0] != '\0' &&
            strcmp(list->items[i].entry.deployment, row->entry.deployment) == 0 &&
            assay_digest_equal(&list->items[i].entry.variant_revision,
                               &row->entry.variant_revision))
            return true;
    return false;
}

static void mark_elsewhere(outcome *o)
{
    for (size_t i = 0; i < o->list.count; i++) {
        assay__quarantine_row *row = &o->list.items[i];
        if (!row->is_here)
            row->untried = "entered on another deployment";
        else if (!has_place(&o->list, row))
            row->untried = "no entry of a problem at which it failed is meant";
    }
}

/* Entries of one deployment: what is tried again at one time. */
static bool is_at(const assay__quarantine_row *row, const char *deployment)
{
    return row->is_here && row->entry.problem[0] != '\0' &&
           strcmp(row->entry.deployment, deployment) == 0;
}

/* Where each of them failed. */
static assay_status list_problems(const outcome *o, const char *deployment, assay__shape_set *set)
{
    set->items = calloc(o->list.count + 1, sizeof *set->items);
    if (set->items == NULL)
        return assay__fail(ASSAY_NOMEM, "problems to try again");
    set->cap = o->list.count;
    for (size_t i = 0; i < o->list.count; i++) {
        const assay__quarantine_row *row = &o->list.items[i];
        assay_problem problem;
        if (!is_at(row, deployment))
            continue;
        ASSAY_TRY(assay_problem_parse(row->entry.problem, &problem));
        if (!has_problem(set, &problem))
            set->items[set->count++] = (assay__shape){.problem = problem, .count = 1};
    }
    return ASSAY_OK;
}

typedef struct trials {
    assay__sweep_trial *items; /* owned */
    size_t count;
} trials;

/* Each variant where the entries that are meant say that it failed, and nowhere else: it may have
 * been wrong there, which nobody asked about. */
static assay_status list_trials(const outcome *o, const char *deployment, trials *out)
{
    out->items = calloc(o->list.count + 1, sizeof *out->items);
    if (out->items == NULL)
        return assay__fail(ASSAY_NOMEM, "variants to try again");
    for (size_t i = 0; i < o->list.count; i++) {
        const assay__quarantine_row *row = &o->list.items[i];
        if (!is_at(row, deployment))
            continue;
        assay__sweep_trial *t = &out->items[out->count++];
        t->variant = row->entry.variant_revision;
        ASSAY_TRY(assay_problem_parse(row->entry.problem, &t->problem));
    }
    return ASSAY_OK;
}

/* By what it is of: the id of one that was lifted may have gone to another. */
static const assay__quarantine_row *find_entry(const assay__quarantine_rows *list,
                                               const assay__quarantine_row *like)
{
    for (size_t i = 0; i < list->count; i++) {
        const assay__quarantine_row *row = &list->items[i];
        if (assay_digest_equal(&row->entry.variant_revision, &like->entry.variant_revision) &&
            strcmp(row->entry.problem, like->entry.problem) == 0 &&
            strcmp(row->entry.deployment, like->entry.deployment) == 0)
            return row;
    }
    return NULL;
}

/* Those that are gone from the store were right; of those that are not the reason may be new. */
static assay_status learn(const quarantine_args *a, outcome *o)
{
    assay__quarantine_rows now = {.count = 0};
    assay_status status = assay__quarantine_load(a->common.db, a->plugin_path, &now);

    for (size_t i = 0; status == ASSAY_OK && i < o->list.count; i++) {
        assay__quarantine_row *row = &o->list.items[i];
        const assay__quarantine_row *still = find_entry(&now, row);
        row->is_done = still == NULL;
        o->done += row->is_done;
        o->untried += row->untried != NULL;
        if (still == NULL || strcmp(still->entry.reason, row->entry.reason) == 0)
            continue;
        free((void *)(uintptr_t)row->entry.reason);
        row->entry.reason = strdup(still->entry.reason);
        if (row->entry.reason == NULL)
            status = assay__fail(ASSAY_NOMEM, "no memory for the quarantine");
    }
    assay__quarantine_clear(&now);
    return status;
}

static bool has_kernel(const assay__kernel_set *set, const assay__quarantine_entry *e)
{
    for (size_t i = 0; i < assay_snapshot_size(set->rows); i++) {
        const assay_binding *row = assay_snapshot_at(set->rows, i);
        if (row->available && assay_digest_equal(&row->revision, &e->kernel_revision))
            return true;
    }
    return false;
}

static bool is_explicit(const quarantine_args *a, const assay__kernel_set *set, const char *backend)
{
    const assay__plugin *plugin = assay__plugins_find(set->plugins, backend);

    return plugin != NULL && plugin->manifest->explicit_only != 0 && a->common.backends.count == 0;
}

/* A sweep would leave these out and say nothing of them. */
static assay_status mark_absent(const quarantine_args *a, outcome *o)
{
    const assay__strlist all = {NULL, 0, 0};
    assay__kernel_set set;

    ASSAY_TRY(assay__kernel_set_open(a->plugin_path, &all, &set));
    for (size_t i = 0; i < o->list.count; i++) {
        assay__quarantine_row *row = &o->list.items[i];
        if (row->untried != NULL)
            continue;
        if (!has_kernel(&set, &row->entry))
            row->untried = "this revision of the kernel is not here any more";
        else if (is_explicit(a, &set, row->entry.backend))
            row->untried = "its backend takes part only when --backend names it";
    }
    assay__kernel_set_close(&set);
    return ASSAY_OK;
}

static void on_warn(void *cookie, const char *text)
{
    assay__cmd_warn("quarantine", ((const quarantine_args *)cookie)->common.is_quiet, "%s", text);
}

/* backends NULL: as of a sweep that names none. Its first place is the one that is meant: the host,
 * or the device of the only backend. */
static assay_status sweep_again(const quarantine_args *a, const char *backends,
                                const assay__shape_set *set, const trials *tried)
{
    const assay__sweep_retry retry = {tried->items, tried->count};
    assay__sweep_options o = {.db_path = a->common.db,
                              .shapes = set,
                              .plugin_path = a->plugin_path,
                              .backends = backends,
                              .align = 16,
                              .seed = (uint64_t)a->common.seed,
                              .no_wait = a->no_wait,
                              .retry = &retry,
                              .argv_json = "[\"quarantine\", \"retry\"]",
                              .stop = &assay__stop_signal,
                              .warn = on_warn,
                              .cookie = (void *)(uintptr_t)a};
    assay__sweep_summary summary;

    ASSAY_TRY(assay__profile_find(a->common.profile != NULL ? a->common.profile : "standard",
                                  &o.profile));
    ASSAY_TRY(assay_policy_parse("rotate/alone/kernel", &o.policy));
    assay__catch_signals();
    return assay__sweep_run(&o, &summary);
}

/* Those of the deployment of this row, where it is the first of them that may be tried. */
static assay_status retry_at(const quarantine_args *a, const outcome *o, size_t first)
{
    const assay__quarantine_entry *e = &o->list.items[first].entry;
    const bool is_host = strcmp(e->deployment, o->list.deployment) == 0;
    assay__shape_set set = {0};
    trials tried = {NULL, 0};
    char *names = NULL;
    assay_status status = list_problems(o, e->deployment, &set);

    if (status == ASSAY_OK)
        status = list_trials(o, e->deployment, &tried);
    if (status == ASSAY_OK && a->common.backends.count > 0)
        status = assay__strlist_join(&a->common.backends, ",", &names);
    if (status == ASSAY_OK)
        status = sweep_again(a, is_host ? names : e->backend, &set, &tried);
    free(names);
    free(tried.items);
    assay__shapes_clear(&set);
    return status;
}

static bool is_first_at(const outcome *o, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (is_at(&o->list.items[i], o->list.items[at].entry.deployment) &&
            o->list.items[i].untried == NULL)
            return false;
    return true;
}

/* A device that cannot be taken into use just now is no matter of the others. */
static assay_status leave_at(const quarantine_args *a, outcome *o, size_t first,
                             assay_status status)
{
    const char *const deployment = o->list.items[first].entry.deployment;

    if (!assay__cmd_is_of_device(status) || strcmp(deployment, o->list.deployment) == 0)
        return status;
    assay__cmd_warn("quarantine", a->common.is_quiet, "%s", assay_last_error());
    for (size_t i = first; i < o->list.count; i++)
        if (strcmp(o->list.items[i].entry.deployment, deployment) == 0)
            o->list.items[i].untried = "its device could not be used";
    return ASSAY_OK;
}

static assay_status retry_all(const quarantine_args *a, outcome *o)
{
    mark_elsewhere(o);
    ASSAY_TRY(mark_absent(a, o));
    for (size_t i = 0; i < o->list.count; i++) {
        const assay__quarantine_row *row = &o->list.items[i];
        if (row->untried == NULL && is_at(row, row->entry.deployment) && is_first_at(o, i))
            ASSAY_TRY(leave_at(a, o, i, retry_at(a, o, i)));
    }
    return learn(a, o);
}

/* ---- what is said ---- */

static json_t *entry_json(const outcome *o, const assay__quarantine_row *row)
{
    const assay__quarantine_entry *e = &row->entry;
    char kernel[ASSAY_DIGEST_HEX], variant[ASSAY_DIGEST_HEX];
    json_t *object = json_object();
    int bad = 0;

    assay_digest_format(&e->kernel_revision, kernel);
    assay_digest_format(&e->variant_revision, variant);
    bad |= (int)assay__json_put_int(object, "id", e->id);
    bad |= (int)assay__json_put_bool(object, "is_here", row->is_here);
    bad |= (int)assay__json_put_string(object, "deployment", e->deployment);
    bad |= (int)assay__json_put_string(object, "device", e->device);
    bad |= (int)assay__json_put_string(object, "kernel", e->kernel);
    bad |= (int)assay__json_put_string(object, "backend", e->backend);
    bad |= (int)assay__json_put_string(object, "op", e->op);
    bad |= (int)assay__cmd_json_words(object, "dtypes", e->dtypes, ',');
    bad |= (int)assay__json_put_string(object, "tunables", e->tunables);
    bad |= (int)assay__json_put_string(object, "kernel_revision", kernel);
    bad |= (int)assay__json_put_string(object, "revision", variant);
    if (e->problem[0] != '\0')
        bad |= (int)assay__json_put_string(object, "problem", e->problem);
    if (e->verdict != ASSAY__VERDICT_NONE)
        bad |= (int)assay__json_put_string(object, "verdict", assay__quarantine_verdict(row));
    bad |= (int)assay__json_put_string(object, "reason", e->reason);
    bad |= (int)assay__json_put_string(object, "since_utc", e->since_utc);
    if (!is_action(o, "list"))
        bad |= (int)assay__json_put_bool(object, "is_lifted", row->is_done);
    if (row->untried != NULL)
        bad |= (int)assay__json_put_string(object, "untried", row->untried);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *all_json(const quarantine_args *a, const outcome *o)
{
    json_t *root = assay__cmd_json_object("assay.quarantine/1"), *store = json_object();
    json_t *entries = json_array();
    int bad = 0;

    bad |= (int)assay__json_put_string(root, "action", o->action);
    bad |= (int)assay__json_put_string(store, "path", a->common.db);
    bad |= (int)assay__json_put_string(store, "deployment", o->list.deployment);
    bad |= (int)assay__json_put_take(root, "store", store);
    for (size_t i = 0; i < o->list.count; i++)
        bad |= (int)assay__json_append_take(entries, entry_json(o, &o->list.items[i]));
    bad |= (int)assay__json_put_take(root, "entries", entries);
    if (bad == 0)
        return root;
    json_decref(root);
    return NULL;
}

static const char *state_of(const outcome *o, const assay__quarantine_row *row)
{
    if (is_action(o, "list"))
        return row->is_here ? "here" : "elsewhere";
    if (row->is_done)
        return is_action(o, "lift") ? "lifted" : "right, lifted";
    return row->untried != NULL ? row->untried : "stays";
}

static assay_status print_text(const outcome *o)
{
    assay__table table = {0};
    assay_status status;

    assay__table_column(&table, "id", ASSAY__RIGHT);
    assay__table_column(&table, "variant", ASSAY__LEFT);
    assay__table_column(&table, "problem", ASSAY__LEFT);
    assay__table_column(&table, "device", ASSAY__LEFT);
    assay__table_column(&table, "verdict", ASSAY__LEFT);
    assay__table_column(&table, is_action(o, "list") ? "entered" : "now", ASSAY__LEFT);
    assay__table_column(&table, "since", ASSAY__LEFT);
    assay__table_column(&table, "reason", ASSAY__LEFT);
    for (size_t i = 0; i < o->list.count; i++) {
        const assay__quarantine_row *row = &o->list.items[i];
        const assay__quarantine_entry *e = &row->entry;
        assay__table_cellf(&table, "%" PRId64, e->id);
        assay__table_cellf(&table, "%s/%s%s%s%s", e->backend, e->kernel,
                           e->tunables[0] != '\0' ? "{" : "", e->tunables,
                           e->tunables[0] != '\0' ? "}" : "");
        if (e->problem[0] != '\0')
            assay__table_cell(&table, e->problem);
        else
            assay__table_cellf(&table, "%s %s, all problems", e->op, e->dtypes);
        assay__table_cell(&table, e->device);
        assay__table_cell(&table, assay__quarantine_verdict(row));
        assay__table_cell(&table, state_of(o, row));
        assay__table_cellf(&table, "%.19s", e->since_utc);
        assay__table_cell(&table, e->reason);
        if (!is_action(o, "list"))
            assay__table_paint(&table, row->is_done ? ASSAY__GREEN : ASSAY__YELLOW);
    }
    status = o->list.count > 0 ? assay__listing_print(&table, ASSAY__LISTING_TEXT) : ASSAY_OK;
    assay__table_clear(&table);
    return status;
}

/* ---- the command ---- */

static assay_status check_action(const quarantine_args *a, const outcome *o)
{
    const assay__common *c = &a->common;

    if (is_action(o, "list")) {
        if (a->all || a->wrong)
            return assay__fail(ASSAY_INVALID, "--all and --wrong are for lift and retry; list "
                                              "shows all entries");
        return ASSAY_OK;
    }
    if (!is_action(o, "lift") && !is_action(o, "retry"))
        return assay__fail(ASSAY_INVALID, "there is no action '%s'; actions are: list, lift, retry",
                           o->action);
    if (!a->all && a->ids.count == 0 && c->kernels.count == 0 && c->ops.count == 0 &&
        c->dtype == NULL)
        return assay__fail(ASSAY_INVALID,
                           "%s: say which entries: --id N, --kernel, --op, --dtype, or --all",
                           o->action);
    return ASSAY_OK;
}

static assay_status act(const quarantine_args *a, outcome *o)
{
    const bool is_list = is_action(o, "list");
    const assay__quarantine_choice choice = {&a->common, &a->ids, is_list, is_list || a->wrong};

    ASSAY_TRY(check_action(a, o));
    ASSAY_TRY(assay__kernel_filter_check(&a->common));
    ASSAY_TRY(assay__quarantine_load(a->common.db, a->plugin_path, &o->list));
    ASSAY_TRY(assay__quarantine_select(&choice, &o->list));
    if (is_list || o->list.count == 0)
        return ASSAY_OK;
    return is_action(o, "lift") ? lift_all(a, o) : retry_all(a, o);
}

static int verdict(const outcome *o)
{
    if (is_action(o, "list"))
        return 0;
    if (o->list.count == 0)
        return assay__cmd_fail("quarantine",
                               assay__fail(ASSAY_NOTFOUND, "no entry of this machine is meant%s",
                                           o->list.kept_wrong > 0
                                               ? " but those of wrong results, which need --wrong"
                                               : ""));
    if (is_action(o, "lift") || o->done == o->list.count)
        return 0;
    return assay__cmd_fail("quarantine",
                           assay__fail(ASSAY_NOTFOUND,
                                       "%zu of %zu stay in quarantine, %zu of them not tried",
                                       o->list.count - o->done, o->list.count, o->untried));
}

static int run(const quarantine_args *a, const char *action)
{
    outcome o = {.action = action};
    assay_status status = act(a, &o);
    int code = 0;

    if (status == ASSAY_OK && o.list.kept_wrong > 0 && o.list.count > 0)
        assay__cmd_warn("quarantine", a->common.is_quiet,
                        "%zu entries of wrong results stay; --wrong means them, too",
                        o.list.kept_wrong);
    if (status == ASSAY_OK && a->common.is_json)
        code = assay__cmd_print_json("quarantine", all_json(a, &o));
    else if (status == ASSAY_OK)
        status = print_text(&o);
    if (status != ASSAY_OK)
        code = assay__cmd_fail("quarantine", status);
    else if (code == 0)
        code = verdict(&o);
    assay__quarantine_clear(&o.list);
    return code;
}

int cmd_quarantine(int argc, char **argv)
{
    quarantine_args a = {.common = ASSAY__COMMON_DEFAULTS};
    const assay__arg_table tables[] = {
        assay__common_table(
            &a.common, ASSAY__COMMON(DB) | ASSAY__COMMON(JSON) | ASSAY__COMMON(QUIET) |
                           ASSAY__COMMON(SEED) | ASSAY__COMMON(BACKEND) | ASSAY__COMMON(KERNEL) |
                           ASSAY__COMMON(OP) | ASSAY__COMMON(DTYPE) | ASSAY__COMMON(PROFILE)),
        {rows, sizeof rows / sizeof rows[0], ASSAY__ARG_ALL, &a},
    };
    assay__args args;
    int code = 0;

    if (assay__cmd_begin_with(&spec, tables, 2, argc, argv, &args, &code))
        code = run(&a, args.positionals[0]);
    assay__args_clear(tables, 2);
    return code;
}
