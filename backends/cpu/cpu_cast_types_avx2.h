/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_cast_types_avx2.h -- eight values of a type in registers, and between types.
 *
 * Every type is loaded into one of six forms, from which each result is made with one rounding:
 *   d  two vectors of f64                 f64
 *   f  a vector of f32                    f32, f16, bf16, f8e4m3, which it holds exactly
 *   s  a vector of i32, f32 holds it      i8, u8, i16
 *   i  a vector of i32, f64 holds it      i32
 *   u  the same, unsigned                 u32
 *   l  two vectors of i64                 i64
 * Where one rounding would follow another the first is to odd: of an inexact value the last bit is
 * set, which no later rounding to at least two bits less mistakes for a tie (Boldo and Melquiond,
 * 2008).  For files compiled with AVX2, FMA and F16C. */
#ifndef ASSAY_BACKENDS_CPU_CAST_TYPES_AVX2_H
#define ASSAY_BACKENDS_CPU_CAST_TYPES_AVX2_H

#include "backends/cpu/cpu_simd_avx2.h"

typedef struct cast_d {
    __m256d a, b;
} cast_d;

typedef struct cast_l {
    __m256i a, b;
} cast_l;

/* ---- loads ---- */

static inline cast_d cast_load_F64(const char *x)
{
    const double *from = (const double *)(const void *)x;

    return (cast_d){_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4)};
}

static inline __m256 cast_load_F32(const char *x)
{
    return _mm256_loadu_ps((const float *)(const void *)x);
}

static inline __m256 cast_load_F16(const char *x)
{
    return load_f16((const uint16_t *)(const void *)x);
}

/* A NaN comes out quiet. */
static inline __m256 cast_load_BF16(const char *x)
{
    __m256 v = load_bf16((const uint16_t *)(const void *)x);
    __m256 is_nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);

    return _mm256_or_ps(v, _mm256_and_ps(is_nan, _mm256_castsi256_ps(_mm256_set1_epi32(0x400000))));
}

/* Read as f16 the exponent is 8 too small: the bias is 15 instead of 7. */
static inline __m256 cast_load_F8E4M3(const char *x)
{
    __m128i bits = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)x));
    __m128i rest = _mm_and_si128(bits, _mm_set1_epi16(0x7f));
    __m128i sign = _mm_slli_epi16(_mm_and_si128(bits, _mm_set1_epi16(0x80)), 8);
    __m128i half = _mm_or_si128(sign, _mm_slli_epi16(rest, 7));
    __m256 v = _mm256_mul_ps(_mm256_cvtph_ps(half), _mm256_set1_ps(256.0f));
    __m256i is_nan = _mm256_cvtepi16_epi32(_mm_cmpeq_epi16(rest, _mm_set1_epi16(0x7f)));
    __m256 nan = _mm256_or_ps(_mm256_and_ps(v, _mm256_set1_ps(-0.0f)),
                              _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)));

    return _mm256_blendv_ps(v, nan, _mm256_castsi256_ps(is_nan));
}

static inline __m256i cast_load_I8(const char *x)
{
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
}

static inline __m256i cast_load_U8(const char *x)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
}

static inline __m256i cast_load_I16(const char *x)
{
    return _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
}

static inline __m256i cast_load_I32(const char *x)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)x);
}

#define cast_load_U32 cast_load_I32

static inline cast_l cast_load_I64(const char *x)
{
    return (cast_l){cast_load_I32(x), cast_load_I32(x + 32)};
}

/* ---- stores ---- */

static inline void cast_put_32(char *y, __m256i v, bool nontemporal)
{
    if (nontemporal)
        _mm256_stream_si256((__m256i *)(void *)y, v);
    else
        _mm256_storeu_si256((__m256i *)(void *)y, v);
}

static inline void cast_put_16(char *y, __m128i v, bool nontemporal)
{
    store_half((uint16_t *)(void *)y, v, nontemporal);
}

/* The low half. */
static inline void cast_put_8(char *y, __m128i v, bool nontemporal)
{
    if (nontemporal)
        _mm_stream_si64((long long *)(void *)y, _mm_cvtsi128_si64(v));
    else
        _mm_storel_epi64((__m128i *)(void *)y, v);
}

