/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref.h -- what the reference kernels share: error-free steps and wide results.
 *
 * u below is 2^-53.  A wide value is hi + lo; its bound is absolute and holds for hi + lo. */
#ifndef ASSAY_BACKENDS_REF_H
#define ASSAY_BACKENDS_REF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/plugin.h"
#include "runtime/op_params.h"

#define REF_U        0x1p-53
#define REF_TINY     0x1p-1074
#define REF_MAX_ROWS 8

typedef struct ref_dd {
    double hi, lo;
} ref_dd;

/* a + b = hi + lo exactly, unless hi overflows (Knuth; Dekker's test-free form). */
static inline ref_dd ref_two_sum(double a, double b)
{
    double s = a + b;
    double t = s - a;

    return (ref_dd){s, (a - (s - t)) + (b - t)};
}

/* The same for |a| >= |b| or a == 0. */
static inline ref_dd ref_fast_two_sum(double a, double b)
{
    double s = a + b;

    return (ref_dd){s, b - (s - a)};
}

/* a * b = hi + lo exactly, unless the product overflows or its tail underflows. */
static inline ref_dd ref_two_prod(double a, double b)
{
    double p = a * b;

    return (ref_dd){p, fma(a, b, -p)};
}

/* Wide elements written at index i of `out`; arrays that are NULL are skipped by the caller. */
static inline void ref_put(const assay_wide *out, int64_t i, ref_dd value, double bound)
{
    out->hi[i] = value.hi;
    out->lo[i] = value.lo;
    out->bound[i] = bound;
}

/* hi + lo rounded to 53 bits so that a later rounding to fewer bits is the only one: a result that
 * is not exact gets an odd last bit (round to odd). */
double ref_round_odd(double hi, double lo);

/* hi + lo rounded once to `dtype`, as the value of that dtype. */
double ref_round(assay_dtype dtype, ref_dd value);

/* Whether `bound` leaves open which value of `dtype` hi + lo rounds to. */
bool ref_doubtful(assay_dtype dtype, ref_dd value, double bound);

/* Element at `index` (row-major over `dims`) of a host tensor of any strides. */
const char *ref_element(const assay_tensor *t, int64_t index);
double ref_load(const assay_tensor *t, int64_t index);

/* Integers, exact: one at an address, as hi + lo, stored from that; and any element as hi + lo. */
int64_t ref_integer_at(assay_dtype dtype, const char *at);
ref_dd ref_of_integer(int64_t v);
void ref_store_integer(assay_dtype dtype, char *at, ref_dd value);
ref_dd ref_load_exact(const assay_tensor *t, int64_t index);

/* The kernel on top of a `wide` function: `chunk` elements at a time, each rounded once. */
typedef assay_status (*ref_wide_fn)(const assay_launch *launch, unsigned threads,
                                    const assay_wide *out);
assay_status ref_run(const assay_launch *launch, ref_wide_fn wide, int64_t chunk);

assay_status ref_wide_add(const assay_launch *launch, unsigned threads, const assay_wide *out);
assay_status ref_wide_exp(const assay_launch *launch, unsigned threads, const assay_wide *out);
assay_status ref_wide_softmax(const assay_launch *launch, unsigned threads, const assay_wide *out);
assay_status ref_wide_matmul(const assay_launch *launch, unsigned threads, const assay_wide *out);
assay_status ref_run_add(const assay_launch *launch);
assay_status ref_run_exp(const assay_launch *launch);
assay_status ref_run_softmax(const assay_launch *launch);
assay_status ref_run_matmul(const assay_launch *launch);

/* e^(x.hi + x.lo) for -600 < x.hi < 700 as a double-double, |x.lo| <= u |x.hi|.
 * Relative error of hi + lo at most REF_EXP_DD_BOUND. */
#define REF_EXP_DD_BOUND 0x1p-85
ref_dd ref_exp_dd(ref_dd x);

/* e^x by MPFR at 120 bits: any x; *bound is absolute. */
ref_dd ref_exp_mpfr(double x, double *bound);

/* Gives back what MPFR keeps for this thread.  Each thread of a team calls it when its part is
 * done: the OpenMP runtime ends threads that a smaller team does not need, and MPFR's memory of
 * them would be lost. */
void ref_mpfr_release(void);

/* y[i] = e^x[i], at most REF_EXP_FAST_ULP units in the last place of a double off; subnormal and
 * overflowing results included. */
#define REF_EXP_FAST_ULP 4.0
/* Above the unit of subnormal doubles by more than it must be, and nothing to any type of 32 bits:
 * arithmetic on subnormal bounds is many times slower. */
#define REF_EXP_LEAST_UNIT 0x1p-1000
/* y -+ bound are rounded themselves, by half a unit: the question looks a unit farther than the
 * bound.  Without it one f32 input of all 2^32 was left open. */
#define REF_EXP_REACH 1.25
void ref_exp_fast(const double *x, double *y, int64_t n);
void ref_exp_fast_avx2(const double *x, double *y, int64_t n);
/* Bounds of such y; open[i]: they leave the rounding to f32 open. */
void ref_exp_bounds_avx2(const double *y, double *bound, uint8_t *open, int64_t n);

