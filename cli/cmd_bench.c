/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_bench.c -- `assay bench`: what asking costs on this machine, beside a peer of the run. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "assay/pick.h"
#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "runtime/error.h"
#include "runtime/keyhash.h"
#include "support/common_args.h"
#include "support/format.h"
#include "tuner/stats.h"

#define PROBLEMS 1000 /* hot at a time */
#define BATCH    64   /* picks between two readings of the clock */
#define BATCHES  5000
#define STARTS   15
#define OPENS    5

typedef struct bench_args {
    assay__common common;
    const char *format;
    const char *plugin_path;
    bool strict;
} bench_args;

static const assay__arg option_rows[] = {
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
    .summary =
        "Measures what starting, opening and picking cost here, beside peers of the same run",
    .example = "assay bench\nassay bench --db assay.db --format csv",
    .notes =
        "Other processes disturb these figures: look at them on a quiet machine. 'make bench'\n"
        "in the source tree measures kernels, store and oracle too.",
};

typedef struct row {
    const char *what, *unit, *peer; /* peer NULL: none */
    double value, peer_value;
    double goal; /* value is to be at most this; NaN: for information */
} row;

typedef struct results {
    row rows[16];
    size_t count;
} results;

static row *add_row(results *r, const char *what, const char *unit, double value, double goal)
{
    row *added = &r->rows[r->count++];

    *added = (row){.what = what, .unit = unit, .value = value, .goal = goal, .peer_value = NAN};
    return added;
}

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static assay_status quantiles(const double *samples, size_t n, double *p50, double *p99)
{
    double *sorted = NULL;

    ASSAY_TRY(assay__stats_sorted(samples, n, &sorted));
    *p50 = assay__stats_quantile(sorted, n, 0.5);
    *p99 = assay__stats_quantile(sorted, n, 0.99);
    free(sorted);
    return ASSAY_OK;
}

/* ---- whole programs ---- */

static assay_status run_once(char *const argv[], double *ms)
{
    posix_spawn_file_actions_t quiet;
    pid_t child = 0;
    int code = 0, wait_status = 0;
    double start;

    if (posix_spawn_file_actions_init(&quiet) != 0)
        return assay__fail(ASSAY_NOMEM, "cannot prepare a process");
    (void)posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    start = now_ns();
    code = posix_spawn(&child, argv[0], &quiet, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&quiet);
    if (code != 0)
        return assay__fail(ASSAY_IO, "cannot start %s: %s", argv[0], strerror(code));
    while (waitpid(child, &wait_status, 0) < 0)
        if (errno != EINTR)
            return assay__fail(ASSAY_INTERNAL, "cannot wait: %s", strerror(errno));
    if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0)
        return assay__fail(ASSAY_INTERNAL, "%s %s did not succeed", argv[0],
                           argv[1] != NULL ? argv[1] : "");
    *ms = (now_ns() - start) * 1e-6;
    return ASSAY_OK;
}

static assay_status median_start(char *const argv[], double *ms)
{
    double samples[STARTS], p99;

    for (int i = 0; i < STARTS; i++)
        ASSAY_TRY(run_once(argv, &samples[i]));
    return quantiles(samples, STARTS, ms, &p99);
}

static assay_status bench_starts(const char *db, results *r)
{
    char self[4096], path[4096];
    char db_flag[] = "--db";
    char *bare[] = {(char[]){"/bin/true"}, NULL};
    char *version[] = {self, (char[]){"--version"}, NULL};
    char *pick[] = {self,
                    (char[]){"pick"},
                    (char[]){"--op"},
                    (char[]){"add"},
                    (char[]){"--dtype"},
                    (char[]){"f32"},
                    (char[]){"--shape"},
                    (char[]){"n=4096"},
                    (char[]){"--json"},
                    db != NULL ? db_flag : NULL,
                    path,
                    NULL};
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    double ms = NAN, peer = NAN;
    row *added;

    if (length <= 0)
        return assay__fail(ASSAY_IO, "cannot find this program: %s", strerror(errno));
    self[length] = '\0';
    (void)snprintf(path, sizeof path, "%s", db != NULL ? db : "");
    ASSAY_TRY(median_start(bare, &peer));
    ASSAY_TRY(median_start(version, &ms));
    added = add_row(r, "start, assay --version", "ms", ms, NAN);
    added->peer = "/bin/true";
    added->peer_value = peer;
    ASSAY_TRY(median_start(pick, &ms));
    added = add_row(r, "start, assay pick", "ms", ms, 20.0);
    added->peer = "/bin/true";
    added->peer_value = peer;
    return ASSAY_OK;
}

