/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_sweep.c -- `assay sweep`: flags into options, progress and outcomes onto the terminal. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "calibrate/product_sample.h"
#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "cli/sweep_fates.h"
#include "cli/sweep_progress.h"
#include "runtime/error.h"
#include "support/args.h"
#include "support/common_args.h"
#include "support/format.h"
#include "support/json.h"
#include "support/number.h"
#include "sweep/sweep.h"
#include "tuner/shard.h"

typedef struct sweep_args {
    assay__common common;
    bool resume, dry_run, no_wait, strict, probe_peaks, exhaustive, counters;
    double problem_s;    /* NaN: the profile's */
    int64_t evaluations; /* 0: no limit */
    const char *label;
    const char *shard;
    const char *plugin_path;
} sweep_args;

static const assay__arg rows[] = {
    {.name = "resume",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(sweep_args, resume),
     .help = "measure only what the store does not have for this profile"},
    {.name = "problem-budget",
     .kind = ASSAY__ARG_DURATION,
     .offset = offsetof(sweep_args, problem_s),
     .min = 1e-3,
     .max = 0x1p62,
     .unit = "s",
     .help = "what calls for one problem may take; default 10 s with --profile quick, 30 s with "
             "standard, 5 min with thorough"},
    {.name = "evaluations",
     .kind = ASSAY__ARG_INT,
     .offset = offsetof(sweep_args, evaluations),
     .min = 1,
     .max = 0x1p62,
     .help = "try no more variants of problems than this, those of earlier sweeps that --resume "
             "takes up included"},
    {.name = "shard",
     .kind = ASSAY__ARG_STRING,
     .offset = offsetof(sweep_args, shard),
     .metavar = "I/N",
     .help = "only the I-th of N parts of the problems; auto: as a Slurm job array or Open MPI "
             "says"},
    {.name = "dry-run",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(sweep_args, dry_run),
     .help = "say what would be measured and how long it would take, measure nothing"},
    {.name = "no-wait",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(sweep_args, no_wait),
     .help = "fail at once when another process measures this device"},
    {.name = "probe-peaks",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(sweep_args, probe_peaks),
     .help = "measure the machine's peaks anew, also when the store has those of today"},
    {.name = "counters",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(sweep_args, counters),
     .help =
         "count cycles, cache misses, page faults and what else 'assay devices' lists for those "
         "that may be published, in calls of their own"},
    {.name = "exhaustive",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(sweep_args, exhaustive),
     .help = "run f32 kernels of unary elementwise ops over all 2^32 inputs too, once a variant"},
    {.name = "strict",
     .kind = ASSAY__ARG_FLAG,
     .offset = offsetof(sweep_args, strict),
     .help =
         "exit 1 when a candidate was wrong, failed, in quarantine, mistrusted or skipped; leave "
         "out, and take again, samples in which the CPU was taken away"},
    {.name = "label",
     .kind = ASSAY__ARG_STRING,
     .offset = offsetof(sweep_args, label),
     .metavar = "TEXT",
     .help = "free text stored with the deployment"},
    {.name = "plugins",
     .kind = ASSAY__ARG_STRING,
     .offset = offsetof(sweep_args, plugin_path),
     .metavar = "PATH",
     .help = "colon list of folders or files to load plug-ins from"},
};

static const assay__args_spec spec = {
    .command = "assay sweep",
    .summary = "Measures kernels on problems, checks their results, and stores both with routes",
    .notes =
        "The default kernel of a problem and the one that was picked so far compete, also when\n"
        "--kernel leaves them out: a gain is measured against them. docs/measurement.md says\n"
        "how times and verdicts come about.",
    .example = "assay sweep --shapes shapes/quickstart.csv --profile quick\n"
               "assay sweep --op matmul --dtype 'f32|f64' --shape 'm=64..1024*2,n=512,k=512'",
};

typedef struct view {
    bool is_json, is_quiet, is_terminal;
    double last_print_s;
    const char *last_phase;
    json_t *plan; /* owned; NULL: no rehearsal, or as text */
    size_t printed;
    assay__fate_list fates;
} view;

static void clear_line(const view *v)
{
    if (v->is_terminal && !v->is_quiet)
        fputs("\r\033[K", stderr);
}

