/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_softmax.c -- softmax over rows through the C library, f64 inside.
 *
 * A row is read three times; y is written once, so it may lie over x only when equal to it. */
#include <math.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu.h"

/* rows_<name>: load(x, i) gives a double, store(y, i, v) rounds.  e^(x - max) is computed twice
 * rather than kept, as y is too narrow for it. */
#define ROWS(name, type)                                                               \
    static void row_##name(const type *x, type *y, int64_t cols)                       \
    {                                                                                  \
        double max = -INFINITY, sum = 0.0;                                             \
        for (int64_t i = 0; i < cols; i++) /* NaN comes in with the sum */             \
            max = load_##name(x, i) > max ? load_##name(x, i) : max;                   \
        for (int64_t i = 0; i < cols; i++)                                             \
            sum += exp(load_##name(x, i) - max);                                       \
        for (int64_t i = 0; i < cols; i++)                                             \
            store_##name(y, i, exp(load_##name(x, i) - max) / sum);                    \
    }                                                                                  \
    static void rows_##name(const void *in, void *out, int64_t rows, int64_t cols,     \
                            bool nontemporal)                                          \
    {                                                                                  \
        (void)nontemporal;                                                             \
        for (int64_t row = 0; row < rows; row++)                                       \
            row_##name((const type *)in + row * cols, (type *)out + row * cols, cols); \
    }                                                                                  \
    CPU_ENTRY(softmax_##name)                                                          \
    {                                                                                  \
        return cpu_run_rows(launch, rows_##name);                                      \
    }

static inline double load_f64(const void *x, int64_t i)
{
    return ((const double *)x)[i];
}

static inline double load_f32(const void *x, int64_t i)
{
    return (double)((const float *)x)[i];
}

static inline double load_f16(const void *x, int64_t i)
{
    return (double)assay_f16_to_f32(((const uint16_t *)x)[i]);
}

static inline double load_bf16(const void *x, int64_t i)
{
    return (double)assay_bf16_to_f32(((const uint16_t *)x)[i]);
}

static inline void store_f64(void *y, int64_t i, double v)
{
    ((double *)y)[i] = v;
}

static inline void store_f32(void *y, int64_t i, double v)
{
    ((float *)y)[i] = (float)v;
}

static inline void store_f16(void *y, int64_t i, double v)
{
    ((uint16_t *)y)[i] = assay_f32_to_f16((float)v);
}

static inline void store_bf16(void *y, int64_t i, double v)
{
    ((uint16_t *)y)[i] = assay_f32_to_bf16((float)v);
}

ROWS(f64, double)
ROWS(f32, float)
ROWS(f16, uint16_t)
ROWS(bf16, uint16_t)
