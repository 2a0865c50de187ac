/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_softmax_avx2.c -- softmax over rows, one pass over memory a row.
 *
 * max, then e^(x - max) with its sum into a buffer, then the scaled result: x comes from memory
 * once and y goes there once.  f32: while the exponentials of a row are computed, the row before it
 * is scaled and written and the row after it is prefetched, so that memory never waits for
 * arithmetic.  max passes over NaN, which comes back with the sum.
 * Longer rows compute e^(x - max) twice.  Sums run over lanes by column number, so that placement
 * changes no bit. */
#include <math.h>

#include "backends/cpu/cpu.h"
#include "backends/cpu/cpu_exp_avx2.h"

enum { KEPT_BYTES = 64 * 1024 };

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
        max = lanes[i] > max ? lanes[i] : max;
    return max;
}

static inline double max_lanes_pd(__m256d v)
{
    double lanes[4], max;

    _mm256_storeu_pd(lanes, v);
    max = lanes[0];
    for (int i = 1; i < 4; i++)
        max = lanes[i] > max ? lanes[i] : max;
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
            m0 = maxi(load(x + i), m0);                                                            \
            m1 = maxi(load(x + i + (lanes)), m1);                                                  \
            m2 = maxi(load(x + i + 2 * (lanes)), m2);                                              \
            m3 = maxi(load(x + i + 3 * (lanes)), m3);                                              \
        }                                                                                          \
        for (; i + (lanes) <= n; i += (lanes))                                                     \
            m0 = maxi(load(x + i), m0);                                                            \
        if (i < n)                                                                                 \
            m1 = maxi(tail_##name(x + i, n - i), m1);                                              \
        return max_of_##name(maxi(maxi(m0, m1), maxi(m2, m3)));                                    \
    }                                                                                              \
    static wide sum_##name(const type *x, wide max, wide *kept, int64_t n)                         \
    {                                                                                              \
        vector top = op(set1)(max), s0 = op(setzero)(), s1 = s0;                                   \
        int64_t i = 0;                                                                             \
        for (; i + 2 * (lanes) <= n; i += 2 * (lanes)) {                                           \
            vector e0 = expo(op(sub)(load(x + i), top));                                           \
            vector e1 = expo(op(sub)(load(x + i + (lanes)), top));                                 \
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
    static void row_##name(const type *x, type *y, int64_t n, bool nontemporal)                    \
    {                                                                                              \
        wide kept[KEPT_BYTES / sizeof(wide) + (lanes)];                                            \
        bool fits = n <= (int64_t)(KEPT_BYTES / sizeof(wide));                                     \
        wide max = max_##name(x, n);                                                               \
        wide sum = sum_##name(x, max, fits ? kept : NULL, n);                                      \
        if (fits)                                                                                  \
            scale_##name(kept, 1 / sum, y, n, nontemporal);                                        \
        else                                                                                       \
            again_##name(x, max, 1 / sum, y, n);                                                   \
    }                                                                                              \
    static void rows_##name(const void *in, void *out, int64_t rows, int64_t cols,                 \
                            bool nontemporal)                                                      \
    {                                                                                              \
        for (int64_t row = 0; row < rows; row++)                                                   \
            row_##name((const type *)in + row * cols, (type *)out + row * cols, cols,              \
                       nontemporal);                                                               \
        if (nontemporal)                                                                           \
            _mm_sfence();                                                                          \
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
           _mm256_max_pd, -INFINITY)
ROW_PASSES(f32, float, float, 8, __m256, _mm256_loadu_ps, store_f32, OP_PS, exp_fast_ps,
           _mm256_max_ps, -INFINITY)
ROW_PASSES(f16, uint16_t, float, 8, __m256, load_f16, store_f16, OP_PS, exp_fast_ps, _mm256_max_ps,
           0xfc00)
ROW_PASSES(bf16, uint16_t, float, 8, __m256, load_bf16, store_bf16, OP_PS, exp_fast_ps,
           _mm256_max_ps, 0xff80)

/* ---- f32, rows in a pipeline ----------------------------------------------------------------- */

enum { KEPT = KEPT_BYTES / sizeof(float) };

/* What is known of a row before its exponentials are computed. */
typedef struct row_range {
    float max;
    bool is_ordinary; /* no |x - max| beyond 87, no NaN */
} row_range;

static row_range range_f32(const float *x, int64_t n)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    __m256 m0 = _mm256_set1_ps(-INFINITY), m1 = m0;
    __m256i size0 = _mm256_setzero_si256(), size1 = size0;
    int64_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + i + 8);
        m0 = _mm256_max_ps(a, m0);
        m1 = _mm256_max_ps(b, m1);
        size0 = _mm256_max_epu32(_mm256_and_si256(_mm256_castps_si256(a), magnitude), size0);
        size1 = _mm256_max_epu32(_mm256_and_si256(_mm256_castps_si256(b), magnitude), size1);
    }
    float max = max_lanes(_mm256_max_ps(m0, m1));
    for (; i < n; i++)
        max = x[i] > max ? x[i] : max;
    /* The bits of 43.5; columns behind the last group take the careful way. */
    size0 = _mm256_cmpgt_epi32(_mm256_max_epu32(size0, size1), _mm256_set1_epi32(0x422e0000));
    return (row_range){max, _mm256_testz_si256(size0, size0) && fabsf(max) <= 43.5f};
}