/* ---- the picker ---- */

static assay_status make_questions(assay_question *questions)
{
    assay_problem problem;

    ASSAY_TRY(assay_problem_init(ASSAY_OP_add, ASSAY_F32, &problem));
    for (int i = 0; i < PROBLEMS; i++) {
        ASSAY_TRY(assay_problem_set_int(&problem, "n", 1000 + 37 * (int64_t)i));
        assay_question_init(&problem, &questions[i]);
    }
    return ASSAY_OK;
}

static assay_status bench_open(const bench_args *a, const char *db, results *r)
{
    const assay_open_options options = {.struct_size = sizeof options,
                                        .plugin_path = a->plugin_path};
    double samples[OPENS], p50 = NAN, p99;

    for (int i = 0; i < OPENS; i++) {
        assay_context *context = NULL;
        const double start = now_ns();
        ASSAY_TRY(assay_open(db, &options, &context));
        samples[i] = (now_ns() - start) * 1e-6;
        assay_close(&context);
    }
    ASSAY_TRY(quantiles(samples, OPENS, &p50, &p99));
    (void)add_row(r, db != NULL ? "open, with the store" : "open, no store", "ms", p50, 150.0);
    return ASSAY_OK;
}

static assay_status bench_first(assay_context *context, const assay_question *questions,
                                double *samples, results *r)
{
    double p50 = NAN, p99 = NAN;

    for (int i = 0; i < PROBLEMS; i++) {
        assay_route route;
        const double start = now_ns();
        const assay_status status = assay_pick(context, &questions[i], &route);
        samples[i] = now_ns() - start;
        if (status != ASSAY_OK)
            return status;
    }
    ASSAY_TRY(quantiles(samples, PROBLEMS, &p50, &p99));
    (void)add_row(r, "pick, first time, p50", "ns", p50, 4000.0);
    return ASSAY_OK;
}

/* What no picker can do without: the hash of a key, and one line of a table in the cache. */
static double hash_batch(const assay_question *questions, const uint64_t *lines, size_t at)
{
    uint64_t sum = 0;
    const double start = now_ns();

    for (int i = 0; i < BATCH; i++) {
        const assay__key128 key =
            assay__xxh(&questions[(at + (size_t)i * 7) % PROBLEMS].problem, sizeof(assay_problem));
        sum += lines[key.low % 1024 * 8] + key.high;
    }
    const double spent = now_ns() - start;
    /* The sum must be used, or the loop may go. */
    return sum == 1 ? spent + 1e-9 : spent;
}

static assay_status bench_hash(const assay_question *questions, double *samples, double *p50,
                               double *p99)
{
    uint64_t *lines = calloc(1024 * 8, sizeof *lines);

    if (lines == NULL)
        return assay__fail(ASSAY_NOMEM, "no memory for the peer");
    for (size_t i = 0; i < BATCHES; i++)
        samples[i] = hash_batch(questions, lines, i * 31) / BATCH;
    free(lines);
    return quantiles(samples, BATCHES, p50, p99);
}

static assay_status bench_again(assay_context *context, const assay_question *questions,
                                double *samples, results *r)
{
    double p50 = NAN, p99 = NAN, peer50 = NAN, peer99 = NAN;
    assay_route route;
    row *added;

    for (size_t i = 0; i < BATCHES; i++) {
        const double start = now_ns();
        for (size_t j = 0; j < BATCH; j++)
            ASSAY_TRY(assay_pick(context, &questions[(i * 31 + j * 7) % PROBLEMS], &route));
        samples[i] = (now_ns() - start) / BATCH;
    }
    ASSAY_TRY(quantiles(samples, BATCHES, &p50, &p99));
    ASSAY_TRY(bench_hash(questions, samples, &peer50, &peer99));
    added = add_row(r, "pick, again, 1,000 problems, p50", "ns", p50, 50.0);
    added->peer = "hash and one line";
    added->peer_value = peer50;
    added = add_row(r, "pick, again, 1,000 problems, p99", "ns", p99, 120.0);
    added->peer = "hash and one line";
    added->peer_value = peer99;
    return ASSAY_OK;
}

static assay_status bench_site(assay_context *context, const assay_question *question,
                               double *samples, results *r)
{
    assay_site site = {0};
    assay_route route;
    double p50 = NAN, p99 = NAN;

    for (size_t i = 0; i < BATCHES; i++) {
        const double start = now_ns();
        for (size_t j = 0; j < BATCH; j++)
            ASSAY_TRY(assay_pick_at(context, &site, question, &route));
        samples[i] = (now_ns() - start) / BATCH;
    }
    ASSAY_TRY(quantiles(samples, BATCHES, &p50, &p99));
    (void)add_row(r, "pick, call-site cache, p50", "ns", p50, 6.0);
    return ASSAY_OK;
}

