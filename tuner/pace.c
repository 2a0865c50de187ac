/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/pace.c -- see pace.h. */
#include "tuner/pace.h"

#include <math.h>

/* Stays that say what the next will take. */
#define ENOUGH 8
/* Models that differ by less, relative to their mean, say nothing of the factor; nor is one beyond
 * these believed. */
#define SPREAD      0.05
#define LEAST_SLOPE 0.5
#define MOST_SLOPE  8.0
/* Spans are stretched by up to a fifth. */
#define STRETCH 1.1

size_t assay__pace_endless_calls(double call_ns)
{
    if (call_ns > ASSAY__ENDLESS_AT_ONCE_NS)
        return 1;
    return call_ns > ASSAY__ENDLESS_NS ? 2 : 0;
}

double assay__pace_stay_s(const assay__profile *f, bool is_screening, double call_ns)
{
    const double warm_ns = is_screening ? f->warm_ns / 2 : f->warm_ns;
    const double budget_ns = is_screening ? f->budget_ns / 4 : f->budget_ns;
    const double spans = is_screening ? 3.0 : (double)f->spans;
    const double span_ns = fmax(STRETCH * f->span_ns, call_ns);
    const size_t untimed = assay__pace_endless_calls(call_ns);

    if (untimed > 0)
        return 1e-9 * (double)(untimed + 1) * call_ns;
    return 1e-9 * (fmax(2 * call_ns, warm_ns) + fmax(f->span_ns, call_ns) +
                   span_ns * fmin(fmax(floor(budget_ns / span_ns), 1), spans));
}

size_t assay__pace_visits(size_t candidates, size_t visits, size_t confirms)
{
    if (candidates == 0)
        return 0;
    return ((candidates + 1) / 2 + 1) * visits + (candidates < 2 ? candidates : 2) * confirms;
}

void assay__pace_correct(assay__pace *p, assay__stay kind, assay__load was, assay__load is)
{
    assay__load *left = &p->left[kind];

    left->count = (left->count > was.count ? left->count - was.count : 0) + is.count;
    left->model_s = fmax(left->model_s - was.model_s, 0) + is.model_s;
}

void assay__pace_took(assay__pace *p, assay__stay kind, double model_s, double seconds)
{
    p->seconds[kind] += seconds;
    p->done[kind]++;
    if (isnan(model_s))
        return;
    p->n[kind] += 1;
    p->m[kind] += model_s;
    p->t[kind] += seconds;
    p->mm[kind] += model_s * model_s;
    p->mt[kind] += model_s * seconds;
}

size_t assay__pace_done(const assay__pace *p)
{
    return p->done[ASSAY__STAY_SCREEN] + p->done[ASSAY__STAY_VISIT];
}

size_t assay__pace_total(const assay__pace *p)
{
    return assay__pace_done(p) + p->left[ASSAY__STAY_SCREEN].count +
           p->left[ASSAY__STAY_VISIT].count;
}

double assay__pace_mean_s(const assay__pace *p, assay__stay kind)
{
    return p->done[kind] > 0 ? p->seconds[kind] / (double)p->done[kind] : 0;
}

typedef struct line {
    double slope, each_s;
} line;

/* Least squares, so that the heavy pieces, which matter, weigh most. */
static line fit(const assay__pace *p, assay__stay kind)
{
    const double n = p->n[kind], m = p->m[kind], t = p->t[kind];
    line out = {1.0, 0.0};

    if (!(n > 0))
        return out;
    const double spread = p->mm[kind] - m * m / n;
    if (n > 2 && spread > SPREAD * SPREAD * m * m / n)
        out.slope = fmin(fmax((p->mt[kind] - m * t / n) / spread, LEAST_SLOPE), MOST_SLOPE);
    out.each_s = (t - out.slope * m) / n;
    if (out.each_s < 0)
        out = (line){m > 0 ? t / m : 1.0, 0.0};
    return out;
}

double assay__pace_expect_s(const assay__pace *p, assay__stay kind, assay__load load)
{
    assay__stay like = kind;

    if (!(p->n[kind] > 0) && kind == ASSAY__STAY_VISIT)
        like = ASSAY__STAY_SCREEN;
    const line l = fit(p, like);
    return l.slope * load.model_s + l.each_s * (double)load.count;
}

double assay__pace_eta_s(const assay__pace *p)
{
    double eta = 0;
    bool is_over = true;

    for (int kind = 0; kind < ASSAY__STAY_KINDS; kind++) {
        eta += assay__pace_expect_s(p, (assay__stay)kind, p->left[kind]);
        is_over = is_over && p->left[kind].count == 0;
    }
    if (!is_over && assay__pace_done(p) < ENOUGH)
        return (double)NAN;
    return eta;
}
