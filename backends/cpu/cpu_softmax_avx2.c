/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_softmax_avx2.c -- softmax over rows, one pass over memory a row.
 *
 * max, then e^(x - max) with its sum into a buffer in L1, then the scaled result: x comes from
 * memory once and y goes there once.  While exponentials are computed the next row is prefetched.
 * Longer rows compute e^(x - max) twice.  Sums run over lanes by column number, so that placement
 * changes no bit. */
#include <math.h>

#include "backends/cpu/cpu.h"
#include "backends/cpu/cpu_exp_avx2.h"

enum { KEPT_BYTES = 64 * 1024 };

/* NaN in any lane or any step stays. */
static inline __m256 max_keep_nan(__m256 a, __m256 b)
{
    __m256 unordered = _mm256_cmp_ps(a, a, _CMP_UNORD_Q);

    return _mm256_blendv_ps(_mm256_max_ps(a, b), a, unordered);
}

static inline __m256d max_keep_nan_pd(__m256d a, __m256d b)
{
    __m256d unordered = _mm256_cmp_pd(a, a, _CMP_UNORD_Q);

    return _mm256_blendv_pd(_mm256_max_pd(a, b), a, unordered);
}

static inline float sum_lanes(__m256 v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static inline float max_lanes(__m256 v)
{
    float lanes[8], max;

    _mm256_storeu_ps(lanes, v);
    max = lanes[0];
    for (int i = 1; i < 8; i++)
        max = lanes[i] > max || isnan(lanes[i]) ? lanes[i] : max;
    return max;
}

static inline double max_lanes_pd(__m256d v)
{
    double lanes[4], max;

    _mm256_storeu_pd(lanes, v);
    max = lanes[0];
    for (int i = 1; i < 4; i++)
        max = lanes[i] > max || isnan(lanes[i]) ? lanes[i] : max;
    return max;
}

static inline double sum_lanes_pd(__m256d v)
{
    __m128d s = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));

    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}

static inline void store_f16(uint16_t *y, __m256 v, bool nontemporal)
{
    store_half(y, round_f16(v), nontemporal);
}

static inline void store_bf16(uint16_t *y, __m256 v, bool nontemporal)
{
    store_half(y, round_bf16(v), nontemporal);
}

