/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_judge_plain.h -- outputs that are plainly right, counted by less than
 * half of the operations of cuda_judge_point.h.
 *
 * Of all inputs of f32 nine in ten have results that are zero, infinite, the operand or 1, or else
 * miss the reference by little.  One that is less than half a unit off, has the reference's sign
 * and is not among the largest errors is rounded rightly, whatever the bound of the reference
 * leaves open: that is below 2^-17 units here.  Without branches, so that several are under way in
 * a thread.  For C and for CUDA C++, as cuda_judge_point.h. */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_JUDGE_PLAIN_H
#define BACKENDS_CUDA_KERNELS_CUDA_JUDGE_PLAIN_H

#include "backends/cuda/kernels/cuda_judge_point.h"

#define JUDGE_PLAIN 0x7ff00000u /* of 2^-32 units: less than half by far more than any bound */
#define JUDGE_ALONE 2047u       /* likewise: less than JUDGE_NEAR */

/* ---- references ---- */

/* judge_exp of |x| <= 500, to the bit: a normal number, so that scaling it is exact. */
JUDGE_FN double judge_exp_held(double x)
{
    const double shifted = fma(x, 0x1.71547652b82fep+0, JUDGE_WHOLE);
    const double steps = shifted - JUDGE_WHOLE;
    const double r = fma(-steps, 0x1.abc9e3b39803fp-56, fma(-steps, 0x1.62e42fefa39efp-1, x));

    return judge_double(judge_bits(judge_series(r)) + (judge_bits(shifted) << 52));
}

/* x / d within a unit for 1 <= d < 2^1000; of an infinite x, infinite or no number. */
JUDGE_FN double judge_quotient(double x, double d)
{
#ifdef __CUDACC__
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d));
    r = fma(fma(-d, r, 1.0), r, r);
    r = fma(fma(-d, r, 1.0), r, r);
    const double q = x * r;
    return fma(fma(-d, q, x), r, q);
#else
    return x / d;
#endif
}

JUDGE_FN float judge_hold(float x, float most)
{
    return x > most ? most : x < -most ? -most : x;
}

/* Operands beyond `most` have another reference here, which is zero or infinite in every format
 * too: e^500 and x e^-445, of which 2^721 and 2^-513 are left at least and at most. */
JUDGE_FN double judge_plain_wide(int op, float x)
{
    if (op == JUDGE_RELU)
        return x > 0.0f || x != x ? (double)x : 0.0;
    if (op == JUDGE_EXP) {
        const double y = judge_exp_held((double)judge_hold(x, 500.0f));
        return x != x ? judge_double(0x7ff8ull << 48) : y;
    }
    if (op == JUDGE_GELU) {
        const double held = (double)judge_hold(x, 18.0f);
        const double u = -held * (0x1.9884533d43651p+0 + 0x1.2444f2a4d8b4bp-4 * held * held);
        return judge_quotient((double)x, 1.0 + judge_exp_held(u));
    }
    return (double)x;
}

/* The reference of a whole batch where that is a line: slope x + at, or as infinite as its own.  Of
 * f32, whose batches have one sign and exponent; two in three. */
typedef struct judge_line {
    int is_one;
    double slope, at;
} judge_line;

JUDGE_FN judge_line judge_line_of(int op, int in, unsigned first)
{
    const unsigned size = first & 0x7fffffffu;
    const int is_negative = (first >> 31) != 0;
    const judge_line none = {0, 0.0, 0.0}, zero = {1, 0.0, op == JUDGE_EXP ? 0.0 : -0.0};
    const judge_line least = {1, op == JUDGE_EXP ? 0.0 : 0.5, op == JUDGE_EXP ? 1.0 : -0.0};
    const judge_line large = {1, op == JUDGE_EXP ? 0x1p600 : 1.0, -0.0};
    const unsigned begin = op == JUDGE_GELU ? 0x41aa0000u /* 21.25 */
                           : is_negative    ? 0x443a8000u /* 746 */
                                            : 0x43000000u /* 128 */;

    if (in != JUDGE_F32 || (op != JUDGE_EXP && op != JUDGE_GELU))
        return none;
    if (size < (op == JUDGE_EXP ? 0x24000000u : 0x21800000u)) /* 2^-55, 2^-60 */
        return least;
    return size < begin ? none : is_negative ? zero : large;
}

