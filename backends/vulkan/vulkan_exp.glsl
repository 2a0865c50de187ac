/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* e^x in f32 of our own: the one of a driver may be off by 3 + 2|x| ULP, by the specification.
 *
 * x = n ln2 + r, |r| <= ln2/2, e^x = 2^n p(r).  n is what is left in the low bits of a sum with
 * 1.5 * 2^23: floor and conversions to integers run at an eighth of the rate of sums.  n times the
 * upper part of ln2, of 15 bits, is exact, so it makes no difference whether multiplications and
 * additions are fused.  p interpolates at Chebyshev's points, 0.09 ULP off. */
#ifndef VULKAN_EXP_GLSL
#define VULKAN_EXP_GLSL

const float EXP_ROUNDER = 12582912.0; /* bits of sums with it: 0x4b400000 and n */
const float EXP_LOG2_E = 1.44269504;

/* e^r where x = r + rounded * ln2. */
float exp_of_rest(float x, float rounded)
{
    precise float r = fma(rounded, -0.693145751953125, x);
    r = fma(rounded, -1.42860682e-6, r);
    precise float p = fma(r, 0.00139262504, 0.00836323295);
    p = fma(p, r, 0.0416665524);
    p = fma(p, r, 0.166665763);
    p = fma(p, r, 0.5);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    return p;
}

const float EXP_SCALED = 16777216.0, EXP_UNSCALED = 1.0 / 16777216.0;

/* 2^24 e^x for x <= 0, which has no subnormal results but 0; NaN stays NaN.  Of results of 16 bits
 * what exp2 may be off by is a hundredth of half a unit at the most, and a thousandth as a rule. */
float exp_scaled(float x)
{
#ifdef NARROW
    return exp2(fma(x, EXP_LOG2_E, 24.0)); /* what is subnormal here is 0 in 16 bits */
#else
    const float rounder = EXP_ROUNDER + 151.0; /* 127 + 24: the exponent as bits have it */
    precise float t = fma(x, EXP_LOG2_E, rounder);
    precise float rounded = t - rounder;
    precise float y = exp_of_rest(x, rounded) * uintBitsToFloat(floatBitsToUint(t) << 23);
    return x < -104.0 ? 0.0 : y;
#endif
}

/* Below 0 by way of 2^24 e^x, above by e^x / 2: in range until the last product rounds. */
float exp_f32(float x)
{
    const float last = x < 0.0 ? EXP_UNSCALED : 2.0;
#ifdef NARROW
    precise float y = exp2(fma(x, EXP_LOG2_E, x < 0.0 ? 24.0 : -1.0)) * last;
    return x < -104.0 ? 0.0 : y;
#else
    const float c = clamp(x, -104.0, 89.0); /* beyond: 0 and infinity; a NaN becomes anything */
    const float rounder = EXP_ROUNDER + (x < 0.0 ? 151.0 : 126.0);
    precise float t = fma(c, EXP_LOG2_E, rounder);
    precise float rounded = t - rounder;
    precise float y = exp_of_rest(c, rounded) * uintBitsToFloat(floatBitsToUint(t) << 23);
    y = y * last;
    return isnan(x) ? x : y;
#endif
}

#endif