static assay_status bench_picks(const bench_args *a, const char *db, results *r)
{
    const assay_open_options options = {.struct_size = sizeof options,
                                        .plugin_path = a->plugin_path};
    assay_question *questions = calloc(PROBLEMS, sizeof *questions);
    double *samples = calloc(BATCHES, sizeof *samples);
    assay_context *context = NULL;
    assay_status status = questions != NULL && samples != NULL
                              ? ASSAY_OK
                              : assay__fail(ASSAY_NOMEM, "no memory for samples");

    if (status == ASSAY_OK)
        status = make_questions(questions);
    if (status == ASSAY_OK)
        status = assay_open(db, &options, &context);
    if (status == ASSAY_OK)
        status = bench_first(context, questions, samples, r);
    if (status == ASSAY_OK)
        status = bench_again(context, questions, samples, r);
    if (status == ASSAY_OK)
        status = bench_site(context, &questions[0], samples, r);
    assay_close(&context);
    free(questions);
    free(samples);
    return status;
}

/* ---- printing ---- */

static const char *met(const row *r)
{
    if (isnan(r->goal))
        return "info";
    return r->value <= r->goal ? "yes" : "no";
}

static void real_cell(assay__table *table, double value)
{
    assay__table_cell(table, isnan(value) ? NULL : assay__format_real(value, 3).text);
}

static assay_status print_rows(const results *r, assay__listing how)
{
    static const char *const titles[] = {"what",       "value", "unit", "peer",
                                         "peer_value", "goal",  "met"};
    assay__table table = {0};
    assay_status status;

    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        assay__table_column(&table, titles[i],
                            i == 1 || i == 4 || i == 5 ? ASSAY__RIGHT : ASSAY__LEFT);
    for (size_t i = 0; i < r->count; i++) {
        assay__table_cell(&table, r->rows[i].what);
        real_cell(&table, r->rows[i].value);
        assay__table_cell(&table, r->rows[i].unit);
        assay__table_cell(&table, r->rows[i].peer);
        real_cell(&table, r->rows[i].peer_value);
        real_cell(&table, r->rows[i].goal);
        assay__table_cell(&table, met(&r->rows[i]));
    }
    status = assay__listing_print(&table, how);
    assay__table_clear(&table);
    return status;
}

static json_t *all_json(const results *r)
{
    json_t *root = assay__cmd_json_object("assay.bench/1"), *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < r->count; i++) {
        json_t *object = json_object();
        bad |= (int)assay__json_put_string(object, "what", r->rows[i].what);
        bad |= (int)assay__json_put_real(object, "value", r->rows[i].value);
        bad |= (int)assay__json_put_string(object, "unit", r->rows[i].unit);
        bad |= (int)assay__json_put_string(object, "peer", r->rows[i].peer);
        bad |= (int)assay__json_put_real(object, "peer_value", r->rows[i].peer_value);
        bad |= (int)assay__json_put_real(object, "goal", r->rows[i].goal);
        bad |= (int)assay__json_put_string(object, "met", met(&r->rows[i]));
        bad |= (int)assay__json_append_take(list, object);
    }
    bad |= (int)assay__json_put_take(root, "rows", list);
    if (bad == 0)
        return root;
    json_decref(root);
    return NULL;
}

static int verdict(const bench_args *a, const results *r)
{
    size_t missed = 0;

    for (size_t i = 0; i < r->count; i++)
        missed += strcmp(met(&r->rows[i]), "no") == 0 ? 1 : 0;
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
    results r = {.count = 0};
    int code = 0;
    assay_status status = ASSAY_OK;

    if (db != NULL && access(db, F_OK) != 0)
        status = assay__fail(ASSAY_DB_MISSING, "%s: %s", db, strerror(errno));
    if (status == ASSAY_OK)
        status = bench_open(a, db, &r);
    if (status == ASSAY_OK)
        status = bench_picks(a, db, &r);
    if (status == ASSAY_OK)
        status = bench_starts(db, &r);
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
        assay__common_table(&a.common,
                            ASSAY__COMMON(DB) | ASSAY__COMMON(JSON) | ASSAY__COMMON(QUIET)),
        {option_rows, sizeof option_rows / sizeof option_rows[0], ASSAY__ARG_ALL, &a},
    };
    int code = 0;

    if (assay__cmd_begin(&spec, tables, 2, argc, argv, &code))
        code = run(&a, default_db);
    assay__args_clear(tables, 2);
    return code;
}