/* ---- pieces ---- */

/* The low halves of four. */
static inline __m128i cast_low_dwords(__m256i v)
{
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);

    return _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(v, even));
}

static inline __m256i cast_join(__m128i low, __m128i high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* The low bytes of eight; the low halves of eight. */
static inline __m128i cast_low_bytes(__m256i v)
{
    const __m256i pick =
        _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12,
                         -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    __m256i four = _mm256_shuffle_epi8(v, pick);

    return _mm_unpacklo_epi32(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
}

static inline __m128i cast_low_words(__m256i v)
{
    const __m256i pick = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1,
                                          0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    __m256i eight = _mm256_shuffle_epi8(v, pick);

    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(eight, 0x08));
}

static inline __m256i cast_low(cast_l v)
{
    return cast_join(cast_low_dwords(v.a), cast_low_dwords(v.b));
}

/* One step of an even last bit toward where the value lies; `differ`: sign bits of the error and
 * the value are not the same. */
static inline __m128i cast_to_odd_32(__m128i bits, __m128i inexact, __m128i differ)
{
    __m128i one = _mm_set1_epi32(1);
    __m128i even = _mm_cmpeq_epi32(_mm_and_si128(bits, one), _mm_setzero_si128());
    __m128i step = _mm_or_si128(_mm_srai_epi32(differ, 31), one);

    return _mm_add_epi32(bits, _mm_and_si128(step, _mm_and_si128(inexact, even)));
}

static inline __m128 cast_odd_half(__m256d x)
{
    __m128 y = _mm256_cvtpd_ps(x);
    __m256d error = _mm256_sub_pd(x, _mm256_cvtps_pd(y));
    __m256d inexact = _mm256_cmp_pd(error, _mm256_setzero_pd(), _CMP_NEQ_OQ);
    __m256i differ = _mm256_castpd_si256(_mm256_xor_pd(error, x));

    return _mm_castsi128_ps(cast_to_odd_32(_mm_castps_si128(y),
                                           cast_low_dwords(_mm256_castpd_si256(inexact)),
                                           cast_low_dwords(_mm256_srli_epi64(differ, 32))));
}

/* f64 to f32, to odd. */
static inline __m256 cast_odd(cast_d v)
{
    return _mm256_set_m128(cast_odd_half(v.b), cast_odd_half(v.a));
}

/* Upper and lower half of i64 as doubles: the exact value is their sum. */
static inline __m256d cast_upper(__m256i v)
{
    __m256i high =
        _mm256_xor_si256(_mm256_srli_epi64(v, 32), _mm256_set1_epi64x(0x4530000080000000));

    return _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(0x1.00000801p84));
}

static inline __m256d cast_lower(__m256i v)
{
    return _mm256_castsi256_pd(_mm256_blend_epi32(_mm256_set1_epi64x(0x4330000000000000), v, 0x55));
}

static inline __m256d cast_odd_double(__m256i v)
{
    __m256d high = cast_upper(v), low = cast_lower(v), sum = _mm256_add_pd(high, low);
    __m256d part = _mm256_sub_pd(sum, high);
    __m256d error =
        _mm256_add_pd(_mm256_sub_pd(high, _mm256_sub_pd(sum, part)), _mm256_sub_pd(low, part));
    __m256i inexact = _mm256_castpd_si256(_mm256_cmp_pd(error, _mm256_setzero_pd(), _CMP_NEQ_OQ));
    __m256i differ =
        _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_castpd_si256(_mm256_xor_pd(error, sum)));
    __m256i bits = _mm256_castpd_si256(sum), one = _mm256_set1_epi64x(1);
    __m256i even = _mm256_cmpeq_epi64(_mm256_and_si256(bits, one), _mm256_setzero_si256());
    __m256i step = _mm256_and_si256(_mm256_or_si256(differ, one), _mm256_and_si256(inexact, even));

    return _mm256_castsi256_pd(_mm256_add_epi64(bits, step));
}

