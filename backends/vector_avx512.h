/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vector_avx512.h -- vectors of 512 bits under the names of code for either width: see
 * vector_avx2.h, whose bits these functions give. */
#ifndef ASSAY_BACKENDS_VECTOR_AVX512_H
#define ASSAY_BACKENDS_VECTOR_AVX512_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define V(call)  _mm512_##call
#define LANES_PS 16
#define LANES_PD 8

/* Multiplications that scale_parts_ps and scaled_ps take. */
enum { SCALE_PARTS = 1 };

typedef __m512 vec_ps;
typedef __m512d vec_pd;
typedef __m512i vec_int;
typedef __mmask16 mask_ps;
typedef __mmask8 mask_pd;

#define CMP_PS(a, b, how) _mm512_cmp_ps_mask(a, b, how)
#define CMP_PD(a, b, how) _mm512_cmp_pd_mask(a, b, how)

static inline vec_int bits_of_ps(vec_ps v)
{
    return _mm512_castps_si512(v);
}

static inline vec_int bits_of_pd(vec_pd v)
{
    return _mm512_castpd_si512(v);
}

static inline vec_ps ps_of_bits(vec_int v)
{
    return _mm512_castsi512_ps(v);
}

static inline vec_pd pd_of_bits(vec_int v)
{
    return _mm512_castsi512_pd(v);
}

static inline vec_int set_int64(int64_t x)
{
    return _mm512_set1_epi64(x);
}

static inline vec_int or_int(vec_int a, vec_int b)
{
    return _mm512_or_si512(a, b);
}

static inline vec_ps select_ps(mask_ps m, vec_ps yes, vec_ps no)
{
    return _mm512_mask_mov_ps(no, m, yes);
}

static inline vec_pd select_pd(mask_pd m, vec_pd yes, vec_pd no)
{
    return _mm512_mask_mov_pd(no, m, yes);
}

static inline vec_ps select_negative_ps(vec_ps x, vec_ps yes, vec_ps no)
{
    return _mm512_mask_mov_ps(no, _mm512_movepi32_mask(_mm512_castps_si512(x)), yes);
}

static inline vec_pd select_negative_pd(vec_pd x, vec_pd yes, vec_pd no)
{
    return _mm512_mask_mov_pd(no, _mm512_movepi64_mask(_mm512_castpd_si512(x)), yes);
}

static inline vec_ps keep_ps(mask_ps m, vec_ps v)
{
    return _mm512_maskz_mov_ps(m, v);
}

static inline vec_pd keep_pd(mask_pd m, vec_pd v)
{
    return _mm512_maskz_mov_pd(m, v);
}

static inline bool any_ps(mask_ps m)
{
    return m != 0;
}

static inline vec_pd nearest_pd(vec_pd v)
{
    return _mm512_roundscale_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline vec_pd low_pd(vec_ps v)
{
    return _mm512_cvtps_pd(_mm512_castps512_ps256(v));
}

static inline vec_pd high_pd(vec_ps v)
{
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
}

static inline vec_ps join_pd(vec_pd low, vec_pd high)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high),
                              1);
}

/* vscalefps takes any exponent, so that v is returned as it is and *scale is n. */
static inline vec_ps scale_parts_ps(vec_ps v, vec_ps shifted, vec_ps *scale)
{
    *scale = _mm512_sub_ps(shifted, _mm512_set1_ps(0x1.8p23f));
    return v;
}

static inline vec_pd scale_parts_pd(vec_pd v, vec_pd n, vec_pd *scale)
{
    *scale = n;
    return v;
}

static inline vec_ps scaled_ps(vec_ps v, vec_ps scale)
{
    return _mm512_scalef_ps(v, scale);
}

static inline vec_pd scaled_pd(vec_pd v, vec_pd scale)
{
    return _mm512_scalef_pd(v, scale);
}

/* Beside 1 it is nothing that the product itself is rounded where it is subnormal. */
static inline vec_ps scaled_plus_ps(vec_ps v, vec_ps scale, vec_ps more)
{
    return _mm512_add_ps(_mm512_scalef_ps(v, scale), more);
}

static inline vec_pd scaled_plus_pd(vec_pd v, vec_pd scale, vec_pd more)
{
    return _mm512_add_pd(_mm512_scalef_pd(v, scale), more);
}

/* vfixupimm: four bits a class of x say what becomes of y. */
enum { LOG_CLASSES = 0x03530422 };

static inline vec_ps log_special_ps(vec_ps x, vec_ps y)
{
    return _mm512_fixupimm_ps(y, x, _mm512_set1_epi32(LOG_CLASSES), 0);
}

static inline vec_pd log_special_pd(vec_pd x, vec_pd y)
{
    return _mm512_fixupimm_pd(y, x, _mm512_set1_epi64(LOG_CLASSES), 0);
}

static inline float sum_lanes_ps(vec_ps v)
{
    return _mm512_reduce_add_ps(v);
}

static inline double sum_lanes_pd(vec_pd v)
{
    return _mm512_reduce_add_pd(v);
}

/* No lane is NaN. */
static inline float max_lanes_ps(vec_ps v)
{
    return _mm512_reduce_max_ps(v);
}

static inline double max_lanes_pd(vec_pd v)
{
    return _mm512_reduce_max_pd(v);
}

/* The first n < LANES_PS elements. */
static inline void store_some_ps(float *y, vec_ps v, int64_t n)
{
    _mm512_mask_storeu_ps(y, (__mmask16)((1u << n) - 1), v);
}

#endif
