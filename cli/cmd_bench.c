/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_bench.c -- `assay bench`: what asking, storing and measuring cost and show here. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench_rows.h"
#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "cli/kernel_set.h"
#include "runtime/deployment_host.h"
#include "runtime/error.h"
#include "support/common_args.h"
#include "support/format.h"
#include "tuner/device_lock.h"

#define PAIRS      60
#define SELF_PAIRS 1000 /* what a false alarm of 1 % takes to be seen */

typedef struct bench_args {
    assay__common common;
    assay__strlist only;
    const char *format;
    const char *plugin_path;
    bool strict, self_test;
} bench_args;

static const assay__arg option_rows[] = {
    {.name = "only",
     .kind = ASSAY__ARG_LIST,
     .offset = offsetof(bench_args, only),
     .metavar = "LIST",
     .help =
         "run these groups of rows alone: open, pick, start, ingest, clock, peaks, stays, twins, "
         "device"},
    {.name = "self-test",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(bench_args, self_test),
     .help = "1,000 pairs of twins in place of 60, for rates of 1 % to be seen"},
    {.name = "format",
     .kind = ASSAY__ARG_CHOICE,
     .offset = offsetof(bench_args, format),
     .choices = assay__listing_names,
     .help = "form of the listing"},
    {.name = "strict",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(bench_args, strict),
     .help = "exit 1 when a goal is missed"},
    {.name = "plugins",
     .kind = ASSAY__ARG_STRING,
     .offset = offsetof(bench_args, plugin_path),
     .metavar = "PATH",
     .help = "colon list of folders or files to load plug-ins from"},
};

static const assay__args_spec spec = {
    .command = "assay bench",
    .summary = "Measures starting, opening, picking, storing, the clock, peaks and stays, and how "
               "often twins differ",
    .example = "assay bench\n"
               "assay bench --only twins --self-test\n"
               "assay bench --db assay.db --format csv",
    .notes =
        "lo and hi are a 95 % interval of the value, for peaks the range of the runs; n is the\n"
        "number of samples. Rates of false winners and of planted differences that were not\n"
        "found (missed: called equal or faster; undecidable: called undecided), and what stays\n"
        "are off, are judged by the whole interval and may be undecided: --self-test takes more\n"
        "pairs.\n"
        "The clock is checked by chains of instructions of 3 and of 1 cycle, whose times must be\n"
        "lines with slopes of 3 to 1 that begin at 0 to 60 ns; its interval is over 23 blocks.\n"
        "Clocks of devices apart from the host are checked by spins of 2 us to 10 ms, which say "
        "what\n"
        "they really waited, and by arithmetic of 1 to 4 times an amount; lo..hi is the interval "
        "of\n"
        "the median and must lie within the goal. Nothing is taken off but what the row names.\n"
        "Ingest writes a store in $TMPDIR and removes it. Clock, peaks, stays and twins wait for "
        "a\n"
        "sweep that measures on this device. Other processes disturb these figures: look at them "
        "on\n"
        "a quiet machine. 'make bench' in the source tree measures kernels, store and oracle too.",
};

/* ---- groups ---- */

typedef struct group {
    const char *name;
    assay_status (*run)(const assay__bench_options *o, assay__bench_rows *r);
    bool measures; /* wants the device for itself */
} group;

static const group groups[] = {
    {"open", assay__bench_opens, false},     {"pick", assay__bench_picks, false},
    {"start", assay__bench_starts, false},   {"ingest", assay__bench_ingest, false},
    {"clock", assay__bench_clock, true},     {"peaks", assay__bench_peaks, true},
    {"stays", assay__bench_stays, true},     {"twins", assay__bench_twins, true},
    {"device", assay__bench_devices, false}, /* takes each device by itself */
};
#define GROUPS (sizeof groups / sizeof groups[0])

static assay_status check_groups(const assay__strlist *names)
{
    for (size_t i = 0; i < names->count; i++) {
        size_t g = 0;
        while (g < GROUPS && strcmp(groups[g].name, names->items[i]) != 0)
            g++;
        if (g == GROUPS)
            return assay__fail(ASSAY_INVALID,
                               "--only: unknown group '%s'; groups are: open, pick, start, ingest, "
                               "clock, peaks, stays, twins, device",
                               names->items[i]);
    }
    return ASSAY_OK;
}

static void waiting(void *cookie, long pid)
{
    const assay__bench_options *o = cookie;

    assay__cmd_warn("bench", o->is_quiet, "waiting for process %ld, which measures this device",
                    pid);
}

/* Groups that measure hold the device as a sweep does. */
static assay_status run_group(const group *g, assay__bench_options *o, assay__bench_rows *r)
{
    assay_deployment host;
    assay_status status;
    int lock = -1;

    if (!g->measures)
        return g->run(o, r);
    ASSAY_TRY(assay__deployment_host(&host));
    ASSAY_TRY(assay__device_lock(host.device, false, NULL, waiting, o, &lock));
    status = g->run(o, r);
    assay__device_unlock(&lock);
    return status;
}

static assay_status run_groups(const bench_args *a, const char *db, assay__bench_rows *r)
{
    assay__bench_options o = {.db = db,
                              .plugin_path = a->plugin_path,
                              .seed = (uint64_t)a->common.seed,
                              .pairs = a->self_test ? SELF_PAIRS : PAIRS,
                              .is_quiet = a->common.is_quiet};
    char *backends = NULL;
    assay_status status = check_groups(&a->only);

    if (status == ASSAY_OK && a->common.backends.count > 0)
        status = assay__strlist_join(&a->common.backends, ",", &backends);
    o.backends = backends;
    for (size_t i = 0; status == ASSAY_OK && i < GROUPS; i++)
        if (a->only.count == 0 || assay__strlist_has(&a->only, groups[i].name))
            status = run_group(&groups[i], &o, r);
    free(backends);
    return status;
}

