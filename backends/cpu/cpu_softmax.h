/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_softmax.h -- softmax over rows, one pass over memory a row, for vectors of
 * either width: see vector_avx2.h.
 *
 * max, then e^(x - max) with its sum into a buffer, then the scaled result: x comes from memory
 * once and y goes there once.  f32: while the exponentials of a row are computed, the row before it
 * is scaled and written, and half of the row after it is prefetched, the first half having been so
 * while the maximum was looked for: memory never waits for arithmetic.  max passes over NaN, which
 * comes back with the sum.
 * Rows too long for a buffer compute e^(x - max) twice.  Sums run over lanes by column number, so
 * that placement changes no bit.
 *
 * The including file defines, for rows of f32,
 *   row_range, with a member `max`, and row_range range_f32(const float *x, int64_t n, const float
 *     *next), which prefetches the first n / 2 columns of the next row
 *   void weigh_four(vec_ps *v0, ... *v3, const row_range *range): each v to e^v, v <= 0 or NaN. */
#ifndef ASSAY_BACKENDS_CPU_SOFTMAX_H
#define ASSAY_BACKENDS_CPU_SOFTMAX_H

#include "backends/cpu/cpu_matmul.h"
#include "backends/cpu/cpu_rows.h"

/* Exponentials of a row that are kept on the stack, and in the thread's workspace: 262,144 of f32,
 * more than a vocabulary has. */
enum { KEPT_BYTES = 64 * 1024, LONGEST_BYTES = 1024 * 1024 };

/* *kept, which points to KEPT_BYTES on the stack, to where the exponentials of a row have room, or
 * to NULL: they are computed twice.  false: no memory. */
static inline bool find_room(void **kept, size_t bytes)
{
    if (bytes > LONGEST_BYTES)
        *kept = NULL;
    else if (bytes > KEPT_BYTES)
        return (*kept = cpu_workspace(0, bytes + 64)) != NULL;
    return true;
}

static inline void put_f16(uint16_t *y, vec_ps v, bool nontemporal)
{
    store_half(y, round_f16(v), nontemporal);
}

static inline void put_bf16(uint16_t *y, vec_ps v, bool nontemporal)
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
    static void row_##name(const type *x, type *y, int64_t n, wide *kept, bool nontemporal)        \
    {                                                                                              \
        wide max = max_##name(x, n);                                                               \
        wide sum = sum_##name(x, max, kept, n);                                                    \
        if (kept != NULL)                                                                          \
            scale_##name(kept, 1 / sum, y, n, nontemporal);                                        \
        else                                                                                       \
            again_##name(x, max, 1 / sum, y, n);                                                   \
    }                                                                                              \
    static bool rows_##name(const void *in, void *out, int64_t rows, int64_t cols, double eps,     \
                            bool nontemporal)                                                      \
    {                                                                                              \
        wide few[KEPT_BYTES / sizeof(wide) + (lanes)];                                             \
        void *kept = few;                                                                          \
        (void)eps;                                                                                 \
        if (!find_room(&kept, (size_t)cols * sizeof(wide)))                                        \
            return false;                                                                          \
        for (int64_t row = 0; row < rows; row++)                                                   \
            row_##name((const type *)in + row * cols, (type *)out + row * cols, cols, kept,        \
                       nontemporal);                                                               \
        if (nontemporal)                                                                           \
            _mm_sfence();                                                                          \
        return true;                                                                               \
    }

#define OP_PS(call) V(call##_ps)
#define OP_PD(call) V(call##_pd)

#define max_of_f64  max_lanes_pd
#define max_of_f32  max_lanes_ps
#define max_of_f16  max_lanes_ps
#define max_of_bf16 max_lanes_ps
#define sum_of_f64  sum_lanes_pd
#define sum_of_f32  sum_lanes_ps
#define sum_of_f16  sum_lanes_ps
#define sum_of_bf16 sum_lanes_ps

ROW_PASSES(f64, double, double, LANES_PD, vec_pd, V(loadu_pd), store_f64, OP_PD, exp_pd, V(max_pd),
           -INFINITY)
ROW_PASSES(f32, float, float, LANES_PS, vec_ps, V(loadu_ps), store_f32, OP_PS, exp_fast_ps,
           V(max_ps), -INFINITY)
ROW_PASSES(f16, uint16_t, float, LANES_PS, vec_ps, load_f16, put_f16, OP_PS, exp_fast_ps, V(max_ps),
           0xfc00)
ROW_PASSES(bf16, uint16_t, float, LANES_PS, vec_ps, load_bf16, put_bf16, OP_PS, exp_fast_ps,
           V(max_ps), 0xff80)

/* ---- f32, rows in a pipeline ----------------------------------------------------------------- */

enum { STEP = 4 * LANES_PS };

typedef struct stage {
    const float *x, *next; /* this row, and the second half of the one to prefetch */
    float *kept;           /* exponentials of the row before, then of this one */
    float *before;         /* where the results of the row before go; NULL: there is none */
    float inverse;         /* of its sum */
    row_range range;
} stage;

/* Columns [from, to) of the row before, through the cache. */
static void write_span(const stage *s, int64_t from, int64_t to)
{
    const vec_ps factor = V(set1_ps)(s->inverse);

    for (; from + LANES_PS <= to; from += LANES_PS)
        V(storeu_ps)(s->before + from, V(mul_ps)(V(loadu_ps)(s->kept + from), factor));
    if (from < to)
        store_some_ps(s->before + from, V(mul_ps)(V(loadu_ps)(s->kept + from), factor), to - from);
}