/* A line that is wrapped is not written over: only its last row is.  0: not known. */
static size_t columns_of_terminal(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 0;
}

static void on_progress(void *cookie, const assay__progress *p)
{
    view *v = cookie;
    double interval = v->is_json ? 1.0 : v->is_terminal ? 0.2 : 10.0;

    /* Phases are told by constants. */
    if (v->is_quiet || (v->last_phase == p->phase && p->elapsed_s - v->last_print_s < interval))
        return;
    v->last_print_s = p->elapsed_s;
    v->last_phase = p->phase;
    clear_line(v);
    assay__progress_print(p, v->is_json, v->is_terminal ? columns_of_terminal() : 0, stderr);
    if (!v->is_terminal && !v->is_json)
        fputc('\n', stderr);
    fflush(stderr);
}

static void on_forecast(void *cookie, const assay__forecast *f)
{
    assay__forecast_print(f, ((view *)cookie)->plan, stdout);
}

static void on_warn(void *cookie, const char *text)
{
    view *v = cookie;

    clear_line(v);
    if (v->is_quiet)
        return;
    fputs("assay sweep: ", stderr);
    assay__put_shown(stderr, text);
    fputc('\n', stderr);
}

static void on_fate(void *cookie, const assay__fate *f)
{
    assay__fates_add(&((view *)cookie)->fates, f);
}

static void outcome_json(const assay__outcome *o)
{
    json_t *row = json_object();
    int bad = 0;

    bad |= (int)assay__json_put_string(row, "schema", "assay.sweep.outcome/1");
    bad |= (int)assay__json_put_string(row, "problem", o->problem);
    if (o->winner != NULL) {
        bad |= (int)assay__json_put_string(row, "kernel", o->winner);
        bad |= (int)assay__json_put_string(row, "backend", o->backend);
        bad |= (int)assay__json_put_string(row, "tunables", o->tunables);
    }
    bad |= (int)assay__json_put_real(row, "time_ns", o->time_ns);
    bad |= (int)assay__json_put_real(row, "lo_ns", o->lo_ns);
    bad |= (int)assay__json_put_real(row, "hi_ns", o->hi_ns);
    if (o->why[0] != '\0')
        bad |= (int)assay__json_put_string(row, "reason", o->why);
    bad |= (int)assay__json_put_real(row, "speedup", o->speedup);
    bad |= (int)assay__json_put_real(row, "speedup_lo", o->speedup_lo);
    bad |= (int)assay__json_put_real(row, "speedup_hi", o->speedup_hi);
    bad |= (int)assay__json_put_real(row, "speedup_level", o->speedup_level);
    bad |= (int)assay__json_put_real(row, "peak_share", o->peak_share);
    bad |= (int)assay__json_put_real(row, "max_ulp", o->max_ulp);
    bad |= (int)assay__json_put_real(row, "max_rho", o->max_rho);
    bad |= (int)assay__json_put_bool(row, "is_exact", o->is_exact);
    if (o->elements > 0)
        bad |= (int)assay__json_put_int(row, "elements", (int64_t)o->elements);
    if (o->decision[0] != '\0')
        bad |= (int)assay__json_put_string(row, "decision", o->decision);
    bad |= (int)assay__json_put_real(row, "resolution", o->resolution);
    if (o->noise[0] != '\0')
        bad |= (int)assay__cmd_json_words(row, "flags", o->noise, ' ');
    bad |= (int)assay__json_put_int(row, "ties", (int64_t)o->ties);
    bad |= (int)assay__json_put_int(row, "searched", (int64_t)o->searched);
    bad |= (int)assay__json_put_int(row, "total", (int64_t)o->total);
    if (bad == 0)
        (void)assay__json_write(row, false, stdout);
    json_decref(row);
}

/* A maximum of a sample is a lower bound, and says of how many elements. */
static void outcome_error(const assay__outcome *o, char *buf, size_t cap)
{
    char figure[32], of[48] = "all inputs";

    if (!o->is_exact)
        (void)snprintf(of, sizeof of, "%llu elements", (unsigned long long)o->elements);
    if (!isnan(o->max_rho))
        (void)snprintf(figure, sizeof figure, "%.3g", o->max_rho);
    else if (!isnan(o->max_ulp))
        (void)snprintf(figure, sizeof figure, "%.0f ulp", o->max_ulp);
    else {
        (void)snprintf(buf, cap, "error -");
        return;
    }
    (void)snprintf(buf, cap, "%s %s %s of %s", isnan(o->max_rho) ? "max" : "max rho",
                   o->is_exact ? "=" : ">=", figure, of);
}