/* ---- printing ---- */

static void real_cell(assay__table *table, double value)
{
    assay__table_cell(table, isnan(value) ? NULL : assay__format_real(value, 3).text);
}

static void goal_cell(assay__table *table, const assay__bench_row *row)
{
    const bool is_floor = !isnan(row->floor);
    char text[40];

    if (is_floor && !isnan(row->goal))
        (void)snprintf(text, sizeof text, "%g to %g", row->floor, row->goal);
    else if (is_floor || !isnan(row->goal))
        (void)snprintf(text, sizeof text, "%s %g",
                       is_floor ? ">=" : "<=", is_floor ? row->floor : row->goal);
    else
        text[0] = '\0';
    assay__table_cell(table, text[0] != '\0' ? text : NULL);
}

static assay_status print_rows(const assay__bench_rows *r, assay__listing how)
{
    static const char *const titles[] = {"what", "value", "unit",       "lo",   "hi",
                                         "n",    "peer",  "peer_value", "goal", "met"};
    assay__table table = {0};
    assay_status status;

    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        assay__table_column(&table, titles[i],
                            i == 0 || i == 2 || i == 6 || i == 9 ? ASSAY__LEFT : ASSAY__RIGHT);
    for (size_t i = 0; i < r->count; i++) {
        const assay__bench_row *row = &r->rows[i];
        assay__table_cell(&table, row->what);
        real_cell(&table, row->value);
        assay__table_cell(&table, row->unit);
        real_cell(&table, row->lo);
        real_cell(&table, row->hi);
        assay__table_cell(&table, row->n > 0 ? assay__format_count(row->n).text : NULL);
        assay__table_cell(&table, row->peer);
        real_cell(&table, row->peer_value);
        goal_cell(&table, row);
        assay__table_cell(&table, assay__bench_met(row));
    }
    status = assay__listing_print(&table, how);
    assay__table_clear(&table);
    return status;
}

static json_t *row_json(const assay__bench_row *row)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= (int)assay__json_put_string(object, "what", row->what);
    bad |= (int)assay__json_put_real(object, "value", row->value);
    bad |= (int)assay__json_put_string(object, "unit", row->unit);
    bad |= (int)assay__json_put_real(object, "lo", row->lo);
    bad |= (int)assay__json_put_real(object, "hi", row->hi);
    bad |= row->n > 0 ? (int)assay__json_put_int(object, "n", (int64_t)row->n) : 0;
    bad |= (int)assay__json_put_string(object, "peer", row->peer);
    bad |= (int)assay__json_put_real(object, "peer_value", row->peer_value);
    bad |= (int)assay__json_put_real(object, "goal", row->goal);
    bad |= (int)assay__json_put_real(object, "floor", row->floor);
    bad |= (int)assay__json_put_string(object, "met", assay__bench_met(row));
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *all_json(const assay__bench_rows *r)
{
    json_t *root = assay__cmd_json_object("assay.bench/2"), *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < r->count; i++)
        bad |= (int)assay__json_append_take(list, row_json(&r->rows[i]));
    bad |= (int)assay__json_put_take(root, "rows", list);
    if (bad == 0)
        return root;
    json_decref(root);
    return NULL;
}

static int verdict(const bench_args *a, const assay__bench_rows *r)
{
    size_t missed = 0;

    for (size_t i = 0; i < r->count; i++)
        missed += strcmp(assay__bench_met(&r->rows[i]), "no") == 0 ? 1 : 0;
    if (missed > 0)
        assay__cmd_warn("bench", a->common.is_quiet, "%zu of %zu rows miss their goal", missed,
                        r->count);
    return a->strict && missed > 0 ? 1 : 0;
}

static int run(const bench_args *a, const char *default_db)
{
    /* Only a store that was named must be there. */
    const bool has_store = a->common.db != default_db || access(a->common.db, F_OK) == 0;
    const char *db = has_store ? a->common.db : NULL;
    assay__bench_rows r = {.count = 0};
    int code = 0;
    assay_status status = ASSAY_OK;

    if (db != NULL && access(db, F_OK) != 0)
        status = assay__fail(ASSAY_DB_MISSING, "%s: %s", db, strerror(errno));
    if (status == ASSAY_OK)
        status = assay__kernel_set_check(a->plugin_path);
    if (status == ASSAY_OK)
        status = run_groups(a, db, &r);
    if (status == ASSAY_OK && a->common.is_json)
        code = assay__cmd_print_json("bench", all_json(&r));
    else if (status == ASSAY_OK)
        status = print_rows(&r, assay__listing_of(a->format));
    if (status != ASSAY_OK)
        code = assay__cmd_fail("bench", status);
    return code != 0 ? code : verdict(a, &r);
}

int cmd_bench(int argc, char **argv)
{
    bench_args a = {.common = ASSAY__COMMON_DEFAULTS, .format = "text"};
    const char *default_db = a.common.db;
    const assay__arg_table tables[] = {
        assay__common_table(&a.common, ASSAY__COMMON(DB) | ASSAY__COMMON(JSON) |
                                           ASSAY__COMMON(QUIET) | ASSAY__COMMON(SEED) |
                                           ASSAY__COMMON(BACKEND)),
        {option_rows, sizeof option_rows / sizeof option_rows[0], ASSAY__ARG_ALL, &a},
    };
    int code = 0;

    if (assay__cmd_begin(&spec, tables, 2, argc, argv, &code))
        code = run(&a, default_db);
    assay__args_clear(tables, 2);
    return code;
}
