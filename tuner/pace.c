/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/pace.c -- see pace.h. */
#include "tuner/pace.h"

#include <math.h>

/* Stays of a kind that say what the next will take. */
#define ENOUGH 8

size_t assay__pace_visits(size_t candidates, size_t visits, size_t confirms)
{
    if (candidates == 0)
        return 0;
    return ((candidates + 1) / 2 + 1) * visits + (candidates < 2 ? candidates : 2) * confirms;
}

void assay__pace_correct(assay__pace *p, assay__stay kind, size_t was, size_t is)
{
    p->left[kind] = p->left[kind] > was ? p->left[kind] - was : 0;
    p->left[kind] += is;
}

void assay__pace_took(assay__pace *p, assay__stay kind, double seconds)
{
    p->seconds[kind] += seconds;
    p->done[kind]++;
    if (p->left[kind] > 0)
        p->left[kind]--;
}

size_t assay__pace_done(const assay__pace *p)
{
    return p->done[ASSAY__STAY_SCREEN] + p->done[ASSAY__STAY_VISIT];
}

size_t assay__pace_total(const assay__pace *p)
{
    return assay__pace_done(p) + p->left[ASSAY__STAY_SCREEN] + p->left[ASSAY__STAY_VISIT];
}

double assay__pace_mean_s(const assay__pace *p, assay__stay kind)
{
    return p->done[kind] > 0 ? p->seconds[kind] / (double)p->done[kind] : 0;
}

double assay__pace_eta_s(const assay__pace *p)
{
    double eta = 0;

    for (int kind = 0; kind < ASSAY__STAY_KINDS; kind++) {
        if (p->left[kind] == 0)
            continue;
        if (p->done[kind] < ENOUGH)
            return (double)NAN;
        eta += assay__pace_mean_s(p, (assay__stay)kind) * (double)p->left[kind];
    }
    return eta;
}
