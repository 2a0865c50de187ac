/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_softmax.c -- y_i = e^(x_i - max) / sum e^(x_j - max) over each line:
 * a row of softmax_last_dim, along the axis of softmax.
 *
 * Up to 32 bits in double first, with an error bound per element; a row in which that leaves a
 * rounding open, and every f64 row, is summed in double-double. */
#include "backends/ref/ref.h"

#include <stdlib.h>

typedef struct row {
    assay_dtype dtype;
    int64_t cols, step; /* elements of a line and how far they are apart */
    double *x;          /* then x - max, rounded */
    double *e;          /* e^(x - max) */
    double max;
    double sum;       /* of e */
    double sum_error; /* relative */
    bool invalid;     /* every element is NaN */
    bool has_exact;
    ref_dd exact_sum;
} row;

/* `first`: where the line begins. */
static void load_row(row *r, const assay_tensor *t, int64_t first)
{
    r->max = -INFINITY;
    r->invalid = false;
    r->has_exact = false;
    for (int64_t j = 0; j < r->cols; j++) {
        r->x[j] = ref_load(t, first + j * r->step);
        if (isnan(r->x[j]))
            r->invalid = true;
        else if (r->x[j] > r->max)
            r->max = r->x[j];
    }
    if (isinf(r->max)) /* all -inf, or inf - inf */
        r->invalid = true;
}

/* Relative error of e^(rounded difference): libmvec's 4 units and the difference's half unit. */
static double term_error(double difference)
{
    return 2.0 * REF_EXP_FAST_ULP * REF_U + fabs(difference) * REF_U;
}

static void sum_fast(row *r)
{
    double sum = 0.0, carry = 0.0, error = 0.0;

    for (int64_t j = 0; j < r->cols; j++)
        r->e[j] = r->x[j] - r->max;
    if (ref_has_avx2())
        ref_exp_fast_avx2(r->e, r->e, r->cols);
    else
        ref_exp_fast(r->e, r->e, r->cols);
    for (int64_t j = 0; j < r->cols; j++) {
        ref_dd s = ref_two_sum(sum, r->e[j]);
        sum = s.hi;
        carry += s.lo;
        error += r->e[j] == 0.0 ? REF_TINY : r->e[j] * term_error(r->x[j] - r->max);
    }
    r->sum = sum + carry;
    r->sum_error = error / r->sum * 1.001 + 4.0 * REF_U;
}

static ref_dd difference(double x, double max)
{
    ref_dd d = ref_two_sum(x, -max);

    if (!isfinite(d.hi) || !isfinite(d.lo))
        d.lo = 0.0;
    return d;
}

static ref_dd exp_difference(ref_dd d)
{
    double bound;

    if (d.hi > -600.0)
        return ref_exp_dd(d);
    /* Below e^-600 the low part of the difference changes less than 2^-43 of the result: kept to
     * first order. */
    ref_dd e = ref_exp_mpfr(d.hi, &bound);
    e.lo += isfinite(d.hi) ? e.hi * d.lo : 0.0;
    return e;
}

static void sum_exact(row *r)
{
    ref_dd sum = {0.0, 0.0};

    for (int64_t j = 0; j < r->cols; j++) {
        ref_dd e = exp_difference(difference(r->x[j], r->max));
        ref_dd s = ref_two_sum(sum.hi, e.hi);
        sum = ref_fast_two_sum(s.hi, s.lo + (sum.lo + e.lo));
    }
    r->exact_sum = sum;
    r->has_exact = true;
}

static ref_dd divide(ref_dd a, ref_dd b)
{
    double q = a.hi / b.hi;
    double rest = fma(-q, b.hi, a.hi) + (a.lo - q * b.lo);

    return ref_fast_two_sum(q, rest / b.hi);
}

static void put_exact(row *r, int64_t j, const assay_wide *out, int64_t at)
{
    if (!r->has_exact)
        sum_exact(r);
    ref_dd d = difference(r->x[j], r->max);
    ref_dd y = divide(exp_difference(d), r->exact_sum);
    double relative = 4.0 * REF_EXP_DD_BOUND + (double)r->cols * 0x1p-103;

    if (d.hi <= -600.0) /* first order in the low part */
        relative += 0x1p-84;
    ref_put(out, at, y, y.hi * relative + (y.hi < 0x1p-960 && y.hi > 0.0 ? REF_TINY : 0.0));
    if (r->x[j] == -INFINITY)
        ref_put(out, at, (ref_dd){0.0, 0.0}, 0.0);
    else if (y.hi == 0.0)
        ref_put(out, at, y, REF_TINY);
}

static void put_fast(row *r, int64_t j, const assay_wide *out, int64_t at)
{
    double y = r->e[j] / r->sum;
    double bound = y == 0.0 ? (r->x[j] == -INFINITY ? 0.0 : REF_TINY)
                            : y * (term_error(r->x[j] - r->max) + r->sum_error + 2.0 * REF_U);

    /* A double in the subnormal range has no relative accuracy left. */
    if (y > 0.0 && y < 0x1p-1000)
        bound += 8.0 * REF_TINY;
    ref_dd value = {y, 0.0};
    if (ref_doubtful(r->dtype, value, bound))
        put_exact(r, j, out, at);
    else
        ref_put(out, at, value, bound);
}

/* A loaded line, whose first element is index `at` of the window, as far as it lies in it. */
static void finish_row(row *r, const assay_wide *out, int64_t at)
{
    if (!r->invalid && r->dtype != ASSAY_F64)
        sum_fast(r);
    for (int64_t j = 0; j < r->cols; j++, at += r->step) {
        if (at < 0 || at >= out->count)
            continue;
        if (r->invalid)
            ref_put(out, at, (ref_dd){NAN, 0.0}, 0.0);
        else if (r->dtype == ASSAY_F64)
            put_exact(r, j, out, at);
        else
            put_fast(r, j, out, at);
    }
}

assay_status ref_wide_softmax(const assay_launch *launch, unsigned threads, const assay_wide *out)
{
    const assay_tensor *x = &launch->operands[0];
    int64_t cols = x->dims[1], step = ref_line_step(x);
    bool failed = false;

    if (out->count == 0 || cols == 0)
        return ASSAY_OK;
    int64_t first = out->first / (cols * step) * step;
    int64_t last = ((out->first + out->count - 1) / (cols * step) + 1) * step;
#pragma omp parallel num_threads(threads) if (last > first + 1 && out->count > 4096)
    {
        double *memory = malloc((size_t)cols * 2 * sizeof *memory);
        row r = {.dtype = x->dtype, .cols = cols, .step = step, .x = memory};
        if (memory != NULL) {
            r.e = memory + cols;
        } else {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(static)
        for (int64_t index = first; index < last; index++) {
            int64_t start = index / step * cols * step + index % step;
            if (memory == NULL || !ref_line_meets(out, start, cols, step))
                continue;
            load_row(&r, x, start);
            finish_row(&r, out, start - out->first);
        }
        free(memory);
        ref_mpfr_release();
    }
    return failed ? ASSAY_NOMEM : ASSAY_OK;
}

assay_status ref_run_softmax(const assay_launch *launch)
{
    return ref_run_rows(launch, ref_wide_softmax);
}
