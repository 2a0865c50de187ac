/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peak_kernels.c -- the list of all tables, and loops that any CPU runs. */
#include "tuner/peak_kernels.h"

#include <string.h>

#include "assay/deployment.h"

volatile double assay__peak_sink;

/* Independent chains: enough to cover a latency of 4 to 5 at two a cycle. */
#define CHAINS 12

typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));

static void fma_f32(uint64_t units, void *to, const void *from, size_t bytes)
{
    f32x4 acc[CHAINS];

    (void)to;
    (void)from;
    (void)bytes;
    for (int i = 0; i < CHAINS; i++)
        acc[i] = (f32x4){(float)i, 1, 2, 3};
    for (uint64_t u = 0; u < units; u++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            acc[i] = acc[i] * 0.999999f + 1e-9f;
    }
    for (int i = 1; i < CHAINS; i++)
        acc[0] += acc[i];
    assay__peak_sink = (double)acc[0][0];
}

static void fma_f64(uint64_t units, void *to, const void *from, size_t bytes)
{
    f64x2 acc[CHAINS];

    (void)to;
    (void)from;
    (void)bytes;
    for (int i = 0; i < CHAINS; i++)
        acc[i] = (f64x2){(double)i, 1};
    for (uint64_t u = 0; u < units; u++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            acc[i] = acc[i] * 0.999999 + 1e-9;
    }
    for (int i = 1; i < CHAINS; i++)
        acc[0] += acc[i];
    assay__peak_sink = acc[0][0];
}

static void copy_plain(uint64_t units, void *to, const void *from, size_t bytes)
{
    for (uint64_t i = 0; i < units; i++) {
        memcpy(to, from, bytes);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
}

const assay__peak_kernel assay__peak_portable[] = {
    {"fma_f32_portable", ASSAY__PEAK_FLOPS, 2.0 * 4 * CHAINS, "", NULL, fma_f32},
    {"fma_f64_portable", ASSAY__PEAK_FLOPS, 2.0 * 2 * CHAINS, "", NULL, fma_f64},
    {"copy_plain", ASSAY__PEAK_MEMORY, 2, "", NULL, copy_plain},
    {.name = NULL},
};

static const assay__peak_kernel *const tables[] = {
    assay__peak_portable,    assay__peak_avx2,        assay__peak_avx512,
    assay__peak_avx512_bf16, assay__peak_avx512_fp16, assay__peak_amx,
};

const assay__peak_kernel *assay__peak_kernel_at(size_t i)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const assay__peak_kernel *k = tables[t]; k->name != NULL; k++)
            if (i-- == 0)
                return k;
    return NULL;
}

bool assay__peak_kernel_usable(const assay__peak_kernel *k, const char *isa)
{
    return assay_isa_covers(isa, k->needs, NULL, 0) && (k->ready == NULL || k->ready());
}
