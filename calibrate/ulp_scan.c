/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/ulp_scan.c -- the portable inner loop of the error statistics, and the choice. */
#include "calibrate/ulp_scan.h"

#include <math.h>
#include <string.h>

#define PLAIN     0.4999 /* below one half by more than the arithmetic here can err */
#define UNSETTLED 1e-4   /* bounds up to here, in ulps, cannot lift a plain error over a half */
#define FIXED     0x1.8p20
#define INTEGER   0x1.8p52
#define MANTISSA  0xfffffffffffffu
#define EXP_OF(b) (int)((b) >> 52 & 0x7ff)

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 1 / q(hi), for hi not just above a power of two; 0 where that is no double. */
static double inverse_quantum(const assay_ulp_format *format, uint64_t hi)
{
    int exponent = EXP_OF(hi);

    if (exponent < format->emin + 1023)
        exponent = format->emin + 1023;
    if (exponent > format->emax + 1023)
        exponent = format->emax + 1023;
    int scale = 2046 + format->precision - 1 - exponent;
    return scale > 2046 ? 0.0 : double_of((uint64_t)scale << 52);
}

/* Both NaN, or both beyond the largest value on the same side. */
static bool agree_beyond(const assay_ulp_format *format, double y, double hi)
{
    if (isnan(y) || isnan(hi))
        return isnan(y) && isnan(hi);
    return isinf(y) && fabs(hi) > format->overflow && signbit(y) == signbit(hi);
}

/* Error of a plain element; -1 where a closer look is due. */
static double plain_error(const assay_scan_in *in, size_t i, double *abs)
{
    double y = in->y[i], hi = in->hi[i], lo = in->lo ? in->lo[i] : 0.0;
    uint64_t h = bits_of(hi);

    *abs = 0.0;
    if (agree_beyond(in->format, y, hi))
        return 0.0;
    if ((h & MANTISSA) == 0 && lo * hi < 0.0)
        return -1.0; /* just below a power of two: q is half of what hi says */
    if (fabs(y) <= 0.0 && (bits_of(y) ^ h) >> 63)
        return -1.0;
    double inverse = inverse_quantum(in->format, h);
    double distance = fabs((y - hi) - lo), err = distance * inverse;
    if (!(inverse > 0.0) || !(err < PLAIN) || (in->bound && !(in->bound[i] * inverse <= UNSETTLED)))
        return -1.0;
    *abs = distance;
    return err;
}

static void count_trust(const assay_scan_in *in, size_t i, assay_scan_out *out)
{
    double hi = in->hi[i], lo = in->lo ? in->lo[i] : 0.0;
    double whole = (hi + INTEGER) - INTEGER;

    out->zeros += fabs(hi) <= 0.5 * in->format->min_subnormal;
    out->integers += fabs(lo) <= 0.0 && fabs(hi) < 0x1p51 && !(whole < hi) && !(whole > hi);
}

static void raise_rel(const assay_scan_in *in, double size, double abs, assay_scan_out *out)
{
    if (abs > in->max_rel * size && size >= in->format->min_normal && abs / size > out->plain_rel)
        out->plain_rel = abs / size;
}

void assay__ulp_scan_from(const assay_scan_in *in, size_t first, assay_scan_out *out)
{
    for (size_t i = first; i < in->count; i++) {
        double abs, err = plain_error(in, i, &abs);
        count_trust(in, i, out);
        out->err[i] = err;
        if (!(err >= 0.0)) {
            out->marked[i / 64] |= (uint64_t)1 << (i % 64);
            continue;
        }
        out->plain_sum += bits_of(err + FIXED) - bits_of(FIXED);
        if (abs > out->plain_abs)
            out->plain_abs = abs;
        if (err > out->plain_err)
            out->plain_err = err;
        raise_rel(in, fabs(in->hi[i]), abs, out);
    }
}

void assay__ulp_scan_portable(const assay_scan_in *in, assay_scan_out *out)
{
    memset(out->marked, 0, sizeof out->marked);
    out->plain_sum = out->zeros = out->integers = 0;
    out->plain_abs = out->plain_err = out->plain_rel = 0.0;
    assay__ulp_scan_from(in, 0, out);
}

assay_scan_fn assay__ulp_scan_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return assay__ulp_scan_avx2;
#endif
    return assay__ulp_scan_portable;
}
