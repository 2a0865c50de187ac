/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_add.c -- y = a + b without special instructions.
 *
 * f16 and bf16 are added in f32 and rounded again, which is the sum rounded once: 24 bits are at
 * least 2 * 11 + 2. */
#include "assay/dtype_inline.h"
#include "backends/cpu/cpu.h"

static void span_f64(const void *a, const void *b, void *y, int64_t n, bool nontemporal)
{
    const double *left = a, *right = b;
    double *out = y;

    (void)nontemporal;
    for (int64_t i = 0; i < n; i++)
        out[i] = left[i] + right[i];
}

static void span_f32(const void *a, const void *b, void *y, int64_t n, bool nontemporal)
{
    const float *left = a, *right = b;
    float *out = y;

    (void)nontemporal;
    for (int64_t i = 0; i < n; i++)
        out[i] = left[i] + right[i];
}

static void span_f16(const void *a, const void *b, void *y, int64_t n, bool nontemporal)
{
    const uint16_t *left = a, *right = b;
    uint16_t *out = y;

    (void)nontemporal;
    for (int64_t i = 0; i < n; i++)
        out[i] = assay_f32_to_f16(assay_f16_to_f32(left[i]) + assay_f16_to_f32(right[i]));
}

static void span_bf16(const void *a, const void *b, void *y, int64_t n, bool nontemporal)
{
    const uint16_t *left = a, *right = b;
    uint16_t *out = y;

    (void)nontemporal;
    for (int64_t i = 0; i < n; i++)
        out[i] = assay_f32_to_bf16(assay_bf16_to_f32(left[i]) + assay_bf16_to_f32(right[i]));
}

CPU_ENTRY(add_f64)
{
    return cpu_run_binary(launch, span_f64);
}

CPU_ENTRY(add_f32)
{
    return cpu_run_binary(launch, span_f32);
}

CPU_ENTRY(add_f16)
{
    return cpu_run_binary(launch, span_f16);
}

CPU_ENTRY(add_bf16)
{
    return cpu_run_binary(launch, span_bf16);
}
