/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/ulp_scan_avx2.c -- the inner loop of the error statistics, four elements at a time.
 *
 * Follows calibrate/ulp_scan.c line by line; tests compare the two bit for bit. Entered only
 * behind assay__ulp_scan_best. */
#include "calibrate/ulp_scan.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2")))

typedef struct lanes { /* constants of one call */
    __m256d sign, plain, overflow, max_rel, normal, fixed, integer, half_step, whole_limit,
        unsettled;
    __m256i exponent_mask, mantissa, least, most, scale, scale_limit;
} lanes;

typedef struct sums {
    __m256i plain, zeros, integers;
    __m256d abs, err, rel;
} sums;

static AVX2 __m256i splat(int64_t value)
{
    return _mm256_set1_epi64x((long long)value);
}

static AVX2 lanes lanes_of(const assay_scan_in *in)
{
    const assay_ulp_format *f = in->format;
    lanes c;

    c.sign = _mm256_set1_pd(-0.0);
    c.plain = _mm256_set1_pd(0.4999);
    c.unsettled = _mm256_set1_pd(1e-4);
    c.overflow = _mm256_set1_pd(f->overflow);
    c.max_rel = _mm256_set1_pd(in->max_rel);
    c.normal = _mm256_set1_pd(f->min_normal);
    c.fixed = _mm256_set1_pd(0x1.8p20);
    c.integer = _mm256_set1_pd(0x1.8p52);
    c.half_step = _mm256_set1_pd(0.5 * f->min_subnormal);
    c.whole_limit = _mm256_set1_pd(0x1p51);
    c.exponent_mask = splat(0x7ff);
    c.mantissa = splat(0xfffffffffffff);
    c.least = splat(f->emin + 1023);
    c.most = splat(f->emax + 1023);
    c.scale = splat(2046 + f->precision - 1);
    c.scale_limit = splat(2046);
    return c;
}

static AVX2 __m256d absolute(const lanes *c, __m256d x)
{
    return _mm256_andnot_pd(c->sign, x);
}

/* 1 / q(hi), 0 where that is no double. */
static AVX2 __m256d inverse_quantum(const lanes *c, __m256i hi)
{
    __m256i e = _mm256_and_si256(_mm256_srli_epi64(hi, 52), c->exponent_mask);

    e = _mm256_blendv_epi8(e, c->least, _mm256_cmpgt_epi64(c->least, e));
    e = _mm256_blendv_epi8(e, c->most, _mm256_cmpgt_epi64(e, c->most));
    __m256i scale = _mm256_sub_epi64(c->scale, e);
    __m256i no_double = _mm256_cmpgt_epi64(scale, c->scale_limit);
    return _mm256_castsi256_pd(_mm256_andnot_si256(no_double, _mm256_slli_epi64(scale, 52)));
}

static AVX2 __m256d agree_beyond(const lanes *c, __m256d y, __m256d hi)
{
    const __m256d infinity = _mm256_castsi256_pd(splat(0x7ff0000000000000));
    __m256d y_nan = _mm256_cmp_pd(y, y, _CMP_UNORD_Q), h_nan = _mm256_cmp_pd(hi, hi, _CMP_UNORD_Q);
    __m256d over = _mm256_and_pd(_mm256_cmp_pd(absolute(c, y), infinity, _CMP_EQ_OQ),
                                 _mm256_cmp_pd(absolute(c, hi), c->overflow, _CMP_GT_OQ));
    /* The signs differ where the top bit of the exclusive or is set: not (x < 0 as integer). */
    __m256i differ = _mm256_castpd_si256(_mm256_xor_pd(y, hi));
    __m256d unlike = _mm256_castsi256_pd(_mm256_cmpgt_epi64(_mm256_setzero_si256(), differ));
    return _mm256_or_pd(_mm256_and_pd(y_nan, h_nan), _mm256_andnot_pd(unlike, over));
}

/* Zero of the wrong sign, or a reference just below a power of two. */
static AVX2 __m256d needs_care(const lanes *c, __m256d y, __m256d hi, __m256d lo)
{
    const __m256d zero = _mm256_setzero_pd();
    __m256i power = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_castpd_si256(hi), c->mantissa),
                                       _mm256_setzero_si256());
    __m256d below = _mm256_cmp_pd(_mm256_mul_pd(lo, hi), zero, _CMP_LT_OQ);
    __m256i differ = _mm256_castpd_si256(_mm256_xor_pd(y, hi));
    __m256d unlike = _mm256_castsi256_pd(_mm256_cmpgt_epi64(_mm256_setzero_si256(), differ));
    __m256d y_zero = _mm256_cmp_pd(y, zero, _CMP_EQ_OQ);
    return _mm256_or_pd(_mm256_and_pd(_mm256_castsi256_pd(power), below),
                        _mm256_and_pd(y_zero, unlike));
}