static inline __m256d cast_widen_u32(__m128i v)
{
    __m128i shifted = _mm_xor_si128(v, _mm_set1_epi32(INT32_MIN));

    return _mm256_add_pd(_mm256_cvtepi32_pd(shifted), _mm256_set1_pd(0x1p31));
}

/* Whole numbers of [0, 2^32). */
static inline __m128i cast_narrow_u32(__m256d v)
{
    return _mm_xor_si128(_mm256_cvttpd_epi32(_mm256_sub_pd(v, _mm256_set1_pd(0x1p31))),
                         _mm_set1_epi32(INT32_MIN));
}

/* NaN to 0, then into [lo, hi]. */
static inline __m256d cast_clamp_d(__m256d v, double lo, double hi)
{
    v = _mm256_and_pd(v, _mm256_cmp_pd(v, v, _CMP_ORD_Q));
    return _mm256_min_pd(_mm256_max_pd(v, _mm256_set1_pd(lo)), _mm256_set1_pd(hi));
}

static inline __m256 cast_clamp_f(__m256 v, float lo, float hi)
{
    v = _mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q));
    return _mm256_min_ps(_mm256_max_ps(v, _mm256_set1_ps(lo)), _mm256_set1_ps(hi));
}

/* f32 to f8e4m3, in the low bytes. */
static inline __m256i cast_encode_f8e4m3(__m256 v)
{
    __m256i bits = _mm256_castps_si256(v);
    __m256i rest = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(rest, 20), _mm256_set1_epi32(1));
    __m256i sum = _mm256_add_epi32(rest, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7ffff)));
    __m256i normal =
        _mm256_sub_epi32(_mm256_srli_epi32(sum, 20), _mm256_set1_epi32((127 - 7) << 3));
    /* Below the least normal value a sum of f32 does the rounding: its unit is 2^-9. */
    __m256 shifted = _mm256_add_ps(_mm256_castsi256_ps(rest), _mm256_set1_ps(0x1p14f));
    __m256i small = _mm256_sub_epi32(_mm256_castps_si256(shifted),
                                     _mm256_castps_si256(_mm256_set1_ps(0x1p14f)));
    __m256i is_small = _mm256_cmpgt_epi32(_mm256_set1_epi32((127 - 6) << 23), rest);
    __m256i code =
        _mm256_blendv_epi8(_mm256_min_epi32(normal, _mm256_set1_epi32(0x7f)), small, is_small);
    __m256i sign = _mm256_and_si256(_mm256_srli_epi32(bits, 24), _mm256_set1_epi32(0x80));

    return _mm256_or_si256(code, sign);
}

/* ---- to f64 ---- */

static inline cast_d cast_d_from_d(cast_d v)
{
    return v;
}

static inline cast_d cast_d_from_f(__m256 v)
{
    return (cast_d){_mm256_cvtps_pd(_mm256_castps256_ps128(v)),
                    _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))};
}

static inline cast_d cast_d_from_i(__m256i v)
{
    return (cast_d){_mm256_cvtepi32_pd(_mm256_castsi256_si128(v)),
                    _mm256_cvtepi32_pd(_mm256_extracti128_si256(v, 1))};
}
#define cast_d_from_s cast_d_from_i

static inline cast_d cast_d_from_u(__m256i v)
{
    return (cast_d){cast_widen_u32(_mm256_castsi256_si128(v)),
                    cast_widen_u32(_mm256_extracti128_si256(v, 1))};
}

static inline cast_d cast_d_from_l(cast_l v)
{
    return (cast_d){_mm256_add_pd(cast_upper(v.a), cast_lower(v.a)),
                    _mm256_add_pd(cast_upper(v.b), cast_lower(v.b))};
}

/* ---- to f32: rounded, and to odd for types below it ---- */

static inline __m256 cast_f_from_d(cast_d v)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(v.b), _mm256_cvtpd_ps(v.a));
}

static inline __m256 cast_f_from_f(__m256 v)
{
    return v;
}

static inline __m256 cast_f_from_i(__m256i v)
{
    return _mm256_cvtepi32_ps(v);
}
#define cast_f_from_s cast_f_from_i