/* An unknown is absent: the default may have failed, or its time was not to be believed. */
static void outcome_speedup(const assay__outcome *o, char *buf, size_t cap)
{
    if (isnan(o->speedup))
        (void)snprintf(buf, cap, "default not measured");
    else if (isnan(o->speedup_level))
        (void)snprintf(buf, cap, "%.2fx default", o->speedup);
    else
        (void)snprintf(buf, cap, "%.2fx default [%.2f, %.2f; %.0f %%]", o->speedup, o->speedup_lo,
                       o->speedup_hi, 100.0 * o->speedup_level);
}

static void outcome_ties(const assay__outcome *o, char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "%zu tied of %zu", o->ties, o->searched);

    if (n < 0 || (size_t)n >= cap || strcmp(o->decision, "undecidable") != 0)
        return;
    if (isnan(o->resolution))
        (void)snprintf(buf + n, cap - (size_t)n, " (undecidable)");
    else
        (void)snprintf(buf + n, cap - (size_t)n, " (undecidable below %.40s)",
                       assay__format_percent(o->resolution).text);
}

static void outcome_rate(const assay__outcome *o, char *buf, size_t cap)
{
    double rate = (o->compute_bound ? o->flops : o->bytes) / o->time_ns * 1e9;

    if (isnan(rate))
        (void)snprintf(buf, cap, "rate -");
    else
        (void)snprintf(buf, cap, "%s (%s of peak)",
                       o->compute_bound ? assay__format_flops(rate).text
                                        : assay__format_bandwidth(rate).text,
                       assay__format_percent(o->peak_share).text);
}

static void outcome_text(const assay__outcome *o)
{
    char error[112], kernel[160], rate[180], speedup[64], ties[140];

    if (o->winner == NULL) {
        printf("%s\n    ", o->problem);
        assay__put_shown(stdout, o->why[0] != '\0' ? o->why : "no admissible variant");
        printf(" of %zu\n", o->searched);
        return;
    }
    outcome_error(o, error, sizeof error);
    outcome_speedup(o, speedup, sizeof speedup);
    outcome_ties(o, ties, sizeof ties);
    (void)snprintf(kernel, sizeof kernel, "%s/%s%s%s%s", o->backend, o->winner,
                   o->tunables[0] ? "{" : "", o->tunables, o->tunables[0] ? "}" : "");
    outcome_rate(o, rate, sizeof rate);
    printf("%s\n    %s  %s  %s  %s  %s  %s%s%s\n", o->problem, kernel,
           assay__format_interval(o->time_ns, o->lo_ns, o->hi_ns, o->visits).text, rate, speedup,
           error, ties, o->noise[0] != '\0' ? "  disturbed: " : "", o->noise);
}

static void on_outcome(void *cookie, const assay__outcome *o)
{
    view *v = cookie;

    clear_line(v);
    if (v->is_json)
        outcome_json(o);
    else
        outcome_text(o);
    fflush(stdout);
    v->printed++;
}

/* The filter --op left nothing of the file: what is there instead. */
static assay_status fail_no_rows(const assay__common *c, const char *op)
{
    bool seen[ASSAY_OP_COUNT] = {false};
    assay__shape_set all = {0};
    assay__str names = {0};
    assay_status status = assay__shapes_add_csv(&all, c->shapes_file, NULL, c->dtype);

    for (size_t i = 0; status == ASSAY_OK && i < all.count; i++) {
        const unsigned id = all.items[i].problem.op;
        if (!seen[id])
            assay__str_addf(&names, "%s%s", assay__str_text(&names)[0] != '\0' ? ", " : "",
                            assay_op_get((assay_op_id)id)->name);
        seen[id] = true;
    }
    if (status == ASSAY_OK)
        status = assay__fail(ASSAY_INVALID, "%s: no row is of --op %s; its rows are of %s",
                             c->shapes_file, op, assay__str_text(&names));
    assay__str_clear(&names);
    assay__shapes_clear(&all);
    return status;
}

