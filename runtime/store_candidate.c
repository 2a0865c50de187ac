/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/store_candidate.c -- what a packed record of a route may say. */
#include <math.h>

#include "runtime/store.h"

/* NaN is unknown; a time below zero would win every race, an error below zero pass every limit. */
static bool is_time(double ns)
{
    return isnan(ns) || (ns >= 0.0 && isfinite(ns));
}

static bool is_error(double error)
{
    return !(error < 0.0);
}

bool assay__candidate_is_sound(const assay__route_candidate *c)
{
    const bool may_win = c->verdict == ASSAY__VERDICT_OK || c->verdict == ASSAY__VERDICT_NOISY ||
                         c->verdict == ASSAY__VERDICT_THROTTLED;

    if (may_win && c->time_ns <= 0.0)
        return false;
    return is_time(c->time_ns) && is_time(c->lo_ns) && is_time(c->hi_ns) &&
           !(c->lo_ns > c->hi_ns) && is_time(c->ratio) && is_time(c->ratio_lo) &&
           is_time(c->ratio_hi) && is_error(c->max_ulp) && is_error(c->max_rho) &&
           is_error(c->max_rel) && is_error(c->max_abs) && c->proof <= ASSAY_PROOF_EXHAUSTIVE &&
           c->stability <= ASSAY_STABILITY_ANYWHERE && c->tied <= 1 && c->quarantined <= 1 &&
           c->ratio_level < 100;
}

double assay__ratio_level(const assay__route_candidate *c)
{
    if (isnan(c->ratio_lo) || isnan(c->ratio_hi))
        return (double)NAN;
    return c->ratio_level == 0 ? 0.99 : c->ratio_level / 100.0;
}

uint8_t assay__ratio_level_pack(double level)
{
    return level > 0.0 && level < 1.0 ? (uint8_t)lround(fmin(100.0 * level, 99.0)) : 0;
}
