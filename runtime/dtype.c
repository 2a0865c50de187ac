/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/dtype.c -- the table of element types and the conversion of single elements. */
#include "assay/dtype.h"

#include <math.h>
#include <string.h>

#include "assay/dtype_inline.h"
#include "runtime/convert.h"

/* Pasting p, emin and emax into hex constants is impossible; ldexp is no constant expression. */
#define F64_LIMITS    0x1.fffffffffffffp+1023, 0x1p-1022, 0x1p-1074, 0x1p-53
#define F32_LIMITS    0x1.fffffep+127, 0x1p-126, 0x1p-149, 0x1p-24
#define F16_LIMITS    65504.0, 0x1p-14, 0x1p-24, 0x1p-11
#define BF16_LIMITS   0x1.fep+127, 0x1p-126, 0x1p-133, 0x1p-8
#define F8E4M3_LIMITS 448.0, 0x1p-6, 0x1p-9, 0x1p-4
#define F8E5M2_LIMITS 57344.0, 0x1p-14, 0x1p-16, 0x1p-3

static const assay_dtype_info infos[ASSAY_DTYPE_COUNT] = {
#define X(NAME, value, text, type, p, emin, emax, max_bits, over_bits)               \
    [ASSAY_##NAME] = {text,                                                          \
                      sizeof(type),                                                  \
                      true,                                                          \
                      true,                                                          \
                      (max_bits) + 1 == (over_bits) && ASSAY_##NAME != ASSAY_F8E4M3, \
                      p,                                                             \
                      emin,                                                          \
                      emax,                                                          \
                      NAME##_LIMITS,                                                 \
                      0,                                                             \
                      0},
    ASSAY_DTYPE_FLOAT_MAP(X)
#undef X
#define X(NAME, value, text, type, lo, hi)                                                         \
    [ASSAY_##NAME] = {                                                                             \
        text, sizeof(type), false, (lo) < 0, false, (int)sizeof(type) * 8 - ((lo) < 0), 0, 0, NAN, \
        NAN,  NAN,          NAN,   lo,       hi},
        ASSAY_DTYPE_INT_MAP(X)
#undef X
};

const assay_dtype_info *assay_dtype_describe(assay_dtype dtype)
{
    return (unsigned)dtype < ASSAY_DTYPE_COUNT ? &infos[dtype] : NULL;
}

size_t assay_dtype_bytes(assay_dtype dtype)
{
    return (unsigned)dtype < ASSAY_DTYPE_COUNT ? infos[dtype].bytes : 0;
}

const char *assay_dtype_name(assay_dtype dtype)
{
    return (unsigned)dtype < ASSAY_DTYPE_COUNT ? infos[dtype].name : NULL;
}

/* The last four formats fit 16 bits; f64 and f32 are the machine's own. */
typedef struct small_format {
    int precision;
    int emin;
    uint32_t sign;
    uint32_t max_bits;  /* largest finite value */
    uint32_t over_bits; /* what lies beyond: infinity, or NaN without one */
} small_format;

static const small_format small_formats[] = {
#define X(NAME, value, text, type, p, emin, emax, max_bits, over_bits)          \
    [ASSAY_##NAME] = {p, emin, (uint32_t)1 << (8 * (int)sizeof(type) - 1) % 32, \
                      (uint32_t)(max_bits & 0xffffffff), (uint32_t)(over_bits & 0xffffffff)},
    ASSAY_DTYPE_FLOAT_MAP(X)
#undef X
};

