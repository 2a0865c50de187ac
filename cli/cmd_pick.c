/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_pick.c -- `assay pick`: flags into a question, the picker's answer onto the terminal. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/pick.h"
#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "cli/pick_print.h"
#include "runtime/deployment_host.h"
#include "runtime/error.h"
#include "runtime/pick_internal.h"
#include "support/common_args.h"
#include "tuner/shape_set.h"

typedef struct pick_args {
    assay__common common;
    double max_ulp, max_rho, max_rel, max_abs; /* NaN: no limit */
    const char *stability, *proof;
    bool allow_claims, explain;
    int64_t workspace_bytes; /* INT64_MIN: no limit */
    const char *plugin_path;
} pick_args;

typedef struct listener {
    bool is_opening, is_quiet;
} listener;

static const char *const stabilities[] = {"none", "config", "machine", "anywhere", NULL};
static const char *const proofs[] = {"sampled", "bounded", "exhaustive", NULL};

#define LIMIT(flag, field, text)                                                               \
    {                                                                                          \
        .name = flag, .kind = ASSAY__ARG_REAL, .offset = offsetof(pick_args, field), .min = 0, \
        .max = HUGE_VAL, .help = text                                                          \
    }

static const assay__arg flag_rows[] = {
    LIMIT("max-ulp", max_ulp, "most ULP from the correctly rounded value; 0: correctly rounded"),
    LIMIT("max-rho", max_rho, "most error over unit roundoff times the sum of absolute products"),
    LIMIT("max-rel", max_rel, "most relative error"),
    LIMIT("max-abs", max_abs, "most absolute error"),
    {.name = "stability",
     .kind = ASSAY__ARG_CHOICE,
     .offset = offsetof(pick_args, stability),
     .choices = stabilities,
     .help = "at least this bit stability"},
    {.name = "proof",
     .kind = ASSAY__ARG_CHOICE,
     .offset = offsetof(pick_args, proof),
     .choices = proofs,
     .help = "at least this level of evidence; no sweep stores bounded yet, exhaustive meets it"},
    {.name = "allow-claims",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(pick_args, allow_claims),
     .help = "where there is no evidence, believe what a kernel's author says"},
    {.name = "workspace",
     .kind = ASSAY__ARG_INT,
     .offset = offsetof(pick_args, workspace_bytes),
     .min = 0,
     .max = 0x1p63,
     .unit = "bytes",
     .help = "most memory that a kernel may need beside its operands"},
    {.name = "explain",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(pick_args, explain),
     .help = "list every candidate with its reason"},
    {.name = "plugins",
     .kind = ASSAY__ARG_STRING,
     .offset = offsetof(pick_args, plugin_path),
     .metavar = "PATH",
     .help = "colon list of folders or files to load plug-ins from"},
};

static const assay__args_spec spec = {
    .command = "assay pick",
    .summary = "Asks which kernel should run a problem here, and why",
    .example = "assay pick --op matmul --dtype f32 --shape m=512,n=512,k=512\n"
               "assay pick --op exp --dtype f32 --shape n=1000000 --max-ulp 1 --explain\n"
               "assay pick --op add --dtype f64 --shape n=4096 --threads 1 --json",
    .notes = "Nothing is measured and the store is not written. Without a store the answer is the\n"
             "default kernel, and says so; this needs no --db. A kernel without evidence fails\n"
             "every limit. So does one whose samples keep it while its author claims more, unless\n"
             "all inputs were run: the maximum of a sample is a lower bound.\n"
             "Backends that answer only when asked for (ref, fake) are listed only with\n"
             "--backend.\n"
             "Exit code 1: every kernel was rejected.",
};

/* ---- the question ---- */

