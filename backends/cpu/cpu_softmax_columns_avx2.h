/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_softmax_columns_avx2.h -- softmax and log_softmax along an axis that is not the
 * last: vectors run across the lanes, each lane a line of its own.
 *
 * A block of some columns is walked three times while it lies in the cache: largest elements, sums
 * of e^(x - max), results.  Where they fit, the exponentials are kept beside it.  Every lane sums
 * in order of the axis, so that widths of blocks, threads and placement change no bit.  NaN is
 * passed over by the maximum and comes back with the sum.
 *
 * The including file defines COLUMNS_LOG, 1 for log_softmax, and the entry points, which call
 * run_<dtype>. */
#include <math.h>

#include "backends/cpu/cpu.h"
#include "backends/cpu/cpu_exp_avx2.h"
#include "backends/cpu/cpu_matmul.h"
#include "runtime/host_team.h"

/* Columns of a block; KEPT: elements of the kept exponentials, 256 KiB of f32. */
enum { WIDEST = 64, KEPT = 64 * 1024 };

typedef struct columns {
    const void *x;
    void *y;
    int64_t axis, inner, width, across; /* width: columns of a block, `across` blocks a plane */
    bool keep;
    bool failed; /* atomic: no memory */
} columns;

static inline __m256 log_lanes_ps(__m256 v)
{
    float in[8];

    _mm256_storeu_ps(in, v);
    for (int i = 0; i < 8; i++)
        in[i] = logf(in[i]);
    return _mm256_loadu_ps(in);
}

static inline __m256d log_lanes_pd(__m256d v)
{
    double in[4];

    _mm256_storeu_pd(in, v);
    for (int i = 0; i < 4; i++)
        in[i] = log(in[i]);
    return _mm256_loadu_pd(in);
}

static inline void put_f16(uint16_t *y, __m256 v)
{
    store_half(y, round_f16(v), false);
}

static inline void put_bf16(uint16_t *y, __m256 v)
{
    store_half(y, round_bf16(v), false);
}

static inline void put_f32(float *y, __m256 v)
{
    _mm256_storeu_ps(y, v);
}

static inline void put_f64(double *y, __m256d v)
{
    _mm256_storeu_pd(y, v);
}

/* Rows that memory is asked for before their turn: their distance is beyond what a core sees. */
enum { AHEAD = 8 };

static inline void ask_for(const void *from, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += 64)
        _mm_prefetch((const char *)from + at, _MM_HINT_T0);
}

/* Wide blocks fetch whole lines, narrow ones keep tall columns in the cache and busy all threads.
 */
static int64_t width_of(int64_t outer, int64_t axis, int64_t inner, int64_t lanes, int threads)
{
    int64_t width = WIDEST, least = 2 * lanes;

    while (width > least && axis * width > KEPT)
        width /= 2;
    while (width > least && outer * ((inner + width - 1) / width) < threads)
        width /= 2;
    return width;
}

static assay_status run_columns(const assay_launch *launch, int64_t lanes, assay__host_part_fn part)
{
    const assay_tensor *t = &launch->operands[1];
    int threads = cpu_threads(launch);
    int64_t outer = t->dims[0];
    columns c = {.x = assay_tensor_data(&launch->operands[0]),
                 .y = assay_tensor_data(t),
                 .axis = t->dims[1],
                 .inner = t->dims[2]};

    if (outer == 0 || c.axis == 0 || c.inner == 0)
        return ASSAY_OK;
    c.width = width_of(outer, c.axis, c.inner, lanes, threads);
    c.across = (c.inner + c.width - 1) / c.width;
    c.keep = !COLUMNS_LOG && c.axis * c.width <= KEPT;
    assay__host_team_run(threads, outer * c.across, part, &c);
    return __atomic_load_n(&c.failed, __ATOMIC_RELAXED) ? ASSAY_NOMEM : ASSAY_OK;
}

#define COLUMNS_PS(call) _mm256_##call##_ps
#define COLUMNS_PD(call) _mm256_##call##_pd

/* Rows `step` apart of n < or = WIDEST columns.  What a partial vector lacks is 0, in lanes that
 * are not stored. */
