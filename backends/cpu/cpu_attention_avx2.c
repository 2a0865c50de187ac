/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_attention_avx2.c -- attention that never holds the scores: blocks of keys pass
 * by strips of queries, whose largest score, sum of weights and sums of values are brought up to
 * date (online softmax: Milakov and Gimelshein, 2018).
 *
 * Work of f32: 2 d FMAs and one exponential of 20 instructions a score.  f16 and bf16 are widened a
 * block at a time, computed in f32 and rounded once. */
#include <stdatomic.h>
#include <string.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu_attention.h"
#include "backends/cpu/cpu_exp_avx2.h"
#include "backends/cpu/cpu_matmul.h"
#include "backends/exp_below_avx2.h"
#include "runtime/host_team.h"

/* MR: keys, or elements of a head, a tile. */
enum { MR = 4, MAX_STRIPS = 8 };
#define TILE_ROWS(X) X(0) X(1) X(2) X(3)

#define OP_load_ps(x)                 _mm256_load_ps(x)
#define OP_store_ps(x, v)             _mm256_store_ps(x, v)
#define OP_broadcast_ps(x)            _mm256_broadcast_ss(x)
#define OP_fmadd_ps(a, b, c)          _mm256_fmadd_ps(a, b, c)
#define OP_add_ps(a, b)               _mm256_add_ps(a, b)
#define OP_sub_ps(a, b)               _mm256_sub_ps(a, b)
#define OP_mul_ps(a, b)               _mm256_mul_ps(a, b)
#define OP_div_ps(a, b)               _mm256_div_ps(a, b)
#define OP_max_ps(a, b)               _mm256_max_ps(a, b)
#define OP_set1_ps(x)                 _mm256_set1_ps(x)
#define OP_setzero_ps()               _mm256_setzero_ps()
#define OP_weigh_ps(x)                exp_below_ps(x)
#define OP_select_less_ps(a, b, x, y) _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ))

#define OP_load_pd(x)                 _mm256_load_pd(x)
#define OP_store_pd(x, v)             _mm256_store_pd(x, v)
#define OP_broadcast_pd(x)            _mm256_broadcast_sd(x)
#define OP_fmadd_pd(a, b, c)          _mm256_fmadd_pd(a, b, c)
#define OP_add_pd(a, b)               _mm256_add_pd(a, b)
#define OP_sub_pd(a, b)               _mm256_sub_pd(a, b)
#define OP_mul_pd(a, b)               _mm256_mul_pd(a, b)
#define OP_div_pd(a, b)               _mm256_div_pd(a, b)
#define OP_max_pd(a, b)               _mm256_max_pd(a, b)
#define OP_set1_pd(x)                 _mm256_set1_pd(x)
#define OP_setzero_pd()               _mm256_setzero_pd()
#define OP_weigh_pd(x)                exp_pd(x)
#define OP_select_less_pd(a, b, x, y) _mm256_blendv_pd(y, x, _mm256_cmp_pd(a, b, _CMP_LT_OQ))

/* ---- f64 ------------------------------------------------------------------------------------- */

#define REAL     double
#define VEC      __m256d
#define LANES    4
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
#define VEC      __m256
#define LANES    8
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

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, load_f16(from + i));
    for (; i < n; i++)
        to[i] = assay_f16_to_f32(from[i]);
}

static void widen_bf16(const uint16_t *from, float *to, int64_t n)
{
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, load_bf16(from + i));
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

CPU_ENTRY(attention_avx2_f64)
{
    return attend_f64(launch);
}

CPU_ENTRY(attention_avx2_f32)
{
    return attend_f32(launch);
}

CPU_ENTRY(attention_avx2_f16)
{
    return attend_f16(launch);
}

CPU_ENTRY(attention_avx2_bf16)
{
    return attend_bf16(launch);
}