static assay_status read_problem(const assay__common *c, assay_problem *out)
{
    assay__shape_set set = {0};
    assay_status status;

    if (c->ops.count != 1 || c->dtype == NULL || c->shapes.count != 1)
        return assay__fail(ASSAY_INVALID, "a question needs one --op, one --dtype and one --shape; "
                                          "'assay ops' lists what they may be");
    status = assay__shapes_add_flags(&set, c->ops.items[0], c->dtype, c->shapes.items[0]);
    if (status == ASSAY_OK && set.count != 1)
        status = assay__fail(ASSAY_INVALID, "--shape gives %zu problems; a question is about one",
                             set.count);
    if (status == ASSAY_OK)
        *out = set.items[0].problem;
    assay__shapes_clear(&set);
    return status;
}

static assay_status read_align(const char *text, assay_question *q)
{
    if (text == NULL)
        return ASSAY_OK;
    if (strcmp(text, "64") == 0)
        q->align = 64;
    else if (strcmp(text, "16") == 0)
        q->align = 16;
    else if (strcmp(text, "e") == 0 || strcmp(text, "element") == 0)
        q->align = 0;
    else
        return assay__fail(ASSAY_INVALID, "--align: '%s' is not 64, 16 or e", text);
    return ASSAY_OK;
}

static assay_status read_layout(const char *text, assay_question *q)
{
    const size_t count = q->problem.dtype_count;

    if (text == NULL)
        return ASSAY_OK;
    if (strlen(text) != count || strspn(text, "clsbn") != count)
        return assay__fail(ASSAY_INVALID,
                           "--layout: '%s' is not %zu letters, one an operand: c contiguous, "
                           "l leading dimension, s strided, b broadcast, n negative",
                           text, count);
    memcpy(q->layout, text, count);
    return ASSAY_OK;
}

/* Place of a name in a NULL-terminated list, counted from 1; NULL gives 0. */
static uint8_t level_of(const char *name, const char *const *names)
{
    uint8_t level = 1;

    if (name == NULL)
        return 0;
    for (; *names != NULL && strcmp(*names, name) != 0; names++)
        level++;
    return level;
}

static assay_status read_question(const pick_args *a, assay_question *q)
{
    assay_problem problem;

    ASSAY_TRY(read_problem(&a->common, &problem));
    assay_question_init(&problem, q);
    ASSAY_TRY(read_align(a->common.align, q));
    ASSAY_TRY(read_layout(a->common.layout, q));
    if (a->common.policy != NULL)
        ASSAY_TRY(assay_policy_parse(a->common.policy, &q->policy));
    q->tolerance.max_ulp = isnan(a->max_ulp) ? -1.0 : a->max_ulp;
    q->tolerance.max_rho = isnan(a->max_rho) ? -1.0 : a->max_rho;
    q->tolerance.max_rel = isnan(a->max_rel) ? -1.0 : a->max_rel;
    q->tolerance.max_abs = isnan(a->max_abs) ? -1.0 : a->max_abs;
    q->tolerance.stability = level_of(a->stability, stabilities);
    q->tolerance.proof = level_of(a->proof, proofs);
    q->tolerance.allow_claims = a->allow_claims ? 1 : 0;
    if (a->common.threads > 0)
        q->max_threads = (uint32_t)a->common.threads;
    if (a->workspace_bytes >= 0)
        q->workspace_bytes = (uint64_t)a->workspace_bytes;
    return ASSAY_OK;
}

/* ---- the answer ---- */

static bool has_backend(const assay_snapshot *rows, const char *name)
{
    for (size_t i = 0; i < assay_snapshot_size(rows); i++)
        if (strcmp(assay_snapshot_at(rows, i)->manifest->name, name) == 0)
            return true;
    return false;
}

static assay_status check_backends(assay_context *context, const assay__strlist *names)
{
    const assay_snapshot *rows = NULL;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay_table_hold(assay_context_table(context), &rows));
    for (size_t i = 0; status == ASSAY_OK && i < names->count; i++)
        if (!has_backend(rows, names->items[i]))
            status = assay__fail(ASSAY_UNAVAILABLE,
                                 "--backend: no usable plug-in '%s'; 'assay devices' says why",
                                 names->items[i]);
    assay_snapshot_release(&rows);
    return status;
}