/* m / 2^shift to the nearest integer, ties to even; the result is below 2^precision + 1. */
static uint64_t shift_right_nearest(uint64_t m, int shift)
{
    if (shift <= 0)
        return m << -shift;
    if (shift >= 64) /* below half a unit, except above 2^63 at 64 exactly */
        return shift == 64 && m > (uint64_t)1 << 63;
    uint64_t kept = m >> shift;
    uint64_t rest = m & (((uint64_t)1 << shift) - 1);
    uint64_t half = (uint64_t)1 << (shift - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

/* Bits of m * 2^e without sign. The hidden bit of `kept` adds one to the exponent field, which
 * therefore counts from the subnormals; a rounding carry moves on into it by itself. */
static uint32_t pack_magnitude(const small_format *f, uint64_t m, int e, bool sat)
{
    if (m == 0)
        return 0;
    int exponent = e + 63 - __builtin_clzll(m);
    int above = exponent > f->emin ? exponent - f->emin : 0;
    int unit = f->emin + above - (f->precision - 1);
    uint64_t kept = shift_right_nearest(m, unit - e);
    uint64_t bits = ((uint64_t)above << (f->precision - 1)) + kept;

    if (bits > f->max_bits)
        return sat ? f->max_bits : f->over_bits;
    return (uint32_t)bits;
}

/* The quiet bit leads the significand field, so the field is taken from the top of f64's. */
static uint32_t pack_nan(const small_format *f, uint64_t fraction)
{
    uint32_t field = (uint32_t)(fraction >> (53 - f->precision));

    return f->over_bits | 1u << (f->precision - 2) | field;
}

uint32_t assay__pack_f64(assay_dtype dtype, double value, bool sat)
{
    const small_format *f = &small_formats[dtype];
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 63 ? f->sign : 0;
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    int field = (int)(bits >> 52 & 0x7ff);
    if (field == 0x7ff && fraction != 0)
        return sign | pack_nan(f, fraction);
    if (field == 0x7ff)
        return sign | (sat ? f->max_bits : f->over_bits);
    if (field == 0) /* f64's subnormals lie far below half of any small format's smallest value */
        return sign;
    return sign | pack_magnitude(f, fraction | (uint64_t)1 << 52, field - 1075, sat);
}

uint32_t assay__pack_i64(assay_dtype dtype, int64_t value, bool sat)
{
    const small_format *f = &small_formats[dtype];
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    return (value < 0 ? f->sign : 0) | pack_magnitude(f, magnitude, 0, sat);
}

int64_t assay__f64_to_int(double value, int64_t lo, int64_t hi)
{
    /* (double)INT64_MAX is 2^63, the first value that does not fit: >= is right for it too. */
    if (value >= (double)hi)
        return hi;
    if (value <= (double)lo)
        return lo;
    return isnan(value) ? 0 : (int64_t)value;
}

/* Element access by memcpy: no alignment needed, one move each. */
#define LOAD(type, base, index) \
    type element;               \
    memcpy(&element, (const unsigned char *)(base) + (index) * sizeof element, sizeof element)

double assay_load_f64(assay_dtype dtype, const void *base, size_t index)
{
    switch (dtype) {
#define X(NAME, value, text, type, ...)      \
    case ASSAY_##NAME: {                     \
        LOAD(type, base, index);             \
        return assay__widen_##NAME(element); \
    }
        ASSAY_DTYPE_FLOAT_MAP(X)
#undef X
#define X(NAME, value, text, type, ...) \
    case ASSAY_##NAME: {                \
        LOAD(type, base, index);        \
        return (double)element;         \
    }
        ASSAY_DTYPE_INT_MAP(X)
#undef X
    }
    return NAN;
}

static void store(assay_dtype dtype, void *base, size_t index, double value, bool sat)
{
    switch (dtype) {
#define X(NAME, number, text, type, ...)                                                  \
    case ASSAY_##NAME: {                                                                  \
        type element = assay__narrow_##NAME(value, sat);                                  \
        memcpy((unsigned char *)base + index * sizeof element, &element, sizeof element); \
        return;                                                                           \
    }
        ASSAY_DTYPE_FLOAT_MAP(X)
#undef X
#define X(NAME, number, text, type, lo, hi)                                               \
    case ASSAY_##NAME: {                                                                  \
        type element = (type)assay__f64_to_int(value, lo, hi);                            \
        memcpy((unsigned char *)base + index * sizeof element, &element, sizeof element); \
        return;                                                                           \
    }
        ASSAY_DTYPE_INT_MAP(X)
#undef X
    }
}

void assay_store_f64(assay_dtype dtype, void *base, size_t index, double value)
{
    store(dtype, base, index, value, false);
}

void assay_store_f64_sat(assay_dtype dtype, void *base, size_t index, double value)
{
    store(dtype, base, index, value, true);
}

double assay_round_f64(assay_dtype dtype, double value)
{
    unsigned char element[sizeof(double)];

    store(dtype, element, 0, value, false);
    return assay_load_f64(dtype, element, 0);
}
