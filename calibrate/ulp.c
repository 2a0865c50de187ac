/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/ulp.c -- the error of one element in units in the last place. */
#include "calibrate/ulp.h"

#include "runtime/error.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define BIG 0x1p900 /* beyond it differences are taken at 2^-64 of the size */

assay_status assay__ulp_format(assay_dtype dtype, bool saturates, assay_ulp_format *out)
{
    const assay_dtype_info *info = assay_dtype_describe(dtype);

    if (!info || !info->is_float)
        return assay__fail(ASSAY_INVALID, "ulp: dtype %d is no floating-point type", (int)dtype);
    double half_step = ldexp(1.0, info->emax - info->precision);
    *out = (assay_ulp_format){.dtype = dtype,
                              .saturates = saturates && info->bytes == 1,
                              .has_inf = info->has_inf,
                              .precision = info->precision,
                              .emin = info->emin,
                              .emax = info->emax,
                              .max_finite = info->max_finite,
                              /* f64: the sum rounds to infinity or stays, either is a bound */
                              .overflow = info->max_finite + half_step,
                              .min_normal = info->min_normal,
                              .min_subnormal = info->min_subnormal,
                              .unit_roundoff = info->unit_roundoff};
    return ASSAY_OK;
}

assay_status assay__ulp_any_format(assay_dtype dtype, bool saturates, assay_ulp_format *out)
{
    const assay_dtype_info *info = assay_dtype_describe(dtype);

    if (info == NULL || info->is_float)
        return assay__ulp_format(dtype, saturates, out);
    *out = (assay_ulp_format){.dtype = dtype,
                              .is_integer = true,
                              .precision = info->precision,
                              .max_finite = NAN,
                              .overflow = NAN,
                              .min_normal = NAN,
                              .min_subnormal = NAN,
                              .unit_roundoff = NAN};
    return ASSAY_OK;
}

/* floor(log2 |hi + lo|), unclamped; both finite, not both zero. */
static int exponent_of(double hi, double lo)
{
    int exponent;
    double big = fabs(hi) >= fabs(lo) ? hi : lo, small = fabs(hi) >= fabs(lo) ? lo : hi;
    double mantissa = frexp(fabs(big), &exponent);

    /* Just below a power of two: hi is the power and lo pulls towards zero. */
    if (mantissa <= 0.5 && small * copysign(1.0, big) < 0.0)
        exponent--;
    return exponent - 1;
}

static int clamped_exponent(const assay_ulp_format *format, double hi, double lo)
{
    if (isinf(hi))
        return format->emax;
    if (fabs(hi) <= 0.0 && fabs(lo) <= 0.0)
        return format->emin;
    int exponent = exponent_of(hi, lo);
    if (exponent < format->emin)
        return format->emin;
    return exponent > format->emax ? format->emax : exponent;
}

double assay__ulp_quantum(const assay_ulp_format *format, double hi, double lo)
{
    return ldexp(1.0, clamped_exponent(format, hi, lo) - format->precision + 1);
}

/* hi + lo rounded to odd: a later rounding to fewer than 52 bits is then the only one that
 * counts (Boldo and Melquiond, 2008). */
static double sum_to_odd(double hi, double lo)
{
    double sum = hi + lo;
    uint64_t bits;

    if (!isfinite(sum))
        return isfinite(hi) ? hi : sum;
    double part = sum - hi, rest = (hi - (sum - part)) + (lo - part);
    memcpy(&bits, &sum, sizeof bits);
    if (!(fabs(rest) > 0.0) || bits & 1)
        return sum;
    bits += (rest > 0.0) == (sum > 0.0) ? 1u : (uint64_t)-1;
    memcpy(&sum, &bits, sizeof sum);
    return sum;
}

double assay__ulp_round(const assay_ulp_format *format, double hi, double lo)
{
    uint64_t raw = 0;

    if (fabs(lo) <= 0.0)
        lo = copysign(0.0, hi); /* keeps the sign of a zero hi */
    if (format->dtype == ASSAY_F64)
        return isinf(hi) ? hi : hi + lo;
    double odd = isinf(hi) ? hi : sum_to_odd(hi, lo);
    if (format->saturates)
        assay_store_f64_sat(format->dtype, &raw, 0, odd);
    else
        assay_store_f64(format->dtype, &raw, 0, odd);
    return assay_load_f64(format->dtype, &raw, 0);
}

uint64_t assay__element_bits(assay_dtype dtype, const void *base, size_t index)
{
    size_t bytes = assay_dtype_bytes(dtype);
    const unsigned char *at = (const unsigned char *)base + index * bytes;
    uint64_t bits = 0;

    for (size_t i = 0; i < bytes; i++) /* stores are little-endian on every machine we run on */
        bits |= (uint64_t)at[i] << (8 * i);
    return bits;
}

/* Position of a value on the axis of all values: sign and magnitude to one signed order. */
static int64_t ordinal(const assay_ulp_format *format, double value)
{
    uint64_t raw = 0;
    int bits = (int)(8 * assay_dtype_bytes(format->dtype));

    assay_store_f64(format->dtype, &raw, 0, value);
    uint64_t magnitude = raw & (((uint64_t)1 << (bits - 1)) - 1);
    return magnitude == raw ? (int64_t)magnitude : -(int64_t)magnitude;
}