static assay_status read_shapes(const assay__common *c, assay__shape_set *set)
{
    const char *op = c->ops.count == 1 ? c->ops.items[0] : NULL;

    if (c->ops.count > 1)
        return assay__fail(ASSAY_INVALID, "--op: one op at a time for a sweep");
    if (c->shapes_file != NULL)
        ASSAY_TRY(assay__shapes_add_csv(set, c->shapes_file, op, c->dtype));
    if (c->shapes_file != NULL && op != NULL && set->count == 0 && set->skipped_count == 0)
        return fail_no_rows(c, op);
    if (c->shapes_file != NULL && c->shapes.count == 0)
        return ASSAY_OK;
    if (c->shapes.count == 0)
        return assay__fail(ASSAY_INVALID, "nothing to measure: give --shapes FILE.csv, or --op, "
                                          "--dtype and --shape");
    for (size_t i = 0; i < c->shapes.count; i++)
        ASSAY_TRY(assay__shapes_add_flags(set, op, c->dtype, c->shapes.items[i]));
    return ASSAY_OK;
}

static const char *variable(const char *name)
{
    return getenv(name);
}

static assay_status take_shard(const sweep_args *a, assay__shape_set *set)
{
    const size_t whole = set->count;
    assay__shard shard;

    if (a->shard == NULL)
        return ASSAY_OK;
    ASSAY_TRY(assay__shard_parse(a->shard, variable, &shard));
    assay__shard_take(set, &shard);
    if (!a->common.is_quiet)
        fprintf(stderr, "shard %zu/%zu: %zu of %zu problems\n", shard.index, shard.count,
                set->count, whole);
    return ASSAY_OK;
}

static assay_status read_align(const char *text, unsigned *out)
{
    if (text == NULL || strcmp(text, "16") == 0)
        *out = 16;
    else if (strcmp(text, "64") == 0)
        *out = 64;
    else if (strcmp(text, "e") == 0 || strcmp(text, "element") == 0)
        *out = 0;
    else
        return assay__fail(ASSAY_INVALID, "--align: '%s' is not 64, 16 or e", text);
    return ASSAY_OK;
}

/* For tests alone: products of less work than 2 GFLOP checked as larger ones are.  Never fewer of
 * them than without it: what a check looks at is no matter of the environment. */
static assay_status read_limit(const char *name, double least, double most, double *out)
{
    const char *text = getenv(name);

    if (text == NULL || assay__parse_real(text, least, most, out) == ASSAY_OK)
        return ASSAY_OK;
    return assay__fail(ASSAY_INVALID, "%s is '%s', not a number from %.0f to %.0f; unset it", name,
                       text, least, most);
}

/* Likewise, so that kernels which hang cost less. */
static assay_status read_limits(assay__sweep_options *o)
{
    ASSAY_TRY(read_limit("ASSAY_TEST_SAMPLE_ABOVE_FLOPS", 1, ASSAY__SAMPLE_ABOVE_FLOPS,
                         &o->sample_above_flops));
    return read_limit("ASSAY_TEST_RUN_TIMEOUT_MS", 1000, 10000, &o->run_timeout_ms);
}

