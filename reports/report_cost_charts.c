/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_cost_charts.c -- speed-ups, roofline, and the candidates of the longest problems.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report_cost.h"
#include "reports/report_parts.h"

#define LONGEST 3 /* problems whose candidates get a chart */
#define OPS_MAX 6 /* series of the roofline, beside its two ceilings */

typedef struct picked {
    const assay__cost_case **cases; /* owned */
    size_t count;
} picked;

/* Results of a place with a winner; none when out of memory: the tables still say all. */
static picked pick_cases(const assay__cost *cost, const assay__report_place *place)
{
    picked p = {calloc(cost->case_count + 1, sizeof *p.cases), 0};

    for (size_t i = 0; p.cases != NULL && i < cost->case_count; i++)
        if (assay__cost_is_result(&cost->cases[i], place) && cost->cases[i].winner != NULL)
            p.cases[p.count++] = &cost->cases[i];
    return p;
}

static int by_speedup(const void *a, const void *b)
{
    const assay__cost_case *x = *(const assay__cost_case *const *)a;
    const assay__cost_case *y = *(const assay__cost_case *const *)b;

    if (x->speedup > y->speedup)
        return -1;
    if (x->speedup < y->speedup)
        return 1;
    return (x->problem->id > y->problem->id) - (x->problem->id < y->problem->id);
}

static int by_time(const void *a, const void *b)
{
    const assay__cost_case *x = *(const assay__cost_case *const *)a;
    const assay__cost_case *y = *(const assay__cost_case *const *)b;

    if (x->winner->time_ns > y->winner->time_ns)
        return -1;
    if (x->winner->time_ns < y->winner->time_ns)
        return 1;
    return (x->problem->id > y->problem->id) - (x->problem->id < y->problem->id);
}

/* ---- speed-ups ---- */

static void speedups(assay__page *page, picked *p)
{
    const char *labels[ASSAY__CHART_LABELS], *notes[ASSAY__CHART_LABELS];
    double y[ASSAY__CHART_LABELS], lo[ASSAY__CHART_LABELS], hi[ASSAY__CHART_LABELS];
    size_t n = 0;

    qsort(p->cases, p->count, sizeof(assay__cost_case *), by_speedup);
    for (size_t i = 0; i < p->count && n < ASSAY__CHART_LABELS; i++) {
        const assay__cost_case *c = p->cases[i];
        if (isnan(c->speedup) || c->winner->is_default)
            continue;
        labels[n] = c->problem->text;
        notes[n] = c->winner->revision->kernel;
        y[n] = c->speedup;
        lo[n] = c->speedup_lo;
        hi[n++] = c->speedup_hi;
    }
    const assay__chart_series series = {
        .name = "speed-up", .y = y, .lo = lo, .hi = hi, .notes = notes, .count = n};
    const assay__chart chart = {.kind = ASSAY__CHART_BARS,
                                .title = "Speed-up over the default kernel, intervals as judged",
                                .x_title = "problem",
                                .y_title = "default's time over the winner's",
                                .y_unit = "x",
                                .labels = labels,
                                .label_count = n,
                                .series = &series,
                                .series_count = 1};
    if (n > 0)
        assay__page_chart(page, &chart);
}

/* ---- roofline ---- */

typedef struct points {
    const char *op;
    double *x, *y; /* owned */
    const char **notes;
    size_t count;
} points;

static void points_clear(points *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(all[i].x);
        free(all[i].y);
        free(all[i].notes);
    }
}

/* NULL: too many ops, or out of memory. */
static points *points_of(points *all, size_t *count, const char *op, size_t room)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(all[i].op, op) == 0)
            return &all[i];
    if (*count == OPS_MAX)
        return NULL;
    points *p = &all[*count];
    *p = (points){.op = op,
                  .x = calloc(room, sizeof *p->x),
                  .y = calloc(room, sizeof *p->y),
                  .notes = calloc(room, sizeof *p->notes)};
    (*count)++;
    return p->x != NULL && p->y != NULL && p->notes != NULL ? p : NULL;
}

typedef struct roof_line {
    double x[3], y[3];
} roof_line;

/* Up the memory's slope from `from` to the knee, then level to `to`. */
static bool make_line(double flops, double bytes, double from, double to, roof_line *out)
{
    double knee = flops / bytes;

    if (!(flops > 0) || !(bytes > 0) || !(from > 0))
        return false;
    from = fmin(from, knee / 2);
    to = fmax(to, knee * 2);
    *out = (roof_line){{from, knee, to}, {from * bytes, flops, flops}};
    return true;
}

