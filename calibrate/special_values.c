/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/special_values.c -- values at which kernels go wrong, for every type. */
#include "calibrate/special_values.h"

#include <math.h>

#define LN2   0x1.62e42fefa39efp-1
#define REACH 64

enum { SMALLEST, SUBNORMAL_TWO, SUBNORMAL_TOP, NORMAL_LEAST, BELOW_ONE, ABOVE_ONE, LIMITS };

static double limit(const assay_dtype_info *info, size_t which)
{
    switch (which) {
    case SMALLEST:
        return info->min_subnormal;
    case SUBNORMAL_TWO:
        return 2.0 * info->min_subnormal;
    case SUBNORMAL_TOP:
        return info->min_normal - info->min_subnormal;
    case NORMAL_LEAST:
        return info->min_normal;
    case BELOW_ONE:
        return 1.0 - info->unit_roundoff;
    default:
        return 1.0 + 2.0 * info->unit_roundoff;
    }
}

static const double plain[] = {0.0,  0.5,   1.0,   1.5, 2.0, 3.0, 0x1.921fb54442d18p+1,
                               10.0, 100.0, 255.0, 0.1, LN2, NAN, INFINITY};
#define PLAIN (sizeof plain / sizeof *plain)
#define TOPS  3 /* the largest value, half and a quarter of it */

size_t assay__special_count(void)
{
    return 2 * (LIMITS + PLAIN + TOPS);
}

double assay__special_value(assay_dtype dtype, size_t index)
{
    const assay_dtype_info *info = assay_dtype_describe(dtype);
    double sign = index % 2 ? -1.0 : 1.0;

    index /= 2;
    if (index < LIMITS)
        return sign * limit(info, index);
    if (index < LIMITS + TOPS)
        return sign * ldexp(info->max_finite, -(int)(index - LIMITS));
    return sign * assay_round_f64(dtype, plain[(index - LIMITS - TOPS) % PLAIN]);
}

double assay__special_from_bits(assay_dtype dtype, uint64_t bits)
{
    double value = assay_load_f64(dtype, &bits, 0); /* little-endian: the low bytes */

    if (!isnan(value))
        return value;
    /* Drop the top bit of the exponent: f8e4m3 0x7f becomes 0x3f. */
    bits &= ~((uint64_t)1 << (8 * assay_dtype_bytes(dtype) - 2));
    return assay_load_f64(dtype, &bits, 0);
}

/* `steps` values up or down from a number of the type, through zero if need be. */
static double stepped(assay_dtype dtype, double from, int64_t steps)
{
    uint64_t raw = 0, sign = (uint64_t)1 << (8 * assay_dtype_bytes(dtype) - 1);

    assay_store_f64(dtype, &raw, 0, from);
    int64_t at = raw & sign ? -(int64_t)(raw & (sign - 1)) : (int64_t)raw;
    at += steps;
    raw = at < 0 ? sign | (uint64_t)-at : (uint64_t)at;
    double value = assay_load_f64(dtype, &raw, 0);
    return isnan(value) ? copysign(assay_dtype_describe(dtype)->max_finite, from) : value;
}

/* ln of the overflow threshold, of the least normal and of the rounding to zero, or k ln2 / 2. */
static double exp_threshold(const assay_dtype_info *info, uint64_t bits)
{
    switch (bits & 3) {
    case 0:
        return (info->emax + 1) * LN2;
    case 1:
        return info->emin * LN2;
    case 2:
        return (info->emin - info->precision) * LN2;
    default:
        return (int)(bits >> 2 & 15) * 0.5 * LN2 - 3.5 * LN2;
    }
}

/* Of e^x and of e^-x. */
static double exp_anchor(const assay_dtype_info *info, uint64_t bits)
{
    return exp_threshold(info, bits) * (bits >> 6 & 1 ? -1.0 : 1.0);
}

double assay__special_edge(bool is_exp, assay_dtype dtype, uint64_t bits)
{
    const assay_dtype_info *info = assay_dtype_describe(dtype);
    int64_t steps = (int64_t)(bits % (2 * REACH + 1)) - REACH;
    uint64_t rest = bits >> 16;
    double anchor = 0.0;

    if (is_exp && bits >> 63)
        anchor = exp_anchor(info, rest);
    else if (rest % 32 != 0) {
        int span = info->emax - info->emin + info->precision;
        int exponent = info->emin - info->precision + 1 + (int)(rest / 32 % (uint64_t)span);
        anchor = ldexp(bits >> 62 & 1 ? -1.0 : 1.0, exponent);
    }
    return stepped(dtype, anchor, steps);
}