/* A store that was named must be there; the one that is only a default need not. */
static assay_status store_path(const pick_args *a, const char *default_db, const char **out)
{
    const char *path = a->common.db;

    if (path[0] == '\0')
        return assay__fail(ASSAY_INVALID, "store: the path is empty");
    if (access(path, F_OK) == 0) {
        *out = path;
        return ASSAY_OK;
    }
    if (path != default_db || errno != ENOENT)
        return assay__fail(ASSAY_DB_MISSING, "%s: %s; 'assay sweep --db %s' makes a store", path,
                           strerror(errno), path);
    *out = NULL;
    return ASSAY_OK;
}

static assay_status check_device(const char *wanted, const char *device)
{
    if (wanted == NULL || strcmp(wanted, device) == 0)
        return ASSAY_OK;
    return assay__fail(ASSAY_UNAVAILABLE, "no device is called '%s'; 'assay devices' lists names",
                       wanted);
}

/* At most one line: why this answer is weaker than it could be, and the command that helps. */
static void warn_weak(const pick_args *a, const assay__answer *answer)
{
    const assay_candidate *chosen = assay__answer_chosen(answer);
    const char *backends = answer->why->question.backends;
    const size_t stale = assay__answer_stale(answer);
    const bool is_unmeasured = (chosen->route.flags & 1) != 0;
    char idle[240] = "";

    if (!is_unmeasured && stale == 0)
        return;
    if (stale > 0)
        (void)snprintf(idle, sizeof idle, "%zu measured variants are stale and were not used",
                       stale);
    else if (answer->stats.routes_idle > 0)
        (void)snprintf(idle, sizeof idle, "idle routes: %" PRIu64 ", %s", answer->stats.routes_idle,
                       answer->stats.idle_reason);
    assay__cmd_warn("pick", a->common.is_quiet,
                    "%s%s%s; measure with: assay sweep --db %s --op %s --dtype %s --shape '%s'%s%s",
                    is_unmeasured ? "nothing admissible is measured for this problem here, so this "
                                    "is the default kernel"
                                  : "",
                    is_unmeasured && idle[0] != '\0' ? "; " : "", idle, a->common.db,
                    a->common.ops.items[0], a->common.dtype, a->common.shapes.items[0],
                    backends != NULL ? " --backend " : "", backends != NULL ? backends : "");
}

static int show(const pick_args *a, const assay__answer *answer)
{
    int code = 0;

    if (a->common.is_json)
        code = assay__cmd_print_json("pick", assay__answer_json(answer));
    else if (assay__answer_print(answer, a->explain) != ASSAY_OK)
        code = assay__cmd_fail("pick", ASSAY_IO);
    if (code != 0)
        return code;
    if (assay__answer_chosen(answer) == NULL) {
        assay__answer_refusal(answer);
        return assay__exit_code(ASSAY_NO_ROUTE);
    }
    warn_weak(a, answer);
    return 0;
}

static int ask(const pick_args *a, assay_context *context, assay_question *q, const char *device)
{
    assay__answer answer = {.device = device};
    assay_route route;
    char *names = NULL;
    int code = 0;
    assay_status status = check_backends(context, &a->common.backends);

    if (status == ASSAY_OK && a->common.backends.count > 0)
        status = assay__strlist_join(&a->common.backends, ",", &names);
    if (status == ASSAY_OK) {
        q->backends = names;
        status = assay_explain(context, q, &answer.why);
    }
    if (status == ASSAY_OK) {
        /* The explanation tells why; this is what a program would get, and it counts. */
        (void)assay_pick(context, q, &route);
        assay_pick_stats_get(context, &answer.stats);
    }
    code = status == ASSAY_OK ? show(a, &answer) : assay__cmd_fail("pick", status);
    assay_explanation_destroy(&answer.why);
    free(names);
    return code;
}

