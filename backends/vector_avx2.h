/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vector_avx2.h -- vectors of 256 bits under the names of code for either width.
 *
 * Such code includes this or vector_avx512.h first.  V(call) is an intrinsic that both widths have;
 * below stands what they spell differently.  Both give the same bits. */
#ifndef ASSAY_BACKENDS_VECTOR_AVX2_H
#define ASSAY_BACKENDS_VECTOR_AVX2_H

#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define V(call)  _mm256_##call
#define LANES_PS 8
#define LANES_PD 4

/* Multiplications that scale_parts_ps and scaled_ps take. */
enum { SCALE_PARTS = 2 };

typedef __m256 vec_ps;
typedef __m256d vec_pd;
typedef __m256i vec_int;
typedef __m256 mask_ps;
typedef __m256d mask_pd;

#define CMP_PS(a, b, how) _mm256_cmp_ps(a, b, how)
#define CMP_PD(a, b, how) _mm256_cmp_pd(a, b, how)

static inline vec_int bits_of_ps(vec_ps v)
{
    return _mm256_castps_si256(v);
}

static inline vec_int bits_of_pd(vec_pd v)
{
    return _mm256_castpd_si256(v);
}

static inline vec_ps ps_of_bits(vec_int v)
{
    return _mm256_castsi256_ps(v);
}

static inline vec_pd pd_of_bits(vec_int v)
{
    return _mm256_castsi256_pd(v);
}

static inline vec_int set_int64(int64_t x)
{
    return _mm256_set1_epi64x(x);
}

static inline vec_int or_int(vec_int a, vec_int b)
{
    return _mm256_or_si256(a, b);
}

static inline vec_ps select_ps(mask_ps m, vec_ps yes, vec_ps no)
{
    return _mm256_blendv_ps(no, yes, m);
}

static inline vec_pd select_pd(mask_pd m, vec_pd yes, vec_pd no)
{
    return _mm256_blendv_pd(no, yes, m);
}

/* By the sign of x, that of a zero and of a NaN too. */
static inline vec_ps select_negative_ps(vec_ps x, vec_ps yes, vec_ps no)
{
    return _mm256_blendv_ps(no, yes, x);
}

static inline vec_pd select_negative_pd(vec_pd x, vec_pd yes, vec_pd no)
{
    return _mm256_blendv_pd(no, yes, x);
}

/* v, or 0 outside the mask. */
static inline vec_ps keep_ps(mask_ps m, vec_ps v)
{
    return _mm256_and_ps(m, v);
}

static inline vec_pd keep_pd(mask_pd m, vec_pd v)
{
    return _mm256_and_pd(m, v);
}

static inline bool any_ps(mask_ps m)
{
    return _mm256_movemask_ps(m) != 0;
}

static inline vec_pd nearest_pd(vec_pd v)
{
    return _mm256_round_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline vec_pd low_pd(vec_ps v)
{
    return _mm256_cvtps_pd(_mm256_castps256_ps128(v));
}

static inline vec_pd high_pd(vec_ps v)
{
    return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
}

/* Rounds. */
static inline vec_ps join_pd(vec_pd low, vec_pd high)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}

/* v 2^n in two factors, as n = `shifted` - 0x1.8p23 reaches beyond the exponents: the product with
 * one is returned, the other is *scale.  scaled_ps(it, *scale) is rounded once where v is normal,
 * and what is multiplied in between loses nothing. */
static inline vec_ps scale_parts_ps(vec_ps v, vec_ps shifted, vec_ps *scale)
{
    vec_int whole = _mm256_sub_epi32(_mm256_castps_si256(shifted), _mm256_set1_epi32(0x4b400000));
    vec_int half = _mm256_srai_epi32(whole, 1), bias = _mm256_set1_epi32(127);
    vec_int low = _mm256_slli_epi32(_mm256_add_epi32(half, bias), 23);
    vec_int high = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(whole, half), bias), 23);

    *scale = _mm256_castsi256_ps(high);
    return _mm256_mul_ps(v, _mm256_castsi256_ps(low));
}

static inline vec_pd scale_parts_pd(vec_pd v, vec_pd n, vec_pd *scale)
{
    __m128i whole = _mm256_cvtpd_epi32(n), half = _mm_srai_epi32(whole, 1);
    vec_int bias = _mm256_set1_epi64x(1023);
    vec_int low = _mm256_add_epi64(_mm256_cvtepi32_epi64(half), bias);
    vec_int high = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm_sub_epi32(whole, half)), bias);

    *scale = _mm256_castsi256_pd(_mm256_slli_epi64(high, 52));
    return _mm256_mul_pd(v, _mm256_castsi256_pd(_mm256_slli_epi64(low, 52)));
}

static inline vec_ps scaled_ps(vec_ps v, vec_ps scale)
{
    return _mm256_mul_ps(v, scale);
}

static inline vec_pd scaled_pd(vec_pd v, vec_pd scale)
{
    return _mm256_mul_pd(v, scale);
}

/* The same plus something >= 1. */
static inline vec_ps scaled_plus_ps(vec_ps v, vec_ps scale, vec_ps more)
{
    return _mm256_fmadd_ps(v, scale, more);
}

static inline vec_pd scaled_plus_pd(vec_pd v, vec_pd scale, vec_pd more)
{
    return _mm256_fmadd_pd(v, scale, more);
}

/* y, the logarithm of x, but for zero, negative numbers, infinity and NaN. */
static inline vec_ps log_special_ps(vec_ps x, vec_ps y)
{
    const vec_ps zero = _mm256_setzero_ps(), top = _mm256_set1_ps(INFINITY);

    y = _mm256_blendv_ps(y, _mm256_set1_ps(-INFINITY), _mm256_cmp_ps(x, zero, _CMP_EQ_OQ));
    y = _mm256_blendv_ps(y, _mm256_set1_ps(NAN), _mm256_cmp_ps(x, zero, _CMP_NGE_UQ));
    return _mm256_blendv_ps(y, top, _mm256_cmp_ps(x, top, _CMP_EQ_OQ));
}

static inline vec_pd log_special_pd(vec_pd x, vec_pd y)
{
    const vec_pd zero = _mm256_setzero_pd(), top = _mm256_set1_pd(INFINITY);

    y = _mm256_blendv_pd(y, _mm256_set1_pd(-INFINITY), _mm256_cmp_pd(x, zero, _CMP_EQ_OQ));
    y = _mm256_blendv_pd(y, _mm256_set1_pd(NAN), _mm256_cmp_pd(x, zero, _CMP_NGE_UQ));
    return _mm256_blendv_pd(y, top, _mm256_cmp_pd(x, top, _CMP_EQ_OQ));
}

static inline float sum_lanes_ps(vec_ps v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static inline double sum_lanes_pd(vec_pd v)
{
    __m128d s = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));

    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}

/* No lane is NaN. */
static inline float max_lanes_ps(vec_ps v)
{
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

static inline double max_lanes_pd(vec_pd v)
{
    __m128d m = _mm_max_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));

    return _mm_cvtsd_f64(_mm_max_sd(m, _mm_unpackhi_pd(m, m)));
}

/* The first n < LANES_PS elements. */
static inline void store_some_ps(float *y, vec_ps v, int64_t n)
{
    vec_int place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    _mm256_maskstore_ps(y, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), place), v);
}

#endif