static inline __m256 cast_f_from_u(__m256i v)
{
    return cast_f_from_d(cast_d_from_u(v));
}

static inline __m256 cast_f_from_l(cast_l v)
{
    return cast_f_from_d((cast_d){cast_odd_double(v.a), cast_odd_double(v.b)});
}

#define cast_o_from_d    cast_odd
#define cast_o_from_f    cast_f_from_f
#define cast_o_from_s    cast_f_from_s
#define cast_o_from_i(v) cast_odd(cast_d_from_i(v))
#define cast_o_from_u(v) cast_odd(cast_d_from_u(v))

static inline __m256 cast_o_from_l(cast_l v)
{
    return cast_odd((cast_d){cast_odd_double(v.a), cast_odd_double(v.b)});
}

/* ---- to integers of up to 32 bits: those of [lo, hi] from floats, low bits from integers ---- */

static inline __m256i cast_w_from_d(cast_d v, double lo, double hi)
{
    return cast_join(_mm256_cvttpd_epi32(cast_clamp_d(v.a, lo, hi)),
                     _mm256_cvttpd_epi32(cast_clamp_d(v.b, lo, hi)));
}

/* hi below 2^24, which f32 holds. */
static inline __m256i cast_w_from_f(__m256 v, double lo, double hi)
{
    return _mm256_cvttps_epi32(cast_clamp_f(v, (float)lo, (float)hi));
}

#define cast_w_from_s(v, lo, hi) (v)
#define cast_w_from_i(v, lo, hi) (v)
#define cast_w_from_u(v, lo, hi) (v)
#define cast_w_from_l(v, lo, hi) cast_low(v)

/* No f32 is 2^31 - 1. */
static inline __m256i cast_i_from_f(__m256 v)
{
    __m256 over = _mm256_cmp_ps(v, _mm256_set1_ps(0x1p31f), _CMP_GE_OQ);
    __m256i whole = _mm256_cvttps_epi32(cast_clamp_f(v, -0x1p31f, 0x1p31f));

    return _mm256_blendv_epi8(whole, _mm256_set1_epi32(INT32_MAX), _mm256_castps_si256(over));
}

#define cast_i_from_d(v) cast_w_from_d(v, -0x1p31, 0x1p31 - 1.0)
#define cast_i_from_s(v) (v)
#define cast_i_from_i(v) (v)
#define cast_i_from_u(v) (v)
#define cast_i_from_l    cast_low

