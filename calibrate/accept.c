/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/accept.c -- is one element within the bound of its op. */
#include "calibrate/accept.h"

#include "runtime/error.h"

#include <float.h>
#include <math.h>

#define LAMBDA 6.0 /* probabilistic bound: 6 sqrt(n) u (Higham and Mary, 2019) */

static assay_status spec_init(assay_dtype dtype, assay_dtype accumulator, double terms,
                              assay_accept_spec *out)
{
    assay_ulp_format inside;

    if (!(terms >= 0.0))
        return assay__fail(ASSAY_INVALID, "acceptance: %g terms", terms);
    ASSAY_TRY(assay__ulp_format(accumulator, false, &inside));
    assay_accept_spec spec = {.terms = terms, .u_acc = inside.unit_roundoff};
    ASSAY_TRY(assay__ulp_format(dtype, false, &spec.format));
    *out = spec;
    return ASSAY_OK;
}

assay_status assay__accept_elementwise(assay_dtype dtype, uint64_t max_dist, assay_accept_spec *out)
{
    assay_accept_spec spec = {.rule = ASSAY_ACCEPT_ELEMENTWISE, .max_dist = max_dist};

    ASSAY_TRY(assay__ulp_any_format(dtype, false, &spec.format));
    spec.u_acc = spec.format.unit_roundoff;
    *out = spec;
    return ASSAY_OK;
}

assay_status assay__accept_sum(assay_dtype dtype, assay_dtype accumulator, double terms,
                               double fixed, assay_accept_spec *out)
{
    if (!(fixed >= 0.0))
        return assay__fail(ASSAY_INVALID, "acceptance: %g fixed roundings", fixed);
    ASSAY_TRY(spec_init(dtype, accumulator, terms, out));
    out->rule = ASSAY_ACCEPT_CONTRACTION;
    out->fixed = fixed;
    return ASSAY_OK;
}

assay_status assay__accept_contraction(assay_dtype dtype, assay_dtype accumulator, int64_t k,
                                       assay_accept_spec *out)
{
    return assay__accept_sum(dtype, accumulator, k < 0 ? -1.0 : (double)k + 2.0, 0.0, out);
}

assay_status assay__accept_softmax(assay_dtype dtype, assay_dtype accumulator, int64_t cols,
                                   double exp_ulps, assay_accept_spec *out)
{
    if (!(exp_ulps >= 0.0))
        return assay__fail(ASSAY_INVALID, "acceptance: exp with a bound of %g ulps", exp_ulps);
    ASSAY_TRY(spec_init(dtype, accumulator, (double)cols, out));
    out->rule = ASSAY_ACCEPT_SOFTMAX;
    out->exp_ulps = exp_ulps;
    return ASSAY_OK;
}

/* gamma_n = n u / (1 - n u) (Higham, 2002); (1 + u)^n - 1 where that ceases to be useful. */
static double certain_growth(double n, double u)
{
    double share = n * u;
    return share < 0.5 ? share / (1.0 - share) : expm1(n * log1p(u));
}

static double probable_growth(double n, double u)
{
    return fmin(LAMBDA * sqrt(n) * u, certain_growth(n, u));
}

/* Rounding of the result itself: half a step of the output, wherever r lies. */
static double output_term(const assay_accept_element *e, const assay_accept_spec *spec)
{
    return fmax(spec->format.unit_roundoff * fabs(e->hi), 0.5 * spec->format.min_subnormal);
}

static void contraction_bounds(const assay_accept_element *e, const assay_accept_spec *spec,
                               double *certain, double *probable)
{
    double operands = spec->u_operand * (2.0 + spec->u_operand) * e->magnitude;
    double own = certain_growth(spec->fixed, spec->u_acc) * fabs(e->hi);
    double rest = output_term(e, spec) + operands + own + e->bound;
    /* Products below the normal range lose up to a step each, whatever their size. */
    if (e->magnitude > 0.0)
        rest += spec->terms * 0.5 * spec->format.min_subnormal;
    *certain = rest + certain_growth(spec->terms, spec->u_acc) * e->magnitude;
    *probable = rest + probable_growth(spec->terms, spec->u_acc) * e->magnitude;
}

