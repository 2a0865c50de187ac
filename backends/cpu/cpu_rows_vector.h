/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_rows_vector.h -- vectors along a row: whole ones, then a tail filled up; for
 * vectors of either width: cpu_rows_avx2.h and cpu_rows_avx512.h include it.
 *
 * M(context, name, type, wide, lanes, vector, op, load, store) of CPU_ROW_TYPES defines
 * row_<name>(x, y, n, eps, around); CPU_ROW_RUN(op, level, eps) defines
 * cpu_<op>_<level>_{f64,f32,f16,bf16}.  Sums run in four vectors by column number, whatever the
 * address, so that bits do not depend on it. */
#ifndef ASSAY_BACKENDS_CPU_ROWS_VECTOR_H
#define ASSAY_BACKENDS_CPU_ROWS_VECTOR_H

#include <math.h>

#include "backends/cpu/cpu_rows.h"

#define CPU_OP_PS(call) V(call##_ps)
#define CPU_OP_PD(call) V(call##_pd)

#define cpu_sum_of_f64  sum_lanes_pd
#define cpu_sum_of_f32  sum_lanes_ps
#define cpu_sum_of_f16  sum_lanes_ps
#define cpu_sum_of_bf16 sum_lanes_ps

static inline void cpu_store_f16(uint16_t *y, vec_ps v, bool nontemporal)
{
    store_half(y, round_f16(v), nontemporal);
}

static inline void cpu_store_bf16(uint16_t *y, vec_ps v, bool nontemporal)
{
    store_half(y, round_bf16(v), nontemporal);
}

/* For each dtype: the type in memory, of arithmetic, lanes, vector, calls, load, store. */
#define CPU_ROW_TYPES(M, context)                                                          \
    M(context, f64, double, double, LANES_PD, vec_pd, CPU_OP_PD, V(loadu_pd), store_f64)   \
    M(context, f32, float, float, LANES_PS, vec_ps, CPU_OP_PS, V(loadu_ps), store_f32)     \
    M(context, f16, uint16_t, float, LANES_PS, vec_ps, CPU_OP_PS, load_f16, cpu_store_f16) \
    M(context, bf16, uint16_t, float, LANES_PS, vec_ps, CPU_OP_PS, load_bf16, cpu_store_bf16)

/* tail_<name>(x, n): n < lanes elements, zeros behind them; mask_<name>(n): their lanes. */
#define CPU_ROW_TAIL(unused, name, type, wide, lanes, vector, op, load, store) \
    static inline vector tail_##name(const type *x, int64_t n)                 \
    {                                                                          \
        type in[lanes] = {0};                                                  \
        memcpy(in, x, (size_t)n * sizeof *x);                                  \
        return load(in);                                                       \
    }                                                                          \
    static inline void put_tail_##name(type *y, vector v, int64_t n)           \
    {                                                                          \
        type out[lanes];                                                       \
        store(out, v, false);                                                  \
        memcpy(y, out, (size_t)n * sizeof *y);                                 \
    }

#define CPU_ROW_ENTRY(context, name, type, ...)                                                \
    static bool rows_##name(const void *in, void *out, int64_t rows, int64_t cols, double eps, \
                            bool nontemporal)                                                  \
    {                                                                                          \
        const type *x = in;                                                                    \
        type *y = out;                                                                         \
        for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {                             \
            /* Rows at other addresses go through the cache; one compiled row for each way. */ \
            if (nontemporal && (uintptr_t)y % (4 * LANES_PS) == 0)                             \
                row_##name(x, y, cols, eps, true);                                             \
            else                                                                               \
                row_##name(x, y, cols, eps, false);                                            \
        }                                                                                      \
        if (nontemporal)                                                                       \
            _mm_sfence();                                                                      \
        return true;                                                                           \
    }

