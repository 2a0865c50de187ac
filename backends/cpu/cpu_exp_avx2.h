/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_exp_avx2.h -- e^x of several vectors in step, shared by exp and softmax: the
 * bits of cpu_exp.h. */
#ifndef ASSAY_BACKENDS_CPU_EXP_AVX2_H
#define ASSAY_BACKENDS_CPU_EXP_AVX2_H

#include "backends/cpu/cpu_simd_avx2.h"
#include "backends/vector_avx2.h"

#include "backends/cpu/cpu_exp.h"

/* Whether some |x| is beyond 87, or NaN: then exp_two_ps does not hold. */
static inline __m256i exp_extreme_ps(__m256 x)
{
    __m256i size = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fffffff));

    return _mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x42ae0000)); /* the bits of 87 */
}

/* Two vectors of |x| <= 87, in step, as one alone would wait for its own results; 2^n by adding to
 * the exponent.  The same bits as exp_fast_ps. */
static inline __attribute__((always_inline)) void exp_two_ps(__m256 *v0, __m256 *v1)
{
#define BOTH(a, b, expression0, expression1) \
    a = (expression0);                       \
    b = (expression1)
    const __m256 magic = _mm256_set1_ps(0x1.8p23f), one = _mm256_set1_ps(1.0f);
    __m256 c = _mm256_set1_ps(0x1.715476p0f), s0, s1, n0, n1, r0, r1, q0, q1;

    BOTH(s0, s1, _mm256_fmadd_ps(*v0, c, magic), _mm256_fmadd_ps(*v1, c, magic));
    BOTH(n0, n1, _mm256_sub_ps(s0, magic), _mm256_sub_ps(s1, magic));
    c = _mm256_set1_ps(-0x1.62e400p-1f);
    BOTH(r0, r1, _mm256_fmadd_ps(n0, c, *v0), _mm256_fmadd_ps(n1, c, *v1));
    c = _mm256_set1_ps(-0x1.7f7d1cp-20f);
    BOTH(r0, r1, _mm256_fmadd_ps(n0, c, r0), _mm256_fmadd_ps(n1, c, r1));
    BOTH(q0, q1, _mm256_set1_ps(0x1.6a23d0p-10f), _mm256_set1_ps(0x1.6a23d0p-10f));
    c = _mm256_set1_ps(0x1.123a20p-7f);
    BOTH(q0, q1, _mm256_fmadd_ps(q0, r0, c), _mm256_fmadd_ps(q1, r1, c));
    c = _mm256_set1_ps(0x1.5558f2p-5f);
    BOTH(q0, q1, _mm256_fmadd_ps(q0, r0, c), _mm256_fmadd_ps(q1, r1, c));
    c = _mm256_set1_ps(0x1.555492p-3f);
    BOTH(q0, q1, _mm256_fmadd_ps(q0, r0, c), _mm256_fmadd_ps(q1, r1, c));
    c = _mm256_set1_ps(0x1.fffffcp-2f);
    BOTH(q0, q1, _mm256_fmadd_ps(q0, r0, c), _mm256_fmadd_ps(q1, r1, c));
    BOTH(n0, n1, _mm256_mul_ps(r0, r0), _mm256_mul_ps(r1, r1));
    BOTH(q0, q1, _mm256_fmadd_ps(n0, q0, r0), _mm256_fmadd_ps(n1, q1, r1));
    BOTH(q0, q1, _mm256_add_ps(q0, one), _mm256_add_ps(q1, one));
    __m256i p0 = _mm256_slli_epi32(_mm256_castps_si256(s0), 23);
    __m256i p1 = _mm256_slli_epi32(_mm256_castps_si256(s1), 23);
    *v0 = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(q0), p0));
    *v1 = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(q1), p1));
#undef BOTH
}

/* Out of line, so that the ordinary way keeps its registers. */
static __attribute__((noinline, cold, unused)) void exp_four_extreme_ps(__m256 v[4])
{
    for (int i = 0; i < 4; i++)
        v[i] = exp_fast_ps(v[i]);
}

/* Four vectors, in place; one test for all of them. */
static inline __attribute__((always_inline)) void exp_four_ps(__m256 *v0, __m256 *v1, __m256 *v2,
                                                              __m256 *v3)
{
    __m256i extreme = _mm256_or_si256(_mm256_or_si256(exp_extreme_ps(*v0), exp_extreme_ps(*v1)),
                                      _mm256_or_si256(exp_extreme_ps(*v2), exp_extreme_ps(*v3)));

    if (__builtin_expect(_mm256_testz_si256(extreme, extreme), 1)) {
        exp_two_ps(v0, v1);
        exp_two_ps(v2, v3);
        return;
    }
    __m256 v[4] = {*v0, *v1, *v2, *v3};
    exp_four_extreme_ps(v);
    *v0 = v[0];
    *v1 = v[1];
    *v2 = v[2];
    *v3 = v[3];
}

#endif