/* Begins the definition of a `wide` function, ref_wide_<op>, behind that of the kernel on top of
 * it, ref_run_<op>.  ref_plugin.c declares both on its own. */
#define REF_OP(op, chunk)                                                    \
    assay_status ref_wide_##op(const assay_launch *launch, unsigned threads, \
                               const assay_wide *out);                       \
    assay_status ref_run_##op(const assay_launch *launch);                   \
    assay_status ref_run_##op(const assay_launch *launch)                    \
    {                                                                        \
        return ref_run(launch, ref_wide_##op, chunk);                        \
    }                                                                        \
    assay_status ref_wide_##op(const assay_launch *launch, unsigned threads, const assay_wide *out)

/* The same for ops over rows. */
#define REF_ROWS_OP(op)                                                      \
    assay_status ref_wide_##op(const assay_launch *launch, unsigned threads, \
                               const assay_wide *out);                       \
    assay_status ref_run_##op(const assay_launch *launch);                   \
    assay_status ref_run_##op(const assay_launch *launch)                    \
    {                                                                        \
        return ref_run_rows(launch, ref_wide_##op);                          \
    }                                                                        \
    assay_status ref_wide_##op(const assay_launch *launch, unsigned threads, const assay_wide *out)

/* y = f(a, b) or f(x) of doubles, element by element; the bound of what f gives is `bound`. */
typedef ref_dd (*ref_binary_fn)(double a, double b, double *bound);
typedef ref_dd (*ref_unary_fn)(double x, double *bound);
assay_status ref_wide_binary(const assay_launch *launch, unsigned threads, const assay_wide *out,
                             ref_binary_fn f);
assay_status ref_wide_each(const assay_launch *launch, unsigned threads, const assay_wide *out,
                           ref_unary_fn f);

/* Row-wise ops: f fills all n elements of a row, magnitude included.  x: the row, exact. */
typedef void (*ref_row_fn)(const assay_problem *problem, const double *x, int64_t n,
                           const assay_wide *row);
assay_status ref_wide_rows(const assay_launch *launch, unsigned threads, const assay_wide *out,
                           ref_row_fn f);
/* ref_run for them: whole rows at a time, so that y may lie over x. */
assay_status ref_run_rows(const assay_launch *launch, ref_wide_fn wide);

/* A line of log_softmax, whose magnitudes are there. */
void ref_log_softmax_line(const assay_problem *problem, const double *x, int64_t n,
                          const assay_wide *out);

/* How far the elements of a line are apart, counted in elements: 1 along the last of two extents,
 * the third along the middle of three. */
static inline int64_t ref_line_step(const assay_tensor *x)
{
    return x->rank == 3 ? x->dims[2] : 1;
}

/* Whether a line has an element in the window. */
static inline bool ref_line_meets(const assay_wide *out, int64_t start, int64_t n, int64_t step)
{
    int64_t before = out->first > start ? (out->first - start + step - 1) / step : 0;

    return before < n && start + before * step < out->first + out->count;
}

static inline ref_dd ref_add_dd(ref_dd a, ref_dd b)
{
    ref_dd s = ref_two_sum(a.hi, b.hi), t = ref_two_sum(a.lo, b.lo);

    s = ref_fast_two_sum(s.hi, s.lo + t.hi);
    return ref_fast_two_sum(s.hi, s.lo + t.lo);
}

static inline ref_dd ref_mul_dd(ref_dd a, ref_dd b)
{
    ref_dd p = ref_two_prod(a.hi, b.hi);

    return ref_fast_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* a / n for a whole number n. */
static inline ref_dd ref_divide_dd(ref_dd a, double n)
{
    double q = a.hi / n;

    return ref_fast_two_sum(q, (fma(-q, n, a.hi) + a.lo) / n);
}

/* 1 / sqrt a for a > 0 with a relative error of 2^-98, all of it within the range of doubles. */
static inline ref_dd ref_rsqrt_dd(ref_dd a)
{
    double y = 1.0 / sqrt(a.hi);
    ref_dd square = ref_two_prod(y, y), product = ref_mul_dd(a, square);

    return ref_fast_two_sum(y, 0.5 * y * ((1.0 - product.hi) - product.lo));
}

/* Whether this CPU has AVX2 and FMA. */
bool ref_has_avx2(void);

/* ---- matmul micro-kernels -------------------------------------------------------------------- */

#define REF_MR 6
#define REF_NR 4

/* One REF_MR x REF_NR piece over kc products.  a: kc columns of REF_MR; b: kc rows of REF_NR.
 * hi + lo += the sum, magnitude += sum |a||b|; rows of the three are `ld` apart. */
typedef void (*ref_tile_fn)(int64_t kc, const double *a, const double *b, double *hi, double *lo,
                            double *magnitude, int64_t ld);
void ref_tile_fma_avx2(int64_t kc, const double *a, const double *b, double *hi, double *lo,
                       double *magnitude, int64_t ld);
void ref_tile_dot2_avx2(int64_t kc, const double *a, const double *b, double *hi, double *lo,
                        double *magnitude, int64_t ld);

#endif
