/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_check.c -- `assay check`: is the store sound, and what of it holds here; or, of a
 * backend, does it keep the contract. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check_backend.h"
#include "cli/check_results.h"
#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "cli/stored_variants.h"
#include "runtime/error.h"

#define FINDINGS_MAX 20 /* told one by one */
#define LINES_MAX    20 /* of stale variants in the text */

typedef struct check_args {
    assay__common common;
    const char *plugin_path;
    bool results;
    assay__strlist rules;
} check_args;

static const assay__arg rows[] = {
    {.name = "plugins",
     .kind = ASSAY__ARG_STRING,
     .offset = offsetof(check_args, plugin_path),
     .metavar = "PATH",
     .help = "colon list of folders or files to load plug-ins from"},
    {.name = "results",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(check_args, results),
     .help = "run the winner of each route once, on the inputs that it was checked with, and "
             "compare the bits"},
    {.name = "rule",
     .kind = ASSAY__ARG_REPEAT,
     .offset = offsetof(check_args, rules),
     .metavar = "GLOB",
     .help = "of a backend: only rules with these names"},
};

static const assay__args_spec spec = {
    .command = "assay check",
    .summary =
        "Checks that a store is sound and says what of it holds for this program and machine",
    .example = "assay check --db assay.db\nassay check --db assay.db --results --json\n"
               "assay check --backend cpu",
    .notes =
        "The store is only read. Exit code 1: a route of this machine is idle, a kernel was\n"
        "measured in another state and not since, no route holds here at all, or a winner no\n"
        "longer gives what was checked; 3: the store cannot be used or is damaged.\n"
        "\n"
        "With --backend NAME and neither --db nor --results no store is looked at: the backend\n"
        "is tried against the contract of docs/backends.md, each rule in a process of its own.\n"
        "Exit code 1: it breaks a rule; 4: it is not available.",
};

static const char *const state_names[ASSAY__CHECK_STATES] = {
    [ASSAY__CHECK_USABLE] = "usable",           [ASSAY__CHECK_STALE] = "stale",
    [ASSAY__CHECK_NO_VARIANT] = "no_variant",   [ASSAY__CHECK_NO_KERNEL] = "no_kernel",
    [ASSAY__CHECK_UNAVAILABLE] = "unavailable", [ASSAY__CHECK_ELSEWHERE] = "elsewhere",
};

typedef struct checked {
    const char *path; /* borrowed */
    char deployment[ASSAY_DIGEST_HEX];
    int64_t schema;
    assay__strlist findings;
    size_t finding_count;
    assay__check_counts counts;
    assay__check_staleness totals;
    assay__stored_variants variants;
    int64_t idle_routes; /* of this deployment, a missing winner not counted */
    int64_t not_renewed; /* measurements here of variants that were not measured again since */
    bool holds_nothing;  /* there are routes, and none holds here */
    assay__results results;
    assay_status list_bad; /* of keeping findings */
} checked;

/* ---- asking ---- */

static void on_finding(void *cookie, const char *text)
{
    checked *c = cookie;

    if (c->list_bad == ASSAY_OK)
        c->list_bad = assay__strlist_add(&c->findings, text);
}

static void sum_up(checked *c)
{
    int64_t here = 0;

    for (int s = 0; s < ASSAY__CHECK_STATES; s++) {
        here += s == ASSAY__CHECK_ELSEWHERE ? 0 : c->totals.routes[s];
        if (s != ASSAY__CHECK_USABLE && s != ASSAY__CHECK_ELSEWHERE)
            c->idle_routes += c->totals.routes[s];
    }
    for (size_t i = 0; i < c->variants.count; i++) {
        const assay__stored_variant_row *v = &c->variants.items[i];
        if (v->state != ASSAY__CHECK_USABLE && v->state != ASSAY__CHECK_UNAVAILABLE &&
            !v->is_renewed)
            c->not_renewed += v->measurements;
    }
    c->holds_nothing = here == 0 && c->totals.routes_without_winner == 0 &&
                       c->totals.routes[ASSAY__CHECK_ELSEWHERE] > 0;
}

static assay_status check_store(const check_args *a, assay__store *store,
                                const assay__kernel_set *set, checked *c)
{
    ASSAY_TRY(assay__store_sqlite()->schema_version(store, &c->schema));
    ASSAY_TRY(assay__check_integrity(store, FINDINGS_MAX, on_finding, c, &c->finding_count));
    ASSAY_TRY(c->list_bad);
    ASSAY_TRY(assay__check_count(store, &c->counts));
    ASSAY_TRY(assay__stored_variants_judge(store, set, &c->variants, &c->totals));
    sum_up(c);
    if (!a->results || c->finding_count > 0)
        return ASSAY_OK;
    assay__catch_signals();
    return assay__results_run(store, set, a->plugin_path, &assay__stop_signal, &c->results);
}