typedef struct stage {
    const float *x, *next; /* this row and the one to prefetch */
    float *kept;           /* exponentials of the row before, then of this one */
    float *before;         /* where the results of the row before go; NULL: there is none */
    float inverse;         /* of its sum */
    row_range range;
} stage;

static inline __attribute__((always_inline)) void write_one(float *y, const float *kept,
                                                            __m256 factor, int way)
{
    store_f32_by(y, _mm256_mul_ps(_mm256_loadu_ps(kept), factor), way);
}

/* The sum of this row.  Sums run in four vectors by column number. */
static inline __attribute__((always_inline)) float
overlap(const stage *s, int64_t n, bool is_ordinary, bool has_before, int way)
{
    const __m256 top = _mm256_set1_ps(s->range.max), factor = _mm256_set1_ps(s->inverse);
    __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    const float *x = s->x, *next = s->next;
    float *kept = s->kept, *y = s->before;
    int64_t i = 0;

    for (; i + 32 <= n; i += 32) {
        __m256 v0 = _mm256_sub_ps(_mm256_loadu_ps(x + i), top);
        __m256 v1 = _mm256_sub_ps(_mm256_loadu_ps(x + i + 8), top);
        __m256 v2 = _mm256_sub_ps(_mm256_loadu_ps(x + i + 16), top);
        __m256 v3 = _mm256_sub_ps(_mm256_loadu_ps(x + i + 24), top);
        _mm_prefetch((const char *)(next + i), _MM_HINT_T0);
        _mm_prefetch((const char *)(next + i + 16), _MM_HINT_T0);
        if (is_ordinary) {
            exp_two_ps(&v0, &v1);
            exp_two_ps(&v2, &v3);
        } else {
            exp_four_ps(&v0, &v1, &v2, &v3);
        }
        if (has_before) {
            write_one(y + i, kept + i, factor, way);
            write_one(y + i + 8, kept + i + 8, factor, way);
            write_one(y + i + 16, kept + i + 16, factor, way);
            write_one(y + i + 24, kept + i + 24, factor, way);
        }
        _mm256_storeu_ps(kept + i, v0);
        _mm256_storeu_ps(kept + i + 8, v1);
        _mm256_storeu_ps(kept + i + 16, v2);
        _mm256_storeu_ps(kept + i + 24, v3);
        s0 = _mm256_add_ps(s0, v0);
        s1 = _mm256_add_ps(s1, v1);
        s2 = _mm256_add_ps(s2, v2);
        s3 = _mm256_add_ps(s3, v3);
    }
    if (has_before)
        scale_f32(kept + i, s->inverse, y + i, n - i, false);
    for (; i < n; i += 8) {
        __m256 v = i + 8 <= n ? _mm256_loadu_ps(x + i) : tail_f32(x + i, n - i);
        v = exp_fast_ps(_mm256_sub_ps(v, top));
        _mm256_storeu_ps(kept + i, v);
        s0 = _mm256_add_ps(s0, v);
    }
    return sum_lanes(_mm256_add_ps(_mm256_add_ps(s0, s1), _mm256_add_ps(s2, s3)));
}

/* One compiled loop for each case. */
static float run_stage(const stage *s, int64_t n, bool nontemporal)
{
    int way = store_way(s->before, nontemporal);

    if (s->before == NULL)
        return overlap(s, n, false, false, STORE_PLAIN);
    if (!s->range.is_ordinary)
        return overlap(s, n, false, true, way);
    if (way == STORE_STREAM)
        return overlap(s, n, true, true, STORE_STREAM);
    if (way == STORE_STREAM_HALVES)
        return overlap(s, n, true, true, STORE_STREAM_HALVES);
    return overlap(s, n, true, true, STORE_PLAIN);
}

static void pipeline_f32(const float *x, float *y, int64_t rows, int64_t n, bool nontemporal)
{
    float kept[KEPT + 8];
    stage s = {.kept = kept};

    for (int64_t row = 0; row < rows; row++, x += n, y += n) {
        s.x = x;
        s.next = row + 1 < rows ? x + n : x;
        s.range = range_f32(x, n);
        s.inverse = 1.0f / run_stage(&s, n, nontemporal);
        s.before = y;
    }
    scale_f32(kept, s.inverse, s.before, n, nontemporal);
    if (nontemporal)
        _mm_sfence();
}

static void all_rows_f32(const void *x, void *y, int64_t rows, int64_t cols, bool nontemporal)
{
    if (cols <= KEPT)
        pipeline_f32(x, y, rows, cols, nontemporal);
    else
        rows_f32(x, y, rows, cols, nontemporal);
}

CPU_ENTRY(softmax_f64_avx2)
{
    return cpu_run_rows(launch, rows_f64);
}

CPU_ENTRY(softmax_f32_avx2)
{
    return cpu_run_rows(launch, all_rows_f32);
}

CPU_ENTRY(softmax_f16_avx2)
{
    return cpu_run_rows(launch, rows_f16);
}

CPU_ENTRY(softmax_bf16_avx2)
{
    return cpu_run_rows(launch, rows_bf16);
}