static assay_status read_options(const sweep_args *a, assay__shape_set *set, char **backends,
                                 assay__sweep_options *o)
{
    o->db_path = a->common.db;
    o->plugin_path = a->plugin_path;
    o->kernel_globs = a->common.kernels.items;
    o->kernel_glob_count = a->common.kernels.count;
    o->seed = (uint64_t)a->common.seed;
    o->budget_s = isnan(a->common.budget_s) ? 0 : a->common.budget_s;
    o->problem_s = isnan(a->problem_s) ? 0 : a->problem_s;
    o->evaluations = (size_t)a->evaluations;
    o->max_threads = a->common.threads > 0 ? (unsigned)a->common.threads : 0;
    o->resume = a->resume;
    o->dry_run = a->dry_run;
    o->no_wait = a->no_wait;
    o->probe_peaks = a->probe_peaks;
    o->exhaustive = a->exhaustive;
    o->counters = a->counters;
    o->strict = a->strict;
    o->label = a->label;
    if (a->common.layout != NULL && strspn(a->common.layout, "c") != strlen(a->common.layout))
        return assay__fail(ASSAY_INVALID, "--layout: a sweep measures contiguous operands, 'c'");
    if (a->common.backends.count > 0) {
        ASSAY_TRY(assay__strlist_join(&a->common.backends, ",", backends));
        o->backends = *backends;
    }
    ASSAY_TRY(read_align(a->common.align, &o->align));
    ASSAY_TRY(read_limits(o));
    ASSAY_TRY(assay_policy_parse(
        a->common.policy != NULL ? a->common.policy : "rotate/alone/kernel", &o->policy));
    ASSAY_TRY(assay__profile_find(a->common.profile != NULL ? a->common.profile : "standard",
                                  &o->profile));
    ASSAY_TRY(read_shapes(&a->common, set));
    return take_shard(a, set);
}

static void tell_floor(const assay__sweep_summary *s)
{
    if (s->aa_floor > 0)
        fprintf(stderr,
                "equals differ by up to %s on this machine, beyond what their intervals say (A/A "
                "floor, of %zu pairs): no smaller gain is believed\n",
                assay__format_percent(s->aa_floor).text, s->aa_pairs);
    else if (!isnan(s->aa_floor))
        fprintf(stderr, "equals differ by no more than their intervals say (A/A, %zu pairs)\n",
                s->aa_pairs);
}

static void tell_noise(const assay__sweep_summary *s)
{
    if (s->noisy > 0)
        fprintf(stderr,
                "%zu variants are noisy: neither their time nor its ratio to the default is known "
                "as well as the profile asks for; no gain of theirs counts\n",
                s->noisy);
    if (s->throttled > 0)
        fprintf(stderr,
                "%zu variants could not be timed, since the clock stayed low; --resume tries them "
                "again\n",
                s->throttled);
}

/* Those that failed today are in quarantine by now, too. */
static size_t kept_out(const assay__sweep_summary *s)
{
    return s->quarantined - s->crashed - s->timed_out;
}

static size_t rejected_of(const assay__sweep_summary *s)
{
    return s->wrong + s->crashed + s->timed_out + s->impossible + s->mistrusted;
}

static void tell_rejected(const assay__sweep_summary *s)
{
    if (rejected_of(s) > 0)
        fprintf(stderr,
                "%zu candidates rejected: %zu wrong, %zu crashed, %zu timed out, %zu impossible, "
                "%zu mistrusted; rejecting candidates is expected, none of them can be picked\n",
                rejected_of(s), s->wrong, s->crashed, s->timed_out, s->impossible, s->mistrusted);
    if (kept_out(s) > 0)
        fprintf(stderr,
                "%zu candidates were not run, as they are in quarantine; 'assay quarantine list' "
                "says why\n",
                kept_out(s));
}

/* Where what is around timed calls goes, and the parent's part between stays: the largest first. */
#define LEAST_PHASE 0.005

static void tell_phases(const assay__sweep_summary *s)
{
    bool told[ASSAY__PHASES] = {false};
    const char *before = "beside the calls: ";

    for (;;) {
        int most = -1;
        for (int i = 0; i < ASSAY__PHASES; i++)
            if (!told[i] && s->phase_share[i] >= LEAST_PHASE &&
                (most < 0 || s->phase_share[i] > s->phase_share[most]))
                most = i;
        if (most < 0)
            break;
        told[most] = true;
        fprintf(stderr, "%s%s %s", before, assay__phase_text((assay__phase)most),
                assay__format_percent(s->phase_share[most]).text);
        before = ", ";
    }
    if (strcmp(before, ", ") == 0)
        fputc('\n', stderr);
}

