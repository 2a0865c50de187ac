/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/sweep_progress.c -- see sweep_progress.h. */
#include "cli/sweep_progress.h"

#include <math.h>
#include <stdlib.h>

#include "support/format.h"

/* ---- progress ---- */

static double stays_per_s(const assay__progress *p)
{
    return p->elapsed_s > 0 ? (double)p->steps_done / p->elapsed_s : (double)NAN;
}

static void progress_json(const assay__progress *p, FILE *to)
{
    json_t *row = json_object();
    int bad = 0;

    bad |= (int)assay__json_put_string(row, "schema", "assay.sweep.progress/1");
    bad |= (int)assay__json_put_string(row, "phase", p->phase);
    if (p->problem[0] != '\0')
        bad |= (int)assay__json_put_string(row, "problem", p->problem);
    bad |= (int)assay__json_put_int(row, "problems_done", (int64_t)p->problems_done);
    bad |= (int)assay__json_put_int(row, "problems_total", (int64_t)p->problems_total);
    bad |= (int)assay__json_put_int(row, "stays_done", (int64_t)p->steps_done);
    bad |= (int)assay__json_put_int(row, "stays_total", (int64_t)p->steps_total);
    bad |= (int)assay__json_put_real(row, "elapsed_s", p->elapsed_s);
    bad |= (int)assay__json_put_real(row, "eta_s", p->eta_s);
    bad |= (int)assay__json_put_real(row, "stays_per_s", stays_per_s(p));
    if (p->best != NULL) {
        bad |= (int)assay__json_put_string(row, "best", p->best);
        bad |= (int)assay__json_put_real(row, "best_ns", p->best_ns);
    }
    bad |= (int)assay__json_put_real(row, "noise", p->noise);
    bad |= (int)assay__json_put_int(row, "wrong", (int64_t)p->wrong);
    bad |= (int)assay__json_put_int(row, "failed", (int64_t)p->failed);
    if (bad == 0)
        (void)assay__json_write(row, false, to);
    json_decref(row);
}

static void progress_text(const assay__progress *p, FILE *to)
{
    const double rate = stays_per_s(p);

    fprintf(to, "[%zu/%zu problems, %zu/%zu stays, %.1f/s, left %s] %s %.60s", p->problems_done,
            p->problems_total, p->steps_done, p->steps_total, isnan(rate) ? 0.0 : rate,
            isnan(p->eta_s) ? "-" : assay__format_duration(p->eta_s).text, p->phase, p->problem);
    if (p->best != NULL)
        fprintf(to, ", best %.40s %s", p->best, assay__format_time(p->best_ns).text);
    if (!isnan(p->noise))
        fprintf(to, ", noise %s", assay__format_percent(p->noise).text);
    if (p->wrong + p->failed > 0)
        fprintf(to, " (%zu wrong, %zu failed)", p->wrong, p->failed);
}

void assay__progress_print(const assay__progress *p, bool is_json, size_t columns, FILE *to)
{
    char *line = NULL;
    size_t length = 0;
    FILE *buffer;

    if (is_json) {
        progress_json(p, to);
        return;
    }
    buffer = columns > 0 ? open_memstream(&line, &length) : NULL;
    progress_text(p, buffer != NULL ? buffer : to);
    if (buffer == NULL)
        return;
    if (fclose(buffer) == 0)
        (void)fwrite(line, 1, length < columns ? length : columns, to);
    free(line);
}

/* Those that took time. */
static void put_phases(json_t *row, const assay__sweep_summary *s, int *bad)
{
    json_t *all = json_object();

    *bad |= (int)assay__json_put_take(row, "phases", all);
    for (int i = 0; *bad == 0 && i < ASSAY__PHASES; i++)
        if (s->phase_share[i] > 0)
            *bad |= (int)assay__json_put_real(all, assay__phase_name((assay__phase)i),
                                              s->phase_share[i]);
}

void assay__summary_json(const assay__sweep_summary *s, FILE *to)
{
    const struct {
        const char *name;
        size_t value;
    } counts[] = {{"problems", s->problems},
                  {"finished_before", s->resumed_problems},
                  {"skipped", s->skipped_problems},
                  {"undecided", s->undecided},
                  {"variants", s->variants},
                  {"stays", s->measured},
                  {"routes", s->routes},
                  {"wrong", s->wrong},
                  {"crashed", s->crashed},
                  {"timed_out", s->timed_out},
                  {"impossible", s->impossible},
                  {"mistrusted", s->mistrusted},
                  {"quarantined", s->quarantined},
                  {"noisy", s->noisy},
                  {"throttled", s->throttled}};
    json_t *row = json_object();
    int bad = 0;

    bad |= (int)assay__json_put_string(row, "schema", "assay.sweep.summary/1");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        bad |= (int)assay__json_put_int(row, counts[i].name, (int64_t)counts[i].value);
    bad |= (int)assay__json_put_string(row, "stop_reason", s->stop_reason);
    bad |= (int)assay__json_put_real(row, "elapsed_s", s->elapsed_s);
    if (s->measured > 0) {
        bad |= (int)assay__json_put_real(row, "timed_share", s->timed_share);
        bad |= (int)assay__json_put_real(row, "checked_share", s->checked_share);
        bad |= (int)assay__json_put_real(row, "around_share", s->around_share);
        bad |= (int)assay__json_put_real(row, "starts_share", s->starts_share);
        bad |= (int)assay__json_put_int(row, "workers", (int64_t)s->workers);
        put_phases(row, s, &bad);
    }
    if (s->exhausted > 0) {
        bad |= (int)assay__json_put_int(row, "exhausted", (int64_t)s->exhausted);
        bad |= (int)assay__json_put_real(row, "exhaust_s", s->exhaust_s);
    }
    bad |= (int)assay__json_put_real(row, "aa_floor", s->aa_floor);
    if (bad == 0)
        (void)assay__json_write(row, false, to);
    json_decref(row);
}

