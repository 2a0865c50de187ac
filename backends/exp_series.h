/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/exp_series.h -- what kernels with an exponential inside have in common.
 *
 * x = n ln2 + r, |r| <= ln2/2; e^x = 2^n (1 + m(r)).  How 2^n is applied, and what becomes of
 * extreme x, is each function's own.  For vectors of either width: see vector_avx2.h. */
#ifndef ASSAY_BACKENDS_EXP_SERIES_H
#define ASSAY_BACKENDS_EXP_SERIES_H

/* r; *shifted holds n in its low bits, behind those of 0x1.8p23. */
static inline __attribute__((always_inline)) vec_ps exp_rest_ps(vec_ps x, vec_ps *shifted)
{
    const vec_ps magic = V(set1_ps)(0x1.8p23f);

    *shifted = V(fmadd_ps)(x, V(set1_ps)(0x1.715476p0f), magic);
    vec_ps n = V(sub_ps)(*shifted, magic);
    vec_ps r = V(fmadd_ps)(n, V(set1_ps)(-0x1.62e400p-1f), x);
    return V(fmadd_ps)(n, V(set1_ps)(-0x1.7f7d1cp-20f), r);
}

/* m = e^r - 1 as r + r^2 q(r), with the q of degree 4 whose relative error on |r| <= ln2/2 is least
 * (Remez): 2^-28.2. */
static inline __attribute__((always_inline)) vec_ps exp_less_one_ps(vec_ps r)
{
    vec_ps q = V(set1_ps)(0x1.6a23d0p-10f);

    q = V(fmadd_ps)(q, r, V(set1_ps)(0x1.123a20p-7f));
    q = V(fmadd_ps)(q, r, V(set1_ps)(0x1.5558f2p-5f));
    q = V(fmadd_ps)(q, r, V(set1_ps)(0x1.555492p-3f));
    q = V(fmadd_ps)(q, r, V(set1_ps)(0x1.fffffcp-2f));
    return V(fmadd_ps)(V(mul_ps)(r, r), q, r);
}

/* 2^-f for |f| <= 1/2, with a relative error of 2^-27.3 (Remez) and those of seven roundings. */
static inline __attribute__((always_inline)) vec_ps exp2_minus_ps(vec_ps f)
{
    vec_ps q = V(set1_ps)(0x1.470d00p-13f);

    q = V(fmadd_ps)(q, f, V(set1_ps)(-0x1.5f7128p-10f));
    q = V(fmadd_ps)(q, f, V(set1_ps)(0x1.3b2594p-7f));
    q = V(fmadd_ps)(q, f, V(set1_ps)(-0x1.c6ae1ep-5f));
    q = V(fmadd_ps)(q, f, V(set1_ps)(0x1.ebfbe6p-3f));
    q = V(fmadd_ps)(q, f, V(set1_ps)(-0x1.62e432p-1f));
    return V(fmadd_ps)(q, f, V(set1_ps)(1.0f));
}

/* r; *n as a whole number of type double. */
static inline __attribute__((always_inline)) vec_pd exp_rest_pd(vec_pd x, vec_pd *n)
{
    *n = nearest_pd(V(mul_pd)(x, V(set1_pd)(0x1.71547652b82fep0)));
    vec_pd r = V(fmadd_pd)(*n, V(set1_pd)(-0x1.62e42fefa39efp-1), x);
    return V(fmadd_pd)(*n, V(set1_pd)(-0x1.abc9e3b39803fp-56), r);
}

/* The Taylor series up to r^13: its rest is r^14/14! < 2^-57. */
static inline __attribute__((always_inline)) vec_pd exp_less_one_pd(vec_pd r)
{
    vec_pd p = V(set1_pd)(1.0 / 6227020800.0);

    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 479001600.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 39916800.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 3628800.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 362880.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 40320.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 5040.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 720.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 120.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 24.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(1.0 / 6.0));
    p = V(fmadd_pd)(p, r, V(set1_pd)(0.5));
    return V(fmadd_pd)(V(mul_pd)(r, r), p, r);
}

#endif
