/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_order.c -- the most valuable problems first, where a budget may not reach them all.
 *
 * Worth is the time that the workloads spend in a problem, over what its measurement takes.  Rates
 * are nominal, so that the order follows from the problems alone, on every machine and day. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "sweep/sweep_internal.h"

#define NOMINAL_FLOPS_PER_S 1e11
#define NOMINAL_BYTES_PER_S 1e10
/* To measure a problem takes this, or so many of its calls. */
#define LEAST_S 3.0
#define CALLS   100.0

static double nominal_s(const assay_problem *p)
{
    double flops, bytes, seconds = 0;

    if (assay_problem_flops(p, &flops))
        seconds = flops / NOMINAL_FLOPS_PER_S;
    if (assay_problem_bytes(p, &bytes))
        seconds = fmax(seconds, bytes / NOMINAL_BYTES_PER_S);
    return seconds;
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
    for (size_t i = 0; i < n; i++) {
        const double seconds = nominal_s(&s->problems[i].problem);
        list[i] = (worth){s->problems[i].weight * seconds / fmax(LEAST_S, CALLS * seconds), i};
    }
    qsort(list, n, sizeof *list, by_worth);
    for (size_t i = 0; i < n; i++)
        sorted[i] = s->problems[list[i].index];
    free(list);
    free(s->problems);
    s->problems = sorted;
    return ASSAY_OK;
}