/* Plug-ins that cannot be used; what else there is to say, `ask` says in one line. */
static void on_log(void *cookie, int level, const char *text)
{
    const listener *l = cookie;

    (void)level;
    if (l->is_opening)
        assay__cmd_warn("pick", l->is_quiet, "%s", text);
}

/* A program may open a context without them; who names them to the command wants them. */
static assay_status check_plugins(assay_context *context, const char *path)
{
    assay_status status = assay__plugins_check(assay__context_plugins(context), path);

    return status == ASSAY_OK ? status : assay__fail_context(status, "--plugins");
}

/* Libraries that no kernel of this op needs stay closed: opening all takes longer than the rest. */
static assay_status open_for(const pick_args *a, const assay_question *q, const char *path,
                             assay_open_options *options, assay_context **out,
                             assay_context **answers)
{
    char *names = NULL;
    assay_status status = assay__strlist_join(&a->common.backends, ",", &names);

    options->ops = assay_op_get((assay_op_id)q->problem.op)->name;
    options->devices = names;
    if (status == ASSAY_OK)
        status = assay_open(path, options, out);
    if (status == ASSAY_OK)
        status = assay__context_for(*out, names, answers);
    free(names);
    return status;
}

static int run(const pick_args *a, const char *default_db)
{
    listener ear = {.is_opening = true, .is_quiet = a->common.is_quiet};
    assay_open_options options = {.struct_size = sizeof options,
                                  .plugin_path = a->plugin_path,
                                  .log = on_log,
                                  .cookie = &ear};
    assay_deployment host;
    assay_context *context = NULL, *answers = NULL;
    assay_question q;
    const char *path = NULL;
    int code;
    assay_status status = read_question(a, &q);

    if (status == ASSAY_OK)
        status = assay__deployment_host(&host);
    if (status == ASSAY_OK)
        status = check_device(a->common.device, host.device);
    if (status == ASSAY_OK)
        status = store_path(a, default_db, &path);
    if (status == ASSAY_OK)
        status = open_for(a, &q, path, &options, &context, &answers);
    if (status == ASSAY_OK)
        status = check_plugins(context, a->plugin_path);
    if (status != ASSAY_OK)
        assay_close(&context);
    if (status != ASSAY_OK)
        return assay__cmd_fail("pick", status);
    ear.is_opening = false;
    code = ask(a, answers, &q, host.device);
    assay_close(&context);
    return code;
}

int cmd_pick(int argc, char **argv)
{
    pick_args a = {.common = ASSAY__COMMON_DEFAULTS,
                   .max_ulp = NAN,
                   .max_rho = NAN,
                   .max_rel = NAN,
                   .max_abs = NAN,
                   .workspace_bytes = INT64_MIN};
    const char *default_db = a.common.db;
    const assay__arg_table tables[] = {
        assay__common_table(
            &a.common, ASSAY__COMMON(DB) | ASSAY__COMMON(JSON) | ASSAY__COMMON(QUIET) |
                           ASSAY__COMMON(DEVICE) | ASSAY__COMMON(BACKEND) | ASSAY__COMMON(OP) |
                           ASSAY__COMMON(DTYPE) | ASSAY__COMMON(SHAPE) | ASSAY__COMMON(THREADS) |
                           ASSAY__COMMON(POLICY) | ASSAY__COMMON(ALIGN) | ASSAY__COMMON(LAYOUT)),
        {flag_rows, sizeof flag_rows / sizeof flag_rows[0], ASSAY__ARG_ALL, &a},
    };
    int code = 0;

    if (assay__cmd_begin(&spec, tables, 2, argc, argv, &code))
        code = run(&a, default_db);
    assay__args_clear(tables, 2);
    return code;
}