static AVX2 void count_trust(const lanes *c, __m256d hi, __m256d lo, sums *s)
{
    __m256d size = absolute(c, hi);
    __m256d whole = _mm256_sub_pd(_mm256_add_pd(hi, c->integer), c->integer);
    __m256d is_zero = _mm256_cmp_pd(size, c->half_step, _CMP_LE_OQ);
    __m256d is_whole = _mm256_and_pd(_mm256_cmp_pd(whole, hi, _CMP_EQ_OQ),
                                     _mm256_cmp_pd(size, c->whole_limit, _CMP_LT_OQ));
    is_whole = _mm256_and_pd(is_whole, _mm256_cmp_pd(lo, _mm256_setzero_pd(), _CMP_EQ_OQ));
    s->zeros = _mm256_sub_epi64(s->zeros, _mm256_castpd_si256(is_zero));
    s->integers = _mm256_sub_epi64(s->integers, _mm256_castpd_si256(is_whole));
}

/* Rarely true once the largest of a run has been met. */
static AVX2 void raise_rel(const lanes *c, __m256d size, __m256d distance, sums *s)
{
    __m256d above =
        _mm256_and_pd(_mm256_cmp_pd(distance, _mm256_mul_pd(c->max_rel, size), _CMP_GT_OQ),
                      _mm256_cmp_pd(size, c->normal, _CMP_GE_OQ));

    if (_mm256_movemask_pd(above) != 0)
        s->rel = _mm256_max_pd(_mm256_and_pd(_mm256_div_pd(distance, size), above), s->rel);
}

/* Four elements from i on; returns their four mark bits. */
static AVX2 uint64_t scan_four(const assay_scan_in *in, const lanes *c, size_t i, sums *s,
                               double *err_out)
{
    __m256d y = _mm256_loadu_pd(in->y + i), hi = _mm256_loadu_pd(in->hi + i);
    __m256d lo = in->lo ? _mm256_loadu_pd(in->lo + i) : _mm256_setzero_pd();
    __m256d inverse = inverse_quantum(c, _mm256_castpd_si256(hi));
    __m256d distance = absolute(c, _mm256_sub_pd(_mm256_sub_pd(y, hi), lo));
    __m256d err = _mm256_mul_pd(distance, inverse);
    __m256d good = _mm256_and_pd(_mm256_cmp_pd(err, c->plain, _CMP_LT_OQ),
                                 _mm256_cmp_pd(inverse, _mm256_setzero_pd(), _CMP_GT_OQ));
    if (in->bound) {
        __m256d doubt = _mm256_mul_pd(_mm256_loadu_pd(in->bound + i), inverse);
        good = _mm256_and_pd(good, _mm256_cmp_pd(doubt, c->unsettled, _CMP_LE_OQ));
    }
    good = _mm256_andnot_pd(needs_care(c, y, hi, lo), good);
    __m256d beyond = agree_beyond(c, y, hi);
    err = _mm256_andnot_pd(beyond, err);
    distance = _mm256_andnot_pd(beyond, distance);
    good = _mm256_or_pd(good, beyond);
    _mm256_storeu_pd(err_out + i, err);
    __m256i fixed = _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(err, c->fixed)),
                                     _mm256_castpd_si256(c->fixed));
    s->plain = _mm256_add_epi64(s->plain, _mm256_and_si256(fixed, _mm256_castpd_si256(good)));
    distance = _mm256_and_pd(distance, good);
    s->abs = _mm256_max_pd(distance, s->abs);
    s->err = _mm256_max_pd(_mm256_and_pd(err, good), s->err);
    raise_rel(c, absolute(c, hi), distance, s);
    count_trust(c, hi, lo, s);
    return (uint64_t)(_mm256_movemask_pd(good) ^ 15);
}

static AVX2 double max_lanes(__m256d x)
{
    double lane[4], most = 0.0;

    _mm256_storeu_pd(lane, x);
    for (int i = 0; i < 4; i++)
        most = lane[i] > most ? lane[i] : most;
    return most;
}

static AVX2 uint64_t sum_lanes(__m256i x)
{
    uint64_t lane[4];

    _mm256_storeu_si256((__m256i *)(void *)lane, x);
    return lane[0] + lane[1] + lane[2] + lane[3];
}

AVX2 void assay__ulp_scan_avx2(const assay_scan_in *in, assay_scan_out *out)
{
    lanes c = lanes_of(in);
    sums s = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
              _mm256_setzero_pd(),    _mm256_setzero_pd(),    _mm256_setzero_pd()};
    size_t i = 0;

    memset(out->marked, 0, sizeof out->marked);
    for (; i + 4 <= in->count; i += 4)
        out->marked[i / 64] |= scan_four(in, &c, i, &s, out->err) << (i % 64);
    out->plain_sum = sum_lanes(s.plain);
    out->zeros = sum_lanes(s.zeros);
    out->integers = sum_lanes(s.integers);
    out->plain_abs = max_lanes(s.abs);
    out->plain_err = max_lanes(s.err);
    out->plain_rel = max_lanes(s.rel);
    assay__ulp_scan_from(in, i, out);
}

#else

void assay__ulp_scan_avx2(const assay_scan_in *in, assay_scan_out *out)
{
    assay__ulp_scan_portable(in, out);
}

#endif