uint64_t assay__ulp_distance(const assay_ulp_format *format, double a, double b)
{
    int64_t x = ordinal(format, a), y = ordinal(format, b);
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

/* |y - r| over q, and |y - r| itself; finite whatever comes in. */
static double error_in_ulps(const assay_ulp_format *format, double y, double hi, double lo,
                            double *abs)
{
    int down = fabs(y) > BIG || fabs(hi) > BIG ? -64 : 0;
    double distance = fabs((ldexp(y, down) - ldexp(hi, down)) - ldexp(lo, down));
    int quantum = clamped_exponent(format, hi, lo) - format->precision + 1;

    *abs = fmin(ldexp(distance, -down), DBL_MAX);
    /* In two steps: 2^1074 is no double. */
    return fmin(ldexp(ldexp(distance, 64), -quantum - down - 64), DBL_MAX);
}

/* The error with infinity, on either side, read as 2^(emax+1). */
static double error_past_overflow(const assay_ulp_format *format, double y, double hi, double lo)
{
    double edge = ldexp(1.0, format->emax + 1 - 64); /* all at 2^-64: 2^1024 is no double */
    double out = isinf(y) ? copysign(edge, y) : ldexp(y, -64);
    double want = ldexp(hi, -64), rest = ldexp(lo, -64);

    if (!(fabs(want) < edge)) {
        want = copysign(edge, hi);
        rest = 0.0;
    }
    int quantum = clamped_exponent(format, hi, lo) - format->precision + 1;
    return fmin(ldexp(fabs((out - want) - rest), 64 - quantum), DBL_MAX);
}

static bool is_overflow(const assay_ulp_format *format, double value)
{
    return isinf(value) || (isnan(value) && !format->has_inf);
}

/* True when r - bound and r + bound round to different values. */
static bool is_unsettled(const assay_ulp_format *format, double hi, double lo, double bound)
{
    if (bound <= 0.0)
        return false;
    double low = assay__ulp_round(format, hi, lo - bound);
    double high = assay__ulp_round(format, hi, lo + bound);
    return !(low >= high) && !(isnan(low) && isnan(high));
}

static void measure_number(const assay_ulp_format *format, double y, double hi, double lo,
                           assay_ulp_point *point)
{
    bool over = is_overflow(format, point->expected);

    if (over != is_overflow(format, y) || (isinf(y) && signbit(y) != signbit(hi))) {
        /* A NaN of a format without infinity where no overflow was due is just a NaN. */
        point->class = isnan(y) ? ASSAY_ULP_NAN_MISMATCH : ASSAY_ULP_INF_MISMATCH;
        if (!isnan(y))
            point->err_ulp = error_past_overflow(format, y, hi, lo);
        return;
    }
    if (over)
        return;
    if (format->saturates && fabs(hi) > format->max_finite) {
        hi = point->expected; /* the format asks for the largest value, not for r */
        lo = 0.0;
    }
    point->err_ulp = error_in_ulps(format, y, hi, lo, &point->abs);
    point->dist = assay__ulp_distance(format, y, point->expected);
    if (fabs(hi) >= format->min_normal)
        point->rel = fmin(point->abs / fabs(hi), DBL_MAX);
    bool is_zero = fabs(y) <= 0.0, wants_zero = fabs(point->expected) <= 0.0;
    point->zero_sign_mismatch = is_zero && wants_zero && signbit(y) != signbit(point->expected);
    if (is_zero && !wants_zero && fabs(point->expected) < format->min_normal && point->dist > 1)
        point->class = ASSAY_ULP_FLUSHED;
}

assay_ulp_point assay__ulp_measure(const assay_ulp_format *format, double y, double hi, double lo,
                                   double bound)
{
    assay_ulp_point point = {.class = ASSAY_ULP_ORDINARY};

    point.expected = assay__ulp_round(format, hi, lo);
    if (isnan(hi) || isnan(lo)) {
        point.class = isnan(y) ? ASSAY_ULP_ORDINARY : ASSAY_ULP_NAN_MISMATCH;
        return point;
    }
    if (isnan(y) && format->has_inf) {
        point.class = ASSAY_ULP_NAN_MISMATCH;
        return point;
    }
    point.is_uncertain = is_unsettled(format, hi, lo, bound);
    measure_number(format, y, hi, lo, &point);
    return point;
}

/* ---- integers ---- */

int64_t assay__integer_element(assay_dtype dtype, const void *base, size_t index)
{
    uint64_t bits = assay__element_bits(dtype, base, index);
    unsigned unused = 64 - 8 * (unsigned)assay_dtype_bytes(dtype);

    if (!assay_dtype_describe(dtype)->is_signed)
        return (int64_t)bits;
    return (int64_t)(bits << unused) >> unused; /* arithmetic, as on every compiler we know */
}

/* hi + lo as an integer of the type; false: it is none. */
static bool whole(const assay_dtype_info *info, double hi, double lo, int64_t *out)
{
    int64_t big = INT64_MAX, small;

    if (!(fabs(hi) <= 0x1p63) || !(fabs(lo) <= 0x1p62) || floor(hi) < hi || floor(lo) < lo)
        return false;
    small = (int64_t)lo;
    if (hi >= 0x1p63) /* one above the largest of i64 */
        small++;
    else
        big = (int64_t)hi;
    return !__builtin_add_overflow(big, small, out) && *out >= info->min_int &&
           *out <= info->max_int;
}

assay_ulp_point assay__ulp_measure_integer(const assay_ulp_format *format, int64_t y, double hi,
                                           double lo)
{
    assay_ulp_point point = {.class = ASSAY_ULP_ORDINARY, .expected = hi + lo};
    int64_t r;

    if (!whole(assay_dtype_describe(format->dtype), hi, lo, &r)) {
        point.class = ASSAY_ULP_NAN_MISMATCH;
        return point;
    }
    point.dist = y > r ? (uint64_t)y - (uint64_t)r : (uint64_t)r - (uint64_t)y;
    point.err_ulp = point.abs = (double)point.dist;
    if (r != 0)
        point.rel = point.abs / fabs((double)r);
    return point;
}