static assay_status check_path(const check_args *a, checked *c)
{
    assay__kernel_set set;
    assay__store *store = NULL;
    assay_status status;

    /* The store first: without one nothing needs to be loaded. */
    ASSAY_TRY(assay__store_sqlite()->open_read(a->common.db, &store));
    status = assay__kernel_set_open(a->plugin_path, &a->common.backends, &set);
    if (status == ASSAY_OK) {
        assay__kernel_set_warn("check", a->common.is_quiet, &set);
        memcpy(c->deployment, set.deployment, sizeof c->deployment);
        status = assay__plugins_check(set.plugins, a->plugin_path);
        status = status == ASSAY_OK ? check_store(a, store, &set, c)
                                    : assay__fail_context(status, "--plugins");
        assay__kernel_set_close(&set);
    }
    assay__store_sqlite()->close(store);
    return status;
}

/* ---- JSON ---- */

static const struct count_row {
    const char *name;
    size_t offset;
} count_rows[] = {
#define X(field) {#field, offsetof(assay__check_counts, field)},
    X(deployments) X(kernels) X(revisions) X(problems) X(sweeps) X(measurements) X(visits)
        X(accuracies) X(stabilities) X(quarantined) X(peaks) X(models) X(routes)
            X(routes_superseded) X(certificates) X(observations) X(sweep_problems) X(routes_noisy)
                X(routes_disturbed)
#undef X
};
#define COUNT_ROWS (sizeof count_rows / sizeof count_rows[0])
#define TABLE_ROWS (COUNT_ROWS - 2) /* the others say something of rows counted already */

static int64_t count_of(const checked *c, size_t row)
{
    int64_t value;

    memcpy(&value, (const char *)&c->counts + count_rows[row].offset, sizeof value);
    return value;
}

