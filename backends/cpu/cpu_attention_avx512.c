/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_attention_avx512.c -- cpu_attention_avx2.c with vectors of 512 bits: 48 queries
 * of f32 a strip, eight rows a tile. */
#include <immintrin.h>
#include <stdatomic.h>
#include <string.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu_attention.h"
#include "backends/cpu/cpu_matmul.h"
#include "runtime/host_team.h"

/* MR: keys, or elements of a head, a tile. */
enum { MR = 8, MAX_STRIPS = 8 };
#define TILE_ROWS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

/* e^x for x <= 0, 0 below -87: see exp_below_avx2.h. */
static inline __m512 weigh_ps(__m512 x)
{
    const __m512 least = _mm512_set1_ps(-87.0f);
    __mmask16 kept = _mm512_cmp_ps_mask(x, least, _CMP_NLT_UQ); /* NaN too */

    x = _mm512_max_ps(least, x);
    __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(0x1.715476p0f)),
                                    _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(-0x1.62e400p-1f), x);
    r = _mm512_fmadd_ps(n, _mm512_set1_ps(-0x1.7f7d1cp-20f), r);
    __m512 q = _mm512_set1_ps(0x1.6a23d0p-10f);
    q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(0x1.123a20p-7f));
    q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(0x1.5558f2p-5f));
    q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(0x1.555492p-3f));
    q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(0x1.fffffcp-2f));
    __m512 p = _mm512_fmadd_ps(_mm512_mul_ps(r, r), q, r);
    p = _mm512_add_ps(p, _mm512_set1_ps(1.0f));
    return _mm512_maskz_scalef_ps(kept, p, n);
}

/* The series of e^r to the 13th power, whose rest is below 2^-57 for |r| <= ln2/2. */
static inline __m512d weigh_pd(__m512d x)
{
    static const double terms[] = {1.0 / 479001600.0,
                                   1.0 / 39916800.0,
                                   1.0 / 3628800.0,
                                   1.0 / 362880.0,
                                   1.0 / 40320.0,
                                   1.0 / 5040.0,
                                   1.0 / 720.0,
                                   1.0 / 120.0,
                                   1.0 / 24.0,
                                   1.0 / 6.0,
                                   0.5};

    x = _mm512_max_pd(_mm512_set1_pd(-746.0), x);
    __m512d n = _mm512_roundscale_pd(_mm512_mul_pd(x, _mm512_set1_pd(0x1.71547652b82fep0)),
                                     _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512d r = _mm512_fmadd_pd(n, _mm512_set1_pd(-0x1.62e42fefa39efp-1), x);
    r = _mm512_fmadd_pd(n, _mm512_set1_pd(-0x1.abc9e3b39803fp-56), r);
    __m512d p = _mm512_set1_pd(1.0 / 6227020800.0);
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        p = _mm512_fmadd_pd(p, r, _mm512_set1_pd(terms[i]));
    p = _mm512_fmadd_pd(_mm512_mul_pd(r, r), p, r);
    return _mm512_scalef_pd(_mm512_add_pd(p, _mm512_set1_pd(1.0)), n);
}

#define OP_load_ps(x)        _mm512_load_ps(x)
#define OP_store_ps(x, v)    _mm512_store_ps(x, v)
#define OP_broadcast_ps(x)   _mm512_set1_ps(*(x))
#define OP_fmadd_ps(a, b, c) _mm512_fmadd_ps(a, b, c)
#define OP_add_ps(a, b)      _mm512_add_ps(a, b)
#define OP_sub_ps(a, b)      _mm512_sub_ps(a, b)
#define OP_mul_ps(a, b)      _mm512_mul_ps(a, b)
#define OP_div_ps(a, b)      _mm512_div_ps(a, b)
#define OP_max_ps(a, b)      _mm512_max_ps(a, b)
#define OP_set1_ps(x)        _mm512_set1_ps(x)
#define OP_setzero_ps()      _mm512_setzero_ps()
#define OP_weigh_ps(x)       weigh_ps(x)
#define OP_select_less_ps(a, b, x, y) \
    _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x)

#define OP_load_pd(x)        _mm512_load_pd(x)
#define OP_store_pd(x, v)    _mm512_store_pd(x, v)
#define OP_broadcast_pd(x)   _mm512_set1_pd(*(x))
#define OP_fmadd_pd(a, b, c) _mm512_fmadd_pd(a, b, c)
#define OP_add_pd(a, b)      _mm512_add_pd(a, b)
#define OP_sub_pd(a, b)      _mm512_sub_pd(a, b)
#define OP_mul_pd(a, b)      _mm512_mul_pd(a, b)
#define OP_div_pd(a, b)      _mm512_div_pd(a, b)
#define OP_max_pd(a, b)      _mm512_max_pd(a, b)
#define OP_set1_pd(x)        _mm512_set1_pd(x)
#define OP_setzero_pd()      _mm512_setzero_pd()
#define OP_weigh_pd(x)       weigh_pd(x)
#define OP_select_less_pd(a, b, x, y) \
    _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ), y, x)

/* ---- f64 ------------------------------------------------------------------------------------- */

#define REAL     double
#define VEC      __m512d
#define LANES    8
#define FN(name) name##_double
#define OP(call) OP_##call##_pd
#include "backends/cpu/cpu_attention_core.h"

#define TYPE          double
#define IN(name)      name##_f64
#define ONE(x)        (x)
#define NARROW_ONE(x) (x)
#define NO_SPAN       1
#include "backends/cpu/cpu_attention_type.h"
#undef TYPE
#undef IN
#undef REAL
#undef VEC
#undef LANES
#undef FN
#undef OP
#undef NV
#undef NQ

/* ---- f32 ------------------------------------------------------------------------------------- */

#define REAL     float
#define VEC      __m512
#define LANES    16
#define FN(name) name##_float
#define OP(call) OP_##call##_ps
#include "backends/cpu/cpu_attention_core.h"

#define TYPE     float
#define IN(name) name##_f32
#include "backends/cpu/cpu_attention_type.h"
#undef TYPE
#undef IN
#undef ONE
#undef NARROW_ONE
#undef NO_SPAN

/* ---- f16 and bf16 ---------------------------------------------------------------------------- */

#define NO_SPAN 0

static void widen_f16(const uint16_t *from, float *to, int64_t n)
{
    int64_t i = 0;

    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(
            to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(from + i))));
    for (; i < n; i++)
        to[i] = assay_f16_to_f32(from[i]);
}

static void widen_bf16(const uint16_t *from, float *to, int64_t n)
{
    int64_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)(from + i));
        _mm512_storeu_ps(to + i,
                         _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16)));
    }
    for (; i < n; i++)
        to[i] = assay_bf16_to_f32(from[i]);
}

#define TYPE       uint16_t
#define IN(name)   name##_f16
#define SPAN       widen_f16
#define ONE        assay_f16_to_f32
#define NARROW_ONE assay_f32_to_f16
#include "backends/cpu/cpu_attention_type.h"
#undef IN
#undef SPAN
#undef ONE
#undef NARROW_ONE

#define IN(name)   name##_bf16
#define SPAN       widen_bf16
#define ONE        assay_bf16_to_f32
#define NARROW_ONE assay_f32_to_bf16
#include "backends/cpu/cpu_attention_type.h"

CPU_ENTRY(attention_avx512_f64)
{
    return attend_f64(launch);
}

CPU_ENTRY(attention_avx512_f32)
{
    return attend_f32(launch);
}

CPU_ENTRY(attention_avx512_f16)
{
    return attend_f16(launch);
}

CPU_ENTRY(attention_avx512_bf16)
{
    return attend_bf16(launch);
}