static void softmax_bounds(const assay_accept_element *e, const assay_accept_spec *spec,
                           double *certain, double *probable)
{
    double u = spec->u_acc, size = fabs(e->hi);
    /* x - max is rounded before exp magnifies it; one ulp of exp is up to two roundings. */
    double fixed = e->depth + 2.0 * spec->exp_ulps + 2.0;
    double store = spec->format.unit_roundoff > u ? spec->format.unit_roundoff * size : 0.0;
    /* exp or the quotient may step below the normal range of the output. */
    double rest = store + spec->format.min_subnormal + e->bound;

    *certain = rest + certain_growth(fixed + spec->terms, u) * size;
    *probable = rest + (certain_growth(fixed, u) + probable_growth(spec->terms, u)) * size;
}

void assay__accept_bounds(const assay_accept_element *element, const assay_accept_spec *spec,
                          double *certain, double *probable)
{
    *certain = *probable = NAN;
    if (spec->rule == ASSAY_ACCEPT_CONTRACTION)
        contraction_bounds(element, spec, certain, probable);
    else if (spec->rule == ASSAY_ACCEPT_SOFTMAX)
        softmax_bounds(element, spec, certain, probable);
}

/* Distance to the nearest rounding that the reference leaves possible. */
static uint64_t least_dist(const assay_accept_element *e, const assay_accept_spec *spec,
                           const assay_ulp_point *point)
{
    uint64_t least = point->dist;

    if (!point->is_uncertain)
        return least;
    for (int side = -1; side <= 1; side += 2) {
        double other = assay__ulp_round(&spec->format, e->hi, e->lo + side * e->bound);
        if (!isnan(other) && assay__ulp_distance(&spec->format, e->y, other) < least)
            least = assay__ulp_distance(&spec->format, e->y, other);
    }
    return least;
}

static bool class_is_allowed(const assay_accept_element *e, const assay_accept_spec *spec,
                             const assay_ulp_point *point)
{
    if (spec->is_strict_zero && point->zero_sign_mismatch)
        return false;
    if (point->class == ASSAY_ULP_FLUSHED) {
        /* A sum that cancels to less than its bound may as well be zero. */
        double certain, probable;
        assay__accept_bounds(e, spec, &certain, &probable);
        return spec->allows_flush ||
               (spec->rule == ASSAY_ACCEPT_CONTRACTION && fabs(e->hi) <= certain);
    }
    if (point->class == ASSAY_ULP_INF_MISMATCH && spec->rule != ASSAY_ACCEPT_ELEMENTWISE) {
        /* A sum within its bound of the overflow threshold may fall on either side. */
        double certain, probable;
        assay__accept_bounds(e, spec, &certain, &probable);
        double reached = isinf(e->y) ? spec->format.max_finite : fabs(e->y);
        return signbit(e->y) == signbit(e->hi) && fabs(fabs(e->hi) - reached) <= certain;
    }
    return point->class == ASSAY_ULP_ORDINARY;
}

typedef struct judged {
    assay_accept_verdict verdict;
    double share; /* of the certain bound */
} judged;

static judged judge_elementwise(const assay_accept_element *e, const assay_accept_spec *spec,
                                const assay_ulp_point *point)
{
    uint64_t dist = least_dist(e, spec, point);
    double most = (double)(spec->max_dist > 0 ? spec->max_dist : 1);

    return (judged){dist <= spec->max_dist ? ASSAY_ACCEPT_PASS : ASSAY_ACCEPT_FAIL,
                    (double)dist / most};
}

static judged judge_bounds(const assay_accept_element *e, const assay_accept_spec *spec)
{
    double certain, probable, abs = fabs((e->y - e->hi) - e->lo);

    assay__accept_bounds(e, spec, &certain, &probable);
    judged result = {ASSAY_ACCEPT_FAIL, fmin(abs / certain, DBL_MAX)};
    if (abs <= probable)
        result.verdict = ASSAY_ACCEPT_PASS;
    else if (abs <= certain)
        result.verdict = ASSAY_ACCEPT_WARN;
    if (isnan(result.share))
        result.share = DBL_MAX;
    return result;
}

