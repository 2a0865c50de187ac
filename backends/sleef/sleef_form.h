/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/sleef/sleef_form.h -- functions that SLEEF lacks, made of those that it has; for vectors
 * of the width that was included before.
 *
 * As frameworks make them, PyTorch's CPU kernels among them, but for sigmoid and silu: 1 / (1 +
 * e^-x) overflows inside where its result is subnormal, so negative arguments take e^x / (1 + e^x),
 * and the e^x that multiplies x comes in two halves, each of them normal.
 *
 * The rest of an array takes the same path as whole vectors, so that no cut changes a bit. */
#ifndef ASSAY_BACKENDS_SLEEF_FORM_H
#define ASSAY_BACKENDS_SLEEF_FORM_H

#include <string.h>

#include "backends/sleef/sleef_calls.h"

/* ps or pd, the suffix of intrinsics, and its element. */
#define SLEEF_FORMS(ps, real, lanes)                                                           \
    typedef vec_##ps (*function_##ps)(vec_##ps);                                               \
    typedef vec_##ps (*form_##ps)(function_##ps f, vec_##ps x);                                \
                                                                                               \
    static inline vec_##ps minus_size_##ps(vec_##ps x)                                         \
    {                                                                                          \
        return ps##_of_bits(or_int(bits_of_##ps(x), bits_of_##ps(V(set1_##ps)((real)-0.0))));  \
    }                                                                                          \
                                                                                               \
    static inline vec_##ps sigmoid_##ps(function_##ps f, vec_##ps x)                           \
    {                                                                                          \
        const vec_##ps one = V(set1_##ps)((real)1.0);                                          \
        vec_##ps e = f(minus_size_##ps(x));                                                    \
                                                                                               \
        return V(div_##ps)(select_negative_##ps(x, e, one), V(add_##ps)(one, e));              \
    }                                                                                          \
                                                                                               \
    static inline vec_##ps silu_##ps(function_##ps f, vec_##ps x)                              \
    {                                                                                          \
        const vec_##ps one = V(set1_##ps)((real)1.0);                                          \
        vec_##ps half = f(V(mul_##ps)(minus_size_##ps(x), V(set1_##ps)((real)0.5)));           \
        vec_##ps small = V(mul_##ps)(V(mul_##ps)(x, half), half);                              \
                                                                                               \
        return V(div_##ps)(select_negative_##ps(x, small, x), V(fmadd_##ps)(half, half, one)); \
    }                                                                                          \
                                                                                               \
    /* x / 2 (1 + share) */                                                                    \
    static inline vec_##ps gate_##ps(vec_##ps x, vec_##ps share)                               \
    {                                                                                          \
        return V(mul_##ps)(V(mul_##ps)(x, V(set1_##ps)((real)0.5)),                            \
                           V(add_##ps)(V(set1_##ps)((real)1.0), share));                       \
    }                                                                                          \
                                                                                               \
    static inline vec_##ps gelu_##ps(function_##ps f, vec_##ps x)                              \
    {                                                                                          \
        vec_##ps cube = V(mul_##ps)(V(mul_##ps)(x, x), x);                                     \
        vec_##ps inside = V(fmadd_##ps)(V(set1_##ps)((real)0.044715), cube, x);                \
                                                                                               \
        /* sqrt(2 / pi) */                                                                     \
        return gate_##ps(x, f(V(mul_##ps)(V(set1_##ps)((real)0x1.9884533d43651p-1), inside))); \
    }                                                                                          \
                                                                                               \
    static inline vec_##ps gelu_erf_##ps(function_##ps f, vec_##ps x)                          \
    {                                                                                          \
        /* sqrt(1 / 2) */                                                                      \
        return gate_##ps(x, f(V(mul_##ps)(V(set1_##ps)((real)0x1.6a09e667f3bcdp-1), x)));      \
    }                                                                                          \
                                                                                               \
    static inline vec_##ps rsqrt_##ps(function_##ps f, vec_##ps x)                             \
    {                                                                                          \
        return V(div_##ps)(V(set1_##ps)((real)1.0), f(x));                                     \
    }                                                                                          \
                                                                                               \
    static inline void each_##ps(form_##ps form, function_##ps f, const real *in, real *out,   \
                                 int64_t n)                                                    \
    {                                                                                          \
        real last[lanes] = {0};                                                                \
        int64_t i = 0;                                                                         \
                                                                                               \
        for (; i + lanes <= n; i += lanes)                                                     \
            V(storeu_##ps)(out + i, form(f, V(loadu_##ps)(in + i)));                           \
        if (i == n)                                                                            \
            return;                                                                            \
        memcpy(last, in + i, (size_t)(n - i) * sizeof *last);                                  \
        V(storeu_##ps)(last, form(f, V(loadu_##ps)(last)));                                    \
        memcpy(out + i, last, (size_t)(n - i) * sizeof *last);                                 \
    }                                                                                          \
                                                                                               \
    static void map_##ps(const sleef_step *step, const real *in, real *out, int64_t n)         \
    {                                                                                          \
        function_##ps f = (function_##ps)step->fn;                                             \
                                                                                               \
        switch (step->form) {                                                                  \
        case SLEEF_SIGMOID:                                                                    \
            each_##ps(sigmoid_##ps, f, in, out, n);                                            \
            break;                                                                             \
        case SLEEF_SILU:                                                                       \
            each_##ps(silu_##ps, f, in, out, n);                                               \
            break;                                                                             \
        case SLEEF_GELU:                                                                       \
            each_##ps(gelu_##ps, f, in, out, n);                                               \
            break;                                                                             \
        case SLEEF_GELU_ERF:                                                                   \
            each_##ps(gelu_erf_##ps, f, in, out, n);                                           \
            break;                                                                             \
        case SLEEF_RSQRT:                                                                      \
            each_##ps(rsqrt_##ps, f, in, out, n);                                              \
            break;                                                                             \
        default:                                                                               \
            break;                                                                             \
        }                                                                                      \
    }

SLEEF_FORMS(ps, float, LANES_PS)
SLEEF_FORMS(pd, double, LANES_PD)

#endif