static void add_line(assay__chart_series *series, size_t *count, const char *name,
                     const roof_line *line)
{
    series[(*count)++] = (assay__chart_series){
        .name = name, .x = line->x, .y = line->y, .count = 3, .is_line = true};
}

static void roofline(assay__page *page, const assay__report_place *place, const picked *p)
{
    assay__chart_series series[ASSAY__CHART_SERIES] = {{.name = NULL}};
    points all[OPS_MAX] = {{.op = NULL}};
    roof_line f32, f64;
    size_t ops = 0, count = 0;
    double from = (double)INFINITY, to = 0;

    for (size_t i = 0; i < p->count; i++) {
        const assay__cost_case *c = p->cases[i];
        points *at = points_of(all, &ops, c->problem->op, p->count);
        if (at == NULL || !(c->intensity > 0) || !(c->flop_rate > 0))
            continue;
        at->x[at->count] = c->intensity;
        at->y[at->count] = c->flop_rate;
        at->notes[at->count++] = c->problem->text;
        from = fmin(from, c->intensity);
        to = fmax(to, c->intensity);
    }
    for (size_t i = 0; i < ops; i++)
        if (all[i].count > 0)
            series[count++] = (assay__chart_series){.name = all[i].op,
                                                    .x = all[i].x,
                                                    .y = all[i].y,
                                                    .notes = all[i].notes,
                                                    .count = all[i].count};
    if (count > 0 && make_line(assay__roofline_flops(&place->roof, ASSAY_F32),
                               place->roof.bytes_per_ns, from, to, &f32))
        add_line(series, &count, "ceiling f32", &f32);
    if (count > 0 && make_line(assay__roofline_flops(&place->roof, ASSAY_F64),
                               place->roof.bytes_per_ns, from, to, &f64))
        add_line(series, &count, "ceiling f64", &f64);
    const assay__chart chart = {.kind = ASSAY__CHART_SCATTER,
                                .title = "Roofline: winners against the measured ceilings",
                                .x_title = "arithmetic intensity",
                                .x_unit = "FLOP/byte",
                                .y_title = "rate",
                                .y_unit = "GFLOP/s",
                                .series = series,
                                .series_count = count};
    if (count > 0)
        assay__page_chart(page, &chart);
    points_clear(all, ops);
}

/* ---- candidates of one problem ---- */

static void candidates_of(assay__page *page, const assay__cost *cost, const assay__cost_case *c)
{
    assay__str names[ASSAY__CHART_LABELS] = {{.data = NULL}};
    const char *labels[ASSAY__CHART_LABELS];
    double y[ASSAY__CHART_LABELS], lo[ASSAY__CHART_LABELS], hi[ASSAY__CHART_LABELS];
    char title[300];
    size_t n = 0;

    for (size_t i = 0; i < c->count && n < ASSAY__CHART_LABELS; i++) {
        const assay__cost_candidate *one = assay__cost_at(cost, c, i);
        if (!(one->time_ns > 0) || assay__cost_is_rejected(one) || one->state != c->state)
            continue;
        assay__part_variant(one->revision, &names[n]);
        labels[n] = assay__str_text(&names[n]);
        y[n] = one->time_ns * 1e-3;
        lo[n] = one->lo_ns * 1e-3;
        hi[n++] = one->hi_ns * 1e-3;
    }
    (void)snprintf(title, sizeof title, "Candidates of %.250s", c->problem->text);
    const assay__chart_series series = {.name = "time", .y = y, .lo = lo, .hi = hi, .count = n};
    const assay__chart chart = {.kind = ASSAY__CHART_BARS,
                                .title = title,
                                .x_title = "variant",
                                .y_title = "median time, 95 % interval",
                                .y_unit = "us",
                                .labels = labels,
                                .label_count = n,
                                .series = &series,
                                .series_count = 1};
    if (n > 1)
        assay__page_chart(page, &chart);
    for (size_t i = 0; i < n; i++)
        assay__str_clear(&names[i]);
}

void assay__cost_charts(assay__page *page, const assay__cost *cost,
                        const assay__report_place *place)
{
    picked p;

    if (!page->is_html)
        return;
    p = pick_cases(cost, place);
    if (p.count > 0) {
        speedups(page, &p);
        roofline(page, place, &p);
        qsort(p.cases, p.count, sizeof(assay__cost_case *), by_time);
    }
    for (size_t i = 0; i < p.count && i < LONGEST; i++)
        candidates_of(page, cost, p.cases[i]);
    free(p.cases);
}