/* Finite, not zero, not overflowed: of no class, the bound alone decides. */
static bool is_plain(const assay_accept_element *e, const assay_accept_spec *spec)
{
    return spec->rule != ASSAY_ACCEPT_ELEMENTWISE && isfinite(e->y) && fabs(e->y) > 0.0 &&
           fabs(e->hi) <= spec->format.max_finite;
}

static judged judge_integer(const assay_accept_element *e, const assay_accept_spec *spec)
{
    assay_ulp_point point = assay__ulp_measure_integer(&spec->format, e->y_whole, e->hi, e->lo);

    if (point.class != ASSAY_ULP_ORDINARY)
        return (judged){ASSAY_ACCEPT_FAIL, DBL_MAX};
    return judge_elementwise(e, spec, &point);
}

static judged judge(const assay_accept_element *e, const assay_accept_spec *spec)
{
    if (spec->format.is_integer)
        return judge_integer(e, spec);
    if (is_plain(e, spec))
        return judge_bounds(e, spec);
    assay_ulp_point point = assay__ulp_measure(&spec->format, e->y, e->hi, e->lo, e->bound);

    if (!class_is_allowed(e, spec, &point))
        return (judged){ASSAY_ACCEPT_FAIL, DBL_MAX};
    if (point.class != ASSAY_ULP_ORDINARY || isnan(e->hi) || isinf(e->y))
        return (judged){ASSAY_ACCEPT_PASS, 0.0}; /* both NaN, both overflowed, flush allowed */
    return spec->rule == ASSAY_ACCEPT_ELEMENTWISE ? judge_elementwise(e, spec, &point)
                                                  : judge_bounds(e, spec);
}

assay_accept_verdict assay__accept(const assay_accept_element *element,
                                   const assay_accept_spec *spec)
{
    return judge(element, spec).verdict;
}

void assay__accept_counts_init(assay_accept_counts *counts)
{
    *counts = (assay_accept_counts){.first_failed = ASSAY_ERROR_NONE};
}

assay_status assay__accept_batch(const assay_error_batch *batch, const double *depth,
                                 const assay_accept_spec *spec, assay_accept_counts *counts)
{
    if (batch->count > 0 && (!batch->y || !batch->hi))
        return assay__fail(ASSAY_INVALID, "acceptance: no outputs or no references");
    if ((spec->rule == ASSAY_ACCEPT_CONTRACTION && !batch->magnitude) ||
        (spec->rule == ASSAY_ACCEPT_SOFTMAX && !depth))
        return assay__fail(ASSAY_INVALID, "acceptance: the rule needs %s of every element",
                           depth ? "the sum of absolute products" : "a magnitude or depth");
    for (size_t i = 0; i < batch->count; i++) {
        assay_accept_element e = {.y = assay_load_f64(spec->format.dtype, batch->y, i),
                                  .hi = batch->hi[i],
                                  .lo = batch->lo ? batch->lo[i] : 0.0,
                                  .bound = batch->bound ? batch->bound[i] : 0.0,
                                  .magnitude = batch->magnitude ? batch->magnitude[i] : 0.0,
                                  .depth = depth ? depth[i] : 0.0};
        if (spec->format.is_integer)
            e.y_whole = assay__integer_element(spec->format.dtype, batch->y, i);
        judged j = judge(&e, spec);
        counts->worst_share = fmax(counts->worst_share, j.share);
        counts->warned += j.verdict == ASSAY_ACCEPT_WARN;
        if (j.verdict == ASSAY_ACCEPT_FAIL) {
            counts->failed++;
            if (batch->first + i < counts->first_failed)
                counts->first_failed = batch->first + i;
        }
    }
    return ASSAY_OK;
}

void assay__accept_counts_merge(assay_accept_counts *counts, const assay_accept_counts *other)
{
    counts->failed += other->failed;
    counts->warned += other->warned;
    counts->worst_share = fmax(counts->worst_share, other->worst_share);
    if (other->first_failed < counts->first_failed)
        counts->first_failed = other->first_failed;
}