#define CPU_ROW_RUN(op, level, eps)                      \
    CPU_ENTRY(op##_##level##_f64)                        \
    {                                                    \
        return cpu_run_rows_eps(launch, eps, rows_f64);  \
    }                                                    \
    CPU_ENTRY(op##_##level##_f32)                        \
    {                                                    \
        return cpu_run_rows_eps(launch, eps, rows_f32);  \
    }                                                    \
    CPU_ENTRY(op##_##level##_f16)                        \
    {                                                    \
        return cpu_run_rows_eps(launch, eps, rows_f16);  \
    }                                                    \
    CPU_ENTRY(op##_##level##_bf16)                       \
    {                                                    \
        return cpu_run_rows_eps(launch, eps, rows_bf16); \
    }

/* Stores around the caches leave the memory's read side idle, and so do loops over a row that is in
 * the caches: the last two loops ask for the next row, half of it each.  Behind the last row there
 * is none, which a prefetch may ask for. */
#define CPU_ROW_NEXT(lanes, from)                                                   \
    do {                                                                            \
        const char *next_ = (const char *)(x + n) + (size_t)(from) * sizeof *x / 2; \
        _mm_prefetch(next_, _MM_HINT_T0);                                           \
        if (2 * (lanes) * sizeof *x > 64) /* half of four vectors */                \
            _mm_prefetch(next_ + 64, _MM_HINT_T0);                                  \
    } while (0)

/* The loops of a row: whole vectors by fours, then one by one, then the tail.  ahead: the first
 * half of the next row is asked for. */
#define CPU_ROW_SUM(name, lanes, vector, op, load, expression, ahead, result)                 \
    do {                                                                                      \
        vector s0_ = op(setzero)(), s1_ = s0_, s2_ = s0_, s3_ = s0_, v_;                      \
        int64_t i_ = 0;                                                                       \
        for (; i_ + 4 * (lanes) <= n; i_ += 4 * (lanes)) {                                    \
            if (ahead)                                                                        \
                CPU_ROW_NEXT(lanes, i_);                                                      \
            v_ = load(x + i_);                                                                \
            s0_ = op(add)(s0_, expression(v_));                                               \
            v_ = load(x + i_ + (lanes));                                                      \
            s1_ = op(add)(s1_, expression(v_));                                               \
            v_ = load(x + i_ + 2 * (lanes));                                                  \
            s2_ = op(add)(s2_, expression(v_));                                               \
            v_ = load(x + i_ + 3 * (lanes));                                                  \
            s3_ = op(add)(s3_, expression(v_));                                               \
        }                                                                                     \
        for (; i_ + (lanes) <= n; i_ += (lanes)) {                                            \
            v_ = load(x + i_);                                                                \
            s0_ = op(add)(s0_, expression(v_));                                               \
        }                                                                                     \
        (result) = cpu_sum_of_##name(op(add)(op(add)(s0_, s1_), op(add)(s2_, s3_)));          \
        if (i_ < n) {                                                                         \
            vector lone_ = op(setzero)();                                                     \
            for (; i_ < n; i_++) { /* one lane each: zeros behind the tail are no elements */ \
                v_ = tail_##name(x + i_, 1);                                                  \
                lone_ = expression(v_);                                                       \
                (result) += cpu_first_##name(lone_);                                          \
            }                                                                                 \
        }                                                                                     \
    } while (0)

#define cpu_first_f64(v)  V(cvtsd_f64)(v)
#define cpu_first_f32(v)  V(cvtss_f32)(v)
#define cpu_first_f16(v)  V(cvtss_f32)(v)
#define cpu_first_bf16(v) V(cvtss_f32)(v)

#define CPU_ROW_MAP(name, lanes, load, store, expression)                                  \
    do {                                                                                   \
        int64_t i_ = 0;                                                                    \
        if (around) {                                                                      \
            for (; i_ + 4 * (lanes) <= n; i_ += 4 * (lanes)) {                             \
                CPU_ROW_NEXT(lanes, n + i_);                                               \
                store(y + i_, expression(load(x + i_)), true);                             \
                store(y + i_ + (lanes), expression(load(x + i_ + (lanes))), true);         \
                store(y + i_ + 2 * (lanes), expression(load(x + i_ + 2 * (lanes))), true); \
                store(y + i_ + 3 * (lanes), expression(load(x + i_ + 3 * (lanes))), true); \
            }                                                                              \
            for (; i_ + (lanes) <= n; i_ += (lanes))                                       \
                store(y + i_, expression(load(x + i_)), true);                             \
        }                                                                                  \
        for (; i_ + (lanes) <= n; i_ += (lanes))                                           \
            store(y + i_, expression(load(x + i_)), false);                                \
        if (i_ < n)                                                                        \
            put_tail_##name(y + i_, expression(tail_##name(x + i_, n - i_)), n - i_);      \
    } while (0)

CPU_ROW_TYPES(CPU_ROW_TAIL, 0)

#endif