JUDGE_FN float judge_single(int type, unsigned bits)
{
    return type == JUDGE_F32   ? judge_float(bits)
           : type == JUDGE_F16 ? (float)judge_half(bits & 0xffffu)
                               : judge_float(bits << 16);
}

/* ---- who cannot be among the largest ---- */

/* part: in 2^-32 units; apart: the upper half of the bits of |y - r|.  What is below both does not
 * rise (judge_rises). */
typedef struct judge_gate {
    unsigned part, apart;
} judge_gate;

/* An error whose part is below this is below `least`, by its slack of 2^-16 too where it has any.
 */
JUDGE_FN unsigned judge_gate_part(double least)
{
    const double part = (least > JUDGE_SMALL ? least - 0x1p-14 : least) * JUDGE_ONE - 2.0;

    return part < 1.0 ? 0 : part < (double)JUDGE_PLAIN ? (unsigned)part : JUDGE_PLAIN;
}

/* |r| is 2^(precision - 1) units or more where |y - r| / |r| counts. */
JUDGE_FN judge_gate judge_gate_of(int type, int is_exact, const judge_bar *bar)
{
    const double units = (double)(1 << (judge_format_of(type).precision - 1));
    const unsigned by_err = judge_gate_part(bar->least[JUDGE_BY_ERR]);
    const unsigned by_rel = judge_gate_part(bar->least[JUDGE_BY_REL] * units * (1.0 - 0x1p-40));
    const double apart = bar->least[JUDGE_BY_ABS] * (is_exact ? 1.0 : 1.0 - 0x1p-5);
    const judge_gate gate = {by_err < by_rel ? by_err : by_rel,
                             (unsigned)(judge_bits(apart) >> 32)};

    return gate;
}

/* ---- one output ---- */

/* Counts what is plain; false: judge_measure must tell.  hi: of judge_plain_wide or the line. */
JUDGE_FN int judge_count_plain(judge_counts *c, int type, unsigned bits, double hi,
                               const judge_gate *gate)
{
    const judge_format f = judge_format_of(type);
    const double off = fabs(judge_value(type, bits) - hi);
    const judge_u64 h = judge_bits(hi);
    const int field = (int)(h >> 52 & 0x7ff), exponent = field < f.least ? f.least : field;
    const double scale = judge_double((judge_u64)(2077 + f.precision - exponent) << 52);
    const judge_u64 fixed = judge_bits(fma(off, scale, 0x1p52));
    const unsigned part = (unsigned)fixed, apart = (unsigned)(judge_bits(off) >> 32);
    const int is_signed_alike = ((bits & f.sign) != 0) == (int)(h >> 63);
    /* Beside a power of two the bound leaves open how large a unit is. */
    const int is_alone = (unsigned)(h >> 20) + 1u > 1u || part < JUDGE_ALONE;
    const int is_low = apart == 0 || (part < gate->part && apart < gate->apart);
    const int is_within = (unsigned)(fixed >> 32) == 0x43300000u && is_low && is_alone;
    const int is_beyond = (bits & (f.sign - 1u)) == f.infinity && fabs(hi) > f.overflow;
    const int is_plain = is_signed_alike && (is_within || is_beyond);

    c->elements += (unsigned)is_plain;
    c->part += is_plain && is_within ? part : 0;
    c->zeros += (unsigned)(is_plain && judge_is_zero(&f, hi));
    c->integers += (unsigned)(is_plain && judge_is_integer(hi));
    return is_plain;
}

#endif
