/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_judge_point.h -- one output against its reference in f64.
 *
 * What the host's judge (calibrate/ulp.c, ulp_scan.c) finds, or "look": where this reference's
 * bound could change a count, and where an output is no number that a plain rounding gave.
 * References are those of backends/ref as far as they are plain arithmetic; e^x has a series of its
 * own, good to the same bound.  For C and for CUDA C++, without contraction: what is fused says so.
 */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_JUDGE_POINT_H
#define BACKENDS_CUDA_KERNELS_CUDA_JUDGE_POINT_H

#include "backends/cuda/kernels/cuda_judge_hash.h"

enum { JUDGE_F32, JUDGE_F16, JUDGE_BF16, JUDGE_TYPES };
enum { JUDGE_RELU, JUDGE_GELU, JUDGE_EXP, JUDGE_CAST, JUDGE_OPS };

#define JUDGE_WHOLE 0x1.8p52 /* added and taken away: rounds to an integer */
#define JUDGE_ONE   4294967296.0
#define JUDGE_LARGE 0x1p15  /* errors from here on are summed with care */
#define JUDGE_CAP   0x1p40  /* a larger term counts as this */
#define JUDGE_NEAR  0x1p-21 /* less is no matter of which quantum it is counted in */
#define JUDGE_SMALL 0x1p-10 /* maxima below are those of this reference */

