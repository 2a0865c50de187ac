/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_product_types_avx2.h -- one type for the templates of sums of products:
 * matmul and convolution.
 *
 * Included once for each type, in order, with PRODUCT_TYPE 64, 32, 16 (f16), 17 (bf16). Defines
 * TYPE of the tensors, REAL of the arithmetic, VEC of LANES of it, FN(name) of the
 * tile, IN(name) for names of this type, SPAN(type *, real *, n) that widens n neighbours,
 * ONE(value), narrow by IN(narrow), NARROW 1 when TYPE is not REAL. */
#include <string.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu_matmul.h"
#include "backends/cpu/cpu_matmul_ops_avx2.h"
#include "backends/cpu/cpu_simd_avx2.h"
#include "runtime/host_team.h"

#if PRODUCT_TYPE == 64

#define REAL     double
#define VEC      __m256d
#define LANES    4
#define FN(name) name##_double
#define OP(call) OP_##call##_pd
#include "backends/cpu/cpu_matmul_tile_avx2.h"

#define TYPE              double
#define IN(name)          name##_f64
#define SPAN(from, to, n) memcpy(to, from, (size_t)(n) * sizeof(double))
#define ONE(x)            (x)
#define NARROW            0

static inline double narrow_f64(double v)
{
    return v;
}

#elif PRODUCT_TYPE == 32

#undef TYPE
#undef IN
#undef SPAN
#undef ONE
#undef REAL
#undef VEC
#undef LANES
#undef FN
#undef OP
#undef NR

#define REAL     float
#define VEC      __m256
#define LANES    8
#define FN(name) name##_float
#define OP(call) OP_##call##_ps
#include "backends/cpu/cpu_matmul_tile_avx2.h"

#define TYPE              float
#define IN(name)          name##_f32
#define SPAN(from, to, n) memcpy(to, from, (size_t)(n) * sizeof(float))
#define ONE(x)            (x)

static inline float narrow_f32(float v)
{
    return v;
}

#elif PRODUCT_TYPE == 16

#undef TYPE
#undef IN
#undef SPAN
#undef ONE
#undef NARROW

#define TYPE   uint16_t
#define NARROW 1

static void widen_f16(const uint16_t *from, float *to, int64_t n)
{
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, load_f16(from + i));
    for (; i < n; i++)
        to[i] = assay_f16_to_f32(from[i]);
}

static inline uint16_t narrow_f16(float v)
{
    return assay_f32_to_f16(v);
}

#define IN(name) name##_f16
#define SPAN     widen_f16
#define ONE      assay_f16_to_f32

#else

#undef IN
#undef SPAN
#undef ONE

static void widen_bf16(const uint16_t *from, float *to, int64_t n)
{
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, load_bf16(from + i));
    for (; i < n; i++)
        to[i] = assay_bf16_to_f32(from[i]);
}

static inline uint16_t narrow_bf16(float v)
{
    return assay_f32_to_bf16(v);
}

#define IN(name) name##_bf16
#define SPAN     widen_bf16
#define ONE      assay_bf16_to_f32

#endif

#undef PRODUCT_TYPE
