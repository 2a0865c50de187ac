/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_exp_dd.c -- e^x beyond double precision: a double-double and MPFR.
 *
 * e^x = 2^k T[j] e^r with x = (64 k + j) ln2/64 + r, |r| <= ln2/128 = 2^-7.53.  Terms up to r^4 are
 * summed as double-doubles (2^-100 each); r^5/120 <= 2^-44 and smaller ones in double, whose ten
 * roundings leave 2^-94; the series stops at r^10, leaving 2^-108.  REF_EXP_DD_BOUND has slack. */
#include "backends/ref/ref.h"

#include <mpfr.h>
#include <pthread.h>

#define STEPS 64

static ref_dd powers[STEPS]; /* 2^(j/64) */
static double step_high;     /* ln2/64 to 32 bits: its product with k below 2^20 is exact */
static double step_middle, step_low;
static double inverse_step;

static ref_dd take_dd(mpfr_t value)
{
    MPFR_DECL_INIT(rest, 256);
    double hi = mpfr_get_d(value, MPFR_RNDN);

    if (!isfinite(hi))
        return (ref_dd){hi, 0.0};
    mpfr_sub_d(rest, value, hi, MPFR_RNDN);
    return (ref_dd){hi, mpfr_get_d(rest, MPFR_RNDN)};
}

static void fill_constants(void)
{
    MPFR_DECL_INIT(step, 256);
    MPFR_DECL_INIT(part, 32);
    MPFR_DECL_INIT(power, 256);

    mpfr_const_log2(step, MPFR_RNDN);
    mpfr_div_ui(step, step, STEPS, MPFR_RNDN);
    mpfr_ui_div(power, 1, step, MPFR_RNDN);
    inverse_step = mpfr_get_d(power, MPFR_RNDN);
    for (unsigned j = 0; j < STEPS; j++) {
        mpfr_mul_ui(power, step, j, MPFR_RNDN);
        mpfr_exp(power, power, MPFR_RNDN);
        powers[j] = take_dd(power);
    }
    mpfr_set(part, step, MPFR_RNDN);
    step_high = mpfr_get_d(part, MPFR_RNDN);
    mpfr_sub(step, step, part, MPFR_RNDN);
    ref_dd rest = take_dd(step);
    step_middle = rest.hi;
    step_low = rest.lo;
}

static ref_dd add_dd(ref_dd a, ref_dd b)
{
    ref_dd s = ref_two_sum(a.hi, b.hi);
    ref_dd t = ref_two_sum(a.lo, b.lo);

    s = ref_fast_two_sum(s.hi, s.lo + t.hi);
    return ref_fast_two_sum(s.hi, s.lo + t.lo);
}

static ref_dd mul_dd(ref_dd a, ref_dd b)
{
    ref_dd p = ref_two_prod(a.hi, b.hi);

    return ref_fast_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* e^r - 1 for |r| <= ln2/128. */
static ref_dd small_expm1(ref_dd r)
{
    static const ref_dd sixth = {0x1.5555555555555p-3, 0x1.5555555555555p-57};
    static const ref_dd twentyfourth = {0x1.5555555555555p-5, 0x1.5555555555555p-59};
    double x = r.hi;
    double q = 1.0 / 120 +
               x * (1.0 / 720 + x * (1.0 / 5040 +
                                     x * (1.0 / 40320 + x * (1.0 / 362880 + x * (1.0 / 3628800)))));
    ref_dd square = mul_dd(r, r);
    ref_dd t = add_dd(mul_dd(r, twentyfourth), sixth);

    t = add_dd(mul_dd(t, r), (ref_dd){0.5, 0.0});
    t = add_dd(r, mul_dd(t, square));
    return add_dd(t, (ref_dd){square.hi * square.hi * x * q, 0.0});
}

ref_dd ref_exp_dd(ref_dd x)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fill_constants);
    double steps = rint(x.hi * inverse_step);
    int whole = (int)steps, j = whole & (STEPS - 1);
    ref_dd middle = ref_two_prod(steps, step_middle);
    ref_dd r = ref_two_sum(x.hi, -steps * step_high);
    r = add_dd(r, (ref_dd){-middle.hi, -middle.lo});
    r = add_dd(r, (ref_dd){x.lo - steps * step_low, 0.0});
    ref_dd y = add_dd(powers[j], mul_dd(powers[j], small_expm1(r)));
    int k = (whole - j) / STEPS;
    return (ref_dd){ldexp(y.hi, k), ldexp(y.lo, k)};
}

ref_dd ref_exp_mpfr(double x, double *bound)
{
    MPFR_DECL_INIT(argument, 53);
    MPFR_DECL_INIT(power, 120);

    mpfr_set_d(argument, x, MPFR_RNDN);
    mpfr_exp(power, argument, MPFR_RNDN);
    ref_dd y = take_dd(power);
    /* REF_TINY: what a low part in the subnormal range loses. */
    *bound = isfinite(y.hi) ? y.hi * 0x1p-104 + (y.hi < 0x1p-900 ? REF_TINY : 0.0) : 0.0;
    if (x == 0.0 || x == -INFINITY)
        *bound = 0.0;
    return y;
}

void ref_mpfr_release(void)
{
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}
