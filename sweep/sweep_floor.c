/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_floor.c -- times that the machine cannot reach: a broken clock or a broken kernel,
 * unless the peaks themselves were measured too low. */
#include <math.h>

#include "sweep/sweep_internal.h"

/* Peaks have an interval, and clocks may rise between a probe and a visit. */
#define SLACK 1.25

/* Only the product of matrices has a known number of multiplications: convolutions may be done
 * with fewer, and other ops need not multiply at all. */
static bool counts_flops(const sweep_problem *p)
{
    return p->problem.op == ASSAY_OP_matmul;
}

static bool is_below(const sweep *s, const sweep_problem *p, double ns, double sets)
{
    double flops, bytes, by_flops = (double)NAN, by_bytes = (double)NAN;

    if (counts_flops(p) && assay_problem_flops(&p->problem, &flops))
        by_flops = assay__roofline_flops_floor(&s->roof, (assay_dtype)p->problem.dtypes[0], flops);
    if (assay_problem_bytes(&p->problem, &bytes)) {
        double rotation = s->o->policy.cache == ASSAY_CACHE_HOT ? 0 : sets * bytes;
        by_bytes = assay__roofline_bytes_floor(&s->roof, bytes, rotation);
    }
    return ns < fmax(by_flops, by_bytes) / SLACK; /* no floor: false */
}

assay_status assay__sweep_below_floor(sweep *s, const sweep_problem *p, const sweep_candidate *c,
                                      double ns, double sets, bool *below)
{
    *below = is_below(s, p, ns, sets);
    if (!*below || (s->doubted_any && (s->doubted_default || !c->is_default)))
        return ASSAY_OK;
    s->doubted_any = true;
    s->doubted_default = s->doubted_default || c->is_default;
    s->summary->peaks_doubted++;
    assay__sweep_warn(
        s, "%s took %.4g ns on %s, less than the measured peaks allow: measuring them again",
        c->kernel->desc->name, ns, p->text);
    ASSAY_TRY(assay__sweep_peaks_again(s));
    *below = is_below(s, p, ns, sets);
    return ASSAY_OK;
}
