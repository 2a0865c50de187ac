/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_softmax.c -- softmax over rows through the C library, f64 inside.
 *
 * A row is read three times; y is written once, so it may lie over x only when equal to it. */
#include <math.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu.h"

/* row_<name>: load(x, i) gives a double, store(y, i, v) rounds.  e^(x - max) is computed twice
 * rather than kept, as y is too narrow for it. */
#define ROW(name, load, store)                                                     \
    static void row_##name(const void *x, void *y, int64_t cols, bool nontemporal, \
                           const void *next)                                       \
    {                                                                              \
        double max = -INFINITY, sum = 0.0;                                         \
        (void)nontemporal;                                                         \
        (void)next;                                                                \
        for (int64_t i = 0; i < cols; i++)                                         \
            max = load(x, i) > max || isnan(load(x, i)) ? load(x, i) : max;        \
        for (int64_t i = 0; i < cols; i++)                                         \
            sum += exp(load(x, i) - max);                                          \
        for (int64_t i = 0; i < cols; i++)                                         \
            store(y, i, exp(load(x, i) - max) / sum);                              \
    }                                                                              \
    assay_status cpu_softmax_##name(const assay_launch *launch)                    \
    {                                                                              \
        return cpu_run_rows(launch, row_##name);                                   \
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

ROW(f64, load_f64, store_f64)
ROW(f32, load_f32, store_f32)
ROW(f16, load_f16, store_f16)
ROW(bf16, load_bf16, store_bf16)
