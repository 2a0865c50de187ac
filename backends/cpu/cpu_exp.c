/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_exp.c -- y = e^x through the C library. */
#include <math.h>

#include "assay/dtype_inline.h"
#include "backends/cpu/cpu.h"

static void span_f64(const void *in, void *out, int64_t n, bool nontemporal)
{
    const double *x = in;
    double *y = out;

    (void)nontemporal;
    for (int64_t i = 0; i < n; i++)
        y[i] = exp(x[i]);
}

static void span_f32(const void *in, void *out, int64_t n, bool nontemporal)
{
    const float *x = in;
    float *y = out;

    (void)nontemporal;
    for (int64_t i = 0; i < n; i++)
        y[i] = expf(x[i]);
}

static void span_f16(const void *in, void *out, int64_t n, bool nontemporal)
{
    const uint16_t *x = in;
    uint16_t *y = out;

    (void)nontemporal;
    for (int64_t i = 0; i < n; i++)
        y[i] = assay_f32_to_f16(expf(assay_f16_to_f32(x[i])));
}

static void span_bf16(const void *in, void *out, int64_t n, bool nontemporal)
{
    const uint16_t *x = in;
    uint16_t *y = out;

    (void)nontemporal;
    for (int64_t i = 0; i < n; i++)
        y[i] = assay_f32_to_bf16(expf(assay_bf16_to_f32(x[i])));
}

CPU_ENTRY(exp_f64)
{
    return cpu_run_unary(launch, span_f64);
}

CPU_ENTRY(exp_f32)
{
    return cpu_run_unary(launch, span_f32);
}

CPU_ENTRY(exp_f16)
{
    return cpu_run_unary(launch, span_f16);
}

CPU_ENTRY(exp_bf16)
{
    return cpu_run_unary(launch, span_bf16);
}
