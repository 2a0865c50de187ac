/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peak_avx512_bf16.c -- peak of pairwise bf16 products summed in f32. */
#include "tuner/peak_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#define CHAINS 12

static void dot_bf16(uint64_t units, void *to, const void *from, size_t bytes)
{
    __m512 acc[CHAINS];
    __m512bh a, b;

    (void)to;
    (void)from;
    (void)bytes;
    memset(&a, 0x3c, sizeof a); /* 0x3c3c: about 0.01 */
    memset(&b, 0x3d, sizeof b);
    for (int i = 0; i < CHAINS; i++)
        acc[i] = _mm512_set1_ps((float)i);
    for (uint64_t u = 0; u < units; u++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            acc[i] = _mm512_dpbf16_ps(acc[i], a, b);
    }
    for (int i = 1; i < CHAINS; i++)
        acc[0] = _mm512_add_ps(acc[0], acc[i]);
    assay__peak_sink = (double)_mm512_cvtss_f32(acc[0]);
}

const assay__peak_kernel assay__peak_avx512_bf16[] = {
    {"dot_bf16_avx512", ASSAY__PEAK_FLOPS, 2.0 * 32 * CHAINS, "avx512f,avx512_bf16", NULL,
     dot_bf16},
    {.name = NULL},
};
#else
const assay__peak_kernel assay__peak_avx512_bf16[] = {{.name = NULL}};
#endif