typedef struct four_ps {
    vec_ps v0, v1, v2, v3;
} four_ps;

/* STEP exponentials of this row from column i on. */
static inline __attribute__((always_inline)) four_ps weigh(const stage *s, int64_t i)
{
    const vec_ps top = V(set1_ps)(s->range.max);
    const float *x = s->x + i;
    four_ps e = {V(sub_ps)(V(loadu_ps)(x), top), V(sub_ps)(V(loadu_ps)(x + LANES_PS), top),
                 V(sub_ps)(V(loadu_ps)(x + 2 * LANES_PS), top),
                 V(sub_ps)(V(loadu_ps)(x + 3 * LANES_PS), top)};

    _mm_prefetch((const char *)(s->next + i / 2), _MM_HINT_T0);
    if (STEP == 64)
        _mm_prefetch((const char *)(s->next + i / 2 + 16), _MM_HINT_T0);
    weigh_four(&e.v0, &e.v1, &e.v2, &e.v3, &s->range);
    return e;
}

static inline __attribute__((always_inline)) void keep(float *kept, four_ps e, four_ps *sums)
{
    V(storeu_ps)(kept, e.v0);
    V(storeu_ps)(kept + LANES_PS, e.v1);
    V(storeu_ps)(kept + 2 * LANES_PS, e.v2);
    V(storeu_ps)(kept + 3 * LANES_PS, e.v3);
    sums->v0 = V(add_ps)(sums->v0, e.v0);
    sums->v1 = V(add_ps)(sums->v1, e.v1);
    sums->v2 = V(add_ps)(sums->v2, e.v2);
    sums->v3 = V(add_ps)(sums->v3, e.v3);
}

static inline __attribute__((always_inline)) void write_one(float *y, const float *kept,
                                                            vec_ps factor, bool around)
{
    store_f32(y, V(mul_ps)(V(loadu_ps)(kept), factor), around);
}

static inline __attribute__((always_inline)) void write_four(float *y, const float *kept,
                                                             vec_ps factor, bool around)
{
    write_one(y, kept, factor, around);
    write_one(y + LANES_PS, kept + LANES_PS, factor, around);
    write_one(y + 2 * LANES_PS, kept + 2 * LANES_PS, factor, around);
    write_one(y + 3 * LANES_PS, kept + 3 * LANES_PS, factor, around);
}

/* The sum of this row, in four vectors by column number; the row before goes to memory, whole
 * vectors from an aligned address on where it goes around the cache. */
static inline __attribute__((always_inline)) float overlap(const stage *s, int64_t n,
                                                           bool has_before, bool around)
{
    const vec_ps factor = V(set1_ps)(s->inverse), zero = V(setzero_ps)();
    four_ps e, sums = {zero, zero, zero, zero};
    int64_t lead = around ? elements_to_align(s->before, 4 * LANES_PS, 4, n) : 0, i = 0;

    if (around)
        write_span(s, 0, lead);
    for (; i + STEP + lead <= n; i += STEP) {
        e = weigh(s, i);
        if (has_before)
            write_four(s->before + i + lead, s->kept + i + lead, factor, around);
        keep(s->kept + i, e, &sums);
    }
    if (has_before)
        write_span(s, i + lead, n);
    for (; i + STEP <= n; i += STEP) {
        e = weigh(s, i);
        keep(s->kept + i, e, &sums);
    }
    for (; i < n; i += LANES_PS) {
        vec_ps lone = i + LANES_PS <= n ? V(loadu_ps)(s->x + i) : tail_f32(s->x + i, n - i);
        lone = exp_fast_ps(V(sub_ps)(lone, V(set1_ps)(s->range.max)));
        V(storeu_ps)(s->kept + i, lone);
        sums.v0 = V(add_ps)(sums.v0, lone);
    }
    return sum_lanes_ps(V(add_ps)(V(add_ps)(sums.v0, sums.v1), V(add_ps)(sums.v2, sums.v3)));
}

/* One compiled loop for each case. */
static float run_stage(const stage *s, int64_t n, bool nontemporal)
{
    if (s->before == NULL)
        return overlap(s, n, false, false);
    return nontemporal ? overlap(s, n, true, true) : overlap(s, n, true, false);
}

static void pipeline_f32(const float *x, float *y, int64_t rows, int64_t n, float *kept,
                         bool nontemporal)
{
    stage s = {.kept = kept};

    for (int64_t row = 0; row < rows; row++, x += n, y += n) {
        s.x = x;
        const float *next = row + 1 < rows ? x + n : x;
        s.next = next + n / 2;
        s.range = range_f32(x, n, next);
        s.inverse = 1.0f / run_stage(&s, n, nontemporal);
        s.before = y;
    }
    write_span(&s, 0, n);
    if (nontemporal)
        _mm_sfence();
}

static bool all_rows_f32(const void *x, void *y, int64_t rows, int64_t cols, double eps,
                         bool nontemporal)
{
    float few[KEPT_BYTES / sizeof(float) + LANES_PS];
    void *kept = few;

    if (!find_room(&kept, (size_t)cols * sizeof *few))
        return false;
    if (kept == NULL)
        return rows_f32(x, y, rows, cols, eps, nontemporal);
    pipeline_f32(x, y, rows, cols, kept, nontemporal);
    return true;
}

#endif