static void print_summary(const view *v, const assay__sweep_options *o,
                          const assay__sweep_summary *s)
{
    if (v->is_quiet)
        return;
    /* Outcomes have no place for rows that never became problems. */
    for (size_t i = 0; i < o->shapes->skipped_count; i++) {
        fprintf(stderr, "line %zu skipped: ", o->shapes->skipped[i].line);
        assay__put_shown(stderr, o->shapes->skipped[i].reason);
        fputc('\n', stderr);
    }
    if (v->is_json) {
        assay__fates_json(&v->fates, stderr);
        assay__summary_json(s, stderr);
        return;
    }
    fprintf(stderr,
            "%zu problems (%zu finished before, %zu cannot be measured here, %zu rows skipped, %zu "
            "duplicates), %zu variants, %zu timed stays, %zu routes; %s after %s\n",
            s->problems, s->resumed_problems, s->skipped_problems, o->shapes->skipped_count,
            o->shapes->duplicates, s->variants, s->measured, s->routes, s->stop_reason,
            assay__format_duration(s->elapsed_s).text);
    if (s->undecided > 0)
        fprintf(stderr,
                "%zu problems have no decision yet: the same command with --resume and a larger "
                "limit goes on there\n",
                s->undecided);
    if (s->exhausted > 0)
        fprintf(stderr, "%zu variants run over all inputs in %.3g s, %zu judged by their device\n",
                s->exhausted, s->exhaust_s, s->judged_there);
    tell_rejected(s);
    assay__fates_print(&v->fates, stderr);
    tell_noise(s);
    if (s->peaks_doubted > 0)
        fprintf(
            stderr,
            "the peaks were distrusted, since a kernel was faster than they allow, and measured "
            "again%s; %zu candidates stay impossible\n",
            s->peaks_doubted > 1 ? " twice" : "", s->impossible);
    tell_floor(s);
    if (s->measured > 0)
        fprintf(
            stderr,
            "%s of the time inside timed calls, %s inside checked ones, %s around timed ones, %s "
            "starting and ending %zu workers; apart from that oracle %s, comparing with it %s, "
            "peaks %s%s\n",
            assay__format_percent(s->timed_share).text,
            assay__format_percent(s->checked_share).text,
            assay__format_percent(s->around_share).text,
            assay__format_percent(s->starts_share).text, s->workers,
            assay__format_duration(s->oracle_s).text, assay__format_duration(s->compare_s).text,
            assay__format_duration(s->peaks_s).text,
            s->peaks_reused ? " (those of the store hold)" : "");
    tell_phases(s);
    if (o->profile->says[0] != '\0')
        fprintf(stderr, "note: %s\n", o->profile->says);
}

/* What the exit code rests on, of all places. */
typedef struct ending {
    size_t left_out;
    bool has_result;
} ending;

static void add_place(ending *e, const assay__sweep_summary *s)
{
    e->left_out += rejected_of(s) + kept_out(s) + s->throttled + s->skipped_problems;
    e->has_result = e->has_result || s->routes > 0 || s->resumed_problems > 0 ||
                    (s->measured > 0 && (strcmp(s->stop_reason, "budget") == 0 ||
                                         strcmp(s->stop_reason, "evaluations") == 0));
}

static int exit_of(const sweep_args *a, const assay__sweep_options *o, const ending *e)
{
    if (a->strict && e->left_out + o->shapes->skipped_count > 0)
        return 1;
    /* A job array may have more jobs than there are problems. */
    if (o->dry_run || (a->shard != NULL && o->shapes->count == 0) || e->has_result)
        return 0;
    fprintf(stderr, "assay sweep: nothing was measured\n");
    return 1;
}

static assay_status argv_json(int argc, char **argv, char **out)
{
    json_t *list = json_array();
    assay_status status = ASSAY_OK;

    for (int i = 0; status == ASSAY_OK && i < argc; i++)
        status = assay__json_append_take(list, assay__json_text(argv[i]));
    if (status == ASSAY_OK)
        status = assay__json_dump(list, false, out);
    json_decref(list);
    return status;
}

/* With several devices it is said of which one the rest is. */
static void tell_place(const view *v, const assay__sweep_summary *s)
{
    if (s->places > 1 && !v->is_quiet && !v->is_json)
        fprintf(stderr, "on %s:\n", s->device);
}

/* What a place leaves of the budget is for those behind it; none would be no limit. */
#define LEAST_BUDGET_S 1e-3

static void spend(assay__sweep_options *o, double elapsed_s)
{
    if (o->budget_s > 0)
        o->budget_s = fmax(o->budget_s - elapsed_s, LEAST_BUDGET_S);
}