static json_t *variant_json(const assay__stored_variant_row *v)
{
    json_t *object = json_object();
    char revision[ASSAY_DIGEST_HEX];
    int bad = 0;

    assay_digest_format(&v->revision, revision);
    bad |= (int)assay__json_put_string(object, "kernel", v->kernel);
    bad |= (int)assay__json_put_string(object, "backend", v->backend);
    bad |= (int)assay__json_put_string(object, "op", v->op);
    bad |= (int)assay__cmd_json_words(object, "dtypes", v->dtypes, ',');
    bad |= (int)assay__json_put_string(object, "tunables", v->tunables);
    bad |= (int)assay__json_put_string(object, "revision", revision);
    bad |= (int)assay__json_put_string(object, "state", state_names[v->state]);
    bad |= (int)assay__json_put_string(object, "reason", assay__check_state_text(v->state));
    bad |= (int)assay__json_put_bool(object, "is_renewed", v->is_renewed);
    bad |= (int)assay__json_put_int(object, "measurements", v->measurements);
    bad |= (int)assay__json_put_int(object, "routes", v->routes);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static int put_store(json_t *root, const checked *c)
{
    json_t *store = json_object(), *findings = json_array(), *counts = json_object();
    int bad = 0;

    bad |= (int)assay__json_put_string(store, "path", c->path);
    bad |= (int)assay__json_put_int(store, "schema", c->schema);
    bad |= (int)assay__json_put_string(store, "deployment", c->deployment);
    for (size_t i = 0; i < c->findings.count; i++)
        bad |= (int)assay__json_append_take(findings, assay__json_text(c->findings.items[i]));
    for (size_t i = 0; i < COUNT_ROWS; i++)
        bad |= (int)assay__json_put_int(counts, count_rows[i].name, count_of(c, i));
    bad |= (int)assay__json_put_take(root, "store", store);
    bad |= (int)assay__json_put_bool(root, "is_sound", c->finding_count == 0);
    bad |= (int)assay__json_put_int(root, "finding_count", (int64_t)c->finding_count);
    bad |= (int)assay__json_put_take(root, "findings", findings);
    bad |= (int)assay__json_put_take(root, "counts", counts);
    return bad;
}

static bool is_stale(const checked *c)
{
    return c->idle_routes > 0 || c->not_renewed > 0 || c->holds_nothing;
}

static json_t *all_json(const check_args *a, const checked *c)
{
    json_t *root = assay__cmd_json_object("assay.check/1"), *states = json_array();
    json_t *idle = json_array();
    int bad = put_store(root, c);

    for (int s = 0; s < ASSAY__CHECK_STATES; s++) {
        json_t *row = json_object();
        bad |= (int)assay__json_put_string(row, "state", state_names[s]);
        bad |= (int)assay__json_put_int(row, "routes", c->totals.routes[s]);
        bad |= (int)assay__json_put_int(row, "measurements", c->totals.measurements[s]);
        bad |= (int)assay__json_append_take(states, row);
    }
    for (size_t i = 0; i < c->variants.count; i++)
        if (c->variants.items[i].state != ASSAY__CHECK_USABLE)
            bad |= (int)assay__json_append_take(idle, variant_json(&c->variants.items[i]));
    bad |= (int)assay__json_put_bool(root, "is_stale", is_stale(c));
    bad |= (int)assay__json_put_int(root, "routes_usable", c->totals.routes[ASSAY__CHECK_USABLE]);
    bad |= (int)assay__json_put_int(root, "routes_idle",
                                    c->idle_routes + c->totals.routes[ASSAY__CHECK_ELSEWHERE]);
    bad |= (int)assay__json_put_int(root, "routes_without_winner", c->totals.routes_without_winner);
    bad |= (int)assay__json_put_take(root, "states", states);
    bad |= (int)assay__json_put_take(root, "idle", idle);
    if (a->results)
        bad |= (int)assay__json_put_take(root, "results", assay__results_json(&c->results));
    if (bad == 0)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- text ---- */

static assay_status print_states(const checked *c)
{
    assay__table table = {0};
    assay_status status;

    assay__table_column(&table, "routes", ASSAY__RIGHT);
    assay__table_column(&table, "measurements", ASSAY__RIGHT);
    assay__table_column(&table, "state here", ASSAY__LEFT);
    for (int s = 0; s < ASSAY__CHECK_STATES; s++) {
        if (s != ASSAY__CHECK_USABLE && c->totals.routes[s] + c->totals.measurements[s] == 0)
            continue;
        assay__table_cellf(&table, "%" PRId64, c->totals.routes[s]);
        assay__table_cellf(&table, "%" PRId64, c->totals.measurements[s]);
        assay__table_cell(&table, assay__check_state_text((assay__check_state)s));
        assay__table_paint(&table, s == ASSAY__CHECK_USABLE ? ASSAY__GREEN : ASSAY__YELLOW);
    }
    status = assay__listing_print(&table, ASSAY__LISTING_TEXT);
    assay__table_clear(&table);
    return status;
}

static assay_status print_idle(const checked *c)
{
    assay__table table = {0};
    assay_status status;
    size_t shown = 0, all = 0;

    assay__table_column(&table, "idle variant", ASSAY__LEFT);
    assay__table_column(&table, "op", ASSAY__LEFT);
    assay__table_column(&table, "routes", ASSAY__RIGHT);
    assay__table_column(&table, "measurements", ASSAY__RIGHT);
    assay__table_column(&table, "reason", ASSAY__LEFT);
    for (size_t i = 0; i < c->variants.count; i++) {
        const assay__stored_variant_row *v = &c->variants.items[i];
        if (v->state == ASSAY__CHECK_USABLE)
            continue;
        if (++all > LINES_MAX)
            continue;
        shown++;
        assay__table_cellf(&table, "%s/%s%s%s%s", v->backend, v->kernel,
                           v->tunables[0] != '\0' ? "{" : "", v->tunables,
                           v->tunables[0] != '\0' ? "}" : "");
        assay__table_cellf(&table, "%s %s", v->op, v->dtypes);
        assay__table_cellf(&table, "%" PRId64, v->routes);
        assay__table_cellf(&table, "%" PRId64, v->measurements);
        assay__table_cellf(&table, "%s%s", assay__check_state_text(v->state),
                           v->is_renewed ? " (measured again since)" : "");
    }
    if (all > 0)
        putchar('\n');
    status = all > 0 ? assay__listing_print(&table, ASSAY__LISTING_TEXT) : ASSAY_OK;
    if (all > shown)
        printf("... and %zu more; --json lists all\n", all - shown);
    assay__table_clear(&table);
    return status;
}

static assay_status print_text(const check_args *a, const checked *c)
{
    assay__put_shown(stdout, c->path);
    printf(": schema %" PRId64 ", %s\n", c->schema, c->finding_count == 0 ? "sound" : "damaged");
    for (size_t i = 0; i < c->findings.count; i++) {
        fputs("  ", stdout);
        assay__put_shown(stdout, c->findings.items[i]);
        putchar('\n');
    }
    if (c->finding_count > c->findings.count)
        printf("  ... and %zu more findings\n", c->finding_count - c->findings.count);
    for (size_t i = 0; i < COUNT_ROWS; i++)
        if (count_of(c, i) > 0 && i < TABLE_ROWS)
            printf("%s%" PRId64 " %s", i > 0 ? ", " : "", count_of(c, i), count_rows[i].name);
    printf("\ndeployment here: %s\n", c->deployment);
    if (c->counts.routes_disturbed > 0)
        printf("%" PRId64 " of %" PRId64 " routes rest on measurements that something disturbed, "
               "%" PRId64 " on noisy ones; 'assay report cost' names them\n",
               c->counts.routes_disturbed, c->counts.routes, c->counts.routes_noisy);
    putchar('\n');
    ASSAY_TRY(print_states(c));
    ASSAY_TRY(print_idle(c));
    return a->results ? assay__results_print(&c->results) : ASSAY_OK;
}

/* ---- verdict ---- */

static int verdict(const check_args *a, const checked *c)
{
    if (c->finding_count > 0)
        return assay__cmd_fail("check", assay__fail(ASSAY_DB_DAMAGED,
                                                    "%s: store is damaged: %zu findings; restore a "
                                                    "copy",
                                                    c->path, c->finding_count));
    if (assay__results_bad(&c->results) > 0)
        return assay__cmd_fail("check",
                               assay__fail(ASSAY_STALE,
                                           "%zu winners no longer give what was checked; find out "
                                           "what changed on this machine, then sweep into a new "
                                           "store",
                                           assay__results_bad(&c->results)));
    if (c->holds_nothing)
        return assay__cmd_fail("check",
                               assay__fail(ASSAY_STALE,
                                           "none of the %" PRId64 " routes was measured on this "
                                           "deployment; sweep here",
                                           c->totals.routes[ASSAY__CHECK_ELSEWHERE]));
    if (is_stale(c))
        return assay__cmd_fail("check",
                               assay__fail(ASSAY_STALE,
                                           "idle routes: %" PRId64 ", stale measurements: %" PRId64
                                           "; sweep again with --db %s",
                                           c->idle_routes, c->not_renewed, a->common.db));
    return 0;
}

static int run(const check_args *a)
{
    checked c = {.path = a->common.db};
    assay_status status = check_path(a, &c);
    int code = 0;

    if (status == ASSAY_OK && a->common.is_json)
        code = assay__cmd_print_json("check", all_json(a, &c));
    else if (status == ASSAY_OK)
        status = print_text(a, &c);
    if (status != ASSAY_OK)
        code = assay__cmd_fail("check", status);
    if (code == 0)
        code = verdict(a, &c);
    assay__results_clear(&c.results);
    assay__stored_variants_clear(&c.variants);
    assay__strlist_clear(&c.findings);
    return code;
}

/* Told from one that was given by its address. */
static const char default_db[] = "assay.db";

/* By the option: $ASSAY_BACKEND narrows what commands look at and asks for nothing. */
static bool names_backend(int argc, char **argv)
{
    static const char option[] = "--backend";

    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], option, sizeof option - 1) == 0 &&
            (argv[i][sizeof option - 1] == '\0' || argv[i][sizeof option - 1] == '='))
            return true;
    return false;
}

