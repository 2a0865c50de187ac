/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_rsqrt.h -- y = 1 / sqrt x, corrected once.
 *
 * With y0 = rsqrt_start x, which is within some units in the last place, and the residual 1 - x
 * y0^2 from exact products, y0 + y0/2 times it is within half a step and a little.
 *
 * For vectors of either width: see vector_avx2.h. */
#ifndef ASSAY_BACKENDS_CPU_RSQRT_H
#define ASSAY_BACKENDS_CPU_RSQRT_H

static inline vec_pd rsqrt_pd(vec_pd x)
{
    vec_pd y = rsqrt_start_pd(x);
    vec_pd h = V(mul_pd)(x, y), low = V(fmsub_pd)(x, y, h);
    vec_pd rest = V(fnmadd_pd)(low, y, V(fnmadd_pd)(h, y, V(set1_pd)(1.0)));
    vec_pd better = V(fmadd_pd)(V(mul_pd)(V(set1_pd)(0.5), y), rest, y);

    /* 0 and infinity leave a NaN; there y is right. */
    return select_pd(CMP_PD(better, better, _CMP_UNORD_Q), y, better);
}

static inline vec_ps rsqrt_ps(vec_ps x)
{
    vec_ps y = rsqrt_start_ps(x);
    vec_ps h = V(mul_ps)(x, y), low = V(fmsub_ps)(x, y, h);
    vec_ps rest = V(fnmadd_ps)(low, y, V(fnmadd_ps)(h, y, V(set1_ps)(1.0f)));
    vec_ps better = V(fmadd_ps)(V(mul_ps)(V(set1_ps)(0.5f), y), rest, y);

    return select_ps(CMP_PS(better, better, _CMP_UNORD_Q), y, better);
}

#endif