static assay_status sweep_place(view *v, assay__sweep_options *o, ending *e, size_t *places)
{
    assay__sweep_summary summary;
    assay_status status;

    v->plan = o->dry_run && v->is_json ? json_array() : NULL;
    status = assay__sweep_run(o, &summary);
    clear_line(v);
    *places = summary.places;
    spend(o, summary.elapsed_s);
    if (status == ASSAY_OK && o->dry_run && !summary.is_absent)
        assay__forecast_end(o, &summary, v->plan, stdout);
    else
        json_decref(v->plan);
    if ((status == ASSAY_OK || status == ASSAY_INTERRUPTED) && !summary.is_absent) {
        tell_place(v, &summary);
        print_summary(v, o, &summary);
        add_place(e, &summary);
    }
    assay__fates_clear(&v->fates);
    return status;
}

/* *code: of the first that failed; the others are swept all the same. */
static assay_status sweep_places(view *v, assay__sweep_options *o, ending *e, int *code)
{
    size_t places = 1;

    for (; o->place < places; o->place++) {
        const assay_status status = sweep_place(v, o, e, &places);
        if (status == ASSAY_OK)
            continue;
        if (!assay__cmd_is_of_device(status) || o->place + 1 >= places)
            return status;
        const int failed = assay__cmd_fail("sweep", status);
        *code = *code != 0 ? *code : failed;
    }
    return ASSAY_OK;
}

static int run(const sweep_args *a, char *words)
{
    view v = {.is_json = a->common.is_json,
              .is_quiet = a->common.is_quiet,
              .is_terminal = isatty(2) && getenv("TERM") != NULL && strcmp(getenv("TERM"), "dumb")};
    assay__shape_set set = {0};
    assay__sweep_options o = {.shapes = &set,
                              .argv_json = words,
                              .stop = &assay__stop_signal,
                              .progress = on_progress,
                              .outcome = on_outcome,
                              .forecast = on_forecast,
                              .fate = on_fate,
                              .warn = on_warn,
                              .cookie = &v};
    ending e = {.left_out = 0};
    char *backends = NULL;
    assay_status status = read_options(a, &set, &backends, &o);
    int code = 0;

    assay__catch_signals();
    if (status == ASSAY_OK)
        status = sweep_places(&v, &o, &e, &code);
    if (status != ASSAY_OK)
        code = assay__cmd_fail("sweep", status);
    else if (code == 0)
        code = exit_of(a, &o, &e);
    free(backends);
    assay__shapes_clear(&set);
    return code;
}

int cmd_sweep(int argc, char **argv)
{
    sweep_args a = {.common = ASSAY__COMMON_DEFAULTS, .problem_s = (double)NAN};
    const assay__arg_table tables[] = {
        assay__common_table(
            &a.common, ASSAY__COMMON(DB) | ASSAY__COMMON(JSON) | ASSAY__COMMON(QUIET) |
                           ASSAY__COMMON(SEED) | ASSAY__COMMON(BACKEND) | ASSAY__COMMON(KERNEL) |
                           ASSAY__COMMON(OP) | ASSAY__COMMON(DTYPE) | ASSAY__COMMON(SHAPE) |
                           ASSAY__COMMON(SHAPES) | ASSAY__COMMON(PROFILE) | ASSAY__COMMON(BUDGET) |
                           ASSAY__COMMON(THREADS) | ASSAY__COMMON(POLICY) | ASSAY__COMMON(ALIGN) |
                           ASSAY__COMMON(LAYOUT)),
        {rows, sizeof rows / sizeof rows[0], ASSAY__ARG_ALL, &a},
    };
    assay__args args;
    char *words = NULL;
    int code = 0;
    assay_status status = argv_json(argc, argv, &words);

    if (status == ASSAY_OK)
        status = assay__args_parse(&spec, tables, 2, argc, argv, &args);
    if (status != ASSAY_OK)
        code = assay__cmd_fail("sweep", status);
    else if (args.wants_help)
        code = assay__args_help(&spec, tables, 2, stdout) == ASSAY_OK ? 0 : 5;
    else
        code = run(&a, words);
    assay__args_clear(tables, 2);
    free(words);
    return code;
}
