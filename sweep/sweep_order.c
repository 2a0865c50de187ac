/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_order.c -- the most valuable problems first, where a budget may not reach them all.
 *
 * Worth is the time that the workloads spend in a problem, over what its measurement takes: a
 * budget then gains most, whenever it ends, as the gain of a problem is a share of its time that
 * nobody knows before.  Rates are nominal, so that the order follows from the problems, kernels and
 * profile alone, on every machine and day. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "sweep/sweep_internal.h"

#define NOMINAL_FLOPS_PER_S 1e11
#define NOMINAL_BYTES_PER_S 1e10
/* What stays take beside their calls, and the process of a visit. */
#define STAY_S  0.005
#define START_S 0.05
/* The oracle, on all of a machine's cores. */
#define ORACLE_FLOPS_PER_S 1e10
#define ORACLE_BYTES_PER_S 1e9

double assay__sweep_nominal_s(const assay_problem *p)
{
    double flops, bytes, seconds = 0;

    if (assay_problem_flops(p, &flops))
        seconds = flops / NOMINAL_FLOPS_PER_S;
    if (assay_problem_bytes(p, &bytes))
        seconds = fmax(seconds, bytes / NOMINAL_BYTES_PER_S);
    return seconds;
}

static double oracle_s(const sweep *s, const sweep_problem *p)
{
    const double flops = assay__sweep_expected_flops(s, p);

    return (double)assay__sweep_sets(s, p) * fmax(0, flops) / ORACLE_FLOPS_PER_S +
           assay__sweep_bytes_held(s, p) / ORACLE_BYTES_PER_S;
}

/* The calls of a problem end with its time, however long they take; the rest does not. */
static double cost_s(const sweep *s, const sweep_problem *p)
{
    const assay__profile f = assay__sweep_effort(s);
    const double call_ns = 1e9 * assay__sweep_nominal_s(&p->problem);
    const double screens = (double)p->count;
    const double visits = (double)assay__pace_visits(p->count, f.visits, f.confirms);
    const double calls_s = screens * (assay__pace_stay_s(&f, true, call_ns) +
                                      1e-9 * (double)assay__sweep_sets(s, p) * call_ns) +
                           visits * assay__pace_stay_s(&f, false, call_ns);

    return fmin(calls_s, assay__sweep_problem_s(s)) + STAY_S * (screens + visits) +
           START_S * (double)(1 + f.visits + f.confirms) + oracle_s(s, p);
}

double assay__sweep_worth(const sweep *s, const sweep_problem *p)
{
    return p->weight * assay__sweep_nominal_s(&p->problem) / cost_s(s, p);
}

typedef struct worth {
    double value;
    size_t index;
} worth;

static int by_worth(const void *a, const void *b)
{
    const worth *x = a, *y = b;

    if (x->value < y->value || x->value > y->value)
        return x->value > y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

assay_status assay__sweep_order(sweep *s)
{
    const size_t n = s->problem_count;
    sweep_problem *sorted = calloc(n + 1, sizeof *sorted);
    worth *list = calloc(n + 1, sizeof *list);

    if (sorted == NULL || list == NULL) {
        free(sorted);
        free(list);
        return assay__fail(ASSAY_NOMEM, "order of %zu problems", n);
    }
    for (size_t i = 0; i < n; i++)
        list[i] = (worth){assay__sweep_worth(s, &s->problems[i]), i};
    qsort(list, n, sizeof *list, by_worth);
    for (size_t i = 0; i < n; i++)
        sorted[i] = s->problems[list[i].index];
    free(list);
    free(s->problems);
    s->problems = sorted;
    return ASSAY_OK;
}