static bool is_of_backend(const check_args *a, bool is_named)
{
    return a->rules.count > 0 || (is_named && a->common.db == default_db && !a->results);
}

static int run_backend(const check_args *a)
{
    if (a->common.backends.count != 1)
        return assay__cmd_fail("check", assay__fail(ASSAY_INVALID,
                                                    "--backend: one is tried at a time; with --db "
                                                    "a store is checked for several"));
    return assay__check_backend(a->common.backends.items[0], a->plugin_path, &a->rules,
                                a->common.is_json);
}

int cmd_check(int argc, char **argv)
{
    check_args a = {.common = ASSAY__COMMON_DEFAULTS};
    const bool is_named = names_backend(argc, argv);

    a.common.db = default_db;
    const assay__arg_table tables[] = {
        assay__common_table(&a.common, ASSAY__COMMON(DB) | ASSAY__COMMON(JSON) |
                                           ASSAY__COMMON(QUIET) | ASSAY__COMMON(BACKEND)),
        {rows, sizeof rows / sizeof rows[0], ASSAY__ARG_ALL, &a},
    };
    int code = 0;

    if (assay__cmd_begin(&spec, tables, 2, argc, argv, &code))
        code = is_of_backend(&a, is_named) ? run_backend(&a) : run(&a);
    assay__args_clear(tables, 2);
    return code;
}