/* ---- a rehearsal ---- */

/* Two digits: more would promise what nobody knows. */
static double rounded(double seconds, bool is_up)
{
    if (!(seconds > 0))
        return seconds;
    const double unit = pow(10, floor(log10(seconds)) - 1);
    return unit * (is_up ? ceil(seconds / unit) : floor(seconds / unit));
}

static void range_text(double lo_s, double hi_s, FILE *to)
{
    const assay__text lo = assay__format_duration(rounded(lo_s, false));
    const assay__text hi = assay__format_duration(rounded(hi_s, true));

    fprintf(to, "%s to %s", lo.text, hi.text);
}

static void put_range(json_t *row, double lo_s, double hi_s, int *bad)
{
    *bad |= (int)assay__json_put_real(row, "lo_s", rounded(lo_s, false));
    *bad |= (int)assay__json_put_real(row, "hi_s", rounded(hi_s, true));
}

static const char *basis_text(const char *basis)
{
    if (basis[0] == 'r')
        return "rates of a similar problem";
    return basis[0] == 'p' ? "this machine's peaks" : "nominal rates";
}

void assay__forecast_print(const assay__forecast *f, json_t *list, FILE *to)
{
    json_t *row;
    int bad = 0;

    if (list == NULL) {
        fprintf(to, "%s\n    %zu of %zu variants, ", f->problem, f->variants, f->total);
        range_text(f->lo_s, f->hi_s, to);
        fprintf(to, " (by %s)\n", basis_text(f->basis));
        return;
    }
    row = json_object();
    bad |= (int)assay__json_put_string(row, "problem", f->problem);
    bad |= (int)assay__json_put_int(row, "variants", (int64_t)f->variants);
    bad |= (int)assay__json_put_int(row, "total", (int64_t)f->total);
    put_range(row, f->lo_s, f->hi_s, &bad);
    bad |= (int)assay__json_put_string(row, "basis", f->basis);
    if (bad == 0)
        bad = (int)assay__json_append_take(list, row);
    else
        json_decref(row);
}

static void end_json(const assay__sweep_options *o, const assay__sweep_summary *s, json_t *list,
                     FILE *to)
{
    json_t *row = json_object();
    int bad = 0;

    bad |= (int)assay__json_put_string(row, "schema", "assay.sweep.plan/1");
    bad |= (int)assay__json_put_int(row, "problem_count", (int64_t)s->problems);
    bad |= (int)assay__json_put_int(row, "variants", (int64_t)s->variants);
    bad |= (int)assay__json_put_int(row, "finished_before", (int64_t)s->resumed_problems);
    bad |= (int)assay__json_put_int(row, "skipped", (int64_t)s->skipped_problems);
    bad |= (int)assay__json_put_int(row, "undecided", (int64_t)s->undecided);
    put_range(row, s->lo_s, s->hi_s, &bad);
    bad |= (int)assay__json_put_int(row, "stays_known", (int64_t)s->stays_known);
    if (o->budget_s > 0) {
        bad |= (int)assay__json_put_real(row, "budget_s", o->budget_s);
        bad |= (int)assay__json_put_int(row, "reached_lo", (int64_t)s->reached_lo);
        bad |= (int)assay__json_put_int(row, "reached_hi", (int64_t)s->reached_hi);
    }
    bad |= (int)assay__json_put_take(row, "problems", list);
    if (bad == 0)
        (void)assay__json_write(row, true, to);
    json_decref(row);
}

void assay__forecast_end(const assay__sweep_options *o, const assay__sweep_summary *s, json_t *list,
                         FILE *to)
{
    if (list != NULL) {
        end_json(o, s, list, to);
        return;
    }
    fprintf(to, "%zu problems, %zu variants: ", s->problems, s->variants);
    if (s->problems > 0)
        range_text(s->lo_s, s->hi_s, to);
    if (s->problems == 0)
        fputs("nothing to measure\n", to);
    else if (s->stays_known > 0)
        fprintf(to, ", as the last %zu stays in the store went\n", s->stays_known);
    else
        fputs(", of which this store knows nothing yet\n", to);
    if (o->budget_s > 0)
        fprintf(to, "--budget %s reaches %zu to %zu of the problems\n",
                assay__format_duration(o->budget_s).text, s->reached_lo, s->reached_hi);
    if (s->undecided > 0)
        fprintf(to, "%zu more problems are beyond --evaluations\n", s->undecided);
}