/* ---- conversions ---- */

#define NEAR 4 /* steps around a point where results change */

static int64_t near_steps(uint64_t bits)
{
    return (int64_t)(bits % (2 * NEAR + 1)) - NEAR;
}

/* Halfway between a value of a float type and the next one up, exact: f64, whose midpoints no f64
 * holds, gives the value.  Beyond the last: where rounding goes to infinity. */
static double midpoint(assay_dtype to, uint64_t bits)
{
    const assay_dtype_info *info = assay_dtype_describe(to);
    double v = assay__special_from_bits(to, bits), up;

    if (to == ASSAY_F64)
        return v;
    if (!isfinite(v) || fabs(v) >= info->max_finite)
        return copysign(info->max_finite + ldexp(1.0, info->emax - info->precision), v);
    up = stepped(to, v, 1);
    return isfinite(up) ? 0.5 * v + 0.5 * up : v;
}

/* Whole numbers up to beyond both ends of an integer type. */
static double whole_turn(const assay_dtype_info *to, uint64_t bits)
{
    double ends[] = {(double)to->min_int - 1.0,
                     (double)to->min_int,
                     (double)to->max_int,
                     (double)to->max_int + 1.0,
                     -1.0,
                     0.0,
                     1.0};
    size_t which = (size_t)(bits & 15);
    int shift = (int)(bits >> 4 & 63);

    if (which < sizeof ends / sizeof *ends)
        return ends[which];
    double v = (double)(int64_t)((uint64_t)(bits >> 10) << (shift % 10)) / ldexp(1.0, shift);
    return bits >> 63 ? -floor(v) : floor(v);
}

double assay__special_turn(assay_dtype from, assay_dtype to, uint64_t bits)
{
    const assay_dtype_info *info = assay_dtype_describe(to);
    double anchor = info->is_float ? midpoint(to, bits >> 8) : whole_turn(info, bits >> 8);
    double start = assay_round_f64(from, anchor);

    if (isnan(start) || isinf(start))
        start = copysign(assay_dtype_describe(from)->max_finite, anchor);
    return stepped(from, start, near_steps(bits & 255));
}

/* ---- integers ---- */

/* Modulo the type's range, as storing it would be. */
static int64_t wrapped(const assay_dtype_info *info, uint64_t value)
{
    unsigned unused = 64 - 8 * (unsigned)info->bytes;

    return info->is_signed ? (int64_t)(value << unused) >> unused
                           : (int64_t)((value << unused) >> unused);
}

int64_t assay__special_integer(assay_dtype dtype, size_t index)
{
    const assay_dtype_info *info = assay_dtype_describe(dtype);
    const int64_t anchors[] = {0,
                               info->min_int,
                               info->max_int,
                               info->max_int / 2,
                               (int64_t)1 << 24 % info->precision,
                               (int64_t)1 << 11 % info->precision,
                               (int64_t)1 << 53 % info->precision};
    const size_t count = sizeof anchors / sizeof *anchors;

    index %= assay__special_count();
    return wrapped(info, (uint64_t)anchors[index % count] + (uint64_t)(index / count) - 3);
}

int64_t assay__special_integer_turn(assay_dtype from, assay_dtype to, uint64_t bits)
{
    const assay_dtype_info *info = assay_dtype_describe(from), *out = assay_dtype_describe(to);
    int64_t steps = near_steps(bits & 255);
    unsigned length = 1 + (unsigned)(bits >> 8 & 63) % (unsigned)info->precision; /* bits of |v| */
    uint64_t top = (uint64_t)1 << (length - 1), v = top;

    if (out->is_float && (int)length > out->precision && bits >> 63) {
        uint64_t unit = (uint64_t)1 << ((int)length - out->precision);
        v = ((top | (bits >> 16 & (top - 1))) & ~(unit - 1)) + unit / 2;
    } else if ((bits >> 20 & 7) == 0) {
        v = bits >> 23 & 1 ? (uint64_t)info->max_int : 0;
    }
    if (bits >> 62 & 1)
        v = 0 - v;
    return wrapped(info, v + (uint64_t)steps);
}
