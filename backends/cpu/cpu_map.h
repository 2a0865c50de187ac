/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_map.h -- elementwise kernels without special instructions.
 *
 * CPU_UNARY(op, f, g) and CPU_BINARY(op, f, g) define cpu_<op>_{f64,f32,f16,bf16} from scalar
 * functions of double and float.  Halves go through float and are rounded once more. */
#ifndef ASSAY_BACKENDS_CPU_MAP_H
#define ASSAY_BACKENDS_CPU_MAP_H

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu.h"

#define CPU_UNARY_SPAN(op, name, type, expression)                                    \
    static void span_##op##_##name(const void *in, void *out, int64_t n, bool around) \
    {                                                                                 \
        const type *x = in;                                                           \
        type *y = out;                                                                \
        (void)around;                                                                 \
        for (int64_t i = 0; i < n; i++)                                               \
            y[i] = expression;                                                        \
    }                                                                                 \
    CPU_ENTRY(op##_##name)                                                            \
    {                                                                                 \
        return cpu_run_unary(launch, span_##op##_##name);                             \
    }

#define CPU_UNARY(op, f, g)                                                        \
    CPU_UNARY_SPAN(op, f64, double, f(x[i]))                                       \
    CPU_UNARY_SPAN(op, f32, float, g(x[i]))                                        \
    CPU_UNARY_SPAN(op, f16, uint16_t, assay_f32_to_f16(g(assay_f16_to_f32(x[i])))) \
    CPU_UNARY_SPAN(op, bf16, uint16_t, assay_f32_to_bf16(g(assay_bf16_to_f32(x[i]))))

#define CPU_BINARY_SPAN(op, name, type, expression)                                           \
    static void span_##op##_##name(const void *left, const void *right, void *out, int64_t n, \
                                   bool around)                                               \
    {                                                                                         \
        const type *a = left, *b = right;                                                     \
        type *y = out;                                                                        \
        (void)around;                                                                         \
        for (int64_t i = 0; i < n; i++)                                                       \
            y[i] = expression;                                                                \
    }                                                                                         \
    CPU_ENTRY(op##_##name)                                                                    \
    {                                                                                         \
        return cpu_run_binary(launch, span_##op##_##name);                                    \
    }

#define CPU_BINARY(op, f, g)                                                             \
    CPU_BINARY_SPAN(op, f64, double, f(a[i], b[i]))                                      \
    CPU_BINARY_SPAN(op, f32, float, g(a[i], b[i]))                                       \
    CPU_BINARY_SPAN(op, f16, uint16_t,                                                   \
                    assay_f32_to_f16(g(assay_f16_to_f32(a[i]), assay_f16_to_f32(b[i])))) \
    CPU_BINARY_SPAN(op, bf16, uint16_t,                                                  \
                    assay_f32_to_bf16(g(assay_bf16_to_f32(a[i]), assay_bf16_to_f32(b[i]))))

#endif
