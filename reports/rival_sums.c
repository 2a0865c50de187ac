/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/rival_sums.c -- see rival_sums.h. */
#include "reports/rival_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_backend(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* NULL: there are too many. */
static assay__rival_sum *sum_of(assay__rival_sums *s, const char *backend)
{
    for (size_t i = 0; i < s->count; i++)
        if (same_backend(s->items[i].backend, backend))
            return &s->items[i];
    if (s->count == ASSAY__RIVALS)
        return NULL;
    s->items[s->count] = (assay__rival_sum){
        .backend = backend, .wins_flops_lo = (double)NAN, .wins_flops_hi = (double)NAN};
    return &s->items[s->count++];
}

static void add_win(assay__rival_sum *r, const assay__cost_case *c)
{
    const bool is_won = r->backend == NULL ? c->winner->is_default
                                           : strcmp(r->backend, c->winner->revision->backend) == 0;

    if (!is_won)
        return;
    r->wins++;
    r->wins_flops_lo = fmin(r->wins_flops_lo, c->problem->flops); /* of two, the number */
    r->wins_flops_hi = fmax(r->wins_flops_hi, c->problem->flops);
}

static void add_pair(assay__rival_sum *r, const assay__rival_pair *p, double weight,
                     const assay__cost_case *c)
{
    r->measured++;
    if (isnan(p->gain))
        return;
    r->paired++;
    r->weight += weight;
    r->log_sum += weight * log(p->gain);
    if (isnan(p->gain_lo) || isnan(p->gain_hi))
        return;
    r->judged++;
    r->lo_sum += weight * log(p->gain_lo);
    r->hi_sum += weight * log(p->gain_hi);
    if (p->gain_hi >= 1.0 / ASSAY__RIVAL_SLACK)
        return;
    if (r->slower < ASSAY__RIVAL_NAMES)
        r->slower_rows[r->slower] = c->problem;
    r->slower++;
}

void assay__rival_sums_add(assay__rival_sums *s, const assay__rival_pair *pairs, size_t count,
                           double weight, const assay__cost_case *c)
{
    for (size_t i = 0; i < count; i++) {
        assay__rival_sum *r = sum_of(s, pairs[i].backend);
        if (r == NULL)
            continue;
        add_win(r, c);
        add_pair(r, &pairs[i], weight, c);
    }
}

static int by_wins(const void *a, const void *b)
{
    const assay__rival_sum *x = a, *y = b;

    if (x->backend == NULL || y->backend == NULL)
        return (x->backend != NULL) - (y->backend != NULL);
    if (x->wins != y->wins)
        return x->wins < y->wins ? 1 : -1;
    return strcmp(x->backend, y->backend);
}

void assay__rival_sums_finish(assay__rival_sums *s, size_t rows)
{
    assay__rival_sum *best = NULL;

    qsort(s->items, s->count, sizeof *s->items, by_wins);
    for (size_t i = 0; i < s->count; i++) {
        assay__rival_sum *r = &s->items[i];
        const bool has_ends = r->judged > 0 && r->judged == r->paired && r->weight > 0;
        r->gain = r->weight > 0 ? exp(r->log_sum / r->weight) : (double)NAN;
        r->gain_lo = has_ends ? exp(r->lo_sum / r->weight) : (double)NAN;
        r->gain_hi = has_ends ? exp(r->hi_sum / r->weight) : (double)NAN;
        if (r->backend != NULL && r->paired == rows && r->gain > 0 &&
            (best == NULL || r->gain < best->gain))
            best = r;
    }
    if (best != NULL)
        best->is_best = true;
}