#define COLUMNS(name, type, wide, lanes, vector, fetch, put, op, expo, logs)                      \
    static inline vector some_##name(const type *x, int64_t n)                                    \
    {                                                                                             \
        type in[lanes] = {0};                                                                     \
        if (n >= (lanes))                                                                         \
            return fetch(x);                                                                      \
        memcpy(in, x, (size_t)n * sizeof *x);                                                     \
        return fetch(in);                                                                         \
    }                                                                                             \
    static inline void put_some_##name(type *y, vector v, int64_t n)                              \
    {                                                                                             \
        type out[lanes];                                                                          \
        if (n >= (lanes)) {                                                                       \
            put(y, v);                                                                            \
            return;                                                                               \
        }                                                                                         \
        put(out, v);                                                                              \
        memcpy(y, out, (size_t)n * sizeof *y);                                                    \
    }                                                                                             \
    static void largest_##name(const type *x, int64_t axis, int64_t step, int64_t n, vector *max) \
    {                                                                                             \
        for (int64_t j = 0; j < n; j += (lanes))                                                  \
            max[j / (lanes)] = op(set1)((wide)-INFINITY);                                         \
        for (int64_t i = 0; i < axis; i++, x += step) {                                           \
            ask_for(x + AHEAD * step, i + AHEAD < axis ? n * (int64_t)sizeof *x : 0);             \
            for (int64_t j = 0; j < n; j += (lanes))                                              \
                max[j / (lanes)] = op(max)(some_##name(x + j, n - j), max[j / (lanes)]);          \
        }                                                                                         \
    }                                                                                             \
    static void sums_##name(const type *x, int64_t axis, int64_t step, int64_t n,                 \
                            const vector *max, vector *sum, wide *kept)                           \
    {                                                                                             \
        for (int64_t j = 0; j < n; j += (lanes))                                                  \
            sum[j / (lanes)] = op(setzero)();                                                     \
        for (int64_t i = 0; i < axis; i++, x += step)                                             \
            for (int64_t j = 0; j < n; j += (lanes)) {                                            \
                vector e = expo(op(sub)(some_##name(x + j, n - j), max[j / (lanes)]));            \
                sum[j / (lanes)] = op(add)(sum[j / (lanes)], e);                                  \
                if (kept != NULL) {                                                               \
                    op(store)(kept, e);                                                           \
                    kept += (lanes);                                                              \
                }                                                                                 \
            }                                                                                     \
    }                                                                                             \
    static void scale_##name(const type *x, type *y, int64_t axis, int64_t step, int64_t n,       \
                             const vector *max, const vector *factor, const wide *kept)           \
    {                                                                                             \
        for (int64_t i = 0; i < axis; i++, x += step, y += step) {                                \
            ask_for(y + AHEAD * step, i + AHEAD < axis ? n * (int64_t)sizeof *y : 0);             \
            for (int64_t j = 0; j < n; j += (lanes)) {                                            \
                vector e;                                                                         \
                if (kept != NULL) {                                                               \
                    e = op(load)(kept);                                                           \
                    kept += (lanes);                                                              \
                } else {                                                                          \
                    e = expo(op(sub)(some_##name(x + j, n - j), max[j / (lanes)]));               \
                }                                                                                 \
                put_some_##name(y + j, op(mul)(e, factor[j / (lanes)]), n - j);                   \
            }                                                                                     \
        }                                                                                         \
    }                                                                                             \
    static void subtract_##name(const type *x, type *y, int64_t axis, int64_t step, int64_t n,    \
                                const vector *max, const vector *rest)                            \
    {                                                                                             \
        for (int64_t i = 0; i < axis; i++, x += step, y += step) {                                \
            ask_for(y + AHEAD * step, i + AHEAD < axis ? n * (int64_t)sizeof *y : 0);             \
            for (int64_t j = 0; j < n; j += (lanes)) {                                            \
                vector d = op(sub)(some_##name(x + j, n - j), max[j / (lanes)]);                  \
                put_some_##name(y + j, op(sub)(d, rest[j / (lanes)]), n - j);                     \
            }                                                                                     \
        }                                                                                         \
    }                                                                                             \
    static void block_##name(const columns *c, const type *x, type *y, int64_t n, wide *kept)     \
    {                                                                                             \
        vector max[WIDEST / (lanes)], sum[WIDEST / (lanes)];                                      \
        largest_##name(x, c->axis, c->inner, n, max);                                             \
        sums_##name(x, c->axis, c->inner, n, max, sum, COLUMNS_LOG ? NULL : kept);                \
        for (int64_t j = 0; j < n; j += (lanes))                                                  \
            sum[j / (lanes)] =                                                                    \
                COLUMNS_LOG ? logs(sum[j / (lanes)]) : op(div)(op(set1)(1), sum[j / (lanes)]);    \
        if (COLUMNS_LOG)                                                                          \
            subtract_##name(x, y, c->axis, c->inner, n, max, sum);                                \
        else                                                                                      \
            scale_##name(x, y, c->axis, c->inner, n, max, sum, kept);                             \
    }                                                                                             \
    static void part_##name(void *cookie, int64_t part)                                           \
    {                                                                                             \
        columns *c = cookie;                                                                      \
        int64_t at = part % c->across * c->width, rest = c->inner - at;                           \
        int64_t first = part / c->across * c->axis * c->inner + at;                               \
        wide *kept = NULL;                                                                        \
        if (c->keep) {                                                                            \
            kept = cpu_workspace(1, (size_t)(c->axis * c->width) * sizeof(wide));                 \
            if (kept == NULL) {                                                                   \
                __atomic_store_n(&c->failed, true, __ATOMIC_RELAXED);                             \
                return;                                                                           \
            }                                                                                     \
        }                                                                                         \
        block_##name(c, (const type *)c->x + first, (type *)c->y + first,                         \
                     rest < c->width ? rest : c->width, kept);                                    \
    }                                                                                             \
    static assay_status run_##name(const assay_launch *launch)                                    \
    {                                                                                             \
        return run_columns(launch, lanes, part_##name);                                           \
    }

COLUMNS(f64, double, double, 4, __m256d, _mm256_loadu_pd, put_f64, COLUMNS_PD, exp_pd, log_lanes_pd)
COLUMNS(f32, float, float, 8, __m256, _mm256_loadu_ps, put_f32, COLUMNS_PS, exp_fast_ps,
        log_lanes_ps)
COLUMNS(f16, uint16_t, float, 8, __m256, load_f16, put_f16, COLUMNS_PS, exp_fast_ps, log_lanes_ps)
COLUMNS(bf16, uint16_t, float, 8, __m256, load_bf16, put_bf16, COLUMNS_PS, exp_fast_ps,
        log_lanes_ps)
