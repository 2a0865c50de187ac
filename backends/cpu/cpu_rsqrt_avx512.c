/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_rsqrt_avx512.c -- y = 1 / sqrt x by Newton's step from the processor's 14 bits,
 * corrected once: root and quotient of 512 bits take as long as two of 256. */
#include "backends/cpu/cpu_map_avx512.h"

/* y + y/2 (1 - x y^2); at 0 and infinity, where that is NaN, y. */
static inline vec_ps newton_ps(vec_ps x, vec_ps y)
{
    vec_ps half = _mm512_mul_ps(y, _mm512_set1_ps(0.5f));
    vec_ps rest = _mm512_fnmadd_ps(_mm512_mul_ps(x, y), y, _mm512_set1_ps(1.0f));
    vec_ps better = _mm512_fmadd_ps(half, rest, y);

    return select_ps(CMP_PS(better, better, _CMP_UNORD_Q), y, better);
}

static inline vec_pd newton_pd(vec_pd x, vec_pd y)
{
    vec_pd half = _mm512_mul_pd(y, _mm512_set1_pd(0.5));
    vec_pd rest = _mm512_fnmadd_pd(_mm512_mul_pd(x, y), y, _mm512_set1_pd(1.0));
    vec_pd better = _mm512_fmadd_pd(half, rest, y);

    return select_pd(CMP_PD(better, better, _CMP_UNORD_Q), y, better);
}

static inline vec_ps rsqrt_start_ps(vec_ps x)
{
    return newton_ps(x, _mm512_rsqrt14_ps(x));
}

static inline vec_pd rsqrt_start_pd(vec_pd x)
{
    return newton_pd(x, newton_pd(x, _mm512_rsqrt14_pd(x)));
}

#include "backends/cpu/cpu_rsqrt.h"

CPU_UNARY_AVX512(rsqrt, rsqrt_pd, rsqrt_ps, rsqrt_start_ps)
CPU_UNARY_FAST_AVX512(rsqrt, rsqrt_start_ps)