static inline __m128i cast_half_u32(__m256d v)
{
    return cast_narrow_u32(_mm256_round_pd(cast_clamp_d(v, 0.0, 0x1p32 - 1.0),
                                           _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
}

static inline __m256i cast_u_from_d(cast_d v)
{
    return cast_join(cast_half_u32(v.a), cast_half_u32(v.b));
}

static inline __m256i cast_u_from_f(__m256 v)
{
    return cast_u_from_d(cast_d_from_f(v));
}
#define cast_u_from_s(v) (v)
#define cast_u_from_i(v) (v)
#define cast_u_from_u(v) (v)
#define cast_u_from_l    cast_low

/* ---- to i64 ---- */

static inline __m256i cast_truncate(__m256d x)
{
    __m256d over = _mm256_cmp_pd(x, _mm256_set1_pd(0x1p63), _CMP_GE_OQ);
    __m256d v =
        _mm256_round_pd(cast_clamp_d(x, -0x1p63, 0x1p63), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    __m256d high = _mm256_floor_pd(_mm256_mul_pd(v, _mm256_set1_pd(0x1p-32)));
    __m256d low = _mm256_fnmadd_pd(high, _mm256_set1_pd(0x1p32), v); /* exact, in [0, 2^32) */
    __m256i upper = _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm256_cvttpd_epi32(high)), 32);
    __m256i whole = _mm256_add_epi64(upper, _mm256_cvtepu32_epi64(cast_narrow_u32(low)));

    return _mm256_blendv_epi8(whole, _mm256_set1_epi64x(INT64_MAX), _mm256_castpd_si256(over));
}

static inline cast_l cast_l_from_d(cast_d v)
{
    return (cast_l){cast_truncate(v.a), cast_truncate(v.b)};
}

static inline cast_l cast_l_from_f(__m256 v)
{
    return cast_l_from_d(cast_d_from_f(v));
}

static inline cast_l cast_l_from_i(__m256i v)
{
    return (cast_l){_mm256_cvtepi32_epi64(_mm256_castsi256_si128(v)),
                    _mm256_cvtepi32_epi64(_mm256_extracti128_si256(v, 1))};
}
#define cast_l_from_s cast_l_from_i

static inline cast_l cast_l_from_u(__m256i v)
{
    return (cast_l){_mm256_cvtepu32_epi64(_mm256_castsi256_si128(v)),
                    _mm256_cvtepu32_epi64(_mm256_extracti128_si256(v, 1))};
}

static inline cast_l cast_l_from_l(cast_l v)
{
    return v;
}

/* ---- forms of the types, and a result stored ---- */

#define cast_form_F64(to)    to##_from_d
#define cast_form_F32(to)    to##_from_f
#define cast_form_F16(to)    to##_from_f
#define cast_form_BF16(to)   to##_from_f
#define cast_form_F8E4M3(to) to##_from_f
#define cast_form_I8(to)     to##_from_s
#define cast_form_U8(to)     to##_from_s
#define cast_form_I16(to)    to##_from_s
#define cast_form_I32(to)    to##_from_i
#define cast_form_U32(to)    to##_from_u
#define cast_form_I64(to)    to##_from_l

static inline void cast_store_d(char *y, cast_d v, bool nontemporal)
{
    cast_put_32(y, _mm256_castpd_si256(v.a), nontemporal);
    cast_put_32(y + 32, _mm256_castpd_si256(v.b), nontemporal);
}

static inline void cast_store_l(char *y, cast_l v, bool nontemporal)
{
    cast_put_32(y, v.a, nontemporal);
    cast_put_32(y + 32, v.b, nontemporal);
}

/* Eight elements at x, of type `from`, stored at y. */
#define cast_put_F64(from, x, y, nt) \
    cast_store_d(y, cast_form_##from(cast_d)(cast_load_##from(x)), nt)
#define cast_put_F32(from, x, y, nt) \
    cast_put_32(y, _mm256_castps_si256(cast_form_##from(cast_f)(cast_load_##from(x))), nt)
#define cast_put_F16(from, x, y, nt) \
    cast_put_16(y, round_f16(cast_form_##from(cast_o)(cast_load_##from(x))), nt)
#define cast_put_BF16(from, x, y, nt) \
    cast_put_16(y, round_bf16(cast_form_##from(cast_o)(cast_load_##from(x))), nt)
#define cast_put_F8E4M3(from, x, y, nt) \
    cast_put_8(                         \
        y, cast_low_bytes(cast_encode_f8e4m3(cast_form_##from(cast_o)(cast_load_##from(x)))), nt)
#define cast_put_I8(from, x, y, nt) \
    cast_put_8(y, cast_low_bytes(cast_form_##from(cast_w)(cast_load_##from(x), -128.0, 127.0)), nt)
#define cast_put_U8(from, x, y, nt) \
    cast_put_8(y, cast_low_bytes(cast_form_##from(cast_w)(cast_load_##from(x), 0.0, 255.0)), nt)
#define cast_put_I16(from, x, y, nt) \
    cast_put_16(                     \
        y, cast_low_words(cast_form_##from(cast_w)(cast_load_##from(x), -32768.0, 32767.0)), nt)
#define cast_put_I32(from, x, y, nt) \
    cast_put_32(y, cast_form_##from(cast_i)(cast_load_##from(x)), nt)
#define cast_put_U32(from, x, y, nt) \
    cast_put_32(y, cast_form_##from(cast_u)(cast_load_##from(x)), nt)
#define cast_put_I64(from, x, y, nt) \
    cast_store_l(y, cast_form_##from(cast_l)(cast_load_##from(x)), nt)

#endif