JUDGE_FN judge_u64 judge_bits(double x)
{
#ifdef __CUDACC__
    return (judge_u64)__double_as_longlong(x);
#else
    judge_u64 bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

JUDGE_FN double judge_double(judge_u64 bits)
{
#ifdef __CUDACC__
    return __longlong_as_double((long long)bits);
#else
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

JUDGE_FN float judge_float(unsigned bits)
{
#ifdef __CUDACC__
    return __uint_as_float(bits);
#else
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

/* ---- formats ---- */

typedef struct judge_format {
    int precision;
    int least, most; /* exponents of normal numbers, as f64 codes them */
    unsigned infinity, sign;
    double overflow; /* what is larger rounds to infinity */
    double min_normal, half_least;
} judge_format;

JUDGE_FN judge_format judge_format_of(int type)
{
    const judge_format f32 = {24,       897,     1150, 0x7f800000u, 0x80000000u, 0x1.ffffffp127,
                              0x1p-126, 0x1p-150};
    const judge_format f16 = {11, 1009, 1038, 0x7c00u, 0x8000u, 65520.0, 0x1p-14, 0x1p-25};
    const judge_format bf16 = {8, 897, 1150, 0x7f80u, 0x8000u, 0x1.ffp127, 0x1p-126, 0x1p-134};

    return type == JUDGE_F32 ? f32 : type == JUDGE_F16 ? f16 : bf16;
}

JUDGE_FN double judge_half(unsigned bits)
{
    const unsigned magnitude = bits & 0x7fffu;
    double x = (double)(int)magnitude * 0x1p-24;

    if (magnitude >= 0x7c00u)
        x = (double)judge_float(0x7f800000u | (magnitude & 0x3ffu) << 13);
    else if (magnitude >= 0x400u)
        x = judge_double(((judge_u64)magnitude << 42) + (1008ull << 52));
    return bits & 0x8000u ? -x : x;
}

JUDGE_FN double judge_value(int type, unsigned bits)
{
    return type == JUDGE_F32   ? (double)judge_float(bits)
           : type == JUDGE_F16 ? judge_half(bits & 0xffffu)
                               : (double)judge_float(bits << 16);
}

/* ---- references ---- */

/* 1/n!, which end where the rest is below 2^-57 of the sum. */
JUDGE_FN double judge_series(double r)
{
    double p = 1.0 / 6227020800.0;

    p = fma(p, r, 1.0 / 479001600.0);
    p = fma(p, r, 1.0 / 39916800.0);
    p = fma(p, r, 1.0 / 3628800.0);
    p = fma(p, r, 1.0 / 362880.0);
    p = fma(p, r, 1.0 / 40320.0);
    p = fma(p, r, 1.0 / 5040.0);
    p = fma(p, r, 1.0 / 720.0);
    p = fma(p, r, 1.0 / 120.0);
    p = fma(p, r, 1.0 / 24.0);
    p = fma(p, r, 1.0 / 6.0);
    p = fma(p, r, 0.5);
    p = fma(p, r, 1.0);
    return fma(p, r, 1.0);
}

JUDGE_FN double judge_power(int k) /* 2^k */
{
    return judge_double((judge_u64)(1023 + k) << 52);
}

/* e^x = 2^k e^r, |r| <= ln2 / 2; scaled in two steps, of which the last alone may round. */
JUDGE_FN double judge_exp(double x)
{
    const double held = x > 800.0 ? 800.0 : x < -800.0 ? -800.0 : x;
    const double shifted = fma(held, 0x1.71547652b82fep+0, JUDGE_WHOLE);
    const double steps = shifted - JUDGE_WHOLE;
    const int k = (int)(unsigned)judge_bits(shifted), half = k / 2;
    const double r = fma(-steps, 0x1.abc9e3b39803fp-56, fma(-steps, 0x1.62e42fefa39efp-1, held));
    const double y = judge_series(r) * judge_power(half) * judge_power(k - half);

    return x != x ? x : y;
}

/* The exact result lies within `bound` of hi; lean: by less than any unit, further from zero (1) or
 * nearer (-1); bound and lean 0: hi is it. */
typedef struct judge_reference {
    double hi, bound;
    int lean;
} judge_reference;

/* As backends/ref/ref_gelu.c.  x (1/2 + 0.4 x) of the least x is x / 2 in f64, a tie where that is
 * no number of the output's: eight million of f32. */
JUDGE_FN judge_reference judge_gelu(double x)
{
    const judge_reference least = {0.5 * x, 0.0, x > 0.0 ? 1 : -1};
    const double u = -x * (0x1.9884533d43651p+0 + 0x1.2444f2a4d8b4bp-4 * x * x);
    const double y = x / (1.0 + judge_exp(u));

    judge_reference r = {y, (9.0 + 4.0 * (u > 0.0 ? u : 0.0)) * fabs(y) * 0x1p-52 + 0x1p-1008, 0};
    if (fabs(y) <= 0.0) /* infinity times zero otherwise */
        r.bound = 0x1p-1008;
    return fabs(x) <= 0x1p-60 ? least : r;
}

JUDGE_FN judge_reference judge_wide(int op, double x)
{
    judge_reference r = {x, 0.0, 0};

    if (op == JUDGE_RELU)
        r.hi = x > 0.0 || x != x ? x : 0.0;
    if (op == JUDGE_GELU)
        r = judge_gelu(x);
    if (op == JUDGE_EXP) {
        r.hi = judge_exp(x);
        r.bound = 4.0 * (r.hi * 0x1p-52 + 0x1p-1000);
    }
    return r;
}

/* ---- one output ---- */

typedef struct judge_point {
    double err, abs;         /* in units in the last place of the reference; |y - r| */
    double size;             /* |r| where that is of normal size, else infinity */
    double slack, slack_abs; /* by which the host's figures may differ from these */
    unsigned dist;
    int is_zero_sign_wrong, is_zero, is_integer; /* the latter two of the reference */
} judge_point;

/* Bin 0: up to 1/2; bin i: (2^(i-2), 2^(i-1)]. */
JUDGE_FN int judge_bin(double err)
{
    const int bin = (int)((judge_bits(err) + 0xfffffffffffffu) >> 52) - 1022;

    return err <= 0.5 ? 0 : bin;
}

/* Both no numbers, or both beyond the largest on the same side. */
JUDGE_FN int judge_agree_beyond(const judge_format *f, double y, double hi)
{
    if (y != y || hi != hi)
        return y != y && hi != hi;
    return fabs(y) > 0x1p1000 && fabs(hi) > f->overflow && (y > 0.0) == (hi > 0.0);
}

/* Does the bound leave open the rounding, the size of a unit, or the bin?  t: |r| in units. */
JUDGE_FN int judge_is_open(const judge_format *f, double t, double rest, double err, double b)
{
    const double half = (double)(1 << (f->precision - 1));

    if (!(fabs(0.5 - rest) > b))
        return 1;
    if (err > JUDGE_NEAR && (fabs(t - half) <= 2.0 * b || 2.0 * half - t <= 2.0 * b))
        return 1;
    return err > 0.4999 && judge_bin(err - 2.0 * b) != judge_bin(err + 2.0 * b);
}

JUDGE_FN int judge_is_zero(const judge_format *f, double hi)
{
    return fabs(hi) <= f->half_least;
}

JUDGE_FN int judge_is_integer(double hi)
{
    const double whole = (hi + JUDGE_WHOLE) - JUDGE_WHOLE;

    return fabs(hi) < 0x1p51 && whole <= hi && whole >= hi;
}

/* What is of the reference alone. */
JUDGE_FN void judge_of_reference(const judge_format *f, double hi, judge_point *out)
{
    const double size = fabs(hi);

    out->is_zero = judge_is_zero(f, hi);
    out->is_integer = judge_is_integer(hi);
    out->size = size >= f->min_normal ? size : judge_double(0x7ffull << 52);
}

/* False: the host must look.  bits: of the output; op and type known when compiled. */
JUDGE_FN int judge_measure(int type, unsigned bits, judge_reference r, int is_exact,
                           judge_point *out)
{
    const judge_format f = judge_format_of(type);
    const double hi = r.hi, bound = r.bound;
    const double y = judge_value(type, bits);
    const unsigned have = bits & (f.sign - 1u);
    const int is_negative = (bits & f.sign) != 0, wants_negative = (int)(judge_bits(hi) >> 63);
    int exponent = (int)(judge_bits(hi) >> 52 & 0x7ff);

    judge_of_reference(&f, hi, out);
    out->err = out->abs = out->slack = out->slack_abs = 0.0;
    out->dist = 0;
    out->is_zero_sign_wrong = 0;
    if (have >= f.infinity || !(fabs(hi) <= f.overflow))
        return judge_agree_beyond(&f, y, hi);
    exponent = exponent < f.least ? f.least : exponent > f.most ? f.most : exponent;
    const double inverse = judge_double((judge_u64)(2045 + f.precision - exponent) << 52);
    const double t = fabs(hi) * inverse, b = bound * inverse;
    /* A tie, and what is none stays what it is. */
    const double lean = r.lean > 0 ? 0.25 : r.lean < 0 ? -0.25 : 0.0;
    const double shifted = t + lean + JUDGE_WHOLE, rest = fabs(t - (shifted - JUDGE_WHOLE));
    const unsigned want =
        ((unsigned)(exponent - f.least) << (f.precision - 1)) + (unsigned)judge_bits(shifted);

    if (want >= f.infinity)
        return 0;
    out->abs = fabs(y - hi);
    out->err = out->abs * inverse;
    out->dist = is_negative != wants_negative ? have + want
                : have > want                 ? have - want
                                              : want - have;
    out->is_zero_sign_wrong = have == 0 && want == 0 && is_negative != wants_negative;
    if (have == 0 && out->dist > 1 && want < 1u << (f.precision - 1))
        return 0; /* flushed */
    if (is_exact)
        return 1;
    if (r.lean != 0) /* nearer to zero than a power of two the unit is half as large */
        return !(out->err > JUDGE_NEAR && fabs(t - (double)(1 << (f.precision - 1))) <= 0.0);
    if (out->err > JUDGE_SMALL) {
        out->slack = 2.0 * b;
        out->slack_abs = 2.0 * bound;
    }
    return !judge_is_open(&f, t, rest, out->err, b);
}

/* ---- counting ---- */

enum { JUDGE_BINS = 23, JUDGE_HELD = 8 /* bins 1 to 8 are counted by each thread */ };

/* Of one thread; at most 65,535 elements. */
typedef struct judge_counts {
    unsigned elements, zero_sign, misrounded, over_one, most_dist, zeros, integers;
    judge_u64 part, whole;         /* the sum of errors: part / 2^32 + whole */
    judge_u64 low_bins, high_bins; /* 1 to 4, 5 to 8, 16 bits each */
} judge_counts;

/* The bin where that is not among those held, to be counted elsewhere; else 0. */
JUDGE_FN int judge_count(judge_counts *c, const judge_point *p)
{
    c->elements++;
    c->zero_sign += (unsigned)p->is_zero_sign_wrong;
    c->misrounded += p->dist > 0;
    c->over_one += p->err >= 1.0;
    c->zeros += (unsigned)p->is_zero;
    c->integers += (unsigned)p->is_integer;
    c->most_dist = p->dist > c->most_dist ? p->dist : c->most_dist;
    if (p->err < JUDGE_LARGE) {
        /* The low bits of the shifted number are the integer. */
        c->part += judge_bits(p->err * JUDGE_ONE + 0x1p52) & 0xfffffffffffffu;
    } else {
        const double term = p->err < JUDGE_CAP ? p->err : JUDGE_CAP;
        const judge_u64 whole = (judge_u64)term;
        c->whole += whole;
        c->part += (judge_u64)((((term - (double)whole) * JUDGE_ONE) + 0x1p52) - 0x1p52);
    }
    int bin = judge_bin(p->err);
    if (bin == 0)
        return 0;
    bin = bin < JUDGE_BINS ? bin : JUDGE_BINS - 1;
    if (bin > JUDGE_HELD)
        return bin;
    if (bin <= JUDGE_HELD / 2)
        c->low_bins += 1ull << 16 * (bin - 1);
    else
        c->high_bins += 1ull << 16 * (bin - 1 - JUDGE_HELD / 2);
    return 0;
}

/* What a thread holds of a bin from 1 to JUDGE_HELD. */
JUDGE_FN judge_u64 judge_held(const judge_counts *c, int bin)
{
    const judge_u64 bins = bin <= JUDGE_HELD / 2 ? c->low_bins : c->high_bins;

    return bins >> 16 * ((bin - 1) % (JUDGE_HELD / 2)) & 0xffffu;
}

/* ---- what may be the largest ---- */

enum { JUDGE_BY_ERR, JUDGE_BY_ABS, JUDGE_BY_REL, JUDGE_BESTS };

/* What elements of a tile must reach: the largest so far. */
typedef struct judge_bar {
    double least[JUDGE_BESTS];
} judge_bar;

/* The largest as they are kept: err as a float that is not above it, over the complement of the
 * lowest pattern that has it; the others as bits of doubles. */
JUDGE_FN judge_u64 judge_key(double err, unsigned pattern)
{
    unsigned bits;
    float down = (float)err;

#ifdef __CUDACC__
    bits = __float_as_uint(down);
#else
    __builtin_memcpy(&bits, &down, sizeof bits);
#endif
    bits -= (double)down > err;
    return (judge_u64)bits << 32 | (unsigned)~pattern;
}

/* Of a tile that begins at `first`: behind the pattern that has the largest error it takes more to
 * come first. */
JUDGE_FN judge_bar judge_bar_of(const judge_u64 best[JUDGE_BESTS], unsigned first)
{
    const double err = (double)judge_float((unsigned)(best[JUDGE_BY_ERR] >> 32));
    judge_bar bar;

    bar.least[JUDGE_BY_ERR] =
        judge_double(judge_bits(err) + (first > (unsigned)~best[JUDGE_BY_ERR]));
    bar.least[JUDGE_BY_ABS] = judge_double(best[JUDGE_BY_ABS]);
    bar.least[JUDGE_BY_REL] = judge_double(best[JUDGE_BY_REL]);
    return bar;
}

/* May this be the largest of one kind?  A tile where any is gets a closer look. */
JUDGE_FN int judge_rises(const judge_point *p, const judge_bar *bar)
{
    const double err = p->err + p->slack, abs = p->abs + p->slack_abs;

    return (err >= bar->least[JUDGE_BY_ERR] && err > 0.0) || abs > bar->least[JUDGE_BY_ABS] ||
           abs > bar->least[JUDGE_BY_REL] * p->size * (1.0 - 0x1p-50);
}

/* The least and the most that the host may find of one kind. */
JUDGE_FN double judge_figure(const judge_point *p, int kind, double sign)
{
    const double abs = p->abs + sign * p->slack_abs;
    const double size = p->slack > 0.0 ? p->size * (1.0 - sign * 0x1p-48) : p->size;
    const double figure = kind == JUDGE_BY_ERR   ? p->err + sign * p->slack
                          : kind == JUDGE_BY_ABS ? abs
                                                 : abs / size;

    return figure > 0.0 ? figure : 0.0;
}

/* Whether, in a tile whose largest is `top`, the host may find this larger: by the slack alone,
 * since of exact ones the first that has it is enough. */
JUDGE_FN int judge_may_lead(const judge_point *p, int kind, const judge_bar *bar, double top)
{
    const double most = judge_figure(p, kind, 1.0);

    return p->slack > 0.0 && most >= top && most >= bar->least[kind];
}

/* Whether the largest of a tile is to be looked at. */
JUDGE_FN int judge_leads(int kind, const judge_bar *bar, double top)
{
    return top > 0.0 && (kind == JUDGE_BY_ERR ? top >= bar->least[kind] : top > bar->least[kind]);
}

/* ---- who is in the sample ---- */

/* As calibrate/sample_set.c: the same for 64 consecutive, aligned indices. */
JUDGE_FN unsigned judge_sample_group(judge_u64 index)
{
    const judge_u64 group = index >> 6;
    unsigned h = (unsigned)group ^ (unsigned)(group >> 32) * 0x9e3779b9u;

    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

JUDGE_FN unsigned judge_sample_priority(unsigned group, judge_u64 index)
{
    return (((unsigned)index ^ group) & 63) << 26 | group >> 6;
}

#endif
