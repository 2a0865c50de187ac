/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/search.c -- a directed search for the inputs with the largest error. */
#include "calibrate/exhaustive.h"

#include "runtime/error.h"
#include "support/rng.h"

#include <math.h>
#include <string.h>

#define STEPS 128 /* candidates around one point */
#define STALE 4   /* rounds without a rise before the next start */

typedef struct climb {
    const assay__unary *unary;
    assay_ulp_format format;
    assay__rng rng;
    unsigned bits;
    assay_search_result best;
} climb;

/* The pattern `steps` values away on the axis of all values, held inside it. */
static uint64_t moved(const climb *c, uint64_t pattern, int64_t steps)
{
    uint64_t sign = (uint64_t)1 << (c->bits - 1);
    int64_t most = (int64_t)(sign - 1), size = (int64_t)(pattern & (sign - 1));
    int64_t at = pattern & sign ? -size : size;

    if (steps > 0 && at > most - steps)
        at = most;
    else if (steps < 0 && at < -most - steps)
        at = -most;
    else
        at += steps;
    return at < 0 ? sign | (uint64_t)-at : (uint64_t)at;
}

/* Plus and minus 2^j, then random distances of every size. */
static int64_t step_of(climb *c, unsigned i)
{
    unsigned scales = c->bits - 1;

    if (i < 2 * scales)
        return (i & 1 ? -1 : 1) * ((int64_t)1 << (i / 2));
    uint64_t random = assay__rng_bits(&c->rng);
    uint64_t size = assay__rng_bits(&c->rng) >> (64 - scales + random % scales);
    return random >> 63 ? -(int64_t)size : (int64_t)size;
}

static void put_pattern(const climb *c, unsigned char *array, size_t i, uint64_t pattern)
{
    size_t bytes = c->bits / 8;

    for (size_t b = 0; b < bytes; b++)
        array[i * bytes + b] = (unsigned char)(pattern >> (8 * b));
}

/* The candidates of one round; the worst of them replaces `here` if it is worse. */
static assay_status evaluate(climb *c, const uint64_t *patterns, size_t n, uint64_t *here,
                             double *err_here)
{
    _Alignas(64) unsigned char x[8 * STEPS], y[8 * STEPS];
    double hi[STEPS], lo[STEPS], bound[STEPS];

    for (size_t i = 0; i < n; i++)
        put_pattern(c, x, i, patterns[i]);
    memset(y, 0xff, sizeof y);
    ASSAY_TRY(c->unary->wide(c->unary->wide_cookie, x, n, hi, lo, bound));
    ASSAY_TRY(c->unary->kernel(c->unary->kernel_cookie, x, y, n));
    c->best.evaluations += n;
    for (size_t i = 0; i < n; i++) {
        double value = assay_load_f64(c->format.dtype, y, i);
        assay_ulp_point p = assay__ulp_measure(&c->format, value, hi[i], lo[i], bound[i]);
        c->best.mismatches += p.class != ASSAY_ULP_ORDINARY;
        if (p.class != ASSAY_ULP_ORDINARY || !(p.err_ulp > *err_here))
            continue;
        *err_here = p.err_ulp;
        *here = patterns[i];
        if (p.err_ulp > c->best.err_ulp) {
            c->best.err_ulp = p.err_ulp;
            c->best.dist = p.dist;
            c->best.input_bits = patterns[i];
            c->best.output_bits = assay__element_bits(c->format.dtype, y, i);
            c->best.hi = hi[i];
            c->best.lo = lo[i];
        }
    }
    return ASSAY_OK;
}

static assay_status climb_from(climb *c, uint64_t start, uint64_t limit)
{
    uint64_t patterns[STEPS], here = start;
    double err = -1.0;

    ASSAY_TRY(evaluate(c, &start, 1, &here, &err));
    for (int stale = 0; stale < STALE && c->best.evaluations + STEPS <= limit;) {
        uint64_t centre = here;
        double before = err;
        for (unsigned i = 0; i < STEPS; i++)
            patterns[i] = moved(c, centre, step_of(c, i));
        ASSAY_TRY(evaluate(c, patterns, STEPS, &here, &err));
        if (err > before) {
            c->best.improved++;
            stale = 0;
        } else {
            stale++;
        }
    }
    return ASSAY_OK;
}

assay_status assay__search_run(const assay__unary *unary, const assay_search_plan *plan,
                               assay_search_result *out)
{
    climb c = {.unary = unary, .best = {.err_ulp = -1.0}};

    ASSAY_TRY(assay__ulp_format(unary->output, false, &c.format));
    if (plan->start_count == 0 || plan->evaluations < 2 * STEPS)
        return assay__fail(ASSAY_INVALID, "search: %zu starts, %llu evaluations (at least %d)",
                           plan->start_count, (unsigned long long)plan->evaluations, 2 * STEPS);
    c.bits = (unsigned)(8 * assay_dtype_bytes(unary->input));
    uint64_t sign = (uint64_t)1 << (c.bits - 1), mask = sign | (sign - 1);
    assay__rng_seed(&c.rng, plan->seed, 0);
    for (size_t s = 0; s < plan->start_count && c.best.evaluations < plan->evaluations; s++) {
        /* Equal shares of what is left: an early start must not eat the budget of the rest. */
        uint64_t left = plan->evaluations - c.best.evaluations;
        uint64_t share = left / (plan->start_count - s);
        ASSAY_TRY(climb_from(&c, plan->starts[s] & mask, c.best.evaluations + share));
    }
    if (!(c.best.err_ulp >= 0.0))
        return assay__fail(ASSAY_NOTFOUND, "search: no input has a defined error");
    *out = c.best;
    return ASSAY_OK;
}
