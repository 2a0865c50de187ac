/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peak_avx512_fp16.c -- peak of FMA in f16 itself. */
#include "tuner/peak_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#define CHAINS 12

static void fma_f16(uint64_t units, void *to, const void *from, size_t bytes)
{
    __m512h acc[CHAINS], a, b;
    uint16_t first;

    (void)to;
    (void)from;
    (void)bytes;
    memset(&a, 0x3a, sizeof a); /* 0x3a3a: about 0.78 */
    memset(&b, 0x2c, sizeof b);
    for (int i = 0; i < CHAINS; i++)
        memset(&acc[i], 0x30 + i % 8, sizeof acc[i]);
    for (uint64_t u = 0; u < units; u++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            acc[i] = _mm512_fmadd_ph(acc[i], a, b);
    }
    for (int i = 1; i < CHAINS; i++)
        acc[0] = _mm512_add_ph(acc[0], acc[i]);
    memcpy(&first, &acc[0], sizeof first);
    assay__peak_sink = (double)first;
}

const assay__peak_kernel assay__peak_avx512_fp16[] = {
    {"fma_f16_avx512", ASSAY__PEAK_FLOPS, 2.0 * 32 * CHAINS, "avx512f,avx512_fp16", NULL, fma_f16},
    {.name = NULL},
};
#else
const assay__peak_kernel assay__peak_avx512_fp16[] = {{.name = NULL}};
#endif