/* A row held in vectors of `lanes`; what a partial vector lacks is -inf, whose e^ is 0. */
#define ROW_PASSES(name, type, wide, lanes, vector, load, store, op, expo, maxi, minus_infinity)   \
    static inline vector tail_##name(const type *x, int64_t n)                                     \
    {                                                                                              \
        type in[lanes];                                                                            \
        for (int i = 0; i < (lanes); i++)                                                          \
            in[i] = minus_infinity;                                                                \
        memcpy(in, x, (size_t)n * sizeof *x);                                                      \
        return load(in);                                                                           \
    }                                                                                              \
    static wide max_##name(const type *x, int64_t n)                                               \
    {                                                                                              \
        vector m0 = op(set1)((wide)-INFINITY), m1 = m0, m2 = m0, m3 = m0;                          \
        int64_t i = 0;                                                                             \
        for (; i + 4 * (lanes) <= n; i += 4 * (lanes)) {                                           \
            m0 = maxi(m0, load(x + i));                                                            \
            m1 = maxi(m1, load(x + i + (lanes)));                                                  \
            m2 = maxi(m2, load(x + i + 2 * (lanes)));                                              \
            m3 = maxi(m3, load(x + i + 3 * (lanes)));                                              \
        }                                                                                          \
        for (; i + (lanes) <= n; i += (lanes))                                                     \
            m0 = maxi(m0, load(x + i));                                                            \
        if (i < n)                                                                                 \
            m1 = maxi(m1, tail_##name(x + i, n - i));                                              \
        return max_of_##name(maxi(maxi(m0, m1), maxi(m2, m3)));                                    \
    }                                                                                              \
    static wide sum_##name(const type *x, wide max, wide *kept, int64_t n, const type *next)       \
    {                                                                                              \
        vector top = op(set1)(max), s0 = op(setzero)(), s1 = s0;                                   \
        int64_t i = 0;                                                                             \
        for (; i + 2 * (lanes) <= n; i += 2 * (lanes)) {                                           \
            vector e0 = expo(op(sub)(load(x + i), top));                                           \
            vector e1 = expo(op(sub)(load(x + i + (lanes)), top));                                 \
            if (next != NULL)                                                                      \
                _mm_prefetch((const char *)(next + i), _MM_HINT_T0);                               \
            if (kept != NULL) {                                                                    \
                op(storeu)(kept + i, e0);                                                          \
                op(storeu)(kept + i + (lanes), e1);                                                \
            }                                                                                      \
            s0 = op(add)(s0, e0);                                                                  \
            s1 = op(add)(s1, e1);                                                                  \
        }                                                                                          \
        for (; i < n; i += (lanes)) {                                                              \
            bool whole = i + (lanes) <= n;                                                         \
            vector v = whole ? load(x + i) : tail_##name(x + i, n - i);                            \
            vector e = expo(op(sub)(v, top));                                                      \
            if (kept != NULL)                                                                      \
                op(storeu)(kept + i, e);                                                           \
            s0 = op(add)(s0, e);                                                                   \
        }                                                                                          \
        return sum_of_##name(op(add)(s0, s1));                                                     \
    }                                                                                              \
    static inline void part_##name(const wide *kept, vector factor, type *y, int64_t n)            \
    {                                                                                              \
        wide in[lanes] = {0};                                                                      \
        type out[lanes];                                                                           \
        memcpy(in, kept, (size_t)n * sizeof *in);                                                  \
        store(out, op(mul)(op(loadu)(in), factor), false);                                         \
        memcpy(y, out, (size_t)n * sizeof *y);                                                     \
    }                                                                                              \
    static void scale_##name(const wide *kept, wide inverse, type *y, int64_t n, bool nontemporal) \
    {                                                                                              \
        vector factor = op(set1)(inverse);                                                         \
        int64_t align = (lanes) * (int64_t)sizeof *y, i = 0;                                       \
        if (nontemporal) {                                                                         \
            i = elements_to_align(y, align, sizeof *y, n);                                         \
            for (int64_t at = 0; at < i; at += (lanes))                                            \
                part_##name(kept + at, factor, y + at, i - at < (lanes) ? i - at : (lanes));       \
            for (; i + (lanes) <= n; i += (lanes))                                                 \
                store(y + i, op(mul)(op(loadu)(kept + i), factor), true);                          \
        } else {                                                                                   \
            for (; i + (lanes) <= n; i += (lanes))                                                 \
                store(y + i, op(mul)(op(loadu)(kept + i), factor), false);                         \
        }                                                                                          \
        if (i < n)                                                                                 \
            part_##name(kept + i, factor, y + i, n - i);                                           \
    }                                                                                              \
    static void again_##name(const type *x, wide max, wide inverse, type *y, int64_t n)            \
    {                                                                                              \
        vector top = op(set1)(max), factor = op(set1)(inverse);                                    \
        int64_t i = 0;                                                                             \
        for (; i + (lanes) <= n; i += (lanes))                                                     \
            store(y + i, op(mul)(expo(op(sub)(load(x + i), top)), factor), false);                 \
        if (i < n) {                                                                               \
            type out[lanes];                                                                       \
            vector e = expo(op(sub)(tail_##name(x + i, n - i), top));                              \
            store(out, op(mul)(e, factor), false);                                                 \
            memcpy(y + i, out, (size_t)(n - i) * sizeof *y);                                       \
        }                                                                                          \
    }                                                                                              \
    static void row_##name(const void *in, void *out, int64_t n, bool nontemporal,                 \
                           const void *next)                                                       \
    {                                                                                              \
        wide kept[KEPT_BYTES / sizeof(wide) + (lanes)];                                            \
        bool fits = n <= (int64_t)(KEPT_BYTES / sizeof(wide));                                     \
        wide max = max_##name(in, n);                                                              \
        wide sum = sum_##name(in, max, fits ? kept : NULL, n, fits ? next : NULL);                 \
        if (fits)                                                                                  \
            scale_##name(kept, 1 / sum, out, n, nontemporal);                                      \
        else                                                                                       \
            again_##name(in, max, 1 / sum, out, n);                                                \
        if (nontemporal)                                                                           \
            _mm_sfence();                                                                          \
    }                                                                                              \
    assay_status cpu_softmax_##name##_avx2(const assay_launch *launch)                             \
    {                                                                                              \
        return cpu_run_rows(launch, row_##name);                                                   \
    }

#define OP_PS(call) _mm256_##call##_ps
#define OP_PD(call) _mm256_##call##_pd

#define max_of_f64  max_lanes_pd
#define max_of_f32  max_lanes
#define max_of_f16  max_lanes
#define max_of_bf16 max_lanes
#define sum_of_f64  sum_lanes_pd
#define sum_of_f32  sum_lanes
#define sum_of_f16  sum_lanes
#define sum_of_bf16 sum_lanes

ROW_PASSES(f64, double, double, 4, __m256d, _mm256_loadu_pd, store_f64, OP_PD, exp_pd,
           max_keep_nan_pd, -INFINITY)
ROW_PASSES(f32, float, float, 8, __m256, _mm256_loadu_ps, store_f32, OP_PS, exp_negative_ps,
           max_keep_nan, -INFINITY)
ROW_PASSES(f16, uint16_t, float, 8, __m256, load_f16, store_f16, OP_PS, exp_negative_ps,
           max_keep_nan, 0xfc00)
ROW_PASSES(bf16, uint16_t, float, 8, __m256, load_bf16, store_bf16, OP_PS, exp_negative_ps,
           max_keep_nan, 0xff80)
